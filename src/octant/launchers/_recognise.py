"""The role `recognise`: a command line of a user that starts ranks, taken apart."""

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Protocol, cast

from octant.build.mpiexec import version
from octant.failure import Exit, Refusal
from octant.launchers import _scripts, _wrappers
from octant.launchers._roles import launchers_with_role

MAX_RANKS = 1 << 24
"""Of a command line, on all its nodes."""
_INSTEAD = "give the program without its launcher, and use --ranks"


@dataclass(frozen=True)
class LaunchCommand:
    """A command line that starts ranks: the options of the launcher, and the begin of the program.

    Words that are put in front of the program are inserted at `program`: `words[:program] + more + words[program:]`.
    """

    ranks: int | None  # `None`: neither words nor variables state a number, and the launcher decides
    options: tuple[str, ...]  # the launcher's own words, between its name and the program
    program: int  # index of the word that names the program
    binds: bool | None  # whether the launcher binds ranks to hardware threads; `None`: its configuration decides
    bound_by: str = ""  # the option or the variable that binds, or "by default"; "": `binds` is not true
    launcher: int = 0  # index of the launcher's word, behind commands such as `env`


class Recogniser(Protocol):
    """Interface of a launcher's file.

    Optional: `ANSWER`, a pattern of what the program prints for `--version`; several files may have the same name among
    their `COMMANDS` if each of them has `ANSWER`. `temporary(folder: str) -> dict[str, str]`: the variables that move
    the launcher's folder of temporary files into `folder`.
    """

    COMMANDS: tuple[str, ...]
    """Names of the launcher's program: `mpiexec`."""

    def recognise(self, words: Sequence[str], environment: Mapping[str, str]) -> LaunchCommand:
        """Take a command line apart, whose first word is the launcher's program.

        Raises:
            ValueError: an option that the launcher does not have, or a command that is not one program; the message is
                the reason.
        """


def recognise(words: Sequence[str], environment: Mapping[str, str] | None = None) -> tuple[str, LaunchCommand] | None:
    """Return the launcher with which a command line starts ranks, and its options; `None`: no known launcher.

    Several MPI libraries call their launcher mpiexec; its `--version` identifies the library. The launcher may be
    behind the commands in `_wrappers.WRAPPERS` (`env`, `nice`, `timeout`); behind another command (`numactl`, `perf`)
    it is not recognised.

    Args:
        words: the command line.
        environment: the variables that the command would inherit; `None`: ours.

    Raises:
        Refusal: the launcher has a known name, but the command line cannot be taken apart; the text says why.
    """
    try:
        at, environment = _wrappers.skip(words, os.environ if environment is None else environment)
    except ValueError as error:
        if not any(Path(word).name in command_names() for word in words):
            return None
        raise Refusal(f"cannot interpret the command line ({error}); {_INSTEAD}", Exit.WRONG_WORD) from error
    found = installed_launcher(words[at], environment) if at < len(words) else None
    if found is None:
        return None
    name, module = found
    try:
        taken = cast("Recogniser", module).recognise(words[at:], environment)
    except ValueError as error:
        raise Refusal(
            f"cannot interpret the command line of {module.TITLE} ({error}); {_INSTEAD}", Exit.WRONG_WORD
        ) from error
    return name, replace(taken, program=at + taken.program, launcher=at)


def temporary_variables(words: Sequence[str], environment: Mapping[str, str], folder: str) -> dict[str, str]:
    """Return the variables that move the temporary files of the launcher that a command line starts into a folder.

    They are empty if the launcher has no such files, or if the environment says already where they are.
    """
    try:
        found = installed_launcher(words[0], environment) if words else None
    except Refusal:
        return {}
    if found is None or not hasattr(found[1], "temporary") or any("tmpdir_base" in name for name in environment):
        return {}
    variables: dict[str, str] = found[1].temporary(folder)
    return variables


def command_names() -> frozenset[str]:
    """Return the names of the programs whose command lines are recognised."""
    return frozenset(name for one in launchers_with_role("recognise").values() for name in one.COMMANDS)


def hidden_launcher(path: Path) -> str:
    """Return where a script seems to start a known launcher, as `line 12: mpiexec`; "" if it does not.

    See `_scripts.hidden_launcher`.
    """
    return _scripts.hidden_launcher(path, command_names())


def installed_launcher(program: str, environment: Mapping[str, str]) -> tuple[str, ModuleType] | None:
    """Return the launcher whose program this is.

    Raises:
        Refusal: an MPI library's launcher that is not there, does not answer, or whose command lines are not read.
    """
    claims = {name: one for name, one in launchers_with_role("recognise").items() if Path(program).name in one.COMMANDS}
    if not any(hasattr(one, "ANSWER") for one in claims.values()):
        return next(iter(claims.items()), None)
    path = shutil.which(program, path=environment.get("PATH"))
    if path is None:
        raise Refusal(f"cannot find the launcher {program} (it is not on PATH); load its module, or give its path")
    text = version(Path(path).absolute())  # ./mpiexec would be looked up on PATH
    for name, one in claims.items():
        if hasattr(one, "ANSWER") and re.search(one.ANSWER, text):
            return name, one
    readable = ", ".join(one.TITLE for one in claims.values())
    raise Refusal(
        f"cannot interpret the command line of {program} (unknown --version: {text.strip()[:80]!r}; supported "
        f"under this name: {readable}); {_INSTEAD}",
        Exit.WRONG_WORD,
    )
