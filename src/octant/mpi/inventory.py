"""The control variables of an MPI library, read live: from our probe, `mpivars`, `ompi_info` or `impi_info`."""

import functools
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from octant import build
from octant.failure import Exit, Refusal, suggestion
from octant.mpi.neutral import LibraryName
from octant.software.command import answer, tool

_VERSIONS: tuple[tuple[str, LibraryName], ...] = (
    (r"Open MPI v(\S+?),", "openmpi"),
    (r"Intel\(R\) MPI Library (\S+)", "intelmpi"),
    (r"CRAY MPICH version (\S+)", "cray-mpich"),
    (r"MVAPICH2? Version\s*:\s*(\S+)", "mvapich2"),
    (r"MPICH Version:\s*(\S+)", "mpich"),
)
_TRUTHS = {"true": "1", "yes": "1", "on": "1", "enabled": "1", "false": "0", "no": "0", "off": "0", "disabled": "0"}
PROBE = "mpi-probe"
LIBRARIES = ("auto", "mpich", "openmpi", "intelmpi")
"""What `inventory` can ask."""


@dataclass(frozen=True)
class Inventory:
    """The names that one library knows, with their current values; `aliases` map to the current names."""

    library: LibraryName
    version: str
    values: Mapping[str, str]
    aliases: Mapping[str, str] = field(default_factory=dict)
    device: str = ""  # of MPICH: "ch4:ucx ofi"
    kinds: Mapping[str, str] = field(default_factory=dict)  # "integer", "real" or "text", where the library says so
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # the values of those that have names


def parse_mpivars(text: str, version: str) -> Inventory:
    """MPICH's inventory from the output of `mpivars`."""
    found = re.findall(r"^\s*(MPIR_CVAR_\w+)\s*=([^\t\n]*)\t", text, re.MULTILINE)
    return Inventory("mpich", version, {name: value.strip() for name, value in found})


def parse_ompi_info(text: str) -> Inventory:
    """Open MPI's inventory from the output of `ompi_info --all --parsable`."""
    values = dict(re.findall(r"^mca:[^:]*:[^:]*:param:([^:]+):value:(.*)$", text, re.MULTILINE))
    pairs = re.findall(r"^mca:[^:]*:[^:]*:param:([^:]+):synonym:name:(.*)$", text, re.MULTILINE)
    version = re.search(r"^ompi:version:full:(.*)$", text, re.MULTILINE)
    return Inventory("openmpi", version[1] if version else "", values, {alias: name for name, alias in pairs})


def parse_impi_info(text: str, version: str) -> Inventory:
    """Intel MPI's inventory from the output of `impi_info -a -e`: names without values, since it shows none in use."""
    return Inventory("intelmpi", version, dict.fromkeys(re.findall(r"^([A-Z]\w+) *$", text, re.MULTILINE), ""))


def parse_probe(text: str) -> Inventory:
    """Return the inventory of the library that our programs are linked with, from what `octant-mpi-probe describe` says.

    Raises:
        ValueError: it is not what the probe says, or the library is none that is known.
    """
    said = json.loads(text)
    banner, variables = said["library"], said["variables"]
    name, version = library_and_version(banner)
    device = re.search(r"MPICH Device:\s*(.+)", banner)
    return Inventory(
        name, version, {v["name"]: v["value"] for v in variables}, {}, device[1].strip() if device else "",
        {v["name"]: v["type"] for v in variables if v["type"]},
        {v["name"]: tuple(v["words"]) for v in variables if "words" in v},
    )  # fmt: skip


def library_and_version(banner: str) -> tuple[LibraryName, str]:
    """Return which library says this of itself (`MPI_Get_library_version`), and its version.

    Raises:
        ValueError: none that is known.
    """
    for pattern, name in _VERSIONS:
        if found := re.search(pattern, banner):
            return name, found[1]
    raise ValueError(f"the library calls itself {(banner.splitlines() or [''])[0]!r}")


def agrees(asked: str, spellings: Sequence[str]) -> bool:
    """Return whether the value that a library reads back, in any of its spellings, is the one that it was given."""
    known = [_plain(spelling) for spelling in spellings]
    return _plain(asked) in known


def _plain(text: str) -> str:
    return _TRUTHS.get(text.lower(), text)


def inventory(library: str = "auto") -> Inventory:
    """Return the inventory of the library beside this Python or on PATH; `auto` takes the first that is installed.

    Raises:
        Refusal: none of `LIBRARIES`.
        ValueError: its tool does not answer.
    """
    if library not in LIBRARIES:
        hint = suggestion(library, LIBRARIES)
        raise Refusal(f"cannot ask the MPI library {library!r} (no such library here); {hint}", Exit.WRONG_WORD)
    if library in ("auto", "mpich"):
        text, version = _output("mpivars"), re.search(r"MPICH Version:\s*(\S+)", _output("mpichversion"))
        found = parse_mpivars(text, version[1] if version else "")
        if found.values:
            return found
    if library in ("auto", "openmpi"):
        found = parse_ompi_info(_output("ompi_info", "--all", "--parsable"))
        if found.values:
            return found
    if library in ("auto", "intelmpi"):
        beside = Path(tool("impi_info") or "impi_info").with_name(
            "mpiexec.hydra"
        )  # others have a launcher of that name
        said = _output(str(beside), "--version")
        version = re.search(r"Intel\(R\) MPI Library.*Version (\S+)", said)
        found = parse_impi_info(_output("impi_info", "-a", "-e"), version[1] if version else "")
        if found.values:
            return found
    tools = {
        "auto": "mpivars or ompi_info", "mpich": "mpivars", "openmpi": "ompi_info", "intelmpi": "impi_info",
    }[library]  # fmt: skip
    raise ValueError(
        f"cannot read the settings of the MPI library ({tools} is missing or does not answer); try --library"
    )


def _output(name: str, *words: str) -> str:
    path = tool(name)
    code, text = answer([path, *words], timeout_s=20) if path else (1, "")
    return "" if code else text


def linked() -> Inventory:
    """Return the library that our programs are linked with, as one of them says; asked once for each state of the program and
    of what finds libraries.

    Raises:
        Refusal: the probe is not installed or does not answer.
    """
    program = build.find(PROBE)
    return _asked(program, program.stat().st_mtime_ns, os.environ.get("LD_LIBRARY_PATH", ""))


@functools.cache
def _asked(program: Path, _time_ns: int, _folders: str) -> Inventory:
    """Settings of the environment are kept from it: one that aborts the library would hide its name."""
    ours = [name for name in os.environ if name.startswith(("MPIR_CVAR_", "OMPI_MCA_", "UCX_", "FI_", "I_MPI_"))]
    code, text = answer([str(program), "describe"], dict.fromkeys(ours), timeout_s=30)
    try:
        if code:
            raise ValueError(text or f"it ended with exit code {code}")
        return parse_probe(text)
    except (ValueError, KeyError) as error:
        raise Refusal(
            f"cannot ask {program} which MPI library it is linked with ({error}); try `make setup`"
        ) from error
