"""Studies from launches to verdicts: results of complete and incomplete runs, and refusals."""

import dataclasses
import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

import fake_study
from fake_run import KIB, MIB, machine
from octant.failure import Refusal
from octant.record import Buffer, RankResources
from octant.request import Launch
from octant.store import Store
from octant.study import file, outcome
from octant.study.parts import Cell
from octant.study.published_values import published_values
from paths import ROOT
from study_text import STUDY, curve_study


def test_the_published_table_is_shown_with_its_combinations() -> None:
    """The six rows of the POWER7 table, by their levels."""
    rows = published_values(file.load("stream-affinity-pages"))
    assert [(" / ".join(row.cell.levels), row.observation.value) for row in rows] == [
        ("no / anywhere / small / one rank per core", 56830),
        ("yes / anywhere / small / one rank per core", 56564),
        ("yes / local / small / one rank per core", 122409),
        ("yes / local / large / one rank per core", 122474),
        ("yes / local / large / one rank per hardware thread", 117082),
        ("yes / local / large / one rank per core, SMT threads", 117065),
    ]


@pytest.fixture
def where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    fake_study.programs(tmp_path / "bin", monkeypatch)
    return Store(tmp_path / "store")


def test_a_machine_that_answers_as_published_gets_the_published_verdicts(where: Store) -> None:
    node = machine(packages=4, cores=8, smt=4, name="like a Power 755")
    run = fake_study.run(where, "stream-affinity-pages", node, lambda launch, _: fake_study.as_published(launch))
    found = fake_study.outcome_of(run)
    by_id = {verdict.finding.id: verdict for verdict in found.verdicts}
    assert {name: verdict.status for name, verdict in by_id.items()} == {
        "p7-affinity-doubles-stream": "holds",
        "p7-binding-alone-no-gain": "holds",
        "p7-affinity-mandatory": "holds",
        "p6-locality-best": "holds",
        "p7-affinity-not-on-smp": "cannot be tested here",
        "p7-medium-pages-small-gain": "holds",
        "p7-medium-pages-old-gain": "does not hold",
        "p7-smt-no-stream-gain": "holds",
        "p7-mpi-or-threads-same-stream": "holds",
    }
    assert by_id["p7-affinity-doubles-stream"].there == pytest.approx((122409 / 56830,) * 2)
    assert by_id["p7-affinity-doubles-stream"].text.startswith(
        "holds: published ×2.15, ×2.15 [2.15, 2.16] for triad, binding yes over no, memory local over anywhere "
        "(required: above 2; in brackets: 95 % interval for the geometric mean ratio over 6 paired rounds "
    )
    assert by_id["p7-affinity-not-on-smp"].why == "needs at most 1 NUMA domain; this machine has 4"


def test_one_domain_cannot_tell_and_says_so(where: Store) -> None:
    run = fake_study.run(where, "stream-affinity-pages", machine(), lambda _launch, _point: 10e9)
    by_id = {verdict.finding.id: verdict.text for verdict in fake_study.outcome_of(run).verdicts}
    assert by_id["p7-affinity-doubles-stream"] == "cannot be tested here: needs 2 NUMA domains; this machine has 1"
    assert by_id["p7-smt-no-stream-gain"] == (
        "cannot be tested here: needs 2 hardware threads per core; this machine has 1"
    )
    assert by_id["p7-affinity-not-on-smp"].startswith("holds: ×1.00")  # no table is about such nodes


def test_what_the_system_cannot_do_is_recorded_with_its_reason(where: Store) -> None:
    run = fake_study.run(where, "stream-affinity-pages", machine(), lambda _launch, _point: 10e9, repeats=1)
    reasons = Counter((failure.exit, failure.reason) for failure in run.failures)
    assert reasons == {
        (3, "needs 2 MiB pages; 0 of 0 reserved pages are free"): 1,
        (3, "needs 2 hardware threads per core; this machine has 1"): 2,
    }
    assert run.complete


