"""One message there and back: what MPI adds to the wire, by length."""

from octant.machine import Machine
from octant.record import Point
from octant.workload import Ask, Ceilings, Limit, Metric, Workload

SIZES = (0, *(2**power for power in range(23)))  # 0, 1, 2, … 4 MiB


def _limit(_machine: Machine, ceilings: Ceilings, point: Point) -> Limit | None:
    """Between ranks of one node: a message is at least read once and written once, at the memory's best rate.

    `None` for messages so short that the rate has no part in it, and between nodes, whose link is not known here.
    """
    hosts = {given.host for given in point.given}
    best = max(ceilings.memory_bytes_per_s.values(), default=0.0)
    length = point.work.message_bytes / point.work.messages
    if len(hosts) > 1 or not best or length < 65536 or point.knobs["buffers"] != "rotating":
        return None
    return Limit(2 * length / best, "one read and one write of the message at the best memory traffic of this run")


def rotation_bytes(machine: Machine) -> int:
    """How far rotating buffers walk: twice a core's share of the last-level cache, at least 16 and at most 128 MiB."""
    cores = max(1, len({cpu.core for cpu in machine.topology.cpus}))
    return min(max(2 * machine.may_be_cached_bytes() // cores, 2**24), 2**27)


def _evaluate(machine: Machine, quick: bool) -> tuple[Ask, ...]:
    seconds = "0.3" if quick else "2"
    sizes = SIZES if not quick else (0, 1, *SIZES[4::2], SIZES[-1])
    hot = {"seconds": seconds, "bytes": ",".join(map(str, dict.fromkeys(sizes)))}
    lengths = ",".join(str(2**power) for power in range(12, 23, 2))
    rotating = {"seconds": seconds, "buffers": "rotating", "rotation": str(rotation_bytes(machine))}
    return (
        Ask("all", {**hot, "bytes": "8", "seconds": "1"}, "ping-pong 8 B, hot buffers"),
        Ask("all", {**rotating, "bytes": str(2**20), "seconds": "1"}, "ping-pong 1 MiB, rotating buffers"),
        Ask("all", hot, "ping-pong against length, hot buffers", table=False),
        Ask("all", {**rotating, "bytes": lengths}, "ping-pong against length, rotating buffers", table=False),
    )  # fmt: skip


WORKLOAD = Workload(
    name="pingpong",
    summary="One message there and back between the first rank and the last, by length",
    metrics=(
        Metric("time", "s", "time", lambda point: point.work.messages, note="one way: half of there and back"),
        Metric("bandwidth", "B/s", "rate", lambda point: point.work.message_bytes, note="one way"),
    ),
    limit=_limit,
    evaluate=_evaluate,
    axis="bytes",
    order=50,
)
