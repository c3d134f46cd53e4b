"""Which launcher's command line pasted lines contain."""

import os
import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType

from octant.failure import Refusal
from octant.launchers import _command, _tables
from octant.launchers._recognise import installed_launcher
from octant.launchers._roles import launchers_with_role, unusable

LAUNCH_ORDER = ("ranks", "process", "threads")
_PREFIXES = re.compile(r"I_MPI_|HYDRA_|OMPI_|PRTE_")
"""Variables that one MPI library alone reads; MPICH_ is also of Cray's."""


@dataclass
class Start:
    """One command line of pasted lines, without `env A=b` and such in front."""

    words: Sequence[str]
    variables: Mapping[str, str]  # that the ranks see, as far as commands in front of them say
    outside: Mapping[str, str]  # that the command itself sees
    front: list[str] = field(default_factory=list)  # commands in front that change no affinity: `perf`
    tools: list[str] = field(default_factory=list)  # tools in front of a launcher, which restrict CPUs: `taskset`


@dataclass
class LauncherLines:
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


def choose(script: _command.Script, text: str, name: str | None, *, here: bool = False) -> LauncherLines:
    """Return the launcher of pasted lines.

    Args:
        script: the lines, taken apart.
        text: the same as they are.
        name: the launcher to read them as; `None`: the one that they belong to.
        here: whether the mpiexec on PATH decides whose line it is where the line does not.

    Raises:
        ValueError: no launcher that can be read back, several, or a command that may start another launcher.
    """
    readable = launchers_with_role("read")
    starts = [_start(words, seen) for words, seen in zip(script.rows, script.seen, strict=True)]
    known = {program for module in readable.values() for program in programs(module)}
    if name is not None:
        matching = [start for start in starts if _command.command_name(start.words) in programs(readable[name])]
        matching = matching if programs(readable[name]) else starts[-1:]
        return LauncherLines(name, matching, _others(starts, matching))
    matching = [start for start in starts if _command.command_name(start.words) in known | starters()]
    launching = [start for start in matching if _is_launcher(_command.command_name(start.words), readable)]
    matching = launching or matching
    if len(launching) > 1:
        raise ValueError("cannot interpret several launches at once; give the command line of one launch")
    if matching:
        notes: list[str] = []
        chosen = {_of_command(start, script, readable, notes if here else None) for start in matching}
        if len(chosen) > 1:
            raise ValueError(
                f"cannot interpret lines of {' and '.join(sorted(chosen))} at once; give the lines of one of them"
            )
        return LauncherLines(chosen.pop(), matching, _others(starts, matching), notes)
    for start in starts:
        _check_unknown(start.words, known)
    plain = [word for row in script.rows for word in (row if row[0].startswith("-") else row[:1])]
    marked = _marked(_text(plain, script.variables, script), readable) or _marked(text, readable)
    if not marked:
        raise ValueError(f"cannot recognise the launcher of {text!r}; known: {', '.join(readable)}{unusable()}")
    last = [_start(script.rows[-1], script.variables)] if starts else []
    return LauncherLines(marked[0], last, _others(starts[:-1], ()))


def _start(words: Sequence[str], variables: Mapping[str, str]) -> Start:
    """Return a command line without commands in front, and the tools in front of a launcher."""
    try:
        words, seen, front = _command.peel(words, variables)
    except ValueError as error:
        raise ValueError(f"cannot interpret the commands in front of the program: {error}") from None
    readable = launchers_with_role("read")
    module = next((one for one in readable.values() if _command.command_name(words) in programs(one)), None)
    if module is not None and binds(module) == "process":
        inner = _start(_command.parsed(module, words).program, seen)
        if _command.command_name(inner.words) in starters():
            tools = [_command.command_name(words), *inner.tools]
            return Start(inner.words, inner.variables, inner.outside, [*front, *inner.front], tools)
    return Start(words, seen, seen, front)


