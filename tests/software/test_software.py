"""Versions of what is installed: programs that answer, fail, hang or are absent never stop discovery."""

import time
from pathlib import Path

import pytest

from octant.software import command, versions
from once import answered_once


def program(folder: Path, name: str, body: str) -> None:
    """Return an executable that replaces a tool."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{body}\n")
    (folder / name).chmod(0o755)


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that is the only entry of PATH, and the only folder of tools next to Python."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr("sysconfig.get_path", lambda _name: str(folder))
    monkeypatch.setattr(versions, "_MPI_LIBRARIES", ())
    monkeypatch.setattr(versions, "FOLDERS", ())
    return folder


def test_tools_are_asked_in_their_own_words(tools: Path) -> None:
    program(tools, "mpichversion", "echo 'MPICH Version:      5.0.2'")
    program(tools, "ompi_info", 'test "$1" = --version && echo "Open MPI v5.0.11"')
    program(tools, "gcc", "echo 12.2.0")
    found = versions.software()
    assert found["mpich"] == f"5.0.2 ({tools}/mpichversion)"
    assert found["openmpi"].startswith("5.0.11 ")
    assert found["gcc"] == "12.2.0"


def test_a_tool_that_hangs_or_fails_is_left_out(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "TIMEOUT_S", 0.2)
    program(tools, "mpichversion", "exec /bin/sleep 30")
    program(tools, "ompi_info", "echo 'Open MPI v9'; exit 3")
    (tools / "gcc").write_text("no program")
    (tools / "gcc").chmod(0o755)
    begin = time.monotonic()
    found = versions.software()
    assert not {"mpich", "openmpi", "gcc"} & set(found)
    assert time.monotonic() - begin < 10


def test_without_tools_the_library_is_asked(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "_MPI_LIBRARIES", ("libnothing.so.1", "libmpi_mine.so.1"))
    program(tools, "python", 'test "$3" = libmpi_mine.so.1 && echo "My MPI 7.1" || exit 1')
    monkeypatch.setattr("sys.executable", str(tools / "python"))
    assert versions.software()["mpi"] == "My MPI 7.1 (libmpi_mine.so.1)"


@pytest.mark.parametrize(
    ("real", "kind"), [("blas/libblas.so.3", "reference"), ("openblas-pthread/libblas.so.3", "tuned")]
)
def test_the_systems_blas(real: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / real
    target.parent.mkdir()
    target.touch()
    folder = tmp_path / "lib"
    folder.mkdir()
    (folder / "libblas.so.3").symlink_to(target)
    monkeypatch.setattr(versions, "FOLDERS", (str(folder),))
    assert versions.system_blas() == f"{kind} ({target})"
    (folder / "libblas.so.3").unlink()
    assert versions.system_blas() is None


def test_our_tests_ask_a_program_again_that_changed_or_gave_no_answer(tools: Path, tmp_path: Path) -> None:
    asked = answered_once(command.output)
    file = tmp_path / "count"
    program(tools, "count", f"echo x >>{file}; echo $A; test ! -e {tmp_path}/fails")
    assert [asked(["count"]), asked(["count"]), asked(["count"], {"A": "1"})] == ["", "", "1"]
    assert len(file.read_text().split()) == 3, "no answer is not kept"
    assert [asked(["count"], {"A": "1"}), asked([str(tools / "count")], {"A": "2"})] == ["1", "2"]
    assert len(file.read_text().split()) == 4
    program(tools, "count", f"echo x >>{file}; echo other")
    assert asked(["count"], {"A": "1"}) == "other"
