"""A kernel's description of itself, queried from the program."""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from octant import build
from octant.failure import Refusal


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


def describe(workload: str) -> Described:
    """The kernel's description: its knobs with kinds, defaults and help, and how it was built.

    Raises:
        Refusal: the kernel is missing or does not answer.
    """
    program = build.find(workload)
    try:
        answer = subprocess.run(  # noqa: S603 - our own program
            [str(program), "--describe"], capture_output=True, text=True, timeout=20, check=True
        )
        raw = json.loads(answer.stdout)
        knobs = tuple(
            DescribedKnob(knob["name"], knob["kind"], knob["default"], knob["help"], tuple(knob.get("choices", ())))
            for knob in raw["knobs"]
        )
        return Described(knobs, int(raw["least_ranks"]), raw)
    except (OSError, subprocess.SubprocessError, ValueError, KeyError) as error:
        raise Refusal(f"cannot ask {program} for its knobs ({error}); try `make setup`") from error
