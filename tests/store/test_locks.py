"""Runs are created exclusively, measured by one process at a time, and found again by prefixes of their ids."""

import datetime
import errno
import fcntl
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from fake_kernel import Kernel, planned, request
from fake_run import machine
from octant import store as stores
from octant.cli import application
from octant.failure import Exit, Refusal
from octant.report.tables.listing import short_ids
from octant.runs.session import SessionRun, SideSchedule, execute_runs
from octant.store import Store, StoredRun, locks, scratch
from octant.store.progress import remove_leftovers

MOMENT = datetime.datetime(2026, 11, 21, 21, 45, 30, 123_456, datetime.UTC)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def at_one_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stopped(datetime.datetime):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> "Stopped":
            return cls(*MOMENT.timetuple()[:6], MOMENT.microsecond, tz or datetime.UTC)

    monkeypatch.setattr("octant.store.datetime.datetime", Stopped)


def create(store: Store, title: str = "q") -> StoredRun:
    return store.create(title, machine(), [request(bytes="1MiB")])


def forked(body: Callable[[], object]) -> int:
    """Start a child process that runs the body and exits with 0 if it returns."""
    if pid := os.fork():
        return pid
    code = 1
    try:
        body()
        code = 0
    finally:
        os._exit(code)


def test_64_processes_create_64_runs_in_one_millisecond(store: Store, at_one_moment: None) -> None:
    start_read, start_write = os.pipe()

    def body() -> None:
        os.close(start_write)
        os.read(start_read, 1)  # returns when all processes have been started
        create(store, f"of {os.getpid()}")

    pids = [forked(body) for _ in range(64)]
    os.close(start_read)
    os.close(start_write)
    codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
    assert codes == [0] * 64
    assert sorted(run.title for run in store.runs()) == sorted(f"of {pid}" for pid in pids)
    assert all(name.startswith("20261121-214530-123-") for name in store.ids())


def test_two_runs_never_share_a_folder(store: Store, at_one_moment: None, monkeypatch: pytest.MonkeyPatch) -> None:
    words = iter(["0" * 16, "0" * 16, "1" * 16])
    monkeypatch.setattr("octant.store.secrets", SimpleNamespace(token_hex=lambda size: next(words)[: 2 * size]))
    first, second = create(store, "first"), create(store, "second")
    assert first.id != second.id
    assert [store.read(run.id).title for run in (first, second)] == ["first", "second"]


def test_a_run_of_a_pair_does_not_replace_another(store: Store) -> None:
    first = create(store)
    pair = (first.id, stores.Pair("other", first.id, 4))
    with pytest.raises(Refusal, match="File exists"):
        store.create("again", machine(), [request()], pair=pair)
    assert store.read(first.id).title == "q"


def test_an_id_has_52_random_bits_behind_the_microseconds(store: Store) -> None:
    tails = [int(create(store).id.rpartition("-")[2], 16) for _ in range(64)]
    assert all(tail >> 52 < 1000 for tail in tails)
    for bit in range(52):
        assert {tail >> bit & 1 for tail in tails} == {0, 1}, f"bit {bit} is constant"


def test_the_ids_of_a_pair_sort_in_their_order(at_one_moment: None) -> None:
    first, second = stores.new_ids()
    assert first[:19] == "20261121-214530-123"
    assert second[:19] == "20261121-214530-124"


def test_ids_of_older_versions_are_found_and_sort_by_age(store: Store, at_one_moment: None) -> None:
    new = create(store, "new")
    names = ["20261121-214530-122ff", "20261121-214530-3f2a", "20261121-214530-123ab"]
    for name in names:
        run = create(store, name)
        run.folder.rename(run.folder.with_name(name))
    assert store.ids() == [names[0], new.id, names[2], names[1]]
    for name in names:
        assert store.find(name).title == name


