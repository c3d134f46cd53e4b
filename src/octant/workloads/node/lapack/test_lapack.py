"""LAPACK's routines: counts and limits by hand, and every check seen to fail."""

import pytest

from fake_run import machine, point
from kernel_run import KernelRuns
from octant.failure import Exit
from octant.limit import Best, Known
from octant.workloads.node.lapack import WORKLOAD

CHECKS = {"lu": 3, "cholesky": 2, "qr": 3, "eigenvalues": 3, "eigenvectors": 5, "svd": 4}
COUNTS = {
    "lu": ("flops", 2 * 37**3 // 3), "cholesky": ("flops", 37**3 // 3), "qr": ("flops", 4 * 37**3 // 3),
    "eigenvalues": ("flops", 4 * 37**3 // 3), "eigenvectors": ("nominal_flops", 9 * 37**3),
    "svd": ("nominal_flops", 21 * 37**3),
}  # fmt: skip
FEW = ("seconds=0.001", "least=5", "samples=5")


def test_vectors_and_work_space_are_part_of_what_is_used() -> None:
    assert WORKLOAD.footprint is not None
    for routine, matrices in {"lu": 2, "eigenvalues": 2, "eigenvectors": 4, "svd": 8}.items():
        asked = point(counts={"flops": 1}, knobs={"n": "1000", "routine": routine}, ranks=2)
        assert WORKLOAD.footprint(machine(), asked) == 2 * matrices * 8 * 1000**2


def test_every_routine_is_right_and_counted(run_kernel: KernelRuns) -> None:
    done = run_kernel("node/lapack", "n=37", f"routine={','.join(CHECKS)}", *FEW)
    assert done.code == 0, done.stderr
    assert {one.knobs["routine"]: len(one.checks) for one in done.points} == CHECKS
    for one in done.points:
        assert one.work[0].counts == dict([COUNTS[one.knobs["routine"]]])
        assert one.notes["lapack"] == one.notes["library"]
        threads = one.hardware_threads
        known = Known(machine().topology, {"fma double": {threads: Best(1e9, "")}, "fma single": {}})
        limit = WORKLOAD.least_seconds(known, machine(), one)
        name, count = COUNTS[one.knobs["routine"]]
        assert (limit.seconds if limit else None) == (pytest.approx(count / 1e9) if name == "flops" else None)


def test_each_check_fails_where_what_it_looks_at_is_wrong(run_kernel: KernelRuns) -> None:
    for check in range(max(CHECKS.values())):
        having = [routine for routine, checks in CHECKS.items() if check < checks]
        words = ("n=20", f"routine={','.join(having)}", *FEW)
        done = run_kernel("node/lapack", *words, fault=f"wrong:{check}")
        assert done.code == Exit.WRONG_ANSWER, done.stderr
        assert [one.checks[check].passed for one in done.points[-len(having) :]] == [False] * len(having)
