"""MPI performance guidelines: a call should not be slower than an equivalent combination of other calls."""

from octant.metric import Metric, derived, seconds
from octant.record import Point
from octant.workload import Bars, Curve, Workload
from octant.workloads.mpi.guidelines.step import step

WAYS = {
    "bcast-scatter-allgather": ("MPI_Bcast", "MPI_Scatter and MPI_Allgather"),
    "bcast-tree": ("MPI_Bcast", "a binomial tree of sends"),
    "bcast-in-four": ("MPI_Bcast", "four MPI_Bcast of a quarter each"),
    "bcast-nonblocking": ("MPI_Bcast", "MPI_Ibcast and MPI_Wait"),
    "allreduce-reduce-bcast": ("MPI_Allreduce", "MPI_Reduce and MPI_Bcast"),
    "allreduce-reduce-scatter-allgather": ("MPI_Allreduce", "MPI_Reduce_scatter_block and MPI_Allgather"),
    "allreduce-nonblocking": ("MPI_Allreduce", "MPI_Iallreduce and MPI_Wait"),
    "reduce-allreduce": ("MPI_Reduce", "MPI_Allreduce"),
    "allgather-gather-bcast": ("MPI_Allgather", "MPI_Gather and MPI_Bcast"),
    "allgather-alltoall": ("MPI_Allgather", "MPI_Alltoall of copies"),
    "allgather-allgatherv": ("MPI_Allgather", "MPI_Allgatherv"),
    "gather-allgather": ("MPI_Gather", "MPI_Allgather"),
    "gather-gatherv": ("MPI_Gather", "MPI_Gatherv"),
    "scatter-bcast": ("MPI_Scatter", "MPI_Bcast of all blocks"),
    "scatter-scatterv": ("MPI_Scatter", "MPI_Scatterv"),
    "alltoall-alltoallv": ("MPI_Alltoall", "MPI_Alltoallv"),
    "scan-exscan": ("MPI_Scan", "MPI_Exscan and MPI_Reduce_local"),
    "barrier-allreduce": ("MPI_Barrier", "MPI_Allreduce of one integer"),
    "send-type-pack": ("MPI_Send of a strided type", "MPI_Pack and MPI_Send"),
    "control": ("MPI_Bcast", "itself"),
}
"""The call and its alternative, by the knob `guideline` (Träff, Gropp, Thakur, TPDS 2010)."""


def _ways(point: Point) -> tuple[str, str]:
    return WAYS[point.knobs["guideline"]]


WORKLOAD = Workload(
    summary="MPI performance guidelines: a call compared with an equivalent combination of other calls",
    metrics=(
        Metric(
            "ratio", "1", "lower",
            derived(lambda call, alternative: call / alternative, seconds("phase/call"), seconds("phase/alternative")),
            note="median time of the call over that of the alternative; above 1: the call is slower",
        ),
        Metric("call", "s", "lower", seconds("phase/call")),
        Metric("alternative", "s", "lower", seconds("phase/alternative")),
    ),
    pictures=(Bars("guideline", title="Call relative to its alternative"), Curve("bytes", each=("guideline",))),
    step=step,
    smoke={"guideline": "bcast-scatter-allgather,send-type-pack,control", "bytes": "64,4KiB"},
    guideline=_ways,
    messages=True,
    alone=("guideline",),
)  # fmt: skip
