"""Syntax of the options of a program: `--value`, `--check`, `--env`, `--before`, `--after` and `--keep`."""

from __future__ import annotations

import math
import re
import shlex
import warnings
from typing import TYPE_CHECKING, NoReturn

from octant.failure import Exit, Refusal, suggestion
from octant.profile import named_values
from octant.program import STDERR, STDOUT, ProgramCheck, ProgramValue
from octant.runs.programs import values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octant.program import Better

MEASURED_VALUES = (
    "wall time", "user time", "system time", "memory", "minor page faults", "major page faults",
    "voluntary context switches", "involuntary context switches", "CPU utilisation", "cores used",
)  # fmt: skip
"""Values that are measured for every program. Their names are reserved."""
MAX_CHARACTERS = 2000
"""Maximum length of a regular expression or of a path."""

_NAME = r"[\w.\-/](?:[\w .\-/]{0,78}[\w.\-/])?"
_VALUE = re.compile(rf"\s*({_NAME})\s*(?:\[([^\]]*)\]\s*)?=(.*)", re.DOTALL)
_WITHIN = re.compile(r"\s*(.*?)\s+within\s+([^\s%]+)\s*(%?)(?:\s+of\s+(\S+))?(\s+absolute)?\s*", re.DOTALL)
REGION = "region:"
"""Beginning of a value that is the time of a region of the profile."""
CALL = "call:"
"""Beginning of a value of the calls in the profile."""
_REGION = re.compile(r"[^\x00-\x1f\x7f]{1,119}")
_UNIT = re.compile(r"[A-Za-zµμ°%0-9*^/·-]{1,20}")
_TIMES = frozenset({"ns", "us", "µs", "μs", "ms", "s", "min", "h"})
_STATUS = re.compile(r"\s*exit\s*=\s*(.*?)\s*", re.DOTALL)
_VARIABLE = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][+-]?\d+)?|[+-]?(?:nan|inf(?:inity)?)"

_VALUE_EXAMPLE = "--value 'rate[Mop/s]=total *= *([0-9.]+)'"
_CHECK_EXAMPLE = "--check 'residual within 1e-9 absolute'"
_SHELL = frozenset({";", "|", "||", "&&", "&", ">", ">>", "<", "2>&1"})
"""Operators of a shell."""


def read_value(text: str) -> ProgramValue:
    """Return the value that a text of `--value` describes.

    The forms are `NAME=REGEX`, `NAME[UNIT,lower,FILE]=REGEX`, `NAME[UNIT,lower,FILE]=json:PATH`, `region:NAME`,
    `NAME=region:NAME` and `call:FUNCTION:QUANTITY`. Parts in the brackets may be empty, and trailing parts may be
    omitted.

    Raises:
        Refusal: the text has none of these forms, the name is reserved, or the regular expression is invalid.
    """
    if text.startswith(CALL):
        return _call_value(text)
    if text.startswith(REGION):
        text = f"{text.removeprefix(REGION).strip()}={text}"
    found = _VALUE.fullmatch(text)
    if not found and REGION in text:
        _refuse(text, "value", "a region needs a name, and its value a plain one", "--value 'solver=region:NAME'")
    if not found:
        _refuse(text, "value", "not of the form NAME=REGEX or NAME[UNIT,lower,FILE]=REGEX", _VALUE_EXAMPLE)
    name, brackets, wanted = found.groups()
    if (built_in := _built_in(name)) is not None:
        _refuse(text, "value", f"{built_in} is always measured, and its name is reserved", f"'my {name}=…'")
    unit, better, source = _brackets(text, brackets or "")
    if wanted.startswith("json:"):
        path = wanted.removeprefix("json:").strip()
        if not path or not all(path.split(".")):
            why = "a JSON path consists of names and indices that are separated by points"
            _refuse(text, "value", why, "--value 'residual[1,lower,out.json]=json:solver.0.residual'")
        return ProgramValue(name, unit, better, source, path=path)
    if wanted.startswith(REGION):
        return _region_value(text, name, brackets, wanted.removeprefix(REGION).strip())
    _check_pattern(text, wanted)
    return ProgramValue(name, unit, better, source, pattern=wanted)


def _call_value(text: str) -> ProgramValue:
    try:
        return named_values.program_value(text)
    except ValueError as error:
        cause, _, step = str(error).partition("; ")
        raise Refusal(f"invalid --value {text[:80]!r} ({cause}); {step}", Exit.WRONG_WORD) from error


def _region_value(text: str, name: str, brackets: str | None, region: str) -> ProgramValue:
    if brackets is not None:
        _refuse(text, "value", "the time of a region is in seconds", f"--value '{name}={REGION}{region}'")
    if not _REGION.fullmatch(region):
        _refuse(text, "value", "a region has a name of 1 to 119 characters", f"--value '{name}={REGION}solver'")
    return ProgramValue(name, "s", "lower", region=region)


