"""The role `job`: the script of a batch system, and the command that submits it.

A job runs the very command that was asked for, with the launcher of that system: the plan is made, and the placement
worked out, on the node where it is carried out.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from octant.failure import Exit, Refusal
from octant.launchers._roles import find, names


@dataclass(frozen=True)
class Job:
    """A job: its command and resources."""

    words: tuple[str, ...]  # the command, less its launcher
    folder: Path  # where it runs
    ranks_per_node: int = 1
    cpus_per_rank: int = 1  # hardware threads
    nodes: int = 1
    minutes: int = 30
    name: str = "octant"
    directives: tuple[str, ...] = ()  # the site's own, as the system writes them: "--partition=debug", "-q large"
    program: tuple[str, ...] = ()  # the command line of a user's program, which follows `--`
    starts_ranks: bool = False  # that command line starts its ranks with a launcher of its own

    def body(self, launcher: str) -> str:
        """Return the shell lines after the directives."""
        chosen = ("--launcher", launcher) if launcher and not self.starts_ranks else ()
        line = shlex.join((*self.words, *chosen, *(("--", *self.program) if self.program else ())))
        return f"set -eu\ncd {shlex.quote(str(self.folder))}\nexec {line}\n"


@dataclass(frozen=True)
class Submission:
    """The command that submits a script, and whether it reads the script from standard input."""

    words: tuple[str, ...]
    from_input: bool = False


class BatchSystem(Protocol):
    """Interface of a batch system's file."""

    LAUNCHER: str
    """The launcher inside the job; "": the default one there."""

    def script(self, job: Job) -> str:
        """Return the job script."""

    def submission(self, path: Path) -> Submission:
        """Return the command that submits the script."""


def batch_system(name: str) -> BatchSystem:
    """Return a batch system by its name.

    Raises:
        Refusal: no such system, or its file cannot be used.
    """
    if not name:
        known = ", ".join(names("job"))
        raise Refusal(
            f"cannot write a job script (no batch system given); use --launcher with one of {known}", Exit.WRONG_WORD
        )
    return cast("BatchSystem", find("job", name))


def render_job_script(mark: str, options: Sequence[str], job: Job, launcher: str) -> str:
    """Return a job script whose directives start with `mark`."""
    lines = ["#!/bin/sh", *(f"{mark} {option}" for option in (*options, *job.directives))]
    return "\n".join(lines) + "\n" + job.body(launcher)
