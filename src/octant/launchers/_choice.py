"""Which launcher's command line pasted lines contain."""

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType

from octant.failure import Refusal
from octant.launchers import _command
from octant.launchers._recognise import installed_launcher
from octant.launchers._roles import having, unusable

LAUNCH_ORDER = ("ranks", "process", "threads")


@dataclass
class Start:
    """One command line of pasted lines, without `env A=b` and such in front."""

    words: Sequence[str]
    variables: Mapping[str, str]  # that the ranks see, as far as commands in front of them say
    outside: Mapping[str, str]  # that the command itself sees
    front: list[str] = field(default_factory=list)  # commands in front that change no affinity: `perf`
    tools: list[str] = field(default_factory=list)  # tools in front of a launcher, which restrict CPUs: `taskset`


@dataclass
class Choice:
    """The launcher, and its command lines: of a launcher one at most, of a tool one for each rank."""

    name: str
    starts: list[Start]
    unread: list[str]  # other commands among the lines
    notes: list[str] = field(default_factory=list)


def binds(module: ModuleType) -> str:
    """Return what a launcher binds: ranks, one process, or the threads of a rank."""
    found: str = getattr(module, "BINDS", "ranks")
    return found


def programs(module: ModuleType) -> tuple[str, ...]:
    """Return the names of the commands whose lines a launcher's file reads or recognises."""
    found: tuple[str, ...] = getattr(module, "READS", getattr(module, "COMMANDS", ()))
    return found


def choose(script: _command.Script, text: str, name: str | None, *, here: bool = False) -> Choice:
    """Return the launcher of pasted lines.

    Args:
        script: the lines, taken apart.
        text: the same as they are.
        name: the launcher to read them as; `None`: the one that they belong to.
        here: whether the mpiexec on PATH decides whose line it is where the line does not.

    Raises:
        ValueError: no launcher that can be read back, several, or a command that may start another launcher.
    """
    readable = having("read")
    starts = [_start(words, script.variables) for words in script.rows]
    known = {program for module in readable.values() for program in programs(module)}
    if name is not None:
        own = [start for start in starts if _command.command_name(start.words) in programs(readable[name])]
        own = own if programs(readable[name]) else starts[-1:]
        return Choice(name, own, _others(starts, own))
    own = [start for start in starts if _command.command_name(start.words) in known | _starters()]
    launching = [start for start in own if _is_launcher(_command.command_name(start.words), readable)]
    own = launching or own
    if len(launching) > 1:
        raise ValueError("cannot draw several command lines at once; give the lines of one launch")
    if own:
        notes: list[str] = []
        chosen = {_of_command(start, text, readable, notes if here else None) for start in own}
        if len(chosen) > 1:
            raise ValueError(f"cannot draw lines of {' and '.join(sorted(chosen))} at once; give those of one of them")
        return Choice(chosen.pop(), own, _others(starts, own), notes)
    for start in starts:
        _check_unknown(start.words, known)
    marked = _marked(text, readable)
    if not marked:
        raise ValueError(f"cannot recognise the launcher of {text!r}; known: {', '.join(readable)}{unusable()}")
    return Choice(marked[0], starts[-1:], _others(starts, starts[-1:]))


def _start(words: Sequence[str], variables: Mapping[str, str]) -> Start:
    """Return a command line without commands in front, and the tools in front of a launcher."""
    try:
        words, seen, front = _command.peel(words, variables)
    except ValueError as error:
        raise ValueError(f"cannot read the commands in front of the program: {error}") from None
    readable = having("read")
    module = next((one for one in readable.values() if _command.command_name(words) in programs(one)), None)
    if module is not None and binds(module) == "process":
        inner = _start(_command.parsed(module, words).program, seen)
        if _command.command_name(inner.words) in _starters():
            tools = [_command.command_name(words), *inner.tools]
            return Start(inner.words, inner.variables, inner.outside, [*front, *inner.front], tools)
    return Start(words, seen, seen, front)


def _starters() -> frozenset[str]:
    """Return the names of all commands that start ranks."""
    modules = [*having("read").values(), *having("recognise").values()]
    return frozenset(program for one in modules if binds(one) == "ranks" for program in programs(one))


