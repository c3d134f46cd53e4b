"""The modes of the command line and of suites: words for ranks, threads and groups, which are what is stored."""

from typing import Literal

Mode = Literal["one", "star", "threads", "all"]
"""one: one thread. star: a copy on every core, alone. threads: a thread on every core. all: ranks together."""


def ranks_and_knobs(mode: Mode, cores: int, alone: bool = True) -> tuple[int, dict[str, str]]:
    """The ranks of a mode on a machine of that many usable cores, and the knobs that it sets.

    Args:
        alone: the kernel's ranks work alone in any case (pace `chunks`); else a star is of groups of one rank.
    """
    if mode == "threads":
        return 1, {"threads": str(cores)}
    if mode == "star":
        return cores, {} if alone else {"groups": "1"}
    return (1 if mode == "one" else max(2, cores)), {}
