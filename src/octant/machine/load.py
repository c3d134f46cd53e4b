"""Machines by their names on the command line: the local one, a file, a recording or a synthetic description."""

import os
from pathlib import Path

from octant.machine import Machine, PageSize, Topology, hwloc
from octant.machine.discover import discover
from octant.machine.sanity import check_machine


def load_machine(name: str) -> Machine:
    """Return the machine of a name.

    `here` is this machine. A folder is a recording of `octant machine --record` or of hwloc-gather-topology. Any other
    name is an hwloc XML file, a `.synthetic` file or a synthetic description.

    Raises:
        NoHwlocError: libhwloc is required and not installed.
        ValueError: the name is none of these.
    """
    if name == "here" or os.path.isdir(name):  # noqa: PTH112 - that of pathlib fails on names that are too long
        return discover(Path("/") if name == "here" else Path(name))
    try:
        return check_machine(hwloc.load_machine(name))
    except ValueError as error:
        raise ValueError(
            str(error).replace("cannot read the topology", f"cannot read the machine {name[:200]!r}")
        ) from error


def load(name: str) -> tuple[Topology, tuple[PageSize, ...] | None]:
    """Return the topology of `load_machine` and its page sizes, if they are known."""
    machine = load_machine(name)
    return machine.topology, machine.page_sizes or None
