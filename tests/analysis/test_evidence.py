"""What verdicts rest on: false alarms of paired rounds and gates by simulation, and occasions from the store."""

import dataclasses
import functools
import json
import time
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from fake_kernel import Kernel, planned, request
from fake_run import WORKLOADS, durations, lane, machine, point
from fake_summary import fake_summary
from launch_shapes import simulated_launches
from octant.analysis.compare import Comparisons, compare
from octant.analysis.evidence import occasions_in
from octant.analysis.summary import summarise
from octant.failure import Refusal
from octant.record import Point
from octant.record.writer import seal
from octant.runs.session import execute_run, run_all
from octant.stats import median_interval
from octant.stats.verdicts import Verdict
from octant.store import Pair, Store, StoredRun
from octant.store.run_request import Looks


def judged(
    before: ArrayLike, after: ArrayLike, margin: float = 0.03, gate: bool = False, looks: Looks = "once"
) -> Comparisons:
    """Return interleaved runs with these values of figures in their rounds."""
    pair = Pair("a", "old", 12, looks)
    return compare(fake_summary(before, "a"), fake_summary(after, "b", pair), margin, gate=gate)


def drifting(
    generator: np.random.Generator, figures: int, rounds: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Shape (figures, rounds): two equal sides whose launches spread by 3 % while the machine drifts by 12 %."""
    logs = 0.03 * simulated_launches("normal", (figures, rounds, 2), generator)
    values = 100 * np.exp(logs + 0.12 * np.linspace(0, 1, rounds)[:, None])
    return values[..., 0], values[..., 1]


@pytest.mark.parametrize("shape", ["normal", "slow tail"])
def test_paired_rounds_of_equal_sides_raise_few_alarms(shape: str) -> None:
    logs = 0.03 * simulated_launches(shape, (2000, 6, 2), np.random.default_rng(71))
    begun = time.process_time()
    words = [judged([a], [b], margin=0).figures[0].word for a, b in np.exp(logs).swapaxes(1, 2)]
    alarms = sum(word in ("faster", "slower") for word in words) / len(words)
    assert alarms <= 0.055
    samples = np.exp(logs[:100, 0, :, None] + np.random.default_rng(75).normal(0, 0.03, (100, 2, 50)))
    naive = [(median_interval(a), median_interval(b)) for a, b in samples]
    apart = [a.low > b.high or b.low > a.high for a, b in naive]
    assert np.mean(apart) > 0.3, "one launch each, judged by its samples"
    assert time.process_time() - begun < 10


def test_a_gate_over_thirty_figures_raises_few_alarms() -> None:
    generator = np.random.default_rng(72)
    gates = [judged(*drifting(generator, 30, 8), margin=0, gate=True) for _ in range(150)]
    alarms = [any(one.word in ("faster", "slower") for one in gate.figures) for gate in gates]
    assert np.mean(alarms) <= 0.06
    raw = [any(verdict.p <= 0.05 for verdict in gate.verdicts) for gate in gates]
    assert np.mean(raw) > 0.6, "without the correction"


def test_a_report_finds_what_a_gate_finds_and_more() -> None:
    generator = np.random.default_rng(73)
    before, after = drifting(generator, 30, 8)
    after[:10] *= np.exp(-0.1)
    found = {gate: set(map(id, judged(before, after, gate=gate).of("slower"))) for gate in (False, True)}
    assert len(found[True]) <= len(found[False])
    assert len(found[False]) >= 5


def test_a_gate_needs_eight_rounds_for_several_figures_and_four_for_one() -> None:
    generator = np.random.default_rng(74)
    with pytest.raises(
        Refusal, match=r"cannot gate 2 figures on 6 paired rounds \(at least 8 are required\); try .* --rounds 8"
    ):
        judged(*drifting(generator, 2, 6), gate=True)
    with pytest.raises(Refusal, match=r"cannot gate 1 figure on 3 paired rounds \(at least 4 are required\)"):
        judged(*drifting(generator, 1, 3), gate=True)
    assert judged(*drifting(generator, 2, 8), gate=True).compared == 2
    assert judged(*drifting(generator, 1, 4), gate=True).compared == 1


def test_rounds_that_may_stop_early_are_judged_by_what_allows_for_it() -> None:
    x = np.array([0.05, 0.02, 0.06, 0.04, 0.05, 0.01, 0.03, 0.04])
    before, after = np.full((1, 8), 100.0), 100 * np.exp(-x - 0.02)
    for rounds, once, rising in ((4, "slower", "undecided"), (8, "slower", "slower")):
        sides = before[:, :rounds], after[None, :rounds]
        assert judged(*sides).figures[0].word == once
        for gate in (True, False):
            assert judged(*sides, gate=gate, looks="rising").figures[0].word == rising
    assert judged(before[:, :4], after[None, :4], looks="any time").figures[0].word == "undecided"
    few = judged(before[:, :3], after[None, :3], looks="any time").figures[0].verdict
    assert few is not None
    assert few.text == "insufficient data: 3 of 4 rounds"


def test_rounds_are_matched_by_their_number() -> None:
    """A launch that failed takes its partner out, and no other."""
    levels = np.array([1, 2, 4, 8, 16, 32]) * 100.0
    before, after = fake_summary([levels], "a"), fake_summary([levels * 1.1], "b", Pair("a", "old", 6))
    (row,) = after.figures
    after = dataclasses.replace(
        after, figures=(dataclasses.replace(row, launches=row.launches[:2] + row.launches[3:]),)
    )
    (one,) = compare(before, after).figures
    assert one.verdict is not None
    assert (one.word, one.verdict.number) == ("faster", 5)
    assert one.speed == pytest.approx(1.1)


def test_a_round_that_was_stopped_between_its_launches_and_gone_on_with_later_does_not_count() -> None:
    before, after = fake_summary([[100.0] * 6], "a"), fake_summary([[110.0] * 5 + [300.0]], "b", Pair("a", "old", 6))
    (row,) = after.figures
    *others, last = row.launches
    later = dataclasses.replace(last.point.process, started="2026-11-22T09:00:00Z")
    last = dataclasses.replace(last, point=dataclasses.replace(last.point, process=later))
    after = dataclasses.replace(after, figures=(dataclasses.replace(row, launches=(*others, last)),))
    (one,) = compare(before, after).figures
    assert one.verdict is not None
    assert one.verdict.number == 5
    assert one.speed == pytest.approx(1.1)


MONDAY = datetime(2026, 11, 16, 9, 0).astimezone()


def stored(
    store: Store, begun: datetime, level: float, spread: float = 0.01, repeats: int = 6, kernel: str = "triad"
) -> StoredRun:
    """Return a run of one cell with this start, whose launches take about `level` times as long."""
    asked = request(repeats, bytes="1MiB", kernel=kernel)
    run = store.create("q", machine(), [asked])
    path = run.folder / "asked.json"
    path.write_text(path.read_text().replace(run.started, begun.isoformat(timespec="seconds")))
    run = store.read(run.id)
    times = [level * (1 + spread * (n % 3 - 1)) for n in range(repeats)]
    plan = functools.partial(planned, records=run.records)
    return execute_run(
        store, run, run_all(run.launches), plan, start=Kernel(answer=functools.partial(_answer, begun, times))
    )


def _answer(begun: datetime, times: list[float], workload: str, launch: str, cell: Mapping[str, str]) -> Point:
    lanes = (lane(durations(round(100_000 * times[int(launch.rpartition("-")[2])]), 5)),)
    work = {"bytes_read": 1000}
    return point(
        workload=workload, launch=launch, knobs=dict(cell), lanes=lanes, counts=work, started=begun.isoformat()
    )


def of_store(store: Store, before: StoredRun, after: StoredRun) -> Verdict:
    """Return the verdict on the only figure, with the other occasions in the store."""
    history = occasions_in(store.runs)
    (one,) = compare(summarise(before, WORKLOADS), summarise(after, WORKLOADS), history=history).figures
    assert one.verdict is not None
    return one.verdict


def test_four_further_occasions_turn_a_difference_into_a_verdict(tmp_path: Path) -> None:
    store = Store(tmp_path)
    before, after = stored(store, MONDAY, 1.0), stored(store, MONDAY + timedelta(days=1), 1.5)
    same = stored(store, MONDAY + timedelta(days=1), 1.001)
    for day in range(2, 6):
        assert of_store(store, before, after).word == "differs"
        stored(store, MONDAY + timedelta(days=day), 1 + 0.002 * day)
    found = of_store(store, before, after)
    assert (found.word, of_store(store, after, before).word) == ("slower", "faster")
    assert found.speed is not None
    days = "between 2026-11-16 09:00 and 2026-11-21 09:00"
    assert found.speed.text == f"95 % interval for the geometric mean ratio in other sessions, from 4 sessions {days}"
    assert of_store(store, before, same).word == "equivalent"


def test_runs_within_an_hour_are_one_occasion_and_others_are_of_the_same_cell_build_and_settings(
    tmp_path: Path,
) -> None:
    store = Store(tmp_path)
    before, after = stored(store, MONDAY, 1.0), stored(store, MONDAY + timedelta(days=1), 1.5)
    for minutes in (10, 20, 30, 40):
        stored(store, MONDAY + timedelta(days=2, minutes=minutes), 1.0)
        stored(store, MONDAY + timedelta(minutes=minutes), 1.0)  # within the hour of A
    for day in range(3, 7):
        stored(store, MONDAY + timedelta(days=day), 1.0, kernel="copy")
        elsewhere = stored(store, MONDAY + timedelta(days=day), 1.0)
        plan = elsewhere.plan.read_text().replace('"build":""', '"build":"other"')
        elsewhere.plan.write_text("".join(f"{_resealed(line)}\n" for line in plan.splitlines()))
    assert store.read(elsewhere.id).plans[elsewhere.launches[0].key].build == "other"
    assert of_store(store, before, after).word == "differs"
    for day in range(7, 10):
        assert of_store(store, before, after).word == "differs"
        stored(store, MONDAY + timedelta(days=day), 1.0)
    assert of_store(store, before, after).word == "slower", "three days and the one of four runs"


def _resealed(line: str) -> str:
    data = json.loads(line)
    del data["crc"]
    return seal(data)
