"""Recordings of machines: copies of the files from which Octant and hwloc learn what a machine is."""

import os
import platform
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from octant.machine.command import output, tool
from octant.machine.discover import from_tree
from octant.machine.hwloc._helper import pci_stub
from octant.machine.hwloc.library import wheel_library
from octant.machine.system import mounts, page_sizes
from octant.machine.tree import Tree

_CPU = "sys/devices/system/cpu"
_NODE = "sys/devices/system/node"
_HWLOC_FILES = (  # topology-linux.c of hwloc 2.11, without I/O devices
    "proc/cpuinfo", "proc/meminfo", "proc/mounts", "proc/self/cgroup", "proc/self/cpuset", "proc/hwloc-nofile-info",
    "proc/driver/nvidia/gpus/*/numa_status",
    f"{_CPU}/online", f"{_CPU}/possible", f"{_CPU}/present", f"{_CPU}/cpu*/online", f"{_CPU}/cpu*/topology/*",
    f"{_CPU}/cpu*/cache/index*/[!u]*", f"{_CPU}/cpu*/cpufreq/cpuinfo_max_freq", f"{_CPU}/cpu*/cpufreq/base_frequency",
    f"{_CPU}/cpu*/acpi_cppc/nominal_freq", f"{_CPU}/cpu*/cpu_capacity",
    "sys/devices/cpu_*/cpus", "sys/bus/soc/devices/soc*/*",
    "sys/bus/event_source/devices/*/type",
    f"{_NODE}/online", f"{_NODE}/possible", f"{_NODE}/node*/cpulist", f"{_NODE}/node*/cpumap",
    f"{_NODE}/node*/meminfo", f"{_NODE}/node*/distance", f"{_NODE}/node*/hugepages/*/nr_hugepages",
    f"{_NODE}/node*/access*/initiators/*", f"{_NODE}/node*/memory_side_cache/index*/[!u]*",
    "sys/kernel/mm/hugepages/*/nr_hugepages", "sys/devices/virtual/memory_tiering/*/nodelist",
    "var/run/hwloc/knl_memoryside_cache", "cpuid/*",
)  # fmt: skip
"""Where hwloc looks for processors, caches and memory; `*` stands for part of a name."""
_HWLOC_LINKS = (f"{_NODE}/node*/access*/initiators/node*", "sys/bus/dax/devices/*", "sys/bus/dax/drivers/kmem/*")
_GROUP_FILES = tuple(f"{kind}{name}" for name in ("cpus", "mems") for kind in ("", "cpuset.", "cpuset.effective_"))
_GROUP_FILES += ("cpuset.cpus.effective", "cpuset.mems.effective")
_GROUP_TYPES = ("cgroup2", "cgroup", "cpuset")


def record(folder: Path, root: Path = Path("/")) -> list[Path]:
    """Copy the files that discovery and hwloc read below `root` to `folder`, to be sent to others.

    Nothing personal is copied. The host's name becomes the folder's; of `smaps` only the page size is kept, of process
    1's environment only the container's kind, of mounts only the kinds and those of control groups, of `status` only
    the masks, of `cpuinfo` no serial numbers, and control groups are numbered. On x86 a dump of the CPUID instruction
    is added in `cpuid` if hwloc-gather-cpuid is installed. Return the paths written, sorted.

    Raises:
        FileExistsError: `folder` holds something already.
        ValueError: nothing below `root` describes a machine.
    """
    if folder.exists() and any(folder.iterdir()):
        raise FileExistsError(f"cannot record to {str(folder)!r} (it is not empty); try a new folder")
    tree = Tree(root)
    from_tree(tree)
    page_sizes(tree)  # from the files alone, as the reader of the recording has to
    links = dict(_read_for_hwloc(tree))
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


def _read_for_hwloc(tree: Tree) -> Iterator[tuple[str, str]]:
    """Read every file that hwloc reads; yield the links whose name or target is what it reads."""
    for pattern in _HWLOC_FILES:
        for path in _expand(tree, pattern):
            tree.text(path)
    for pattern in _HWLOC_LINKS:
        for path in _expand(tree, pattern):
            if aim := _link(tree, path):
                yield path, aim
                tree.text(f"{os.path.normpath(f'{os.path.dirname(path)}/{aim}')}/target_node")  # noqa: PTH120
    paths = {path for _, path in _control_groups(tree)}
    for _, place, _ in _group_mounts(tree):
        for name in ("cgroup.controllers", *(f"{path}/{name}" for path in paths for name in _GROUP_FILES)):
            tree.text(os.path.normpath(f"{place}/{name}"))


