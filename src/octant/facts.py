"""Facts of the machine, and expressions of suites and studies that use them: `4*llc/ranks`, `numa>=2`."""

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from octant import units
from octant.machine import ASSUMED_CACHED_BYTES, Machine
from octant.machine.cache_levels import CACHE_NAMES, level_sizes
from octant.machine.system import FILE_SYSTEMS
from octant.untrusted import read_with

FACTS = (
    "cores", "hwthreads", "smt", "numa", "packages", "l1", "l2", "llc", "cached", "memory",
    "vector_bits", "ranks", "threads", "fill", *CACHE_NAMES,
)  # fmt: skip
"""Names in expressions. `l1` and `l2` may be assumed, and the largest counts; `L1` and `L2` are never assumed."""
_SIZE = r"\d+(?:[KMG]i?B)?"
_TERM = rf"(?:{_SIZE}|{'|'.join(FACTS)})"
_FACTORS = rf"{_TERM}(?:\s*[*/]\s*{_TERM})*"
_PRODUCT = rf"(?:sqrt\({_FACTORS}\)|{_FACTORS})"
_EXPRESSION = re.compile(rf"({_PRODUCT})(?: at least ({_PRODUCT}))?(?: at most ({_PRODUCT}))?")
_LADDER = re.compile(r"(.{1,200}) to (.{1,200}) by ([0-9]{1,9})")
_MAX_STEPS = 200
_ASSUMED = {"l1": 2**15, "l2": 2**20, "llc": 2**25, "cached": ASSUMED_CACHED_BYTES, "vector_bits": 128}
_SIZE_NAMES = {
    "l1": "an L1 cache of",
    "l2": "an L2 cache of",
    "llc": "last-level caches of",
    "cached": "all caches at most",
}
_LONGEST = 200  # characters of an expression
_VECTORS = (("avx512f", 512), ("avx2", 256))
_COMPARISON = re.compile(r"(cores|smt|numa|packages|nodes)(>=|<=)(\d+)")
_BEYOND_A_NODE = {
    "two-nodes": "two nodes with a network between them",
    "collective-network": "a machine whose network carries collectives in its hardware",
    "rdma-adapter": "two nodes with adapters that read and write each other's memory (RDMA)",
    "lossy-network": "nodes whose network may lose packets and counts them",
    "second-machine": "a second machine of another generation",
}
"""Requirements beyond the description of one node: the machine that they need."""
_PREFETCH = "hwprefetch"
_MPI_IO = "mpi-io"
_MPI_LIBRARIES = ("mpich", "openmpi", "intelmpi")
_PROCESSOR = "processor="
_MOUNTED = "mounted="
_NEED = re.compile(
    rf"(cores|smt|numa|packages|nodes)[<>]=[0-9]{{1,9}}|pages=[0-9]{{1,9}}[KMG]iB|thp|{_PROCESSOR}[A-Za-z0-9+ ]{{1,40}}"
    rf"|{_MOUNTED}({'|'.join(FILE_SYSTEMS)})|{_PREFETCH}|{_MPI_IO}|{'|'.join(_BEYOND_A_NODE)}"
)
_NOUNS = {
    "cores": ("usable core", "usable cores"),
    "smt": ("hardware thread per core", "hardware threads per core"),
    "numa": ("NUMA domain", "NUMA domains"),
    "packages": ("package", "packages"),
    "nodes": ("node", "nodes"),
}
_LIMIT = {">=": "least", "<=": "most"}
_LIMIT_WORDS = {sign: f"at {word}" for sign, word in _LIMIT.items()}


class UnknownFactError(ValueError):
    """An expression names a fact that is not known on this machine."""

    def __init__(self, fact: str, text: str, known: Mapping[str, int]) -> None:
        super().__init__(f"{fact!r} in {text!r} is not known on this machine; known are {', '.join(known)}")
        self.fact = fact


def usable_cores(machine: Machine) -> list[int]:
    """Return one usable hardware thread of each core that has any."""
    allowed = machine.topology.allowed
    return [min(core & allowed) for core in machine.topology.groups("core") if core & allowed]


