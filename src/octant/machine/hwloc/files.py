"""Machines and topologies in files and in synthetic descriptions."""

import functools
import re
from pathlib import Path

from octant.failure import Refusal
from octant.machine import Machine, Processor, Topology
from octant.machine.hwloc.process import NoHwlocError
from octant.machine.hwloc.source import from_synthetic, from_xml
from octant.machine.hwloc.xml import total_memory, read_machine, read_xml
from octant.untrusted import exists, read_text

_READABLE = re.compile(r"<topology\b[^>]*\bversion=\"[23]\.")
_HINT = "try an hwloc XML file, a .synthetic file or a description such as 'pack:2 core:4 pu:2'"


def load(source: str | Path) -> Topology:
    """The topology of `load_machine`."""
    return load_machine(source).topology


def load_machine(source: str | Path) -> Machine:
    """The machine in a file (hwloc XML, or a `.synthetic` file) or in a synthetic description itself.

    XML may state the processor, too. See `parse_description` for what a `.synthetic` file may hold.

    Raises:
        NoHwlocError: it takes libhwloc to read it, and there is none.
        ValueError: neither a file that can be read nor a description, or one of no topology.
    """
    text, name = _text(source), Path(source).stem
    if not text.lstrip().startswith("<"):
        if text is not source and (not text.strip() or "\0" in text or Path(source).suffix == ".xml"):
            what = "is empty" if not text.strip() else "is not XML"
            raise ValueError(f"cannot read the machine {str(source)!r} (the file {what}); {_HINT}")
        topology = read_synthetic(text)
        return Machine(
            name, topology, Processor(None, "", "unknown", frozenset(), None), total_memory(topology.numa), ()
        )
    try:
        return read_machine(from_xml(text, f"the XML file {str(source)!r}"), name)
    except NoHwlocError:
        if not _READABLE.search(text):
            raise
        return read_machine(text, name)


@functools.lru_cache(maxsize=256)
def read_synthetic(text: str) -> Topology:
    """The topology of a synthetic description.

    Raises:
        NoHwlocError: there is no libhwloc.
        ValueError: no such description; the message names the wrong part.
    """
    return read_xml(from_synthetic(text))


def _text(source: str | Path) -> str:
    if not str(source).strip():
        raise ValueError(f"cannot read a machine without a name; {_HINT}")
    if isinstance(source, str) and ":" in source and not exists(Path(source)):
        return source
    try:
        return read_text(Path(source), "machine")
    except Refusal as refusal:
        why = str(refusal).partition("; ")[0]
        raise ValueError(f"{why}; {_HINT}") from None
