"""`octant model collective|ring|app`: predict the time of collectives, rings and application steps on a network."""

from __future__ import annotations

from typing import Annotated

import typer

from octant.cli._model_options import NetworkArgument, PerNodeOption, RoutingOption, SizeOption, ranks_option
from octant.cli._options import MAX_RANKS, JsonOption, StoreOption, finite, options_under

operation_option, step_option, costs_option, noise_option = map(
    options_under, ("Operation", "Time step", "Message costs", "OS noise")
)

PlaceOption = Annotated[str, ranks_option(help="Order of ranks over nodes: block, round-robin, TXYZ, …")]
OverheadOption = Annotated[str, costs_option(help="Software overhead per message at each end (o of LogGP).")]
LatencyOption = Annotated[str, costs_option(help="Message latency, if the network file does not state it.")]


def collective(
    network: NetworkArgument,
    operation: Annotated[
        str, typer.Argument(help="Operation: allreduce, bcast, reduce, gather, scatter, allgather, alltoall, scan, …")
    ],
    bytes: Annotated[
        str, operation_option(help="Buffer size; for gathers, scatters and alltoall the block size per rank.")
    ] = "8",
    sizes: Annotated[
        str, operation_option(help="Several buffer sizes instead: 8:1GiB (powers of two) or 8,64KiB.")
    ] = "",
    ranks: Annotated[
        int | None, ranks_option(min=1, max=MAX_RANKS, help="Number of ranks [default: all nodes in use].")
    ] = None,
    algorithm: Annotated[str, operation_option(help="Algorithm name, or 'all'.")] = "all",
    per_node: PerNodeOption = 1,
    place: PlaceOption = "block",
    routing: RoutingOption = None,
    overhead: OverheadOption = "0s",
    latency: LatencyOption = "",
    noise: Annotated[
        str, noise_option(help="OS noise per core as DURATION/PERIOD, e.g. 50us/10ms; several with commas.")
    ] = "",
    noise_of: Annotated[
        str, noise_option(help="Use the OS noise that this run measured instead (an id or last).")
    ] = "",
    size: SizeOption = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Compare the algorithms of one collective operation."""
    from octant.cli._stored import find_run
    from octant.network.collectives import time_collective
    from octant.network.inputs import read_byte_sizes, read_costs
    from octant.network.noise import read_interruptions
    from octant.network.traffic import place as placed
    from octant.network.whatif import sized, with_routing
    from octant.report.network import text as report
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
        int | None, ranks_option(min=2, max=MAX_RANKS, help="Number of ranks [default: all nodes in use].")
    ] = None,
    rings: Annotated[int, operation_option(min=1, max=1000, help="Number of random rings (geometric mean).")] = 30,
    per_node: PerNodeOption = 1,
    place: PlaceOption = "block",
    routing: RoutingOption = None,
    overhead: OverheadOption = "0s",
    latency: LatencyOption = "",
    size: SizeOption = None,
    json: JsonOption = False,
) -> None:
    """Predict the ordered and random rings of HPC Challenge."""
    from octant.network.inputs import read_costs
    from octant.network.rings import rings as ring_times
    from octant.network.traffic import place as placed
    from octant.network.whatif import sized, with_routing
    from octant.report.network import answers
    from octant.report.network import text as report

    machine = sized(with_routing(network, routing, None), size)
    count = len(machine.topology.active()) * per_node if ranks is None else ranks
    found = ring_times(machine, placed(machine, place, count, per_node), read_costs(overhead, latency), rings)
    print(answers.as_json(found) if json else report.rings_text(machine, count, found))


def app_on_model(
    network: NetworkArgument,
    ranks: Annotated[str, ranks_option(help="Numbers of ranks: 8,64 or 1:64.")] = "64",
    compute: Annotated[str, step_option(help="Compute time per rank and time step, e.g. 1ms.")] = "",
    run: Annotated[
        str, step_option(help="Take the compute time from this run, which measured --kernel (an id or last).")
    ] = "",
    kernel: Annotated[str, step_option(help="With --run: the workload, with knobs that select a point.")] = "",
    chunks: Annotated[
        float,
        step_option(
            min=0,
            max=1e12,
            callback=finite,
            help="With --run: number of chunks or steps of the kernel per rank and time step.",
        ),
    ] = 1.0,
    halo: Annotated[
        list[str] | None,
        step_option(help="Halo exchange with each neighbour: 3d:64KiB[:COUNT] or 2d:64KiB[:COUNT] (repeatable)."),
    ] = None,
    reduce: Annotated[list[str] | None, step_option(help="Allreduce: BYTES[:COUNT[:ALGORITHM]] (repeatable).")] = None,
    algorithm: Annotated[str, step_option(help="Algorithm of reductions without one; all: the fastest.")] = "all",
    per_node: PerNodeOption = 1,
    place: PlaceOption = "block",
    routing: RoutingOption = None,
    overhead: OverheadOption = "0s",
    latency: LatencyOption = "",
    size: SizeOption = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Predict the time step of an application."""
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
