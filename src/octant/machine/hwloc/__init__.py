"""Machine topologies through hwloc: export of a source as XML, and the topology read from XML."""

from octant.machine.hwloc.files import load, load_machine, read_synthetic
from octant.machine.hwloc.process import HelperError, NoHwlocError
from octant.machine.hwloc.source import from_synthetic, from_xml, recorded_tree, this_machine
from octant.machine.hwloc.xml import read_xml

__all__ = [
    "HelperError",
    "NoHwlocError",
    "from_synthetic",
    "from_xml",
    "load",
    "load_machine",
    "read_synthetic",
    "read_xml",
    "recorded_tree",
    "this_machine",
]
