"""Values of the network model next to measured ones: from the run's own messages, or why there is none."""

import dataclasses
from pathlib import Path
from typing import Any

import msgspec
import pytest

import fake_study
from fake_run import fake_run, lane, machine, point, there_and_back
from octant import facts, workloads
from octant.benchmarks.table import read_tests
from octant.failure import Refusal, RenamedWarning
from octant.record import Point, RankResources
from octant.report.network.answers import interval_text, measured_answers
from octant.report.study.rows import ratio_to_model
from octant.report.study.text import report_text
from octant.request import Launch
from octant.simulate.projection import message_paths, node_rates, predicted, project_to_nodes
from octant.stats import Interval
from octant.step import Scaling
from octant.store import Store, StoredRun
from octant.study import file
from octant.study.design import design
from octant.study.parts import Cell
from octant.study.predicted import _larger
from study_text import STUDY

pytest.importorskip("octant._network")
HPCC = [one.workload for one in read_tests("hpcc")]
LENGTHS = (8, 512, 4096, 32768, 262144, 2097152)


def of(workload: str, name: str, ns: float, ranks: int = 2, **more: Any) -> Point:
    given = tuple(RankResources("a", (rank,), ((rank,),)) for rank in range(ranks))
    lanes = tuple(lane([round(ns)] * 8, rank=rank) for rank in range(ranks))
    return point(
        "steps", **{"workload": workload, "launch": f"{name}-0", "ranks": ranks, "given": given, "lanes": lanes} | more
    )


def message(length: int) -> Point:
    knobs = {"bytes": str(length), "buffers": "hot", "pattern": "pingpong"}
    return of("mpi/p2p", f"p2p-{length}", 2 * (1000 + length), knobs=knobs, counts=there_and_back(length))


def transposition(n: int, ranks: int, ns: float, **more: Any) -> Point:
    counts = {"bytes_transposed": 8 * n * n}
    knobs = {"n": str(n), "transport": "messages", "block": "192", "grid": "auto", "message": "256KiB", "tile": "192"}
    return of("hpcc/ptrans", f"ptrans-{n}-{ranks}", ns, ranks, knobs=knobs, counts=counts, **more)


def run(*points: Point) -> StoredRun:
    return dataclasses.replace(fake_run(), points=points)


MESSAGES = tuple(map(message, LENGTHS))


def test_a_run_states_its_own_messages() -> None:
    ways = message_paths(run(*MESSAGES))
    assert ways.inside is not None
    assert ways.of(1, "") is ways.inside
    assert ways.of(2, "1Gbit/s") is None
    assert ways.inside.times.startup_s == pytest.approx(1e-6, rel=0.05)
    assert ways.inside.times.seconds_per_byte == pytest.approx(1e-9, rel=0.05)
    assert message_paths(run()).inside is None


def test_a_node_is_its_most_ranks_with_the_most_data() -> None:
    points = (transposition(1024, 1, 1e6), transposition(512, 2, 1e6), transposition(1024, 2, 1e6))
    known = map(predicted, workloads.workloads().values())
    found = {
        one.test: one for one in node_rates(run(*points), {one.workload.name: one for one in known if one}).values()
    }
    assert (found["ptrans"].ranks, found["ptrans"].size) == (2, 1024)
    assert found["ptrans"].per_s == pytest.approx(8 * 1024**2 / 1e-3)


def test_more_nodes_than_there_are_here() -> None:
    found = project_to_nodes(run(*MESSAGES, transposition(1024, 2, 1e6)), [8, 64], HPCC)
    rates = {(one.test, one.nodes): one.rate for one in found.answers}
    assert set(rates) == {("ptrans", 8), ("ptrans", 64), ("random-ring", 8), ("random-ring", 64)}
    assert rates["ptrans", 64].per_s.middle > 4 * rates["ptrans", 8].per_s.middle
    assert rates["ptrans", 8].per_s.high <= 8 * found.node[0].per_s
    shown = measured_answers(found)
    assert [row[0] for row in shown.rows] == ["PTRANS", "random ring, a rank"]
    assert "excluded: HPL, G-RandomAccess, G-FFT" in shown.notes[-1]


def test_a_transform_of_fewer_lines_than_ranks_has_an_answer_too() -> None:
    knobs = {"n": "900", "transport": "messages", "chunks": "0", "schedule": "prime"}
    transform = of("hpcc/gfft", "gfft", 1e5, knobs=knobs, counts={"nominal_flops": 44_167})
    found = project_to_nodes(run(*MESSAGES, transform), [8, 1944], HPCC)
    assert [one.test for one in found.answers].count("gfft") == 2


def test_a_run_without_messages_says_what_measures_them() -> None:
    with pytest.raises(Refusal, match=r"it contains no message times\); run octant study run hpcc-scaling"):
        project_to_nodes(run(transposition(1024, 2, 1e6)), [8], HPCC)


def test_a_run_of_messages_alone_answers_for_the_ring() -> None:
    found = project_to_nodes(run(*MESSAGES), [8], HPCC)
    assert [one.test for one in found.answers] == ["random-ring"]
    assert found.left_out == ("hpl", "ptrans", "randomaccess", "gfft")


