"""A machine by its name on the command line: this one, a file, a recording, or a description."""

import os
from pathlib import Path

from octant.machine import Machine, PageSize, Topology, hwloc
from octant.machine.discover import discover
from octant.machine.sanity import check_machine


def load_machine(name: str) -> Machine:
    """The machine of that name.

    `here` is this machine; a folder is a recording of `octant machine --record` or of hwloc-gather-topology; anything
    else an hwloc XML file, a `.synthetic` file or a synthetic description.

    Raises:
        NoHwlocError: it takes libhwloc to read it, and there is none.
        ValueError: none of them.
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
    """The topology of `load_machine` and, where they are known, its page sizes."""
    machine = load_machine(name)
    return machine.topology, machine.page_sizes or None
