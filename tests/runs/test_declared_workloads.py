"""Memory checks and time limits of workloads, from the steps that they declare and the defaults of their kernels."""

from dataclasses import replace
from pathlib import Path

import pytest

from fake_run import machine
from octant.failure import Refusal
from octant.request import Launch, Request, Shape, Subject
from octant.runs.cell_costs import check_memory, declared_cost
from octant.runs.plan import STARTUP_S, UNKNOWN_S, timeout_seconds

MIB, GIB = 2**20, 2**30
MEMORY = [
    ("hpcc/ptrans", 1, {"n": "hpl:8192", "tile": "64"}, 8 * (2 * 4096**2 + 64**2), "n"),
    ("node/coherence", 2, {"pattern": "flush", "bytes": "1GiB"}, 2 * 72 * (GIB // 64), "bytes"),
    ("node/coherence", 1, {"pattern": "sharing", "sharers": "3", "distance": "4096"}, 3 * (2 * 4096 + 64), ""),
    ("node/core", 2, {"pattern": "mlp", "bytes": "1500MiB"}, 2 * GIB, "bytes"),
    ("node/latency", 1, {"pattern": "pages", "count": "1048576", "threads": "2"}, 2 * MIB * (4096 + 4), "count"),
    ("node/latency", 1, {"pattern": "lines", "bytes": "1GiB"}, GIB // 64 * 68 + GIB // 64 // 8, "bytes"),
    ("node/memory", 1, {"pattern": "unmap", "bytes": "1GiB"}, GIB, "bytes"),
    ("node/memory", 1, {"pattern": "trim", "bytes": "1GiB", "block": "1000"}, GIB // 1000 * (1008 + 8), "bytes"),
    ("node/memory", 1, {"pattern": "segments", "bytes": "100MiB"}, 146 * MIB, "bytes"),
    ("node/peakflops", 3, {"threads": "2"}, 6 * 4608, ""),
    ("node/vecmath", 1, {"function": "pow", "n": "134217728"}, 3 * GIB, "n"),
    ("mpi/guidelines", 2, {"bytes": "256MiB"}, 2 * (4 * 256 * MIB + 256), "bytes"),
    ("mpi/mpiio", 2, {"pattern": "s-write-indv", "bytes": "256MiB", "aggregate": "4"}, 2 * 6 * 256 * MIB, "bytes"),
    ("mpi/onesided", 3, {"pattern": "put", "bytes": "64MiB"}, 2 * 2 * (64 * MIB + 64), "bytes"),
    ("mpi/onesided", 3, {"pattern": "all-get-all", "bytes": "64MiB", "window": "2"}, 3 * 8 * (64 * MIB + 64), "bytes"),
    ("mpi/onesided", 4, {"pattern": "one-put-all", "bytes": "64MiB"}, (4 + 3 * 2) * (64 * MIB + 64), "bytes"),
    ("mpi/onesided", 2, {"pattern": "get-accumulate", "bytes": "64MiB"}, 2 * 3 * (64 * MIB + 64), "bytes"),
    ("mpi/onesided", 2, {"pattern": "window", "bytes": "64MiB"}, 2 * 64 * MIB, "bytes"),
]
"""Workload, ranks, knobs, bytes that all ranks hold, and the knob with which they hold less."""


@pytest.fixture(autouse=True)
def _kernels(kernels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OCTANT_KERNELS", str(kernels))
    for name in ("SLURM_JOB_ID", "FLUX_URI", "PBS_NODEFILE", "LSB_DJOB_HOSTFILE"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(("name", "ranks", "knobs", "held", "smaller"), MEMORY)
def test_what_a_workload_holds_must_be_there(
    name: str, ranks: int, knobs: dict[str, str], held: int, smaller: str
) -> None:
    question = Request(Subject(name), knobs, Shape(ranks))
    (cell,) = question.cells()
    found = declared_cost(question, cell)
    assert found is not None
    assert found.bytes_held == held
    having = replace(machine(), system={"available_memory_bytes": str(held)})
    check_memory(question, having)
    with pytest.raises(Refusal, match=f"need {held:,} B.*; try {f'a smaller {smaller}' if smaller else ''}") as refused:
        check_memory(question, replace(having, system={"available_memory_bytes": str(held - 1)}))
    assert smaller or "a smaller" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "knobs"),
    [
        ("node/coherence", {"pattern": "pairs,sharing,flush"}),
        ("node/core", {"pattern": "operations,rob-size,mlp,branch"}),
        ("node/latency", {"pattern": "pages"}),
        ("node/memory", {"pattern": "trim,unmap,segments"}),
        ("node/noise", {"additions": "1000000000"}),
        ("node/peakflops", {"width": "auto,256"}),
        ("node/vecmath", {"n": "1000"}),
    ],
)
def test_a_hang_of_a_workload_ends_long_before_an_hour(name: str, knobs: dict[str, str]) -> None:
    assert STARTUP_S < timeout_seconds(Launch(Request(Subject(name), knobs))) < UNKNOWN_S / 4


def test_long_steps_of_a_workload_have_longer() -> None:
    """Ten times what slow machines take: 100 ns for a pass, a page in 2 us, a call of a function in 100 ns."""
    for name, knobs, slow_s in (
        ("node/coherence", {"pattern": "pairs", "trips": "10000000"}, 7 * 2e7 * 100e-9),
        ("node/memory", {"pattern": "unmap", "bytes": "64GiB"}, 7 * 2 * 64 * GIB / 4096 * 2e-6),
        ("node/vecmath", {"n": "1073741824"}, 3 * GIB * 100e-9),
    ):
        assert timeout_seconds(Launch(Request(Subject(name), knobs))) > 10 * slow_s
