"""`octant model`: predict communication on other networks and at other sizes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from octant.cli import _model_benchmark
from octant.cli._help import PREDICT
from octant.cli._model_options import (
    NetworkArgument,
    PerNodeOption,
    RoutingOption,
    SizeOption,
    network_option,
    ranks_option,
)
from octant.cli._model_time import app_on_model, collective, ring
from octant.cli._options import LARGEST_SEED, MAX_NODES, JsonOption, StoreOption, finite, options_under

traffic_option, solver_option, failure_option, fitted_option, run_option = map(
    options_under, ("Traffic", "Solver", "Failure", "Fit", "Measured run")
)


def _current_pattern(name: str) -> str:
    """Return the traffic pattern of a name or an alias; print a note about an alias."""
    from octant.network.traffic import ALIASES

    if pattern := ALIASES.get(name.lower()):
        typer.echo(f"octant: {name} is the traffic pattern {pattern}", err=True)
    return pattern or name


TrafficOption = Annotated[
    str,
    traffic_option(
        "--traffic", "-t", callback=_current_pattern, help="Traffic pattern: uniform, randomaccess, shift, …"
    ),
]
SizesOption = Annotated[
    str,
    network_option(
        "--sizes", "--supernodes", "--nodes", help="Sizes: 1,2,24 or 1:64 [default: up to the size in the file]."
    ),
]
SizeListOption = Annotated[
    str,
    network_option(
        "--sizes", "--supernodes", "--nodes", help="Sizes: 1,2,24, 1:64 or 1:64:8 [default: the size in the file]."
    ),
]
SolverOption = Annotated[
    str, solver_option(help="Solver: auto, class, enumeration, max-min, fluid, queue, soft or packets.")
]
ParameterOption = Annotated[
    int,
    traffic_option(
        "--parameter",
        "-p",
        min=0,
        max=2**31 - 1,
        help="Parameter of the pattern: distance of a shift, seed, or target.",
    ),
]
WindowOption = Annotated[
    int | None,
    solver_option(min=1, max=MAX_NODES, help="Packets in flight per node, for the solvers queue and packets."),
]
BytesOption = Annotated[
    str | None,
    traffic_option("--bytes", help="Payload of every flow; only the solver packets depends on it [default: 1MiB]."),
]
JobOption = Annotated[
    str,
    traffic_option(
        "--job", help="Part of the machine that sends: its first N supernodes, groups or nodes, or a list: 2; 0,8; 4:7."
    ),
]
RankOrderOption = Annotated[
    str, ranks_option("--place", help="Order of ranks: block, round-robin, TXYZ, …, or a map file.")
]
PolicyOption = Annotated[
    str | None,
    failure_option(
        "--policy",
        help="Failover policy: stall, twin, spread, detour or recompute [default: that of the network; detour if "
        "it leaves traffic without a route].",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    model = typer.Typer(no_args_is_help=True, help="Predict communication on other networks and at other sizes.")
    model.callback()(watched)
    for heading, commands in _COMMANDS.items():
        for name, command in commands.items():
            model.command(name, rich_help_panel=heading)(command)
    app.add_typer(model, name="model", rich_help_panel=PREDICT)


def watched(context: typer.Context) -> None:
    """Predict communication on other networks and at other sizes."""
    from octant.cli._progress import model_progress

    context.with_resource(model_progress())


def list_networks(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[WORD]...", help="List the networks that contain all words.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """List the networks of the catalogue."""
    from octant.network import load, names
    from octant.report.network import answers as report
    from octant.report.tables.layout import fill

    found = report.select_networks([load(name) for name in names()], words or ())
    print(report.as_json(found) if json else fill("network/answers", "networks", networks=found))


def show(
    network: Annotated[
        str, typer.Argument(help="Network: a name of `octant model list`, a .toml file, or output of `ibnetdiscover`.")
    ],
    json: JsonOption = False,
) -> None:
    """Show the nodes, switches and cables of a network.

    For output of `ibnetdiscover`, also print a network file.
    """
    from octant.network.files import catalogue_path
    from octant.network.inventory import inventory
    from octant.report.network import answers as report

    found = inventory(network)
    print(report.as_json(found) if json else report.inventory_text(found, catalogue_path(network)))


def scale(
    network: NetworkArgument,
    traffic: TrafficOption = "uniform",
    sizes: SizeListOption = "",
    solver: SolverOption = "auto",
    window: WindowOption = None,
    parameter: ParameterOption = 1,
    bytes: BytesOption = None,
    job: JobOption = "",
    routing: RoutingOption = None,
    json: JsonOption = False,
) -> None:
    """Show the rate of a traffic pattern for several sizes.

    Published values are shown with it.
    """
    from octant.network.inputs import read_flow_bytes, read_sizes
    from octant.network.scale import scale as curve_of
    from octant.network.solve import SolverSettings, solver_named
    from octant.network.whatif import with_routing
    from octant.report.network import answers as report

    machine = with_routing(network, routing, None)
    asked = read_sizes(sizes) if sizes else [machine.topology.size()]
    each, how = read_flow_bytes(bytes), SolverSettings(window=window)
    curve = curve_of(machine, traffic, asked, solver_named(solver), how, parameter, each, job)
    print(report.curve_json(curve) if json else report.curve_text(curve))


def solve(
    network: NetworkArgument,
    traffic: TrafficOption = "uniform",
    size: SizeOption = None,
    solver: SolverOption = "auto",
    window: WindowOption = None,
    parameter: ParameterOption = 1,
    pairs: Annotated[
        Path | None, traffic_option(help="Read the traffic from a file with lines 'from to bytes'.")
    ] = None,
    place: RankOrderOption = "block",
    per_node: PerNodeOption = 1,
    bytes: BytesOption = None,
    job: JobOption = "",
    routing: RoutingOption = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Show the rate of a pattern and the limit of each link class.

    The traffic profile:RUN consists of the messages between ranks in the profile of a run.
    """
    from octant.cli._model_profile import is_profile, profile_pattern
    from octant.network.inputs import pairs_of_file, requested_pattern
    from octant.network.solve import SolverSettings, solver_named
    from octant.network.solve import solve as solved
    from octant.network.whatif import sized, with_routing
    from octant.report.network import answers as report

    way, machine = solver_named(solver), sized(with_routing(network, routing, None), size)
    if is_profile(traffic):
        pattern = profile_pattern(machine, traffic, place, per_node, store, pairs=pairs, bytes=bytes, job=job)
    elif pairs is not None:
        pattern = pairs_of_file(machine, pairs, place, per_node, bytes, job)
    else:
        pattern = requested_pattern(machine, way, traffic, parameter, bytes, job)
    answer = solved(machine, pattern, way, SolverSettings(window=window))
    print(report.as_json(answer) if json else report.answer_text(answer))


