"""The header, the C file and the Fortran module with which programs mark regions."""

import shutil
import subprocess
from pathlib import Path

import pytest

from paths import ROOT

SOURCE = ROOT / "native" / "profiler"
WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wpedantic", "-Werror")

C_PROGRAM = """
#include "octant_profile.h"
int main(void) { octant_begin("a"); octant_record(0); octant_record(1); octant_end(); octant_end(); return 0; }
"""
CXX_PROGRAM = """
#include "octant_profile.h"
int main() { octant_scope outer("a"); { octant_scope inner("b"); } return 0; }
"""
FORTRAN_PROGRAM = """
program regions
  use octant_profile
  implicit none
  call octant_begin("a")
  call octant_record(.false.)
  call octant_end()
end program regions
"""


def run(command: list[str | Path], folder: Path) -> None:
    """Run a command that says nothing."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=60)
    assert (done.stdout, done.stderr) == ("", "")


@pytest.mark.parametrize(
    ("compiler", "standard", "name", "text"),
    [("gcc", "-std=c99", "program.c", C_PROGRAM), ("g++", "-std=c++11", "program.cpp", CXX_PROGRAM)],
)
def test_programs_run_without_the_profiler(compiler: str, standard: str, name: str, text: str, tmp_path: Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    (tmp_path / name).write_text(text)
    run([compiler, standard, *WARNINGS, f"-I{SOURCE}", name, "-o", "program", "-ldl"], tmp_path)
    run([tmp_path / "program"], tmp_path)


def test_fortran_programs_run_without_the_profiler(tmp_path: Path) -> None:
    if shutil.which("gfortran") is None:
        pytest.skip("gfortran is not installed")
    (tmp_path / "program.f90").write_text(FORTRAN_PROGRAM)
    run(["gcc", *WARNINGS, "-c", SOURCE / "octant_profile.c"], tmp_path)
    command: list[str | Path] = ["gfortran", "-Wall", "-Werror", SOURCE / "octant_profile.f90"]
    run([*command, "program.f90", "octant_profile.o", "-o", "program", "-ldl"], tmp_path)
    run([tmp_path / "program"], tmp_path)
