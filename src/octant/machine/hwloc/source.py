"""XML of version 2 from the sources of a topology: this machine, a recorded tree, XML, a synthetic description."""

import functools
import xml.etree.ElementTree as ET
from pathlib import Path

from octant.machine.hwloc.description import parse_description
from octant.machine.hwloc.document import parse_document
from octant.machine.hwloc.process import Request, export_xml

_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n'


def this_machine() -> str:
    """Return the XML of the machine that this process runs on.

    Raises:
        NoHwlocError: there is no libhwloc.
        ValueError: see `export_xml`.
    """
    return export_xml(Request("this machine", "system", "continue with a recorded one"))


def recorded_tree(root: Path) -> str:
    """Return the XML of a recording: of the files of `/sys` and `/proc` below `root`.

    A CPUID dump in its folder `cpuid` (of hwloc-gather-cpuid) adds what sysfs does not contain.

    Raises:
        NoHwlocError: there is no libhwloc.
        ValueError: the files do not describe the CPUs, or see `export_xml`.
    """
    environment = {"HWLOC_FSROOT": str(root.resolve()), "HWLOC_THISSYSTEM": "0", "HWLOC_COMPONENTS": "linux,stop"}
    if (root / "cpuid").is_dir():
        environment |= {"HWLOC_CPUID_PATH": str((root / "cpuid").resolve()), "HWLOC_COMPONENTS": "linux,x86,stop"}
    remedy = "record it again with `octant machine --record` or hwloc-gather-topology"
    return export_xml(Request(f"the recording {str(root)!r}", "system", remedy, environment=environment))


def from_xml(text: str, name: str = "the topology") -> str:
    """Return XML of version 1 or 2 as libhwloc writes it in version 2; version 3 is returned as it is.

    Raises:
        NoHwlocError: there is no libhwloc.
        ValueError: see `export_xml`.
    """
    root = parse_document(text)
    if root.tag == "topology" and root.get("version", "1")[:1] not in "12":
        return text  # libhwloc.so.15 knows 1 and 2; the reader knows 2 and 3, which are alike
    # Written anew, since the parser inside libhwloc knows neither comments nor other quotation marks than its own.
    plain = ET.tostring(root, encoding="unicode")
    return export_xml(Request(name, "xml", "try 'lstopo --of xml FILE' on its machine", f"{_HEAD}{plain}\n"))


@functools.lru_cache(maxsize=256)
def from_synthetic(description: str) -> str:
    """Return the XML of a synthetic description; see `parse_description`.

    Raises:
        NoHwlocError: there is no libhwloc.
        ValueError: no such description (the message names the wrong part), or see `export_xml`.
    """
    parsed = parse_description(description)
    name = f"the description {description.strip()[:200]!r}"
    return parsed.complete(export_xml(Request(name, "synthetic", "try 'pack:2 core:4 pu:2'", parsed.levels)))