def _expand(tree: Tree, pattern: str, folder: str = "") -> Iterator[str]:
    """Yield the paths that match a pattern; `*` matches within one name."""
    head, _, rest = pattern.partition("/")
    names = [name for name in tree.names(folder) if fnmatchcase(name, head)] if "*" in head else [head]
    for path in (f"{folder}/{name}" if folder else name for name in names):
        if rest:
            yield from _expand(tree, rest, path)
        else:
            yield path


def _link(tree: Tree, path: str) -> str | None:
    """Return the target of a link that stays in the tree."""
    try:
        aim = os.readlink(tree.root / path)  # noqa: PTH115 - pathlib drops a slash at the end
    except OSError:
        return None
    place = os.path.normpath(f"{os.path.dirname(path)}/{aim}")  # noqa: PTH120
    return None if aim.startswith("/") or place.startswith("..") else aim


def _control_groups(tree: Tree) -> list[tuple[str, str]]:
    """Return controllers and path of each control group of this process; that of its cpuset has none."""
    lines = re.findall(r"(?m)^\d+:([^:]*):(.*)$", tree.text("proc/self/cgroup") or "")
    return [*lines, ("", (tree.text("proc/self/cpuset") or "").partition("\n")[0])]


def _group_mounts(tree: Tree) -> list[tuple[str, str, str]]:
    """Return type, place below the root and options of each mount of control groups."""
    lines = [line.split(" ") for line in (tree.text("proc/mounts") or "").splitlines()]
    return [(line[2], line[1].lstrip("/"), line[3]) for line in lines if len(line) > 3 and line[2] in _GROUP_TYPES]


@dataclass(frozen=True)
class _Groups:
    """Numbers in place of the names of control groups, which often contain a user's."""

    numbers: Mapping[str, str]
    mounts: tuple[str, ...]

    @classmethod
    def of(cls, tree: Tree) -> "_Groups":
        names = dict.fromkeys(part for _, path in _control_groups(tree) for part in path.split("/"))
        numbered = enumerate((name for name in names if name not in ("", "..")), 1)
        places = (place for _, place, _ in _group_mounts(tree))
        return cls({name: f"group{number}" for number, name in numbered}, ("sys/fs/cgroup", *places))

    def renamed(self, path: str) -> str:
        """Return a path of names of groups with numbers."""
        return "/".join(self.numbers.get(part, part) for part in path.split("/"))

    def path(self, path: str) -> str:
        """Return the path in the recording of a file, which may be one of a group."""
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
    """Return the line of `/proc/mounts` of a mount of control groups; of others nothing."""
    if len(words) < 4 or words[2] not in _GROUP_TYPES:
        return ""
    options = [option for option in words[3].split(",") if option in ("rw", "cpuset", "noprefix")]
    return f"{words[2]} {words[1]} {words[2]} {','.join(options)} 0 0\n"


def _facts_without_file(tree: Tree) -> str:
    """Return what hwloc would ask the system for, in the form in which it reads that of a recording."""
    known = {key: value for key, value in tree.table("proc/hwloc-nofile-info").items() if key != "HostName"}
    if tree.live:
        known = {"OSName": platform.system(), "OSRelease": platform.release(), "Architecture": platform.machine()}
        known["PageSize"] = str(os.sysconf("SC_PAGE_SIZE"))
    return "".join(f"{key}: {value}\n" for key, value in known.items())


def _cpuid() -> dict[str, str]:
    """Return the files of hwloc-gather-cpuid, which executes CPUID on each hardware thread; none without it."""
    library = wheel_library()
    beside = library.parents[1] / "bin" / "hwloc-gather-cpuid" if library else None
    program = str(beside) if beside and beside.is_file() else tool("hwloc-gather-cpuid")
    if program is None:
        return {}
    with tempfile.TemporaryDirectory() as name:
        changes = {}
        if library and beside:
            Path(name, "libpciaccess.so.0").write_bytes(pci_stub(library.read_bytes()[18:20]))
            changes = {"LD_LIBRARY_PATH": f"{library.parent}:{name}"}
        dump = Path(name, "cpuid")
        output([program, "--silent", str(dump)], changes)
        return {f"cpuid/{file.name}": file.read_text() for file in sorted(dump.glob("*"))}
