"""Files that launches leave: stored once and durably, read only if unchanged, and never through a link."""

import os
import shutil
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octant.launch.program import MatchedFile
from octant.record import Failure, KeptFile, RecordError
from octant.record.writer import failure_line
from octant.store import kept
from octant.store.kept import offered_folder, read_kept, remove_unnamed, store_files, store_outputs


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "store/runs/1"
    folder.mkdir(parents=True)
    return folder


def left(run: Path, **contents: bytes) -> tuple[KeptFile, ...]:
    """Store files of these names and contents as those of a program."""
    with offered_folder(run / "records.jsonl") as folder:
        for name, content in contents.items():
            (folder / name).write_bytes(content)
        return store_files(run, "prog-0123-0", folder)


def test_files_are_read_as_they_were_left_also_from_a_copy_of_the_run(run: Path, tmp_path: Path) -> None:
    first, second = left(run, log=b"", field=bytes(range(256)))
    assert (first.name, first.bytes, first.crc, first.left_out) == ("field", 256, "29058c73", "")
    assert second.name == "log"
    shutil.copytree(run, tmp_path / "copy")
    for folder in (run, tmp_path / "copy"):
        assert read_kept(folder, first) == bytes(range(256))
        assert read_kept(folder, second) == b""


def test_only_the_user_may_read_them_and_the_offered_folder_is_gone(run: Path) -> None:
    before = os.umask(0)
    try:
        (file,) = left(run, log=b"text")
    finally:
        os.umask(before)
    path = run / "files" / file.stored
    modes = [stat.S_IMODE(one.stat().st_mode) for one in (path, path.parent, path.parent.parent)]
    assert modes == [0o600, 0o700, 0o700]
    assert [one.name for one in run.iterdir()] == ["files"]


def test_two_attempts_of_a_launch_are_not_mixed(run: Path) -> None:
    (first,), (second,) = left(run, log=b"first"), left(run, log=b"second")
    assert first.stored != second.stored
    assert first.stored.startswith("prog-0123-0.")
    assert [read_kept(run, one) for one in (first, second)] == [b"first", b"second"]


def test_what_is_no_plain_file_with_a_plain_name_is_left_out(run: Path) -> None:
    with offered_folder(run / "records.jsonl") as folder:
        (folder / "linked").symlink_to("/etc/passwd")
        (folder / "deeper").mkdir()
        os.mkfifo(folder / "pipe")
        (folder / "two words").write_bytes(b"x")
        (folder / ".hidden").write_bytes(b"x")
        (folder / ("n" * 65)).write_bytes(b"x")
        found = store_files(run, "../prog", folder)
    assert all(not one.stored and not one.crc for one in found)
    reasons = {one.name: one.left_out for one in found}
    name = "invalid name; use at most 64 letters, digits and . _ -, beginning with a letter or digit"
    assert reasons == {
        "linked": "Too many levels of symbolic links", "deeper": "not a regular file", "pipe": "not a regular file",
        "two_words": name, "Lhidden": name, "n" * 64: name,
    }  # fmt: skip
    assert not (run / "files").exists()


