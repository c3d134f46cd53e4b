"""Tables of MPI patterns say what IMB and OSU would say of the same samples, and what they do not show stands below."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Literal

import pytest

from edge_runs import unmeasurable
from fake_run import lane, point, stored
from octant import workloads
from octant.analysis.figures import MeasuredCell, figures_of
from octant.analysis.summary import Summary, summarise
from octant.benchmarks import BenchmarkArguments
from octant.benchmarks.messages import patterns as mpi_patterns
from octant.benchmarks.messages import tables as mpi_tables
from octant.benchmarks.messages.patterns import MessagePattern
from octant.failure import Refusal
from octant.metric import Derived, Metric, Reduce, Seconds, derived, groups, per, ranks, seconds, steps
from octant.record import Failure, Result
from octant.request import Launch, Presentation, Request, Shape, Subject
from octant.units import si_text
from octant.workload import Workload
from octant.workloads.mpi.collective import imb_overlap_of
from paths import ROOT

RANGE = ["t_min[usec]", "t_max[usec]", "t_avg[usec]"]
MORE_HEADS = {
    **{name: ["#bytes", "#repetitions", "t_avg[usec]", "Mbytes/sec", "Msg/sec"] for name in ("UniBandMT", "BiBandMT")},
    **{name: ["#bytes", "#repetitions", *RANGE, "Mbytes/sec"] for name in ("PingPingMT", "SendRecvMT")},
    **{name: ["#bytes", "#repetitions", *RANGE] for name in ("BcastMT", "ReduceMT", "Exchange_put", "EXT_Accumulate")},
    **{
        name: ["#bytes", "#repetitions", "t[usec]", "Mbytes/sec"]
        for name in ("Accumulate", "Get_accumulate", "Fetch_and_op", "Put_local", "Put_all_local", "One_put_all")
    },
    "C_IWrite_Indv": ["#bytes", "#repetitions", "t_ovrl[usec]", "t_pure[usec]", "t_CPU[usec]", "overlap[%]"],
    "C_Write_Indv": ["#bytes", "#repetitions", *RANGE, "Mbytes/sec"],
}
"""Heads of further tables: of IMB-MT and IMB-RMA 2021.11 as they print them, of IMB-EXT and IMB-IO by their source."""

PATTERNS = (
    MessagePattern(
        name="PingPong", osu=("osu_latency",), workload="mpi/pairs", knobs={"pattern": "pingpong"}, ranks="pair",
        sizes="0:4MiB", times="one", factor=1,
    ),
    MessagePattern(
        name="Exchange", workload="mpi/rings", knobs={"pattern": "exchange"}, sizes="0:4MiB", factor=4,
        differs="IMB differs here",
    ),
    MessagePattern(
        name="Ibcast", osu=("osu_ibcast",), workload="mpi/overlap", knobs={"pattern": "ibcast"}, sizes="0:4MiB",
        times="overlap", osu_shows="overlap",
    ),
    MessagePattern(name="Barrier", osu=("osu_barrier",), workload="mpi/rings", knobs={"pattern": "barrier"}),
    MessagePattern(
        name="Uniband", osu=("osu_bw",), workload="mpi/rings", knobs={"pattern": "uniband"}, sizes="0:4MiB",
        factor=64, messages=64, osu_shows="bandwidth",
    ),
    MessagePattern(
        name="Multi_bandwidth", osu=("osu_mbw_mr",), workload="mpi/rings", knobs={"pattern": "uniband"},
        sizes="0:4MiB", factor=64, messages=64, osu_shows="rate",
    ),
    MessagePattern(
        name="Allreduce", workload="mpi/rings", knobs={"pattern": "allreduce"}, sizes="0:4MiB", multiple=4,
        differs="floats", holds_with={"type": "float"},
    ),
    MessagePattern(
        name="Unidir_put", workload="mpi/rings", knobs={"pattern": "put"}, sizes="0:4MiB", times="one", factor=1,
        modes="window",
    ),
    MessagePattern(
        name="Fetch_and_op", workload="mpi/rings", knobs={"pattern": "fetch", "bytes": "4"}, times="one", factor=1
    ),
)  # fmt: skip


def _half(*over: Reduce) -> Seconds:
    return per("messages", over=over)


def _whole(*over: Reduce) -> Seconds:
    return seconds(over=over)


HALF, WHOLE = (
    {
        how: Metric(f"t_{how}", "s", "lower", made(steps("mean"), ranks(kind), groups("max")))  # type: ignore[arg-type]
        for how, kind in (("min", "min"), ("max", "max"), ("avg", "mean"))
    }
    for made in (_half, _whole)
)
OF_SLOWEST = (steps("mean"), ranks("max"), groups("max"))
OF_ALL = (steps("mean"), ranks("mean"), groups("max"))
WORKLOADS = {
    "mpi/pairs": Workload("Half", (Metric("time", "s", "lower", per("messages")), *HALF.values()), {}, "mpi/pairs"),
    "mpi/overlap": Workload(
        "Beside computing",
        (
            Metric("time", "s", "lower", seconds()),
            Metric("t_max", "s", "lower", seconds("phase/pure", over=OF_SLOWEST)),
            Metric("t_avg", "s", "lower", seconds("phase/pure", over=OF_ALL)),
            Metric("t_ovrl", "s", "lower", seconds("phase/overlapped", over=OF_SLOWEST)),
            Metric("t_cpu", "s", "lower", seconds("phase/compute", over=OF_SLOWEST)),
            Metric(
                "overlap_imb",
                "1",
                "higher",
                derived(imb_overlap_of, *(seconds(f"phase/{name}") for name in ("pure", "compute", "overlapped"))),
            ),
        ),
        {},
        "mpi/overlap",
    ),
    "mpi/rings": Workload("Plain", (Metric("time", "s", "lower", seconds()), *WHOLE.values()), {}, "mpi/rings"),
}


MEASURED = mpi_patterns.patterns()
"""Those of the catalogue, which tests replace."""
NEEDED = {
    "one": {"t_max", "t_avg"}, "range": {"t_min", "t_max", "t_avg"}, "mean": {"t_avg"},
    "overlap": {"t_max", "t_ovrl", "t_cpu", "t_avg", "overlap_imb"}, "passive": {"t_pure", "t_ovrl"},
}  # fmt: skip
"""The metrics that columns of IMB's and of OSU's tables are made of."""


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mpi_patterns, "patterns", lambda: PATTERNS)


def summary(
    workload: str,
    pattern: str,
    *failures: Failure,
    wrong: bool = False,
    title: str = "",
    rounded: Mapping[str, str] | None = None,
    long_steps: bool = False,
    repeats: int = 2,
    **knobs: str,
) -> Summary:
    """Return launches on two ranks: steps of 2 and 4 µs on one, of 3 and 9 µs on the other, ten in a sample.

    `rounded`: notes of the kernel, by the length that was asked; `long_steps`: one step in ten takes 1 ms.
    """
    asked = {"pattern": pattern, **knobs}
    request = Request(
        Subject(workload), asked, Shape(2), show=Presentation(title or pattern, test=title), repeats=repeats
    )
    launches = [Launch(request, repeat) for repeat in range(repeats)]
    lanes = (lane([20_000, 40_000] * 50, rank=0), lane([30_000, 90_000] * 50, rank=1))
    if long_steps:
        lanes = (lanes[0], lane(([30_000] * 9 + [1_000_000]) * 10, rank=1))
    checks = (Result("wrong bytes", 3.0 if wrong else 0.0, "1", 0),)
    points = [
        point(
            workload=workload, launch=launch.key, pace="steps", ranks=2, batch=10, lanes=lanes, results=checks,
            knobs={**cell}, groups=((0, 1),), counts={"messages": 2},
            notes={"rounded": note} if (note := (rounded or {}).get(cell.get("bytes", ""))) else {},
        )
        for launch in launches for cell in request.cells()
    ]  # fmt: skip
    return summarise(stored(launches, points, failures), WORKLOADS, all_metrics=True)


def table_text(summary: Summary, style: str = "imb", names: Sequence[str] = ()) -> str:
    return mpi_tables.text(summary, BenchmarkArguments(tuple(names), own_options={"as": style}))


def rows(text: str) -> list[list[str]]:
    """Return the words of every line that is not a comment."""
    return [line.split() for line in text.splitlines() if line and not line.startswith("#")]


@pytest.mark.parametrize("pattern", MEASURED, ids=lambda one: one.name)
def test_the_metrics_of_the_columns_are_the_workloads(pattern: MessagePattern) -> None:
    declared = {metric.name for metric in workloads.workload(pattern.workload).metrics}
    assert NEEDED[pattern.times] <= declared


def test_one_time_is_the_mean_of_the_slower_rank_and_the_rate_has_imbs_factor() -> None:
    text = table_text(summary("mpi/pairs", "pingpong", bytes="0,1000000"))
    head, zero, million = rows(text)
    assert head == ["#bytes", "#repetitions", "t[usec]", "Mbytes/sec"]
    assert zero == ["0", "2000", "3.00", "0.00"], "half of 6 us; two launches of 100 samples of 10 steps"
    assert million == ["1000000", "2000", "3.00", "333333.33"]
    assert "# Benchmarking PingPong\n# #processes = 2\n" in text


def test_a_range_is_over_ranks_of_means_over_repetitions() -> None:
    text = table_text(summary("mpi/rings", "exchange", bytes="1000"))
    head, row = rows(text)
    assert head == ["#bytes", "#repetitions", "t_min[usec]", "t_max[usec]", "t_avg[usec]", "Mbytes/sec"]
    assert row == ["1000", "2000", "3.00", "6.00", "4.50", "666.67"], "4 x 1000 B over t_max"
    assert "Exchange: IMB differs here" in text
    assert "factors: Exchange 4" in text


def test_what_is_not_measurable_has_no_ends_in_the_table() -> None:
    good = summary("mpi/rings", "exchange", repeats=3, bytes="1000")
    bad = table_text(unmeasurable(good), "octant")
    assert "low … high" in table_text(good, "octant")
    assert not re.search(r"\d.* … \d", bad), bad
    for style in ("imb", "osu", "octant"):
        text = table_text(unmeasurable(good), style)
        assert any(line.endswith("  not measurable") for line in text.splitlines()), "the grade of a tile"
        assert "* limited" not in text
        assert f"# details: octant report {good.run.id} --notes" in text, "how to see why"


@pytest.mark.parametrize(("each", "times"), [("", 1), ("other", 4), ("pair", 2)])
def test_a_rate_may_add_up_every_other_process_or_pair(each: Literal["", "other", "pair"], times: int) -> None:
    assert (
        MessagePattern(name="One_put_all", workload="mpi/x", sizes="0:4MiB", factor=1, each=each).times_of(5) == times
    )


def test_a_pattern_without_messages_has_no_column_of_bytes() -> None:
    head, row = rows(table_text(summary("mpi/rings", "barrier")))
    assert head == ["#repetitions", "t_min[usec]", "t_max[usec]", "t_avg[usec]"]
    assert row == ["2000", "3.00", "6.00", "4.50"]
    assert rows(table_text(summary("mpi/rings", "barrier"), "osu")) == [["4.50"]]


def overlapping(title: str) -> Summary:
    """Rank 0 takes 4 µs for the operation, 8 for the computing, 9 for both; rank 1 half, the same, and 10."""
    of = {"step": (24, 24), "phase/pure": (4, 2), "phase/compute": (8, 8), "phase/overlapped": (9, 10)}
    lanes = tuple(
        lane([each[rank] * 1000] * 50, rank=rank, name=name) for rank in range(2) for name, each in of.items()
    )
    knobs = {"pattern": "ibcast", "bytes": "1000"}
    request = Request(Subject("mpi/overlap"), knobs, Shape(2), show=Presentation(title, test=title))
    one = point(workload="mpi/overlap", launch=Launch(request).key, pace="steps", ranks=2, lanes=lanes, knobs=knobs)
    return summarise(stored([Launch(request)], [one]), WORKLOADS, all_metrics=True)


def test_beside_computing_the_columns_are_of_the_slowest_rank_and_give_imbs_overlap() -> None:
    head, row = rows(table_text(overlapping("Ibcast")))
    assert head == ["#bytes", "#repetitions", "t_ovrl[usec]", "t_pure[usec]", "t_CPU[usec]", "overlap[%]"]
    assert row == ["1000", "50", "10.00", "4.00", "8.00", "25.00"]
    whole, pure, compute, overlap = map(float, row[2:])
    assert overlap == pytest.approx(100 * imb_overlap_of(pure, compute, whole))


def test_osu_has_other_columns_beside_computing_which_are_means_over_ranks() -> None:
    text = table_text(overlapping("osu_ibcast"), "osu")
    assert "# osu_ibcast" in text
    assert text.splitlines()[2].split() == [
        "#",
        "Size",
        "Overall(us)",
        "Compute(us)",
        "Pure",
        "Comm.(us)",
        "Overlap(%)",
    ]
    assert rows(text) == [["1000", "9.50", "8.00", "3.00", "50.00"]], "1 - (9.5 - 8) / 3"


@pytest.mark.parametrize("workload", ["mpi/collective", "mpi/mpiio"])
def test_columns_of_real_workloads_give_their_overlap(workload: str) -> None:
    """By the same reductions, and of one transfer where a step has several."""
    of = {"step": (24, 24), "phase/pure": (8, 6), "phase/compute": (6, 8), "phase/overlapped": (9, 11)}
    lanes = tuple(
        lane([each[rank] * 1000] * 50, rank=rank, name=name) for rank in range(2) for name, each in of.items()
    )
    metrics = {metric.name: metric for metric in workloads.workload(workload).metrics}
    one = point(workload=workload, pace="steps", ranks=2, lanes=lanes, counts={"transfers": 2}, groups=((0, 1),))
    found = figures_of(MeasuredCell(workloads.workload(workload), [one], list(metrics.values())))
    value = {name: figure.value.middle for name, figure in found.items() if figure.value}
    each = 2 if workload == "mpi/mpiio" else 1
    assert [value[name] * 1e6 * each for name in ("t_max", "t_cpu", "t_ovrl")] == pytest.approx([8, 8, 11])
    formula = metrics["overlap_imb"].value
    assert isinstance(formula, Derived)
    assert formula.function(value["t_max"], value["t_cpu"], value["t_ovrl"]) == pytest.approx(value["overlap_imb"])


def recorded_heads() -> dict[str, list[str]]:
    """Return the heads of the tables that IMB printed, by benchmark; none of its P2P part."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "tests/data/foreign").glob("imb-*.txt")):
        name = ""
        other = "p2p" in path.name or "prefix" in path.name
        for line in () if other else path.read_text().splitlines():
            name = line.split()[2].removeprefix("Multi-") if line.startswith("# Benchmarking") else name
            if "#repetitions" in line:
                found[name] = [word for word in line.split() if word != "Group"]
    return found


