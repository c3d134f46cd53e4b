"""Machines and topologies from files and synthetic descriptions."""

import functools
import re
from pathlib import Path

from octant.failure import Refusal
from octant.machine import Machine, Processor, Topology
from octant.machine.hwloc.process import HelperError, NoHwlocError
from octant.machine.hwloc.source import from_synthetic, from_xml
from octant.machine.hwloc.xml import read_machine, read_xml, total_memory
from octant.untrusted import exists, read_text

_READABLE = re.compile(r"<topology\b[^>]*\bversion=\"[23]\.")
_EXPECTED = "expected an hwloc XML file, a recorded tree or a synthetic string"
_EXAMPLE = "a synthetic string has the form 'pack:2 core:4 pu:2'"
_DESCRIPTIONS = ("", ".synthetic", ".txt")
"""Suffixes of files with synthetic descriptions; error messages quote the wrong part."""


def load(source: str | Path) -> Topology:
    """Return the topology of `load_machine`."""
    return load_machine(source).topology


def load_machine(source: str | Path) -> Machine:
    """Return the machine in a file (hwloc XML or `.synthetic`) or of a synthetic description.

    XML may also describe the processor. `parse_description` has the syntax of `.synthetic` files.

    Raises:
        NoHwlocError: libhwloc is required and not installed.
        ValueError: the source is neither a readable file nor a description, or not of a topology.
    """
    text, name = _text(source), Path(source).stem
    if not text.lstrip().startswith("<"):
        if text is not source and (not text.strip() or "\0" in text or Path(source).suffix == ".xml"):
            raise _not_a_topology(source, "the file is empty" if not text.strip() else "")
        try:
            topology = read_synthetic(text)
        except ValueError as error:
            if text is source or Path(source).suffix in _DESCRIPTIONS or isinstance(error, HelperError):
                raise
            raise _not_a_topology(source) from error
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
    """Return the topology of a synthetic description.

    Raises:
        NoHwlocError: libhwloc is not installed.
        ValueError: invalid description; the message quotes the wrong part.
    """
    return read_xml(from_synthetic(text))


def _text(source: str | Path) -> str:
    if not str(source).strip():
        raise ValueError(f"no machine is named ({_EXPECTED}); {_EXAMPLE}")
    if isinstance(source, str) and ":" in source and not exists(Path(source)):
        return source
    try:
        return read_text(Path(source), "machine")
    except Refusal as refusal:
        why = str(refusal).partition("; ")[0]
        raise ValueError(f"{why}; {_EXPECTED}; {_EXAMPLE}") from None


def _not_a_topology(source: str | Path, reason: str = "") -> ValueError:
    """Return the error for a file that is not a topology; it suggests a file of the same name with another suffix."""
    path = Path(source)
    others = [other for suffix in (".synthetic", ".xml") if exists(other := path.with_suffix(suffix)) and other != path]
    hint = f"did you mean {others[0]}?" if others else _EXAMPLE
    return ValueError(f"{source} is not a topology ({'; '.join(filter(None, [reason, _EXPECTED]))}); {hint}")
