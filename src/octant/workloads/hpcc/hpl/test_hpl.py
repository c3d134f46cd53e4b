"""Orders, blocks and grids with remainders; each check fails alone; the limit by hand."""

import pytest

from fake_run import lane, machine, point
from kernel_run import QUICK, KernelRun, KernelRuns
from octant.failure import Exit
from octant.limit import Best, Known, Threads
from octant.workloads.hpcc.hpl import WORKLOAD

TWO_BLOCKS = tuple(range(1, 11))  # of 5
LARGER = (33, 131, 400)
ORDERS = f"n={','.join(map(str, (*TWO_BLOCKS, *LARGER)))}"
SHORT = ("library=plain", "seconds=0.001", "least=5", "samples=5", "warmup=0")
WORDS = (ORDERS, "block=5,40", "depth=0,1", *SHORT)
FEWER = (f"n={','.join(map(str, (*TWO_BLOCKS, 33, 131, 200)))}", "block=5", "depth=1", *SHORT)
"""Ranks that share cores wait for each other in each column."""
PRINTED = {
    "largest column sum of magnitudes in A": 108.603,
    "largest row sum of magnitudes in A": 111.271,
    "sum of the magnitudes of the unknowns": 811.278,
    "largest magnitude of an unknown": 7.03635,
    "largest magnitude in b": 0.498902,
}
"""By HPCC 1.5.0 for n = 400: Anorm1, AnormI, Xnorm1, XnormI, BnormI."""
ONE: Threads = frozenset({("node", 0)})


def test_the_limit_is_the_rate_of_multiply_adds() -> None:
    done = point(counts={"flops": 10**9}, lanes=(lane([20_000_000] * 6),), ranks=1, threads=1)
    known = Known(machine().topology, {"fma double": {ONE: Best(50e9, "")}, "fma single": {}})
    limit = WORKLOAD.least_seconds(known, machine(), done)
    assert limit is not None
    assert limit.seconds == pytest.approx(0.02)
    assert (
        WORKLOAD.least_seconds(Known(machine().topology, {"fma double": {}, "fma single": {}}), machine(), done) is None
    )


def unknowns(done: KernelRun) -> dict[str, float]:
    """Order to the largest unknown; the runs of one order differ by rounding."""
    assert done.code == 0, done.stderr
    found: dict[str, float] = {}
    for one in done.points:
        assert one.passed
        value = next(result.value for result in one.results if result.name == "largest magnitude of an unknown")
        assert value is not None
        assert found.setdefault(one.knobs["n"], value) == pytest.approx(value, rel=1e-9)
    return found


@pytest.mark.mpi
def test_grids_blocks_and_look_ahead_give_the_same_unknowns(run_kernel: KernelRuns) -> None:
    alone = unknowns(run_kernel("hpcc/hpl", *WORDS))
    assert len(alone) == len(TWO_BLOCKS) + len(LARGER)
    for further in (("grid=1x2", "transport=shared,messages"), ("grid=2x1",)):
        assert unknowns(run_kernel("hpcc/hpl", *WORDS, *further, ranks=2)) == pytest.approx(alone, rel=1e-9)


@pytest.mark.mpi
def test_rows_that_move_between_ranks_have_room(run_kernel: KernelRuns) -> None:
    """With many blocks a rank gives nearly as many rows as a panel has, and the one on top those of the panel too."""
    assert len(unknowns(run_kernel("hpcc/hpl", "n=600", "block=16", "library=plain", "grid=2x1", *QUICK, ranks=2))) == 1


@pytest.mark.mpi
@pytest.mark.slow
@pytest.mark.parametrize(("ranks", "grid"), [(3, "1x3"), (3, "3x1"), (4, "2x2"), (6, "2x3"), (8, "4x2")])
def test_more_ranks_than_cores(run_over_openmpi: KernelRuns, ranks: int, grid: str) -> None:
    done = unknowns(run_over_openmpi("hpcc/hpl", *FEWER, f"grid={grid}", ranks=ranks))
    assert len(done) == len(TWO_BLOCKS) + 3


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [1, 2])
def test_each_check_fails_alone(run_kernel: KernelRuns, ranks: int) -> None:
    for check in range(3):
        done = run_kernel("hpcc/hpl", "n=90", "block=16", "library=plain", *QUICK, ranks=ranks, fault=f"wrong:{check}")
        assert done.code == Exit.WRONG_ANSWER, done.stderr
        wrong = [not one.passed for one in done.points[-1].checks]
        assert wrong[check]
        assert wrong[0] == (check == 0), "what is done to the factors after the solution does not change it"


@pytest.mark.mpi
def test_the_system_is_hpls(run_kernel: KernelRuns) -> None:
    """The norms that HPL prints, and its residual from them."""
    done = run_kernel("hpcc/hpl", "n=400", "block=80", *SHORT, ranks=2)
    assert done.code == 0, done.stderr
    found = {result.name: result.value for result in done.points[0].results}
    assert {name: found[name] for name in PRINTED} == pytest.approx(PRINTED, rel=1e-5)
    size = found["largest row sum of magnitudes in A"] * found["largest magnitude of an unknown"]
    residual = found["largest magnitude in A x - b"] / (2**-53 * (size + found["largest magnitude in b"]) * 400)
    assert found["residual of HPL"] == pytest.approx(residual)


@pytest.mark.mpi
def test_flops_are_those_of_hpl_over_all_ranks(run_kernel: KernelRuns) -> None:
    done = run_kernel("hpcc/hpl", "n=100", "block=16", "library=plain", *QUICK, ranks=2)
    assert done.points[0].count("flops") == (4 * 100**3 + 9 * 100**2) // 6


def test_what_cannot_be_is_refused(run_kernel: KernelRuns) -> None:
    large = run_kernel("hpcc/hpl", "n=1000000", "library=plain", *QUICK)
    assert large.code == 3
    assert "this rank needs 8003136403456 B" in large.stderr, "terabytes, to the byte"
    assert "try n=" in large.stderr
    for grid in ("2x2", "1x", "x1", "0x1", "1x1x1", "-1x-1"):
        assert run_kernel("hpcc/hpl", "n=10", "library=plain", f"grid={grid}", *QUICK).code == 2
