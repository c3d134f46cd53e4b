"""Synthetic descriptions of hwloc, extended by more names of levels, default counts, comments and two line types.

Errors that hwloc would ignore or misinterpret are refused here, and the message quotes the wrong part. hwloc builds the
levels.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from octant.failure import suggestion
from octant.machine import CpuSet
from octant.machine.cpusets import MAX_CPUS, MAX_MACHINE_CPUS, cpus_text, parse_cpus
from octant.units import parse_bytes
from octant.untrusted import DEEPEST

_TYPES = {
    "pack": "package", "package": "package", "socket": "package",
    "numa": "numa", "numanode": "numa", "node": "numa",
    "die": "die", "group": "group", "core": "core", "pu": "pu", "thread": "pu", "machine": "machine",
    **{f"{name}{cache}": name for name in ("l1", "l2", "l3", "l4", "l5", "l1i") for cache in ("", "cache")},
}  # fmt: skip
_SIZES = {"l1": "32KiB", "l1i": "32KiB", "l2": "256KiB", "l3": "16MiB", "l4": "64MiB", "l5": "256MiB"}
_LEVEL = re.compile(r"(\[?)\s*([A-Za-z0-9]+)(?::([0-9]{1,9}))?\s*(?:\(([^)]*)\))?\s*(\]?)\s*")
_CORE_TYPES = {"efficiency": "IntelAtom", "performance": "IntelCore"}
"""Kinds of cores, the slower first, and their names in hwloc."""
_LONGEST = 1 << 16
MAX_NODES = 1024
"""Maximum number of NUMA nodes that Linux supports (NODES_SHIFT)."""


@dataclass(frozen=True)
class Description:
    """A synthetic description, divided into the levels for hwloc and the extensions of Octant."""

    levels: str
    allowed: CpuSet | None = None  # `None`: all hardware threads
    kinds: Mapping[str, CpuSet] = field(default_factory=dict)

    def complete(self, xml: str) -> str:
        """Return hwloc's XML of the levels, extended by allowed hardware threads and kinds of cores.

        Raises:
            ValueError: allowed hardware threads do not exist.
        """
        if self.allowed is not None:
            numbers = {int(number) for number in re.findall(r'<object type="PU" os_index="([0-9]+)"', xml)}
            if not self.allowed <= numbers:
                missing = cpus_text(self.allowed - numbers)
                raise ValueError(f"cannot allow hardware threads {missing}: the topology does not have them")
            xml = re.sub(r'allowed_cpuset="[^"]*"', f'allowed_cpuset="{mask_text(self.allowed)}"', xml, count=1)
        kinds = (
            f'<cpukind cpuset="{mask_text(self.kinds[name])}" forced_efficiency="{rank}">'
            f'<info name="CoreType" value="{core_type}"/></cpukind>\n'
            for rank, (name, core_type) in enumerate(_CORE_TYPES.items())
            if name in self.kinds
        )
        return xml.replace("</topology>", f"{''.join(kinds)}</topology>")


@dataclass(frozen=True)
class _Level:
    kind: str
    count: int  # per object of the level above
    attributes: Mapping[str, str]
    attached: bool  # memory in brackets, which is attached to the level above it

    def text(self) -> str:
        attributes = {"size": _SIZES[self.kind], **self.attributes} if self.kind in _SIZES else dict(self.attributes)
        for name in {"size", "memory", "memorysidecachesize"} & attributes.keys():
            attributes[name] = str(parse_bytes(attributes[name]))
        words = f"({' '.join(f'{name}={value}' for name, value in attributes.items())})" if attributes else ""
        return f"[{self.kind}{words}] " * self.count if self.attached else f"{self.kind}:{self.count}{words} "


def parse_description(text: str) -> Description:
    """Parse levels `type:count`, outermost first, the last one `pu`; `[numa]` is attached memory.

    Attributes are those of hwloc, such as `size` of caches, `memory` of NUMA nodes and `indexes` of hardware threads. A
    `#` begins a comment. A line `allowed: 2-5,8` restricts the usable hardware threads; a line `kinds: performance=0-7
    efficiency=8-15` describes the cores of a hybrid processor.

    Raises:
        ValueError: invalid description; the message quotes the wrong part.
    """
    if len(text) > _LONGEST:
        raise ValueError(f"the description has {len(text)} characters; at most {_LONGEST} are supported")
    lines = [line.split("#", 1)[0].strip() for line in text.splitlines()]
    ours = [line for line in lines if line.startswith(("allowed:", "kinds:"))]
    extra = dict(line.split(":", 1) for line in ours)
    levels = list(_levels(" ".join(line for line in lines if line not in ours)))
    tree = [level for level in levels if not level.attached]
    if len(levels) > DEEPEST:
        raise ValueError(f"the description has {len(levels)} levels; at most {DEEPEST} are supported")
    if not tree or tree[-1].kind != "pu":
        raise ValueError(f"{text.strip()!r} is not a topology: the last level must be pu, as in 'core:4 pu:2'")
    total = math.prod(level.count for level in tree)
    nodes = math.prod(max(level.count, 1) for level in levels)
    if not 0 < total <= MAX_MACHINE_CPUS or nodes > MAX_CPUS:
        raise ValueError(f"the topology has {total} hardware threads; 1 to {MAX_MACHINE_CPUS} are supported")
    if (count := _numa_nodes(levels)) > MAX_NODES:
        raise ValueError(f"the topology has {count} NUMA nodes; Linux supports at most {MAX_NODES}")
    _check_indexes(tree, total)
    allowed = parse_cpus(extra["allowed"]) if "allowed" in extra else None
    return Description("".join(level.text() for level in levels), allowed, dict(_kinds(extra.get("kinds", ""))))


def _numa_nodes(levels: Sequence[_Level]) -> int:
    objects = nodes = 0
    for level in levels:
        above = max(objects, 1)
        if level.kind == "numa":
            nodes += above * level.count
        objects = objects if level.attached else above * level.count
    return nodes


def _levels(text: str) -> Iterator[_Level]:
    position, text = 0, text.strip()
    while position < len(text):
        match = _LEVEL.match(text, position)
        if match is None or match[2].lower() not in _TYPES or bool(match[1]) != bool(match[5]):
            word = text[position:].split()[0]
            name, colon, number = word.partition(":")
            hint = suggestion(name.lower(), _TYPES) if colon and number.isdigit() else "use the form core:4"
            hint = "separate levels by blanks" if word.startswith(",") else hint
            raise ValueError(f"{word[:60]!r} is not a level (TYPE:COUNT); {hint}")
        position = match.end()
        count = int(match[3] or 1)
        if count == 0:
            raise ValueError(f"the number of {match[2]} must be at least 1")
        words = (match[4] or "").split()
        if wrong := next((word for word in words if "=" not in word), None):
            raise ValueError(f"{wrong[:60]!r} is not an attribute of {match[2]}; use the form size=1MiB")
        attributes = dict(word.split("=", 1) for word in words)
        level = _Level(_TYPES[match[2].lower()], count, attributes, bool(match[1]))
        if level.kind != "machine" or count > 1:  # hwloc adds the only machine
            yield level


def _check_indexes(tree: list[_Level], total: int) -> None:
    """Refuse indexes of hardware threads that hwloc would replace by ascending numbers."""
    text = tree[-1].attributes.get("indexes", "")
    if text.count(":") > DEEPEST:
        raise ValueError(f"indexes has {text.count(':') + 1} loops; at most {DEEPEST} are supported")
    if re.fullmatch("[0-9]{1,5}(,[0-9]{1,5})*", text):
        numbers = [int(number) for number in text.split(",")]
        right = len(numbers) == len(set(numbers)) == total and max(numbers) < MAX_CPUS
    elif "*" in text:
        pairs = [re.fullmatch(r"[0-9]{1,9}\*([0-9]{1,9})", part) for part in text.split(":")]
        right = all(pairs) and math.prod(int(pair[1]) for pair in pairs if pair) == total
    else:
        for word in text.split(":") if text else ():
            if not any(level.kind == _TYPES.get(word.lower()) for level in tree[:-1]):
                raise ValueError(f"indexes names {word!r}, but the description has no such level above pu")
        right = True
    if not right:
        raise ValueError(f"indexes={text[:60]} does not number {total} hardware threads")


def _kinds(text: str) -> Iterator[tuple[str, CpuSet]]:
    for word in text.split():
        name, _, listed = word.partition("=")
        if name not in _CORE_TYPES:
            raise ValueError(f"unknown kind of cores {name[:60]!r}; {suggestion(name, _CORE_TYPES)}")
        yield name, parse_cpus(listed)


def mask_text(cpus: CpuSet) -> str:
    """Return a set as an hwloc bitmap: hexadecimal words of 32 bits, the highest first."""
    bits = sum(1 << cpu for cpu in cpus)
    words = range(max(bits.bit_length() - 1, 0) // 32, -1, -1)
    return ",".join(f"0x{bits >> 32 * word & 0xFFFFFFFF:08x}" for word in words)
