"""Export of topologies as XML of version 2: this machine, a recorded tree, XML, a synthetic description."""

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
"""Timeout of hwloc for the local machine: about a hundred times its usual duration."""
_MEMORY = "/dev/shm"  # noqa: S108 - for copies of recordings with thousands of files
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n'


def this_machine() -> str:
    """Return the XML of the machine that this process runs on.

    Raises:
        NoHwlocError: libhwloc is not installed.
        ValueError: see `export_xml`.
    """
    request = HelperRequest("this machine", "system", "use a recording of this machine", wall_s=_LIVE_S)
    return cached_xml(lambda: export_xml(request))


def recorded_tree(recording: Path | FileTree) -> str:
    """Return the XML of a recording, i.e. of the files of `/sys` and `/proc` below its root.

    A CPUID dump in the folder `cpuid` (of hwloc-gather-cpuid) is used in addition, or as the only source.

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
            required = f"{_CPU}/cpu*/topology/core_cpus or thread_siblings"
            raise ValueError(f"cannot read {name}: there is no file {required}; {_RECORD_AGAIN}")
        components = [
            one for one, name in (("linux", "HWLOC_FSROOT"), ("x86", "HWLOC_CPUID_PATH")) if name in environment
        ]
        environment |= {"HWLOC_THISSYSTEM": "0", "HWLOC_COMPONENTS": ",".join([*components, "stop"])}
        xml = export_xml(HelperRequest(name, "system", _RECORD_AGAIN, environment=environment))
    _check_recorded(tree, name, xml, {"linux": "Linux"}.get(components[0], components[0]))
    return xml


def _completed(tree: FileTree, copy: Path) -> str:
    """Return a root that hwloc can read: that of the tree, or a copy with the missing masks."""
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
    """Refuse a recording with links to other places, such as the local machine, or without read permission."""
    for folder in ("proc", _CPU, "sys/bus/cpu/devices", "sys/devices/system/node"):
        tree.names(folder)
    input_files(tree)
    if not tree.live and tree.refused:
        path, why = min(tree.refused.items())
        raise ValueError(f"cannot read {name} ({path}: {why}); {_RECORD_AGAIN}")


def _check_recorded(tree: FileTree, name: str, xml: str, backend: str) -> None:
    """Refuse hardware threads that the recording does not describe: hwloc may use those of the local machine."""
    folders = {_CPU: "cpu", "sys/bus/cpu/devices": "cpu"} if backend == "Linux" else {"cpuid": "pu"}
    recorded = {number for folder, prefix in folders.items() for number in tree.numbers(folder, prefix)}
    found = {int(number) for number in re.findall(r'<object type="PU" os_index="([0-9]+)"', xml)}
    if not found <= recorded or f'<info name="Backend" value="{backend}"/>' not in xml:
        raise ValueError(
            f"cannot read {name}: the description of CPUs in {next(iter(folders))} is incomplete; {_RECORD_AGAIN}"
        )


def from_xml(text: str, name: str = "the topology") -> str:
    """Convert XML of version 1 or 2 to version 2 with libhwloc; version 3 is returned unchanged.

    Raises:
        NoHwlocError: there is no libhwloc.
        ValueError: see `export_xml`.
    """
    root = parse_document(text)
    if root.tag == "topology" and root.get("version", "1")[:1] not in "12":
        return text  # libhwloc.so.15 reads versions 1 and 2; `read_xml` reads versions 2 and 3, which are similar
    # Written again, since the parser of libhwloc does not support comments and single quotation marks.
    plain = ET.tostring(root, encoding="unicode")
    remedy = "write it again with 'lstopo --of xml FILE'"
    return export_xml(HelperRequest(name, "xml", remedy, f"{_HEAD}{plain}\n"))


def from_synthetic(description: str) -> str:
    """Return the XML of a synthetic description; see `parse_description`.

    Raises:
        NoHwlocError: there is no libhwloc.
        ValueError: invalid description (the message quotes the wrong part), or see `export_xml`.
    """
    parsed = parse_description(description)
    name = f"the description {description.strip()[:200]!r}"
    remedy = "use the form 'pack:2 core:4 pu:2'"
    return parsed.complete(export_xml(HelperRequest(name, "synthetic", remedy, parsed.levels)))
