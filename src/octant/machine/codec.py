"""A machine as JSON and back, and the fingerprint by which results of equal machines find each other."""

import hashlib
import json
from typing import Annotated

from msgspec import Meta, Struct

from octant.machine import (
    Cache,
    CacheKind,
    Cpu,
    CpuKind,
    CpuSet,
    Disagreement,
    Machine,
    MemoryAttribute,
    NumaNode,
    PageSize,
    Processor,
    Topology,
)
from octant.machine.cpusets import cpus_text, parse_cpus
from octant.machine.sanity import checked

SCHEMA = 1
_Json = dict[str, object]
_Number = Annotated[int, Meta(ge=-1, le=10_000_000)]  # of a hardware thread, core, package or node; -1: not told
_Bytes = Annotated[int, Meta(ge=0, le=2**62)]


class _Cache(Struct):
    level: Annotated[int, Meta(ge=1, le=9)]
    kind: CacheKind
    size_bytes: _Bytes | None
    line_bytes: _Bytes | None
    cpus: str
    ways: Annotated[int, Meta(ge=1, le=2**31)] | None = None


class _Node(Struct):
    os: _Number
    cpus: str
    memory_bytes: _Bytes | None
    distances: tuple[Annotated[int, Meta(ge=0, le=2**31)], ...]
    kind: str = ""
    side_caches: tuple[_Bytes | None, ...] = ()


class _Kind(Struct):
    cpus: str
    rank: _Number | None
    infos: tuple[tuple[str, str], ...]


class _Attribute(Struct):
    name: str
    node: _Number
    value: float
    unit: str
    initiators: str | None


class _Topology(Struct):
    cpus: Annotated[list[tuple[_Number, _Number, _Number, _Number | None, _Number, str]], Meta(min_length=1)]
    caches: list[_Cache] | None
    numa: list[_Node]
    allowed: str
    complete: str | None = None
    kinds: list[_Kind] = []
    memory_attributes: list[_Attribute] = []

    def topology(self) -> Topology:
        """The topology; `ValueError` for a list of hardware threads that cannot be read."""
        return Topology(
            cpus=tuple(Cpu(*row) for row in self.cpus),
            caches=None
            if self.caches is None
            else tuple(
                Cache(c.level, c.kind, c.size_bytes, c.line_bytes, parse_cpus(c.cpus, or_none=True), c.ways)
                for c in self.caches
            ),
            numa=tuple(
                NumaNode(n.os, parse_cpus(n.cpus, or_none=True), n.memory_bytes, n.distances, n.kind, n.side_caches)
                for n in self.numa
            ),
            allowed=parse_cpus(self.allowed, or_none=True),
            complete=_cpus_or_unknown(self.complete),
            kinds=tuple(CpuKind(parse_cpus(k.cpus, or_none=True), k.rank, k.infos) for k in self.kinds),
            memory_attributes=tuple(
                MemoryAttribute(a.name, a.node, a.value, a.unit, _cpus_or_unknown(a.initiators))
                for a in self.memory_attributes
            ),
        )


def _cpus_or_unknown(text: str | None) -> CpuSet | None:
    return None if text is None else parse_cpus(text, or_none=True)


class StoredMachine(Struct):
    """What `to_json` writes: kinds and ranges of its members, before anything is made of them."""

    schema: int
    name: str
    topology: _Topology
    processor: Processor
    memory_bytes: _Bytes | None
    page_sizes: list[tuple[_Bytes, _Bytes | None, _Bytes | None]]
    system: dict[str, str]
    software: dict[str, str]
    disagreements: tuple[Disagreement, ...]

    def machine(self) -> Machine:
        """The machine, without what its description contradicts.

        Raises:
            ValueError: another schema, or a list of hardware threads that cannot be read.
        """
        if self.schema != SCHEMA:
            raise ValueError(f"cannot read a machine of schema {self.schema} (this is {SCHEMA}); try a newer Octant")
        found = Machine(
            name=self.name,
            topology=self.topology.topology(),
            processor=self.processor,
            memory_bytes=self.memory_bytes,
            page_sizes=tuple(PageSize(*row) for row in self.page_sizes),
            system=self.system,
            software=self.software,
            disagreements=self.disagreements,
        )
        return checked(found)