def test_files_beyond_the_limits_are_left_out(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for limit, value in (("MAX_FILE_BYTES", 10), ("MAX_LAUNCH_BYTES", 15), ("MAX_FILES", 4)):
        monkeypatch.setattr(kept, limit, value)
    found = left(run, a=b"0123456789+", b=b"0123456789", c=b"012345", d=b"01234", e=b"", f=b"")
    assert [(one.name, one.bytes, bool(one.stored)) for one in found] == [
        ("a", 11, False), ("b", 10, True), ("c", 6, False), ("d", 5, True), ("further-files", 0, False),
    ]  # fmt: skip
    assert [one.left_out for one in found if one.left_out] == [
        "larger than 0 MiB", "more than 0 MiB of all files of a launch", "2 files beyond 4 of a launch",
    ]  # fmt: skip


def test_what_a_program_printed_comes_first_and_empty_streams_are_not_stored(run: Path, tmp_path: Path) -> None:
    for name in ("out", "err", "a.log", "b.log"):
        (tmp_path / name).write_text("" if name == "err" else name)
    (offered := tmp_path / "offered").mkdir()
    (offered / "log").write_text("log")
    (offered / "out_a.log").write_text("offered")
    found = (
        MatchedFile("out/a.log", tmp_path / "a.log"),
        MatchedFile("out_a.log", tmp_path / "b.log"),
        MatchedFile("*.dat", tmp_path / "none", "there is no such file after the launch"),
    )
    stored = store_outputs(run, "p-0", {"stdout": tmp_path / "out", "stderr": tmp_path / "err"}, found, offered)
    assert [(one.name, one.left_out) for one in stored] == [
        ("stdout", ""),
        ("out_a.log", ""),
        ("out_a.log", "another file of the launch is stored as out_a.log"),
        ("L.dat", "there is no such file after the launch"),
        ("log", ""),
        ("out_a.log", "another file of the launch is stored as out_a.log"),
    ]
    assert [read_kept(run, one) for one in stored if one.stored] == [b"out", b"a.log", b"log"]


def test_many_files_are_counted_and_only_the_first_are_stored(run: Path, tmp_path: Path) -> None:
    for number in range(kept.MAX_FILES + 5):
        (tmp_path / f"f{number:04}").touch()
    found = [MatchedFile(one.name, one) for one in sorted(tmp_path.glob("f*"))]
    stored = store_outputs(run, "p-0", {}, found)
    assert len(stored) == kept.MAX_FILES + 1
    assert stored[-1].left_out == f"5 files beyond {kept.MAX_FILES} of a launch"


def test_files_that_no_record_names_are_removed(run: Path, tmp_path: Path) -> None:
    (first,), (second,) = left(run, log=b"first"), left(run, log=b"second")
    failure = Failure("program/p", "p-0", {}, 1, "ended", 1, files=(first,))
    (run / "records.jsonl").write_text(f"{failure_line(failure)}\n")
    (run / "files" / "notes").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").touch()
    (run / "files" / f"link.{'0' * 16}").symlink_to(tmp_path / "outside")
    remove_unnamed(run)
    assert read_kept(run, first) == b"first"
    with pytest.raises(RecordError):
        read_kept(run, second)
    assert {one.name for one in (run / "files").iterdir()} == {first.stored.partition("/")[0], "notes"}
    assert (tmp_path / "outside" / "file").exists()
    (run / "records.jsonl").unlink()
    remove_unnamed(run)
    assert [one.name for one in (run / "files").iterdir()] == ["notes"]


def test_a_file_that_cannot_be_written_is_left_out(run: Path, tmp_path: Path) -> None:
    (run / "files").symlink_to(tmp_path)
    (found,) = left(run, log=b"text")
    assert (found.stored, found.left_out) == ("", "Not a directory")
    with pytest.raises(RecordError, match="log of rank 0 was not stored"):
        read_kept(run, found)


@given(st.data())
def test_a_damaged_file_is_named_and_not_returned(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    run = tmp_path_factory.mktemp("run")
    content = data.draw(st.binary(min_size=1, max_size=40))
    (file,) = left(run, field=content)
    damaged = data.draw(st.binary(max_size=41).filter(lambda one: one != content))
    (run / "files" / file.stored).write_bytes(damaged)
    why = "its checksum differs" if len(damaged) == len(content) else f"it does not have {len(content)} bytes"
    with pytest.raises(RecordError, match=rf"field of rank 0 \(files/{file.stored}\) is damaged: {why}"):
        read_kept(run, file)


@pytest.mark.parametrize("part", ["file", "attempt", "files"])
@pytest.mark.parametrize("kind", ["link", "missing", "other"])
def test_no_link_and_no_device_stands_for_a_part_of_the_path(run: Path, tmp_path: Path, part: str, kind: str) -> None:
    (file,) = left(run, field=b"content")
    path = run / "files" / file.stored
    replaced = {"file": path, "attempt": path.parent, "files": path.parent.parent}[part]
    moved = replaced.rename(tmp_path / "elsewhere")
    if kind == "link":
        replaced.symlink_to(moved)
    if kind == "other":
        os.mkfifo(replaced)
    with pytest.raises(RecordError, match=rf"field of rank 0 \(files/{file.stored}\) cannot be read"):
        read_kept(run, file)


@pytest.mark.parametrize(
    "stored", ["../asked.json", "a/../../asked.json", "/etc/passwd", "a//etc", "a/b/c", "a/b\n", "a"]
)
def test_a_path_that_leads_out_of_the_folder_is_not_opened(run: Path, stored: str) -> None:
    (run / "asked.json").write_bytes(b"secret")
    (file,) = left(run, field=b"secret")
    with pytest.raises(RecordError, match="has no path or size of a stored file"):
        read_kept(run, replace(file, stored=stored))
    with pytest.raises(RecordError, match="has no path or size of a stored file"):
        read_kept(run, replace(file, bytes=kept.MAX_FILE_BYTES + 1))
