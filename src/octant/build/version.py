"""The version of Octant: its number, and the commit of its sources.

A source tree (checkout, editable install, unpacked source distribution) has the number that `cmake/mpi_flavour.py`
states; the metadata of an editable install may be older. A wheel has the version of its metadata, whose local version
label (PEP 440) is the commit.

`cmake/mpi_flavour.py` runs this file before the dependencies are installed, so it imports only the standard library.
"""

import functools
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

UNKNOWN = "0+unknown"
TIMEOUT_S = 5.0
_PACKAGE = Path(__file__).resolve().parent.parent
_ARCHIVED = "$Format:%H$"  # `git archive` writes the commit here (.gitattributes)
_DIGITS = 8
_REPOSITORY_VARIABLES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY")
"""Variables that direct git to another repository; git sets some of them when it runs a hook."""


@dataclass(frozen=True)
class Version:
    """A version number and the commit of the sources."""

    number: str  # "0.3.0.dev0"
    commit: str = ""  # its first digits; "": unknown
    modified: bool = False  # tracked files differed from the commit

    def __str__(self) -> str:
        changes = ", modified" if self.modified else ""
        return f"{self.number} ({self.commit or 'commit unknown'}{changes})"

    @property
    def full(self) -> str:
        """The number with the commit as its local version label, `0.3.0.dev0+g52edef8a.modified`."""
        label = f"+g{self.commit}" if self.commit else ""
        return self.number + label + (".modified" if label and self.modified else "")


def parse(full: str) -> Version:
    """Read a version as `Version.full` writes it; another local version label stays part of the number."""
    found = re.fullmatch(r"([^+]+)\+g([0-9a-f]+)(\.modified)?", full)
    return Version(found[1], found[2], bool(found[3])) if found else Version(full)


@functools.cache
def number() -> str:
    """Return the version number of the package in use, without starting git."""
    root = source_tree(_PACKAGE)
    return source_number(root) if root else of_distribution(_PACKAGE.parent).number


def of_package(package: Path = _PACKAGE) -> Version:
    """Return the version of the package in this folder; may start git, in Octant's own source tree only."""
    root = source_tree(package)
    return of_source(root) if root else of_distribution(package.parent)


def source_tree(package: Path) -> Path | None:
    """Return the root of Octant's source tree that contains this package as `src/octant`, `None` if there is none."""
    root = package.parent.parent
    ours = re.search(r'^name = "octant-hpc"$', _text(root / "pyproject.toml"), re.MULTILINE)
    return root if package.parent.name == "src" and ours and source_number(root) else None


def source_number(root: Path) -> str:
    """Return the version number that a source tree states, "" if it states none."""
    found = re.search(r'^VERSION = "([^"]+)"$', _text(root / "cmake" / "mpi_flavour.py"), re.MULTILINE)
    return found[1] if found else ""


def of_source(root: Path) -> Version:
    """Return the version of a source tree: the commit of git, of a source distribution or of `git archive`."""
    commit, modified = "", False
    if (root / ".git").exists():
        commit, modified = _commit_by_git(root)
    elif found := re.search(r"^Version: (\S+)$", _text(root / "PKG-INFO"), re.MULTILINE):
        recorded = parse(found[1])
        commit, modified = recorded.commit, recorded.modified
    elif not _ARCHIVED.startswith("$"):
        commit = _ARCHIVED[:_DIGITS]
    return Version(source_number(root), commit, modified)


def of_distribution(folder: Path) -> Version:
    """Return the version in the package metadata that was installed into this folder together with the package."""
    from importlib.metadata import distributions  # noqa: PLC0415 - slow to load

    return next((parse(one.version) for one in distributions(name="octant-hpc", path=[str(folder)])), Version(UNKNOWN))


def _commit_by_git(root: Path) -> tuple[str, bool]:
    """Return the commit of the repository at `root` and whether tracked files are modified; "" without an answer.

    git searches no folder above `root`, and does not write the index.
    """
    environment = {name: value for name, value in os.environ.items() if name not in _REPOSITORY_VARIABLES}
    environment |= {"GIT_CEILING_DIRECTORIES": str(root.parent), "GIT_OPTIONAL_LOCKS": "0"}
    command = ["git", "-C", str(root), "status", "--porcelain=v2", "--branch", "--no-ahead-behind"]
    command += ["--no-renames", "--untracked-files=no"]
    try:
        done = subprocess.run(  # noqa: S603 - fixed words
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIMEOUT_S,
            check=False,
            stdin=subprocess.DEVNULL,
            env=environment,
        )
    except (OSError, subprocess.TimeoutExpired):
        return "", False
    found = re.match(r"# branch\.oid ([0-9a-f]+)$", done.stdout, re.MULTILINE)
    modified = any(not line.startswith("#") for line in done.stdout.splitlines())
    return (found[1][:_DIGITS], modified) if found and done.returncode == 0 else ("", False)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
