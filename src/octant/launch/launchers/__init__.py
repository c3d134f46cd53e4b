"""One file a launcher, the folder is the registration: each has `at_hand(environment)` and `command(program, size)`.

A launcher starts ranks unbound and leaves binding to octant-bind, which is given with the program: what the launchers
mean by the same word differs between them and from version to version.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Protocol, cast

from octant import registry
from octant.failure import Exit, Refusal, suggestion
from octant.registry import Entries


@dataclass(frozen=True)
class JobSize:
    """How many ranks, where, and what each needs."""

    ranks: int = 1
    ranks_per_node: int | None = None  # `None`: all on this node, or as the allocation deals them
    cpus_per_rank: int = 1
    hosts: tuple[str, ...] = ()  # reached by ssh; empty: this node, or the nodes of the allocation
    exported: tuple[str, ...] = ()  # names of variables that must reach ranks on other hosts
    ssh: str = ""  # the program that stands in for ssh; Open MPI is told in its environment; "": ssh

    @property
    def nodes(self) -> int | None:
        """How many nodes, where it is known."""
        if self.hosts:
            return len(self.hosts)
        return -(-self.ranks // self.ranks_per_node) if self.ranks_per_node else None


class Launcher(Protocol):
    """What a launcher's file offers."""

    def at_hand(self, environment: Mapping[str, str]) -> bool:
        """Whether this is the launcher of the allocation that the environment speaks of."""

    def command(self, program: Sequence[str], size: JobSize) -> list[str]:
        """The words that start the program."""


def names() -> list[str]:
    """The launchers there are."""
    return list(entries().working)


def entries() -> Entries[ModuleType]:
    """The launchers that can be used, and those whose file cannot."""
    return registry.entries(__name__, lambda module: registry.declared(module, "at_hand", "command"))


def launcher(name: str) -> Launcher:
    """A launcher by its name.

    Raises:
        Refusal: no such launcher, or its file cannot be used.
    """
    found = entries()
    found.check(name, "launcher")
    if name not in found.working:
        known = suggestion(name, found.working)
        raise Refusal(f"cannot launch with {name!r} (no such launcher); {known}", Exit.WRONG_WORD)
    return cast("Launcher", found.working[name])


def yielding(name: str, size: JobSize) -> dict[str, str]:
    """Variables that let waiting threads give up their core, as the launcher's `yielding` says; {} where it has none.

    Raises:
        Refusal: as `launcher`, or the launcher cannot be asked.
    """
    found: dict[str, str] = getattr(launcher(name), "yielding", lambda _size: {})(size)
    return found


def chosen(name: str, size: JobSize, environment: Mapping[str, str] | None = None) -> str:
    """The launcher to use: the one that was named, else that of the allocation we are in, else this node's.

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
    return next((known for known in names() if launcher(known).at_hand(found)), "mpiexec")
