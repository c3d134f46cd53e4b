"""Comparing runs: conclusions from launches and rounds, and the list of what cannot be compared."""

import dataclasses
import io
import json

import numpy as np
import pytest

from fake_run import STARTED, WORKLOADS, fake_run, machine
from fake_summary import fake_summary
from octant import stats
from octant.analysis.compare import Comparison, Comparisons, compare
from octant.analysis.matching import share_figures
from octant.analysis.summary import summarise
from octant.metric import Metric, Value, groups, ranks, result, seconds, steps
from octant.record import Buffer, Point, Process, RankResources, Result, Samples, Work
from octant.report.comparison import statements as views
from octant.report.comparison import text as comparison
from octant.store import Pair, StoredRun
from octant.store.run_request import Looks
from octant.workload import Workload

BASE = fake_run()


def rows(speed: float = 1.0, repeats: int = 4) -> StoredRun:
    """Return the fake run with several launches, with the rows of the table only."""
    run = fake_run(speed=speed, repeats=repeats)
    shown = {request.key for request in run.requests if request.show.table}
    return dataclasses.replace(run, points=tuple(p for p in run.points if p.launch.rpartition("-")[0] in shown))


SEVERAL = rows()


def compared(before: StoredRun, after: StoredRun, margin: float = 0.03, curves: bool = False) -> Comparisons:
    return compare(summarise(before, WORKLOADS), summarise(after, WORKLOADS), margin, curves)


def in_turn(before: StoredRun, after: StoredRun, looks: Looks = "once") -> Comparisons:
    """As runs that were measured alternately; that of A has another id."""
    before = dataclasses.replace(before, id="a")
    after = dataclasses.replace(after, id="b", pair=Pair("a", "old", 4, looks))
    return compared(before, after)


def changed(run: StoredRun, workload: str, **changes: object) -> StoredRun:
    """Return the run with other points of one workload."""
    points = [dataclasses.replace(p, **changes) if p.workload == workload else p for p in run.points]  # type: ignore[arg-type]
    return dataclasses.replace(run, points=tuple(points))


def test_two_single_launches_give_no_verdict_however_far_apart_they_are() -> None:
    for after in (BASE, fake_run(speed=0.5)):
        found = compared(BASE, after)
        assert {figure.word for figure in found.figures} == {"insufficient data"}
        texts = {figure.verdict.text for figure in found.figures if figure.verdict}
        assert texts == {
            f"insufficient data: {n} of 4 launches on each side" for n in (1, 2)
        }  # 8 bytes are a row and a point of the curve
        assert found.regressions == []
    halves = {round(figure.speed, 2) for figure in found.figures if figure.speed}
    assert halves == {0.5}, "the ratio is printed all the same"


def test_fewer_than_four_on_one_side_give_no_verdict() -> None:
    found = compared(rows(repeats=3), SEVERAL)
    texts = {figure.verdict.text for figure in found.figures if figure.verdict}
    assert texts == {"insufficient data: 3 of 4 launches of A"}
    rounds = in_turn(rows(repeats=3), SEVERAL)
    texts = {figure.verdict.text for figure in rounds.figures if figure.verdict}
    assert texts == {"insufficient data: 3 of 4 rounds"}
    assert rounds.rounds == 3


def test_a_run_and_itself_show_no_difference() -> None:
    found = compared(SEVERAL, SEVERAL)
    assert {figure.word for figure in found.figures} == {"no difference detected"}
    assert found.differences == ()
    assert found.regressions == []


def test_points_of_curves_take_part_where_asked() -> None:
    curves, table = compared(BASE, BASE, curves=True), compared(BASE, BASE)
    assert curves.compared == len(curves.figures) > table.compared == len(table.figures)


@pytest.mark.parametrize(("speed", "word"), [(1.2, "faster"), (0.8, "slower"), (1.02, "equivalent")])
def test_rounds_give_verdicts_and_rates_and_times_have_one_direction(speed: float, word: str) -> None:
    found = in_turn(SEVERAL, rows(speed))
    assert {figure.word for figure in found.figures} == {word}
    for figure in found.figures:
        assert figure.speed == pytest.approx(speed, rel=0.002)
    assert bool(found.regressions) == (word == "slower")


