"""Tables of MPI patterns say what IMB and OSU would say of the same samples, and what they do not show stands below."""

import json
from collections.abc import Mapping
from typing import Literal

import pytest

from fake_run import lane, point, stored
from octant.analysis.summary import Summary, summarise
from octant.ask import Ask, Launch, Presentation, Shape, Subject
from octant.catalogue import mpi_patterns
from octant.catalogue.mpi_patterns import Pattern
from octant.metric import Metric, derived, groups, per, ranks, seconds, steps
from octant.record import Failure, Result
from octant.report.run import mpi_tables
from octant.workload import Workload

PATTERNS = (
    Pattern(
        name="PingPong", osu=("osu_latency",), workload="mpi/pairs", knobs={"pattern": "pingpong"}, ranks="pair",
        sizes="0:4MiB", times="one", factor=1,
    ),
    Pattern(
        name="Exchange", workload="mpi/rings", knobs={"pattern": "exchange"}, sizes="0:4MiB", factor=4,
        differs="IMB differs here",
    ),
    Pattern(
        name="Ibcast", workload="mpi/overlap", knobs={"pattern": "ibcast"}, sizes="0:4MiB", times="overlap",
    ),
    Pattern(name="Barrier", osu=("osu_barrier",), workload="mpi/rings", knobs={"pattern": "barrier"}),
    Pattern(
        name="Uniband", osu=("osu_bw",), workload="mpi/rings", knobs={"pattern": "uniband"}, sizes="0:4MiB",
        factor=64, messages=64, osu_shows="bandwidth",
    ),
)  # fmt: skip
HALF = {
    how: Metric(f"t_{how}", "s", "lower", per("messages", over=(steps("mean"), ranks(kind), groups("max"))))  # type: ignore[arg-type]
    for how, kind in (("min", "min"), ("max", "max"), ("avg", "mean"))
}
WORKLOADS = {
    "mpi/pairs": Workload("Half", (Metric("time", "s", "lower", per("messages")), *HALF.values()), {}, "mpi/pairs"),
    "mpi/overlap": Workload(
        "Beside computing",
        (
            Metric("time", "s", "lower", seconds()),
            Metric("t_max", "s", "lower", seconds("phase/pure")),
            Metric(
                "overlap_imb",
                "1",
                "higher",
                derived(
                    lambda one, two, both: (one + two - both) / max(one, two),
                    seconds("phase/pure"),
                    seconds("phase/compute"),
                    seconds("phase/whole"),
                ),
            ),
        ),
        {},
        "mpi/overlap",
    ),
    "mpi/rings": Workload("Plain", (Metric("time", "s", "lower", seconds()),), {}, "mpi/rings"),
}


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mpi_patterns, "patterns", lambda: PATTERNS)


def summary(workload: str, pattern: str, *failures: Failure, wrong: bool = False, **knobs: str) -> Summary:
    """Two launches on two ranks: steps of 2 and 4 µs in turn on one, of 3 and 9 µs on the other, ten in a sample."""
    asked = {"pattern": pattern, **knobs}
    ask = Ask(Subject(workload), asked, Shape(2), show=Presentation(pattern), repeats=2)
    launches = [Launch(ask, repeat) for repeat in range(2)]
    lanes = (lane([20_000, 40_000] * 50, rank=0), lane([30_000, 90_000] * 50, rank=1))
    checks = (Result("wrong bytes", 3.0 if wrong else 0.0, "1", 0),)
    points = [
        point(
            workload=workload, launch=launch.key, pace="steps", ranks=2, batch=10, lanes=lanes, results=checks,
            knobs={**cell}, groups=((0, 1),), counts={"messages": 2},
        )
        for launch in launches for cell in ask.cells()
    ]  # fmt: skip
    return summarise(stored(launches, points, failures), mpi_tables.with_times(WORKLOADS), all_metrics=True)


def rows(text: str) -> list[list[str]]:
    """The words of every line that is no comment."""
    return [line.split() for line in text.splitlines() if line and not line.startswith("#")]


def test_one_time_is_the_mean_of_the_slower_rank_and_the_rate_has_imbs_factor() -> None:
    text = mpi_tables.text(summary("mpi/pairs", "pingpong", bytes="0,1000000"))
    head, zero, million = rows(text)
    assert head == ["#bytes", "#repetitions", "t[usec]", "Mbytes/sec"]
    assert zero == ["0", "2000", "3.00", "0.00"], "half of 6 us; two launches of 100 samples of 10 steps"
    assert million == ["1000000", "2000", "3.00", "333333.33"]
    assert "# Benchmarking PingPong\n# #processes = 2\n" in text


def test_a_range_is_over_ranks_of_means_over_repetitions() -> None:
    text = mpi_tables.text(summary("mpi/rings", "exchange", bytes="1000"))
    head, row = rows(text)
    assert head == ["#bytes", "#repetitions", "t_min[usec]", "t_max[usec]", "t_avg[usec]", "Mbytes/sec"]
    assert row == ["1000", "2000", "3.00", "6.00", "4.50", "666.67"], "4 x 1000 B over t_max"
    assert "Exchange: IMB differs here" in text
    assert "factors: Exchange 4" in text


