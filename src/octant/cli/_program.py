"""Commands that take the command line of a program behind `--`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from octant.cli._help import PageCommand

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from octant.runs.requests import Where
    from octant.store import Store, StoredRun

_PROGRAM, _OWN = "octant.program", "octant.program.own"


class ProgramCommand(PageCommand):
    """A command that takes the command line of a program behind `--`, whose words are not its own arguments."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keeps what stands behind the first `--` for `program_words`."""
        if "--" in args:
            at = args.index("--")
            ctx.meta[_PROGRAM] = tuple(args[at + 1 :])
            ctx.meta[_OWN] = tuple(args[:at])
            args = args[:at]
        return super().parse_args(ctx, args)


def program_words(context: Any) -> tuple[str, ...] | None:
    """The words behind `--` of a command, from its context; `None` if there is no `--`."""
    found: tuple[str, ...] | None = context.meta.get(_PROGRAM)
    return found


def own_words(context: Any) -> tuple[str, ...]:
    """The words between the name of a command and the first `--`, as they were typed."""
    found: tuple[str, ...] = context.meta.get(_OWN, ())
    return found


def create_program(
    command: Sequence[str],
    knobs: Sequence[str],
    ranks: int | None,
    repeats: int | None,
    where: Where,
    store: Path | None,
) -> tuple[StoredRun, Store]:
    """Creates the run of a user's program, which has nothing measured yet."""
    from octant.cli._measure import create
    from octant.runs.plan import check_startable
    from octant.runs.programs.request import program
    from octant.store import open_store

    ask, machine = program(command, knobs, ranks, repeats, where)
    check_startable(ask, machine)
    to = open_store(store)
    return create(to, " ".join([*knobs, "--", *command]), machine, [ask], "run"), to
