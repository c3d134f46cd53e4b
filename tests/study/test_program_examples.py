"""The studies of programs in examples/programs: they can be planned, and their scripts print what the studies read."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fake_run import machine
from octant.runs.programs.permissions import permissions
from octant.runs.programs.values import Sources, read_value
from octant.study import file
from octant.study.design import design
from paths import ROOT

PROGRAMS = ROOT / "examples/programs"


def script(folder: Path, *words: str) -> None:
    """Run a script of the examples in a folder; its standard output goes to the file stdout."""
    command = [sys.executable, str(PROGRAMS / words[0]), *words[1:]]
    (folder / "stdout").write_bytes(subprocess.run(command, cwd=folder, check=True, capture_output=True).stdout)


@pytest.mark.parametrize("name", sorted(path.stem for path in PROGRAMS.glob("*.toml")))
def test_the_study_has_two_factors_and_findings_of_its_own(name: str) -> None:
    study = file.load(str(PROGRAMS / f"{name}.toml"))
    assert len(study.factors) == 2
    assert all(finding.statement for finding in study.findings)
    assert all(measure.command for measure in study.measures.values())


@pytest.mark.parametrize("operation", ["solve", "multiply"])
@pytest.mark.parametrize("precision", ["double", "single"])
def test_the_numpy_script_prints_what_its_study_reads(tmp_path: Path, operation: str, precision: str) -> None:
    script(tmp_path, "dense.py", operation, "60", precision)
    study = file.load(str(PROGRAMS / "numpy.toml"))
    requests = design(study, machine(), 1).requests
    assert [one.word for one in permissions(requests)] == ["python3", "dense.py"]
    (rate,) = study.measures[operation].subject.values
    sources = Sources({"stdout": tmp_path / "stdout"}, tmp_path)
    assert read_value(rate, sources) > 0
    (check,) = study.measures[operation].subject.checks
    text = (tmp_path / "stdout").read_text(encoding="utf-8")
    assert float(text.partition(f"{check.value} = ")[2]) < check.tolerance


def test_the_input_of_hpcc_has_its_order_blocks_and_grid(tmp_path: Path) -> None:
    script(tmp_path, "hpccinf.py", "2000", "8", "2x1")
    lines = (tmp_path / "hpccinf.txt").read_text(encoding="utf-8").splitlines()
    assert [lines[number].split()[0] for number in (5, 7, 10, 11)] == ["2000", "8", "2", "1"]
    assert lines[-1] == "8 blocks"


def test_hpcc_is_asked_where_it_is_installed() -> None:
    plan = design(file.load(str(PROGRAMS / "hpcc.toml")), machine(), 1)
    if shutil.which("hpcc") and shutil.which("mpirun.openmpi"):
        assert [one.word for one in permissions(plan.requests)] == ["hpcc", "python3", "hpccinf.py"]
    else:
        assert not plan.requests
        assert all("on PATH" in why for why in plan.absent.values())
