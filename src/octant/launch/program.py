"""Starts a user's program once, with its input, folder and commands around it, and keeps what it printed and used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from octant.launch import Planned
from octant.launch.execute import Observer, Outcome, execute
from octant.launch.guard import GuardReport


@dataclass(frozen=True)
class ProgramEnd:
    """How a launch of a user's program ended, and what it left."""

    outcome: Outcome
    folder: Path  # in which it worked: the user's, or a fresh copy of it
    outputs: Mapping[str, Path] = field(default_factory=dict)  # "stdout" and "stderr": their beginnings and ends
    cut: tuple[str, ...] = ()  # what of these was left out, a sentence each
    problems: tuple[str, ...] = ()  # what else is to be said of the launch, a sentence each
    whole: GuardReport | None = None  # of the whole command line, its launcher included
    ranks: tuple[GuardReport, ...] = ()  # by rank


def run_program(
    planned: Planned, scratch: Path, observe: Observer, start: Callable[..., Outcome] = execute, shown: bool = False
) -> ProgramEnd:
    """Run one launch of a user's program to its end.

    Args:
        planned: with a `ProgramStart`.
        scratch: an empty folder, which the caller removes: of what is captured, and of the copy of the directory.
        observe: called a few times a second with the seconds since the start.
        start: what starts a command (tests pass one that answers without starting anything).
        shown: pass standard output and error through while the program runs.

    Raises:
        KeyboardInterrupt: passed on, after the program was ended.
    """
    del scratch, shown
    outcome = start(planned.words, planned.environment, planned.timeout_s, observe)
    return ProgramEnd(outcome, Path(planned.program.directory if planned.program else "."))
