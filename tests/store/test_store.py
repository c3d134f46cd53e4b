"""The store only grows; what cannot be read is named and hides nothing else."""

import contextlib
import dataclasses
import errno
import json
import os
import re
import sqlite3
import stat
import time
from pathlib import Path

import pytest

from fake_kernel import answer, planned, request
from fake_run import launch_line, machine, point_line
from octant.failure import Refusal
from octant.record import Failure
from octant.record.writer import failure_line
from octant.request import Launch
from octant.store import Store, StoredRun, StudyRequest, files, open_store, run_request
from octant.store.index import Listed, rows
from octant.store.lines import _skip_line
from octant.store.run_request import start_line

REQUESTS = (request(bytes="1MiB,2MiB"), request(2, bytes="4MiB", kernel="copy"))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def write(run: StoredRun, *lines: str) -> None:
    with run.records.open("a", encoding="utf-8") as file:
        file.write("".join(f"{line}\n" for line in lines))


def lines(run: StoredRun) -> list[str]:
    """Return the output of the kernels of the run's first launch."""
    launch = run.launches[0]
    points = [answer("node/stream", launch.key, cell) for cell in launch.cells()]
    return [launch_line(points[0]), *map(point_line, points)]


def test_a_run_is_read_back_as_it_was_asked(store: Store) -> None:
    study = StudyRequest("page-size", 7, "question = '?'", "mpich", {"A": "why"})
    run = store.create("a question", machine(packages=2), REQUESTS, [(1, 1), (0, 0), (1, 0)], "study page-size", study)
    assert run == store.read(run.id)
    assert run.requests == REQUESTS
    assert [(launch.request, launch.repeat) for launch in run.launches] == [
        (REQUESTS[1], 1),
        (REQUESTS[0], 0),
        (REQUESTS[1], 0),
    ]
    assert (run.title, run.who, run.seed, run.study) == ("a question", "study page-size", 7, study)
    assert run.machine == machine(packages=2)
    assert run.remaining() == run.launches
    assert run.request_of(run.launches[0].key) == REQUESTS[1]
    assert run.request_of("absent: 4 KiB pages") is None


def test_without_an_order_asks_are_launched_one_after_the_other(store: Store) -> None:
    run = store.create("q", machine(), REQUESTS)
    assert [launch.key for launch in run.launches] == [
        f"{REQUESTS[0].key}-0",
        f"{REQUESTS[1].key}-0",
        f"{REQUESTS[1].key}-1",
    ]


def test_points_are_read_without_samples_and_samples_when_asked_for(store: Store) -> None:
    run = store.create("q", machine(), REQUESTS)
    write(run, *lines(run))
    read = store.read(run.id)
    assert [point.knobs["bytes"] for point in read.points] == ["1MiB", "2MiB"]
    assert {point.process.mpi for point in read.points} == {"MPICH 5.0.1"}
    (series,) = read.points[1].read().series
    assert len(series.values) == 5
    assert [launch.key for launch in read.remaining()] == [f"{REQUESTS[1].key}-0", f"{REQUESTS[1].key}-1"]


def test_a_damaged_line_is_named_and_hides_no_other(store: Store) -> None:
    run = store.create("q", machine(), REQUESTS)
    first, second, third = lines(run)
    write(run, first, second.replace('"ranks":1', '"ranks":2'), "", third, second[:80], failure_line(failure(run)))
    read = store.read(run.id)
    assert [point.knobs["bytes"] for point in read.points] == ["2MiB"]
    assert len(read.failures) == 1
    assert read.damaged == (
        "records.jsonl, line 2: damaged: the checksum does not match",
        "records.jsonl, line 5: incomplete line or no record: it does not end with a checksum",
    )
    assert not read.torn


def failure(run: StoredRun) -> Failure:
    return Failure("node/stream", run.launches[1].key, {}, 1, "no pages", 3)


def test_a_torn_last_line_is_no_damage(store: Store) -> None:
    run = store.create("q", machine(), REQUESTS)
    write(run, *lines(run)[:2])
    with run.records.open("a") as file:
        file.write(lines(run)[2][:100])
    read = store.read(run.id)
    assert (len(read.points), read.torn, read.damaged) == (
        1,
        ("records.jsonl, line 3: incomplete: the line has no end",),
        (),
    )
    store.append(read, failure(run))
    again = store.read(run.id)
    assert (len(again.failures), again.torn, len(again.damaged)) == (1, (), 1)


