"""Conditions of two runs, and their differences."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from octant import units
from octant.identity import identity_of
from octant.machine.modes import describe_numa_mode
from octant.mpi.proof import READ_BACK
from octant.record import NOT_STATED
from octant.request import effort_knobs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from octant.analysis.figures import Figure
    from octant.identity import Size
    from octant.launch import Planned
    from octant.record import Point
    from octant.request import Request, Subject
    from octant.store import StoredRun

MOMENTARY = frozenset({"frequency_now_hz", "steal_fraction", "swap_used_bytes"})
"""Facts that differ between any two runs and are no conditions."""
NOT_SET, NOT_LOADED = "not set", "not loaded"
_OF_LAUNCHES = " of the launches"
"""Suffix of variables that Octant set for launches."""

_PROGRAM, _LIBRARY = "build of the program", "library "

Difference = tuple[str, str, str]
"""Condition, value in A, value in B."""


def differences(before: StoredRun, after: StoredRun, pairs: Sequence[tuple[Figure, Figure]]) -> tuple[Difference, ...]:
    """Return the differences between two runs: machines, software, environment, and starts of the figures.

    Args:
        pairs: common figures of both runs.
    """
    of_runs, seeds = _differing(run_conditions(before), run_conditions(after)), _differing(_seed(before), _seed(after))
    if before.imported or after.imported:  # other tools hardly describe the machine
        of_runs, seeds = [row for row in of_runs if NOT_SET not in row], []
    return (*of_runs, *_of_launches(before, after, pairs), *seeds)


def differing_shapes(shapes: Iterable[tuple[str, Sequence[Size], Sequence[Size]]]) -> tuple[Difference, ...]:
    """Return the differences in ranks and threads of figures that are therefore not compared, by workload.

    Args:
        shapes: workload, sizes in A, and sizes in B.
    """
    rows = [
        (f"ranks × threads of {name}", *(", ".join(dict.fromkeys(map(shape_text, side))) for side in sides))
        for name, *sides in shapes
    ]
    return tuple((what, in_a, in_b) for what, in_a, in_b in rows if in_a != in_b)


def shape_text(size: Size) -> str:
    """Return `2 ranks × 1 thread`; if several ranks work together, `2 ranks × 1 thread together`.

    A number that an imported file does not state is `ranks not stated`.
    """
    counts = ((size.ranks, "rank"), (size.threads, "thread"))
    text = " × ".join(f"{noun}s {NOT_STATED}" if one is None else units.counted(one, noun) for one, noun in counts)
    return text + " together" * (size.ranks is not None and size.ranks > 1 and not size.alone)


def _differing(before: Mapping[str, str], after: Mapping[str, str]) -> list[Difference]:
    rows = [(name, before.get(name, NOT_SET), after.get(name, NOT_SET)) for name in dict.fromkeys([*before, *after])]
    return [row for row in rows if row[1] != row[2]]


def run_conditions(run: StoredRun) -> Mapping[str, str]:
    """Return the conditions of a run by name: processor, kernel, microcode, memory, software, environment."""
    machine = run.machine
    if run.imported:
        return {"measured": run.source, "machine": machine.name}
    return {
        "measured": "here",
        "machine": machine.name,
        "processor": machine.processor.model,
        "hardware threads allowed": str(len(machine.topology.usable())),
        "memory": units.bytes_text(machine.memory_bytes),
        "NUMA mode": describe_numa_mode(machine),
        **{name: value for name, value in machine.system.items() if name not in MOMENTARY},
        **machine.software,
        "MPI": _together(" ".join(point.process.mpi.split()) for point in run.points),
        **run.environment,
    }


def _seed(run: StoredRun) -> Mapping[str, str]:
    """Return the seed of the order of launches, points and hardware threads; an imported run has none."""
    return {} if run.imported else {"seed": str(run.seed)}


def _of_launches(before: StoredRun, after: StoredRun, pairs: Sequence[tuple[Figure, Figure]]) -> list[Difference]:
    """Return the conditions that differ between launches, with the number of figures if not all differ."""
    found: dict[str, list[tuple[str, str]]] = {}
    for old, new in pairs:
        sides = _conditions(before, old), _conditions(after, new)
        started = all("launcher" in side for side in sides)  # both starts are recorded
        for name, old_value, new_value in _differing(*sides):
            in_a, in_b = (
                NOT_LOADED if one == NOT_SET and name.startswith(_LIBRARY) else one for one in (old_value, new_value)
            )
            if NOT_SET not in (in_a, in_b) or (started and name.endswith(_OF_LAUNCHES)):
                found.setdefault(name, []).append((in_a, in_b))
    rows = []
    for name, differing in found.items():
        some = f" ({len(differing)} of {units.counted(len(pairs), 'figure')})" * (len(differing) < len(pairs))
        in_a, in_b = (_together(side) for side in zip(*differing, strict=True))
        rows.append((f"{name}{some}", in_a, in_b))
    return rows


def _conditions(run: StoredRun, figure: Figure) -> dict[str, str]:
    """Return the conditions of all launches of a figure by name; several values are joined."""
    found: dict[str, dict[str, None]] = {}
    for point in (point for one in (figure, *figure.equal) for point in one.points):
        request, planned = run.request_of(point.launch), run.plans.get(point.launch)
        for name, value in _of_launch(point, request, planned).items():
            found.setdefault(name, {})[value] = None
    return {name: _together(values) for name, values in found.items()}


def _of_launch(point: Point, request: Request | None, planned: Planned | None) -> dict[str, str]:
    """Return the conditions of a launch: request, start and resources, except its cell.

    Conditions that older or imported runs do not record are omitted.
    """
    found: dict[str, str] = {}
    if request:
        found |= _of_program(request.subject)
        found["MPI settings"] = _assigned(request.mpi) or "none"
        unplaced = "none requested" if request.subject.command else "one hardware thread per thread"
        found["placement"] = request.shape.place or unplaced
        found["emulated link"] = request.shape.link or "none"
    if planned:
        found["launcher"] = planned.launcher
        found |= {f"build of {point.workload}": planned.build} if planned.build else {}
        settings = {*(request.mpi if request else ()), READ_BACK}
        given = {name: value for name, value in planned.environment.items() if name not in settings}
        found |= {f"{name}{_OF_LAUNCHES}": value for name, value in given.items()}
    if request and request.subject.command:
        found |= _files_of_program(request.subject, point.process.build)
    else:
        found |= {f"build: {name.replace('_', ' ')}": str(value) for name, value in point.process.build.items()}
    if hosts := _hosts(point):
        found["hosts"] = hosts
    if scheduling := _scheduling(point):
        found["scheduling"] = scheduling
    means = dict(identity_of(point).means)
    shown = {*means, *effort_knobs(point.workload)}
    return found | {f"knob {name}": value for name, value in point.knobs.items() if name in shown}


def _files_of_program(subject: Subject, builds: Mapping[str, object]) -> dict[str, str]:
    """Return the builds of a user's program and of the libraries that it loads at its start.

    The program has the same key for all programs, so that two programs with different names are compared.
    """
    own = subject.program if subject.program in builds else next(iter(builds), "")
    named = {name: f"{_LIBRARY}{name}" if ".so" in name else f"build: {name}" for name in builds} | {own: _PROGRAM}
    return {named[name]: str(value) for name, value in builds.items()}


def _of_program(subject: Subject) -> dict[str, str]:
    """Return how a user's program was started; nothing for a workload."""
    if not subject.command:
        return {}
    return {
        "command": shlex.join(subject.command),
        "standard input": subject.input or "empty",
        "directory": subject.directory + ", a fresh copy for each launch" * subject.fresh,
    }


def _assigned(variables: Mapping[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in sorted(variables.items()))


def _hosts(point: Point) -> str:
    return ", ".join(dict.fromkeys(rank.host for rank in point.given)) or ", ".join(point.process.hosts)


def _scheduling(point: Point) -> str:
    """Return the scheduling of the ranks, without group names, which differ in every session."""
    every = [rank.scheduling for rank in point.given if rank.scheduling]
    plain = [replace(one, autogroup="", group="", quota_group="").text for one in every]
    return _together(text.replace(" ()", "") for text in plain) if plain else ""


def _together(texts: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(texts)) or "none"
