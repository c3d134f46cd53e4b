"""From the words of a command to a plan for this machine."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast, get_args

from octant import build, registry
from octant.failure import Exit, Refusal
from octant.launch import Launch
from octant.machine import Machine
from octant.machine.discover import discover
from octant.study import plan
from octant.workload import Mode, Workload


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
    """What a kernel says about itself."""

    knobs: tuple[DescribedKnob, ...]
    least_ranks: int
    raw: Mapping[str, Any]  # all of it, for programs


def evaluate(quick: bool, only: Sequence[str]) -> tuple[tuple[Launch, ...], Machine]:
    """The plan of `octant evaluate` and the machine it is for.

    Raises:
        Refusal: `only` names no workload.
    """
    machine = discover()
    chosen = [_workload(name) for name in only] or list(registry.workloads().values())
    return plan.evaluate(chosen, machine, quick), machine


def run(
    workload: str, words: Sequence[str], ranks: int | None, mode: str, repeats: int
) -> tuple[tuple[Launch, ...], Machine]:
    """The plan of `octant run`; unknown knobs and values are refused before anything starts.

    Raises:
        Refusal: unknown workload, mode, knob or value.
    """
    _workload(workload)
    if mode and mode not in get_args(Mode):
        raise Refusal(f"cannot use --mode {mode} (no such mode); try {', '.join(get_args(Mode))}")
    described = describe(workload)
    knobs = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name or not value:
            raise Refusal(f"cannot read {word!r} (not of the form knob=value); try {described.knobs[0].name}=…")
        if name in knobs:
            raise Refusal(f"cannot set {name} twice; give several values as {name}=a,b")
        known = [knob.name for knob in described.knobs]
        if name not in known:
            raise Refusal(f"cannot set {name!r} (no such knob of {workload}); it has {', '.join(known)}")
        knobs[name] = value
    default: Mode = "all" if described.least_ranks > 1 else "one"
    chosen = cast("Mode", mode or default)
    machine = discover()
    return plan.run(workload, knobs, ranks, chosen, repeats, machine), machine


def describe(workload: str) -> Described:
    """What the kernel says about itself: its knobs with kinds, defaults and help, and how it was built.

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


def _workload(name: str) -> Workload:
    try:
        return registry.workload(name)
    except LookupError as error:
        raise Refusal(f"cannot measure {name!r} ({error.args[0]})", Exit.WRONG_ANSWER) from error
