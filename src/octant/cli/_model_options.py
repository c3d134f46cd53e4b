"""Arguments and options that commands of `octant model` share."""

from typing import Annotated

import typer

from octant.cli._options import MOST_NODES

NETWORK, RANKS = "Network", "Ranks"
"""Headings of options."""

NetworkArgument = Annotated[str, typer.Argument(help="A network: `octant model list`, or a .toml file.")]
SizeOption = Annotated[
    int | None,
    typer.Option(
        "--size",
        "-n",
        min=1,
        max=MOST_NODES,
        help="Supernodes, groups, nodes [default: the file's].",
        rich_help_panel=NETWORK,
    ),
]
PerNodeOption = Annotated[int, typer.Option(min=1, max=4096, help="Ranks per node.", rich_help_panel=RANKS)]
RoutingOption = Annotated[
    str | None, typer.Option("--routing", help="Routing, instead of the one in the file.", rich_help_panel=NETWORK)
]
