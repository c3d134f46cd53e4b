"""The few words of a study file that stand for facts of the machine: `4*llc/ranks`, `numa>=2`."""

import re
from collections.abc import Mapping

from octant import units
from octant.machine import Machine

FACTS = ("cores", "hwthreads", "smt", "numa", "packages", "l1", "l2", "llc", "memory", "ranks", "threads", "fill")
_TERM = rf"(?:\d+|{'|'.join(FACTS)})"
_EXPRESSION = re.compile(rf"{_TERM}(?:\s*[*/]\s*{_TERM})*")
_COMPARISON = re.compile(r"(cores|smt|numa|packages)(>=|<=)(\d+)")
_SAID = {
    "cores": ("usable core", "usable cores"),
    "smt": ("hardware thread a core", "hardware threads a core"),
    "numa": ("NUMA domain", "NUMA domains"),
    "packages": ("package", "packages"),
}
_LIMIT = {">=": "least", "<=": "most"}


def usable_cores(machine: Machine) -> list[int]:
    """One usable hardware thread of each core that has any."""
    allowed = machine.topology.allowed
    return [min(core & allowed) for core in machine.topology.groups("core") if core & allowed]


def facts(machine: Machine) -> dict[str, int]:
    """What a study's words stand for on this machine; sizes in bytes, and only what this process may use counts."""
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
        "memory": machine.memory_bytes,
    }


def value(text: str, known: Mapping[str, int]) -> str:
    """A knob's value: words and their products and quotients worked out (whole numbers, left to right), else as is.

    A size of several times the last-level cache is cut to an eighth of the memory, or it might not fit.

    Raises:
        ValueError: a word whose value is not known yet, or a division by zero.
    """
    if not _EXPRESSION.fullmatch(text) or text.isdigit():
        return text
    tokens = re.findall(rf"{_TERM}|[*/]", text)
    unknown = [token for token in tokens if token in FACTS and token not in known]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is not known here in {text!r}; known are {', '.join(known)}")
    numbers = [int(token) if token.isdigit() else known[token] for token in tokens[::2]]
    result = numbers[0]
    for sign, number in zip(tokens[1::2], numbers[1:], strict=True):
        if sign == "/" and number == 0:
            raise ValueError(f"{text!r} divides by zero")
        result = result * number if sign == "*" else result // number
        if "llc" in tokens:
            result = min(result, known["memory"] // 8)
    return str(result)


def count(text: str, known: Mapping[str, int]) -> int:
    """A number of ranks or threads; 0 where a quotient comes to nothing here.

    Raises:
        ValueError: no whole number and no word, or one that is not known yet.
    """
    found = value(text, known)
    if not re.fullmatch(r"\d{1,9}", found):
        raise ValueError("neither a number nor a word")
    return int(found)


def missing(need: str, machine: Machine) -> str:
    """Why a need is not met here, for people; empty when it is."""
    comparison = _COMPARISON.fullmatch(need)
    if comparison:
        have, wanted = facts(machine)[comparison[1]], int(comparison[3])
        if have >= wanted if comparison[2] == ">=" else have <= wanted:
            return ""
        one, several = _SAID[comparison[1]]
        return f"one {one}" if have == 1 else f"{have} {several}, at {_LIMIT[comparison[2]]} {wanted} needed"
    if need == "thp":
        return "no transparent huge pages" if machine.system.get("thp", "never") == "never" else ""
    size = units.parse_bytes(need.removeprefix("pages="))
    pool = next((page for page in machine.page_sizes if page.size_bytes == size), None)
    if pool is not None and (pool.pool_pages is None or pool.free_pages):
        return ""
    why = "this system has no pages of that size" if pool is None else "the pool has no free pages"
    return f"no {units.bytes_text(size)} pages ({why})"