def test_with_probes_it_begins_and_ends_with_a_look_and_has_the_same_cells(where: Store) -> None:
    plain, looked = (
        outcome.begin(where, "stream-affinity-pages", machine(), seed=1, repeats=2, probes=probes)
        for probes in (False, True)
    )
    assert looked.requests[:-1] == plain.requests
    assert looked.order[1:-1] == plain.order
    last = len(plain.requests)
    assert (looked.order[0], looked.order[-1]) == ((last, 0), (last, 1))
    assert looked.study is not None
    assert plain.study is not None
    assert looked.study.cells == plain.study.cells
    once = outcome.begin(where, "stream-affinity-pages", machine(), seed=1, repeats=1, probes=True)
    assert fake_study.outcome_of(once).repeats == 1


def test_a_stopped_study_goes_on_where_it_stopped(where: Store) -> None:
    begun = outcome.begin(where, "stream-affinity-pages", machine(), seed=1, repeats=2)
    answered: list[str] = []

    def until_third(launch: Launch, _point: object) -> float:
        if len(answered) == 3:
            raise KeyboardInterrupt
        answered.append(launch.key)
        return 10e9

    with pytest.raises(KeyboardInterrupt):
        fake_study.go_on(where, begun, until_third)
    stopped = where.read(begun.id)
    assert not stopped.complete

    def to_the_end(launch: Launch, _point: object) -> float:
        answered.append(launch.key)
        return 10e9

    finished = fake_study.go_on(where, stopped, to_the_end)
    assert finished.complete
    assert sorted(answered) == sorted(launch.key for launch in begun.launches)


def test_a_failed_combination_is_reported_and_the_others_are_kept(where: Store) -> None:
    def unbound_fails(launch: Launch, _point: object) -> float | None:
        return None if launch.request.knobs.get("pin") == "none" else 10e9

    found = fake_study.outcome_of(fake_study.run(where, "stream-affinity-pages", machine(), unbound_fails, repeats=1))
    why = "node/stream: cannot go on (no reason); try again (exit status 1)"
    assert found.values.absent[Cell("triad", ("no", "local", "small", "one rank per core"))] == why
    by_id = {verdict.finding.id: verdict for verdict in found.verdicts}
    assert by_id["p7-affinity-not-on-smp"].text == f"cannot be tested here: {why}"
    assert by_id["p7-medium-pages-small-gain"].status == "undecided"
    needed = "1 of at least 4 launches per configuration"
    assert needed in by_id["p7-medium-pages-small-gain"].why


def test_a_wrong_result_has_no_value(where: Store) -> None:
    begun = outcome.begin(where, "stream-affinity-pages", machine(), seed=1, repeats=1)
    with begun.records.open("a") as records:
        records.writelines(
            fake_study.line(launch, launch.request.knobs, 99e9, passed=False) + "\n" for launch in begun.launches
        )
    found = fake_study.outcome_of(where.read(begun.id))
    assert not found.values.by_cell
    assert all(text.endswith(": compared 1 > 0") for text in found.values.wrong)
    assert len(found.values.wrong) == len(begun.launches)


def test_one_wrong_launch_takes_the_value_of_its_combination_and_of_no_other(where: Store) -> None:
    begun = outcome.begin(where, "stream-affinity-pages", machine(), seed=1, repeats=4)
    spoiled, not_started = (Cell("triad", (bind, "local", "small", "one rank per core")) for bind in ("yes", "no"))
    with begun.records.open("a") as records:
        for launch in (launch for launch in begun.launches if launch.request.show.title != str(not_started)):
            right = (launch.request.show.title, launch.repeat) != (str(spoiled), 2)
            records.write(fake_study.line(launch, launch.request.knobs, 9e9, passed=right) + "\n")
    values = fake_study.outcome_of(where.read(begun.id)).values
    assert values.absent[spoiled] == "wrong results in 1 of 4 launches"
    assert values.absent[not_started] == "not measured yet"
    assert len(values.by_cell) == len({launch.request.key for launch in begun.launches}) - 2


def test_a_point_that_no_launch_gave_is_named_with_its_reason(where: Store, tmp_path: Path) -> None:
    def ends_early(launch: Launch, point: Mapping[str, str]) -> float | None:
        return None if launch.request.knobs.get("pages") == "thp" and point["bytes"] == "4MiB" else 10e9

    found = fake_study.outcome_of(fake_study.run(where, curve_study(tmp_path), machine(), ends_early, repeats=4))
    why = "node/stream: cannot go on (no reason); try again (exit status 1)"
    assert found.values.gaps == {(Cell("m", ("b",)), "4MiB"): why}
    assert found.verdicts[0].text == f"cannot be tested here: m: b at 4MiB: {why}"


