"""The same placement in every launcher's own words: one file a launcher; the folder is the registration.

A file has `TITLE`, `to_words(placement, request, topology) -> Words` and, where such lines can be read back,
`MARK` (a pattern that tells its lines) and `from_words(text, topology) -> Reading`.
"""

import functools
import importlib
import pkgutil
import re
from dataclasses import dataclass
from types import ModuleType

from octant.machine import Topology
from octant.placement import Placement
from octant.placement.request import Request


@dataclass(frozen=True)
class Words:
    """Lines that ask a launcher for a placement. `exact`: they give the very masks that Octant planned."""

    lines: tuple[str, ...]
    exact: bool
    cannot: tuple[str, ...] = ()  # plain statements of what this launcher cannot express
    files: tuple[tuple[str, str], ...] = ()  # (name, content) of files that the lines mention


@dataclass(frozen=True)
class Reading:
    """What a launcher's lines would do: the request they amount to, the placement, and what may surprise."""

    request: Request
    placement: Placement
    remarks: tuple[str, ...] = ()


@functools.cache
def backends() -> dict[str, ModuleType]:
    """Every launcher whose words are known, by name."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))
    return {name: importlib.import_module(f"{__name__}.{name}") for name in names}


def to_words(name: str, placement: Placement, request: Request, topology: Topology) -> Words:
    """The placement in the words of launcher `name`.

    Raises:
        ValueError: no such launcher; the message names the known ones.
    """
    if name not in backends():
        raise ValueError(f"no launcher {name!r}; try {', '.join(backends())}")
    words: Words = backends()[name].to_words(placement, request, topology)
    return words


def from_words(text: str, topology: Topology, name: str | None = None) -> tuple[str, Reading]:
    """Which launcher's lines these are, and what they would do on the topology.

    Raises:
        ValueError: lines of no launcher that can be read back, or wrong values in them.
    """
    readable = {key: module for key, module in backends().items() if hasattr(module, "from_words")}
    if name is not None and name not in readable:
        raise ValueError(f"cannot read lines of {name!r}; try {', '.join(readable)}")
    for key, module in readable.items():
        if key == name or (name is None and re.search(module.MARK, text)):
            reading: Reading = module.from_words(text, topology)
            return key, reading
    raise ValueError(f"cannot tell whose lines {text!r} are; known: {', '.join(readable)}")
