"""`octant model BENCHMARK`: predict the tests of a benchmark on more nodes."""

from collections.abc import Callable
from typing import Annotated

import typer

from octant.benchmarks import benchmarks
from octant.cli._model_options import NETWORK
from octant.cli._options import JsonOption, StoreOption

MEASURED = "Measured run"


def commands() -> dict[str, Callable[..., None]]:
    """Return the command of each benchmark whose tests the network model predicts."""
    return {name: predict for name, one in benchmarks().items() if one.predicted}


def predict(
    context: typer.Context,
    network: Annotated[
        str,
        typer.Argument(
            help="Network: a name of `octant model list` or a .toml file [default: the nodes that --run measured]."
        ),
    ] = "",
    nodes: Annotated[
        str, typer.Option("--nodes", "-n", help="Numbers of nodes: 1944 or 8,64,1944.", rich_help_panel=NETWORK)
    ] = "8,64,1944",
    run: Annotated[
        str,
        typer.Option(
            help="Run with messages and tests, if no network is given [default: last].", rich_help_panel=MEASURED
        ),
    ] = "",
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Predict the benchmark's tests on larger systems.

    The system is a network of the catalogue or of a file, or consists of nodes like the measured one.
    """
    from octant.benchmarks.table import read_tests
    from octant.cli._stored import find_run
    from octant.failure import Exit, Refusal
    from octant.network import load
    from octant.network.inputs import read_sizes
    from octant.report.network import answers as report
    from octant.simulate.projection import project_to_nodes

    benchmark, counts = benchmarks()[str(context.info_name)], read_sizes(nodes)
    if min(counts) < 2:
        raise Refusal(f"cannot use --nodes {min(counts)} (messages need two nodes); try --nodes 2", Exit.WRONG_WORD)
    if network and run:
        raise Refusal(f"cannot use --run with {network} (both define the network); use one of them", Exit.WRONG_WORD)
    if not network:
        tested = [one.workload for one in read_tests(benchmark.name)]
        found = project_to_nodes(find_run(store, run or "last"), counts, tested)
        print(report.as_json(found) if json else report.answers_text(report.measured_answers(found)))
        return
    described = benchmark.part("described")
    if described is None:
        why = f"{benchmark.short_name} has no prediction for networks of the catalogue or of a file"
        raise Refusal(f"cannot use the network {network} ({why}); try --run", Exit.WRONG_WORD)
    systems = [described.on_system(load(network), count) for count in counts]
    print(
        report.as_json(systems)
        if json
        else "\n\n".join(report.answers_text(report.system_answers(one)) for one in systems)
    )