def test_launches_that_failed_are_a_doubt_about_the_others(where: Store, tmp_path: Path) -> None:
    def half_fails(launch: Launch, _point: object) -> float | None:
        return None if launch.request.knobs.get("pages") == "thp" and launch.repeat < 4 else 10e9

    found = fake_study.outcome_of(fake_study.run(where, curve_study(tmp_path), machine(), half_fails, repeats=8))
    why = "node/stream: cannot go on (no reason); try again (exit status 1)"
    value = found.values.by_cell[Cell("m", ("b",))]["4MiB"]
    (caveat,) = (one for one in value.caveats if one.kind == "launches excluded")
    assert (len(value.launches), caveat.text) == (4, f"4 of 8 launches failed ({why})")
    assert "4 of 8 launches failed" in found.verdicts[0].why


def test_what_a_record_says_against_itself_is_a_doubt(where: Store, tmp_path: Path) -> None:
    """As for any other figure."""
    begun = outcome.begin(where, curve_study(tmp_path), machine(), seed=1, repeats=4)
    with begun.records.open("a") as records:
        for launch in begun.launches:
            lines = (fake_study.line(launch, knobs, 10e9, share_cores=True) for knobs in launch.cells())
            records.writelines(f"{line}\n" for line in lines)
    found = fake_study.outcome_of(where.read(begun.id))
    assert "caveats: oversubscribed (more threads than hardware threads)" in found.verdicts[0].why


def test_a_launch_that_was_recorded_twice_is_one_sample(where: Store, tmp_path: Path) -> None:
    run = fake_study.run(where, curve_study(tmp_path), machine(), lambda _launch, _point: 10e9, repeats=2)
    run.records.write_text(run.records.read_text() * 3)
    found = fake_study.outcome_of(where.read(run.id))
    assert {len(value.launches) for curve in found.values.by_cell.values() for value in curve.values()} == {2}
    assert found.verdicts[0].status == "undecided"


def test_an_unknown_study_or_knob_is_refused_with_the_nearest(where: Store, tmp_path: Path) -> None:
    with pytest.raises(file.StudyError, match=r"cannot find the study 'stream'.*did you mean .*stream-affinity-pages"):
        file.load("stream")
    mine = tmp_path / "mine.toml"
    mine.write_bytes(b"\x83\x00")
    with pytest.raises(Refusal, match=r"cannot read the study .*mine\.toml \(byte 0 is not UTF-8\)"):
        file.load(str(mine))
    with pytest.raises(Refusal, match=r"cannot read the study /dev/zero \(not a regular file\)"):
        file.load("/dev/zero")
    mine.write_text(STUDY.replace('pages = "thp"', 'page = "thp"'))
    with pytest.raises(Refusal, match="node/stream has no knob 'page'; did you mean pages"):
        outcome.begin(where, str(mine), machine())


