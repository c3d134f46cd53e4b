"""What cannot start is refused by the commands before there is a run: shapes and memory, with the real kernels."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from octant import workloads
from octant.cli import application
from octant.failure import Exit, Refusal
from octant.step import Step
from octant.store import Store

SUITE = """
title = "Two loops"
[[requests]]
workload = "stream"
title = "a loop"
knobs = { bytes = "64KiB", seconds = "0.01" }
repeats = 1
[[requests]]
workload = "stream"
title = "a large loop"
knobs = { bytes = "1024TiB" }
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kernels: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OCTANT_KERNELS", str(kernels))
    monkeypatch.setenv("OCTANT_STORE", str(tmp_path / "store"))


@pytest.mark.parametrize(
    ("words", "why", "code"),
    [
        ("run stream bytes=64KiB,1024TiB", "cannot run node/stream with bytes=1024TiB (1 rank would need ", 3),
        ("run hpl n=400000 --ranks 2", "cannot run hpcc/hpl (2 ranks would need ", 3),
        ("run hpl grid=2x2 --ranks 2", "cannot use grid=2x2 (2 ranks work together); try grid=1x2", 2),
        ("run gfft n=64,98 --ranks 2", "cannot transform n=98 numbers (n must be 2^a 3^b 5^c); try n=96", 2),
        ("run node/fft n=7", "cannot transform n=7 (a prime factor is larger than 5); try n=8", 2),
    ],
)
def test_what_cannot_start_is_refused_before_there_is_a_run(tmp_path: Path, words: str, why: str, code: int) -> None:
    done = CliRunner().invoke(application(), words.split())
    assert isinstance(done.exception, Refusal), done.output
    assert why in str(done.exception)
    assert done.exception.code == Exit(code)
    assert Store(tmp_path / "store").list_runs() == []


def test_a_suite_goes_on_without_what_does_not_fit_into_memory(tmp_path: Path) -> None:
    (tmp_path / "suite.toml").write_text(SUITE)
    done = CliRunner().invoke(application(), ["evaluate", "--suite", "suite.toml"])
    assert done.exit_code == Exit.OK, done.output
    assert "octant: a large loop is skipped: not enough memory (1 rank would need " in done.stderr
    (row,) = Store(tmp_path / "store").list_runs()
    assert {
        request.show.title for request in Store(tmp_path / "store").read(row.id).requests if request.show.table
    } == {"a loop"}


def _misspelling(knobs: Mapping[str, str], _ranks: int, _threads: int) -> Step:
    return Step({}, int(knobs["byts"]))


def test_a_step_that_cannot_be_used_is_named_and_the_run_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    known = workloads.workloads()
    one = replace(known["node/stream"], step=_misspelling)
    monkeypatch.setattr(workloads, "workloads", lambda: {**known, "node/stream": one})
    done = CliRunner().invoke(application(), ["run", "stream", "bytes=64KiB", "seconds=0.01", "--repeats", "1"])
    assert done.exit_code == 0, done.output
    assert (
        done.stderr.count(
            "octant: node/stream: memory check and time estimate are not available (its step.py is unusable: "
        )
        == 1
    )
