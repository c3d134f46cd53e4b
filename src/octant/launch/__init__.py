"""Launches of kernels and programs: start, observation and termination. Only this package starts them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from octant.placement import RankPlacement
from octant.request import Launch


@dataclass(frozen=True)
class ProgramStart:
    """What the start of a user's program needs besides its words and variables; the values of knobs are filled in."""

    input: str = ""  # file for standard input; "": it is empty
    directory: str = ""  # in which it works; "": that of Octant
    fresh: bool = False  # it works in a copy of the directory
    before: tuple[tuple[str, ...], ...] = ()  # commands around the launch
    after: tuple[tuple[str, ...], ...] = ()
    binding: str = ""  # why its launcher binds ranks itself: "--bind-to core"; "": it does not
    keep: tuple[str, ...] = ()  # patterns of files that are stored with the run
    name: str = ""  # of the program behind its launcher, as the user wrote it
    report: str = ""  # absolute path of the file for the reports of the guards of its ranks; "": there are none
    is_profiled: bool = False  # octant-bind loads the profiler into the ranks
    commands_timeout_s: float = 600.0  # of each command around the launch


@dataclass(frozen=True)
class Planned:
    """A launch with all data that its start needs."""

    launch: Launch
    words: tuple[str, ...]  # of the command line, the launcher's included
    environment: Mapping[str, str] = field(default_factory=dict)  # what we set, MPI settings included
    launcher: str = "direct"
    places: tuple[RankPlacement, ...] = ()  # of the ranks of one node; empty: nothing was asked of placement
    expected_s: float = 1.0
    timeout_s: float = 60.0
    build: str = ""  # of the kernel (`octant.build.digest`); "": a command line, or a run of an older version
    ranks: int = 0  # that the launcher of a user's program starts; 0: those of the request
    program: ProgramStart | None = None  # of a user's program that is to be started; `None`: a kernel, or a stored plan
