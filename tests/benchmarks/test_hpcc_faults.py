"""What ends a test of HPC Challenge at any stage: the rest is measured, what was lost is said, nothing is left."""

import contextlib
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from kernel_run import QUICK, read_records, smoke
from octant.build import program_name
from octant.launch.execute import execute
from octant.store import Store
from paths import Octant
from segments import stray_segments

pytestmark = [pytest.mark.mpi, pytest.mark.slow]

REASONS = {
    "throw": "fault 'throw' was injected",
    "memory": "out of memory; reduce the size or the number of ranks",
    "kill": "a rank was killed by SIGKILL (possibly out of memory)",
    "term": "a rank was killed by SIGTERM",
    "interrupt": "a rank was killed by SIGINT",
}
RECORDED = ("throw", "memory")
"""The rank itself records these. A killed rank cannot, so that the process that started it must."""
STAGES = ("set-up", "measuring", "verification")
TABLE = {
    "hpl": ("kill", "memory", "interrupt"),
    "ptrans": ("memory", "kill", "throw"),
    "randomaccess": ("term", "throw", "kill"),
    "gfft": ("interrupt", "kill", "memory"),
    "fft": ("throw", "term", "kill"),
}
"""Of each workload, by stage: every fault at every stage of some."""


def processes(holding: str) -> list[str]:
    """Command lines, after a while, of processes that were started with this text among their words."""
    end = time.monotonic() + 10
    while True:
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                if holding in (words := path.read_bytes().decode(errors="replace")):
                    found.append(words.replace("\0", " "))
        if not found or time.monotonic() > end:
            return found
        time.sleep(0.1)


@pytest.mark.parametrize("name", TABLE)
def test_whatever_ends_a_rank_at_any_stage_is_said_and_leaves_nothing(
    kernels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("OCTANT_KERNELS", str(kernels))
    before = stray_segments()
    for stage, fault in zip(STAGES, TABLE[name], strict=True):
        output = tmp_path / f"{stage}.jsonl"
        program = str(kernels / program_name(f"hpcc/{name}"))
        words = [
            str(Path(sys.executable).parent / "mpiexec"),
            "-n",
            "2",
            program,
            *smoke(f"hpcc/{name}"),
            *QUICK,
            "--output",
            str(output),
        ]
        done = execute(words, {"OCTANT_FAULT": f"{fault}@{stage}:1"}, 30, lambda _: None)
        assert not done.timed_out
        combined = "mpiexec combines" in done.reason  # it killed the other rank and reports two signals as one
        assert (REASONS[fault].split()[-1] if combined else REASONS[fault]) in done.reason, (stage, done.errors)
        points, failures = read_records(output)
        assert not points
        assert [REASONS[fault] in one.reason for one in failures] == ([True] if fault in RECORDED else [])
    assert {path.suffix for path in tmp_path.iterdir()} <= {".jsonl", ".progress"}, "no file of a kernel's own"
    assert processes(str(tmp_path)) == []
    assert stray_segments() <= before


FAULTS = {
    "hpl": "kill@measuring:1",
    "ptrans": "memory@verification:1",
    "randomaccess": "interrupt@set-up:1",
    "gfft": "hang@set-up:1",
}


def faulty(kernels: Path, folder: Path) -> Mapping[str, str]:
    """Return the kernels of HPC Challenge, each with its fault; one rank alone has no fault of rank 1."""
    folder.mkdir()
    for name in ("octant-bind", "octant-mpi-probe", *(program_name(f"hpcc/{name}") for name in FAULTS)):
        (folder / name).symlink_to(kernels / name)
    for name, fault in FAULTS.items():
        path = folder / program_name(f"hpcc/{name}")
        real = path.readlink()
        path.unlink()
        path.write_text(f"#!/bin/sh\nOCTANT_FAULT={fault} exec '{real}' \"$@\"\n")
        path.chmod(0o755)
    return {"OCTANT_KERNELS": str(folder)}


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="two ranks on one core take longer than the time-out")
def test_a_run_keeps_what_was_measured_says_what_was_lost_and_goes_on(
    octant: Octant, environment: Mapping[str, str], kernels: Path, tmp_path: Path
) -> None:
    before = stray_segments()
    done = octant(
        "hpcc",
        "--size",
        "hpl:256",
        "--repeats",
        "1",
        "-n",
        "2",
        "--timeout",
        "3",
        env=faulty(kernels, tmp_path / "faulty"),
    )
    store = Store(Path(environment["OCTANT_STORE"]))
    (run,) = store.runs()
    assert done.returncode == 1, done.stderr
    assert f"octant resume {run.id}" in done.stderr
    assert "StarDGEMM is skipped" in done.stderr, "there is no kernel of it"
    shown, _, lost = done.stdout.partition("Not measured:")
    assert "  SingleRandomAccess_LCG_GUPs " in shown
    for test, reason in (
        ("HPL", REASONS["kill"]),
        ("PTRANS", REASONS["memory"]),
        ("MPIRandomAccess_LCG", REASONS["interrupt"]),
        ("MPIFFT", "timed out after 3 s"),
    ):
        assert f"  {test}: " in lost
        assert reason in lost
    assert {failure.exit for failure in run.failures} == {1}, "each may be repeated"
    assert processes(str(tmp_path / "faulty")) == []
    assert stray_segments() <= before
    assert not [path for path in run.folder.iterdir() if ".scratch" in path.name or path.name.endswith(".progress")]
    resumed = octant("resume", run.id)
    assert resumed.returncode == 0, resumed.stderr
    (after,) = store.runs()
    assert after.complete
    assert (after.failures, len(after.repeated)) == ((), len(run.failures))
    assert "Not measured" not in resumed.stdout
    assert len(after.points) == len(run.points) + len(run.failures)
