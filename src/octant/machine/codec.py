"""A machine as JSON and back, and the fingerprint by which results of equal machines find each other."""

import hashlib
import json
from typing import cast

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


def from_json(data: _Json) -> Machine:
    """The machine that `to_json` wrote.

    Raises:
        ValueError: another schema, or something that is no machine.
    """
    if data.get("schema") != SCHEMA:
        raise ValueError(
            f"cannot read a machine of schema {data.get('schema')!r} (this is {SCHEMA}); try a newer Octant"
        )
    try:
        return _machine(data)
    except (KeyError, TypeError, IndexError) as error:
        raise ValueError(f"cannot read a machine ({error!r} in its JSON); try recording it again") from error


def _machine(data: _Json) -> Machine:
    topology, processor = cast("_Json", data["topology"]), cast("_Json", data["processor"])
    nominal_hz = cast("float | None", processor["nominal_hz"])
    return Machine(
        name=str(data["name"]),
        topology=Topology(
            cpus=tuple(Cpu(*row) for row in cast("list[tuple[int, int, int, int, int, str]]", topology["cpus"])),
            caches=tuple(_cache(entry) for entry in cast("list[_Json]", topology["caches"])),
            numa=tuple(_node(entry) for entry in cast("list[_Json]", topology["numa"])),
            allowed=parse_cpus(str(topology["allowed"])),
        ),
        processor=Processor(
            architecture=str(processor["architecture"]),
            vendor=str(processor["vendor"]),
            model=str(processor["model"]),
            flags=frozenset(cast("list[str]", processor["flags"])),
            nominal_hz=nominal_hz,
        ),
        memory_bytes=_int(data["memory_bytes"]),
        page_sizes=tuple(
            PageSize(*row) for row in cast("list[tuple[int, int | None, int | None]]", data["page_sizes"])
        ),
        system=dict(cast("dict[str, str]", data["system"])),
        software=dict(cast("dict[str, str]", data["software"])),
        disagreements=tuple(_disagreement(entry) for entry in cast("list[_Json]", data["disagreements"])),
    )


def _cache(data: _Json) -> Cache:
    kind = cast("CacheKind", data["kind"])
    return Cache(
        _int(data["level"]),
        kind,
        _int(data["size_bytes"]),
        _int(data["line_bytes"]),
        parse_cpus(str(data["cpus"])),
        _int(data["ways"]) if data.get("ways") else None,
    )


def _node(data: _Json) -> NumaNode:
    distances = tuple(cast("list[int]", data["distances"]))
    return NumaNode(_int(data["os"]), parse_cpus(str(data["cpus"])), _int(data["memory_bytes"]), distances)


def _disagreement(data: _Json) -> Disagreement:
    statements = cast("list[tuple[str, str]]", data["statements"])
    return Disagreement(
        str(data["subject"]), tuple((source, statement) for source, statement in statements), str(data["trusted"])
    )


def _int(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(value)
    return value


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