def read_values(texts: Sequence[str]) -> tuple[ProgramValue, ...]:
    """Return the values of all texts of `--value`.

    Raises:
        Refusal: as `read_value`, or a name occurs twice.
    """
    values = tuple(map(read_value, texts))
    names = [value.name.lower() for value in values]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise Refusal(
            f"two --value options have the name {twice!r}; rename one of them",
            Exit.WRONG_WORD,
        )
    return values


def implied_value(name: str) -> ProgramValue:
    """Return the value of a check that no `--value` describes: the number after its name in standard output.

    `=`, `:` or blanks separate the name and the number.
    """
    pattern = rf"(?<!\w){re.escape(name)}\s*[=:\s]\s*({_NUMBER})(?![\w.])"
    return ProgramValue(name, better="lower", pattern=pattern)


def read_check(text: str) -> ProgramCheck:
    """Return the check that a text of `--check` describes, in all forms except `exit=N`.

    Raises:
        Refusal: the text has none of the forms, a tolerance or number is invalid, or the file or command is missing.
    """
    words = text.split()
    if words[:1] == ["command"]:
        return ProgramCheck("command", command=_words(text.strip()[len("command") :], text, "check"))
    if words[:1] == ["file"]:
        return _file_check(text)
    found = _WITHIN.fullmatch(text)
    if not found or not re.fullmatch(_NAME, found[1]):
        forms = "the forms are 'NAME within TOLERANCE', 'file PATH', 'command COMMAND' and exit=N"
        _refuse(text, "check", forms, _CHECK_EXAMPLE)
    name, tolerance, percent, expected, absolute = found.groups()
    bound = _number(tolerance, text)
    if bound < 0:
        _refuse(text, "check", "a tolerance must not be negative", f"'{name} within {tolerance.lstrip('-')}'")
    if percent and absolute:
        _refuse(text, "check", "a percentage is always relative", f"'{name} within {tolerance} absolute' without %")
    compared = None if expected is None else _number(expected, text)
    if compared == 0 and not absolute:
        _refuse(text, "check", "a difference relative to 0 is undefined", f"'{name} within {tolerance} of 0 absolute'")
    scale = 0.01 if percent else 1.0
    return ProgramCheck("value", name, bound * scale, relative=not absolute, expected=compared)


def read_checks(texts: Sequence[str]) -> tuple[tuple[ProgramCheck, ...], tuple[int, ...]]:
    """Return the checks of all texts of `--check`, and the exit statuses that count as success.

    Raises:
        Refusal: as `read_check`, an exit status is invalid, or a check occurs twice.
    """
    checks: list[ProgramCheck] = []
    statuses: list[int] = []
    for text in texts:
        if found := _STATUS.fullmatch(text):
            statuses += _statuses(text, found[1])
        else:
            checks.append(read_check(text))
    names = [check.name for check in checks]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise Refusal(f"{twice!r} is checked twice; remove one of the --check options", Exit.WRONG_WORD)
    return tuple(checks), tuple(dict.fromkeys(statuses)) or (0,)


def read_variables(texts: Sequence[str]) -> dict[str, str]:
    """Return the variables of all texts of `--env`, which have the form NAME=VALUE; the value may be empty.

    Raises:
        Refusal: the text has another form, or a variable occurs twice.
    """
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not _VARIABLE.fullmatch(name) or "\0" in value:
            _refuse(text, "env", "not of the form NAME=VALUE", "--env OMP_SCHEDULE=static")
        if name in found:
            hint = f"to compare two values, use a knob: s=a,b --env {name}={{s}}"
            raise Refusal(f"--env sets {name} twice; {hint}", Exit.WRONG_WORD)
        found[name] = value
    return found


def read_command(text: str, option: str) -> tuple[str, ...]:
    """Split a command into arguments with the quoting rules of a shell; no shell executes it.

    Args:
        option: name of its option, without dashes.

    Raises:
        Refusal: the command is empty, a quotation is not closed, or it contains shell operators.
    """
    return _words(text, text, option)


def read_file(text: str, option: str) -> str:
    """Return the name of a file of the program, relative to its working directory.

    Raises:
        Refusal: it is empty, absolute, or outside the directory.
    """
    if not text or len(text) > MAX_CHARACTERS or "\0" in text:
        _refuse(text, option, "it is not a file name", f"--{option} result.dat")
    if not is_inside(text):
        why = "it is outside the working directory of the program"
        _refuse(text, option, why, "a path relative to that directory")
    return text


def is_inside(name: str) -> bool:
    """Return whether a file name, as written, is inside the working directory of the program."""
    return not name.startswith(("/", "~")) and ".." not in name.split("/")


