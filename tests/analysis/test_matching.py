"""Which figure of one run is which of another: by cell, by quantity, and for imports by what they tell."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fake_run import MIB, WORKLOADS, fake_run, machine, point
from foreign_outputs import FOLDER
from octant import foreign
from octant.analysis.compare import compare
from octant.analysis.figures import MeasuredCell, figures_of
from octant.analysis.matching import common_figures, matched
from octant.analysis.summary import Summary, summarise
from octant.identity import Identity, identity_of
from octant.record import Point, Result
from octant.request import Request, Subject
from octant.store import Pair, Store, StoredRun
from octant.store.imported import create

RUN = fake_run(repeats=4)
RESULTS = (Result("wall time", 1.0, "s"),)
GEMM, PINGPONG, TRIAD = "node/gemm", "mpi/p2p", "node/stream"


def points(workload: str, knobs: dict[str, str], **fields: Any) -> tuple[Point, ...]:
    """Return the launches of the workload's first cell, with these knobs and other fields."""
    every = [point for point in RUN.points if point.workload == workload]
    request = every[0].launch.rpartition("-")[0]
    first = {point.launch: point for point in reversed(every) if point.launch.startswith(request)}
    return tuple(replace(point, knobs={**point.knobs, **knobs}, **fields) for point in first.values())


def summary(*cells: tuple[Point, ...]) -> Summary:
    """Return a summary with a figure for each cell."""
    requests = tuple(replace(request, show=replace(request.show, table=True)) for request in RUN.requests)
    run = replace(RUN, requests=requests, points=tuple(point for cell in cells for point in cell), failures=())
    known = WORKLOADS[cells[0][0].workload]
    metric = replace(known.metrics[0], name={"half round trip": "time"}.get(known.metrics[0].name, "bandwidth"))
    figures = [figures_of(MeasuredCell(known, cell, (metric,)))[metric.name] for cell in cells]
    return replace(summarise(replace(run, points=()), WORKLOADS), run=run, figures=tuple(figures))


def pairs(before: Summary, after: Summary) -> list[tuple[Identity, Identity]]:
    """Return the matched figures, which are the same in both directions."""
    found = [(old, new) for old, new in matched(before, after, False, lambda _name: {}) if old and new]
    turned = [(old, new) for new, old in matched(after, before, False, lambda _name: {}) if old and new]
    assert {(id(old), id(new)) for old, new in found} == {(id(old), id(new)) for old, new in turned}
    assert bool(found) == bool(common_figures(before.run, after.run)) == bool(common_figures(after.run, before.run))
    return [(old.identity, new.identity) for old, new in found]


@pytest.mark.parametrize(
    ("knob", "one", "other"),
    [
        ("pin", "each", "none"),
        ("pages", "base", "2MiB"),
        ("memory", "local", "interleave"),
        ("layout", "given", "random"),
        ("hwprefetch", "keep", "off"),
        ("library", "reference", "openblas"),
    ],
)
def test_figures_that_differ_in_the_means_are_compared_and_the_means_are_listed(
    knob: str, one: str, other: str
) -> None:
    before, after = (summary(points(GEMM, {knob: value})) for value in (one, other))
    assert len(pairs(before, after)) == 1
    found = compare(before, after)
    assert found.compared == 1
    assert (f"knob {knob}", one, other) in found.differences


def test_ranks_threads_and_measured_knobs_make_another_quantity() -> None:
    base = summary(points(GEMM, {}, ranks=2))
    others: list[tuple[dict[str, str], dict[str, Any]]] = [
        ({"n": "999"}, {"ranks": 2}),
        ({}, {"ranks": 2, "threads": 3}),
        ({}, {"ranks": 3}),
        ({}, {"ranks": 2, "groups": ((0,),)}),
        ({}, {"ranks": 2, "pace": "steps"}),
    ]
    assert len(pairs(base, base)) == 1
    for knobs, fields in others:
        assert not pairs(base, summary(points(GEMM, knobs, **fields))), (knobs, fields)


def test_idle_ranks_are_no_part_of_the_quantity() -> None:
    two = summary(points(PINGPONG, {}, ranks=2, groups=()))
    four = summary(points(PINGPONG, {"groups": "first:2"}, ranks=4, groups=((0, 1),)))
    assert len(pairs(two, four)) == 1
    far = summary(points(PINGPONG, {"groups": "0+2/1+3"}, ranks=4, groups=((0, 2), (1, 3))))
    near = summary(points(PINGPONG, {"groups": "0+1/2+3"}, ranks=4, groups=((0, 1), (2, 3))))
    assert not pairs(far, near), "several groups that are at work at the same time are measured as they are"


def test_the_same_means_are_matched_first() -> None:
    both = summary(points(GEMM, {"pages": "base"}), points(GEMM, {"pages": "2MiB"}))
    ((old, new),) = pairs(both, summary(points(GEMM, {"pages": "2MiB"})))
    assert old.cell == new.cell


def test_of_several_that_are_as_near_none_is_taken() -> None:
    several = [points(GEMM, {"pages": "base", "memory": "local"}), points(GEMM, {"pages": "2MiB", "memory": "bind:0"})]
    one = summary(points(GEMM, {"pages": "1GiB", "memory": "default"}))
    assert [row for row in matched(summary(*several), one, False, lambda _name: {}) if all(row)] == []
    ((old, _),) = pairs(summary(*several), summary(points(GEMM, {"pages": "1GiB", "memory": "local"})))
    assert dict(old.means)["memory"] == "local"


