"""Factorisations, eigenvalues and singular values of dense matrices by a tuned LAPACK library."""

from octant.limit import FMA, Known, Limit, fma_limit
from octant.machine import Machine
from octant.metric import Metric, rate, seconds
from octant.record import Point, known_count
from octant.workload import Curve, Workload
from octant.workloads.node.lapack.step import step

_MATRICES = {"svd": 8, "eigenvectors": 4}
"""Number of n x n arrays per rank: matrix and result, singular vectors (2), work space (4 and 2)."""


def _least_seconds(known: Known, _machine: Machine, point: Point) -> Limit | None:
    """Return the time at the multiply-add rate of this run, if operations are counted exactly."""
    return fma_limit(known, point) if "flops" in point.work[0].counts else None


def _footprint(_machine: Machine, point: Point) -> int:
    """Return the bytes of the matrices of all ranks."""
    return _MATRICES.get(point.knobs["routine"], 2) * 8 * int(point.knobs["n"]) ** 2 * known_count(point.working_ranks)


WORKLOAD = Workload(
    summary="LU, Cholesky, QR, eigenvalues and singular values by any LAPACK library",
    metrics=(
        Metric(
            "rate",
            "flop/s",
            "higher",
            rate("flops", "nominal_flops"),
            note="by the operation counts on the page of this workload",
        ),
        Metric("time", "s", "lower", seconds()),
    ),
    bounded_by=tuple(FMA.values()),
    least_seconds=_least_seconds,
    pictures=(Curve("n", title="Factorisations by matrix order", each=("routine", "library")),),
    footprint=_footprint,
    step=step,
    aliases={
        "dgetrf": {"routine": "lu"},
        "dpotrf": {"routine": "cholesky"},
        "dgeqrf": {"routine": "qr"},
        "dgesvd": {"routine": "svd"},
    },
    smoke={"n": "2,37", "routine": "lu,cholesky,qr,eigenvalues,eigenvectors,svd"},
    apart=("library", "isa"),
)
