"""A machine by its name on the command line: this one, a file, a recording, or a description."""

import os
from pathlib import Path

from octant.machine import PageSize, Topology
from octant.machine import hwloc as hwloc_reader
from octant.machine.discover import discover


def load(name: str) -> tuple[Topology, tuple[PageSize, ...] | None]:
    """The topology and, where the machine itself or its recording is available, its page sizes.

    `here` is this machine; a folder is a recording of `octant machine --record`; anything else an hwloc XML file, a
    `.synthetic` file or a synthetic description.

    Raises:
        ValueError: none of them.
    """
    if name == "here" or os.path.isdir(name):  # noqa: PTH112 - that of pathlib fails on names that are too long
        machine = discover(Path("/") if name == "here" else Path(name))
        return machine.topology, machine.page_sizes
    return hwloc_reader.load(name), None
