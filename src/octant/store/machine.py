"""The machine in `asked.json`: kinds and ranges of its members, before anything is made of them."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from octant.machine import Machine, codec

_Number = Annotated[int, Meta(ge=-1, le=10_000_000)]  # of a hardware thread, core, package or node; -1: not told
_Bytes = Annotated[int, Meta(ge=0, le=2**62)]
_Hertz = Annotated[float, Meta(gt=0, le=1e15)]


class _Cache(Struct):
    level: Annotated[int, Meta(ge=1, le=9)]
    kind: Literal["data", "instruction", "unified"]
    size_bytes: _Bytes
    line_bytes: _Bytes
    cpus: str
    ways: Annotated[int, Meta(ge=1, le=2**31)] | None = None


class _Node(Struct):
    os: _Number
    cpus: str
    memory_bytes: _Bytes
    distances: list[Annotated[int, Meta(ge=0, le=2**31)]]


class _Topology(Struct):
    cpus: Annotated[list[tuple[_Number, _Number, _Number, _Number, _Number, str]], Meta(min_length=1)]
    caches: list[_Cache]
    numa: list[_Node]
    allowed: str


class _Processor(Struct):
    architecture: str
    vendor: str
    model: str
    flags: list[str]
    nominal_hz: _Hertz | None


class _Disagreement(Struct):
    subject: str
    statements: list[tuple[str, str]]
    trusted: str


class StoredMachine(Struct):
    """What `codec.to_json` writes."""

    schema: int
    name: str
    topology: _Topology
    processor: _Processor
    memory_bytes: _Bytes
    page_sizes: list[tuple[_Bytes, _Bytes | None, _Bytes | None]]
    system: dict[str, str]
    software: dict[str, str]
    disagreements: list[_Disagreement]

    def machine(self) -> Machine:
        """The machine.

        Raises:
            ValueError: another schema, or a list of hardware threads that cannot be read.
        """
        members: dict[str, Any] = msgspec.to_builtins(self)
        return codec.from_json(members)
