"""A kernel's description of itself, queried from the program."""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Described:
    """A kernel's description of itself."""

    knobs: tuple[DescribedKnob, ...]
    least_ranks: int
    raw: Mapping[str, Any]  # all of it, for programs


def describe(workload: str, knobs: Mapping[str, str] | None = None, ranks: int = 0) -> Described:
    """The kernel's description: its knobs with kinds, defaults and help, and how it was built.

    Args:
        knobs: to be checked by the kernel itself, as it will read them.
        ranks: how many are to do it, checked too; 0: not yet known.

    Raises:
        Refusal: the kernel is missing or does not answer, or a knob cannot be set so, or not with so many ranks.
    """
    program = build.find(workload)
    words = [f"{name}={value}" for name, value in (knobs or {}).items()]
    try:
        answer = subprocess.run(  # noqa: S603 - our own program
            [str(program), "--describe", "--ranks", str(ranks), *words],
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
        if answer.returncode == Exit.WRONG_WORD:
            raise Refusal(answer.stderr.strip().partition(": ")[2] or answer.stderr, Exit.WRONG_WORD)
        answer.check_returncode()
        raw = json.loads(answer.stdout)
        described = tuple(
            DescribedKnob(knob["name"], knob["kind"], knob["default"], knob["help"], tuple(knob.get("choices", ())))
            for knob in raw["knobs"]
        )
        return Described(described, int(raw["least_ranks"]), raw)
    except (OSError, subprocess.SubprocessError, ValueError, KeyError) as error:
        raise Refusal(f"cannot ask {program} for its knobs ({error}); try `make setup`") from error