@pytest.mark.parametrize(("speed", "word"), [(1.2, "differs"), (0.8, "differs"), (1.02, "no difference detected")])
def test_two_occasions_differ_at_most_and_are_no_regression(speed: float, word: str) -> None:
    found = compared(SEVERAL, rows(speed))
    assert {figure.word for figure in found.figures} == {word}
    assert found.regressions == []


def test_a_size_is_the_same_in_any_unit() -> None:
    words = {"134217728": "128MiB", "8": "8B"}
    points = tuple(
        dataclasses.replace(p, knobs={name: words.get(value, value) for name, value in p.knobs.items()})
        for p in BASE.points
    )
    found = compared(BASE, dataclasses.replace(BASE, points=points))
    assert {figure.word for figure in found.figures} == {"insufficient data"}


def test_the_margin_is_what_matters_to_the_user() -> None:
    slower = rows(0.98)
    assert compared(SEVERAL, slower).of("differs") == []
    assert compared(SEVERAL, slower, margin=0.01).of("differs")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"share_cores": True}, "more threads than hardware threads: no in A, yes in B"),
        ({"sync": "barrier"}, "start synchronised: none in A, barrier in B"),
        ({"results": (Result("sum", 1.0, "1", 1e-9),)}, "wrong result in B (sum)"),
        (
            {"process": Process(build={"faults_compiled": True}, started=STARTED)},
            "fault-injection build: no in A, yes in B",
        ),
    ],
)
def test_what_was_not_measured_alike_is_not_compared(changes: dict[str, object], why: str) -> None:
    found = compared(BASE, changed(BASE, "node/gemm", **changes))
    alone = found.of("not comparable")
    assert {figure.figure.workload.name for figure in alone} == {"node/gemm"}
    assert all(why in figure.why for figure in alone)
    assert bool(found.regressions) == ("results" in changes)  # a wrong result stops the gate


def test_a_kernel_that_counts_other_work_is_not_compared() -> None:
    half = changed(BASE, "node/stream", work=(Work({"bytes_read": 16, "flops": 2}),))
    assert "work counted: bytes_read 1" in compared(BASE, half).of("not comparable")[0].why[0]
    # Chunks of another length do the same work.
    longer = [
        dataclasses.replace(p, work=tuple(_twice(work) for work in p.work))
        for p in BASE.points
        if p.workload == "node/peakflops"
    ]
    assert compared(BASE, dataclasses.replace(BASE, points=tuple(longer))).of("not comparable")[0].why == ("only in A",)


def _twice(work: Work) -> Work:
    return dataclasses.replace(work, counts={name: 2 * count for name, count in work.counts.items()})


def test_missing_figures_are_listed_and_failed_ones_stop_the_gate() -> None:
    fewer = dataclasses.replace(BASE, points=tuple(p for p in BASE.points if p.workload != "node/gemm"), failures=())
    found = compared(BASE, fewer)
    assert {figure.why for figure in found.of("not comparable")} == {("only in A",)}
    assert found.regressions == []
    assert {figure.why for figure in compared(fewer, BASE).of("not comparable")} == {("only in B",)}
    failure = dataclasses.replace(BASE.failures[0], workload="node/gemm", knobs={"n": "448"}, reason="killed")
    found = compared(BASE, dataclasses.replace(fewer, failures=(failure,)))
    assert {figure.why for figure in found.regressions} == {("failed in B: killed",)}


def test_other_surroundings_are_listed() -> None:
    other = fake_run(on=machine(name="other", cores=4))
    huge = RankResources("node", (0,), ((0,),), (Buffer(2**21, 2**21, 2**21, 4096, {}),))
    base = RankResources("node", (0,), ((0,),), (Buffer(2**21, 2**21, 0, 4096, {}),))
    found = compared(changed(BASE, "node/gemm", given=(base,)), changed(other, "node/gemm", given=(huge,)))
    assert ("machine", "fake", "other") in found.differences
    assert ("hardware threads allowed", "2", "4") in found.differences
    system = {**machine().system, "thp": "always", "zone": "on"}
    more = dataclasses.replace(BASE, machine=dataclasses.replace(machine(), system=system))
    assert compared(BASE, more).differences == (("thp", "madvise", "always"), ("zone", "not set", "on"))
    assert ("zone", "on", "not set") in compared(more, BASE).differences
    divided = dataclasses.replace(BASE, machine=machine(nodes=2, cores=1))
    layouts = [f"{domains} per package, 1 L3 cache per domain" for domains in ("1 NUMA domain", "2 NUMA domains")]
    assert ("NUMA mode", *layouts) in compared(BASE, divided).differences
    pages = [why for figure in found.figures for why in figure.why if why.startswith("huge")]
    assert pages == ["huge pages: 0.0 % in A, 100 % in B"] * 3


