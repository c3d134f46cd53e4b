"""Starts processes, and is the only place that does: what is to be started, how it is watched and ended."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from octant.ask import Launch
from octant.placement import RankPlace


@dataclass(frozen=True)
class Planned:
    """A launch with everything worked out that its start needs; whoever starts it decides nothing."""

    launch: Launch
    words: tuple[str, ...]  # of the command line, the launcher's included
    environment: Mapping[str, str] = field(default_factory=dict)  # what we set, MPI settings included
    launcher: str = "direct"
    places: tuple[RankPlace, ...] = ()  # of the ranks of one node; empty: nothing was asked of placement
    expected_s: float = 1.0
    timeout_s: float = 60.0
    build: str = ""  # of the kernel (`octant.build.digest`); "": a command line, or a run of an older version