def test_an_id_that_begins_another_is_found(store: Store) -> None:
    long, short = create(store, "long"), create(store, "short")
    short.folder.rename(short.folder.with_name(long.id[:21]))
    assert store.find(long.id[:21]).title == "short"
    assert store.find(long.id).title == "long"
    with pytest.raises(Refusal, match="2 run ids begin with it") as refusal:
        store.find(long.id[:20])
    assert long.id in str(refusal.value), "the suggestion names the runs that fit"


def test_only_words_that_are_accepted_are_suggested(store: Store) -> None:
    create(store)
    with pytest.raises(Refusal) as refusal:
        store.find("previos_")
    assert "previous" not in str(refusal.value)
    done = CliRunner().invoke(application(), ["report", "previos_", "--store", str(store.root)])
    assert isinstance(done.exception, Refusal)
    assert done.exception.code == Exit.WRONG_WORD
    assert "did you mean previous?" in str(done.exception)


def test_the_list_shows_the_shortest_prefix_that_names_one_run() -> None:
    ids = ["20261121-214530-123-aaaa", "20261121-214530-123-aabb", "20261121-214530-124-ffff", "20261121-214530-3f2a"]
    shown = short_ids(ids)
    assert shown[ids[0]] == "20261121-214530-123-aaa"
    assert shown[ids[1]] == "20261121-214530-123-aab"
    assert shown[ids[2]] == "20261121-214530-124"
    assert shown[ids[3]] == "20261121-214530-3f2"
    assert short_ids([]) == {}
    assert short_ids(["short"]) == {"short": "short"}
    begins = "20261121-214530-123", "20261121-214530-123-aa"
    assert short_ids(begins) == {begins[0]: begins[0], begins[1]: begins[1][:20]}


def test_what_the_list_shows_is_accepted(store: Store, at_one_moment: None) -> None:
    runs = [create(store, f"run {number}") for number in range(3)]
    bad = create(store, "bad")
    (bad.folder / "asked.json").write_text("{")
    done = CliRunner().invoke(application(), ["runs", "--store", str(store.root)])
    rows = [line.split() for line in done.stdout.splitlines()[1:]]
    assert len(rows) == len(runs)
    for row in rows:
        assert store.find(row[0]).title == " ".join(row[-2:])