@pytest.mark.parametrize("width", [80, 120])
def test_the_text_fits_and_the_json_says_the_same(width: int) -> None:
    found = in_turn(SEVERAL, rows(0.9))
    page = [line.plain for line in comparison.lines(found, width)]
    assert max(map(len, page)) <= width
    assert f"Slower in B ({len(found.figures)})" in page
    assert any("93.80 → 84.42 Gflop/s" in line and "×0.900" in line for line in page)
    words = " ".join(" ".join(page).split())
    assert "at least 3 % slower; smallest detectable difference ± " in words
    assert words.count("a 95 % interval for the geometric mean ratio over 4 paired rounds at ") == 1
    assert "octant compare --rounds" not in words
    document = json.loads(comparison.as_json(found))
    assert document["regressions"] == len(found.figures)
    assert {figure["word"] for figure in document["figures"]} == {"slower"}
    assert document["figures"][0]["speed"] == pytest.approx(0.9, rel=1e-3)


def test_a_pipe_without_utf8_gets_ascii() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    comparison.show(compared(BASE, fake_run(speed=0.9)), file=stream)
    stream.flush()
    assert b"93.80 -> 84.42 Gflop/s" in raw.getvalue()


def with_knobs(run: StoredRun, every: int = 1, **knobs: str) -> StoredRun:
    """Return the run whose kernels also have these knobs; `every`: only in each second launch."""
    points = [
        dataclasses.replace(p, knobs={**p.knobs, **knobs}) if number % every == 0 else p
        for number, p in enumerate(run.points)
    ]
    return dataclasses.replace(run, points=tuple(points))


def test_a_knob_that_one_run_does_not_know_is_at_its_default_there() -> None:
    asked = []

    def defaults(workload: str) -> dict[str, str]:
        asked.append(workload)
        return {"stride": "64", "layout": "auto", "n": "448"}

    old, new = (summarise(run, WORKLOADS) for run in (BASE, with_knobs(BASE, stride="64", layout="auto")))
    for before, after in ((old, new), (new, old)):
        found = compare(before, after, defaults=defaults)
        assert {figure.word for figure in found.figures} == {"insufficient data"}
    other = summarise(with_knobs(BASE, stride="128"), WORKLOADS)
    assert {figure.why for figure in compare(old, other, defaults=defaults).figures} == {("only in A",), ("only in B",)}
    asked.clear()
    compare(old, old, defaults=defaults)
    assert not asked, "no kernel is asked where both runs know the same knobs"


def test_launches_of_a_version_that_knew_fewer_knobs_are_of_the_same_cell() -> None:
    mixed = with_knobs(fake_run(repeats=2), 2, groups="all")
    assert len(summarise(mixed, WORKLOADS).figures) == len(summarise(BASE, WORKLOADS).figures)
    assert {len(figure.points) for figure in summarise(mixed, WORKLOADS).figures} == {2}


def headline(value: Value) -> dict[str, Workload]:
    """Return the workloads, with another headline for gemm."""
    gemm = dataclasses.replace(WORKLOADS["node/gemm"], metrics=(Metric("x", "1", "lower", value),))
    return {**WORKLOADS, gemm.name: gemm}


def gemm_of(value: Value, *results: float) -> list[Comparison]:
    """Return the comparison of gemm with that headline, between runs with the first and the second result."""
    right = Result("sum", 0.0, "1", 1.0)
    runs = [changed(BASE, "node/gemm", results=(right, Result("iterations", number))) for number in results]
    before, after = (summarise(run, headline(value)) for run in runs)
    found = compare(before, after)
    return [one for one in found.figures if one.figure.workload.name == "node/gemm"]


