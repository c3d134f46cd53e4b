"""Files for users are written whole or not at all, through no link, into no device."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from octant import output
from octant.failure import Refusal


def test_a_file_of_another_process_or_a_link_at_the_temporary_name_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("octant.output.secrets.token_hex", lambda _: "guessed")
    victim, target = tmp_path / "victim", tmp_path / "report.html"
    victim.write_text("precious")
    (tmp_path / ".octant-guessed.part").symlink_to(victim)
    with pytest.raises(Refusal, match="cannot write"):
        output.save(target, "page", "try -o")
    assert victim.read_text() == "precious"
    assert not target.exists()


def test_what_a_killed_process_left_does_not_stop_the_next(tmp_path: Path) -> None:
    writes = "import pathlib, sys, time; from octant import output\nwith output.replacing(pathlib.Path(sys.argv[1])):\n"
    waits = " print(flush=True); time.sleep(60)"
    for end, left in ((signal.SIGKILL, 1), (signal.SIGTERM, 0)):
        folder = tmp_path / end.name
        folder.mkdir()
        with subprocess.Popen(
            [sys.executable, "-c", writes + waits, str(folder / "page")],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": ":".join(sys.path)},
        ) as process:
            assert process.stdout
            process.stdout.readline()
            process.send_signal(end)
        assert len(list(folder.iterdir())) == left, end.name
        output.save(folder / "page", "whole", "try -o")
        assert (folder / "page").read_text() == "whole"


def test_a_reader_finds_the_old_file_until_the_new_one_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "page"
    target.write_text("old")
    with output.replacing(target) as file:
        file.write(b"half")
        file.flush()
        assert target.read_text() == "old"
    assert target.read_text() == "half"


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "page"
    target.write_text("old")
    with pytest.raises(ZeroDivisionError), output.replacing(target) as file:
        file.write(b"half" * (1 // 0))
    assert [path.name for path in tmp_path.iterdir()] == ["page"]
    assert target.read_text() == "old"


def test_what_is_no_plain_file_is_refused_and_stays(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    os.mkfifo(tmp_path / "pipe")
    cases = {
        tmp_path / "folder": "a folder",
        tmp_path / "link": "a link",
        tmp_path / "pipe": "a pipe",
        Path("/dev/null"): "a device",
        tmp_path / "none" / "page": "No such file",
        tmp_path / "zero\0": "null byte",
    }
    for path, why in cases.items():
        with pytest.raises(
            Refusal, match=rf"cannot write .*\({'embedded ' if chr(0) in str(path) else ''}(it is )?{why}"
        ):
            output.save(path, "page", "try -o")
    assert not (tmp_path / "elsewhere").exists()
    assert Path("/dev/null").is_char_device()


def test_files_have_the_permissions_that_the_umask_leaves(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        output.save(tmp_path / "page", "", "try -o")
        output.save(tmp_path / "script", "", "try -o", mode=0o777)
    finally:
        os.umask(before)
    assert (tmp_path / "page").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "script").stat().st_mode & 0o777 == 0o750
