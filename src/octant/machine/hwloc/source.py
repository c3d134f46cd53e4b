"""XML of version 2 from the sources of a topology: this machine, a recorded tree, XML, a synthetic description."""

import os
import re
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

from octant.machine.cpus import CPU as _CPU
from octant.machine.hwloc.cache import cached_xml
from octant.machine.hwloc.description import parse_description
from octant.machine.hwloc.inputs import input_files, input_links
from octant.machine.hwloc.lists import complete_files, states_cpus
from octant.machine.hwloc.process import HelperRequest, export_xml
from octant.machine.hwloc.xml import parse_document
from octant.machine.tree import FileTree

_RECORD_AGAIN = "record it again with `octant machine --record` or hwloc-gather-topology"
_LIVE_S = 5
"""What hwloc may take for the live machine: a hundred times what it takes."""
_MEMORY = "/dev/shm"  # noqa: S108 - copies of recordings have thousands of files
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n'


def this_machine() -> str:
    """Return the XML of the machine that this process runs on.

    Raises:
        NoHwlocError: there is no libhwloc.
        ValueError: see `export_xml`.
    """
    return cached_xml(
        lambda: export_xml(HelperRequest("this machine", "system", "try a recording of it", wall_s=_LIVE_S))
    )


def recorded_tree(recording: Path | FileTree) -> str:
    """Return the XML of a recording: of the files of `/sys` and `/proc` below its root.

    A CPUID dump in its folder `cpuid` (of hwloc-gather-cpuid) adds what sysfs does not contain, or is all there is.

    Raises:
        NoHwlocError: there is no libhwloc.
        ValueError: the files do not describe the CPUs, or see `export_xml`.
    """
    tree = recording if isinstance(recording, FileTree) else FileTree(recording)
    name, dump = f"the recording {str(tree.root)!r}", tree.root / "cpuid"
    _check_inside(tree, name)
    environment = {"HWLOC_CPUID_PATH": str(dump.resolve())} if dump.is_dir() else {}
    with tempfile.TemporaryDirectory(prefix="octant-", dir=_MEMORY if os.access(_MEMORY, os.W_OK) else None) as copy:
        if states_cpus(tree):
            try:
                environment["HWLOC_FSROOT"] = _completed(tree, Path(copy))
            except ValueError as error:
                raise ValueError(f"cannot read {name} ({error}); {_RECORD_AGAIN}") from None
        if not environment:
            wanted = f"{_CPU}/cpu*/topology/core_cpus or thread_siblings"
            raise ValueError(f"cannot read {name} (it has no file {wanted}); {_RECORD_AGAIN}")
        components = [
            one for one, name in (("linux", "HWLOC_FSROOT"), ("x86", "HWLOC_CPUID_PATH")) if name in environment
        ]
        environment |= {"HWLOC_THISSYSTEM": "0", "HWLOC_COMPONENTS": ",".join([*components, "stop"])}
        xml = export_xml(HelperRequest(name, "system", _RECORD_AGAIN, environment=environment))
    _check_recorded(tree, name, xml, {"linux": "Linux"}.get(components[0], components[0]))
    return xml


def _completed(tree: FileTree, copy: Path) -> str:
    """Return the root that hwloc can read: that of the tree, or of a copy with the masks that the tree lacks."""
    files = complete_files(tree)
    if not files:
        return str(tree.root.resolve())
    links = input_links(tree)
    for path in (*files, *links):
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
    for path, text in files.items():
        (copy / path).write_text(f"{text}\n", encoding="utf-8")
    for path, aim in links.items():
        (copy / path).symlink_to(aim)
    return str(copy)


def _check_inside(tree: FileTree, name: str) -> None:
    """Refuse a recording with links to other places, such as the live machine, or with files that may not be read."""
    for folder in ("proc", _CPU, "sys/bus/cpu/devices", "sys/devices/system/node"):
        tree.names(folder)
    input_files(tree)
    if not tree.live and tree.refused:
        path, why = min(tree.refused.items())
        raise ValueError(f"cannot read {name} ({path}: {why}); {_RECORD_AGAIN}")


def _check_recorded(tree: FileTree, name: str, xml: str, backend: str) -> None:
    """Refuse hardware threads that no file of the recording describes: hwloc may take those of this machine instead."""
    folders = {_CPU: "cpu", "sys/bus/cpu/devices": "cpu"} if backend == "Linux" else {"cpuid": "pu"}
    recorded = {number for folder, prefix in folders.items() for number in tree.numbers(folder, prefix)}
    found = {int(number) for number in re.findall(r'<object type="PU" os_index="([0-9]+)"', xml)}
    if not found <= recorded or f'<info name="Backend" value="{backend}"/>' not in xml:
        raise ValueError(
            f"cannot read {name} (it does not describe its CPUs; {next(iter(folders))} is incomplete); {_RECORD_AGAIN}"
        )


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
    return export_xml(HelperRequest(name, "xml", "try 'lstopo --of xml FILE' on its machine", f"{_HEAD}{plain}\n"))


def from_synthetic(description: str) -> str:
    """Return the XML of a synthetic description; see `parse_description`.

    Raises:
        NoHwlocError: there is no libhwloc.
        ValueError: no such description (the message names the wrong part), or see `export_xml`.
    """
    parsed = parse_description(description)
    name = f"the description {description.strip()[:200]!r}"
    return parsed.complete(export_xml(HelperRequest(name, "synthetic", "try 'pack:2 core:4 pu:2'", parsed.levels)))