def starters() -> frozenset[str]:
    """Return the names of all commands that start ranks."""
    modules = [*launchers_with_role("read").values(), *launchers_with_role("recognise").values()]
    return frozenset(program for one in modules if binds(one) == "ranks" for program in programs(one))


def _is_launcher(program: str, readable: Mapping[str, ModuleType]) -> bool:
    tools = {name for one in readable.values() if binds(one) != "ranks" for name in programs(one)}
    return program not in tools


def _text(words: Sequence[str], variables: Mapping[str, str], script: _command.Script) -> str:
    """Return the text in which a launcher's mark is looked for: all but the words of the user's program."""
    stated = [f"{name}={value}" for name, value in variables.items()]
    return "\n".join([*script.comments, *stated, " ".join([*words, ""]), script.file])


def _own_text(module: ModuleType, start: Start, script: _command.Script) -> str:
    """Return `_text` of a command line as a launcher takes it apart."""
    try:
        end = _command.parsed(module, start.words).given.end
    except ValueError:
        end = len(start.words)
    return _text(start.words[:end], start.variables, script)


def _of_command(
    start: Start, script: _command.Script, readable: Mapping[str, ModuleType], notes: list[str] | None
) -> str:
    """Return the launcher of a command line; several MPI libraries call theirs mpiexec.

    Args:
        start: the command line.
        script: all lines.
        readable: the launchers that read lines, by name.
        notes: gets a remark if the program on PATH decided; `None`: it must not decide.

    Raises:
        ValueError: no launcher, or several, have these options.
    """
    program = _command.command_name(start.words)
    claims = {name: one for name, one in readable.items() if program in programs(one)}
    if not claims:
        raise ValueError(
            f"cannot interpret this line: the options of {program} are not supported; supported launchers: "
            f"{', '.join(readable)}{unusable()}"
        )
    if len(claims) == 1:
        return next(iter(claims))
    claims = dict(_by_variables(start.variables, claims))
    if len(claims) == 1:
        return next(iter(claims))
    able, accepted, decided = _decide(start, script, claims)
    if len(accepted) == 1:
        return accepted.pop()
    if len(decided) == 1:
        return decided[0]
    candidates = [name for name in claims if name in (decided or accepted or claims)]
    titles = ", ".join(claims[name].TITLE for name in candidates)
    if not accepted:
        raise ValueError(
            f"cannot interpret the options of {program}: no launcher of this name has all of them ({titles})"
        )
    if notes is not None:
        return _installed(program, claims, accepted, notes)
    examples = [f"{claims[name].DECIDES} ({claims[name].TITLE})" for name in candidates
                if name in able and _would_decide(name, start, script, claims)]  # fmt: skip
    would = (
        f"add one of these options to select one: {', '.join(examples)}"
        if examples
        else "no known option distinguishes them"
    )
    raise ValueError(f"cannot identify the MPI library of {program}: {titles} accept these options; {would}")


def _only(module: ModuleType) -> str:
    """Return the pattern of values that one launcher alone has; it fits nothing where the file has none."""
    found: str = getattr(module, "ONLY", r"(?!)")
    return found


def _by_variables(variables: Mapping[str, str], claims: Mapping[str, ModuleType]) -> Mapping[str, ModuleType]:
    """Return the launchers of a name to whose library the variables belong; all, if none of them says so."""
    for name in variables:
        owners = {key: one for key, one in claims.items() if _tables.variable(name, one.VARIABLES) is not None}
        exact = {key: one for key, one in owners.items() if hasattr(one, "DECIDES")}
        if exact and _PREFIXES.match(name):
            claims = exact
    return claims


