"""The store only grows; what was interrupted is finished, never done twice."""

import dataclasses
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from fake_run import machine
from octant.failure import Refusal
from octant.launch import Launch
from octant.launch.execute import Outcome
from octant.record import Failure, failure_line
from octant.runs.carry_out import Step, carry_out
from octant.store import Store

LAUNCHES = (Launch("node/stream", {"bytes": "1MiB,2MiB"}), Launch("node/stream", {"bytes": "4MiB", "kernel": "copy"}))


def record(words: Sequence[str], knobs: Mapping[str, str]) -> str:
    """The line that a kernel started with `words` would write for one point."""
    look = {"frequency_hz": 3e9, "time_s": 0.003}
    return json.dumps(
        {
            "schema": 1, "kind": "point", "workload": "stream", "run": words[words.index("--run") + 1],
            "knobs": dict(knobs), "ranks": 1, "threads": 1, "sampling": "steps", "batch": 1, "warmup": 0,
            "stopped_by": "interval", "work": {"bytes_read": 10, "bytes_written": 5},
            "verdict": {"check": "plain loop", "error": 0.0, "tolerance": 0.0, "passed": True},
            "clock": {"cost_ns": 20.0, "resolution_ns": 1.0},
            "sync": {"method": "none", "exit_skew_ns": []}, "share_cores": False,
            "noise": {"before": look, "during": look, "after": look}, "notes": {},
            "given": [{"host": "fake", "cpus": [0], "thread_masks": [[0]], "buffers": []}], "mpi": "fake", "build": {},
            "samples": {"duration_ns": [100] * 40, "slowest_rank": [0] * 40, "preempted": []},
        }
    )  # fmt: skip


class Kernel:
    """Answers like a kernel; `fails` says how the n-th start ends instead."""

    def __init__(self, fails: Mapping[int, Outcome] | None = None) -> None:
        self.starts: list[list[str]] = []
        self.fails = fails or {}

    def __call__(self, words: Sequence[str], _env: object, _timeout: float, _tick: object) -> Outcome:
        self.starts.append(list(words))
        failed = self.fails.get(len(self.starts) - 1)
        if failed:
            return failed
        knobs = dict(word.split("=", 1) for word in words if "=" in word)
        with Path(words[words.index("--output") + 1]).open("a") as file:
            for point in Launch("node/stream", knobs).points():
                file.write(record(words, {**point, "pin": "each"}) + "\n")
        return Outcome(0, False, 0.1, "")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    program = tmp_path / "octant-node-stream"
    program.write_text("never started")
    program.chmod(0o755)
    monkeypatch.setenv("OCTANT_KERNELS", str(tmp_path))
    return Store(tmp_path / "store")


def quiet(_step: Step, _elapsed_s: float) -> None:
    """Nobody looks."""


def test_a_run_is_read_back_as_it_was_asked(store: Store) -> None:
    run = store.create("a question", machine(packages=2), LAUNCHES)
    assert run == store.read(run.id)
    assert (run.title, run.launches, run.points) == ("a question", LAUNCHES, ())
    assert run.machine == machine(packages=2)
    assert not run.complete


def test_every_launch_is_started_once_and_nothing_is_left(store: Store) -> None:
    kernel = Kernel()
    steps: list[Step] = []
    run = carry_out(store, store.create("q", machine(), LAUNCHES), quiet, start=kernel)
    assert [point.knobs["bytes"] for point in run.points] == ["1MiB", "2MiB", "4MiB"]
    assert run.complete
    carry_out(store, run, lambda step, _s: steps.append(step), start=kernel)
    assert len(kernel.starts) == 2, "what is done is not done again"
    assert not steps


def test_a_failed_launch_is_recorded_the_rest_goes_on_and_resume_asks_again(store: Store) -> None:
    said = "noise\noctant-stream: rank 1: cannot go on (test); try again\n"
    kernel = Kernel({0: Outcome(1, False, 0.1, said)})
    run = carry_out(store, store.create("q", machine(), LAUNCHES), quiet, start=kernel)
    assert [point.knobs["bytes"] for point in run.points] == ["4MiB"]
    assert "cannot go on (test); try again (exit status 1)" in run.failures[0].reason
    assert [launch.key for launch in run.left()] == [LAUNCHES[0].key]
    assert carry_out(store, run, quiet, start=kernel).complete


def test_a_hung_launch_and_a_killed_one_say_so(store: Store) -> None:
    kernel = Kernel({0: Outcome(-9, False, 0.1, ""), 1: Outcome(-15, True, 7.0, "")})
    run = carry_out(store, store.create("q", machine(), LAUNCHES), quiet, start=kernel)
    assert [failure.reason for failure in run.failures] == ["ended by SIGKILL", "no end after 7 s; it was stopped"]


def test_the_missing_points_alone_are_asked_again(store: Store) -> None:
    kernel = Kernel()
    run = carry_out(store, store.create("q", machine(), LAUNCHES[:1]), quiet, start=kernel)
    whole = run.records.read_text().splitlines()
    run.records.write_text(whole[0] + "\n" + whole[1][:50])
    torn = store.read(run.id)
    assert (torn.torn_lines, len(torn.points)) == (1, 1)
    mended = carry_out(store, torn, quiet, start=kernel)
    assert "bytes=2MiB" in kernel.starts[-1]
    assert [point.knobs["bytes"] for point in mended.points] == ["1MiB", "2MiB"]
    assert mended.complete


def test_ctrl_c_is_passed_on(store: Store) -> None:
    def stopped(*_: object) -> Outcome:
        raise KeyboardInterrupt

    run = store.create("q", machine(), LAUNCHES)
    with pytest.raises(KeyboardInterrupt):
        carry_out(store, run, quiet, start=stopped)
    assert store.read(run.id).failures == (), "a stop by the user is no failure"