def test_the_lock_works_where_only_descriptors_opened_for_writing_can_be_locked(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = fcntl.flock

    def as_nfs(descriptor: int, operation: int) -> None:
        if operation & fcntl.LOCK_EX and fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            raise OSError(errno.EBADF, "Bad file descriptor")
        real(descriptor, operation)

    monkeypatch.setattr("fcntl.flock", as_nfs)
    run, said = create(store), list[str]()
    with (
        locks.lock(run.folder, said.append),
        pytest.raises(Refusal, match="another octant process is measuring it"),
        locks.lock(run.folder, said.append),
    ):
        pass
    assert said == []


def test_a_file_system_without_locks_is_reported_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_descriptor: int, _operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    runs, said = [create(store), create(store)], list[str]()

    def decide() -> SideSchedule:
        for number, run in enumerate(runs):
            yield number, run.launches[0]

    def side(run: StoredRun) -> SessionRun:
        return SessionRun(run, lambda launch: planned(launch, run.records))

    execute_runs([side(run) for run in runs], decide(), start=Kernel(), report=said.append)
    assert len(said) == 1
    assert f"cannot lock runs in {store.root} (No locks available)" in said[0]
    assert all(store.read(run.id).complete for run in runs), "the runs are measured nevertheless"


def test_the_command_prints_the_warning_about_locks(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    run = create(store)
    monkeypatch.setattr("octant.runs.session.execute", Kernel())
    monkeypatch.setattr("octant.store.locks._held", lambda _path: (_ for _ in ()).throw(OSError(errno.ENOLCK, "none")))
    done = CliRunner().invoke(application(), ["resume", run.id, "--store", str(store.root)])
    assert done.stderr.count("octant: cannot lock runs in") == 1


def test_a_lock_file_that_was_removed_meanwhile_is_no_lock(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    run, real = create(store), fcntl.flock
    path = store.root / "locks" / run.id
    removals = [path]

    def after_its_removal(descriptor: int, operation: int) -> None:
        if removals:
            removals.pop().unlink()
        real(descriptor, operation)

    monkeypatch.setattr("fcntl.flock", after_its_removal)
    with (
        locks.lock(run.folder, lambda _: None),
        pytest.raises(Refusal, match="another octant"),
        locks.lock(run.folder, lambda _: None),
    ):
        pass
    assert not path.exists()


def leave(run: StoredRun) -> Path:
    """Create the files that a killed measuring process leaves with the records."""
    left = run.folder / "records.jsonl.progress"
    left.touch()
    return left


def killed_while_measuring(run: StoredRun) -> Path:
    def body() -> None:
        with locks.lock(run.folder, lambda _: None):
            leave(run)
            time.sleep(60)

    pid = forked(body)
    left = run.folder / "records.jsonl.progress"
    while not left.exists():
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return left


def test_the_next_process_cleans_up_after_one_that_was_killed(store: Store) -> None:
    left = killed_while_measuring(create(store))
    assert left.exists()
    locks.sweep(create(store).folder)
    assert not left.exists()
    assert not list((store.root / "locks").iterdir())


def test_runs_that_ended_are_not_visited_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    runs, visited = [create(store) for _ in range(20)], list[Path]()

    def remove(records: Path) -> None:
        visited.append(records)
        remove_leftovers(records)

    monkeypatch.setattr("octant.store.progress.remove_leftovers", remove)
    for run in runs[:10]:
        with locks.lock(run.folder, lambda _: None):
            pass
    locks.sweep(runs[0].folder)
    assert visited == []
    killed_while_measuring(runs[3])
    with locks.lock(runs[4].folder, lambda _: None):
        locks.sweep(runs[0].folder)
    assert visited == [runs[3].records]


def test_what_an_older_version_left_is_removed_the_first_time(store: Store) -> None:
    old, new = create(store), create(store)
    left = leave(old)
    locks.sweep(new.folder)
    assert not left.exists()


@pytest.mark.parametrize("name", ["..", "elsewhere"])
def test_a_lock_file_leads_to_no_folder_but_that_of_a_run(store: Store, tmp_path: Path, name: str) -> None:
    run = create(store)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "records.jsonl.progress").touch()
    (store.root / "runs" / "elsewhere").symlink_to(outside)
    (store.root / "locks").mkdir()
    if name == "elsewhere":
        (store.root / "locks" / name).touch()
    locks.sweep(run.folder)
    assert (outside / "records.jsonl.progress").exists()


@pytest.mark.parametrize("inside", ["store", "."])
def test_the_folder_of_a_killed_process_is_removed_at_the_next_start_and_that_of_a_live_one_is_kept(
    store: Store, tmp_path: Path, inside: str
) -> None:
    run = create(store)
    ready_read, ready_write = os.pipe()

    def hold() -> None:
        with scratch.short_lived(tmp_path / inside) as folder:
            (folder / "seen.json").touch()
            os.write(ready_write, b"x")
            time.sleep(60)

    holder = forked(hold)
    os.read(ready_read, 1)
    try:
        (folder,) = (tmp_path / inside).glob(".octant-probe-*")
        locks.sweep(run.folder)
        assert folder.is_dir()
    finally:
        os.kill(holder, signal.SIGKILL)
        os.waitpid(holder, 0)
    locks.sweep(run.folder)
    assert not folder.exists()


def test_folders_that_are_links_or_have_no_lock_are_kept(store: Store, tmp_path: Path) -> None:
    run = create(store)
    other = tmp_path / "other"
    other.mkdir()
    (other / "lock").touch()
    (store.root / ".octant-probe-link").symlink_to(other)
    (store.root / ".octant-probe-bare").mkdir()
    locks.sweep(run.folder)
    assert (other / "lock").exists()
    assert (store.root / ".octant-probe-bare").is_dir()
