"""Files of requests are data: the programs that one would start, and whether the user allows each of them.

A file may be anybody's. What it would start is therefore worked out without starting anything: the first word of every
command, with the values of its knobs, the program behind a launcher and behind commands such as `env`, and the commands
around a launch and of checks. What an interpreter executes needs permission as well: its script, or the command line.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from octant import launchers
from octant.failure import Exit, Refusal
from octant.program import shell_text
from octant.runs.programs import placeholders
from octant.runs.programs.launcher_line import is_interpreter

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from octant.ask import Ask, Subject
    from octant.launchers import LaunchCommand

HARMLESS = frozenset(
    {
        "BLIS_NUM_THREADS", "GOMP_CPU_AFFINITY", "GOMP_SPINCOUNT", "KMP_AFFINITY", "KMP_BLOCKTIME", "MKL_DYNAMIC",
        "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "OMP_CANCELLATION", "OMP_DISPLAY_AFFINITY", "OMP_DISPLAY_ENV",
        "OMP_DYNAMIC", "OMP_MAX_ACTIVE_LEVELS", "OMP_NESTED", "OMP_NUM_THREADS", "OMP_PLACES", "OMP_PROC_BIND",
        "OMP_SCHEDULE", "OMP_STACKSIZE", "OMP_THREAD_LIMIT", "OMP_WAIT_POLICY", "OPENBLAS_NUM_THREADS",
    }
)  # fmt: skip
"""Variables that a file may set without permission: they choose threads. Others can make a program load code."""
_RANKS = re.compile(r"-n|-np|--np|--ntasks|-n\d+|--ntasks=\d+|\d+|run")
"""Options of a launcher that state the number of ranks, and the word behind `flux`."""


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
"""Programs that start what their words say, beside interpreters and `env`, `nice` and the like, which are read."""


@dataclass(frozen=True)
class Permission:
    """What the user has to allow before a file may start its programs."""

    word: str  # of --allow
    what: str  # what it resolves to: a path, or what kind of thing it is


def permissions(asks: Sequence[Ask], allowed: Collection[str] = ()) -> tuple[Permission, ...]:
    """Everything that these requests need permission for, each once, in the order of the requests.

    The program behind a launcher that is named by its path, or that another program starts, is known only once that
    word is allowed: to recognise the launcher, Octant has to start it.

    Args:
        allowed: what is allowed already.
    """
    found: dict[str, str] = {}
    for ask in asks:
        for cell in ask.cells() if ask.subject.command else ():
            for word, what in _of_cell(ask.subject, placeholders.known_of(ask, cell), allowed):
                found.setdefault(word, what)
    return tuple(Permission(word, what) for word, what in found.items())


def check_allowed(asks: Sequence[Ask], allowed: Collection[str], name: str, command: str) -> None:
    """Refuse requests of a file whose programs are not all allowed.

    Args:
        allowed: the words of `--allow`.
        name: of the file.
        command: that the user gave, without its `--allow`, to be repeated with them.

    Raises:
        Refusal: one is not; the text lists all command lines, and the line that allows them.
    """
    every = permissions(asks, allowed)
    missing = [one for one in every if one.word not in allowed]
    if not missing:
        return
    lines = [f"  {quoted(one.word)}: {quoted(one.what)}" for one in missing]
    words = " ".join(f"--allow {quoted(one.word)}" for one in every)
    said = "\n".join(
        [
            f"cannot start the programs of {name} (a file starts only what you allow). Its command lines:",
            *(f"  {line}" for line in command_lines(asks)),
            "Not allowed so far:",
            *lines,
            f"If you know them, try {command} {words}",
        ]
    )
    raise Refusal(said, Exit.NOT_SUPPORTED)


def command_lines(asks: Sequence[Ask]) -> list[str]:
    """The command lines of requests as their file writes them, each once, with its variables and input.

    The values that stand for names in braces follow.
    """
    lines: dict[str, dict[str, dict[str, None]]] = {}
    for ask in asks:
        if not ask.subject.command:
            continue
        values = lines.setdefault(_line(ask.subject), {})
        named = placeholders.named(ask.subject)
        for cell in ask.cells():
            for knob, value in placeholders.known_of(ask, cell).items():
                if knob in named:
                    values.setdefault(knob, {})[value] = None
        for words in _around(ask.subject):
            lines.setdefault(" ".join(map(quoted, words)), {})
    return [line + _values_text(values) for line, values in lines.items()]


def known_command(
    words: Sequence[str], variables: Mapping[str, str], allowed: Collection[str] = ()
) -> tuple[str, LaunchCommand] | None:
    """The launcher of a command line that a file says, and what it is told, as `launchers.recognise`.

    To recognise a launcher, Octant starts it with `--version`. Only one that is on the user's own PATH is, or one that
    is allowed; behind another command, only if that is allowed, too.

    Args:
        variables: of the file; its PATH does not count.

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
    variables = {name: placeholders.filled(value, known) for name, value in subject.environment.items()}
    path = variables.get("PATH") or os.environ.get("PATH")
    words = placeholders.filled_words(subject.command, known)
    found = known_command(words, variables, allowed)
    read = placeholders.filled(subject.input, known)
    if found is None or found[1].launcher:
        yield from _started(words, subject.directory, path, read)
    if found is not None:
        launcher, own = found[1].launcher, words[found[1].launcher : found[1].program]
        if not _is_launcher(own[0]):
            yield own[0], _resolved(own[0], subject.directory, path)
        if not all(_RANKS.fullmatch(word) for word in found[1].options):
            yield shell_text(own), f"options of {_resolved(words[launcher], subject.directory, path)}"
        yield from _started(words[found[1].program :], subject.directory, path, read)
    for around in _around(subject):
        yield from _started(placeholders.filled_words(around, known), subject.directory, path)
    yield from _variables(f"{name}={value}" for name, value in subject.environment.items())