def test_our_value_against_a_range() -> None:
    model = Interval(2e9, 2.5e9, 3e9)
    assert interval_text(model, "B/s") == "2.00 … 3.00 GB/s"
    assert ratio_to_model(Interval(1.9e9, 2.1e9, 2.2e9), model) == "within"
    assert ratio_to_model(Interval(1e9, 1e9, 1e9), model) == "×0.500"
    assert ratio_to_model(Interval(6e9, 6e9, 6e9), model) == "×2.00"


def test_a_study_without_messages_says_how_to_get_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_study.programs(tmp_path / "bin", monkeypatch)
    text = STUDY.replace('workload = "stream"', 'workload = "stream"\npredicted = true')
    text = text.replace('knobs = { pages = "thp" }', 'ranks = "2"')
    stream = workloads.workload("stream")
    scaling = Scaling("stream", "stream", "bytes")
    monkeypatch.setitem(workloads.entries().working, stream.name, dataclasses.replace(stream, scaling=scaling))
    (tmp_path / "mine.toml").write_text(text)

    def rate(_launch: Launch, _knobs: object) -> float:
        return 1e9

    made = fake_study.run(Store(tmp_path / "store"), str(tmp_path / "mine.toml"), machine(), rate)
    found = fake_study.outcome_of(made)
    assert not found.predictions.by_cell
    shown = " ".join(report_text(found).split())
    assert (
        "No prediction: fewer than three message sizes were measured reliably between ranks of one node; "
        "try octant study run" in shown
    )


def test_a_study_asks_the_benchmark_of_its_workloads_about_described_machines() -> None:
    study = file.load("hpcc-scaling")
    assert study.larger is not None
    larger, systems, why = _larger(study, run())
    assert (larger, [one.network for one in systems]) == (None, [*study.larger.networks])
    assert len(why) == 1, "there are no messages"
    measures = {**study.measures, "other": msgspec.structs.replace(study.measures["hpl"], workload="vecmath")}
    _, systems, why = _larger(msgspec.structs.replace(study, measures=measures), run())
    assert not systems
    assert why[0] == "no benchmark with these workloads predicts tests on other networks"


def test_a_level_has_knobs_of_one_measure_and_a_measure_its_least_ranks() -> None:
    text = STUDY.replace("a = {}", 'a = { measures = { m = { bytes = "sqrt(65536*ranks)" } } }')
    study = file.parse(text, "mine")
    requests = {request.show.title: request for request in design(study, machine(), 0).requests}
    assert requests["m: a"].knobs["bytes"] == "256"
    assert "bytes" not in requests["m: b"].knobs
    few = file.parse(STUDY.replace('workload = "stream"', 'workload = "stream"\nleast_ranks = 2'), "mine")
    assert design(few, machine(), 0).absent[Cell("m", ("a",))] == "needs at least 2 ranks"


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("a = {}", "a = { measures = { n = { bytes = '1' } } }", "no measure 'n'"),
        ('workload = "stream"', 'workload = "stream"\npredicted = 1', "predicted"),
        ('workload = "stream"', 'workload = "stream"\npredicted = true', "does not declare a step and its scaling"),
    ],
)
def test_what_leads_nowhere_is_refused(old: str, new: str, why: str) -> None:
    with pytest.raises(file.StudyError, match=why):
        file.parse(STUDY.replace(old, new), "mine")


def test_a_study_of_version_0_2_names_a_test_where_predicted_is_true() -> None:
    text = file.source_text("hpcc-scaling")[1]
    old = text.replace("predicted = true", 'predicted = "hpl"')
    assert old != text
    assert file.parse(old, "hpcc-scaling", stored=True) == file.parse(text, "hpcc-scaling")
    with pytest.warns(RenamedWarning, match='predicted = "hpl" is now predicted = true'):
        assert file.parse(old, "hpcc-scaling") == file.parse(text, "hpcc-scaling")


def test_roots_are_whole_numbers_of_a_product() -> None:
    known = {"ranks": 2, "cores": 3}
    assert facts.value("sqrt(100*ranks)", known) == "14"
    assert facts.value("sqrt(100) at least 20", known) == "20"
    assert facts.value("sqrt(none)", known) == "sqrt(none)"


def test_the_shipped_study_grows_its_data_with_the_ranks_or_not() -> None:
    plan = design(file.load("hpcc-scaling"), machine(cores=4), 0)
    knobs = {request.show.title: request.knobs for request in plan.requests}
    assert (knobs["hpl: weak, 1"]["n"], knobs["hpl: weak, 4"]["n"], knobs["hpl: strong, 4"]["n"]) == (
        "3072",
        "6144",
        "3072",
    )
    assert knobs["randomaccess: weak, 2"]["bytes"] == str(2 * int(knobs["randomaccess: weak, 1"]["bytes"]))
    assert not any(title.startswith("ring: weak, 1 ") or title == "ring: weak, 1" for title in knobs)