def test_a_metric_without_samples_is_compared_by_its_value() -> None:
    for one in gemm_of(result("iterations"), 40, 50):
        assert one.speed == pytest.approx(0.8)


def test_the_speed_is_the_ratio_of_the_figures_where_they_are_no_medians() -> None:
    def late(p: Point) -> Point:
        series = [dataclasses.replace(one, values=np.append(one.values[1:], 1e9)) for one in p.read().series]
        return dataclasses.replace(p, read=lambda: Samples(tuple(series)))

    slow = dataclasses.replace(BASE, points=tuple(map(late, BASE.points)))
    worst = headline(seconds(over=(ranks("max"), groups("max"), steps("max"))))
    for one in compare(summarise(BASE, worst), summarise(slow, worst)).figures:
        if one.figure.workload.name == "node/gemm":
            assert one.before is not None
            assert one.before.value is not None
            assert one.speed == pytest.approx(one.before.value.middle)  # over a second


@pytest.mark.parametrize(
    ("value", "why"), [(result("iterations"), "0 in A"), (seconds("phase/x"), "no value in A (there is no series")]
)
def test_what_has_no_ratio_is_listed(value: Value, why: str) -> None:
    for one in gemm_of(value, 0, 50):
        assert one.word == "not comparable"
        assert one.why[0].startswith(why)
        assert not one.lost


def test_a_launch_that_failed_with_a_list_of_values_and_another_effort_stops_the_gate() -> None:
    fewer = dataclasses.replace(BASE, points=tuple(p for p in BASE.points if p.workload != "node/gemm"), failures=())
    failure = dataclasses.replace(
        BASE.failures[0], workload="node/gemm", ranks=1, reason="killed",
        knobs={"n": "100,448", "seconds": "9", "groups": "all"},
    )  # fmt: skip
    lost = compared(BASE, dataclasses.replace(fewer, failures=(failure,))).regressions
    assert {figure.figure.point.ranks for figure in lost} == {1}
    elsewhere = dataclasses.replace(failure, knobs={"n": "100,200"})
    assert compared(BASE, dataclasses.replace(fewer, failures=(elsewhere,))).regressions == []


def test_a_launch_is_one_sample_however_often_it_measured_a_cell_and_a_wrong_result_stays() -> None:
    twice = summarise(dataclasses.replace(BASE, points=(*BASE.points, *BASE.points)), WORKLOADS)
    assert {len(figure.points) for figure in twice.figures} == {1}
    bad = tuple(dataclasses.replace(p, results=(Result("sum", 1.0, "1", 0.0),)) for p in BASE.points)
    for points in ((*bad, *BASE.points), (*BASE.points, *bad)):
        found = summarise(dataclasses.replace(BASE, points=points), WORKLOADS)
        assert all(figure.wrong and figure.value is None for figure in found.figures)


def test_cells_are_shown_as_they_were_asked_though_a_resumed_one_was_measured_last() -> None:
    first = next(i for i, p in enumerate(BASE.points) if p.workload == "mpi/p2p")
    later = (*BASE.points[:first], *BASE.points[first + 1 :], BASE.points[first])
    names = [figure.title for figure in summarise(BASE, WORKLOADS).figures]
    assert [figure.title for figure in summarise(dataclasses.replace(BASE, points=later), WORKLOADS).figures] == names


@pytest.mark.parametrize(("kind", "word"), [("request not met", "not measurable"), ("wide interval", "equivalent")])
def test_an_invalid_figure_gets_no_verdict_unless_for_the_width_of_its_interval(kind: str, word: str) -> None:
    bad = stats.Caveat(kind, stats.Grade.INVALID, "this is why")
    sides = [fake_summary([[100.0] * 4], "a"), fake_summary([[101.0] * 4], "b", Pair("a", "old", 4))]
    (row,) = sides[1].figures
    launches = tuple(dataclasses.replace(one, caveats=(bad,)) for one in row.launches)
    (one,) = compare(
        sides[0], dataclasses.replace(sides[1], figures=(dataclasses.replace(row, launches=launches),))
    ).figures
    assert (one.word, "B: this is why" in one.why) == (word, True)
    assert not one.lost