def _started(words: Sequence[str], directory: str, path: str | None, read: str = "") -> Iterator[tuple[str, str]]:
    """What a command line starts, here or behind a launcher.

    That is its first word; of `env`, `nice` and the like also what they set and the command behind; of an interpreter
    its script. If other words say what is started, the command line as a whole needs permission.

    Args:
        read: the file for standard input; "": it is empty.
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
        yield shell_text(words), f"what it starts depends on its words: {_resolved(words[0], directory, path)}"
        if read:
            yield read, "standard input, which the program may execute"
    else:
        yield words[0], _resolved(words[0], directory, path)


def _variables(words: Iterable[str]) -> Iterator[tuple[str, str]]:
    for word in words:
        if word.partition("=")[0] not in HARMLESS:
            yield word, "a variable, which may make the program load other code"


def _is_launcher(word: str) -> bool:
    """Whether a word is the bare name of a launcher that no working directory can provide.

    An empty or relative element of PATH would let the folder of a downloaded file provide it.
    """
    return word in launchers.command_names() and os.path.isabs(shutil.which(word) or os.sep)  # noqa: PTH117 - text


def _around(subject: Subject) -> list[tuple[str, ...]]:
    """The other commands that a launch starts."""
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
    said = " ".join(f"{name}={','.join(map(quoted, several))}" for name, several in values.items())
    return f"  with {said}" if said else ""


def quoted(word: str) -> str:
    """A word for a shell. Characters that could steer a terminal, or end the line, are written as their codes."""
    if not word.isprintable():
        return f"$'{''.join(map(_escaped, word))}'"
    return shell_text([word])


def _escaped(character: str) -> str:
    if character.isprintable():
        return f"\\{character}" if character in "\\'" else character
    code = ord(character)
    return f"\\x{code:02x}" if code < 128 else f"\\U{code:08x}"
