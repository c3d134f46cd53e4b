"""The time of one load that depends on the one before it, from the first cache to memory."""

from octant import units
from octant.machine import Machine
from octant.record import Point
from octant.workload import Ask, Ceilings, Limit, Metric, Workload

LEAST_CYCLES = 4  # load to use from the first cache; no core in scope is quicker


def _limit(machine: Machine, ceilings: Ceilings, point: Point) -> Limit | None:
    """Within the first cache: four cycles. Beyond it no number is both general and honest, so there is none."""
    first = machine.cache_bytes(1)
    if ceilings.clock_hz is None or first is None or units.parse_bytes(point.knobs["bytes"]) > first:
        return None
    return Limit(LEAST_CYCLES / ceilings.clock_hz, f"{LEAST_CYCLES} cycles at {ceilings.clock_hz / 1e9:.2f} GHz")


def footprints(machine: Machine, quick: bool) -> tuple[int, ...]:
    """Sizes from within the first cache to well beyond the last: powers of two, with halves between if not quick."""
    last = machine.may_be_cached_bytes()
    most = min(4 * last, machine.memory_bytes // 8, 2**29 if quick else 2**33)
    steps = [2**power for power in range(13, 40, 1)]
    if not quick:
        steps = sorted(steps + [3 * step // 2 for step in steps])
    return tuple(step for step in steps if step <= most)


def _evaluate(machine: Machine, quick: bool) -> tuple[Ask, ...]:
    sizes = footprints(machine, quick)
    pools = [page.size_bytes for page in machine.page_sizes if page.free_pages]
    pages = ["base", "thp", *(str(size) for size in pools if not quick and size >= sizes[-1] // 8)]
    cores = machine.topology.usable_cores()
    each = max((size for size in sizes if size * cores <= machine.memory_bytes // 4), default=sizes[0])
    memory, seconds = str(sizes[-1]), "0.3" if quick else "2"
    ladder = {"bytes": ",".join(map(str, sizes[:-1])), "seconds": "0.2" if quick else "1", "precision": "0.02"}
    return (
        Ask(
            "one", {"bytes": memory, "pages": ",".join(pages), "seconds": seconds}, "random load from memory, one core"
        ),
        Ask(
            "star",
            {"bytes": str(each), "pages": "thp", "seconds": seconds},
            "random load from memory, every core at once",
        ),
        *(
            Ask("one", {**ladder, "pages": page}, f"latency against footprint, pages={page}", table=False)
            for page in pages
        ),
    )


WORKLOAD = Workload(
    name="latency",
    summary="Dependent loads through a random cycle, from the first cache to memory, with each page size",
    metrics=(Metric("latency", "s", "time", lambda point: point.work.loads, note="one load, from address to value"),),
    limit=_limit,
    evaluate=_evaluate,
    axis="bytes",
    order=30,
)