@pytest.mark.parametrize(("name", "head"), [*recorded_heads().items(), *MORE_HEADS.items()])
def test_the_columns_are_those_that_imb_prints(name: str, head: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    pattern = mpi_patterns.find(name)
    assert pattern.name == name
    assert list(mpi_tables.columns(pattern)) == head


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("osu_latency", "Avg Latency(us)"), ("osu_allreduce", "Avg Latency(us)"), ("osu_bw", "Bandwidth (MB/s)"),
        ("osu_mbw_mr", "MB/s Messages/s"), ("osu_iallreduce", "Overall(us) Compute(us) Pure Comm.(us) Overlap(%)"),
    ],
)  # fmt: skip
def test_the_columns_are_those_that_osu_prints(name: str, head: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert " ".join(mpi_tables.osu_columns(mpi_patterns.find(name))) == head
    recorded = " ".join(path.read_text() for path in (ROOT / "tests/data/foreign").glob("osu-*.txt"))
    assert head in " ".join(recorded.split())


def test_a_window_has_rates_alone() -> None:
    head, row = rows(table_text(summary("mpi/rings", "uniband", bytes="1000")))
    assert head == ["#bytes", "#repetitions", "Mbytes/sec", "Msg/sec"]
    assert row == ["1000", "2000", "10666.67", "10666667"]
    assert rows(table_text(summary("mpi/rings", "uniband", bytes="1000"), "osu")) == [["1000", "10666.67"]]


def test_the_name_that_was_asked_heads_osus_table_with_its_own_columns() -> None:
    rates, other = summary("mpi/rings", "uniband", bytes="1000", title="osu_mbw_mr"), summary("mpi/rings", "uniband")
    assert table_text(rates, "osu").startswith("# osu_mbw_mr\n")
    assert rows(table_text(rates, "osu")) == [["1000", "10666.67", "10666666.67"]]
    assert table_text(other, "osu").startswith("# osu_bw\n")


def test_rows_stand_under_the_length_that_was_used_and_none_under_one_that_became_zero() -> None:
    found = summary("mpi/rings", "exchange", bytes="0,2,6", rounded={"2": "2 B to 0 B", "6": "6 B to 4 B"})
    text = table_text(found)
    assert [row[0] for row in rows(text)] == ["#bytes", "0", "4"]
    assert float(rows(text)[2][-1]) == pytest.approx(4 * 4 / 6, abs=0.01), "the rate is of the length that was used"
    assert "Exchange: lengths are rounded to whole elements per rank: 2 B to 0 B, 6 B to 4 B." in text


def test_both_modes_of_imb_are_told_apart_in_its_words() -> None:
    text = table_text(summary("mpi/rings", "put", bytes="8", window="1,16"))
    assert text.count("# Benchmarking Unidir_put") == 2
    assert text.index("#    MODE: NON-AGGREGATE") < text.index("#    MODE: AGGREGATE")
    assert "# window=16" in text


def test_an_operation_on_one_element_has_its_length() -> None:
    assert rows(table_text(summary("mpi/rings", "fetch", bytes="4")))[1] == ["4", "2000", "6.00", "0.67"]


@pytest.mark.parametrize(("kind", "said"), [("float", True), ("double", False)])
def test_what_differs_is_said_where_it_holds_and_knobs_that_were_given_are_shown(kind: str, said: bool) -> None:
    text = table_text(summary("mpi/rings", "allreduce", bytes="8", type=kind, seconds="0.01"))
    assert ("# Allreduce: floats" in text) == said
    assert f"# #processes = 2\n# type={kind}\n" in text


def test_octants_rate_is_of_the_median_that_stands_beside_it() -> None:
    found = summary("mpi/rings", "exchange", bytes="1000", long_steps=True)
    (row,) = mpi_tables.tables(found)[0].rows
    assert row.time is not None
    assert row.t_max is not None
    assert row.time < row.t_max
    assert row.median_bytes_per_second == pytest.approx(4000 / row.time)
    assert row.bytes_per_second == pytest.approx(4000 / row.t_max)
    assert si_text(4000 / row.time, "B/s") in table_text(found, "octant")
    assert "rate" not in table_text(summary("mpi/rings", "allreduce", bytes="8"), "octant")


def test_tables_of_named_patterns_alone_and_what_is_not_there_is_refused() -> None:
    found = summary("mpi/rings", "exchange", bytes="8")
    assert table_text(found, names=["exchange"]) == table_text(found)
    with pytest.raises(Refusal, match=r"cannot show barrier \(the run has Exchange\)"):
        table_text(found, names=["barrier"])


def test_osu_shows_the_mean_over_ranks_under_its_own_name() -> None:
    text = table_text(summary("mpi/pairs", "pingpong", bytes="8"), "osu")
    assert text.startswith("# osu_latency\n# #processes = 2\n# Size")
    assert rows(text) == [["8", "2.25"]]


def test_octants_own_is_the_median_of_the_slowest_rank() -> None:
    text = table_text(summary("mpi/rings", "exchange", bytes="1000"), "octant")
    assert "1000 B  6.00 µs  6.00 µs … 6.00 µs  667 MB/s         2" in text


def test_cells_that_differ_in_another_knob_have_tables_of_their_own() -> None:
    found = summary("mpi/pairs", "pingpong", bytes="8", buffers="hot,rotating")
    assert [table.settings for table in mpi_tables.tables(found)] == [("buffers=hot",), ("buffers=rotating",)]
    assert "# buffers=rotating" in table_text(found)


def test_what_failed_and_what_is_wrong_is_said() -> None:
    knobs: Mapping[str, str] = {"pattern": "barrier"}
    failed = Failure("mpi/rings", "key", knobs, 2, "hangs here (MPICH 5.0.2, 2 ranks: no end after 15 s)", 3)
    alike = Failure("mpi/rings", "key", {"pattern": "exchange"}, 2, failed.reason, 3)
    text = table_text(summary("mpi/pairs", "pingpong", failed, failed, alike, wrong=True, bytes="8"))
    assert rows(text)[1] == ["8", "0", "-", "-", "WRONG", "ANSWER"]
    assert text.count(": hangs here (MPICH 5.0.2, 2 ranks") == 2
    assert "# Not measured: Barrier: hangs" in text
    assert "# Not measured: Exchange: hangs" in text


def test_programs_get_the_same_in_base_units() -> None:
    said = json.loads(mpi_tables.as_json(summary("mpi/rings", "exchange", bytes="1000"), BenchmarkArguments()))
    (table,) = said["tables"]
    assert (table["pattern"], table["processes"], table["groups"], table["factor"]) == ("Exchange", 2, 1, 4)
    (row,) = table["rows"]
    assert row["t_min"] == pytest.approx(3e-6)
    assert row["bytes_per_second"] == pytest.approx(4 * 1000 / 6e-6)
    assert row["messages_per_second"] is None
