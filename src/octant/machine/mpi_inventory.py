"""The control variables of the installed MPI library, read live from `mpivars` or `ompi_info`."""

import os
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Library = Literal["mpich", "openmpi"]
_TIMEOUT_S = 20.0


@dataclass(frozen=True)
class Inventory:
    """The names that one library knows, with their current values; `aliases` map to the current names."""

    library: Library
    version: str
    values: Mapping[str, str]
    aliases: Mapping[str, str] = field(default_factory=dict)


def parse_mpivars(text: str, version: str) -> Inventory:
    """MPICH's inventory from the output of `mpivars`."""
    found = re.findall(r"^\s+(MPIR_CVAR_\w+)\s*=([^\t\n]*)\t", text, re.MULTILINE)
    return Inventory("mpich", version, {name: value.strip() for name, value in found})


def parse_ompi_info(text: str) -> Inventory:
    """Open MPI's inventory from the output of `ompi_info --all --parsable`."""
    values = dict(re.findall(r"^mca:[^:]*:[^:]*:param:([^:]+):value:(.*)$", text, re.MULTILINE))
    pairs = re.findall(r"^mca:[^:]*:[^:]*:param:([^:]+):synonym:name:(.*)$", text, re.MULTILINE)
    version = re.search(r"^ompi:version:full:(.*)$", text, re.MULTILINE)
    return Inventory("openmpi", version[1] if version else "", values, {alias: name for name, alias in pairs})


def inventory(library: Literal["auto", "mpich", "openmpi"] = "auto") -> Inventory:
    """The inventory of the library beside this Python or on PATH; `auto` takes the first that is installed.

    Raises:
        ValueError: no such library, or its tool does not answer.
    """
    if library in ("auto", "mpich"):
        text, version = _output("mpivars"), re.search(r"MPICH Version:\s*(\S+)", _output("mpichversion"))
        found = parse_mpivars(text, version[1] if version else "")
        if found.values:
            return found
    if library in ("auto", "openmpi"):
        found = parse_ompi_info(_output("ompi_info", "--all", "--parsable"))
        if found.values:
            return found
    tools = {"auto": "mpivars or ompi_info", "mpich": "mpivars", "openmpi": "ompi_info"}[library]
    raise ValueError(
        f"cannot read the settings of the MPI library ({tools} is missing or does not answer); try --library"
    )


def _output(*command: str) -> str:
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)])
    tool = shutil.which(command[0], path=path)
    if tool is None:
        return ""
    try:
        return subprocess.run(  # noqa: S603 (a tool of the MPI library, found on PATH)
            [tool, *command[1:]], capture_output=True, text=True, timeout=_TIMEOUT_S, check=False, errors="replace"
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""
