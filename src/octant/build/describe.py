"""A kernel's description of itself, queried from the program."""

import functools
import json
import math
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from octant import build
from octant.failure import Exit, Refusal


@dataclass(frozen=True)
class DescribedKnob:
    """A knob as the kernel itself declares it."""

    name: str
    kind: str
    default: str
    help: str
    choices: tuple[str, ...]
    least: float  # of a number
    most: float


@dataclass(frozen=True)
class Described:
    """A kernel's description of itself."""

    knobs: tuple[DescribedKnob, ...]
    least_ranks: int
    raw: Mapping[str, Any]  # all of it, for programs


def describe(workload: str, knobs: Mapping[str, str] | None = None, ranks: int = 0) -> Described:
    """Return the kernel's description: its knobs with kinds, defaults and help, and how it was built.

    Args:
        knobs: to be checked by the kernel itself, as it will read them.
        ranks: of the launch that the knobs are for; 0: not known, so groups and shapes are not checked.

    Raises:
        Refusal: the kernel is missing or does not answer, a knob cannot be set so, or the kernel does not take so many
            ranks and threads with these knobs: its reason, with exit code 3 where none of the points is supported.
    """
    program = build.find(workload)
    words = [f"{name}={value}" for name, value in (knobs or {}).items()]
    if ranks:
        words += ["--ranks", str(ranks)]
    try:
        return _answer(program, program.stat().st_mtime_ns, tuple(words))
    except (OSError, subprocess.SubprocessError, ValueError, KeyError) as error:
        raise Refusal(f"cannot read the knobs of {program} ({error}); try `make setup`") from error


@functools.cache
def _answer(program: Path, _changed_ns: int, words: tuple[str, ...]) -> Described:
    """Return the program's description of itself, cached because commands need it several times."""
    answer = subprocess.run(  # noqa: S603 - our own program
        [str(program), "--describe", *words], capture_output=True, text=True, timeout=20, check=False
    )
    if answer.returncode in (Exit.WRONG_WORD, Exit.NOT_SUPPORTED):
        raise Refusal(answer.stderr.strip().partition(": ")[2] or answer.stderr, answer.returncode)
    answer.check_returncode()
    raw = json.loads(answer.stdout)
    return Described(tuple(map(_knob, raw["knobs"])), int(raw["least_ranks"]), raw)


def _knob(described: Mapping[str, Any]) -> DescribedKnob:
    return DescribedKnob(
        described["name"], described["kind"], described["default"], described["help"],
        tuple(described.get("choices", ())),
        described.get("least", 0), described.get("most", math.inf),
    )  # fmt: skip


def pace(workload: str, knobs: Mapping[str, str]) -> str:
    """Whether the kernel works in chunks, steps or whole repetitions with these knobs; "": it does not answer."""
    try:
        raw = describe(workload).raw
    except Refusal:
        return ""
    return str(raw.get("rows", {}).get(knobs.get(raw.get("chooser", "")), raw).get("pace", ""))


def default_knobs(workload: str) -> dict[str, str]:
    """Return the defaults of the kernel's knobs; none if it is not installed or does not answer."""
    try:
        return {knob.name: knob.default for knob in describe(workload).knobs}
    except Refusal:
        return {}
