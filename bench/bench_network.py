"""CPU time of the network model in the cases that must remain interactive.

It prints a table and asserts nothing; docs/network-model.md has the targets.
"""

import resource
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from octant.network import NetworkFile, TrafficPattern, load, make, solve
from octant.network.collectives import MessageCosts, fastest, programs
from octant.network.failures import failure_sweep
from octant.network.inventory import inventory
from octant.network.solve import SolverSettings
from octant.network.traffic import Flows, bulk

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

from fabrics import FatTree


def torus(*sizes: int) -> NetworkFile:
    base = load("bgp")
    change = {"sizes": sizes, "wraps": True}
    words = replace(base.routing, name="dimension-ordered")
    return replace(base, topology=replace(base.topology, **change), routing=words)


def all_scales() -> str:
    machine = load("power775")
    rates = []
    for supernodes in range(1, 513):
        sized = machine.at_size(supernodes)
        rates.append(solve(sized, make(sized, "randomaccess"), "class").rate_per_s)
    return f"{len(rates)} scales"


def permutation() -> str:
    machine = torus(32, 32, 16)
    return f"{len(solve(machine, make(machine, 'random', 1), 'max-min').rates)} flows"


def million_flows(machine: NetworkFile) -> str:
    generator = np.random.default_rng(1)
    active = machine.topology.active()
    ends = generator.choice(active, (2, 1 << 20)).astype(np.int32)
    pattern = TrafficPattern(
        "random", "B", bulk(machine), active, Flows(ends[0], ends[1], np.ones(1 << 20)), per="flow"
    )
    return f"{len(solve(machine, pattern, 'max-min').rates)} flows"


def sweep() -> str:
    machine = load("power775")
    return f"{len(failure_sweep(machine, make(machine, 'ptrans'), 'D', 'spread').links)} cables"


def everything() -> str:
    machine = load("power775").at_size(512)
    loads = solve(machine, make(machine, "ptrans"), "enumeration").loads
    return f"{len(loads)} links, {len(machine.topology.active()) ** 2} pairs"


def sums(machine: NetworkFile, routing: str) -> str:
    words = replace(machine.routing, name=routing)
    machine = replace(machine, routing=words)
    answer = solve(machine, make(machine, "uniform"), settings=SolverSettings(every_link=True))
    return f"{machine.topology.nodes()} nodes, {len(answer.loads)} links, {answer.solver}"


def dragonfly() -> NetworkFile:
    base = load("dragonfly-example")
    change = {"groups": 74, "routers": 32, "nodes_per_router": 16, "global_links": 16}
    return replace(base, topology=replace(base.topology, **change))


def mesh() -> NetworkFile:
    base = torus(64, 32, 32)
    return replace(base, topology=replace(base.topology, wraps=(True, True, False)))


def each_cable(supernodes: int, policy: str) -> str:
    machine = load("power775").at_size(supernodes)
    return f"{len(failure_sweep(machine, make(machine, 'randomaccess'), 'D', policy).links)} cables"


def example_cables(link_class: str, policy: str) -> str:
    machine = load("dragonfly-example")
    found = failure_sweep(machine, make(machine, "uniform"), link_class, policy)
    return f"{len(found.links)} cables, {found.worst_per_s / found.base_per_s:.1%} of the rate after the worst"


def packets() -> str:
    machine = load("power775").at_size(24)
    solve(machine, make(machine, "randomaccess"), "packets", SolverSettings(packets=2000))
    return "744 octants × 2000 updates"


def collective(ranks: int, machine: NetworkFile) -> str:
    found, _ = programs(machine, "allreduce", machine.topology.active()[:ranks], MessageCosts(1e-6))
    return f"{len(found)} algorithms, {fastest(found, 2**30).algorithm} {fastest(found, 2**30).at(2**30).steps} steps"


def every_pair() -> str:
    machine = torus(16, 16, 8)
    programs(machine, "alltoall", machine.topology.active(), MessageCosts(1e-6))
    return "4.2 million messages in each of four algorithms"


def fabric(*down: int) -> str:
    """Read and show the dump of a fat tree without oversubscription."""
    text = FatTree(down, (down[0],) * (len(down) - 1), aggregation=True).make().text()
    begin = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        dump = Path(folder) / "fabric.ibnet"
        dump.write_text(text)
        shown = inventory(str(dump))
    lines = text.count("\n")
    return f"{shown.nodes} nodes, {lines} lines; without making the dump {time.process_time() - begin:.3f} s"


CASES: tuple[tuple[str, float | None, Callable[[], str]], ...] = (
    ("Power 775, RandomAccess, every scale 1 … 512 supernodes", 1.0, all_scales),
    ("max-min, random permutation, torus 32×32×16", 0.2, permutation),
    ("max-min, a million flows, 64 supernodes", 5.0, lambda: million_flows(load("power775"))),
    ("max-min, a million flows, torus 8×8×8", 5.0, lambda: million_flows(torus(8, 8, 8))),
    ("N-1 sweep over all D cables of 64 supernodes", 10.0, sweep),
    ("enumeration of all pairs, 512 supernodes", None, everything),
    ("Valiant, uniform, dragonfly 74 × 32 × 16", 10.0, lambda: sums(dragonfly(), "valiant")),
    ("indirect, uniform, 512 supernodes", 10.0, lambda: sums(load("power775").at_size(512), "indirect")),
    ("random-minimal, uniform, 64×32×32, one side open", 10.0, lambda: sums(mesh(), "random-minimal")),
    ("Valiant, uniform, 64×32×32, one side open", 10.0, lambda: sums(mesh(), "valiant")),
    ("N-1, 512 supernodes, spread", 10.0, lambda: each_cable(512, "spread")),
    ("N-1, 512 supernodes, recompute", 10.0, lambda: each_cable(512, "recompute")),
    ("N-1, 200 supernodes, recompute", 10.0, lambda: each_cable(200, "recompute")),
    ("N-1, 512 supernodes, detour", 60.0, lambda: each_cable(512, "detour")),
    *(
        (f"N-1, 528 global cables of a dragonfly, {policy}", 10.0, partial(example_cables, "global", policy))
        for policy in ("stall", "spread", "detour", "recompute")
    ),
    ("N-1, 924 local cables of a dragonfly, detour", 10.0, partial(example_cables, "group", "detour")),
    ("packet simulation, 24 supernodes", None, packets),
    ("allreduce of 1 GiB, 1,024 ranks, dragonfly", 2.0, lambda: collective(1024, load("dragonfly-example"))),
    ("allreduce of 1 GiB, 16,384 ranks, torus 32×32×16", 10.0, lambda: collective(16384, torus(32, 32, 16))),
    ("alltoall, 2,048 ranks, torus 16×16×8", None, every_pair),
    ("dump of a fabric of 1,000 nodes: made, read, shown", None, lambda: fabric(25, 40)),
    ("dump of a fabric of 5,000 nodes: made, read, shown", 2.0, lambda: fabric(25, 20, 10)),
)


def main() -> None:
    print(f"{'case':58} {'CPU s':>8} {'target':>7}  size")
    for name, target, case in CASES:
        begin = time.process_time()
        size = case()
        used = time.process_time() - begin
        print(f"{name:58} {used:8.3f} {f'{target:g}' if target else '':>7}  {size}")
    print(f"largest resident set: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB (target 477)")


if __name__ == "__main__":
    main()
