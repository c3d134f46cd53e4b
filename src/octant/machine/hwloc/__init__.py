"""Machine topologies through hwloc: XML text of a source, and the topology in such a text."""

from octant.machine.hwloc.xml import load, read_xml

__all__ = ["load", "read_xml"]
