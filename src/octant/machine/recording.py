"""Recordings of machines: copies of the files that Octant and hwloc read to discover a machine."""

import os
import platform
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from octant.machine.discover import from_tree
from octant.machine.hwloc._helper import pci_stub
from octant.machine.hwloc.inputs import control_groups, group_mounts, input_files, input_links, is_group_mount
from octant.machine.hwloc.process import wheel_library
from octant.machine.system import EVENT_SOURCES, mounts, page_sizes
from octant.machine.tree import FileTree
from octant.software.command import output, tool


def record(folder: Path, root: Path = Path("/")) -> list[Path]:
    """Copy the files that discovery and hwloc read below `root` to `folder`, without personal data.

    The host name is replaced by the name of the folder, and names of control groups by numbers. Only these parts are
    kept: the page size of `smaps`, the kind of container of process 1's environment, kinds of mounts and mounts of
    control groups, and the masks of `status`. Serial numbers are removed from `cpuinfo`. On x86 a dump of the CPUID
    instruction is added in `cpuid` if hwloc-gather-cpuid is installed. Return the paths written, sorted.

    Raises:
        FileExistsError: `folder` is not empty.
        ValueError: the files below `root` do not describe a machine.
    """
    if folder.exists() and any(folder.iterdir()):
        raise FileExistsError(f"cannot record to {str(folder)!r}: the folder is not empty; name a new folder")
    tree = FileTree(root)
    from_tree(tree)
    page_sizes(tree)  # from files only, as for a recording
    for unit in tree.names(EVENT_SOURCES):
        tree.text(f"{EVENT_SOURCES}/{unit}/type")
    input_files(tree)
    links = input_links(tree)
    groups = _Groups.of(tree)
    files = {groups.path(path): _impersonal(path, text, folder.name, groups) for path, text in tree.read.items()}
    files["proc/hwloc-nofile-info"] = _facts_without_file(tree)
    if tree.live:
        files |= _cpuid()
    folder.mkdir(parents=True, exist_ok=True)
    for path in (*files, *links):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
    for path, text in files.items():
        (folder / path).write_text(text, encoding="utf-8")
    for path, aim in links.items():
        (folder / path).symlink_to(aim)
    return sorted(folder / path for path in (*files, *links))


@dataclass(frozen=True)
class _Groups:
    """Numbers that replace the names of control groups, which may contain user names."""

    numbers: Mapping[str, str]
    mounts: tuple[str, ...]

    @classmethod
    def of(cls, tree: FileTree) -> "_Groups":
        names = dict.fromkeys(part for _, path in control_groups(tree) for part in path.split("/"))
        numbered = enumerate((name for name in names if name not in ("", "..")), 1)
        return cls({name: f"group{number}" for number, name in numbered}, ("sys/fs/cgroup", *group_mounts(tree)))

    def renamed(self, path: str) -> str:
        """Return a path with numbers in place of the names of groups."""
        return "/".join(self.numbers.get(part, part) for part in path.split("/"))

    def path(self, path: str) -> str:
        """Return the path of a file in the recording."""
        place = next((place for place in self.mounts if path.startswith(f"{place}/")), None)
        return path if place is None else place + self.renamed(path.removeprefix(place))


def _impersonal(path: str, text: str, name: str, groups: _Groups) -> str:
    match path:
        case "proc/sys/kernel/hostname":
            return name + "\n"
        case "proc/1/environ":
            return "".join(word + "\0" for word in text.split("\0") if word.startswith("container="))
        case "proc/self/smaps":
            return "".join(re.findall(r"(?m)^(?:Size|KernelPageSize|MMUPageSize):.*\n", text)[:3])
        case "proc/self/status":
            return "".join(re.findall(r"(?m)^(?:Cpus|Mems)_allowed_list:.*\n", text))
        case "proc/self/mountinfo":
            return "".join(f"1 1 0:1 / / rw - {kind} / rw\n" for kind, _ in mounts(text))
        case "proc/mounts":
            return "".join(_mount_line(line.split(" ")) for line in text.splitlines())
        case "proc/self/cgroup":
            heads = (line.rpartition(":") for line in text.splitlines())
            return "".join(f"{head}:{groups.renamed(way)}\n" for head, _, way in heads)
        case "proc/self/cpuset":
            return groups.renamed(text.strip()) + "\n"
        case "proc/stat":
            return text.partition("\n")[0] + "\n"
        case "proc/cpuinfo":  # Arm boards state a serial number, z/Architecture that of the machine
            text = re.sub(r"(?mi)^serial\s*:.*\n", "", text)
            return re.sub(r"(identification = )\w+", r"\g<1>000000", text)
    return text


def _mount_line(words: list[str]) -> str:
    """Return the line of `/proc/mounts` for a mount of control groups; "" for other mounts."""
    if not is_group_mount(words):
        return ""
    options = [option for option in words[3].split(",") if option in ("rw", "cpuset", "noprefix")]
    return f"{words[2]} {words[1]} {words[2]} {','.join(options)} 0 0\n"


def _facts_without_file(tree: FileTree) -> str:
    """Return the facts that hwloc gets from system calls, as the file `hwloc-nofile-info` of a recording."""
    known = {key: value for key, value in tree.table("proc/hwloc-nofile-info").items() if key != "HostName"}
    if tree.live:
        known = {"OSName": platform.system(), "OSRelease": platform.release(), "Architecture": platform.machine()}
        known["PageSize"] = str(os.sysconf("SC_PAGE_SIZE"))
    return "".join(f"{key}: {value}\n" for key, value in known.items())


def _cpuid() -> dict[str, str]:
    """Return the files of hwloc-gather-cpuid, which executes CPUID on each hardware thread; empty if not installed."""
    library = wheel_library()
    packaged = library.parents[1] / "bin" / "hwloc-gather-cpuid" if library else None
    program = str(packaged) if packaged and packaged.is_file() else tool("hwloc-gather-cpuid")
    if program is None:
        return {}
    with tempfile.TemporaryDirectory() as name:
        changes = {}
        if library and packaged:
            Path(name, "libpciaccess.so.0").write_bytes(pci_stub(library.read_bytes()[18:20]))
            changes = {"LD_LIBRARY_PATH": f"{library.parent}:{name}"}
        dump = Path(name, "cpuid")
        output([program, "--silent", str(dump)], changes)
        return {f"cpuid/{file.name}": file.read_text() for file in sorted(dump.glob("*"))}
