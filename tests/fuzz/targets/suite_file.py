"""Suites, and what they ask of a machine."""

import tempfile
from importlib.resources import files
from pathlib import Path

from fake_run import machine
from octant import suites

FORMAT = "toml"
SEEDS = [(files("octant.suites") / f"{name}.toml").read_bytes() for name in suites.names()]
_HERE = machine(packages=2, cores=4)


def read(data: bytes) -> None:
    """A suite, and what it would measure here."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "suite.toml"
        path.write_bytes(data)
        suites.requests(suites.load(str(path)), _HERE)