def _brackets(text: str, inside: str) -> tuple[str, Better, str]:
    """Return the unit, the direction and the source of a value, from the brackets after its name."""
    parts = [part.strip() for part in inside.split(",")]
    directions = [part for part in parts if part in ("lower", "higher")]
    example = "--value 'residual[1,lower,out.txt]=residual *= *(.+)'"
    if len(directions) > 1 or len(parts) > 3:
        _refuse(text, "value", "the brackets contain a unit, lower or higher, and a file", example)
    if directions and (parts[0] == directions[0] or parts[1] != directions[0]):
        _refuse(text, "value", f"{directions[0]} must follow the unit in the brackets", example)
    unit, direction, source = (*parts, "", "", "")[:3]
    if direction and not directions:
        hint = suggestion(direction, ("lower", "higher"))
        _refuse(text, "value", f"{direction!r} is neither lower nor higher", f"{example}; {hint}")
    unit = unit or "1"
    if not _UNIT.fullmatch(unit) or unit in (STDOUT, STDERR):
        _refuse(text, "value", f"{unit!r} is not a unit", example)
    better: Better = "lower" if direction == "lower" or (not direction and unit in _TIMES) else "higher"
    return unit, better, source if source in (STDOUT, STDERR) else read_file(source, "value") if source else STDOUT


def _check_pattern(text: str, pattern: str) -> None:
    if not pattern or len(pattern) > MAX_CHARACTERS:
        why = f"a regular expression has 1 to {MAX_CHARACTERS} characters"
        _refuse(text, "value", why, _VALUE_EXAMPLE)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiled = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        where = f" at character {error.pos + 1}" if isinstance(error, re.error) and error.pos is not None else ""
        reason = error.msg if isinstance(error, re.error) else str(error) or "too deep"
        hint = r"escape special characters: \( \[ \*"
        _refuse(text, "value", f"invalid regular expression: {reason}{where}", f"{_VALUE_EXAMPLE}; {hint}")
    try:
        values.compile_pattern(pattern)
    except ValueError as error:
        _refuse(text, "value", f"invalid regular expression: {error}", _VALUE_EXAMPLE)
    if not compiled.groups and compiled.fullmatch(""):
        _refuse(text, "value", "the regular expression matches an empty text", _VALUE_EXAMPLE)


def _file_check(text: str) -> ProgramCheck:
    rest = text.strip()[len("file") :].strip()
    file, equals, reference = (part.strip() for part in rest.partition(" = "))
    if not file or (equals and not reference) or rest.endswith(" ="):
        example = "--check 'file out.dat' or --check 'file out.dat = expected.dat'"
        _refuse(text, "check", "the file name is missing", example)
    return ProgramCheck("file", file=read_file(file, "check"), reference=reference)


def _statuses(text: str, listed: str) -> list[int]:
    numbers = [part.strip() for part in listed.split(",")]
    if not all(number.isascii() and number.isdecimal() and int(number[:5]) <= 255 for number in numbers):
        _refuse(text, "check", "an exit status is an integer from 0 to 255", "--check exit=0,1")
    return [int(number[:5]) for number in numbers]


def _words(text: str, whole: str, option: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        _refuse(whole, option, str(error).lower(), f"--{option} {_example(option)}")
    if not words:
        _refuse(whole, option, "the command is missing", f"--{option} {_example(option)}")
    if shell := next((word for word in _unquoted(text) if word in _SHELL), ""):
        why = f"{shell} is a shell operator, and the command is executed without a shell"
        command = f"{'command ' * (option == 'check')}sh -c {shlex.quote(text.strip())}"
        plain = not set('"$`\\!') & set(command)
        _refuse(whole, option, why, f'--{option} "{command}"' if plain else f"--{option} {shlex.quote(command)}")
    return words


def _unquoted(text: str) -> list[str]:
    """Split a command but keep its quotes, to distinguish a quoted `;` from a shell operator."""
    try:
        return shlex.split(text, posix=False)
    except ValueError:  # quotes after a backslash
        return []


def _example(option: str) -> str:
    return "'command ./verify out.dat'" if option == "check" else "'cp start.dat work.dat'"


def _number(text: str, whole: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        _refuse(whole, "check", f"{text!r} is not a number", f"{_CHECK_EXAMPLE} or 'energy within 0.1% of -1.25'")
    return number


def _built_in(name: str) -> str | None:
    """Return the value with this name that is measured for every program; `None`: there is none."""
    plain = " ".join(name.lower().split())
    if plain.startswith("energy of "):
        return plain
    return next((one for one in MEASURED_VALUES if one.lower() == plain), None)


def _refuse(text: str, option: str, why: str, example: str) -> NoReturn:
    raise Refusal(f"invalid --{option} {text[:80]!r} ({why}); try {example}", Exit.WRONG_WORD)
