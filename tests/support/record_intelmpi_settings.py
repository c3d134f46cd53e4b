"""Record which variables Intel MPI lists, with their defaults, and what it says of those that the table calls removed.

    PYTHONPATH=src:tests/support python tests/support/record_intelmpi_settings.py .venv-intel [OLDER]...

The first argument is the environment of `make intel`; the others are environments with older wheels of impi-rt, which
are asked for the removed variables only. It writes tests/catalogue/listings/intelmpi.impi_info.txt (the variables that
`impi_info` describes), intelmpi.impi_names.txt (those that it only lists) and tests/data/impi-settings.json.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from octant.catalogue.current_settings import libraries
from paths import DATA

LISTINGS = DATA.parent / "catalogue" / "listings"
_AT_ONCE = 20  # variables that one launch has


def _said(folder: Path, *command: str, **variables: str) -> str:
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("I_MPI_", "FI_"))}
    libraries_of = ":".join(f"{folder}/{part}" for part in ("lib/release", "lib", "lib/libfabric"))
    providers = folder / "lib" / "libfabric" / "prov"  # of wheels until 2021.1
    own = {"PATH": f"{folder}/bin:{ours['PATH']}", "LD_LIBRARY_PATH": libraries_of, "I_MPI_ROOT": str(folder)}
    provider_path = {"FI_PROVIDER_PATH": str(providers if providers.is_dir() else folder / "lib")}
    environment = ours | own | provider_path | variables
    done = subprocess.run(
        [str(folder / "bin" / command[0]), *command[1:]], env=environment, capture_output=True, check=False, timeout=60
    )
    return (done.stdout + done.stderr).decode(errors="replace")


def _version(folder: Path) -> str:
    version = re.search(r"Library.*Version (\S+)", _said(folder, "mpiexec.hydra", "--version"))
    return version[1] if version else ""


def _removed(folder: Path) -> dict[str, list[str]]:
    """What a version says of each variable that the table calls removed."""
    gone = [one.name for one in libraries()["intelmpi"].setting if one.gone()]
    removed, unknown = set(), set()
    for first in range(0, len(gone), _AT_ONCE):
        part = dict.fromkeys(gone[first : first + _AT_ONCE], "0")
        text = _said(folder, "mpiexec.hydra", "-n", "1", str(folder / "bin" / "IMB-MPI1"), "-help", **part)
        removed |= set(re.findall(r"(\w+) variable has been removed from the product", text))
        unknown |= set(re.findall(r"(\w+) environment variable is not supported", text))
    return {"removed": sorted(removed), "not supported": sorted(unknown)}


def _write_listing(name: str, title: str, rows: list[str]) -> None:
    (LISTINGS / f"intelmpi.{name}.txt").write_text("\n".join([f"# {title}", *rows]) + "\n", encoding="utf-8")


def main(folder: Path, *older: Path) -> None:
    """Asks the library and writes the files."""
    parts = re.split(r"^([A-Z]\w+) *$", _said(folder, "impi_info", "-a", "-e").replace("\0", ""), flags=re.MULTILINE)
    described = {name: "Description:" in text for name, text in zip(parts[1::2], parts[2::2], strict=True)}
    defaults = dict(re.findall(r"\| (\w+) +\| (.*?) +\| MPI_", _said(folder, "impi_info", "-e")))
    rows = {name: f"{name} {defaults.get(name, '').replace('not defined', '')}".rstrip() for name in sorted(described)}
    product = f"Intel MPI {_version(folder)}"
    _write_listing("impi_info", f"{product}: impi_info -a -e", [rows[name] for name in rows if described[name]])
    names = [rows[name] for name in rows if not described[name]]
    _write_listing("impi_names", f"{product}: impi_info -a -e, names without a description", names)
    found = {_version(one): _removed(one) for one in (*older, folder)}
    (DATA / "impi-settings.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*(Path(argument).absolute() for argument in sys.argv[1:]))
