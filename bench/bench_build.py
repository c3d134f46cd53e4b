"""Build on demand: the programs of the quick suite in an empty folder, one more kernel, and an up-to-date check.

Seconds of wall time and of processor time (all build processes together), and the share of the targets that are built.
Run it on a quiet machine, without ccache (CCACHE_DISABLE is set).
"""

import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median

from octant import suites
from octant.build import on_demand
from octant.machine.discover import discover

ROOT = Path(__file__).parent.parent
TOOLS = ("bind", "pages")


def main() -> None:
    """Build in a temporary folder and print the table."""
    environment = {**os.environ, "CXXFLAGS": f"-DOCTANT_BENCH_{os.getpid()}", "CCACHE_DISABLE": "1"}
    environment.pop("OCTANT_KERNELS", None)
    os.environ["CXXFLAGS"] = environment["CXXFLAGS"]
    folder = next(iter(on_demand.tree().folders()))
    quick = {request.subject.workload for request in suites.requests(suites.load("quick"), discover(), (), "quick")}
    try:
        print(f"{'what':44} {'wall s':>8} {'CPU s':>8}")
        for title, names in (
            (f"quick suite, {len(quick)} kernels, empty folder", (*sorted(quick), *TOOLS)),
            ("mpi/onesided, after that", ("mpi/onesided",)),
            ("network model, after that", ("_network",)),
            ("everything else", ()),
        ):
            wall_s, cpu_s = seconds(names, environment)
            print(f"{title:44} {wall_s:8.1f} {cpu_s:8.1f}", flush=True)
        print(f"{'finding a current program, ms (median of 9)':44} {1e3 * find_seconds(environment):8.1f}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def seconds(names: tuple[str, ...], environment: Mapping[str, str]) -> tuple[float, float]:
    """Wall and processor time of one `python -m octant.build NAMES…`."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-m", "octant.build", *names], env=environment, cwd=ROOT, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.perf_counter() - begin, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def find_seconds(environment: Mapping[str, str]) -> float:
    """Return the time that the search for a program adds to the start of Python."""
    timed = "begin = time.perf_counter(); build.find('bind'); print(time.perf_counter() - begin)"
    code = f"import time; from octant import build; from octant.build import on_demand; {timed}"
    runs = [
        subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True) for _ in range(9)
    ]
    return median(float(run.stdout) for run in runs)


if __name__ == "__main__":
    main()
