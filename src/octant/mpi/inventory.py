"""Control variables of an installed MPI library, from Octant's probe, `mpivars`, `ompi_info` or `impi_info`."""

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
"""Libraries that `inventory` supports."""


@dataclass(frozen=True)
class Inventory:
    """The control variables of a library with their current values; `aliases` map to current names."""

    library: LibraryName
    version: str
    values: Mapping[str, str]
    aliases: Mapping[str, str] = field(default_factory=dict)
    device: str = ""  # of MPICH: "ch4:ucx ofi"
    kinds: Mapping[str, str] = field(default_factory=dict)  # "integer", "real" or "text", if stated
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # named values of enumerations


def parse_mpivars(text: str, version: str) -> Inventory:
    """Parse the output of `mpivars` of MPICH."""
    found = re.findall(r"^\s*(MPIR_CVAR_\w+)\s*=([^\t\n]*)\t", text, re.MULTILINE)
    return Inventory("mpich", version, {name: value.strip() for name, value in found})


def parse_ompi_info(text: str) -> Inventory:
    """Parse the output of `ompi_info --all --parsable` of Open MPI."""
    values = dict(re.findall(r"^mca:[^:]*:[^:]*:param:([^:]+):value:(.*)$", text, re.MULTILINE))
    pairs = re.findall(r"^mca:[^:]*:[^:]*:param:([^:]+):synonym:name:(.*)$", text, re.MULTILINE)
    version = re.search(r"^ompi:version:full:(.*)$", text, re.MULTILINE)
    return Inventory("openmpi", version[1] if version else "", values, {alias: name for name, alias in pairs})


def parse_impi_info(text: str, version: str) -> Inventory:
    """Parse the output of `impi_info -a -e` of Intel MPI, which has no current values."""
    return Inventory("intelmpi", version, dict.fromkeys(re.findall(r"^([A-Z]\w+) *$", text, re.MULTILINE), ""))


def parse_probe(text: str) -> Inventory:
    """Parse the output of `octant-mpi-probe describe`: the library that Octant's programs are linked with.

    Raises:
        ValueError: invalid output, or an unknown library.
    """
    document = json.loads(text)
    banner, variables = document["library"], document["variables"]
    name, version = library_and_version(banner)
    device = re.search(r"MPICH Device:\s*(.+)", banner)
    return Inventory(
        name, version, {v["name"]: v["value"] for v in variables}, {}, device[1].strip() if device else "",
        {v["name"]: v["type"] for v in variables if v["type"]},
        {v["name"]: tuple(v["words"]) for v in variables if "words" in v},
    )  # fmt: skip


def library_and_version(banner: str) -> tuple[LibraryName, str]:
    """Return the library and version of a banner of `MPI_Get_library_version`.

    Raises:
        ValueError: the library is not known.
    """
    for pattern, name in _VERSIONS:
        if found := re.search(pattern, banner):
            return name, found[1]
    raise ValueError(f"unknown MPI library {(banner.splitlines() or [''])[0]!r}")


def agrees(requested: str, spellings: Sequence[str]) -> bool:
    """Return whether a value that was read back, in any of its spellings, is the requested one."""
    known = [_plain(spelling) for spelling in spellings]
    return _plain(requested) in known


def _plain(text: str) -> str:
    return _TRUTHS.get(text.lower(), text)


def inventory(library: str = "auto") -> Inventory:
    """Return the inventory of the library of this Python environment or on PATH; `auto` uses the first one installed.

    Raises:
        Refusal: the name is not one of `LIBRARIES`.
        ValueError: the tool is not installed or fails.
    """
    if library not in LIBRARIES:
        hint = suggestion(library, LIBRARIES)
        raise Refusal(f"unknown MPI library {library!r}; {hint}", Exit.WRONG_WORD)
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
        # other libraries also have a launcher of that name
        launcher = Path(tool("impi_info") or "impi_info").with_name("mpiexec.hydra")
        version = re.search(r"Intel\(R\) MPI Library.*Version (\S+)", _output(str(launcher), "--version"))
        found = parse_impi_info(_output("impi_info", "-a", "-e"), version[1] if version else "")
        if found.values:
            return found
    tools = {
        "auto": "mpivars or ompi_info", "mpich": "mpivars", "openmpi": "ompi_info", "intelmpi": "impi_info",
    }[library]  # fmt: skip
    raise ValueError(
        f"cannot read the settings of the MPI library: {tools} is not installed or fails; try another --library"
    )


def _output(name: str, *words: str) -> str:
    path = tool(name)
    code, text = answer([path, *words], timeout_s=20) if path else (1, "")
    return "" if code else text


def linked() -> Inventory:
    """Return the inventory of the library that Octant's programs are linked with.

    The probe runs once for each state of the program and of LD_LIBRARY_PATH.

    Raises:
        Refusal: the probe is not installed or fails.
    """
    program = build.find(PROBE)
    return _describe(program, program.stat().st_mtime_ns, os.environ.get("LD_LIBRARY_PATH", ""))


@functools.cache
def _describe(program: Path, _time_ns: int, _folders: str) -> Inventory:
    """Run the probe without MPI settings of the environment, since they may abort the library."""
    ours = [name for name in os.environ if name.startswith(("MPIR_CVAR_", "OMPI_MCA_", "UCX_", "FI_", "I_MPI_"))]
    code, text = answer([str(program), "describe"], dict.fromkeys(ours), timeout_s=30)
    try:
        if code:
            raise ValueError(text or f"exit code {code}")
        return parse_probe(text)
    except (ValueError, KeyError) as error:
        raise Refusal(
            f"cannot determine the MPI library of {program} ({error}); build it again with `make setup`"
        ) from error
