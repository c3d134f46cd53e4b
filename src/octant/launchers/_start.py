"""The role `start`: the command line that starts ranks.

A launcher starts ranks unbound and leaves binding to octant-bind, which is given with the program: what the launchers
mean by the same word differs between them and from version to version.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from octant.launchers._roles import find, launchers_with_role


@dataclass(frozen=True)
class JobSize:
    """Number of ranks, hosts, and resources of each rank."""

    ranks: int = 1
    ranks_per_node: int | None = None  # `None`: all on this node, or as the allocation deals them
    cpus_per_rank: int = 1
    hosts: tuple[str, ...] = ()  # reached by ssh; empty: this node, or the nodes of the allocation
    exported: tuple[str, ...] = ()  # names of variables that must reach ranks on other hosts
    ssh: str = ""  # the program to use as ssh; Open MPI reads it from its environment; "": ssh

    @property
    def nodes(self) -> int | None:
        """Return the number of nodes, if known."""
        if self.hosts:
            return len(self.hosts)
        return -(-self.ranks // self.ranks_per_node) if self.ranks_per_node else None

    @property
    def ranks_per_host(self) -> str:
        """Return the largest number of ranks per host as text; "" without hosts."""
        return str(-(-self.ranks // len(self.hosts))) if self.hosts else ""


class Launcher(Protocol):
    """Interface of a launcher's file."""

    def at_hand(self, environment: Mapping[str, str]) -> bool:
        """Return whether the environment is that of an allocation of this launcher."""

    def command(self, program: Sequence[str], size: JobSize) -> list[str]:
        """Return the command line that starts the program."""


def launcher(name: str) -> Launcher:
    """Return a launcher by its name.

    Raises:
        Refusal: no such launcher, or its file cannot be used.
    """
    return cast("Launcher", find("start", name))


def yielding(name: str, size: JobSize) -> dict[str, str]:
    """Return variables that let waiting threads yield, from the launcher's `yielding`; {} if it has none.

    Raises:
        Refusal: as `launcher`, or the launcher cannot be asked.
    """
    found: dict[str, str] = getattr(launcher(name), "yielding", lambda _size: {})(size)
    return found


def chosen(name: str, size: JobSize, environment: Mapping[str, str] | None = None) -> str:
    """Return the launcher to use: the given one, or that of the current allocation, or that of this node.

    One rank on this node needs none, not even inside an allocation.
    """
    if name:
        launcher(name)
        return name
    if size.hosts:
        return "mpiexec"
    if size.ranks == 1:
        return "direct"
    found = os.environ if environment is None else environment
    return next((known for known, one in launchers_with_role("start").items() if one.at_hand(found)), "mpiexec")
