"""The folders in which programs of Octant and the engine of the network model may be."""

import importlib.machinery
import os
from pathlib import Path

from octant.build import version


def named_folder() -> Path | None:
    """Return the folder that OCTANT_KERNELS names. If it is set, no other folder is searched and nothing is built."""
    named = os.environ.get("OCTANT_KERNELS")
    return Path(named) if named else None


def installed_folder() -> Path:
    """Folder of the programs that an installed package brings."""
    return Path(__file__).resolve().parent.parent / "bin"


def source_root() -> Path | None:
    """Return the source tree of this package (a checkout or an editable installation); `None`: installed."""
    return version.source_tree(Path(__file__).resolve().parent.parent)


def module_in(folder: Path, name: str) -> Path | None:
    """Return the file of an extension module in a folder, for this interpreter."""
    files = (folder / f"{name}{suffix}" for suffix in importlib.machinery.EXTENSION_SUFFIXES)
    return next((file for file in files if file.is_file()), None)
