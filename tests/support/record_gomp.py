"""Record how GNU's OpenMP runtime reads OMP_PLACES and GOMP_CPU_AFFINITY on machines that it does not run on.

`python tests/support/record_gomp.py` needs gcc and writes `tests/data/gomp-places.json`. The runtime prints its list of
places for OMP_DISPLAY_ENV; a preloaded library states which CPUs the process may use. Nothing is bound.
"""

import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

DATA = Path(__file__).parents[1] / "data" / "gomp-places.json"
CPUS = (16, 48)
PROGRAM = "int main(void) {\n#pragma omp parallel\n{ }\nreturn 0; }\n"
SHIM = """
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t* set) {
    (void)thread;
    memset(set, 0, size);
    for (int i = 0; i < atoi(getenv("PRETENDED_CPUS")) && i < (int)size * 8; ++i) CPU_SET_S(i, size, set);
    return 0;
}
int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t* set) {
    (void)thread, (void)size, (void)set;
    return 0;
}
int pthread_attr_setaffinity_np(pthread_attr_t* attributes, size_t size, const cpu_set_t* set) {
    (void)attributes, (void)size, (void)set;
    return 0;
}
"""
_PLACE = ("{0}", "{0:4}", "{8:4:2}", "{0,1}", "{4:3:-1}", "{0:8,!3}", "{0,1,!1}", "{ 0 : 2 }", "2", "{0-1}", "{}")
_INTERVAL = ("", ":2", ":4:4", ":2:2", ":3:-1", ":0", ":2:0")
PLACES = [
    *(place + interval for place, interval in itertools.product(_PLACE, _INTERVAL)),
    "{8:4},{0:2}", "0,2,4", "{0},{1},!{0}", "{0:4}:4:4,!{4:4}", "!{3}", "{2:2},!{2:2}", "{0},!{0}:1", "{0}:3,!{1}:2",
    "{0:8,!2:3}", "{12:8}", "{14}:4", "{0},{0}", "{0},,{1}", "{0:3:-1}", "{0},{1", "{x}", "{0}:2 , {4}", "{0:2}:3:2,5",
]  # fmt: skip
LISTS = ["0 3 1-2 4-15:2", "0-15:4", "0,2,4", "3", "0-3:0", "15-0", "0 0", "4:2", "0-3,8", "9 8", "0-4:3 1", "x", "1-"]
BOUND = [
    {"OMP_NUM_THREADS": str(threads), **({"OMP_PROC_BIND": policy} if policy else {}), **places}
    for threads in (2, 3, 7, 13)
    for policy in ("", "true", "close", "spread", "primary", "false")
    for places in (
        {"GOMP_CPU_AFFINITY": "4-6"}, {"GOMP_CPU_AFFINITY": "0-14:2"}, {"OMP_PLACES": "{0}:5"},
        {"OMP_PLACES": "{0:2}:8:2"}, {"GOMP_CPU_AFFINITY": "4-6", "OMP_PLACES": "{8:2},{1}"},
        {"GOMP_CPU_AFFINITY": "3"},
    )
]  # fmt: skip
"""Variables of a program on the smaller machine, whose threads are recorded."""


def main() -> None:
    """Record every line."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "shim.c").write_text(SHIM)
        (folder / "program.c").write_text(PROGRAM)
        compiler = "gcc"
        for words in (["-shared", "-fPIC", "shim.c", "-o", "shim.so"], ["-fopenmp", "program.c", "-o", "program"]):
            subprocess.run([compiler, *words], cwd=folder, check=True)
        rows: list[dict[str, object]] = [
            {"cpus": cpus, "variable": variable, "value": value, "places": _places(folder, cpus, variable, value)}
            for cpus in CPUS
            for variable, values in (("OMP_PLACES", PLACES), ("GOMP_CPU_AFFINITY", LISTS))
            for value in values
        ]
        rows += [{"cpus": CPUS[0], "variables": one, "threads": _threads(folder, CPUS[0], one)} for one in BOUND]
    version = subprocess.run([compiler, "-dumpfullversion"], capture_output=True, text=True, check=True).stdout.strip()
    text = ",\n".join(json.dumps(row) for row in rows)
    DATA.write_text(f'{{"compiler": "gcc {version}", "rows": [\n{text}\n]}}\n')


def _places(folder: Path, cpus: int, variable: str, value: str) -> list[list[int]] | None:
    """Return the list of places that the runtime prints; `None`: it reports the value as invalid."""
    said = _run(folder, cpus, {variable: value, "OMP_DISPLAY_ENV": "true", "OMP_NUM_THREADS": "1"})
    found = re.search(r"^\s*OMP_PLACES = '(.*)'$", said, re.MULTILINE)
    if found is None:
        sys.exit(f"no list of places for {variable}={value!r}: {said}")
    if not found[1]:
        return None
    return [
        sorted(cpu for part in listed.split(",") for cpu in _interval(part))
        for listed in re.findall(r"\{([^}]*)\}", found[1])
    ]


def _threads(folder: Path, cpus: int, variables: dict[str, str]) -> list[str]:
    """Return the CPUs of each thread, as the runtime prints them: `0-3,8`."""
    shown = {"OMP_DISPLAY_AFFINITY": "true", "OMP_AFFINITY_FORMAT": "thread %n on %A"}
    found = dict(re.findall(r"thread (\d+) on (\S+)", _run(folder, cpus, variables | shown)))
    return [found[str(thread)] for thread in range(int(variables["OMP_NUM_THREADS"]))]


def _run(folder: Path, cpus: int, variables: dict[str, str]) -> str:
    environment = {name: text for name, text in os.environ.items() if not name.startswith(("OMP_", "GOMP_"))}
    environment |= {"LD_PRELOAD": str(folder / "shim.so"), "PRETENDED_CPUS": str(cpus), **variables}
    done = subprocess.run([str(folder / "program")], env=environment, capture_output=True, text=True, check=True)
    return done.stderr


def _interval(text: str) -> range:
    first, _, count = text.partition(":")
    return range(int(first), int(first) + int(count or 1))


if __name__ == "__main__":
    main()
