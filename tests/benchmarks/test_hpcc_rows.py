"""Rows of HPC Challenge say in its units what the figures say, and its summary is read back to the same numbers."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import registries
from edge_runs import unmeasurable
from fake_run import lane, point, stored, there_and_back
from octant import foreign, workloads
from octant.analysis.summary import Summary, summarise
from octant.benchmarks import benchmarks
from octant.benchmarks.hpcc.summary import NORMS
from octant.benchmarks.rows import BenchmarkRow, over_peak, rows_of
from octant.benchmarks.table import BenchmarkTest, read_tests
from octant.failure import Refusal
from octant.record import Failure, Point, Result
from octant.report import claims
from octant.report.tables import benchmark as benchmark_table
from octant.request import Launch, Presentation, Request, Shape, Subject
from octant.store import Store
from octant.store.imported import create

HPCC = benchmarks()["hpcc"]
N = 1000


def launches_of(name: str, ranks: int, **knobs: str) -> list[Launch]:
    test = next(one for one in read_tests("hpcc") if one.name == name)
    request = Request(Subject(test.workload), knobs, Shape(ranks), show=Presentation(name, test=name), repeats=3)
    return list(request.launches())


def measured(launch: Launch, at: dict[str, str], **changes: Any) -> Point:
    ranks = launch.request.shape.ranks
    lanes = tuple(lane([1_000_000] * 20, rank=rank) for rank in range(ranks))
    given = {"workload": launch.request.subject.workload, "launch": launch.key, "ranks": ranks, "lanes": lanes}
    return point(**{**given, "knobs": {**launch.request.knobs, **at}, **changes})


def run_of(wrong: bool = False) -> tuple[list[Launch], list[Point], list[Failure]]:
    """DGEMM on one rank and on two, STREAM with both stores, a ping-pong of three ranks; a ring failed."""
    bad = (Result("difference", 9.0, "1", 1.0),) if wrong else (Result("difference", 0.5, "1", 1.0),)
    gemm = (
        launches_of("SingleDGEMM", 1, n=str(N), library="auto"),
        launches_of("StarDGEMM", 2, n=str(N), library="auto"),
    )
    points = [measured(one, {}, counts={"flops": 2 * N**3}, results=bad) for launches in gemm for one in launches]
    stream = launches_of("SingleSTREAM of three arrays", 1, kernel="triad", bytes="2400000", store="plain,streaming")
    moved = {"bytes_read": 160_000, "bytes_written": 80_000, "flops": 20_000}
    for one in stream:
        for store, ns in (("plain", 10_000), ("streaming", 8_000)):
            slow_then_quick = [2 * ns] * 40 + [ns] * 20
            lanes = (lane(slow_then_quick),)
            points.append(measured(one, {"store": store}, counts=moved, lanes=lanes))
    pairs = launches_of("PingPong latency", 3, pattern="pingpong", bytes="8", groups="0+1,0+2")
    for one in pairs:
        for groups, ns in (("0+1", 1000), ("0+2", 3000)):
            lanes = (lane([ns * 2, ns * 2, ns] * 20),)
            points.append(measured(one, {"groups": groups}, pace="steps", counts=there_and_back(8), lanes=lanes))
    ring = launches_of("RandomlyOrderedRing latency", 3, order="random", bytes="8", method="sendrecv")
    failures = [Failure("mpi/ring", one.key, one.request.knobs, 3, "SIGSEGV", 1) for one in ring]
    return [*gemm[0], *gemm[1], *stream, *pairs, *ring], points, failures


def summary_of(wrong: bool = False, crashed: bool = True) -> Summary:
    launches, points, failures = run_of(wrong)
    run = stored(launches, points, failures if crashed else [], title="hpcc --quick")
    return summarise(run, all_metrics=True)


@pytest.fixture(scope="module")
def summary() -> Summary:
    return summary_of()


def rows(summary: Summary) -> dict[tuple[str, str], BenchmarkRow]:
    return {(row.key, row.rule): row for row in rows_of(summary, HPCC)}


def test_rates_are_in_the_unit_of_the_key_and_a_star_figure_is_one_ranks(summary: Summary) -> None:
    found = rows(summary)
    one, star = (found[f"{how}DGEMM_Gflops", "baseline"] for how in ("Single", "Star"))
    assert one.value == pytest.approx(2 * N**3 / 1e-3 / 1e9)
    assert star.value == pytest.approx(one.value)
    assert (one.ranks, star.ranks) == (1, 2)
    assert one.verdict == "right"
    assert "n=1000" in one.shown


def test_both_kinds_of_stores_are_rows_and_hpccs_bandwidth_is_of_the_quickest_pass(summary: Summary) -> None:
    found = rows(summary)
    plain, streaming = (found["SingleSTREAM_Triad", rule] for rule in ("baseline", "optimised"))
    assert plain.varied == ("store=plain",)
    assert plain.reference == pytest.approx(24.0)  # ten samples of 10 us for 2.4 MB
    assert streaming.reference == pytest.approx(30.0)
    assert plain.value == pytest.approx(12.0), "the median sample"


@pytest.mark.parametrize("test", read_tests("hpcc"), ids=lambda one: one.name)
def test_the_metrics_that_a_test_names_are_its_workloads(test: BenchmarkTest) -> None:
    declared = {metric.name for metric in workloads.workload(test.workload).metrics}
    assert {name for one in test.figure for name in (one.metric, one.reference) if name} <= declared


@pytest.mark.parametrize("test", read_tests("hpcc"), ids=lambda one: one.name)
def test_the_units_of_keys_are_those_of_the_metrics(test: BenchmarkTest) -> None:
    workload = workloads.workload(test.workload)
    for one in test.figure:
        names = [one.metric, *filter(None, [one.reference])]
        assert {workload.metric(name).unit for name in names} == {one.of}, one.key


@pytest.mark.parametrize("how", ["left out", "broken"])
def test_a_workload_that_is_not_installed_has_no_value_under_a_published_name(how: registries.How) -> None:
    with registries.changed("octant.workloads.node", "stream", how):
        without = summary_of(crashed=False)
        found = rows(without)
        for rule in ("baseline", "optimised"):
            row = found["SingleSTREAM_Triad", rule]
            assert (row.value, row.reference, row.verdict) == (None, None, "")
            assert "node/stream" in row.reason
        assert found["SingleDGEMM_Gflops", "baseline"].value is not None
        assert "  SingleSTREAM of three arrays: " in benchmark_table.text(without, HPCC)
        pairs = dict(line.split("=") for line in benchmark_table.exported(without, HPCC).splitlines() if "=" in line)
        assert pairs["SingleSTREAM_Triad"] == "-1"
        assert "STREAM_VectorSize" not in pairs


def test_a_metric_in_another_unit_gives_no_value(summary: Summary) -> None:
    gemm = next(one for one in summary.figures if one.workload.name == "node/gemm")
    other = replace(gemm.metric, unit="s")
    changed = tuple(replace(one, metric=other) if one.workload.name == "node/gemm" else one for one in summary.figures)
    assert rows(summary)["SingleDGEMM_Gflops", "baseline"].value is not None
    row = rows(replace(summary, figures=changed))["SingleDGEMM_Gflops", "baseline"]
    assert (row.value, row.reason) == (None, "no valid launch")


def test_the_slowest_the_mean_and_the_quickest_pair_are_reported(summary: Summary) -> None:
    found = rows(summary)
    ends = [found[f"{end}PingPongLatency_usec", "baseline"] for end in ("Min", "Avg", "Max")]
    assert [row.value for row in ends] == pytest.approx([1.0, 2.0, 3.0])
    assert [row.reference for row in ends] == pytest.approx([0.5, 1.0, 1.5])


def test_what_has_no_figure_has_a_reason(summary: Summary) -> None:
    found = rows(summary)
    assert found["RandomlyOrderedRingLatency_usec", "baseline"].reason == "SIGSEGV"
    assert found["NaturallyOrderedRingLatency_usec", "baseline"].reason == "not requested in this run"
    assert all(row.reason or row.value is not None for row in found.values())
    text = benchmark_table.text(summary, HPCC)
    assert "RandomlyOrderedRing latency: SIGSEGV" in text
    assert "Success=0" in benchmark_table.exported(summary, HPCC)


def test_what_is_not_measurable_has_no_ends_in_the_table() -> None:
    good, bad = summary_of(), unmeasurable(summary_of())
    assert any(row.low is not None for row in rows_of(good, HPCC))
    assert "…" in benchmark_table.text(good, HPCC)
    assert {(row.low, row.high) for row in rows_of(bad, HPCC)} == {(None, None)}
    assert any(row.value is not None for row in rows_of(bad, HPCC))
    text = benchmark_table.text(bad, HPCC)
    assert not re.search(r"\d … \d", text)
    marked = [line for line in text.splitlines() if line.startswith("  ") and "right" in line]
    assert marked
    assert all(line.endswith(claims.grade(bad.figures[0])) for line in marked), "the grade of a tile"
    assert "* limited" not in text
    assert not any(row.invalid for row in rows_of(good, HPCC))


def test_a_wrong_result_has_no_speed_and_the_summary_says_so() -> None:
    wrong = summary_of(wrong=True)
    row = rows(wrong)["SingleDGEMM_Gflops", "baseline"]
    assert (row.verdict, row.value, row.reason) == ("WRONG", None, "")
    assert re.search(r"SingleDGEMM_Gflops +- .*WRONG", benchmark_table.text(wrong, HPCC))
    text = benchmark_table.exported(wrong, HPCC)
    assert "Success=0" in text
    assert "SingleDGEMM_Gflops=-1" in text


def test_columns_are_aligned_and_programs_get_the_same_values(summary: Summary) -> None:
    lines = benchmark_table.text(summary, HPCC).splitlines()
    of_keys = [line for line in lines if line.startswith("  ") and "=" not in line[:30] and "right" in line]
    assert len({line.index("right") for line in of_keys}) == 1
    exported = {
        (row["key"], row["rule"]): row["value"] for row in json.loads(benchmark_table.as_json(summary, HPCC))["figures"]
    }
    assert exported == {key: row.value for key, row in rows(summary).items()}


def test_the_largest_error_of_the_transform_is_in_no_unit() -> None:
    launches = launches_of("MPIFFT", 2, n="4096")
    found = (Result(workloads.workload("hpcc/gfft").results["residual"], 0.5, "1", 16.0),)
    points = [measured(one, {}, counts={"nominal_flops": 10**6}, results=found) for one in launches]
    run = stored(launches, points, [], title="hpcc --quick")
    lines = benchmark_table.exported(summarise(run, all_metrics=True), HPCC).splitlines()
    pairs = dict(line.split("=") for line in lines if "=" in line)
    assert float(pairs["MPIFFT_maxErr"]) == pytest.approx(0.5 * math.log(4096) * 2**-53, rel=1e-6, abs=0)


def test_results_of_checks_are_shown_with_the_figures() -> None:
    """HPL's norms where the run has them (an older one has not), and the residual of the transposition."""
    texts = workloads.workload("hpcc/hpl").results
    norms = [(key, Result(texts[name], 1.5 + i, "1")) for i, (key, name) in enumerate(NORMS.items())]
    hpl, transposed = launches_of("HPL", 2, n="1000", depth="1"), launches_of("PTRANS", 2, n="500")
    residual = Result(workloads.workload("hpcc/ptrans").results["residual"], 0.25, "1", 16.0)
    for with_norms in (True, False):
        found = tuple(result for _, result in norms) if with_norms else (norms[-1][1],)
        points = [measured(one, {}, pace="whole", counts={"flops": 10**9}, results=found) for one in hpl]
        counts = {"bytes_transposed": 8 * 500**2}
        points += [measured(one, {}, pace="whole", counts=counts, results=(residual,)) for one in transposed]
        summary = summarise(stored([*hpl, *transposed], points), all_metrics=True)
        pairs = dict(line.split("=") for line in benchmark_table.exported(summary, HPCC).splitlines() if "=" in line)
        expected = {key: result.value for key, result in (norms if with_norms else norms[-1:])}
        assert {key: float(pairs[key]) for key in NORMS if key in pairs} == expected
        assert float(pairs["HPL_eps"]) == pytest.approx(2**-53)
        assert (pairs["HPL_depth"], pairs["PTRANS_residual"]) == ("1", "0.25")


