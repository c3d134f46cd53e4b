"""randomaccess: its limit by hand, and the running program on small tables."""

import json
import subprocess
from pathlib import Path

import pytest

from fake_run import MIB, machine, point
from octant import analysis, build, record
from octant.workload import Ceilings
from octant.workloads.randomaccess import WORKLOAD


def table(size: int) -> record.Point:
    return point(knobs={"bytes": str(2 * size - 1)}, notes={"table_bytes": str(size)})


def test_two_lines_an_update_limit_it_beyond_the_caches() -> None:
    """A machine with 32 MiB of last-level cache and 12.8 GB/s: 12.8e9 / 128 = 1e8 updates a second."""
    ceilings = Ceilings(memory_bytes_per_s={1: 12.8e9})
    limit = WORKLOAD.limit(machine(), ceilings, table(64 * MIB))
    assert limit is not None
    assert limit.value == pytest.approx(1e8)
    assert WORKLOAD.limit(machine(), ceilings, table(32 * MIB)) is None, "what was asked may be nearly twice as much"
    assert WORKLOAD.limit(machine(), Ceilings(), table(64 * MIB)) is None


def measured(tmp_path: Path, *words: str) -> record.Point:
    program = build.find("randomaccess")
    output = tmp_path / "records.jsonl"
    subprocess.run([program, "--output", output, "--run", "test", *words], check=True, timeout=60)
    found = record.parse(output.read_text().splitlines()[-1])
    assert isinstance(found, record.Point)
    return found


@pytest.mark.parametrize("words", [("bytes=4KiB",), ("bytes=3MiB", "threads=2"), ("bytes=1MiB", "pages=thp")])
def test_undoing_the_updates_restores_the_table(tmp_path: Path, words: tuple[str, ...]) -> None:
    found = measured(tmp_path, *words, "seconds=0.05")
    assert found.verdict.passed
    assert found.verdict.error == 0
    assert analysis.figure(WORKLOAD, found).value.middle > 0


def test_each_thread_takes_the_largest_power_of_two_that_fits(tmp_path: Path) -> None:
    found = measured(tmp_path, "bytes=3MiB", "threads=2", "seconds=0.05")
    assert found.notes["table_bytes"] == str(2**20)
    assert len({lane.thread for lane in found.lanes}) == 2


def test_the_kernel_says_what_it_can_be_asked(tmp_path: Path) -> None:
    text = subprocess.run([build.find("randomaccess"), "--describe"], check=True, capture_output=True, text=True).stdout
    assert "bytes" in {knob["name"] for knob in json.loads(text)["knobs"]}
