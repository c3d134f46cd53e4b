"""Permissions for the programs in study and suite files, which may come from other users.

The programs are determined without starting anything: the first word of every command, with the values of its knobs,
the program after a launcher and after commands such as `env`, and the commands before, after and for checks of a
launch. The code of an interpreter needs permission as well: its script, or its command line. The example programs of
Octant need none: Octant starts its own files under these names, and they start nothing.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from octant import build, launchers
from octant.failure import Exit, Refusal
from octant.program import shell_text
from octant.runs.programs import placeholders
from octant.runs.programs.launcher_line import is_interpreter

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from octant.launchers import LaunchCommand
    from octant.request import Request, Subject

HARMLESS = frozenset(
    {
        "BLIS_NUM_THREADS", "GOMP_CPU_AFFINITY", "GOMP_SPINCOUNT", "KMP_AFFINITY", "KMP_BLOCKTIME", "MKL_DYNAMIC",
        "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "OMP_CANCELLATION", "OMP_DISPLAY_AFFINITY", "OMP_DISPLAY_ENV",
        "OMP_DYNAMIC", "OMP_MAX_ACTIVE_LEVELS", "OMP_NESTED", "OMP_NUM_THREADS", "OMP_PLACES", "OMP_PROC_BIND",
        "OMP_SCHEDULE", "OMP_STACKSIZE", "OMP_THREAD_LIMIT", "OMP_WAIT_POLICY", "OPENBLAS_NUM_THREADS",
    }
)  # fmt: skip
"""Variables that a file may set without permission: they control threads. Others can make a program load code."""
_RANKS = re.compile(r"-n|-np|--np|--ntasks|-n\d+|--ntasks=\d+|\d+|run")
"""Options of a launcher that state the number of ranks, and the subcommand of `flux`."""


_STARTERS = frozenset(
    {
        "awk", "busybox", "chroot", "chrt", "cmake", "cpulimit", "csh", "doas", "expect",
        "fakeroot", "find", "fish", "flock", "gawk", "gdb", "git", "guile", "hwloc-bind", "hyperfine", "ionice", "java",
        "likwid-mpirun", "likwid-perfctr", "likwid-pin", "ltrace", "m4", "make", "mawk", "ninja", "nsenter", "numactl",
        "parallel", "perf", "prlimit", "rr", "rsh", "runuser", "script", "sed", "setarch", "setpriv",
        "singularity", "apptainer", "docker", "podman", "ssh", "start-stop-daemon", "strace", "su", "sudo",
        "systemd-run", "tar", "taskset", "tclsh", "tcsh", "unshare", "valgrind", "vim", "watch", "wish", "xargs",
    }
)  # fmt: skip
"""Programs that start a command in their arguments, other than interpreters and wrappers such as `env` and `nice`."""


@dataclass(frozen=True)
class Permission:
    """A permission that a file needs before its programs are started."""

    word: str  # argument of --allow
    what: str  # its path, or a description


def permissions(requests: Sequence[Request], allowed: Collection[str] = ()) -> tuple[Permission, ...]:
    """Return the permissions that these requests need, each once, in the order of the requests.

    To recognise a launcher, Octant must start it. If the launcher is given by its path or is started by another
    program, its own program is known only after that word has been permitted.

    Args:
        allowed: permissions of the user so far.
    """
    found: dict[str, str] = {}
    for request in requests:
        for cell in request.cells() if request.subject.command else ():
            for word, what in _of_cell(request.subject, placeholders.cell_values(request, cell), allowed):
                found.setdefault(word, what)
    return tuple(Permission(word, what) for word, what in found.items())


def check_allowed(requests: Sequence[Request], allowed: Collection[str], name: str, command: str) -> None:
    """Check that the user permits all programs of a file.

    Args:
        allowed: arguments of `--allow`.
        name: name of the file.
        command: command of the user without `--allow`.

    Raises:
        Refusal: a permission is missing; the message lists all command lines, and the command that permits them.
    """
    every = permissions(requests, allowed)
    missing = [one for one in every if one.word not in allowed]
    if not missing:
        return
    lines = [f"  {quoted(one.word)}: {quoted(one.what)}" for one in missing]
    words = " ".join(f"--allow {quoted(one.word)}" for one in every)
    message = "\n".join(
        [
            f"cannot start the programs of {name} (programs in a file need your permission). Its command lines:",
            *(f"  {line}" for line in command_lines(requests)),
            "Not permitted so far:",
            *lines,
            f"If you trust them, run {command} {words}",
        ]
    )
    raise Refusal(message, Exit.NOT_SUPPORTED)


def command_lines(requests: Sequence[Request]) -> list[str]:
    """Return the command lines of requests as written in their file, each once, with its variables and input.

    The values of names in braces follow.
    """
    lines: dict[str, dict[str, dict[str, None]]] = {}
    for request in requests:
        if not request.subject.command:
            continue
        values = lines.setdefault(_line(request.subject), {})
        named = placeholders.placeholder_names(request.subject)
        for cell in request.cells():
            for knob, value in placeholders.cell_values(request, cell).items():
                if knob in named:
                    values.setdefault(knob, {})[value] = None
        for words in _around(request.subject):
            lines.setdefault(" ".join(map(quoted, words)), {})
    return [line + _values_text(values) for line, values in lines.items()]


def known_command(
    words: Sequence[str], variables: Mapping[str, str], allowed: Collection[str] = ()
) -> tuple[str, LaunchCommand] | None:
    """Return the launcher in a command line of a file, and its options, as `launchers.recognise`.

    To recognise a launcher, Octant starts it with `--version`. This requires that the launcher is on the PATH of the
    user or permitted, and that any command before it is permitted.

    Args:
        variables: variables of the file; its PATH is ignored.

    Raises:
        Refusal: as `launchers.recognise`.
    """
    named = [word for word in words if os.path.basename(word) in launchers.command_names()]  # noqa: PTH119 - text
    paths = [word for word in words if word.startswith("PATH=")]
    needed = {
        *([] if _is_launcher(words[0]) else words[:1]),
        *(word for word in named if not _is_launcher(word)),
        *paths,
    }
    if not named or not needed <= set(allowed):
        return None
    return launchers.recognise(words, {**os.environ, **variables, "PATH": os.environ.get("PATH", os.defpath)})


def _of_cell(subject: Subject, known: Mapping[str, str], allowed: Collection[str]) -> Iterator[tuple[str, str]]:
    variables = {name: placeholders.fill_text(value, known) for name, value in subject.environment.items()}
    path = variables.get("PATH") or os.environ.get("PATH")
    words = placeholders.fill_words(subject.command, known)
    found = known_command(words, variables, allowed)
    read = placeholders.fill_text(subject.input, known)
    if found is None or found[1].launcher:
        yield from _started(words, subject.directory, path, read)
    if found is not None:
        launcher, launcher_words = found[1].launcher, words[found[1].launcher : found[1].program]
        if not _is_launcher(launcher_words[0]):
            yield launcher_words[0], _resolved(launcher_words[0], subject.directory, path)
        if not all(_RANKS.fullmatch(word) for word in found[1].options):
            yield shell_text(launcher_words), f"options of {_resolved(words[launcher], subject.directory, path)}"
        yield from _started(words[found[1].program :], subject.directory, path, read)
    for around in _around(subject):
        yield from _started(placeholders.fill_words(around, known), subject.directory, path)
    yield from _variables(f"{name}={value}" for name, value in subject.environment.items())


def _started(words: Sequence[str], directory: str, path: str | None, read: str = "") -> Iterator[tuple[str, str]]:
    """Yield the permissions that a command line needs, without or after a launcher.

    These are its first word; for `env`, `nice` and similar commands also their variables and the command after them;
    for an interpreter also its script. If other arguments determine what is started, the whole command line needs
    permission.

    Args:
        read: file for standard input; "": none.
    """
    behind = launchers.behind_wrapper(words)
    script = is_interpreter(words[0]) and len(words) > 1 and not words[1].startswith(("-", "+"))
    if behind:
        yield words[0], _resolved(words[0], directory, path)
        yield from _variables(word for word in words[1:behind] if "=" in word and not word.startswith("-"))
        yield from _started(words[behind:], directory, path, read)
    elif script:
        yield words[0], _resolved(words[0], directory, path)
        yield words[1], f"a script: {_resolved(os.path.join('.', words[1]), directory, path)}"  # noqa: PTH118 - text
    elif behind == 0 or is_interpreter(words[0]) or os.path.basename(words[0]) in _STARTERS:  # noqa: PTH119 - text
        yield shell_text(words), f"starts a command in its arguments: {_resolved(words[0], directory, path)}"
        if read:
            yield read, "standard input, which the program may execute as commands"
    elif not build.example_named(words[0]):
        yield words[0], _resolved(words[0], directory, path)


def _variables(words: Iterable[str]) -> Iterator[tuple[str, str]]:
    for word in words:
        if word.partition("=")[0] not in HARMLESS:
            yield word, "a variable that may make the program load other code"


def _is_launcher(word: str) -> bool:
    """Return whether a word is the name of a launcher on an absolute element of PATH.

    With an empty or relative element of PATH, the folder of a downloaded file could provide the launcher.
    """
    return word in launchers.command_names() and os.path.isabs(shutil.which(word) or os.sep)  # noqa: PTH117 - text


def _around(subject: Subject) -> list[tuple[str, ...]]:
    """Return the other commands of a launch."""
    return [*subject.before, *subject.after, *(check.command for check in subject.checks if check.command)]


def _resolved(word: str, directory: str, path: str | None) -> str:
    if "/" in word:
        return os.path.abspath(os.path.join(directory, word))  # noqa: PTH100, PTH118 - text
    return shutil.which(word, path=path) or "not on PATH"


def _line(subject: Subject) -> str:
    variables = [f"{name}={quoted(value)}" for name, value in subject.environment.items()]
    read = [f"< {quoted(subject.input)}"] if subject.input else []
    return " ".join([*variables, *map(quoted, subject.command), *read])


def _values_text(values: Mapping[str, Collection[str]]) -> str:
    text = " ".join(f"{name}={','.join(map(quoted, several))}" for name, several in values.items())
    return f"  with {text}" if text else ""


def quoted(word: str) -> str:
    """Quote a word for a shell. Control characters are written as escape sequences."""
    if not word.isprintable():
        return f"$'{''.join(map(_escaped, word))}'"
    return shell_text([word])


def _escaped(character: str) -> str:
    if character.isprintable():
        return f"\\{character}" if character in "\\'" else character
    code = ord(character)
    return f"\\x{code:02x}" if code < 128 else f"\\U{code:08x}"