def _is_launcher(program: str, readable: Mapping[str, ModuleType]) -> bool:
    tools = {name for one in readable.values() if binds(one) != "ranks" for name in programs(one)}
    return program not in tools


def _of_command(start: Start, text: str, readable: Mapping[str, ModuleType], notes: list[str] | None) -> str:
    """Return the launcher of a command line; several MPI libraries call theirs mpiexec.

    Args:
        start: the command line.
        text: all lines.
        readable: the launchers that read lines, by name.
        notes: gets a remark if the program on PATH decided; `None`: it must not decide.

    Raises:
        ValueError: no launcher, or several, have these options.
    """
    program = _command.command_name(start.words)
    claims = {name: one for name, one in readable.items() if program in programs(one)}
    if not claims:
        raise ValueError(
            f"cannot draw this: the options of {program} are not read back; known: {', '.join(readable)}{unusable()}"
        )
    if len(claims) == 1:
        return next(iter(claims))
    marked = _marked(text, claims)
    able = {name: one for name, one in claims.items() if name in marked or hasattr(one, "DECIDES")}
    accepted = {name for name, one in able.items() if _accepts(one, start.words)}
    decided = [name for name in marked if name in accepted] or ([] if accepted else marked)
    if len(accepted) == 1:
        return accepted.pop()
    if len(decided) == 1:
        return decided[0]
    candidates = [claims[name] for name in claims if name in (decided or accepted or claims)]
    titles = ", ".join(one.TITLE for one in candidates)
    if not accepted:
        raise ValueError(
            f"cannot read the options of {program}: none of the launchers with this name has all of them ({titles})"
        )
    if notes is not None:
        return _installed(program, claims, accepted, notes)
    examples = ", ".join(f"{one.DECIDES} ({one.TITLE})" for one in candidates if hasattr(one, "DECIDES"))
    raise ValueError(
        f"cannot tell whose {program} this is: {titles} accept these options; one of these would decide: {examples}"
    )


def _installed(program: str, claims: Mapping[str, ModuleType], accepted: Collection[str], notes: list[str]) -> str:
    """Return the launcher that a program on PATH belongs to.

    Raises:
        ValueError: it is not on PATH, or it belongs to a launcher that does not read these options.
    """
    try:
        found = installed_launcher(program, os.environ)
    except Refusal as refusal:
        raise ValueError(f"cannot tell whose {program} this is: {str(refusal).removeprefix('cannot ')}") from None
    if found is None or found[0] not in accepted:
        title = found[1].TITLE if found else "an unknown library"
        readable = ", ".join(claims[name].TITLE for name in claims if name in accepted)
        raise ValueError(f"cannot draw this: {program} here belongs to {title}; read are lines of {readable}")
    notes.append(f"read as a line of {found[1].TITLE}, to which {program} on this machine belongs")
    return found[0]


def _accepts(module: ModuleType, words: Sequence[str]) -> bool:
    """Return whether a launcher has all of these options."""
    try:
        _command.parsed(module, words)
    except ValueError:
        return False
    return True


def _marked(text: str, readable: Mapping[str, ModuleType]) -> list[str]:
    """Return the launchers whose pattern fits, those that start ranks first."""
    found = [key for key, one in readable.items() if re.search(one.MARK, text, re.MULTILINE)]
    return sorted(found, key=lambda key: LAUNCH_ORDER.index(binds(readable[key])))


def _check_unknown(words: Sequence[str], known: Collection[str]) -> None:
    """Refuse a command that may start the program on CPUs of its choice.

    Raises:
        ValueError: its name is that of a starter, or a launcher follows it.
    """
    name = _command.command_name(words)
    _command.refuse_unexpanded(words[:1], {})
    hidden = next((word for word in words[1:] if _command.command_name([word]) in {*_starters(), *known}), "")
    if hidden:
        raise ValueError(f"cannot tell what {name} does to {hidden}, which follows it; leave {name} out")
    if len(words) > 1 and words[0] == name and _command.STARTER.fullmatch(name):
        raise ValueError(f"cannot draw this: {name} may start ranks, and Octant does not read its options")


def _others(starts: Iterable[Start], own: Sequence[Start]) -> list[str]:
    return [" ".join(start.words) for start in starts if start not in own]
