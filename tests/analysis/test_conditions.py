"""What else differs between two runs: each condition of a launch is named, for all figures or for some."""

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from fake_run import WORKLOADS, fake_run, point
from octant.analysis.compare import Comparisons, compare
from octant.analysis.conditions import Difference, differences
from octant.analysis.summary import summarise
from octant.launch import Planned
from octant.mpi.proof import READ_BACK
from octant.record import Point, Result, Scheduling
from octant.request import Launch, Request, Subject
from octant.store import Pair, StoredRun

BASE = fake_run()


def asked(of_request: Callable[[Request], Request], run: StoredRun = BASE) -> StoredRun:
    """Return the run of other requests; its points are those of their launches."""
    requests = tuple(map(of_request, run.requests))
    keys = {old.key: new.key for old, new in zip(run.requests, requests, strict=True)}
    points = [
        dataclasses.replace(p, launch=f"{keys[p.launch.rpartition('-')[0]]}-{p.launch.rpartition('-')[2]}")
        for p in run.points
    ]
    return dataclasses.replace(run, requests=requests, points=tuple(points))


def with_points(change: Callable[[Point], Point], run: StoredRun = BASE) -> StoredRun:
    return dataclasses.replace(run, points=tuple(map(change, run.points)))


def planned(run: StoredRun = BASE, **changes: Any) -> StoredRun:
    """Return the run with launches started in this way."""
    launches = [Launch(request, repeat) for request in run.requests for repeat in range(request.repeats)]
    return dataclasses.replace(run, plans={one.key: Planned(one, (), **changes) for one in launches})


def differing(before: StoredRun, after: StoredRun) -> tuple[Difference, ...]:
    found: Comparisons = compare(summarise(before, WORKLOADS), summarise(after, WORKLOADS))
    assert found.compared or found.figures
    return found.differences


def of_process(p: Point, **changes: Any) -> Point:
    return dataclasses.replace(p, process=dataclasses.replace(p.process, **changes))


def of_ranks(p: Point, **changes: Any) -> Point:
    return dataclasses.replace(p, given=tuple(dataclasses.replace(rank, **changes) for rank in p.given))


def effort(p: Point, **knobs: str) -> Point:
    return dataclasses.replace(p, knobs={**p.knobs, **knobs})


def shaped(request: Request, **shape: Any) -> Request:
    return dataclasses.replace(request, shape=dataclasses.replace(request.shape, **shape))


COPY = {"UCX_RNDV_SCHEME": "am"}
USUAL, NICE = Scheduling("other", nice=0, group="/job_1"), Scheduling("other", nice=10, group="/job_2")


