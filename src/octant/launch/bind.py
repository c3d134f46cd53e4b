"""Arguments of octant-bind: CPUs, memory policy and page sizes of each rank of a node."""

import re
from pathlib import Path

from octant import build
from octant.failure import Exit, Refusal, worst
from octant.placement import Placement, RankPlacement, set_text
from octant.placement.nonempty import NonEmptySet
from octant.placement.request import PAGE_BYTES, PlacementRequest

LOCAL_RANK_VARIABLES = (
    "MPI_LOCALRANKID",
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "MV2_COMM_WORLD_LOCAL_RANK",
    "PALS_LOCAL_RANKID",
    "PMI_LOCAL_RANK",
    "PMIX_LOCAL_RANK",
    "JSM_NAMESPACE_LOCAL_RANK",
    "FLUX_TASK_LOCAL_ID",
    "SLURM_LOCALID",
)
"""Variables with the local rank that launchers set, in the order in which octant-bind reads them."""

REFUSAL_SUFFIX, REPORT_SUFFIX = ".refusal", ".guard"
_MAX_BYTES = 1 << 16
_REFUSAL = re.compile(r"^([123]) (.+)$", re.MULTILINE)


def words(placement: Placement, request: PlacementRequest) -> list[str]:
    """Return the arguments of octant-bind before `--`: one entry per rank of a node, and the pages of the heap.

    Raises:
        ValueError: a torus, whose ranks are not all on one node.
        Refusal: the library that asks for huge pages is not installed.
    """
    if request.torus:
        raise ValueError("cannot bind ranks on a torus, which is not on this node; remove torus= from the request")
    found = []
    for number, place in enumerate(placement.ranks):
        found += ["--rank", str(number), *_entry(place, request)]
    return found + _pages(request) + _segments(request)


def refusal_path(records: Path) -> Path:
    """Return the file in which octant-bind records why it does not start a rank of a launch with these records."""
    return records.parent / f"{records.name}{REFUSAL_SUFFIX}"


def report_path(records: Path) -> Path:
    """Return the file to which the guards of a launch with these records append their reports."""
    return records.parent / f"{records.name}{REPORT_SUFFIX}"


def take_refusal(records: Path) -> Refusal | None:
    """Read and remove what octant-bind recorded during a launch: the first reason, and the worst code of all ranks.

    `None` if it refused nothing.
    """
    path = refusal_path(records)
    try:
        with path.open("rb") as file:
            text = file.read(_MAX_BYTES).decode(errors="replace")
    except OSError:
        return None
    finally:
        path.unlink(missing_ok=True)
    found = _REFUSAL.findall(text)
    return Refusal(f"octant-bind: {found[0][1]}", worst(Exit(int(code)) for code, _ in found)) if found else None


def _entry(place: RankPlacement, request: PlacementRequest) -> list[str]:
    def number_list(numbers: NonEmptySet) -> str:
        return set_text(numbers).replace(",", "+")

    memory = request.memory.policy
    nodes = f":{number_list(place.memory_set())}" if memory in ("bind", "interleave", "preferred") else ""
    found = [f"cpus={number_list(place.cpus)}", "threads=" + "/".join(map(number_list, place.threads))]
    return found if memory == "default" else [*found, f"mem={memory}{nodes}"]


def _segments(request: PlacementRequest) -> list[str]:
    """Return the arguments for parts of the program that get huge pages from a preloaded library."""
    if not request.huge_segments:
        return []
    return ["--segments", "+".join(request.huge_segments), "--preload", str(build.find("pages"))]


def _pages(request: PlacementRequest) -> list[str]:
    """Small pages for all, transparent or pooled huge ones for the heap."""
    if request.pages == "4k":
        return ["--no-thp"]
    if request.heap != "huge":
        return []
    pool = PAGE_BYTES.get(request.pages)
    return ["--heap", str(pool) if pool else "thp"]
