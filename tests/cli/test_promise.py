"""How long a run will take is said before it begins, with what that rests on, and compared with what it took."""

from pathlib import Path

import pytest
import typer

from fake_kernel import request
from fake_run import machine
from octant.cli import _stored
from octant.cli._measure import finish
from octant.cli._progress import RemainingTime, progress_of
from octant.failure import Exit
from octant.runs import rounds
from octant.runs.durations import Durations, PointCost
from octant.store import Store, StoredRun

SLOW = Durations({"node/stream": [PointCost({}, (1, 1), 2**20, 1.0, 0.2, 0.2, 19.71)]}, 1.0, 2)  # 20 s for each launch


@pytest.fixture
def run(tmp_path: Path) -> StoredRun:
    requests = (request(6, bytes="1MiB"),)
    return Store(tmp_path).create("q", machine(), requests, rounds.drawn_order([6], 3), seed=3)


def test_a_long_run_says_what_its_promise_rests_on(run: StoredRun, capsys: pytest.CaptureFixture[str]) -> None:
    with progress_of(run.remaining(), {}, 60.0, SLOW):
        pass
    assert capsys.readouterr().err == "6 launches, about 3.0 min (estimated from 2 earlier runs)\n"
    with progress_of(run.remaining(), {}, 60.0):
        pass
    assert capsys.readouterr().err == "6 launches, about 62 s (rough estimate without earlier runs)\n"
    assert RemainingTime(run.remaining(), {}).announcement() == "6 launches, about 2 s"


def test_what_it_took_is_compared_with_the_promise(
    run: StoredRun, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that was never started fails in the end; the sentence comes before that."""
    monkeypatch.setattr(_stored, "measure", lambda _where, one, *_: one)
    shown: list[StoredRun] = []
    with pytest.raises(typer.Exit) as ended:
        finish(Store(run.folder.parent.parent), run, None, shown.append, 60.0, SLOW)
    assert (shown, ended.value.exit_code) == ([run], Exit.CANNOT_RUN)
    said = capsys.readouterr().err
    assert "octant: the run took 0 s (estimate: 3.0 min)\n" in said
    assert (
        "octant: nothing could be measured (the launches produced no records); "
        "correct the cause, then run octant resume" in said
    )