def to_json(machine: Machine) -> _Json:
    """The machine in JSON's types; sets of hardware threads are the kernel's lists (`0-3,8`)."""
    processor = machine.processor
    return {
        "schema": SCHEMA,
        "name": machine.name,
        "fingerprint": fingerprint(machine),
        "topology": _topology_json(machine.topology),
        "processor": {
            "architecture": processor.architecture,
            "vendor": processor.vendor,
            "model": processor.model,
            "flags": sorted(processor.flags),
            "nominal_hz": processor.nominal_hz,
        },
        "memory_bytes": machine.memory_bytes,
        "page_sizes": [[p.size_bytes, p.pool_pages, p.free_pages] for p in machine.page_sizes],
        "system": dict(sorted(machine.system.items())),
        "software": dict(sorted(machine.software.items())),
        "disagreements": [
            {"subject": d.subject, "statements": [list(s) for s in d.statements], "trusted": d.trusted}
            for d in machine.disagreements
        ],
    }


def _topology_json(topology: Topology) -> _Json:
    """The topology; what versions before 0.3 did not store is left out where it is not known or there is none."""
    further: _Json = {
        "complete": None if topology.complete is None else cpus_text(topology.complete),
        "kinds": [
            {"cpus": cpus_text(k.cpus), "rank": k.rank, "infos": [list(info) for info in k.infos]}
            for k in topology.kinds
        ],
        "memory_attributes": [
            {
                "name": a.name,
                "node": a.node,
                "value": a.value,
                "unit": a.unit,
                "initiators": None if a.initiators is None else cpus_text(a.initiators),
            }
            for a in topology.memory_attributes
        ],
    }
    return {
        "cpus": _cpu_rows(topology),
        "caches": None if topology.caches is None else [_cache_json(cache) for cache in topology.caches],
        "numa": [
            {
                "os": n.os,
                "cpus": cpus_text(n.cpus),
                "memory_bytes": n.memory_bytes,
                "distances": list(n.distances),
                **({"kind": n.kind} if n.kind else {}),
                **({"side_caches": list(n.side_caches)} if n.side_caches else {}),
            }
            for n in topology.numa
        ],
        "allowed": cpus_text(topology.allowed),
        **{key: value for key, value in further.items() if value not in (None, [])},
    }


def _cache_json(cache: Cache) -> _Json:
    return {
        "level": cache.level,
        "kind": cache.kind,
        "size_bytes": cache.size_bytes,
        "line_bytes": cache.line_bytes,
        "cpus": cpus_text(cache.cpus),
        **({"ways": cache.ways} if cache.ways else {}),
    }


def _cpu_rows(topology: Topology) -> list[list[int | str | None]]:
    return [[c.os, c.core, c.package, c.numa, c.die, c.kind] for c in topology.cpus]


def _without_unknown(row: list[int | str | None]) -> list[int | str]:
    """A row that can be compared with others; what is not known comes first."""
    return [-1 if one is None else one for one in row]


def fingerprint(machine: Machine) -> str:
    """Sixteen digits that equal machines share: of topology, processor, memory to the GiB, page sizes.

    Left out is whatever changes without the machine becoming another one: its name, what this process may
    use, settings, software, stated clocks, per-node sizes (they grow after boot), the filling of page pools.
    """
    topology, processor = machine.topology, machine.processor
    caches: list[list[int | str | None]] = [
        [c.level, c.kind, c.size_bytes, c.line_bytes, cpus_text(c.cpus)] for c in topology.caches or ()
    ]
    hardware = [
        _cpu_rows(topology),
        None if topology.caches is None else sorted(caches, key=_without_unknown),
        [[n.os, cpus_text(n.cpus), list(n.distances)] for n in topology.numa],
        [processor.architecture, processor.vendor, processor.model, sorted(processor.flags)],
        None if machine.memory_bytes is None else round(machine.memory_bytes / 2**30),
        [page.size_bytes for page in machine.page_sizes],
    ]
    return hashlib.sha256(json.dumps(hardware).encode()).hexdigest()[:16]
