"""Record which variables Intel MPI lists, with their defaults, and what it says of those that the table calls removed.

    PYTHONPATH=src:tests/support python tests/support/record_intelmpi_settings.py .venv-intel

The argument is the environment of `make intel`. It writes tests/catalogue/listings/intelmpi.impi_info.txt and
tests/data/impi-settings.json.
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
    own = {"PATH": f"{folder}/bin:{ours['PATH']}", "LD_LIBRARY_PATH": f"{folder}/lib", "I_MPI_ROOT": str(folder)}
    environment = ours | own | {"FI_PROVIDER_PATH": f"{folder}/lib"} | variables
    done = subprocess.run(
        [str(folder / "bin" / command[0]), *command[1:]], env=environment, capture_output=True, check=False, timeout=60
    )
    return (done.stdout + done.stderr).decode(errors="replace")


def main(folder: Path) -> None:
    """Asks the library and writes the file."""
    names = re.findall(r"^([A-Z]\w+) *$", _said(folder, "impi_info", "-a", "-e"), re.MULTILINE)
    defaults = dict(re.findall(r"\| (\w+) +\| (.*?) +\| MPI_", _said(folder, "impi_info", "-e")))
    gone = [one.name for one in libraries()["intelmpi"].setting if one.until]
    removed, unknown = set(), set()
    for first in range(0, len(gone), _AT_ONCE):
        part = dict.fromkeys(gone[first : first + _AT_ONCE], "0")
        text = _said(folder, "mpirun", "-n", "1", "IMB-MPI1", "-help", **part)
        removed |= set(re.findall(r"(\w+) variable has been removed from the product", text))
        unknown |= set(re.findall(r"(\w+) environment variable is not supported", text))
    version = re.search(r"Library.*Version (\S+)", _said(folder, "mpiexec.hydra", "--version"))
    banner = version[1] if version else ""
    rows = [f"{name} {defaults.get(name, '').replace('not defined', '')}".rstrip() for name in sorted(names)]
    listing = "\n".join([f"# Intel MPI {banner}: impi_info -a -e", *rows])
    (LISTINGS / "intelmpi.impi_info.txt").write_text(listing + "\n", encoding="utf-8")
    found = {"version": banner, "removed": sorted(removed), "not supported": sorted(unknown)}
    (DATA / "impi-settings.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
