"""Run rules of a benchmark that a measurement does not meet are marked wherever its published name is shown."""

import json
from dataclasses import replace

import pytest

from fake_run import lane, point, stored
from octant.analysis.summary import Summary, summarise
from octant.benchmarks import benchmarks
from octant.benchmarks.rows import rows_of
from octant.benchmarks.table import read_tests
from octant.report.tables import benchmark as benchmark_table
from octant.request import Presentation, Request, Shape, Subject

HPCC = benchmarks()["hpcc"]
CACHE = 32 << 20  # of the fake machine, shared by both cores
MOVED = {"bytes_read": 160_000, "bytes_written": 80_000, "flops": 20_000}


def summary_of(name: str, ranks: int, cell: dict[str, str], memory_bytes: int = 1 << 20) -> Summary:
    """Return a run of one test with these knobs, on a machine whose memory prescribes only tiny sizes."""
    test = next(one for one in read_tests("hpcc") if one.name == name)
    request = Request(Subject(test.workload), cell, Shape(ranks), show=Presentation(name, test=name), repeats=3)
    lanes = tuple(lane([10_000] * 60, rank=rank) for rank in range(ranks))
    points = [
        point(workload=test.workload, launch=one.key, ranks=ranks, lanes=lanes, knobs=dict(cell), counts=MOVED)
        for one in request.launches()
    ]
    run = stored(list(request.launches()), points, title="hpcc --quick")
    return summarise(replace(run, machine=replace(run.machine, memory_bytes=memory_bytes)), all_metrics=True)


def triad(total_bytes: int, ranks: int = 1) -> Summary:
    name = "SingleSTREAM of three arrays" if ranks == 1 else "StarSTREAM of three arrays"
    return summary_of(name, ranks, {"kernel": "triad", "bytes": str(total_bytes), "store": "plain"})


def unmet(summary: Summary) -> set[str]:
    return {row.unmet_rule for row in rows_of(summary, HPCC) if row.value is not None}


@pytest.mark.parametrize(
    ("total_bytes", "ranks", "begins"),
    [
        (CACHE, 1, "the arrays fit into the caches: not a STREAM result"),
        (CACHE + 24, 1, "each array is 0.3 times the caches, below the 4 times of STREAM"),
        (12 * CACHE - 24, 1, "each array is 4.0 times the caches, below"),
        (12 * CACHE, 1, ""),
        (CACHE // 2, 2, "the arrays fit into the caches"),
        (6 * CACHE - 24, 2, "each array is 4.0 times the caches, below"),
        (6 * CACHE, 2, ""),
    ],
)
def test_arrays_of_stream_are_four_times_the_caches_that_the_ranks_use(
    total_bytes: int, ranks: int, begins: str
) -> None:
    (text,) = unmet(triad(total_bytes, ranks))
    assert text.startswith(begins)
    assert bool(text) == bool(begins)


def test_sizes_below_those_of_the_rules_are_marked() -> None:
    memory_bytes = 10 * (8 * 1024**2)  # four fifths hold a matrix of order 2896, of which a multiple of 64 is taken
    assert unmet(summary_of("HPL", 1, {"n": "2880"}, memory_bytes)) == {""}
    assert unmet(summary_of("HPL", 1, {"n": "2879"}, memory_bytes)) == {
        "sizes below those that HPCC prescribes for this memory (hpl:2880)"
    }


def test_every_view_of_a_published_name_has_the_mark() -> None:
    summary = triad(CACHE)
    text = benchmark_table.text(summary, HPCC)
    (row,) = (line for line in text.splitlines() if line.startswith("  SingleSTREAM_Triad") and "right" in line)
    assert "  *1" in row
    assert "*1  run rule not met: the arrays fit into the caches: not a STREAM result" in text
    figures = json.loads(benchmark_table.as_json(summary, HPCC))["figures"]
    marks = {one["unmet_rule"] for one in figures if one["value"]}
    assert marks == {"the arrays fit into the caches: not a STREAM result"}
    head = benchmark_table.exported(summary, HPCC).partition("Begin of Summary section.")[0]
    assert head.startswith("Run rule not met by StarSTREAM_Triad, SingleSTREAM_Triad: ")
    assert head.endswith(": the arrays fit into the caches: not a STREAM result\n")
    assert "rule not met" not in benchmark_table.text(triad(12 * CACHE), HPCC)
