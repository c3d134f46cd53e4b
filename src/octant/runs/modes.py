"""Modes of the command line and of suites: names for combinations of ranks, threads and groups."""

from typing import Literal

Mode = Literal["one", "star", "threads", "all"]
"""one: one thread. star: an independent copy on every core. threads: one rank with a thread on every core.
all: one group of ranks on all cores."""


def ranks_and_knobs(mode: Mode, cores: int, alone: bool = True) -> tuple[int, dict[str, str]]:
    """Return the number of ranks of a mode, and the knobs that it sets.

    Args:
        cores: number of usable cores.
        alone: the ranks of the kernel never communicate (pace `chunks`); otherwise a star needs groups of one rank.
    """
    if mode == "threads":
        return 1, {"threads": str(cores)}
    if mode == "star":
        return cores, {} if alone else {"groups": "1"}
    return (1 if mode == "one" else max(2, cores)), {}
