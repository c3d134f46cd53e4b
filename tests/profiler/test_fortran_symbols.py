"""Fortran procedures of installed MPI libraries, compared with those that the profiler has."""

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from paths import ROOT

SOURCE = ROOT / "native" / "profiler"
FOLDERS = (Path("/usr/lib/x86_64-linux-gnu"), Path("/usr/lib/aarch64-linux-gnu"), Path("/usr/lib64"))
LIBRARIES = ("libmpichfort.so.12", "libmpi_mpifh.so.40", "libmpi_usempif08.so.40")
SUFFIXES = re.compile(r"(mpi_[a-z0-9_]+?)(?:_f08ts_large_|_f08_large_|_f08ts_|_f08_|_cptr_|__|_)")


def calls() -> set[str]:
    """Return the names of all calls that the profiler has, in lower case."""
    text = (SOURCE / "calls.inc").read_text()
    return {f"mpi_{name.lower()}" for name in re.findall(r"^OCTANT_CALL\(\d+, (\w+),", text, re.MULTILINE)}


def procedures() -> set[str]:
    """Return the symbols of the procedures that the profiler has."""
    return set(re.findall(r"^OCTANT_FORTRAN\(\d+, (\w+),", (SOURCE / "fortran.inc").read_text(), re.MULTILINE))


@pytest.mark.parametrize("name", LIBRARIES)
def test_every_procedure_of_a_call_is_there(name: str) -> None:
    paths = [folder / name for folder in FOLDERS if (folder / name).exists()]
    if not paths:
        pytest.skip(f"{name} is not installed")
    if shutil.which("nm") is None:
        pytest.skip("nm is not installed")
    command: list[str | Path] = ["nm", "-D", "--defined-only", paths[0]]
    listed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    symbols = {line.split()[-1].partition("@")[0] for line in listed.splitlines()}
    known = calls()
    wanted = {one for one in symbols if (match := SUFFIXES.fullmatch(one)) and match[1] in known}
    assert len(wanted) > 300
    assert wanted - procedures() == set()


def test_the_table_is_current() -> None:
    if importlib.util.find_spec("pympistandard") is None:
        pytest.skip("pympistandard is not installed")
    command: list[str | Path] = [sys.executable, SOURCE / "generate_fortran.py", "--check"]
    assert subprocess.run(command, check=False, timeout=60).returncode == 0