def facts(machine: Machine) -> dict[str, int]:
    """Return the known facts by name; sizes in bytes. Only resources that this process may use count.

    Unknown facts are missing; `numbers` replaces them by assumptions.
    """
    usable = machine.topology.usable()
    cores = len(usable_cores(machine))
    allowed = machine.topology.allowed
    sizes = {
        "l1": machine.cache_bytes(1),
        "l2": machine.cache_bytes(2),
        "llc": machine.last_level_cache_bytes(),
        "cached": machine.cached_bytes(),
        "memory": machine.memory_bytes,
        "numa": len({cpu.numa for cpu in usable} - {None}),
    }
    widest = next((bits for flag, bits in _VECTORS if flag in machine.processor.flags), 128)
    return {
        "cores": cores,
        "hwthreads": len(usable),
        "smt": max((len(group & allowed) for group in machine.topology.groups("core")), default=1),
        "packages": len({cpu.package for cpu in usable}),
        **({"vector_bits": widest} if machine.processor.flags else {}),
        **level_sizes(machine),
        **{name: size for name, size in sizes.items() if size},
    }


def assumed(machine: Machine) -> dict[str, int]:
    """Return the values that suites and studies assume for unknown facts of this machine."""
    known = facts(machine)
    return {name: size for name, size in _ASSUMED.items() if name not in known}


def numbers(machine: Machine) -> dict[str, int]:
    """Return known and assumed facts, the input of `value` and `count`; `assumption` names the assumed ones."""
    return {**assumed(machine), **facts(machine)}


def assumption(machine: Machine) -> str:
    """Return the caveat of results on this machine whose sizes rest on assumptions; empty where none does."""
    sizes = {name: size for name, size in assumed(machine).items() if name in _SIZE_NAMES}
    if not sizes:
        return ""
    listed = ", ".join(f"{_SIZE_NAMES[name]} {units.bytes_text(size)}" for name, size in sizes.items())
    beyond = "; " + counted_as_memory(machine) if "cached" in sizes else ""
    return f"this machine does not state all sizes; suites and studies assume {listed}{beyond}"


def counted_as_memory(machine: Machine) -> str:
    """Return in words the size from which on data counts as in memory."""
    return f"data of at least {units.bytes_text(2 * machine.may_be_cached_bytes())} count as in memory"


def value(text: str, known: Mapping[str, int]) -> str:
    """Return a knob's value with its expression of facts evaluated. Other text is unchanged.

    `4*llc/ranks` is evaluated from left to right in integers. `2*cached/cores at least 16MiB at most 128MiB` has
    bounds. `sqrt(4000000*ranks)` is the integer part of a root, for the order of a matrix that grows with the ranks. A
    multiple of the cache size is limited to an eighth of the memory. Text of over 200 characters is not evaluated.

    Raises:
        UnknownFactError: a fact whose value is not known yet.
        ValueError: a division by zero.
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
    """Return a list of evaluated values; `8KiB to 4*cached by 2` is every such step up to the end.

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
            raise ValueError(f"{part!r} does not ascend; the first size and the factor must be at least 1 and 2")
        while step <= last:
            steps.add(step)
            step *= factor
    if not 1 <= len(steps) <= _MAX_STEPS:
        raise ValueError(f"{text!r} has {len(steps)} steps; 1 to {_MAX_STEPS} are allowed")
    return ",".join([*(value(part, known) for part in plain), *map(str, sorted(steps))])


