"""Prints constraints.txt: the newest versions that the bounds of pyproject.toml and mpi_flavour.py allow."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

from mpi_flavour import DEPENDENCIES, WHEELS

TOOLS = ["cmake>=3.25", "ninja", "pip"]  # that the Makefile installs as well
HEADER = "# The versions that CI tries, written by `make constraints`; `pip install -c constraints.txt .` takes them."


def requirements() -> list[str]:
    """Everything that a target of the Makefile installs."""
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"].values()
    several = [text for texts in (*WHEELS.values(), *extras) for text in texts]
    return [*TOOLS, *DEPENDENCIES, *project["build-system"]["requires"], *several]


def main() -> None:
    """Lets pip choose, without installing anything."""
    words = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--report", "-"]
    words += requirements()
    chosen = json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout)  # noqa: S603 - our own words
    versions = {one["metadata"]["name"]: one["metadata"]["version"] for one in chosen["install"]}
    print(HEADER)
    for name in sorted(versions, key=str.lower):
        print(f"{name}=={versions[name]}")


if __name__ == "__main__":
    main()
