"""The Makefile on machines that are not as it left them."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from paths import ROOT

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the Makefile, and the environment's Python."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "src/octant/build").mkdir(parents=True)
    shutil.copy(ROOT / "src/octant/build/steps.py", tmp_path / "src/octant/build")
    (tmp_path / "cmake").mkdir()
    for name in ("pyproject.toml", "CMakeLists.txt", "constraints.txt", "cmake/mpi_flavour.py"):
        (tmp_path / name).touch()
    program(tmp_path / ".venv" / "bin" / "python")
    return tmp_path


def program(path: Path, body: str = "exit 0") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def complete(folder: Path) -> None:
    """As if `make setup` had ended."""
    program(folder / ".venv" / "bin" / "pip")
    for name in (".octant-runs", ".octant-installed"):
        (folder / ".venv" / name).touch()


def make(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    clean = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    return subprocess.run(["make", *words], cwd=folder, capture_output=True, text=True, check=False, env=clean)


def test_an_environment_whose_set_up_was_killed_is_made_again(folder: Path) -> None:
    assert "-m venv .venv" in make(folder, "--dry-run", "evaluate").stdout
    complete(folder)
    assert "-m venv" not in make(folder, "--dry-run", "evaluate", "setup").stdout


def test_kernels_are_built_where_the_build_folder_was_removed(folder: Path) -> None:
    complete(folder)
    program(folder / ".venv" / "bin" / "cmake")
    done = make(folder, "dev")
    assert done.returncode == 0, done.stderr
    assert (folder / "build" / "dev.log").exists()


def test_a_benchmark_that_fails_does_not_keep_the_others_from_running(folder: Path) -> None:
    complete(folder)
    (folder / "bench").mkdir()
    for name in ("first", "second"):
        (folder / "bench" / f"bench_{name}.py").touch()
    program(folder / ".venv" / "bin" / "python", 'echo "ran $1"; test "$1" != bench/bench_first.py')
    done = make(folder, "bench")
    assert "ran bench/bench_second.py" in done.stdout
    assert done.returncode != 0