def _product(text: str, known: Mapping[str, int]) -> int:
    if text.startswith("sqrt("):
        return math.isqrt(_product(text[5:-1], known))
    tokens = re.findall(rf"{_TERM}|[*/]", text)
    unknown = [token for token in tokens if token in FACTS and token not in known]
    if unknown:
        raise UnknownFactError(unknown[0], text, known)
    numbers = [known[token] if token in FACTS else units.parse_bytes(token) for token in tokens[::2]]
    result = numbers[0]
    for sign, number in zip(tokens[1::2], numbers[1:], strict=True):
        if sign == "/" and number == 0:
            raise ValueError(f"{text!r} divides by zero")
        result = result * number if sign == "*" else result // number
        if ("llc" in tokens or "cached" in tokens) and "memory" in known:
            result = min(result, known["memory"] // 8)
    return result


def levels_in(text: str) -> list[str]:
    """Return the memory levels that an expression names: `L2` and `memory` of `L2 to memory/8 by 4`."""
    return re.findall(r"\b(?:L[1-4]|memory)\b", text)


def level_expressions(text: str, known: Mapping[str, int]) -> dict[str, str]:
    """Return the expression of each size that a list of values states by a memory level: `L2/4` of `262144`.

    A step of a ladder has an expression only if it is exactly the size of a level.

    Raises:
        ValueError: as for `values`.
    """
    named = {str(known[level]): level for level in levels_in(text) if level in known}
    found: dict[str, str] = {}
    for part in map(str.strip, text.split(",")):
        if _LADDER.fullmatch(part):
            found |= {size: named[size] for size in values(part, known).split(",") if size in named}
        elif levels_in(part):
            found[value(part, known)] = part
    return found


def count(text: str, known: Mapping[str, int]) -> int:
    """Return a number of ranks or threads; 0 if a quotient is 0 here.

    Raises:
        ValueError: neither a whole number nor an expression of known facts.
    """
    found = value(text, known)
    if not re.fullmatch(r"\d{1,9}", found):
        raise ValueError("it is neither a number nor an expression of known facts")
    return int(found)


def check_need(text: str) -> str:
    """Return the text if it is a need.

    Needs are numbers of cores, threads per core, NUMA domains or packages, page sizes, a processor name, a file system,
    and requirements beyond a node.

    Raises:
        ValueError: it is no need.
    """
    if not _NEED.fullmatch(text):
        raise ValueError(
            "unknown need; try numa>=2, packages>=2, cores>=2, smt>=2, nodes>=2, pages=2MiB, thp, processor=POWER6, "
            f"mounted=nfs, {_PREFETCH}, {_MPI_IO}, {', '.join(_BEYOND_A_NODE)}"
        )
    return text


if TYPE_CHECKING:
    Need: TypeAlias = str
else:
    Need = read_with(check_need, str)


def wanted(need: str) -> str:
    """Return in words the machine that a need requires: `a node with at least 2 NUMA domains`."""
    comparison = _COMPARISON.fullmatch(need)
    if comparison:
        many = f"at {_LIMIT[comparison[2]]} {comparison[3]} {_NOUNS[comparison[1]][comparison[3] != '1']}"
        return many if comparison[1] == "nodes" else f"a node with {many}"
    if need in _BEYOND_A_NODE:
        return _BEYOND_A_NODE[need]
    return f"a node with {_looked_for(need)}"


def missing(need: str, machine: Machine) -> str:
    """Return the reason why a need is not met here: what was required and what was found; "" if it is met."""
    comparison = _COMPARISON.fullmatch(need)
    if comparison:
        return _not_so_many(comparison[1], comparison[2], int(comparison[3]), machine)
    if need in _BEYOND_A_NODE:
        this = "one machine" if need == "second-machine" else "one node"
        return f"needs {_BEYOND_A_NODE[need]}; this is {this}"
    found = _found_instead(need, machine)
    return f"needs {_looked_for(need)}; {found}" if found else ""


def _not_so_many(what: str, sign: str, limit: int, machine: Machine) -> str:
    have = 1 if what == "nodes" else facts(machine).get(what)
    if have is None:
        return f"needs {_LIMIT_WORDS[sign]} {limit} {_NOUNS[what][limit != 1]}; the number on this machine is not known"
    if have >= limit if sign == ">=" else have <= limit:
        return ""
    least = "" if sign == ">=" else "at most "
    if what == "nodes":
        return f"needs {least}{limit} {_NOUNS[what][limit != 1]}; this is one node"
    return f"needs {least}{limit} {_NOUNS[what][limit != 1]}; this machine has {have}{_why_so_many(what, machine)}"


def _why_so_many(what: str, machine: Machine) -> str:
    """Return a remark if there are more that this process may not use, or that are switched off."""
    topology = machine.topology
    every = {"cores": len(topology.groups("core")), "smt": topology.smt()}.get(what, 0)
    if every > facts(machine).get(what, every):
        return f" usable of {every} (this process may not use the others)"
    off = what == "smt" and machine.system.get("smt") in ("off", "forceoff")
    return " (SMT is disabled)" if off else ""


def _looked_for(need: str) -> str:
    """Return in words what a node must have, other than numbers of parts."""
    if need.startswith(_PROCESSOR):
        return f"a {need.removeprefix(_PROCESSOR)} processor"
    if need.startswith(_MOUNTED):
        return f"{FILE_SYSTEMS[need.removeprefix(_MOUNTED)][0]} mounted"
    if need == _PREFETCH:
        return "a hardware prefetcher that this process may disable"
    if need == _MPI_IO:
        return "an MPI library with MPI-IO"
    return "transparent huge pages" if need == "thp" else f"{_page_text(need)} pages"


def _page_text(need: str) -> str:
    return units.bytes_text(units.parse_bytes(need.removeprefix("pages=")))


def _found_instead(need: str, machine: Machine) -> str:
    """Return what was found instead of the requirement; "" if the need is met."""
    if need.startswith(_PROCESSOR):
        name = need.removeprefix(_PROCESSOR)
        words = set(re.split(r"[^A-Za-z0-9+]+", machine.processor.model.upper()))
        words |= {re.sub(r"\d.*", "", word) for word in words}  # POWER means POWER9, too
        met = set(name.upper().split()) <= words
        return "" if met else f"this processor is {machine.processor.model or 'not named by the system'}"
    if need.startswith(_MOUNTED):
        kinds, found = FILE_SYSTEMS[need.removeprefix(_MOUNTED)][1], machine.system.get("file_systems", "").split()
        met = bool(set(found) & set(kinds))
        return (
            "" if met else f"mounted types: {', '.join(found) or 'none recorded'} (required: one of {', '.join(kinds)})"
        )
    if need == _PREFETCH:
        return (
            ""
            if machine.system.get(_PREFETCH)
            else machine.system.get("hwprefetch_why", "the recorded machine does not state it")
        )
    if need == _MPI_IO:
        met = bool(set(machine.software) & set(_MPI_LIBRARIES))
        return "" if met else f"no library of {', '.join(_MPI_LIBRARIES)} was found"
    if need == "thp":
        setting = machine.system.get("thp", "this kernel does not support them")
        return {"never": "they are disabled (never)"}.get(setting, "" if "thp" in machine.system else setting)
    return _no_pages(units.parse_bytes(need.removeprefix("pages=")), machine)


def _no_pages(size: int, machine: Machine) -> str:
    pool = next((page for page in machine.page_sizes if page.size_bytes == size), None)
    if pool is None:
        setting = _transparent(size, machine)
        if setting in ("always", "madvise"):
            return ""
        sizes = ", ".join(units.bytes_text(page.size_bytes) for page in machine.page_sizes)
        return f"this system supports {sizes}" + f"; transparent pages of that size are disabled ({setting})" * bool(
            setting
        )
    met = pool.pool_pages is None or bool(pool.free_pages)
    return "" if met else f"{pool.free_pages or 0} of {pool.pool_pages} reserved pages are free"


def _transparent(size: int, machine: Machine) -> str:
    """Return the kernel's policy for transparent pages of that size: `madvise`, of `64kB=madvise 2048kB=inherit`."""
    sizes = machine.system.get("thp_sizes", "")
    word = dict(part.split("=", 1) for part in sizes.split() if "=" in part).get(f"{size // 1024}kB", "")
    return machine.system.get("thp", "") if word == "inherit" else word