def test_projections_add_to_each_other() -> None:
    """What makes the quantity another makes the cell, the program and the conditions another; not the reverse."""
    (request, *_) = RUN.requests
    (point, *_) = points(GEMM, {"n": "448"})
    base = identity_of(point, request)
    process = point.process
    changed = [
        (0, identity_of(replace(point, knobs={**point.knobs, "n": "449"}), request)),
        (1, identity_of(replace(point, knobs={**point.knobs, "pin": "none"}), request)),
        (2, identity_of(point, replace(request, shape=replace(request.shape, place="2x1")))),
        (2, identity_of(point, replace(request, mpi={"A": "1"}))),
        (2, identity_of(replace(point, process=replace(process, mpi="another library")), request)),
        (2, identity_of(replace(point, process=replace(process, build={"flags": "-O1"})), request)),
        (3, replace(base, environment=(("A", "1"),))),
    ]
    for first, other in changed:
        projections = [
            one.same_quantity == two.same_quantity and one.cell == two.cell
            if number == 1
            else getattr(one, name) == getattr(two, name)
            for number, name in enumerate(("same_quantity", "cell", "same_program", "same_conditions"))
            for one, two in [(base, other)]
        ]
        assert projections == [number < first for number in range(4)], other
    assert identity_of(replace(point, knobs={**point.knobs, "seconds": "9"}), request) == base


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def test_an_imported_size_is_compared_with_ours_where_both_are_beyond_every_cache(store: Store) -> None:
    """STREAM has a length of its own; one that fits into a cache here measures something else."""
    path = FOLDER / "stream-5.10.txt"
    run = create(store, "stream", [(path, foreign.read_file("stream", path))])
    theirs = summarise(replace(run, points=tuple(replace(point, threads=1) for point in run.points)))
    for size, number in ((4 * machine().may_be_cached_bytes(), 1), (MIB, 0)):
        assert len(pairs(summary(points(TRIAD, {"bytes": str(size), "kernel": "triad"})), theirs)) == number
    own = points(TRIAD, {"bytes": str(1 << 30), "kernel": "triad"})
    other = summary(points(TRIAD, {"bytes": str(1 << 31), "kernel": "triad"}))
    assert not pairs(summary(own), other), "of our own runs the length is a part of the quantity"


def test_of_an_imported_result_the_knobs_count_that_both_tell(store: Store) -> None:
    path = FOLDER / "imb-2021.11-mpi1.txt"
    theirs = summarise(create(store, "imb", [(path, foreign.read_file("imb", path))]))
    knobs = {"pattern": "pingpong", "bytes": "1024", "groups": "first:2", "window": "64"}
    ours = summary(points(PINGPONG, knobs, ranks=4, groups=((0, 1),)))
    ((_, new),) = pairs(ours, theirs)
    assert dict(new.knobs) == {"pattern": "pingpong", "bytes": "1024"}
    assert not pairs(summary(points(PINGPONG, {**knobs, "pattern": "duplex"}, ranks=4, groups=((0, 1),))), theirs)
    assert not pairs(summary(points(PINGPONG, knobs, ranks=4, groups=())), theirs), "four ranks are not two"


def side(name: str, partner: str, *requests: Request) -> StoredRun:
    """Return a run of programs with one launch of each request, interleaved with another run."""
    made = [
        point(workload=one.subject.name, launch=f"{one.key}-0", knobs=dict(one.knobs), results=RESULTS)
        for one in requests
    ]
    pair = Pair(partner, "", 4) if partner else None
    return replace(RUN, id=name, requests=requests, order=(), points=tuple(made), failures=(), plans={}, pair=pair)


def program(command: str, n: str = "") -> Request:
    return Request(Subject(command=tuple(command.split())), {"n": n} if n else {}, repeats=4)


def programs_matched(before: StoredRun, after: StoredRun) -> list[tuple[str, str]]:
    """Return the subjects of the matched figures, with the values of their knobs."""
    rows = matched(summarise(before), summarise(after), False, lambda _name: {})
    names = [tuple(" ".join([one.identity.subject, *one.knobs.values()]) if one else "" for one in row) for row in rows]
    numbers = {common_figures(before, after), common_figures(after, before)}
    assert set(map(bool, numbers)) == {any(all(row) for row in names)}
    return [(old, new) for old, new in names]


def test_figures_of_two_programs_that_were_measured_in_turn_are_matched_by_their_asks() -> None:
    olds, news = ([program(f"./{name} {{n}}", n) for n in ("1", "2")] for name in ("old", "new"))
    assert programs_matched(side("a", "b", *olds), side("b", "a", *news)) == [
        ("program/old 1", "program/new 1"),
        ("program/old 2", "program/new 2"),
    ]
    apart = [("program/old 1", ""), ("program/old 2", ""), ("", "program/new 1"), ("", "program/new 2")]
    assert programs_matched(side("a", "", *olds), side("b", "", *news)) == apart
    assert programs_matched(side("a", "b", *olds), side("b", "c", *news)) == apart, "of other pairs"


def test_couples_of_asks_say_nothing_of_other_cells_of_theirs() -> None:
    before, after = side("a", "b", program("./old {n}", "1")), side("b", "a", program("./new {n}", "2"))
    assert programs_matched(before, after) == [("program/old 1", ""), ("", "program/new 2")]
