"""JSON form of a machine, and the fingerprint that identifies equal machines."""

import hashlib
import json
from dataclasses import MISSING, astuple, fields, is_dataclass
from typing import Any

import msgspec
from msgspec import Struct

from octant.machine import Bytes, Cpu, Disagreement, Machine, PageSize, Processor, Topology
from octant.machine.cpusets import cpus_text, parse_cpus
from octant.machine.sanity import check_machine

SCHEMA = 1
_Json = dict[str, object]
_SETS = ("cpus", "allowed", "complete", "initiators", "allowed_nodes")
"""Members that are sets of hardware threads; stored as kernel lists (`0-3,8`)."""
_ALWAYS = ("distances", "infos", "initiators")
"""Members that are stored even if they are not known; others are omitted if they have their default value."""


class _Rows(Struct):
    cpus: list[list[int | str | None]]


class StoredMachine(Struct):
    """JSON document that `to_json` writes; decoding checks types and ranges of its members."""

    schema: int
    name: str
    topology: dict[str, Any]
    processor: Processor
    memory_bytes: Bytes | None
    page_sizes: list[tuple[Bytes, Bytes | None, Bytes | None]]
    system: dict[str, str]
    software: dict[str, str]
    disagreements: tuple[Disagreement, ...]

    def machine(self) -> Machine:
        """Return the machine; contradictory parts of the description are not used.

        Raises:
            ValueError: another schema, or a topology with a member of the wrong kind or range.
        """
        if self.schema != SCHEMA:
            raise ValueError(
                f"cannot read a machine of schema {self.schema} (supported: {SCHEMA}); install a newer Octant"
            )
        try:
            topology = _topology(self.topology)
        except msgspec.ValidationError as error:
            raise ValueError(str(error)) from None
        found = Machine(
            self.name, topology, self.processor, self.memory_bytes,
            tuple(PageSize(*row) for row in self.page_sizes), self.system, self.software, self.disagreements,
        )  # fmt: skip
        return check_machine(found)


def _topology(stored: dict[str, Any]) -> Topology:
    names = [member.name for member in fields(Cpu)]
    rows = msgspec.convert(stored, _Rows).cpus  # converted first so that an error message names the member
    if any(len(row) != len(names) for row in rows):
        raise ValueError(f"cannot read the topology: a hardware thread must have the members {', '.join(names)}")
    others = _with_sets({key: value for key, value in stored.items() if key != "cpus"})
    return msgspec.convert({**others, "cpus": [dict(zip(names, row, strict=True)) for row in rows]}, Topology)


def _with_sets(value: Any) -> Any:
    """Return JSON with sets in place of the lists of hardware threads."""
    if isinstance(value, list):
        return [_with_sets(one) for one in value]
    if isinstance(value, dict):
        return {key: _set(one) if key in _SETS else _with_sets(one) for key, one in value.items()}
    return value


def _set(value: object) -> object:
    text = msgspec.convert(value, str | None)
    return text if text is None else parse_cpus(text, or_none=True)


def to_json(machine: Machine) -> _Json:
    """Return the machine as JSON types; sets of hardware threads are kernel lists (`0-3,8`)."""
    processor = {**vars(machine.processor), "flags": sorted(machine.processor.flags)}
    return {
        "schema": SCHEMA,
        "name": machine.name,
        "fingerprint": fingerprint(machine),
        "topology": _plain(machine.topology),
        "processor": processor,
        "memory_bytes": machine.memory_bytes,
        "page_sizes": _plain(machine.page_sizes),
        "system": dict(sorted(machine.system.items())),
        "software": dict(sorted(machine.software.items())),
        "disagreements": _plain(machine.disagreements),
    }


def _plain(value: Any) -> Any:
    if isinstance(value, frozenset):
        return cpus_text(value)
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if isinstance(value, Cpu | PageSize):
        return list(astuple(value))
    if not is_dataclass(value):
        return value
    members = ((member, getattr(value, member.name)) for member in fields(value))
    return {
        member.name: _plain(one)
        for member, one in members
        if member.name in _ALWAYS or member.default is MISSING or one != member.default
    }


def fingerprint(machine: Machine) -> str:
    """Return 16 hexadecimal digits computed from topology, processor, memory (to the GiB) and page sizes.

    Facts that may change on the same machine are not included: its name, the affinity mask, settings, software, stated
    clocks, sizes of NUMA nodes (they grow after boot) and the number of pages in pools.
    """
    topology, processor = machine.topology, machine.processor
    caches = [[c.level, c.kind, c.size_bytes, c.line_bytes, cpus_text(c.cpus)] for c in topology.caches or ()]
    hardware = [
        _plain(topology.cpus),
        None
        if topology.caches is None
        else sorted(caches, key=lambda row: [-1 if one is None else one for one in row]),
        [[n.os, cpus_text(n.cpus), list(n.distances)] for n in topology.numa],
        [processor.architecture, processor.vendor, processor.model, sorted(processor.flags)],
        None if machine.memory_bytes is None else round(machine.memory_bytes / 2**30),
        [page.size_bytes for page in machine.page_sizes],
    ]
    return hashlib.sha256(json.dumps(hardware).encode()).hexdigest()[:16]