def test_the_summary_is_read_back_to_the_same_values(tmp_path: Path) -> None:
    text = benchmark_table.exported(summary_of(crashed=False), HPCC)
    pairs = dict(line.split("=") for line in text.splitlines() if "=" in line)
    assert pairs["CommWorldProcs"] == "3"
    assert pairs["Success"] == "1"
    assert pairs["DGEMM_N"] == str(N)
    assert pairs["STREAM_VectorSize"] == "100000"
    assert pairs["HPL_Tflops"] == "-1"
    assert float(pairs["SingleSTREAM_Triad"]) == pytest.approx(24.0), "HPCC's reduction, by the rule baseline"
    run = create(Store(tmp_path / "store"), "hpcc", [(Path("out.txt"), foreign.read("hpcc", text))])
    values = {
        (one.workload, one.knobs.get("kernel", ""), figure.mode): figure.value.middle
        for figure in summarise(run).figures
        for one in figure.points
        if figure.value
    }
    assert values["node/gemm", "", "not stated"] == pytest.approx(2 * N**3 / 1e-3)
    assert values["node/gemm", "", "star"] == pytest.approx(2 * N**3 / 1e-3)
    assert values["node/stream", "triad", "one"] == pytest.approx(24e9)
    assert values["imported/hpcc_max_pingpong_latency", "", "all"] == pytest.approx(1.5e-6)


