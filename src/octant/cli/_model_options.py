"""Arguments and options that commands of `octant model` share."""

from typing import Annotated

import typer

NetworkArgument = Annotated[str, typer.Argument(help="A network: `octant model list`, or a .toml file.")]
SizeOption = Annotated[
    int | None, typer.Option("--size", "-n", help="Supernodes, groups, nodes [default: the file's].")
]
RoutingOption = Annotated[str | None, typer.Option("--routing", help="Routing, instead of the one in the file.")]
