"""`octant model collective|ring|app`: how long collectives, rings and the steps of applications take on a network."""

from __future__ import annotations

from typing import Annotated

import typer

from octant.cli._model_options import NetworkArgument, PerNodeOption, RoutingOption, SizeOption, ranks_option
from octant.cli._options import MOST_RANKS, JsonOption, StoreOption, finite, options_under

operation_option, step_option, costs_option, noise_option = map(
    options_under, ("Operation", "Time step", "Costs of a message", "Interruptions")
)

PlaceOption = Annotated[str, ranks_option(help="Order of ranks: block, round-robin, TXYZ, …")]
OverheadOption = Annotated[str, costs_option(help="Software overhead of a message at either end (LogGP's o).")]
LatencyOption = Annotated[
    str, costs_option(help="Latency of messages of which the network's file states none [default: they are refused].")
]


def collective(
    network: NetworkArgument,
    operation: Annotated[
        str, typer.Argument(help="allreduce, bcast, reduce, gather, scatter, allgather, alltoall, scan, …")
    ],
    bytes: Annotated[
        str, operation_option(help="The buffer; of gathers, scatters and alltoall the block of each rank.")
    ] = "8",
    sizes: Annotated[str, operation_option(help="Instead: 8:1GiB, every size twice the one before, or 8,64KiB.")] = "",
    ranks: Annotated[
        int | None, ranks_option(min=1, max=MOST_RANKS, help="Number of ranks [default: all nodes are full].")
    ] = None,
    algorithm: Annotated[str, operation_option(help="One of the operation's, or all.")] = "all",
    per_node: PerNodeOption = 1,
    place: PlaceOption = "block",
    routing: RoutingOption = None,
    overhead: OverheadOption = "0s",
    latency: LatencyOption = "",
    noise: Annotated[
        str, noise_option(help="Of every core: 50us/10ms (50 us long, one every 10 ms), or several.")
    ] = "",
    noise_of: Annotated[str, noise_option(help="Instead: as a run of the store (`last`) measured them.")] = "",
    size: SizeOption = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Compare the algorithms of one collective: steps, bytes, time, what limits, and which is the fastest."""
    from octant.cli._stored import find_run
    from octant.network.collectives import time_collective
    from octant.network.inputs import read_byte_sizes, read_costs
    from octant.network.noise import read_interruptions
    from octant.network.traffic import place as placed
    from octant.network.whatif import sized, with_routing
    from octant.report.network import collectives as report
    from octant.simulate.noise import interruptions_of

    machine = sized(with_routing(network, routing, None), size)
    count = len(machine.topology.active()) * per_node if ranks is None else ranks
    nodes = placed(machine, place, count, per_node)
    costs = read_costs(overhead, latency)
    found = time_collective(machine, operation, nodes, read_byte_sizes(sizes or bytes), costs, algorithm)
    kinds = read_interruptions(noise) if noise else []
    if noise_of:
        kinds += interruptions_of(find_run(store, noise_of))
    print(report.collective_json(found, kinds) if json else report.collective_text(found, kinds))


def ring(
    network: NetworkArgument,
    ranks: Annotated[
        int | None, ranks_option(min=2, max=MOST_RANKS, help="Number of ranks [default: all nodes are full].")
    ] = None,
    rings: Annotated[int, operation_option(min=1, max=1000, help="Random rings, averaged geometrically.")] = 30,
    per_node: PerNodeOption = 1,
    place: PlaceOption = "block",
    routing: RoutingOption = None,
    overhead: OverheadOption = "0s",
    latency: LatencyOption = "",
    size: SizeOption = None,
    json: JsonOption = False,
) -> None:
    """Predict the ordered and random rings of HPC Challenge: latency, and bandwidth of each rank."""
    from octant.network.inputs import read_costs
    from octant.network.rings import rings as ring_times
    from octant.network.traffic import place as placed
    from octant.network.whatif import sized, with_routing
    from octant.report.network import answers
    from octant.report.network import collectives as report

    machine = sized(with_routing(network, routing, None), size)
    count = len(machine.topology.active()) * per_node if ranks is None else ranks
    found = ring_times(machine, placed(machine, place, count, per_node), read_costs(overhead, latency), rings)
    print(answers.as_json(found) if json else report.rings_text(machine, count, found))


def app_on_model(
    network: NetworkArgument,
    ranks: Annotated[str, ranks_option(help="Numbers of ranks: 8,64 or 1:64.")] = "64",
    compute: Annotated[str, step_option(help="Compute time of every rank per step, in seconds.")] = "",
    run: Annotated[str, step_option(help="Instead: a run of the store (`last`) that measured --kernel.")] = "",
    kernel: Annotated[str, step_option(help="With --run: the workload, and knobs that select a point.")] = "",
    chunks: Annotated[
        float,
        step_option(
            min=0, max=1e12, callback=finite, help="With --run: chunks or steps of the kernel per rank and time step."
        ),
    ] = 1.0,
    halo: Annotated[list[str] | None, step_option(help="3d:64KiB[:count] or 2d:…, to each neighbour.")] = None,
    reduce: Annotated[list[str] | None, step_option(help="Allreduce of this size: bytes[:count[:algorithm]].")] = None,
    algorithm: Annotated[str, step_option(help="Of reductions that name none; all: the fastest of each.")] = "all",
    per_node: PerNodeOption = 1,
    place: PlaceOption = "block",
    routing: RoutingOption = None,
    overhead: OverheadOption = "0s",
    latency: LatencyOption = "",
    size: SizeOption = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Predict the time step of an application: computing given or measured here, messages on the modelled network."""
    from functools import partial

    from octant.cli._stored import find_run
    from octant.network.inputs import read_costs, read_sizes
    from octant.network.whatif import sized, with_routing
    from octant.report.network import answers as report
    from octant.report.network import text as network_text
    from octant.simulate.timestep import compose_step, step_time

    machine = sized(with_routing(network, routing, None), size)
    step = compose_step(
        compute, partial(find_run, store, run) if run else None, kernel, chunks, halo or [], reduce or []
    )
    costs, counts = read_costs(overhead, latency), read_sizes(ranks)
    times = [step_time(machine, step, count, per_node, place, costs, algorithm) for count in counts]
    print(report.as_json({"step": step, "times": times}) if json else network_text.steps_text(machine, step, times))
