"""Arguments and options that several commands of `octant model` share."""

from typing import Annotated

import typer

from octant.cli._options import MAX_NODES, options_under

NETWORK, RANKS = "Network", "Ranks"
"""Headings of options."""
network_option, ranks_option = map(options_under, (NETWORK, RANKS))

NetworkArgument = Annotated[str, typer.Argument(help="Network: a name of `octant model list` or a .toml file.")]
SizeOption = Annotated[
    int | None,
    network_option(
        "--size", "-n", min=1, max=MAX_NODES, help="Number of supernodes, groups or nodes [default: as in the file]."
    ),
]
PerNodeOption = Annotated[int, ranks_option(min=1, max=4096, help="Number of ranks per node.")]
RoutingOption = Annotated[str | None, network_option("--routing", help="Routing [default: as in the file].")]
