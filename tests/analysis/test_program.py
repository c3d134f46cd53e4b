"""Figures of users' programs: their metrics, the cells that their knobs make, what was lost, and what casts doubt."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fake_run import machine
from octant.advice.findings import findings
from octant.analysis.causes import causes_of_run
from octant.analysis.lost import caveats_about_lost, lost_time_of, queue_bound
from octant.analysis.mismatches import mismatches
from octant.analysis.names import short_name
from octant.analysis.occupancy import most_occupied
from octant.analysis.program import CORES_USED, IMBALANCE, UTILISATION
from octant.analysis.summary import Summary, summarise
from octant.metric import Metric, per
from octant.placement import RankPlacement
from octant.program import ProgramValue
from octant.record import THREADS_OF_PROCESS, Point
from octant.report.charts.pictures import pictures
from octant.report.export import tidy
from octant.stats import Grade
from program_run import RankSeen, Seen, launches, program_summary, request_of, stored_program
from sketches import sketch_of

VALUES = (ProgramValue("rate", "flop/s", "higher", pattern="(.*)"), ProgramValue("error", better="lower", path="e"))


def one_point(root: Path, seen: Seen) -> Point:
    return program_summary(root, request_of(), [[seen]]).run.points[0]


def values(summary: Summary, place: int = 0) -> dict[str, float]:
    headline = summary.figures[place]
    figures = [summary.figure(headline, metric.name) for metric in headline.workload.metrics]
    return {one.metric.name: one.value.middle for one in figures if one and one.value}


def test_what_is_measured_of_every_program_is_a_metric(tmp_path: Path) -> None:
    seen = Seen(
        wall=2.0, ranks=[RankSeen(user=2.0, system=1.0)], memory=10**8, values={"energy of package-0": (9, "J")}
    )
    found = values(program_summary(tmp_path, request_of(), [launches(seen, 5, 0.0)]))
    assert found == pytest.approx(
        {
            "wall time": 2.0, "user time": 2.0, "system time": 1.0, "memory": 10**8, "minor page faults": 1000,
            "voluntary context switches": 10, "involuntary context switches": 5, CORES_USED: 1.5, UTILISATION: 0.75,
            "energy of package-0": 9, "major page faults": 0,
        }
    )  # fmt: skip


def test_the_first_value_of_the_user_is_the_headline(tmp_path: Path) -> None:
    seen = Seen(values={"rate": (3e9, "flop/s"), "error": (0.5, "1")})
    summary = program_summary(tmp_path, request_of(values=VALUES), [launches(seen)])
    (headline,) = summary.figures
    assert (headline.metric.name, headline.metric.better) == ("rate", "higher")
    assert headline.value is not None
    assert headline.value.middle == pytest.approx(3e9)
    error = summary.figure(headline, "error")
    assert error is not None
    assert error.metric.better == "lower"
    wall = summary.figure(headline, "wall time")
    assert wall is not None
    assert wall.value is not None


def test_a_launch_without_the_value_is_left_out_and_keeps_its_times(tmp_path: Path) -> None:
    with_value, without = Seen(values={"rate": (3e9, "flop/s")}), Seen()
    summary = program_summary(tmp_path, request_of(values=VALUES[:1]), [[with_value, with_value, without]])
    (headline,) = summary.figures
    assert headline.count_text == "2 of 3"
    assert any("no result 'rate'" in one.text for one in headline.caveats)
    wall = summary.figure(headline, "wall time")
    assert wall is not None
    assert wall.count_text == "3"


def test_ranks_have_an_imbalance_and_readings_of_their_own(tmp_path: Path) -> None:
    ranks = [RankSeen(user=user, system=0.0, cpus=(n,), masks=((n,),)) for n, user in enumerate((0.5, 0.5, 0.5, 0.9))]
    summary = program_summary(tmp_path, request_of(ranks=4), [launches(Seen(ranks=ranks))], on=machine(cores=4))
    assert values(summary)[IMBALANCE] == pytest.approx(0.9 / 0.6 - 1)
    slowest = summary.figure(summary.figures[0], "reading/user time")
    assert slowest is not None
    assert slowest.value is not None
    assert slowest.value.middle == pytest.approx(0.9)


@pytest.mark.parametrize(
    "knob", ["seconds", "samples", "least", "precision", "pages", "memory", "groups", "pin", "bytes"]
)
def test_a_knob_means_what_the_command_line_makes_of_it(tmp_path: Path, knob: str) -> None:
    """Kernels have knobs of these names, which say how long they measure, or where their data are."""
    request = request_of(("./app", f"{{{knob}}}"), knobs={knob: "1,bind:7"})
    held = [RankSeen(nodes={"0": 1 << 20})]
    summary = program_summary(tmp_path, request, [launches(Seen(wall=wall, ranks=held)) for wall in (1.0, 2.0)])
    assert [round(figure.value.middle, 3) for figure in summary.figures if figure.value] == [1.0, 2.0]
    assert [dict(figure.identity.knobs) for figure in summary.figures] == [{knob: "1"}, {knob: "bind:7"}]
    assert not any(figure.mismatches for figure in summary.figures)
    assert len({short_name(figure) for figure in summary.figures}) == 2


def test_two_knobs_with_names_of_effort_make_two_curves(tmp_path: Path) -> None:
    request = request_of(("./app", "{seconds}", "{samples}"), knobs={"seconds": "1,2,3", "samples": "1,2"})
    cells = [launches(Seen(wall=1.0 + number)) for number in range(6)]
    first, second = pictures(program_summary(tmp_path, request, cells))
    assert {row[0] for row in first.rows} == {"samples 1", "samples 2"}
    assert {row[0] for row in second.rows} == {"seconds 1", "seconds 2", "seconds 3"}


def test_cells_stay_in_the_order_of_the_command_though_their_ranks_differ(tmp_path: Path) -> None:
    request = request_of(("mpiexec", "-n", "{n}", "./app"), knobs={"n": "2,1,4"}, program="app")
    cells = [launches(Seen(ranks=[RankSeen()] * ranks), 2) for ranks in (2, 1, 4)]
    run = stored_program(tmp_path, request, cells)
    shuffled = summarise(replace(run, points=tuple(reversed(run.points))))
    assert [figure.knobs["n"] for figure in shuffled.figures] == ["2", "1", "4"]


def test_names_are_spelled_as_the_file_and_values_explain_themselves(tmp_path: Path) -> None:
    request = request_of(
        ("python3", "my.Solver.py", "{n}", "{s}", "{simd}"), knobs={"n": "2,4", "s": "static,a", "simd": "on,off"}
    )
    cells = [launches(Seen(ranks=[RankSeen()] * 2), 1) for _ in range(8)]
    names = [short_name(figure) for figure in program_summary(tmp_path, request, cells).figures]
    assert names[0] == "my.Sol…, n 2, static, simd on, 2…" or names[0].startswith("my.Sol")
    assert "n 2, static" in names[0]
    assert "s a" in names[2]
    plain = program_summary(tmp_path / "plain", request_of(("./solve",), knobs={"n": "2,4"}), [launches(Seen())] * 2)
    assert [short_name(figure) for figure in plain.figures] == ["solve, n 2", "solve, n 4"]


@pytest.mark.parametrize(
    ("rank", "pressure", "share", "cause"),
    [
        ({"throttled": 0.3}, None, 0.3, "a CPU quota"),
        ({"stolen": 0.4}, None, 0.2, "the hypervisor"),  # of two hardware threads
        ({"user": 0.1, "system": 0.0}, 0.9, 0.0, "suspended processes or other causes"),
    ],
)
def test_time_is_lost_to_quotas_and_the_hypervisor_and_not_to_a_bound(
    tmp_path: Path, rank: dict[str, Any], pressure: float | None, share: float, cause: str
) -> None:
    seen = Seen(ranks=[replace(RankSeen(), **rank)], pressure=pressure)
    lost = lost_time_of(one_point(tmp_path, seen))
    assert lost is not None
    assert lost.share == pytest.approx(share)
    assert lost.cause == cause


@pytest.mark.parametrize(
    ("user", "pressure", "waits", "preemptions", "bound"),
    [
        (0.5, 0.9, 10, 500, 0.5),  # the missing CPU time
        (0.5, 0.2, 10, 500, 0.2),  # what the kernel counts
        (0.002, 0.58, 5, 200, 0.016),  # it slept: others had at most eight times its CPU time
        (0.3, 0.58, 3, 2, 0.076),  # it worked, then slept: preempted twice, awake three times
        (1.0, 0.9, 10, 500, 0.0),
    ],
)
def test_the_bound_of_the_run_queue_needs_a_program_that_wants_to_run(
    tmp_path: Path, user: float, pressure: float, waits: int, preemptions: int, bound: float
) -> None:
    rank = RankSeen(user=user, system=0.0)
    seen = Seen(ranks=[rank], pressure=pressure, waits=waits, preemptions=preemptions)
    assert queue_bound(one_point(tmp_path, seen)) == pytest.approx(bound)


def test_a_quota_of_a_program_with_many_threads_is_a_share_of_all_their_time(tmp_path: Path) -> None:
    four = RankSeen(user=2.0, cpus=(0, 1, 2, 3), masks=((0, 1, 2, 3),) * 4, throttled=2.0)
    lost = lost_time_of(one_point(tmp_path, Seen(ranks=[four])))
    assert lost is not None
    assert lost.share == pytest.approx(0.5)


def test_the_own_threads_of_a_program_are_no_other_work(tmp_path: Path) -> None:
    """Four busy threads of one process on two hardware threads; two busy threads leave others as the cause."""

    def text(number: int) -> str:
        rank = RankSeen(user=0.2, system=0.0, cpus=(0, 1) * (number // 2), masks=((0, 1),) * number)
        one = one_point(tmp_path / str(number), Seen(ranks=[rank], pressure=0.95, preemptions=50))
        one = replace(one, notes={**one.notes, THREADS_OF_PROCESS: str(number)})
        (found,) = caveats_about_lost(one, Metric("wall time", "s", "lower", per("runs")), 1.0, sketch_of([1000]))
        return found.text

    assert text(4).endswith(" may have been lost to oversubscription (4 threads on 2 hardware threads)")
    assert text(2).endswith(" may have been lost to other work on the same CPUs")


def test_what_a_program_may_have_lost_on_the_run_queue_is_no_reason_to_leave_it_out(tmp_path: Path) -> None:
    seen = Seen(ranks=[RankSeen(user=0.2, system=0.0)], pressure=0.95, preemptions=50)
    summary = program_summary(tmp_path, request_of(), [launches(seen)])
    (headline,) = summary.figures
    assert headline.valid_count == 6
    (caveat,) = (one for one in headline.caveats if one.kind == "lost time")
    assert caveat.grade == Grade.LIMITED
    assert caveat.text == "up to 80 % of the time may have been lost to other work on the same CPUs"
    causes = causes_of_run(summary)
    assert causes is not None
    assert causes.lost == causes.other_processes == 0
    assert not [one for one in findings(summary) if one.rule == "lost time"]


@pytest.mark.parametrize(
    ("note", "kind", "grade"),
    [
        ("cut output", "truncated output", Grade.NOTE),
        ("binds itself", "binding by the launcher", Grade.NOTE),
        ("outlived", "processes outlived the program", Grade.LIMITED),
        ("ranks missing", "ranks without a report", Grade.LIMITED),
        ("failed after", "failed command after the launch", Grade.LIMITED),
        ("problems", "launch problems", Grade.LIMITED),
    ],
)
def test_what_the_guard_noted_casts_doubt(tmp_path: Path, note: str, kind: str, grade: Grade) -> None:
    summary = program_summary(tmp_path, request_of(), [launches(Seen(notes={note: "7 (sleep)"}))])
    assert {(one.kind, one.grade) for one in summary.figures[0].caveats} == {(kind, grade)}
    assert "7 (sleep)" in summary.figures[0].caveats[0].text


def test_the_placement_of_a_program_is_as_asked_where_its_threads_stay_within_it(tmp_path: Path) -> None:
    place = RankPlacement.of_threads(0, ({0}, {1}), ())
    within = one_point(tmp_path / "a", Seen(ranks=[RankSeen(cpus=(0,), masks=((0, 1),))]))
    assert mismatches([place], within, 1) == (), "one of two threads worked, where it may"
    outside = one_point(tmp_path / "b", Seen(ranks=[RankSeen(cpus=(0, 2), masks=((0, 1), (1, 2, 3)))]))
    assert mismatches([place], outside, 1) == ("rank 0: CPUs 0-1 requested, a thread may run on 1-3",)


def test_memory_and_threads_are_those_of_the_launch_that_was_seen_best(tmp_path: Path) -> None:
    unseen = Seen(ranks=[RankSeen(cpus=(), masks=((0, 1),))])
    seen = Seen(ranks=[RankSeen(nodes={"0": 3 << 20, "1": 1 << 20}, huge=2 << 20)])
    occupied = most_occupied(program_summary(tmp_path, request_of(), [[unseen, seen, unseen]]).run.points)
    assert occupied is not None
    assert (occupied.threads, occupied.resident_bytes, occupied.huge_share) == (1, 4 << 20, 0.5)
    assert occupied.memory_text == "memory on nodes 0 (75 %), 1 (25 %)"


def test_every_export_holds_a_program(tmp_path: Path) -> None:
    request = request_of(("./my app", "{n}"), ranks=2, knobs={"n": "1,2"}, values=VALUES[:1])
    cells = [launches(Seen(ranks=[RankSeen()] * 2, values={"rate": (rate, "flop/s")})) for rate in (1e9, 2e9)]
    summary = program_summary(tmp_path, request, cells)
    for what, least in (("figures", 2 * 10), ("results", 2 * 6 * 9), ("samples", 2 * 6 * 2 * 4)):
        written = io.BytesIO()
        tidy.write(summary, "csv", what, written)  # type: ignore[arg-type]
        rows = list(csv.DictReader(io.StringIO(written.getvalue().decode())))
        assert len(rows) >= least
        assert {row["workload"] for row in rows} == {"program/my app"}
    written = io.BytesIO()
    tidy.write(summary, "json", "figures", written)
    document = json.loads(written.getvalue())
    assert document["unknown_workloads"] == []
    assert document["first_screen"]["absent"] == []
    heads = [one for one in document["figures"] if one["metric"] == "rate"]
    assert [one["median"] for one in heads] == pytest.approx([1e9, 2e9])