@pytest.mark.parametrize("value", [0.0, np.nan])
def test_values_without_a_ratio_are_not_comparable_in_equal_points_either(value: float) -> None:
    right = [1.0, 2.0, 3.0, 4.0]
    before, after = fake_summary([right, [value] * 4], "a"), fake_summary([right, right], "b")
    found = compare(before, after)
    assert [one.word for one in found.figures] == ["no difference detected", "not comparable"]
    row = json.loads(comparison.as_json(found))["figures"][1]
    assert row["a"] == (0.0 if value == 0 else None)
    row = dataclasses.replace(before.figures[0], equal=(before.figures[1],))
    found = compare(dataclasses.replace(before, figures=(row,)), dataclasses.replace(after, figures=after.figures[:1]))
    assert [one.why for one in found.figures] == [(f"{value:g} in A",)]


@pytest.mark.parametrize(
    ("shape", "text", "option"),
    [
        ({"ranks": 2}, "2 ranks × 1 thread", "--ranks 2"),
        ({"threads": 2}, "1 rank × 2 threads", "--place 1x2"),
    ],
)
def test_figures_of_other_ranks_or_threads_are_named_with_the_option_that_makes_them_equal(
    shape: dict[str, int], text: str, option: str
) -> None:
    one = changed(changed_workloads(BASE, {"node/stream"}), "node/stream", ranks=1, threads=1)
    found = compared(one, dataclasses.replace(changed(one, "node/stream", **shape), id="another"))
    assert ("ranks × threads of node/stream", "1 rank × 1 thread", text) in found.differences
    assert not found.compared
    (step,) = views.steps(found)
    assert step.body.endswith(f"Measure A again with {option}.")
    for width in (80, 120):
        page = "\n".join(line.plain for line in comparison.lines(found, width))
        assert option in page
    assert not compared(one, one).shapes


def test_runs_share_figures_where_a_cell_of_the_table_is_in_both() -> None:
    noise = changed_workloads(fake_run(), {"node/noise"})
    others = changed_workloads(fake_run(), {"node/stream", "mpi/p2p"})
    assert share_figures(noise, fake_run())
    assert share_figures(fake_run(), noise)
    assert not share_figures(noise, others)
    assert not share_figures(others, noise)
    assert not share_figures(noise, with_knobs(noise, quantum="200us"))


def changed_workloads(run: StoredRun, kept: set[str]) -> StoredRun:
    """Return the run with only the points of these workloads."""
    return dataclasses.replace(run, points=tuple(point for point in run.points if point.workload in kept))


def test_what_is_asked_to_compare_once_more_are_the_asks_of_both_sides() -> None:
    after = rows(1.1)
    both = compared(BASE, after)
    shown = {request.key for request in BASE.requests if request.show.table}
    assert {(before.key, other.key) for before, other in both.couples()} == {(key, key) for key in shown}
    assert len(both.couples()) == len(shown), "each once"
    fewer = dataclasses.replace(after, points=tuple(p for p in after.points if p.workload != "node/gemm"), failures=())
    gemm = next(request for request in BASE.requests if request.subject.workload == "node/gemm")
    assert gemm.key not in {before.key for before, _ in compared(BASE, fewer).couples()}
    failure = dataclasses.replace(
        BASE.failures[0], workload="node/gemm", launch=f"{gemm.key}-0", knobs=dict(gemm.knobs), reason="killed"
    )
    failed = compared(BASE, dataclasses.replace(fewer, failures=(failure,)))
    assert (gemm.key, gemm.key) in {(a.key, b.key) for a, b in failed.couples()}, (
        "what failed in B is to be measured there too"
    )


def test_what_only_one_run_has_keeps_its_figure() -> None:
    fewer = dataclasses.replace(BASE, points=tuple(p for p in BASE.points if p.workload != "node/gemm"), failures=())
    assert {(one.before is None, one.after is None) for one in compared(fewer, BASE).of("not comparable")} == {
        (True, False)
    }
    assert {(one.before is None, one.after is None) for one in compared(BASE, fewer).of("not comparable")} == {
        (False, True)
    }