def test_with_one_rank_single_figures_are_star_figures() -> None:
    launches, points, _ = run_of()
    alone = [one for one in launches if one.request.shape.ranks == 1]
    keys = {one.key for one in alone}
    run = stored(alone, [one for one in points if one.launch in keys])
    found = rows(summarise(run, all_metrics=True))
    single, star = (found[f"{how}DGEMM_Gflops", "baseline"] for how in ("Single", "Star"))
    assert star.value == single.value is not None
    assert replace(star, key="", test="") == replace(single, key="", test="")


def test_figures_over_the_peak_are_of_what_the_run_measured() -> None:
    peak, hpl = launches_of("Peak of all ranks", 2, element="double"), launches_of("HPL", 2, n="1000")
    notes = {"width": "512", "lanes": "8"}
    points = [measured(one, {}, counts={"flops": 10**9}, notes=notes) for one in peak]
    points += [measured(one, {}, pace="whole", counts={"flops": 10**9}) for one in hpl]
    summary = summarise(stored([*peak, *hpl], points), all_metrics=True)
    found = over_peak(summary, HPCC)
    assert found is not None
    assert found[0] == pytest.approx(2e12)  # 1e9 in 1 ms, on two ranks
    assert [(one.name, one.unit) for one in found[1]] == [("HPL", "1")]
    assert found[1][0].value == pytest.approx(0.5)
    assert "Relative to the measured peak of 2.00 Tflop/s: HPL 50 %." in benchmark_table.text(summary, HPCC)
    assert rows(summary)["HPL_Tflops", "optimised"].of_limit == pytest.approx(0.5)
    assert over_peak(summary_of(), HPCC) is None


