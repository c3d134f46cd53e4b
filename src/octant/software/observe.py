"""Observe what runs during a measurement: other processes, and libraries of this Python's packages."""

import os
import re
import sysconfig
import time
from collections.abc import Collection
from pathlib import Path

from octant.software.blas import VARIABLE, openblas, openblas_path, with_trials
from octant.software.surroundings import OtherProcess, Surroundings
from octant.software.trials import tried

_POLICIES = {0: "other", 1: "fifo", 2: "round-robin", 3: "batch", 5: "idle", 6: "deadline"}  # linux/sched.h
_KERNEL_THREAD = 0x00200000  # PF_KTHREAD, linux/sched.h


def observe(cores: int, flags: Collection[str], watch_s: float = 0.25) -> Surroundings:
    """Environment, foreign processes (observed for `watch_s` seconds), OpenMP runtimes, OpenBLAS. Live only.

    Args:
        cores: that this process may use.
        flags: of the processor.
    """
    before, begin_s = _times(), time.monotonic()
    time.sleep(watch_s)
    after, passed_s = _times(), time.monotonic() - begin_s
    tick_s = 1 / os.sysconf("SC_CLK_TCK")
    busy, realtime = [], []
    for pid, (command, ticks, policy, kernel) in after.items():
        earlier = before.get(pid)
        if earlier is None or pid == os.getpid():
            continue
        process = OtherProcess(
            pid, command, max(ticks - earlier[1], 0) * tick_s / passed_s, _POLICIES.get(policy, "other")
        )
        if process.cpus > 0.02:
            busy.append(process)
        if process.policy in ("fifo", "round-robin", "deadline") and not kernel:
            realtime.append(process)
    busy.sort(key=lambda process: -process.cpus)
    library = openblas_path()
    blas = openblas(library) if library else None
    return Surroundings(
        dict(os.environ),
        tuple(busy),
        tuple(realtime),
        _openmp_libraries(),
        with_trials(blas, flags, VARIABLE in os.environ) if blas else None,
        tried(cores),
    )


def _times() -> dict[int, tuple[str, int, int, bool]]:
    """Process number to command, clock ticks used, scheduling policy, and whether it is the kernel's own."""
    found = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            text = (folder / "stat").read_text(errors="replace")
        except OSError:
            continue  # it ended after the listing
        # The command is in parentheses and may contain anything, parentheses included.
        command, words = text[text.find("(") + 1 : text.rfind(")")], text[text.rfind(")") + 2 :].split()
        ticks, policy = int(words[11]) + int(words[12]), int(words[38])
        found[int(folder.name)] = (command, ticks, policy, bool(int(words[6]) & _KERNEL_THREAD))
    return found


def _openmp_libraries() -> tuple[str, ...]:
    """OpenMP runtimes that packages of this Python bring with them."""
    packages = Path(sysconfig.get_path("platlib"))
    places = [
        packages,
        *packages.glob("*.libs"),
        *packages.glob("*/lib"),
        *packages.glob("*/.dylibs"),
        packages.parents[1],
    ]
    names = re.compile(r"lib(gomp|iomp5|omp|xlomp)[-.\w]*\.so[.\d]*")
    return tuple(
        sorted(
            str(path) for place in places if place.is_dir() for path in place.iterdir() if names.fullmatch(path.name)
        )
    )
