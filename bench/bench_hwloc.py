"""Time that hwloc adds to a command: helper process, cached result, and the machines of hwloc's test suite.

Goal: at most 50 ms for this machine without the cache. If installed, `lstopo` reads the same machine. The
trees of the suite (`make field`) are unpacked first; unpacking is not measured.
"""

import contextlib
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

from hwloc_suite import cases, unpacked
from octant.machine import hwloc
from octant.machine.discover import discover
from octant.machine.hwloc.process import HelperRequest, export_xml
from octant.machine.hwloc.xml import read_xml

ROUNDS = 31
GOAL_MS = 50.0
THIS_MACHINE = HelperRequest("this machine", "system", "")


def milliseconds(call: Callable[[], object]) -> float:
    """Wall time of one call."""
    begin = time.perf_counter()
    call()
    return (time.perf_counter() - begin) * 1e3


def of_this_machine() -> None:
    """Interleaved: the helper without cache, the public function with it, our reader, lstopo, an empty Python."""
    xml = hwloc.this_machine()  # fills the cache
    lstopo = shutil.which("lstopo-no-graphics") or shutil.which("lstopo")
    ways: dict[str, Callable[[], object]] = {
        "helper process, not cached": lambda: export_xml(THIS_MACHINE),
        "from the cache": hwloc.this_machine,
        "our reader of the XML": lambda: read_xml(xml),
        "an empty Python (-I -S)": lambda: subprocess.run([sys.executable, "-I", "-S", "-c", ""], check=True),
    }
    if lstopo:
        command = [lstopo, "--no-io", "--of", "xml", "/dev/null"]
        ways["lstopo"] = lambda: subprocess.run(command, check=True, capture_output=True)
    spent: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, call in ways.items():
            spent[name].append(milliseconds(call))
    print(f"This machine, medians (and largest) of {ROUNDS}, ms; goal: at most {GOAL_MS:g} without the cache")
    for name, times in spent.items():
        print(f"  {name:28} {statistics.median(times):7.2f}  ({max(times):.2f})")


def of_commands() -> None:
    """`octant place` on this machine, whose topology comes from the cache, and on a description, which does not."""
    print("Commands, medians of 5, ms")
    for title, words in (("place", ["place"]), ("place --on", ["place", "--on", "core:4 pu:2"])):
        start = partial(subprocess.run, [sys.executable, "-m", "octant.cli", *words], check=True, capture_output=True)
        times = [milliseconds(start) for _ in range(5)]
        print(f"  {title:28} {statistics.median(times):7.1f}  ({max(times):.1f})")


def of_suite(sources: Sequence[Path]) -> None:
    """Every recorded tree of the suite: the XML of the helper, and the whole machine."""
    helper, whole = [], []
    for source in sources:
        with unpacked(source) as root, contextlib.suppress(ValueError):
            helper.append(milliseconds(partial(hwloc.recorded_tree, root)))
            whole.append(milliseconds(partial(discover, root)))
    print(f"{len(whole)} recorded trees of hwloc's test suite, ms: median, largest, all")
    for name, times in (("helper process", helper), ("whole machine", whole)):
        print(f"  {name:28} {statistics.median(times):7.1f}  {max(times):7.1f}  {sum(times):8.0f}")


def main() -> None:
    of_this_machine()
    of_commands()
    sources = sorted({case.source for case in cases() if case.name.startswith("linux/")})
    if sources:
        of_suite(sources)
    else:
        print("hwloc's test suite is not downloaded; run `make field`")


if __name__ == "__main__":
    main()