def test_a_run_without_such_figures_has_no_summary_and_no_table() -> None:
    run = stored([], [])
    empty = replace(summary_of(), run=run, figures=(), others={})
    with pytest.raises(Refusal, match="try octant hpcc"):
        benchmark_table.exported(empty, HPCC)
    for shown in (benchmark_table.text, benchmark_table.as_json):
        with pytest.raises(Refusal, match=f"contains no result of HPC Challenge.; try octant report {run.id}"):
            shown(empty, HPCC)


def test_a_run_of_the_benchmark_of_which_every_test_failed_says_why() -> None:
    launches, _, failures = run_of()
    text = benchmark_table.text(summarise(stored(launches, [], failures), all_metrics=True), HPCC)
    assert "RandomlyOrderedRing latency: SIGSEGV" in text


def test_what_was_not_checked_is_not_right(summary: Summary) -> None:
    assert rows(summary)["SingleDGEMM_Gflops", "baseline"].verdict == "right"
    launches, points, _ = run_of()
    bare = summarise(stored(launches, [replace(one, results=()) for one in points]), all_metrics=True)
    row = rows(bare)["SingleDGEMM_Gflops", "baseline"]
    assert (row.verdict, row.value is None) == ("", False)
    assert "Success=0" in benchmark_table.exported(bare, HPCC)