@pytest.mark.parametrize(
    ("before", "after", "row"),
    [
        (
            BASE,
            asked(lambda request: dataclasses.replace(request, mpi=COPY)),
            ("MPI settings", "none", "UCX_RNDV_SCHEME=am"),
        ),
        (
            BASE,
            asked(lambda request: shaped(request, place="2x1,order=scatter")),
            ("placement", "one hardware thread per thread", "2x1,order=scatter"),
        ),
        (BASE, asked(lambda request: shaped(request, link="100Mbit/s")), ("emulated link", "none", "100Mbit/s")),
        (planned(), planned(launcher="srun"), ("launcher", "direct", "srun")),
        (
            planned(environment={"OMP_DYNAMIC": "false", READ_BACK: "A"}),
            planned(environment={"OMP_DYNAMIC": "true", READ_BACK: "B"}),
            ("OMP_DYNAMIC of the launches", "false", "true"),
        ),
        (
            BASE,
            with_points(lambda p: of_process(p, build={**p.process.build, "optimised": False})),
            ("build: optimised", "True", "False"),
        ),
        (
            BASE,
            with_points(lambda p: of_process(p, mpi="Open MPI v5.0.11")),
            ("MPI", "MPICH 5.0.1", "Open MPI v5.0.11"),
        ),
        (
            with_points(lambda p: of_ranks(p, host="n1")),
            with_points(lambda p: of_ranks(p, host="n2")),
            ("hosts", "n1", "n2"),
        ),
        (
            with_points(lambda p: of_ranks(p, scheduling=USUAL)),
            with_points(lambda p: of_ranks(p, scheduling=NICE)),
            ("scheduling", "other, nice 0", "other, nice 10"),
        ),
        (
            with_points(
                lambda p: of_ranks(p, scheduling=dataclasses.replace(USUAL, quota_cores=0.5, quota_group="/a"))
            ),
            with_points(
                lambda p: of_ranks(p, scheduling=dataclasses.replace(USUAL, quota_cores=2.0, quota_group="/b"))
            ),
            ("scheduling", "other, nice 0, a quota of 0.5 cores", "other, nice 0, a quota of 2 cores"),
        ),
        (BASE, with_points(lambda p: effort(p, seconds="2")), ("knob seconds", "1", "2")),
        (BASE, dataclasses.replace(BASE, seed=7), ("seed", "0", "7")),
        (
            BASE,
            dataclasses.replace(BASE, environment={**BASE.environment, "OMP_PLACES": "cores"}),
            ("OMP_PLACES", "not set", "cores"),
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_each_condition_that_differs_is_listed_and_nothing_else(
    before: StoredRun, after: StoredRun, row: Difference
) -> None:
    assert differing(before, after) == (row,)
    what, in_a, in_b = row
    assert differing(after, before) == ((what, in_b, in_a),)
    assert differing(after, after) == ()


def test_the_build_of_a_kernel_is_that_of_its_workload() -> None:
    found = differing(planned(build="aaaa"), planned(build="bbbb"))
    names = {one.workload.name for one in summarise(BASE, WORKLOADS).figures if one.show.table}
    assert {what.partition(" (")[0] for what, _, _ in found} == {f"build of {name}" for name in names}
    assert {(in_a, in_b) for _, in_a, in_b in found} == {("aaaa", "bbbb")}


def test_what_differs_for_some_figures_says_for_how_many() -> None:
    def gemm(request: Request) -> Request:
        return dataclasses.replace(request, mpi=COPY) if request.subject.workload == "node/gemm" else request

    summary = summarise(BASE, WORKLOADS)
    table = [one for one in summary.figures if one.show.table]
    mine = sum(one.workload.name == "node/gemm" for one in table)
    ((what, in_a, in_b),) = differing(BASE, asked(gemm))
    assert what == f"MPI settings ({mine} of {len(table)} figures)"
    assert (in_a, in_b) == ("none", "UCX_RNDV_SCHEME=am")


def test_launches_of_one_figure_that_differ_among_themselves_are_all_named() -> None:
    run = fake_run(repeats=2)

    def second(p: Point) -> Point:
        return of_ranks(p, host="n2" if p.launch.endswith("-1") else "n1")

    mixed = with_points(second, run)
    one = with_points(lambda p: of_ranks(p, host="n1"), run)
    assert ("hosts", "n1", "n1; n2") in differing(one, mixed)


def test_what_an_older_run_does_not_record_is_no_difference() -> None:
    summary = summarise(BASE, WORKLOADS)
    bare = [
        dataclasses.replace(
            one, points=tuple(dataclasses.replace(of_process(p, build={}), given=()) for p in one.points)
        )
        for one in summary.figures
    ]
    recorded = planned(environment={"OMP_DYNAMIC": "false"}, build="aaaa")
    assert differences(BASE, recorded, list(zip(bare, summary.figures, strict=True))) == ()
    variable = differing(planned(), recorded)
    assert ("OMP_DYNAMIC of the launches", "not set", "false") in variable, "both say how they were started"


def program_run(name: str, partner: str, command: str, builds: dict[str, str], **subject: Any) -> StoredRun:
    """Return a run of a program that was interleaved with another."""
    request = Request(Subject(command=tuple(command.split()), **subject))
    results = (Result("wall time", 1.0, "s"),)
    one = point(workload=request.subject.name, launch=f"{request.key}-0", results=results, build=builds)
    return dataclasses.replace(
        BASE, id=name, requests=(request,), order=(), points=(one,), failures=(), plans={}, pair=Pair(partner, "", 4)
    )


def test_what_differs_between_two_programs_is_listed() -> None:
    before = program_run("a", "b", "./old -n 1", {"old": "aa", "libc.so.6": "cc", "libm.so.6": "dd"}, directory="/y")
    after = program_run("b", "a", "./new", {"new": "bb", "libc.so.6": "ee"}, input="in.dat", directory="/x", fresh=True)
    assert set(differing(before, after)) == {
        ("command", "./old -n 1", "./new"),
        ("standard input", "empty", "in.dat"),
        ("directory", "/y", "/x, a fresh copy for each launch"),
        ("build of the program", "aa", "bb"),
        ("library libc.so.6", "cc", "ee"),
        ("library libm.so.6", "dd", "not loaded"),
    }
    script = program_run("b", "a", "python3 app.py", {"python3.11": "pp", "app.py": "ss"}, program="app.py")
    assert ("build of the program", "aa", "ss") in differing(before, script)