def _would_decide(name: str, start: Start, script: _command.Script, claims: Mapping[str, ModuleType]) -> bool:
    """Return whether the example of a launcher decides for it when it is added to a command line."""
    words, in_front = shlex.split(claims[name].DECIDES.removesuffix(" in front")), " in front" in claims[name].DECIDES
    stated = dict(word.split("=", 1) for word in words) if in_front else {}
    more = [] if in_front else words
    if set(stated) & set(start.variables):
        return False
    tried = replace(start, words=[start.words[0], *more, *start.words[1:]], variables={**start.variables, **stated})
    left = _by_variables(tried.variables, claims)
    _, accepted, decided = _decide(tried, script, left)
    found = list(left) if len(left) == 1 else [*accepted] if len(accepted) == 1 else decided
    return found == [name]


def _decide(
    start: Start, script: _command.Script, claims: Mapping[str, ModuleType]
) -> tuple[Collection[str], set[str], list[str]]:
    """Return the launchers that a line may belong to, those that have all its options, and those whose mark fits."""
    texts = {name: _own_text(one, start, script) for name, one in claims.items()}
    marked = _marked("", claims, texts)
    able = {name: one for name, one in claims.items() if name in marked or hasattr(one, "DECIDES")}
    accepted = {name for name, one in able.items() if _accepts(one, start.words)}
    alone = [name for name in claims if name in accepted and re.search(_only(claims[name]), texts[name])]
    if len(alone) == 1:
        return able, set(alone), alone
    return able, accepted, [name for name in marked if name in accepted] or ([] if accepted else marked)


def _installed(program: str, claims: Mapping[str, ModuleType], accepted: Collection[str], notes: list[str]) -> str:
    """Return the launcher that a program on PATH belongs to.

    Raises:
        ValueError: it is not on PATH, or it belongs to a launcher that does not read these options.
    """
    try:
        found = installed_launcher(program, os.environ)
    except Refusal as refusal:
        raise ValueError(
            f"cannot identify the MPI library of {program}: {str(refusal).removeprefix('cannot ')}"
        ) from None
    if found is None or found[0] not in accepted:
        title = found[1].TITLE if found else "an unknown library"
        readable = ", ".join(claims[name].TITLE for name in claims if name in accepted)
        raise ValueError(
            f"cannot interpret this line: {program} on this machine belongs to {title}, but the options are those "
            f"of {readable}"
        )
    notes.append(f"interpreted as a line of {found[1].TITLE}, because {program} on this machine belongs to it")
    return found[0]


def _accepts(module: ModuleType, words: Sequence[str]) -> bool:
    """Return whether a launcher has all of these options."""
    try:
        _command.parsed(module, words)
    except ValueError:
        return False
    return True


def _marked(text: str, readable: Mapping[str, ModuleType], matching: Mapping[str, str] | None = None) -> list[str]:
    """Return the launchers whose pattern fits a text (or theirs in `matching`), those that start ranks first."""
    texts = matching or dict.fromkeys(readable, text)
    found = [key for key, one in readable.items() if re.search(one.MARK, texts[key], re.MULTILINE)]
    return sorted(found, key=lambda key: LAUNCH_ORDER.index(binds(readable[key])))


def _check_unknown(words: Sequence[str], known: Collection[str]) -> None:
    """Refuse a command that may start the program on CPUs of its choice.

    Raises:
        ValueError: its name is that of a starter, or a launcher follows it.
    """
    name = _command.command_name(words)
    _command.refuse_unexpanded(words[:1], {})
    hidden = next((word for word in words[1:] if _command.command_name([word]) in {*starters(), *known}), "")
    if hidden:
        raise ValueError(f"cannot interpret this line: the effect of {name} on {hidden} is unknown; remove {name}")
    if len(words) > 1 and words[0] == name and _command.STARTER.fullmatch(name):
        raise ValueError(
            f"cannot interpret this line: {name} may start ranks, and its options are not supported; give the line "
            "of a supported launcher"
        )


def _others(starts: Iterable[Start], matching: Sequence[Start]) -> list[str]:
    return [" ".join(start.words) for start in starts if start not in matching]