@pytest.mark.parametrize(("each", "times"), [("", 1), ("other", 4), ("pair", 2)])
def test_a_rate_may_add_up_every_other_process_or_pair(each: Literal["", "other", "pair"], times: int) -> None:
    assert Pattern(name="One_put_all", workload="mpi/x", sizes="0:4MiB", factor=1, each=each).times_of(5) == times


def test_a_pattern_without_messages_has_no_column_of_bytes() -> None:
    head, row = rows(mpi_tables.text(summary("mpi/rings", "barrier")))
    assert head == ["#repetitions", "t_min[usec]", "t_max[usec]", "t_avg[usec]"]
    assert row == ["2000", "3.00", "6.00", "4.50"]
    assert rows(mpi_tables.text(summary("mpi/rings", "barrier"), "osu")) == [["4.50"]]


def test_beside_computing_the_phases_are_columns_and_the_overlap_is_imbs() -> None:
    lanes = tuple(
        lane([ns * 1000] * 50, rank=rank, name=name)
        for rank in range(2)
        for name, ns in (("step", 24), ("phase/pure", 4), ("phase/compute", 8), ("phase/whole", 9))
    )
    knobs = {"pattern": "ibcast", "bytes": "1000"}
    ask = Ask(Subject("mpi/overlap"), knobs, Shape(2), show=Presentation("Ibcast"))
    one = point(workload="mpi/overlap", launch=Launch(ask).key, pace="steps", ranks=2, lanes=lanes, knobs=knobs)
    found = summarise(stored([Launch(ask)], [one]), WORKLOADS, all_metrics=True)
    head, row = rows(mpi_tables.text(found))
    assert head == ["#bytes", "#repetitions", "t_ovrl[usec]", "t_pure[usec]", "t_CPU[usec]", "overlap[%]"]
    assert row == ["1000", "50", "9.00", "4.00", "8.00", "37.50"]


def test_a_window_has_rates_alone() -> None:
    head, row = rows(mpi_tables.text(summary("mpi/rings", "uniband", bytes="1000")))
    assert head == ["#bytes", "#repetitions", "Mbytes/sec", "Msg/sec"]
    assert row == ["1000", "2000", "10666.67", "10666667"]
    assert rows(mpi_tables.text(summary("mpi/rings", "uniband", bytes="1000"), "osu")) == [["1000", "10666.67"]]


def test_osu_shows_the_mean_over_ranks_under_its_own_name() -> None:
    text = mpi_tables.text(summary("mpi/pairs", "pingpong", bytes="8"), "osu")
    assert text.startswith("# osu_latency\n# #processes = 2\n# Size")
    assert rows(text) == [["8", "2.25"]]


def test_octants_own_is_the_median_of_the_slowest_rank() -> None:
    text = mpi_tables.text(summary("mpi/rings", "exchange", bytes="1000"), "octant")
    assert "1000 B  6.00 µs  6.00 µs … 6.00 µs  667 MB/s         2" in text


def test_cells_that_differ_in_another_knob_have_tables_of_their_own() -> None:
    found = summary("mpi/pairs", "pingpong", bytes="8", buffers="hot,rotating")
    assert [table.settings for table in mpi_tables.tables(found)] == [("buffers=hot",), ("buffers=rotating",)]
    assert "# buffers=rotating" in mpi_tables.text(found)


def test_what_failed_and_what_is_wrong_is_said() -> None:
    knobs: Mapping[str, str] = {"pattern": "barrier"}
    failed = Failure("mpi/rings", "key", knobs, 2, "hangs here (MPICH 5.0.2, 2 ranks: no end after 15 s)", 3)
    alike = Failure("mpi/rings", "key", {"pattern": "exchange"}, 2, failed.reason, 3)
    text = mpi_tables.text(summary("mpi/pairs", "pingpong", failed, failed, alike, wrong=True, bytes="8"))
    assert rows(text)[1] == ["8", "0", "-", "-", "WRONG", "ANSWER"]
    assert text.count(": hangs here (MPICH 5.0.2, 2 ranks") == 2
    assert "# Not measured: Barrier: hangs" in text
    assert "# Not measured: Exchange: hangs" in text


def test_programs_get_the_same_in_base_units() -> None:
    said = json.loads(mpi_tables.as_json(summary("mpi/rings", "exchange", bytes="1000")))
    (table,) = said["tables"]
    assert (table["pattern"], table["processes"], table["groups"], table["factor"]) == ("Exchange", 2, 1, 4)
    (row,) = table["rows"]
    assert row["t_min"] == pytest.approx(3e-6)
    assert row["bytes_per_second"] == pytest.approx(4 * 1000 / 6e-6)
    assert row["messages_per_second"] is None
