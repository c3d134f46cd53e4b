"""Identities of results, which decide with which other results they may be compared.

An `Identity` has four projections, each of which includes the previous one: the quantity, the cell (with all knobs),
the program (with placement, settings and build), and all conditions. Results are matched by one of these projections.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from octant import workloads
from octant.program import is_program
from octant.record import NOT_STATED
from octant.request import comparable, comparable_cell

if TYPE_CHECKING:
    from octant.launch import Planned
    from octant.record import Point
    from octant.request import Request, Subject

Named: TypeAlias = tuple[tuple[str, str], ...]
"""Names with values, in the order of the names."""

MEANS = frozenset({"pin", "pages", "layout", "memory", "hwprefetch"})
"""Knobs of the harness that place threads and data. They do not change the measured quantity."""
SHAPE = frozenset({"threads", "groups"})
"""Knobs of the harness that are part of the shape."""


@dataclass(frozen=True)
class Size:
    """Number of ranks and threads of a measurement."""

    ranks: int | None = 1  # working ranks; `None`: an imported file does not state it
    threads: int | None = 1  # of each rank; `None`: as above
    alone: bool = False  # each rank works alone, on data of its own
    groups: tuple[tuple[int, ...], ...] = ()  # the ranks of each, where several groups have more than one


@dataclass(frozen=True)
class Identity:
    """Identity of one result. Sizes in knobs are in bytes; knobs for the duration of measurements are not included."""

    subject: str  # a workload, or `program/` and a program's name
    command: tuple[str, ...] = ()  # of a user's program, as it was written
    knobs: Named = ()  # what is measured
    size: Size = Size()
    link: str = ""  # between emulated hosts
    means: Named = ()  # other knobs: placement of threads and data, library, assignment of ranks to groups
    placement: tuple[Hashable, ...] = ()  # the request, the hosts and the launcher
    settings: Named = ()  # of the MPI library, as requested
    library: str = ""  # the version text of the MPI library
    build: str = ""  # digest of the program, or the build in its record
    environment: Named = ()  # variables that were set for the launch
    input: str = ""  # file for standard input of a user's program, as it was written
    profile: str = ""  # what the profiler recorded while the program ran, which takes time

    @property
    def same_quantity(self) -> tuple[Hashable, ...]:
        """The measured quantity: the subject, its command line and measured knobs, ranks and threads."""
        return self.subject, self.command, self.knobs, self.size, self.link, self.input

    @property
    def cell(self) -> tuple[Hashable, ...]:
        """The configuration within a request: the quantity, and every other knob."""
        return *self.same_quantity, self.means

    @property
    def same_series(self) -> tuple[Hashable, ...]:
        """The configuration as requested, over time: the cell, placement and settings, with any build and library."""
        return *self.cell, self.placement, self.settings, self.profile

    @property
    def same_program(self) -> tuple[Hashable, ...]:
        """The started program: the cell, placement, settings, build and library, and whether it was profiled."""
        return *self.cell, self.placement, self.settings, self.library, self.build, self.profile

    @property
    def same_conditions(self) -> tuple[Hashable, ...]:
        """All conditions."""
        return *self.same_program, self.environment

    def without(self, defaults: Mapping[str, str]) -> Identity:
        """Return the identity without the knobs that have these values, for a partner without these knobs."""
        plain = {name: comparable(value) for name, value in defaults.items()}
        kept = (tuple(pair for pair in named if plain.get(pair[0]) != pair[1]) for named in (self.knobs, self.means))
        knobs, means = kept
        return replace(self, knobs=knobs, means=means)


def identity_of(point: Point, request: Request | None = None, planned: Planned | None = None) -> Identity:
    """Return the identity of the results of a measurement.

    Args:
        ask: what asked for it; without one, neither a placement nor settings are known.
        planned: how it was started.
    """
    named = request.subject.name if request and request.subject.command else point.workload
    own = dict(comparable_cell(point.knobs, named))
    means, shape_knobs = _means(named, own), _shape_knobs(named, own)
    dealt = {name: value for name, value in own.items() if name in shape_knobs - {"threads"}}
    dealt |= {"ranks": NOT_STATED if point.ranks is None else str(point.ranks)}
    shape = request.shape if request else None
    subject = request.subject if request else None
    return Identity(
        point.workload,
        subject.command if subject else (),
        _sorted((name, value) for name, value in own.items() if name not in means | shape_knobs),
        _size(point),
        point.process.link,
        _sorted([*((name, own[name]) for name in means), *dealt.items()]),
        (shape.place, shape.hosts, shape.launcher) if shape else (),
        _sorted(request.mpi.items()) if request else (),
        point.process.mpi,
        (planned.build if planned else "") or json.dumps(dict(point.process.build), sort_keys=True),
        _sorted(planned.environment.items()) if planned else (),
        subject.input if subject else "",
        _profile(subject) if subject else "",
    )


def _profile(subject: Subject) -> str:
    """Return how the MPI calls of a program were recorded; "": they were not."""
    profile = subject.profile
    return f"{profile.mode}{'' if profile.sites else ' without sites'}" if profile else ""


def _means(subject: str, knobs: Iterable[str]) -> set[str]:
    """Return the knobs that do not change what is measured; none of a user's program."""
    if is_program(subject):
        return set()
    return {name for name in knobs if name in MEANS or name in workloads.apart_knobs(subject)}


def _shape_knobs(subject: str, knobs: Mapping[str, str]) -> frozenset[str]:
    """Return the knobs that are part of the shape; of a program only `threads`, if it is a number."""
    if not is_program(subject):
        return SHAPE
    return frozenset({"threads"}) if knobs.get("threads", "").isdecimal() else frozenset()


def works_alone(point: Point) -> bool:
    """Return whether each of several ranks (or of an unknown number) works alone on its own data."""
    if is_program(point.workload):
        return False
    each = point.pace == "chunks" or (len(point.groups) > 1 and all(len(group) == 1 for group in point.groups))
    return each and point.working_ranks != 1


def _size(point: Point) -> Size:
    alone = works_alone(point)
    several = len(point.groups) > 1 and not alone
    return Size(point.working_ranks, point.threads, alone, point.groups if several else ())


def _sorted(pairs: Iterable[tuple[str, str]]) -> Named:
    return tuple(sorted(pairs))
