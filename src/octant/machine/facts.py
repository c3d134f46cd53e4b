"""Facts of the machine, and the expressions of suites and studies that use them: `4*llc/ranks`, `numa>=2`."""

import math
import re
from collections.abc import Mapping, Sequence

from octant import units
from octant.machine import Machine

FACTS = (
    "cores", "hwthreads", "smt", "numa", "packages", "l1", "l2", "llc", "cached", "memory",
    "vector_bits", "ranks", "threads", "fill",
)  # fmt: skip
_SIZE = r"\d+(?:[KMG]i?B)?"
_TERM = rf"(?:{_SIZE}|{'|'.join(FACTS)})"
_FACTORS = rf"{_TERM}(?:\s*[*/]\s*{_TERM})*"
_PRODUCT = rf"(?:sqrt\({_FACTORS}\)|{_FACTORS})"
_EXPRESSION = re.compile(rf"({_PRODUCT})(?: at least ({_PRODUCT}))?(?: at most ({_PRODUCT}))?")
_LADDER = re.compile(r"(.+) to (.+) by (\d+)")
_MOST_STEPS = 200
_LONGEST = 200  # characters of an expression
_VECTORS = (("avx512f", 512), ("avx2", 256))
_COMPARISON = re.compile(r"(cores|smt|numa|packages)(>=|<=)(\d+)")
_BEYOND_A_NODE = {
    "two-nodes": ("one node", "two nodes with a network between them"),
    "collective-network": (
        "no network that carries collectives in its hardware",
        "a machine whose network carries collectives in its hardware",
    ),
    "rdma-adapter": (
        "no adapter that reads and writes the memory of another node",
        "two nodes with adapters that read and write each other's memory (RDMA)",
    ),
    "lossy-network": (
        "no network that may lose packets and counts them",
        "nodes whose network may lose packets and counts them",
    ),
}
"""What no node's own description can meet: why it is missing here, and the machine that is wanted."""
_PROCESSOR = "processor="
_MOUNTED = "mounted="
FILE_SYSTEMS = {
    "local": ("local file systems", ("ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "zfs", "overlay")),
    "nfs": ("NFS", ("nfs", "nfs4")),
    "parallel": ("parallel file systems", ("lustre", "gpfs", "beegfs", "ceph")),
}
"""What is looked for among mounts: its name for people, and the kinds that the kernel has for it."""
_NEED = re.compile(
    rf"(cores|smt|numa|packages)[<>]=[0-9]{{1,9}}|pages=[0-9]{{1,9}}[KMG]iB|thp|{_PROCESSOR}[A-Za-z0-9+ ]{{1,40}}"
    rf"|{_MOUNTED}({'|'.join(FILE_SYSTEMS)})|{'|'.join(_BEYOND_A_NODE)}"
)
_NOUNS = {
    "cores": ("usable core", "usable cores"),
    "smt": ("hardware thread per core", "hardware threads per core"),
    "numa": ("NUMA domain", "NUMA domains"),
    "packages": ("package", "packages"),
}
_LIMIT = {">=": "least", "<=": "most"}


def usable_cores(machine: Machine) -> list[int]:
    """One usable hardware thread of each core that has any."""
    allowed = machine.topology.allowed
    return [min(core & allowed) for core in machine.topology.groups("core") if core & allowed]


def facts(machine: Machine) -> dict[str, int]:
    """The facts by name; sizes in bytes, and only what this process may use counts."""
    usable = machine.topology.usable()
    cores = len(usable_cores(machine))
    allowed = machine.topology.allowed
    return {
        "cores": cores,
        "hwthreads": len(usable),
        "smt": max((len(group & allowed) for group in machine.topology.groups("core")), default=1),
        "numa": len({cpu.numa for cpu in usable}),
        "packages": len({cpu.package for cpu in usable}),
        "l1": machine.cache_bytes(1) or 32 * 1024,
        "l2": machine.cache_bytes(2) or 1024 * 1024,
        "llc": machine.last_level_cache_bytes() or 32 * 1024 * 1024,
        "cached": machine.may_be_cached_bytes(),
        "memory": machine.memory_bytes,
        "vector_bits": next((bits for flag, bits in _VECTORS if flag in machine.processor.flags), 128),
    }


def value(text: str, known: Mapping[str, int]) -> str:
    """A knob's value with its expression evaluated: facts, products, quotients and bounds; any other text unchanged,
    also one of over 200 characters.

    `4*llc/ranks` goes from left to right, in whole numbers; `2*cached/cores at least 16MiB at most 128MiB` has bounds;
    `sqrt(4000000*ranks)` is the whole part of a root, of the order of a matrix that grows with the ranks.
    A size of several times the caches is cut to an eighth of the memory, or it might not fit.

    Raises:
        ValueError: a fact whose value is not known yet, or a division by zero.
    """
    parts = _EXPRESSION.fullmatch(text) if len(text) <= _LONGEST else None
    if parts is None or re.fullmatch(_SIZE, text):
        return text
    result = _product(parts[1], known)
    if parts[2]:
        result = max(result, _product(parts[2], known))
    if parts[3]:
        result = min(result, _product(parts[3], known))
    return str(result)


def values(text: str, known: Mapping[str, int]) -> str:
    """A list of values, evaluated one by one; `8KiB to 4*cached by 2` is every such step up to the end.

    Several ladders are merged in ascending order; plain values come first.

    Raises:
        ValueError: as for `value`, or a ladder that does not ascend or has more than 200 steps.
    """
    parts = [part.strip() for part in text.split(",")]
    ladders = [_LADDER.fullmatch(part) for part in parts]
    if not any(ladders):
        return ",".join(value(part, known) for part in parts)
    steps: set[int] = set()
    plain = [part for part, ladder in zip(parts, ladders, strict=True) if ladder is None]
    for part, ladder in zip(parts, ladders, strict=True):
        if ladder is None:
            continue
        step, last = (units.parse_bytes(value(end, known)) for end in (ladder[1], ladder[2]))
        factor = int(ladder[3])
        if factor < 2 or step < 1:
            raise ValueError(f"{part!r} does not ascend")
        while step <= last:
            steps.add(step)
            step *= factor
    if not 1 <= len(steps) <= _MOST_STEPS:
        raise ValueError(f"{text!r} has {len(steps)} steps; it may have 1 to {_MOST_STEPS}")
    return ",".join([*(value(part, known) for part in plain), *map(str, sorted(steps))])


def _product(text: str, known: Mapping[str, int]) -> int:
    if text.startswith("sqrt("):
        return math.isqrt(_product(text[5:-1], known))
    tokens = re.findall(rf"{_TERM}|[*/]", text)
    unknown = [token for token in tokens if token in FACTS and token not in known]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is not known here in {text!r}; known are {', '.join(known)}")
    numbers = [known[token] if token in FACTS else units.parse_bytes(token) for token in tokens[::2]]
    result = numbers[0]
    for sign, number in zip(tokens[1::2], numbers[1:], strict=True):
        if sign == "/" and number == 0:
            raise ValueError(f"{text!r} divides by zero")
        result = result * number if sign == "*" else result // number
        if "llc" in tokens or "cached" in tokens:
            result = min(result, known["memory"] // 8)
    return result


def count(text: str, known: Mapping[str, int]) -> int:
    """A number of ranks or threads; 0 where a quotient is 0 here.

    Raises:
        ValueError: neither a whole number nor an expression of known facts.
    """
    found = value(text, known)
    if not re.fullmatch(r"\d{1,9}", found):
        raise ValueError("neither a number nor a known fact")
    return int(found)


def check_need(text: str) -> str:
    """The same text, if it is a need: a number of cores, threads per core, NUMA domains or packages, pages, words of a
    processor's name, a file system, or what is beyond a node.

    Raises:
        ValueError: it is none.
    """
    if not _NEED.fullmatch(text):
        raise ValueError(
            "no such need; try numa>=2, packages>=2, cores>=2, smt>=2, pages=2MiB, thp, processor=POWER6, mounted=nfs, "
            f"{', '.join(_BEYOND_A_NODE)}"
        )
    return text


def wanted(need: str) -> str:
    """The machine that a need asks for, for people: `a node with at least 2 NUMA domains`."""
    comparison = _COMPARISON.fullmatch(need)
    if comparison:
        return f"a node with at {_LIMIT[comparison[2]]} {comparison[3]} {_NOUNS[comparison[1]][comparison[3] != '1']}"
    if need in _BEYOND_A_NODE:
        return _BEYOND_A_NODE[need][1]
    if need.startswith(_PROCESSOR):
        return f"a node with a {need.removeprefix(_PROCESSOR)} processor"
    if need.startswith(_MOUNTED):
        return f"a node with {FILE_SYSTEMS[need.removeprefix(_MOUNTED)][0]} mounted"
    size = "transparent huge" if need == "thp" else units.bytes_text(units.parse_bytes(need.removeprefix("pages=")))
    return f"a node with {size} pages"


def missing(need: str, machine: Machine) -> str:
    """Why a need is not met here, for people; empty when it is."""
    comparison = _COMPARISON.fullmatch(need)
    if comparison:
        have, wanted = facts(machine)[comparison[1]], int(comparison[3])
        if have >= wanted if comparison[2] == ">=" else have <= wanted:
            return ""
        one, several = _NOUNS[comparison[1]]
        return f"one {one}" if have == 1 else f"{have} {several}, at {_LIMIT[comparison[2]]} {wanted} needed"
    if need in _BEYOND_A_NODE:
        return _BEYOND_A_NODE[need][0]
    if need.startswith(_PROCESSOR):
        name = need.removeprefix(_PROCESSOR)
        words = re.split(r"[^A-Za-z0-9+]+", machine.processor.model.upper())
        return "" if set(name.upper().split()) <= set(words) else f"no {name} processor"
    if need.startswith(_MOUNTED):
        return _not_mounted(need.removeprefix(_MOUNTED), machine.system.get("file_systems", "").split())
    if need == "thp":
        return "no transparent huge pages" if machine.system.get("thp", "never") == "never" else ""
    size = units.parse_bytes(need.removeprefix("pages="))
    pool = next((page for page in machine.page_sizes if page.size_bytes == size), None)
    if pool is not None and (pool.pool_pages is None or pool.free_pages):
        return ""
    why = "this system has no pages of that size" if pool is None else "the pool has no free pages"
    return f"no {units.bytes_text(size)} pages ({why})"


def _not_mounted(what: str, found: Sequence[str]) -> str:
    name, kinds = FILE_SYSTEMS[what]
    if set(found) & set(kinds):
        return ""
    return f"no {name} (looked for mounts of {', '.join(kinds)}; found {', '.join(found) or 'no record of mounts'})"