def explain(
    network: NetworkArgument,
    traffic: TrafficOption = "uniform",
    size: SizeOption = None,
    parameter: ParameterOption = 1,
    place: RankOrderOption = "block",
    per_node: PerNodeOption = 1,
    job: JobOption = "",
    routing: RoutingOption = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Show what limits a pattern, the next limit, and possible gains.

    The traffic profile:RUN consists of the messages between ranks in the profile of a run.
    """
    from octant.cli._model_profile import is_profile, profile_pattern
    from octant.network.whatif import explain as explained
    from octant.network.whatif import pattern_at, sensitivity, sized, with_routing
    from octant.report.network import answers as report

    whole = with_routing(network, routing, None)
    if is_profile(traffic):
        machine = sized(whole, size)
        pattern = profile_pattern(machine, traffic, place, per_node, store, job=job)
    else:
        machine, pattern = pattern_at(whole, traffic, size, parameter, job)
    explanation, worth = explained(machine, pattern), sensitivity(machine, pattern)
    if json:
        print(report.as_json({"explanation": explanation, "sensitivity": worth}))
    else:
        print(report.explanation_text(explanation, worth))


def diff(
    first: NetworkArgument,
    second: NetworkArgument,
    traffic: TrafficOption = "uniform",
    sizes: SizeListOption = "",
    job: JobOption = "",
    routing: Annotated[
        str | None, typer.Option(help="Routing of the second network, instead of the one in its file.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Compare two networks or two routings by size."""
    from octant.network.inputs import read_sizes
    from octant.network.whatif import diff as difference
    from octant.network.whatif import with_routing
    from octant.report.network import answers as report
    from octant.report.tables.layout import fill

    a, b = with_routing(first, None, None), with_routing(second, routing, None)
    rows = difference(a, b, traffic, read_sizes(sizes) if sizes else [a.topology.size()], job)
    print(
        report.as_json(rows) if json else fill("network/answers", "differences", first=first, second=second, rows=rows)
    )


def reach(
    network: NetworkArgument,
    target: Annotated[
        float, typer.Argument(min=0, max=1e18, callback=finite, help="Target rate in base units (e.g. 1e9).")
    ],
    traffic: TrafficOption = "uniform",
    size: SizeOption = None,
    parameter: ParameterOption = 1,
    json: JsonOption = False,
) -> None:
    """Find the smallest capacity change that reaches a target rate."""
    from octant.network.whatif import pattern_at, smallest_change, with_routing
    from octant.report.network import answers as report
    from octant.report.tables.layout import fill

    machine, pattern = pattern_at(with_routing(network, None, None), traffic, size, parameter)
    change = smallest_change(machine, pattern, target)
    print(report.as_json(change) if json else fill("network/answers", "change", c=change, unit=f"{pattern.unit}/s"))


def bracket(
    network: NetworkArgument,
    against: Annotated[str, typer.Option(help="Second routing: valiant, indirect, …")],
    traffic: TrafficOption = "uniform",
    size: SizeOption = None,
    parameter: ParameterOption = 1,
    job: JobOption = "",
    routing: RoutingOption = None,
    json: JsonOption = False,
) -> None:
    """Bound adaptive routing by two oblivious routings.

    The upper bound is the ideal split of every flow between them.
    """
    from octant.network.whatif import bracket as bracketed
    from octant.network.whatif import pattern_at, with_routing
    from octant.report.network import answers as report
    from octant.report.tables.layout import fill

    machine, pattern = pattern_at(with_routing(network, routing, None), traffic, size, parameter, job)
    found = bracketed(machine, pattern, against)
    print(report.as_json(found) if json else fill("network/answers", "bracket", b=found, unit=f"{pattern.unit}/s"))


def fail(
    network: NetworkArgument,
    link_class: Annotated[str, failure_option("--class", "-c", help="Class of the links that fail.")],
    traffic: TrafficOption = "uniform",
    size: SizeOption = None,
    policy: PolicyOption = None,
    lanes: Annotated[
        int | None,
        failure_option(min=1, max=1000, help="Number of failed lanes per cable, after spares [default: all]."),
    ] = None,
    random: Annotated[
        int | None, failure_option(min=1, max=MAX_NODES, help="Let this number of random links fail together instead.")
    ] = None,
    trials: Annotated[int, failure_option(min=1, max=100_000, help="Number of trials of --random.")] = 100,
    seed: Annotated[int, failure_option(min=0, max=LARGEST_SEED, help="Seed of --random.")] = 1,
    parameter: ParameterOption = 1,
    json: JsonOption = False,
) -> None:
    """Show the effect of failed cables, one by one or in random sets.

    The policy decides where the traffic of a failed cable goes. stall: it stops. twin: to the parallel cable.
    spread: to all working cables or paths of the routing. detour: as spread; where none is left, over any intermediate
    group, or along the shortest remaining paths. recompute: all traffic takes shortest paths, also before the failure.
    """
    from octant.network.failures import failure_sweep, random_by_default, random_failures, sweep_by_default
    from octant.network.whatif import pattern_at, with_routing
    from octant.report.network import answers as report
    from octant.report.tables.layout import fill

    machine, pattern = pattern_at(with_routing(network, None, policy), traffic, size, parameter)
    left = machine.link_class_left(link_class, lanes)
    if random is not None:
        draw = random_by_default if policy is None else random_failures
        drawn = draw(machine, pattern, link_class, random, trials, left, seed)
        print(report.as_json(drawn) if json else fill("network/failures", "random", r=drawn, unit=f"{pattern.unit}/s"))
        return
    compute_sweep = sweep_by_default if policy is None else failure_sweep
    sweep = compute_sweep(machine, pattern, link_class, left=left)
    print(report.as_json(sweep) if json else report.sweep_text(sweep, pattern.unit))


def recover(
    network: NetworkArgument,
    link_class: Annotated[
        str, failure_option("--class", "-c", help="Class of the link that fails (the first cable of the class).")
    ],
    traffic: TrafficOption = "shift",
    size: SizeOption = None,
    megabytes: Annotated[
        float, traffic_option(min=1e-6, max=1e6, callback=finite, help="Message size in MB (10^6 bytes).")
    ] = 1.0,
    fails: Annotated[str, failure_option(help="Time of the failure after the start.")] = "20us",
    timeout: Annotated[str, failure_option(help="Retransmission timer.")] = "100us",
    ping: Annotated[str, failure_option(help="Time until a ping confirms the failure.")] = "10us",
    parameter: ParameterOption = 1,
    json: JsonOption = False,
) -> None:
    """Simulate a link failure during an exchange.

    Shows the time to detection and failover, and what is lost.
    """
    from octant.network import make
    from octant.network.failures import recover as recovered
    from octant.network.failures import require_cables
    from octant.network.inputs import read_seconds
    from octant.network.whatif import sized, with_routing
    from octant.report.network import answers as report
    from octant.report.tables.layout import fill

    machine = sized(with_routing(network, None, None), size)
    pattern = make(machine, traffic, parameter, megabytes * 1e6)
    link = int(require_cables(machine, link_class)[0])
    recovery = recovered(machine, pattern, link, read_seconds(fails), read_seconds(timeout), read_seconds(ping))
    print(report.as_json(recovery) if json else fill("network/failures", "recovery", r=recovery))


def calibrate(
    network: NetworkArgument,
    free: Annotated[
        str, fitted_option(help="Link classes to fit, separated by commas; `endpoint` is injection and ejection.")
    ] = "",
    traffic: TrafficOption = "uniform",
    points: Annotated[
        Path | None,
        fitted_option(
            help="File with lines 'size rate [tolerance] [eq|at_least|at_most]' [default: published values]."
        ),
    ] = None,
    tolerance: Annotated[
        float, fitted_option(min=1e-9, max=0.999, callback=finite, help="Relative tolerance of points without one.")
    ] = 0.05,
    run: Annotated[str, run_option(help="Fit to measured values of this run instead (an id or last).")] = "",
    kernel: Annotated[
        str, run_option(help="With --run: use only this workload, with knobs that select its points.")
    ] = "",
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Fit link capacities to measured or published values."""
    from octant.cli._stored import find_run
    from octant.network.inputs import calibrate_to_points
    from octant.network.whatif import with_routing
    from octant.report.network import answers as report
    from octant.report.tables.layout import fill
    from octant.simulate.run_calibration import calibrate_from_run

    machine, classes = with_routing(network, None, None), [name for name in free.split(",") if name]
    if run:
        found = calibrate_from_run(machine, find_run(store, run), kernel, classes)
        print(report.as_json(found) if json else report.store_calibration_text(found))
        return
    fit = calibrate_to_points(machine, traffic, points, tolerance, classes)
    print(report.as_json(fit) if json else fill("network/calibration", "fit", f=fit))


def export(
    network: NetworkArgument,
    to: Annotated[
        str, typer.Option("--to", help="Format: edges, graph (a network file) or simgrid (platform XML).")
    ] = "edges",
    size: SizeOption = None,
) -> None:
    """Print a network in the format of another tool."""
    from octant.network.export import write
    from octant.network.whatif import sized, with_routing

    print(write(sized(with_routing(network, None, None), size), to), end="")


def check(
    network: NetworkArgument,
    traffic: TrafficOption = "uniform",
    size: SizeOption = None,
    other: Annotated[str, typer.Option("--with", help="Simulator to compare with: simgrid.")] = "simgrid",
    bytes: Annotated[str, typer.Option(help="Payload of every flow.")] = "8KiB",
    parameter: ParameterOption = 1,
    routing: RoutingOption = None,
    json: JsonOption = False,
) -> None:
    """Compare the answer of the model with SimGrid.

    In SimGrid, one rank per node sends all its flows at once.
    """
    from octant.network.whatif import sized, with_routing
    from octant.report.network import answers as report
    from octant.report.tables.layout import fill
    from octant.simulate.simgrid import compare_with_simulator

    machine = sized(with_routing(network, routing, None), size)
    found = compare_with_simulator(other, machine, traffic, bytes, parameter)
    print(report.as_json(found) if json else fill("network/times", "opinion", o=found))


def loads(
    network: NetworkArgument,
    traffic: TrafficOption = "uniform",
    sizes: SizesOption = "",
    job: JobOption = "",
    svg: Annotated[
        Path | None,
        typer.Option(
            help="Write a drawing to this file (SVG): link loads of several sizes, or the topology of one size."
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Draw rate and link loads by size, in the terminal or as SVG."""
    from octant.network.inputs import read_sizes
    from octant.network.overview import overview
    from octant.network.whatif import with_routing
    from octant.report.network import answers as report
    from octant.report.network import svg as network_svg
    from octant.report.page import html

    machine, asked = with_routing(network, None, None), read_sizes(sizes) if sizes else ()
    found = overview(machine, traffic, asked, failures=False, job=job)
    if svg is not None:
        print(html.save(network_svg.drawing(found.maps, found.curve.size_word), svg))
        return
    print(report.as_json(found) if json else report.overview_text(found))


def report_page(
    network: NetworkArgument,
    traffic: TrafficOption = "uniform",
    sizes: SizesOption = "",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Write to this HTML file [default: models/NETWORK-TRAFFIC.html in the store]."
        ),
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Write an HTML page with rates, link loads and failures."""
    from octant.cli._progress import status_line
    from octant.network.inputs import read_sizes
    from octant.network.overview import overview
    from octant.network.whatif import with_routing
    from octant.report.network import answers as report
    from octant.report.network import page as network_page
    from octant.store import open_store

    machine = with_routing(network, None, None)
    with status_line() as tick:
        found = overview(machine, traffic, read_sizes(sizes) if sizes else (), tick)
    if json:
        print(report.as_json(found))
        return
    print(network_page.write(found, output or open_store(store).page(f"{machine.name}-{traffic}.html")))


_COMMANDS: dict[str, dict[str, Callable[..., None]]] = {
    "Rates and times": {
        "scale": scale,
        "solve": solve,
        "collective": collective,
        "ring": ring,
        "app": app_on_model,
        **_model_benchmark.commands(),
    },
    "Limits and improvements": {"explain": explain, "diff": diff, "reach": reach, "bracket": bracket},
    "Failures": {"fail": fail, "recover": recover},
    "Pictures": {"loads": loads, "report": report_page},
    "Networks": {"list": list_networks, "show": show, "calibrate": calibrate, "check": check, "export": export},
}
"""Commands by heading of the help."""
