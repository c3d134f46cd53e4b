"""A directory is copied for a launch as it is, without what links lead to and without the store, and removed again."""

import fcntl
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from octant.failure import Refusal
from octant.launch import copies
from octant.launch.copies import copy_directory, remove_tree


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    (folder / "deep" / "deeper").mkdir(parents=True)
    (folder / "deep" / "deeper" / "data").write_bytes(bytes(range(256)) * 9000)
    (folder / "deep" / "empty").touch()
    return folder


def content(folder: Path) -> dict[str, object]:
    """Return the entries of a folder: modes, times and contents of files, and targets of links."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        data = str(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else None
        when = None if path.is_symlink() else status.st_mtime_ns
        found[str(path.relative_to(folder))] = (oct(status.st_mode), when, data)
    return found


@pytest.mark.parametrize("missing", [(), ("ioctl",), ("ioctl", "copy_file_range")])
def test_a_copy_has_the_same_files_modes_times_and_links(
    source: Path, tmp_path: Path, missing: Sequence[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (source / "deep" / "empty").chmod(0o751)
    (source / "deep" / "deeper").chmod(0o555)
    os.utime(source / "deep" / "deeper" / "data", ns=(10**18, 10**18 + 1))
    os.utime(source / "deep", ns=(10**18, 10**18 + 2))
    (source / "out").symlink_to("../elsewhere/file")
    (source / "in").symlink_to("deep/empty")

    def refuse(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    for name in missing:
        monkeypatch.setattr(fcntl if name == "ioctl" else os, name, refuse)
    copy_directory(source, tmp_path / "copy")
    assert content(tmp_path / "copy") == content(source)
    (tmp_path / "copy" / "deep" / "empty").write_text("x")
    assert (source / "deep" / "empty").read_text() == ""


def test_absolute_links_into_the_directory_name_the_copy(source: Path, tmp_path: Path) -> None:
    (source / "absolute").symlink_to(source / "deep" / "empty")
    (source / "sly").symlink_to(f"{source}/../outside")
    (source / "itself").symlink_to(source)
    copy = tmp_path / "copy"
    copy_directory(source, copy)
    links = {name: str((copy / name).readlink()) for name in ("absolute", "sly", "itself")}
    assert links == {"absolute": f"{copy}/deep/empty", "sly": str(tmp_path / "outside"), "itself": str(copy)}


def test_the_store_pipes_and_sockets_are_left_out(source: Path, tmp_path: Path) -> None:
    (source / "deep" / "store" / "runs").mkdir(parents=True)
    os.mkfifo(source / "pipe")
    copy_directory(source, tmp_path / "copy", source / "deep" / "store")
    assert sorted(content(tmp_path / "copy")) == ["deep", "deep/deeper", "deep/deeper/data", "deep/empty"]


def test_a_copy_inside_the_directory_does_not_contain_itself(source: Path) -> None:
    store = source / "octant-store"
    scratch = store / "runs" / "1" / "scratch"
    scratch.mkdir(parents=True)
    copy_directory(source, scratch / "copy", store)
    assert not (scratch / "copy" / "octant-store").exists()
    assert (scratch / "copy" / "deep" / "empty").exists()


@pytest.mark.parametrize("place", ["", "runs/1"])
def test_a_directory_in_the_store_is_refused(source: Path, tmp_path: Path, place: str) -> None:
    (source / "runs" / "1").mkdir(parents=True)
    with pytest.raises(Refusal, match=r"\(it is inside the store .*\); use another"):
        copy_directory(source / place, tmp_path / "copy", source)


def test_what_is_too_large_is_refused_before_anything_is_copied(source: Path, tmp_path: Path) -> None:
    with (source / "huge").open("wb") as file:
        file.truncate(copies.MAX_BYTES)
    with pytest.raises(Refusal, match=r"its files have 16 GiB, the limit is 16 GiB\); remove --fresh-dir"):
        copy_directory(source, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_what_another_process_removes_meanwhile_is_left_out(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (source / "link").symlink_to("deep")
    (source / "file").touch()
    copy_entry = copies._copy_entry

    def remove_before(*one: Any) -> None:
        for name in ("link", "file"):
            (source / name).unlink(missing_ok=True)
        copy_entry(*one)

    monkeypatch.setattr(copies, "_copy_entry", remove_before)
    copy_directory(source, tmp_path / "copy")
    assert sorted(content(tmp_path / "copy")) == ["deep", "deep/deeper", "deep/deeper/data", "deep/empty"]


def test_a_directory_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match=r"cannot copy .*missing for a launch \(No such file or directory"):
        copy_directory(tmp_path / "missing", tmp_path / "copy")


def test_a_folder_is_removed_with_what_is_read_only_in_it_and_links_are_not_followed(
    source: Path, ordinary: Sequence[str]
) -> None:
    (source.parent / "outside").mkdir()
    (source.parent / "outside" / "file").touch()
    (source / "deep" / "link").symlink_to(source.parent / "outside")
    (source / "deep" / "deeper").chmod(0o555)
    (source / "deep").chmod(0o000)
    code = f"from octant.launch.copies import remove_tree; from pathlib import Path; remove_tree(Path({str(source)!r}))"
    subprocess.run([*ordinary, sys.executable, "-c", code], check=True)
    assert not source.exists()
    assert (source.parent / "outside" / "file").exists()


def test_what_cannot_be_removed_is_no_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o750)
    remove_tree(tmp_path / "missing")
    assert tmp_path.stat().st_mode & 0o777 == 0o750
    (tmp_path / "file").touch()
    remove_tree(tmp_path / "file")
