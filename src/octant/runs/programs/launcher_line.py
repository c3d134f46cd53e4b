"""Launchers of the ranks of a user's program: in its command line, inside a script, or Octant itself."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from octant import launchers
from octant.failure import Exit, Refusal
from octant.launchers import JobSize
from octant.request import cells_of
from octant.runs.command_line import batch_system_text, check_full_nodes, host_names
from octant.runs.programs import placeholders

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octant.launchers import LaunchCommand
    from octant.placement.request import PlacementRequest
    from octant.request import Request, Subject
    from octant.runs.command_line import LaunchTarget

MAX_NAME_LENGTH = 80
"""Maximum number of characters of the name of a program."""
_INTERPRETER = re.compile(
    r"(?:python|pypy)[\d.]*|lua[\d.]*|octave|php|perl[\d.]*|ruby|julia|Rscript|node|bash|sh|dash|zsh|ksh"
)
_WORD = re.compile(r"[\w./+-]+")


@dataclass(frozen=True)
class LauncherLine:
    """The command line of a launcher, with the values of the first cell filled in."""

    launcher: str  # the name of its file
    command: LaunchCommand
    words: tuple[str, ...]
    ranks: frozenset[int | None]  # of all cells

    @property
    def name(self) -> str:
        """The launcher as named in the command line."""
        return self.words[self.command.launcher]

    @property
    def program(self) -> tuple[str, ...]:
        """The command line from the program on."""
        return self.words[self.command.program :]


def find_launcher(subject: Subject, knobs: Mapping[str, str], ranks: int | None) -> LauncherLine | None:
    """Return the launcher in a command line; `None`: the command line has no known launcher.

    Args:
        asked: the knobs.
        ranks: value of `{ranks}` if no knob has this name.

    Raises:
        Refusal: the command line cannot be parsed in some cell.
    """
    found: dict[tuple[str, ...], tuple[str, LaunchCommand]] = {}
    for cell in cells_of(knobs):
        known = {"ranks": str(ranks or 1), **cell}
        words = tuple(placeholders.fill_words(subject.command, known))
        variables = {name: placeholders.fill_text(value, known) for name, value in subject.environment.items()}
        one = launchers.recognise(words, {**os.environ, **variables})
        if one is None:
            return None
        found[words] = one
        if "{" not in "".join(subject.command[: one[1].program]):
            break
    words, (name, command) = next(iter(found.items()))
    return LauncherLine(name, command, words, frozenset(one.ranks for _, one in found.values()))


def launcher_ranks(
    started: LauncherLine, ranks: int | None, where: LaunchTarget, request: PlacementRequest | None
) -> int:
    """Return the number of ranks that the launcher of a command line starts, in the first cell.

    Raises:
        Refusal: an option contradicts the command line, or the placement does not fit.
    """
    name = started.name
    if where.launcher or where.hosts:
        option = f"--launcher {where.launcher}" if where.launcher else f"--hosts {where.hosts}"
        why = f"the command line already starts its ranks with {name}"
        raise Refusal(f"cannot use {option} ({why}); omit it, or give the program without {name}", Exit.WRONG_WORD)
    stated = sorted(one for one in started.ranks if one is not None)
    if ranks is not None and started.ranks != {ranks}:
        number = f"starts {' or '.join(map(str, stated))} ranks" if stated else "does not state a number of ranks"
        why = f"the command line of {name} {number}"
        hint = f"omit --ranks, or change the option of {name}"
        raise Refusal(f"cannot use --ranks {ranks} ({why}); {hint}", Exit.WRONG_WORD)
    if request:
        _check_placement(started, request)
    return started.command.ranks or 1


def check_named_ranks(subject: Subject, started: LauncherLine, knobs: Mapping[str, str]) -> None:
    """Raise `Refusal` for `{ranks}` if no knob has this name and the number of ranks differs between cells."""
    if len(started.ranks) > 1 and "ranks" in placeholders.placeholder_names(subject) and "ranks" not in knobs:
        why = f"the number of ranks of {started.name} differs between the values of the knobs"
        hint = "use the knob that sets the number of ranks instead"
        raise Refusal(f"cannot replace {{ranks}} ({why}); {hint}", Exit.WRONG_WORD)


def _check_placement(started: LauncherLine, request: PlacementRequest) -> None:
    """Raise `Refusal` if the placement does not fit the number of ranks, or the launcher itself binds the ranks."""
    name, command = started.name, started.command
    if None in started.ranks:
        why = f"the command line of {name} does not state how many ranks it starts"
        raise Refusal(f"cannot place the ranks of {name} ({why}); add its option, such as -n 2", Exit.WRONG_WORD)
    for count in filter(None, started.ranks):
        if count % request.ranks:
            why = f"--place {request.ranks}x{request.threads} is for {request.ranks}"
            hint = f"try --place {count}x{request.threads}"
            raise Refusal(f"cannot place the {count} ranks of {name} ({why}); {hint}", Exit.WRONG_WORD)
    if command.binds:
        why = f"{name} binds its ranks {_bound_by(command)}"
        raise Refusal(f"cannot place the ranks of {name} ({why}); {_unbinding(started)}", Exit.WRONG_WORD)


def _bound_by(command: LaunchCommand) -> str:
    return command.bound_by if command.bound_by.startswith("by ") else f"because of {command.bound_by}"


def _unbinding(started: LauncherLine) -> str:
    option = launchers.unbinding_option(started.launcher, started.name)
    if not option:
        return "omit --place, or use another launcher"
    return f"try {started.name} {option} …" if started.command.bound_by.startswith("by ") else f"try {option} instead"


def check_start(
    count: int, where: LaunchTarget, hosts: Sequence[str], request: PlacementRequest | None, knobs: Mapping[str, str]
) -> None:
    """Check that Octant can start the ranks.

    Raises:
        Refusal: the launcher is a batch system or is not available, or the ranks do not fill the nodes.
    """
    if "ranks" in knobs:
        why = "Octant starts the ranks of this program, and --ranks sets their number"
        raise Refusal(f"cannot use a knob 'ranks' ({why}); try --ranks N, or mpiexec -n {{ranks}}", Exit.WRONG_WORD)
    if where.launcher in launchers.names("job") and where.launcher not in launchers.names("start"):
        raise Refusal(batch_system_text(where.launcher), Exit.WRONG_WORD)
    launchers.chosen(where.launcher, JobSize(count, hosts=tuple(hosts)))
    if request:
        check_full_nodes(count, request)


def count_started_ranks(
    ranks: int | None, where: LaunchTarget, request: PlacementRequest | None, knobs: Mapping[str, str]
) -> int:
    """Return the number of ranks that Octant starts for a program.

    Raises:
        Refusal: as `check_start`.
    """
    hosts = host_names(where.hosts)
    count = ranks or (request.ranks * max(1, len(hosts)) if request else 1)
    check_start(count, where, hosts, request, knobs)
    return count


def check_hidden_launcher(words: Sequence[str], path: str | None, where: LaunchTarget, ranks: int | None) -> None:
    """Check that options for ranks are not used with a script that starts a launcher itself.

    Args:
        words: command line of the program, without its launcher.
        path: search path of the program; `None`: PATH.
        ranks: requested number of ranks.

    Raises:
        Refusal: a placement, ranks, hosts or a launcher are requested, and the script starts a launcher.
    """
    options = {
        "--place": where.place,
        "--ranks": (ranks or 1) > 1,
        "--launcher": where.launcher,
        "--hosts": where.hosts,
    }
    option = next((name for name, is_set in options.items() if is_set), "")
    if option and (hidden := hidden_launcher(words, path)):
        why = f"{hidden}, and Octant cannot bind the ranks that a script starts"
        hint = f"omit {option}, or give the command line of the launcher instead of the script"
        raise Refusal(f"cannot use {option} ({why}); {hint}", Exit.WRONG_WORD)


def hidden_launcher(words: Sequence[str], path: str | None = None) -> str:
    """Return where a script starts a launcher: `line 12 of run.sh seems to start mpiexec`; "": it starts none.

    Args:
        words: command line of the program, without its launcher.
        path: search path of the program; `None`: PATH.
    """
    words = behind_wrappers(words)
    if is_interpreter(words[0]):
        if "-c" in words[1:2]:
            names = {os.path.basename(word) for word in _WORD.findall(" ".join(words[2:3]))}  # noqa: PTH119 - text
            found = sorted(names & launchers.command_names())
            return f"the command after -c seems to start {found[0]}" if found else ""
        script = _script(words)
    else:
        script = shutil.which(words[0], path=path) or ""
    line, _, name = launchers.hidden_launcher(Path(script)).partition(": ") if script else ("", "", "")
    return f"{line} of {os.path.basename(script)} seems to start {name}" if name else ""  # noqa: PTH119 - text


def program_name(words: Sequence[str]) -> str:
    """Return the file name of a program, or of the script of an interpreter."""
    words = behind_wrappers(words)
    name = os.path.basename(words[0])  # noqa: PTH119 - text
    if is_interpreter(words[0]) and "-c" not in words[1:2]:
        name = os.path.basename(_script(words)) or name  # noqa: PTH119 - text
    return re.sub(r"[\x00-\x1f\x7f]", "?", name)[:MAX_NAME_LENGTH] or "program"


def behind_wrappers(words: Sequence[str]) -> Sequence[str]:
    """Return the command line without leading `env A=1`, `nice`, `timeout` and similar commands."""
    return words[launchers.skip_wrappers(words) :] or words


def is_interpreter(word: str) -> bool:
    """Return whether a word names a shell or another program that executes scripts."""
    return _INTERPRETER.fullmatch(os.path.basename(word)) is not None  # noqa: PTH119 - text


def _script(words: Sequence[str]) -> str:
    """Return the script of an interpreter; "": none."""
    return next((word for word in words[1:] if not word.startswith("-")), "")


def remarks(request: Request) -> tuple[str, ...]:
    """Return remarks about starting and binding the ranks, for the user, before the program starts."""
    started = find_launcher(request.subject, request.knobs, request.shape.ranks)
    found = []
    if started and started.command.binds:
        option = launchers.unbinding_option(started.launcher, started.name)
        needs = f"; --place needs {option}" if option else ""
        found.append(f"{started.name} binds its ranks {_bound_by(started.command)}{needs}")
    elif started and started.command.binds is None and request.shape.place:
        option = launchers.unbinding_option(started.launcher, started.name)
        found.append(f"the configuration of {started.name} may also bind ranks; {option} prevents this")
    known = {"ranks": str(request.shape.ranks), **cells_of(request.knobs)[0]}
    words = started.program if started else placeholders.fill_words(request.subject.command, known)
    if hidden := hidden_launcher(words, request.subject.environment.get("PATH")):
        found.append(f"{hidden}: results are those of the whole script, not of each rank")
    return tuple(found)