def test_runs_are_found_by_id_start_of_id_folder_and_short_names(store: Store) -> None:
    with pytest.raises(Refusal, match="is empty"):
        store.find("last")
    first = store.create("first", machine(), LAUNCHES)
    with pytest.raises(Refusal, match="has only one"):
        store.find("previous")
    second = store.create("second", machine(), LAUNCHES)
    if first.id[:19] != second.id[:19]:  # two runs of the same millisecond sort by their random tails
        assert store.find("last").title == "second"
        assert store.find("previous").title == "first"
    assert store.find(first.id) == first
    assert store.find(str(first.folder)).title == "first"
    with pytest.raises(Refusal, match="2 runs start so"):
        store.find("20")
    with pytest.raises(Refusal, match="no such run"):
        store.find("1999")


def test_the_last_run_is_the_last_in_any_time_zone(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for zone in ("UTC-14", "UTC+11"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        started = store.create(zone, machine(), LAUNCHES).started
        assert started.endswith({"UTC-14": "+14:00", "UTC+11": "-11:00"}[zone])
    monkeypatch.undo()
    time.tzset()
    assert store.find("last").title == "UTC+11"


def test_a_foreign_schema_is_refused_by_number(store: Store) -> None:
    run = store.create("q", machine(), LAUNCHES)
    path = run.folder / "asked.json"
    path.write_text(path.read_text().replace('"schema": 1', '"schema": 99', 1))
    with pytest.raises(Refusal, match="schema 99"):
        store.read(run.id)


def test_a_run_of_the_time_without_families_reads_under_todays_names(store: Store) -> None:
    run = store.create("q", machine(), LAUNCHES)
    old = [dataclasses.replace(launch, workload="stream") for launch in LAUNCHES]
    asked = json.loads((run.folder / "asked.json").read_text())
    asked["launches"] = [dataclasses.asdict(launch) for launch in old]
    (run.folder / "asked.json").write_text(json.dumps(asked))
    lines = [record(["--run", launch.key], knobs) for launch in old for knobs in launch.points()]
    failure = Failure("stream", old[0].key, old[0].knobs, 1, "no", 3)
    run.records.write_text("\n".join([*lines, failure_line(failure), ""]))
    found = store.read(run.id)
    assert found.launches == LAUNCHES
    assert found.complete
    assert {(point.workload, point.launch) for point in found.points} == {("node/stream", x.key) for x in LAUNCHES}
    assert [(f.workload, f.launch) for f in found.failures] == [("node/stream", LAUNCHES[0].key)]


def test_stores_merge_by_copying(store: Store, tmp_path: Path) -> None:
    other = Store(tmp_path / "other")
    copied = other.create("theirs", machine(), LAUNCHES)
    mine = store.create("mine", machine(), LAUNCHES)
    copied.folder.rename(mine.folder.parent / copied.id)
    assert sorted(run.title for run in store.runs()) == ["mine", "theirs"]


def test_a_list_of_runs_says_the_same_without_reading_the_samples(store: Store) -> None:
    kernel = Kernel({1: Outcome(1, False, 0.1, "no")})
    whole = carry_out(store, store.create("q", machine(), LAUNCHES), quiet, start=kernel)
    with whole.records.open("a") as file:
        file.write(record(["--run", LAUNCHES[1].key], {"bytes": "4MiB", "library": "/a\u2028b/[1,2]"})[:-400] + "\n")
    whole = store.read(whole.id)
    (found,), unread = store.listed()
    assert unread == []
    assert [lane.duration_ns for point in found.points for lane in point.lanes] == [(), ()]
    for name in ("id", "title", "started", "machine", "launches", "failures", "torn_lines", "complete"):
        assert getattr(found, name) == getattr(whole, name), name
    assert found.left() == whole.left()


def test_names_may_hold_what_ends_a_line_in_unicode(store: Store) -> None:
    run = store.create("q", machine(), LAUNCHES[1:])
    text = json.dumps(json.loads(record(["--run", LAUNCHES[1].key], {"library": "/a\u2028b\x85c"})), ensure_ascii=False)
    run.records.write_text(text + "\n", encoding="utf-8")
    read = store.read(run.id)
    assert (len(read.points), read.torn_lines) == (1, 0)


def test_a_run_that_cannot_be_read_does_not_hide_the_others(store: Store) -> None:
    bad, good = (store.create(title, machine(), LAUNCHES) for title in ("bad", "good"))
    (bad.folder / "asked.json").write_text('{"schema": 1, "ti')
    found, unread = store.listed()
    assert [run.title for run in found] == ["good"]
    assert len(unread) == 1
    assert bad.id in unread[0]
    assert good.id not in unread[0]


def test_a_run_that_is_being_made_is_not_seen_and_a_full_disk_leaves_none(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_handle: int) -> None:
        assert store.ids() == [], "half a description is none"
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(Refusal, match="No space left on device"):
        store.create("q", machine(), LAUNCHES)
    assert store.ids() == []


def test_one_run_is_measured_by_one_process_at_a_time(store: Store) -> None:
    run = store.create("q", machine(), LAUNCHES)

    def meanwhile(*_: object) -> Outcome:
        with pytest.raises(Refusal, match="another octant is measuring it"):
            carry_out(store, run, quiet, start=Kernel())
        return Outcome(1, False, 0.1, "")

    carry_out(store, run, quiet, start=meanwhile)
    kernel = Kernel()
    assert carry_out(store, run, quiet, start=kernel).complete
    carry_out(store, run, quiet, start=kernel)
    assert len(kernel.starts) == 2, "what another process did meanwhile is not done again"
