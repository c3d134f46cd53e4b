"""Progress: the round, the launch, and a time left that learns from what launches took."""

import functools
from pathlib import Path

import pytest

from fake_kernel import Kernel, planned, request
from fake_run import machine
from octant import workloads
from octant.cli._progress import RemainingTime, progress_of
from octant.request import Presentation, Request, Subject
from octant.runs import rounds
from octant.runs.durations import Durations
from octant.runs.session import LaunchStart, execute_run, run_all
from octant.store import Store, StoredRun

TOOK_S = {"1MiB": 0.3, "2MiB": 2.5, "1KiB,2KiB,4KiB,8KiB,16KiB": 1.1}
REQUESTS = tuple(request(repeats, bytes=sizes) for repeats, sizes in zip((6, 6, 3), TOOK_S, strict=True))


@pytest.fixture
def run(tmp_path: Path) -> StoredRun:
    order = rounds.drawn_order([one.repeats for one in REQUESTS], 3)
    return Store(tmp_path).create("q", machine(), REQUESTS, order, seed=3)


def test_the_time_left_is_learnt_in_the_first_round(run: StoredRun) -> None:
    """Launches take 1 to 5 times as long as is expected of them: filling and checking cannot be known beforehand."""
    now = [100.0]
    clock = RemainingTime(run.remaining(), rounds.rounds_of(run), now=lambda: now[0])
    takes = [TOOK_S[launch.request.knobs["bytes"]] for launch in run.launches]
    assert clock.left_s() == pytest.approx(sum(map(Durations().seconds, run.launches)))
    for number, launch in enumerate(run.launches):
        step = LaunchStart(planned(launch, run.records), number, run.records)
        assert clock.is_new(step)
        assert not clock.is_new(step)
        truth = sum(takes[number:])
        if clock.rounds[launch.key] >= 2:  # every request has been launched once
            assert clock.left_s() == pytest.approx(truth, rel=0.01)
            assert clock.done_share(clock.left_s()) == pytest.approx(1 - truth / sum(takes), rel=0.01)
        now[0] += takes[number] / 2
        assert clock.left_s(0.5) == pytest.approx(clock.left_s(), rel=0.3) or clock.rounds[launch.key] < 2
        now[0] += takes[number] / 2


def test_of_a_program_nothing_is_promised_before_it_has_run_once(tmp_path: Path) -> None:
    run = Store(tmp_path).create("q", machine(), [Request(Subject(command=("./app",)), repeats=3)])
    now = [0.0]
    clock = RemainingTime(run.remaining(), {}, now=lambda: now[0])
    assert clock.announcement() == "3 launches"
    told = []
    for number, launch in enumerate(run.launches):
        clock.is_new(LaunchStart(planned(launch, run.records), number, run.records))
        told.append((clock.left_text(), clock.done_share(clock.left_s())))
        now[0] += 100.0
    assert told == [("", 0.0), ("about 200 s left", pytest.approx(1 / 3)), ("about 100 s left", pytest.approx(2 / 3))]


def test_programs_that_print_get_lines_on_a_terminal_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    run = Store(tmp_path).create("q", machine(), [Request(Subject(command=("./app",)), show=Presentation("app"))])
    with progress_of(run.remaining(), {}, shows_output=True) as observe:
        for elapsed_s in (0.0, 0.1):
            observe(LaunchStart(planned(run.launches[0], run.records), 0, run.records), elapsed_s)
    assert capsys.readouterr().err == "1 launch\n[1/1] app\n"


def test_the_time_left_counts_what_follows_the_last_launch(run: StoredRun) -> None:
    without, counted = (RemainingTime(run.remaining(), {}, after_s, lambda: 0.0) for after_s in (0.0, 7.0))
    assert counted.left_s() == pytest.approx(without.left_s() + 7.0)


def test_values_that_are_started_one_by_one_are_counted_one_by_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workloads, "apart_knobs", lambda _name: ("library",))
    store = Store(tmp_path)
    run = store.create("q", machine(), [request(3, library="a,b", n="16,32")])
    with progress_of(run.remaining(), rounds.rounds_of(run)) as observe:
        execute_run(
            store, run, run_all(run.launches), functools.partial(planned, records=run.records), observe, Kernel()
        )
    first, *lines = capsys.readouterr().err.splitlines()
    assert first.startswith("6 launches in 3 rounds")
    assert [line.partition("]")[0] for line in lines] == [f"[round {1 + n // 2}/3, {n + 1}/6" for n in range(6)]


def test_lines_say_what_is_planned_and_count_rounds(run: StoredRun, capsys: pytest.CaptureFixture[str]) -> None:
    with progress_of(run.remaining(), rounds.rounds_of(run)) as observe:
        plan = functools.partial(planned, records=run.records)
        execute_run(Store(run.folder.parent.parent), run, run_all(run.launches), plan, observe, Kernel())
    first, *lines = capsys.readouterr().err.splitlines()
    assert first.startswith("15 launches in 6 rounds, about ")
    assert lines[0].startswith("[round 1/6, 1/15] node/stream")
    assert lines[-1].startswith("[round 6/6, 15/15]")
    assert "about 0 s left" in lines[-1] or "about 1 s left" in lines[-1]
