"""Factorisations and spectra of dense matrices by a tuned library: what is built on its matrix multiplication."""

from octant.limit import FMA, Known, Limit, fma_limit
from octant.machine import Machine
from octant.metric import Metric, rate, seconds
from octant.record import Point, known_count
from octant.workload import Curve, Workload
from octant.workloads.node.lapack.step import step

_MATRICES = {"svd": 8, "eigenvectors": 4}
"""Of n x n numbers in a rank: the matrix and what becomes of it; singular vectors (2); work space (4 and 2)."""


def _least_seconds(known: Known, _machine: Machine, point: Point) -> Limit | None:
    """The rate of multiply-adds that this run measured, where the count is one of operations and no convention."""
    return fma_limit(known, point) if "flops" in point.work[0].counts else None


def _footprint(_machine: Machine, point: Point) -> int:
    """The matrices of all ranks."""
    return _MATRICES.get(point.knobs["routine"], 2) * 8 * int(point.knobs["n"]) ** 2 * known_count(point.working_ranks)


WORKLOAD = Workload(
    summary="LU, Cholesky, QR, eigenvalues and singular values by the LAPACK of any tuned library",
    metrics=(
        Metric("rate", "flop/s", "higher", rate("flops", "nominal_flops"), note="by the counts of the page of lapack"),
        Metric("time", "s", "lower", seconds()),
    ),
    bounded_by=tuple(FMA.values()),
    least_seconds=_least_seconds,
    pictures=(Curve("n", title="Factorisations by order", each=("routine", "library")),),
    footprint=_footprint,
    step=step,
    smoke={"n": "2,37", "routine": "lu,cholesky,qr,eigenvalues,eigenvectors,svd"},
    apart=("library", "isa"),
)