def test_a_study_that_cannot_ask_anything_here_is_refused(where: Store, tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text('needs = ["numa>=2"]\n' + STUDY)
    with pytest.raises(Refusal, match=r"cannot run mine here \(needs 2 NUMA domains; this machine has 1\)") as refusal:
        outcome.begin(where, str(mine), machine())
    assert refusal.value.code == 3


def test_two_levels_that_come_to_the_same_launch_are_asked_once_and_not_compared(where: Store, tmp_path: Path) -> None:
    """With one hardware thread per core, as many ranks as cores and as hardware threads are the same."""
    mine = tmp_path / "mine.toml"
    mine.write_text(
        STUDY.replace("a = {}", 'a = { ranks = "cores" }').replace(
            '{ knobs = { pages = "thp" } }', '{ ranks = "hwthreads" }'
        )
    )
    run = fake_study.run(where, str(mine), machine(), lambda _launch, _point: 10e9)
    assert len(run.launches) == 6
    (verdict,) = fake_study.outcome_of(run).verdicts
    assert verdict.text == "cannot be tested here: both combinations are identical on this machine"


def test_two_measures_of_the_same_launch_have_each_its_own_metric(where: Store, tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(STUDY + '\n[measures.n]\nworkload = "stream"\nmetric = "traffic"\n')
    run = fake_study.run(where, str(mine), machine(), lambda _launch, _point: 10e9)
    assert len(run.launches) == 12  # each combination is asked once for both
    values = fake_study.outcome_of(run).values
    measured = {str(cell): value[""].value.middle for cell, value in values.by_cell.items()}
    assert measured == pytest.approx({"m: a": 10e9, "m: b": 10e9, "n: a": 15e9, "n: b": 15e9}, rel=1e-3)


def test_what_was_not_given_as_asked_is_doubted(where: Store) -> None:
    run = fake_study.run(where, "stream-affinity-pages", machine(), lambda _launch, _point: 10e9, repeats=1)
    small = (RankResources("h", (0,), ((0,),), (Buffer(1 << 30, 1 << 30, 0, 4096, {"0": 64}),)),)
    points = tuple(dataclasses.replace(p, knobs={**p.knobs, "pages": "thp"}, given=small) for p in run.points)
    found = fake_study.outcome_of(dataclasses.replace(run, points=points)).values.by_cell
    assert found
    assert all("the request was not met" in str(value.caveats) for curve in found.values() for value in curve.values())


def test_reading_a_run_plans_nothing_again(where: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was asked and what was absent is what was stored, whatever a planner says today."""
    run = fake_study.run(where, "stream-affinity-pages", machine(), lambda _launch, _point: 10e9, repeats=1)
    before = fake_study.outcome_of(run)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("planned again")

    monkeypatch.setattr("octant.placement.planner.plan", refuse)
    monkeypatch.setattr("octant.study.outcome.design", refuse)
    again = fake_study.outcome_of(where.read(run.id))
    assert again.values.by_cell.keys() == before.values.by_cell.keys() != set()
    assert again.values.absent == before.values.absent
    assert set(again.values.absent.values()) == {
        "needs 2 MiB pages; 0 of 0 reserved pages are free",
        "needs 2 hardware threads per core; this machine has 1",
    }


def test_a_study_of_format_1_is_designed_again(tmp_path: Path) -> None:
    """Two launches of each of two sizes, as version 0.1 stored them."""
    kept = shutil.copytree(ROOT / "tests" / "data" / "store-format-1", tmp_path / "store")
    found = fake_study.outcome_of(outcome.last_run(Store(kept), "tiny"))
    launches = {str(cell): len(curve[""].launches) for cell, curve in found.values.by_cell.items()}
    assert launches == {"bandwidth: cached": 2, "bandwidth: larger": 2}
    assert not found.values.absent


def test_a_name_that_is_neither_a_study_nor_a_run_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match=r"neither a study nor a run.*octant study list"):
        outcome.last_run(Store(tmp_path), "nosuch")


def test_an_axis_may_go_by_facts_of_the_machine(where: Store, tmp_path: Path) -> None:
    """8, 32 and 128 KiB from the ladder, then twice the 2 MiB of the second cache, where b is twice as fast as a."""
    mine = curve_study(tmp_path, '"8KiB to 128KiB by 4", "2*l2"', "2*l2")

    def twice(launch: Launch, point: Mapping[str, str]) -> float:
        return 20e9 if launch.request.knobs.get("pages") == "thp" and point["bytes"] == str(4 * MIB) else 10e9

    found = fake_study.outcome_of(fake_study.run(where, mine, machine(), twice, repeats=6))
    curve = found.values.by_cell[Cell("m", ("b",))]
    assert list(curve) == [str(8 * KIB), str(32 * KIB), str(128 * KIB), str(4 * MIB)]
    assert found.verdicts[0].text.startswith("holds: ×2.00")
    assert found.verdicts[0].text.endswith("for m, b over a at 2*l2 (required: above 1)")


def test_an_axis_that_leads_nowhere_here_is_refused(where: Store, tmp_path: Path) -> None:
    mine = curve_study(tmp_path, '"1GiB to llc by 4", "4MiB"')
    with pytest.raises(file.StudyError, match=r"cannot run the study mine here \('1GiB to llc by 4' has 0 steps"):
        outcome.begin(where, mine, machine())
