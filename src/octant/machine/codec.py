"""A machine as JSON and back, and the fingerprint by which results of equal machines find each other."""

import hashlib
import json
from typing import Annotated

from msgspec import Meta, Struct

from octant.machine import (
    Cache,
    CacheKind,
    Cpu,
    Disagreement,
    Machine,
    NumaNode,
    PageSize,
    Processor,
    Topology,
)
from octant.machine.tree import cpus_text, parse_cpus

SCHEMA = 1
_Json = dict[str, object]
_Number = Annotated[int, Meta(ge=-1, le=10_000_000)]  # of a hardware thread, core, package or node; -1: not told
_Bytes = Annotated[int, Meta(ge=0, le=2**62)]


class _Cache(Struct):
    level: Annotated[int, Meta(ge=1, le=9)]
    kind: CacheKind
    size_bytes: _Bytes
    line_bytes: _Bytes
    cpus: str
    ways: Annotated[int, Meta(ge=1, le=2**31)] | None = None


class _Node(Struct):
    os: _Number
    cpus: str
    memory_bytes: _Bytes
    distances: tuple[Annotated[int, Meta(ge=0, le=2**31)], ...]


class _Topology(Struct):
    cpus: Annotated[list[tuple[_Number, _Number, _Number, _Number, _Number, str]], Meta(min_length=1)]
    caches: list[_Cache]
    numa: list[_Node]
    allowed: str


class StoredMachine(Struct):
    """What `to_json` writes: kinds and ranges of its members, before anything is made of them."""

    schema: int
    name: str
    topology: _Topology
    processor: Processor
    memory_bytes: _Bytes
    page_sizes: list[tuple[_Bytes, _Bytes | None, _Bytes | None]]
    system: dict[str, str]
    software: dict[str, str]
    disagreements: tuple[Disagreement, ...]

    def machine(self) -> Machine:
        """The machine.

        Raises:
            ValueError: another schema, or a list of hardware threads that cannot be read.
        """
        if self.schema != SCHEMA:
            raise ValueError(f"cannot read a machine of schema {self.schema} (this is {SCHEMA}); try a newer Octant")
        told, cpus = self.topology, tuple(Cpu(*row) for row in self.topology.cpus)
        caches = (Cache(c.level, c.kind, c.size_bytes, c.line_bytes, parse_cpus(c.cpus), c.ways) for c in told.caches)
        nodes = (NumaNode(n.os, parse_cpus(n.cpus), n.memory_bytes, n.distances) for n in told.numa)
        return Machine(
            name=self.name,
            topology=Topology(cpus, tuple(caches), tuple(nodes), parse_cpus(told.allowed)),
            processor=self.processor,
            memory_bytes=self.memory_bytes,
            page_sizes=tuple(PageSize(*row) for row in self.page_sizes),
            system=self.system,
            software=self.software,
            disagreements=self.disagreements,
        )


def to_json(machine: Machine) -> _Json:
    """The machine in JSON's types; sets of hardware threads are the kernel's lists (`0-3,8`)."""
    topology, processor = machine.topology, machine.processor
    return {
        "schema": SCHEMA,
        "name": machine.name,
        "fingerprint": fingerprint(machine),
        "topology": {
            "cpus": [[c.os, c.core, c.package, c.numa, c.die, c.kind] for c in topology.cpus],
            "caches": [
                {
                    "level": c.level,
                    "kind": c.kind,
                    "size_bytes": c.size_bytes,
                    "line_bytes": c.line_bytes,
                    "cpus": cpus_text(c.cpus),
                    **({"ways": c.ways} if c.ways else {}),
                }
                for c in topology.caches
            ],
            "numa": [
                {
                    "os": n.os,
                    "cpus": cpus_text(n.cpus),
                    "memory_bytes": n.memory_bytes,
                    "distances": list(n.distances),
                }
                for n in topology.numa
            ],
            "allowed": cpus_text(topology.allowed),
        },
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


def fingerprint(machine: Machine) -> str:
    """Sixteen digits that equal machines share: of topology, processor, memory to the GiB, page sizes.

    Left out is whatever changes without the machine becoming another one: its name, what this process may
    use, settings, software, stated clocks, per-node sizes (they grow after boot), the filling of page pools.
    """
    topology, processor = machine.topology, machine.processor
    hardware = [
        [[c.os, c.core, c.package, c.numa, c.die, c.kind] for c in topology.cpus],
        sorted([c.level, c.kind, c.size_bytes, c.line_bytes, cpus_text(c.cpus)] for c in topology.caches),
        [[n.os, cpus_text(n.cpus), list(n.distances)] for n in topology.numa],
        [processor.architecture, processor.vendor, processor.model, sorted(processor.flags)],
        round(machine.memory_bytes / 2**30),
        [page.size_bytes for page in machine.page_sizes],
    ]
    return hashlib.sha256(json.dumps(hardware).encode()).hexdigest()[:16]