def test_a_line_that_is_too_long_is_named_and_not_held(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("octant.store.lines.MAX_BYTES", 1 << 20)
    run = store.create("q", machine(), REQUESTS)
    first, second, third = lines(run)
    write(run, first, "x" * (3 << 20), second, third)
    read = store.read(run.id)
    assert (len(read.points), read.damaged) == (2, ("records.jsonl, line 2: longer than 1 MiB",))


def test_a_line_that_is_too_long_is_skipped_part_by_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("octant.store.lines.MAX_BYTES", 10)
    parts, sizes = [b"x" * 10, b"x" * 10, b"x\n"], list[int]()

    def more(size: int) -> bytes:
        sizes.append(size)
        return parts.pop(0) if parts else b""

    assert _skip_line(more)
    assert sizes == [10] * 3
    assert not _skip_line(more), "it has no end"


def test_plans_ask_for_no_more_cells_together_than_a_run_may(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a run whose launches are decided one by one, so that each line has a request of its own."""
    monkeypatch.setattr("octant.store.run_request.MAX_CELLS", 100)
    run = store.create("q", machine(), [], [])
    launches = [Launch(request(x=",".join(map(str, range(40))), y=str(number))) for number in range(3)]
    text = "".join(f"{start_line(planned(launch, run.records), was_asked=False)}\n" for launch in launches)
    run.plan.write_text(text)
    read = store.read(run.id)
    assert [launch.key for launch in read.launches] == [launch.key for launch in launches[:2]]
    assert read.damaged == ("plan.jsonl, line 3: it requests more than 100 configurations",)
    few = Launch(request(x="1", y="another"))
    run.plan.write_text(f"{start_line(planned(few, run.records), was_asked=False)}\n" * 120)
    assert store.read(run.id).damaged[0].startswith("plan.jsonl, line 101: ")


def test_a_repeated_line_is_reported_and_is_no_further_launch(store: Store) -> None:
    run = store.create("q", machine(), REQUESTS)
    first, second, third = lines(run)
    write(run, first, second, third, second, first, failure_line(failure(run)), failure_line(failure(run)))
    read = store.read(run.id)
    assert (len(read.points), read.damaged) == (2, ("records.jsonl, line 4: repeats line 2",))
    assert len(read.failures) == 2, "the same may fail twice"


def test_empty_lines_are_counted_by_the_block(store: Store) -> None:
    run = store.create("q", machine(), REQUESTS)
    first, second, third = lines(run)
    with run.records.open("a") as file:
        file.write(f"{first}\n\n{second}\n" + "\n" * 20_000_000 + f"nonsense\n\n\n{third}\n")
    begin = time.process_time()
    read = store.read(run.id)
    assert time.process_time() - begin < 5, "one by one they take far longer"
    assert len(read.points) == 2
    assert [text.partition(": ")[0] for text in read.damaged] == ["records.jsonl, line 20000004"]


def test_a_file_of_damaged_lines_is_given_up(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("octant.store.lines.MAX_DAMAGED", 100)
    run = store.create("q", machine(), REQUESTS)
    write(run, *lines(run), *["nonsense"] * 1000)
    read = store.read(run.id)
    assert len(read.points) == 2
    assert len(read.damaged) == 101
    assert read.damaged[-1] == "records.jsonl, line 104: more than 100 lines are damaged; further lines are not read"


def test_names_may_hold_what_ends_a_line_in_unicode(store: Store) -> None:
    run = store.create("q", machine(), REQUESTS)
    write(run, point_line(answer("node/stream", run.launches[0].key, {"library": "/a\u2028b\x85c"})))
    read = store.read(run.id)
    assert [point.knobs["library"] for point in read.points] == ["/a\u2028b\x85c"]


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('"format": 2', '"format": 99', "99"),
        ('"ranks": 1', '"ranks": -1', "asks"),
        ('"workload": "node/stream"', '"workload": "../../bin/sh"', "regex"),
        ('"hosts": []', '"hosts": ["-oProxyCommand=x"]', "regex"),
        ('"order": [[0,0]', '"order": [[7,0]', "launch 0 of request 7"),
        ('"title": "q"', '"title": 7', "title"),
        ('"cpus": [', '"cpus": ["a",', "cpus"),
        ('"level": 1', '"level": "1"', "level"),
        ('"name": "fake"', '"name": null', "name"),
        ('"schema": 1', '"schema": 9', "schema 9"),
        ('"started": "2', '"started": "0', "offset|isoformat"),
        ('"bytes": "1MiB,2MiB"', '"bytes": 1048576', "bytes|knobs"),
    ],
)
def test_what_is_no_description_of_a_run_is_refused_with_its_file(store: Store, old: str, new: str, why: str) -> None:
    run = store.create("q", machine(), REQUESTS)
    path = run.folder / "asked.json"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(Refusal, match=why) as refused:
        store.read(run.id)
    assert str(path) in str(refused.value)


def test_a_description_of_any_size_is_not_read(store: Store) -> None:
    run = store.create("q", machine(), REQUESTS)
    with (run.folder / "asked.json").open("ab") as file:
        file.truncate(run_request.MAX_BYTES + 1)
    with pytest.raises(Refusal, match="more than 64 MiB"):
        store.read(run.id)


def test_only_the_user_may_look_and_no_link_is_followed(store: Store, tmp_path: Path) -> None:
    os.umask(before := os.umask(0))
    try:
        os.umask(0)
        run = store.create("q", machine(), REQUESTS)
        store.append(run, failure(run))
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (run.folder, *run.folder.iterdir())}
    assert modes == {run.id: 0o700, "asked.json": 0o600, "records.jsonl": 0o600}
    run.records.unlink()
    run.records.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Refusal, match="cannot write to"):
        store.append(run, failure(run))
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (errno.ENOSPC, "(No space left on device); free some space and resume"),
        (errno.EFBIG, "(File too large); raise the limit on the size of files (ulimit -f) and resume"),
        (errno.ENOENT, "(No such file or directory); leave the file and its folder in place and resume"),
        (errno.EROFS, "(Read-only file system); allow this user to write there and resume"),
        (errno.EIO, "(Input/output error); check the file system and resume"),
    ],
)
def test_the_remedy_is_one_for_the_reason(
    store: Store, monkeypatch: pytest.MonkeyPatch, number: int, said: str
) -> None:
    run = store.create("q", machine(), REQUESTS)

    def refused(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(files, "append_line", refused)
    with pytest.raises(Refusal, match=re.escape(said)):
        store.append(run, failure(run))


def test_a_store_that_cannot_be_read_is_not_called_empty(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Refusal, match=r"cannot read the store .*file \(Not a directory\)"):
        Store(tmp_path / "file").list_runs()
    assert Store(tmp_path / "none").list_runs() == []


def test_a_program_in_the_place_of_a_run_gets_the_command_for_programs(tmp_path: Path) -> None:
    (tmp_path / "a.out").write_text("")
    with pytest.raises(Refusal, match=r"it is a file.*octant run -- .*a\.out.*octant compare -- "):
        Store(tmp_path / "store").find(str(tmp_path / "a.out"))


def test_runs_are_found_by_id_start_of_id_folder_and_short_names(store: Store) -> None:
    with pytest.raises(Refusal, match="does not exist"):
        store.find("last")
    first = store.create("first", machine(), REQUESTS)
    second = store.create("second", machine(), REQUESTS)
    if first.id[:19] != second.id[:19]:  # two runs of the same millisecond sort by their random tails
        assert store.find("last").title == "second"
    assert store.find(first.id) == first
    assert store.find(str(first.folder)).title == "first"
    with pytest.raises(Refusal, match="2 run ids begin with it"):
        store.find("20")
    with pytest.raises(Refusal, match="no such run"):
        store.find("1999")


def test_the_last_run_is_the_last_in_any_time_zone(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for zone in ("UTC-14", "UTC+11"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        started = store.create(zone, machine(), REQUESTS).started
        assert started.endswith({"UTC-14": "+14:00", "UTC+11": "-11:00"}[zone])
    monkeypatch.undo()
    time.tzset()
    assert store.find("last").title == "UTC+11"


def test_stores_merge_by_copying(store: Store, tmp_path: Path) -> None:
    copied = Store(tmp_path / "other").create("theirs", machine(), REQUESTS)
    mine = store.create("mine", machine(), REQUESTS)
    copied.folder.rename(mine.folder.parent / copied.id)
    assert sorted(run.title for run in store.runs()) == ["mine", "theirs"]


def test_a_run_that_is_being_made_is_not_seen_and_a_full_disk_leaves_none(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_handle: int) -> None:
        assert store.ids() == [], "half a description is none"
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(Refusal, match="No space left on device"):
        store.create("q", machine(), REQUESTS)
    assert store.ids() == []


def test_a_list_says_the_same_as_the_runs(store: Store) -> None:
    run = store.create("q", machine(name="n1"), REQUESTS)
    write(run, *lines(run), "nonsense", failure_line(failure(run)))
    (row,) = store.list_runs()
    read = store.read(run.id)
    assert (row.id, row.title, row.who, row.machine, row.study) == (run.id, "q", "run", "n1", "")
    assert (row.points, row.failures, row.left) == (2, 1, len(read.remaining()))
    assert row.problems == read.damaged
    assert row == store.list_runs()[0], "from the index"


def test_the_index_follows_the_files_and_is_never_needed(store: Store) -> None:
    run = store.create("q", machine(), REQUESTS)
    assert [row.points for row in store.list_runs()] == [0]
    write(run, *lines(run))
    assert [row.points for row in store.list_runs()] == [2]
    index = store.root / "index.sqlite"
    assert stat.S_IMODE(index.stat().st_mode) == 0o600
    for broken in (b"no database", index.read_bytes()[:200] + b"\xff" * 5000):
        index.write_bytes(broken)
        assert [row.points for row in store.list_runs()] == [2]
    index.unlink()
    index.mkdir()  # there can be none
    assert [row.points for row in store.list_runs()] == [2]
    run.folder.rename(store.root / "elsewhere")
    assert store.list_runs() == []


def test_a_list_reads_the_runs_that_have_changed_and_no_others(store: Store) -> None:
    runs = [store.create("q", machine(), REQUESTS) for _ in range(3)]
    read = list[str]()

    def listed() -> list[str]:
        read.clear()
        named = [run.id for run in runs if run.folder.exists()]

        def row_of(name: str) -> Listed:
            read.append(name)
            return store._row_of(name)

        rows(store.root, named, row_of)
        return read

    assert listed() == [run.id for run in runs], "nothing is listed yet"
    assert listed() == []
    write(runs[1], *lines(runs[1]))
    assert listed() == [runs[1].id]
    runs[0].folder.rename(store.root / "elsewhere")
    assert listed() == []
    with contextlib.closing(sqlite3.connect(store.root / "index.sqlite")) as index:
        assert sorted(name for (name,) in index.execute("SELECT id FROM runs")) == [run.id for run in runs[1:]]


def test_an_index_of_another_version_is_made_anew_and_one_of_this_version_is_kept(store: Store) -> None:
    run = store.create("q", machine(), REQUESTS)

    def listed_title(version: int | None) -> str:
        """Return the list after another title was put into an index of that version."""
        store.list_runs()
        with contextlib.closing(sqlite3.connect(store.root / "index.sqlite", isolation_level=None)) as index:
            (row,) = index.execute("SELECT row FROM runs").fetchone()
            index.execute("UPDATE runs SET row = ?", (row.replace(b'"title":"q"', b'"title":"r"'),))
            if version is not None:
                index.execute(f"PRAGMA user_version = {version}")
        (listed,) = store.list_runs()
        assert listed.id == run.id
        return listed.title

    assert listed_title(None) == "r"
    assert listed_title(1) == "q"
    assert listed_title(None) == "r"


def test_an_index_of_another_place_is_not_believed(store: Store, tmp_path: Path) -> None:
    store.create("q", machine(), REQUESTS)
    (before,) = store.list_runs()
    (moved,) = Store(store.root.rename(tmp_path / "moved")).list_runs()
    assert moved == dataclasses.replace(before, folder=str(tmp_path / "moved" / "runs" / before.id))


def test_a_run_that_cannot_be_read_hides_no_other(store: Store) -> None:
    bad, good = (store.create(title, machine(), REQUESTS) for title in ("bad", "good"))
    (bad.folder / "asked.json").write_text('{"format": 2, "ti')
    rows = {row.id: row for row in store.list_runs()}
    assert rows[good.id].title == "good"
    assert not rows[good.id].refused
    assert str(bad.folder / "asked.json") in rows[bad.id].refused


def test_the_environment_is_noted_by_what_may_matter(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_PROC_BIND", "close")
    monkeypatch.setenv("SECRET_TOKEN", "x")
    run = store.create("q", machine(), REQUESTS)
    noted = json.loads((run.folder / "asked.json").read_text())["environment"]
    assert noted["OMP_PROC_BIND"] == "close"
    assert "SECRET_TOKEN" not in noted


@pytest.mark.parametrize("name", ["last", "20260101"])
def test_a_store_that_does_not_exist_is_not_called_empty(tmp_path: Path, name: str) -> None:
    with pytest.raises(Refusal, match="nowhere does not exist"):
        Store(tmp_path / "nowhere").find(name)
    (tmp_path / "here").mkdir()
    with pytest.raises(Refusal, match="here is empty"):
        Store(tmp_path / "here").find(name)


def test_a_folder_without_runs_gets_no_index(tmp_path: Path) -> None:
    assert Store(tmp_path).list_runs() == []
    assert list(tmp_path.iterdir()) == []


def test_an_empty_variable_does_not_make_the_current_folder_a_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OCTANT_STORE", "")
    assert open_store().root == Path("octant-store")
