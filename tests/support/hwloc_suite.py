"""Download the recorded machines of hwloc's own test suite, and list its cases.

    python tests/support/hwloc_suite.py    (`make field`)

The machines are in Debian's source package of hwloc: trees of files that Linux provides (`tests/hwloc/linux`), XML
files (`tests/hwloc/xml`), and dumps of the CPUID instruction (`tests/hwloc/x86`, `tests/hwloc/x86+linux`). apt verifies
the package's signature; it uses lists and a cache of its own, so that nothing of the system changes and no root is
needed.
"""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from paths import ROOT

SUITE = ROOT / "build" / "hwloc-suite"
"""The unpacked suite; `complete` in it is written last."""
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
SOURCE = "http://deb.debian.org/debian bookworm main"
VERSION = "2.9.0"
_IN_PACKAGE = f"hwloc-{VERSION}/tests/hwloc"
_NOT_READ = re.compile(
    r"/sys/(devices/(pci|LNXSYSTM|system/memory)|bus/(pci|virtio|usb|scsi|pnp|cpu)|class/(?!dmi)|block)"
    r"|/run/udev|/(cpuidle|power|microcode|thermal_throttle|stats|ondemand|firmware_node|driver)(/|$)"
    r"|/(uevent|crash_notes|subsystem|write_policy|memory[0-9]+|scaling_.*|affected_cpus)$"
)
"""Files that say nothing about processors, caches and memory; two thirds of all."""


@dataclass(frozen=True)
class Case:
    """A source of a machine, and hwloc's output for it."""

    name: str  # folder and stem of the output
    source: Path  # archive of a tree or of a dump, or XML
    expected: Path
    options: tuple[str, ...]  # of lstopo
    variables: tuple[str, ...]  # names of the variables that are set for hwloc


class UnreachableError(Exception):
    """The package cannot be downloaded; the text says why."""


def _apt(folder: Path, *words: str) -> None:
    (folder / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    (folder / "cache" / "archives" / "partial").mkdir(parents=True, exist_ok=True)
    (folder / "sources.list").write_text(f"deb-src [signed-by={KEYRING}] {SOURCE}\n")
    options = {
        "Dir::Etc::sourcelist": folder / "sources.list",
        "Dir::Etc::sourceparts": "/dev/null",
        "Dir::State::lists": folder / "lists",
        "Dir::Cache": folder / "cache",
        "Acquire::Retries": 1,
        "Acquire::http::Timeout": 8,
        "Acquire::Languages": "none",
        "APT::Update::Error-Mode": "any",
        "APT::Sandbox::User": "",
        "APT::Update::Post-Invoke-Success::": "",
        "quiet": 2,
    }
    command = ["apt-get", *(word for key, value in options.items() for word in ("-o", f"{key}={value}")), *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode:
        raise UnreachableError((done.stderr or done.stdout).strip().splitlines()[-1])


def _download(folder: Path) -> Path:
    """Return the path of the package's archive, downloaded to `folder`.

    Raises:
        UnreachableError: no apt, no keyring of Debian, or no network.
    """
    if shutil.which("apt-get") is None:
        raise UnreachableError("apt-get is not installed")
    if not Path(KEYRING).exists():
        raise UnreachableError(f"{KEYRING} is not installed")
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / f"hwloc_{VERSION}.orig.tar.bz2"
    if not archive.exists():
        try:
            _apt(folder, "update")
            _apt(folder, "source", "--download-only", "hwloc")
        except subprocess.TimeoutExpired as error:
            raise UnreachableError("apt-get took more than two minutes") from error
    if not archive.exists():
        raise UnreachableError(f"Debian has another version than {VERSION}")
    return archive


def _members(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """Yield the files, folders and links to extract; those that lead out of the archive are left out."""
    for member in archive:
        target = os.path.normpath(os.path.join(os.path.dirname(member.name), member.linkname))  # noqa: PTH118, PTH120
        outside = any(name.startswith(("/", "..")) for name in (os.path.normpath(member.name), target))
        if not outside and not _NOT_READ.search(member.name) and (member.isfile() or member.isdir() or member.issym()):
            member.mode |= 0o700 if member.isdir() else 0o600
            yield member


@contextlib.contextmanager
def unpacked(archive: Path) -> Iterator[Path]:
    """Unpack an archive of one machine for a while; in memory where that is possible. Yield its only folder."""
    memory = Path("/dev/shm")  # noqa: S108 - a folder of our own in it
    place = memory if os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=place) as folder, tarfile.open(archive) as opened:
        opened.extractall(folder, members=_members(opened), numeric_owner=True)  # noqa: S202 - `_members` checks
        (root,) = Path(folder).iterdir()
        yield root


def fetch(folder: Path = SUITE) -> None:
    """Download and unpack the suite to `folder`, unless it is there.

    Raises:
        UnreachableError: the package cannot be downloaded.
    """
    if (folder / "complete").exists():
        return
    shutil.rmtree(folder, ignore_errors=True)
    archive = _download(folder)
    with tarfile.open(archive) as package:
        wanted = [member for member in _members(package) if member.name.startswith(f"{_IN_PACKAGE}/")]
        package.extractall(folder, members=wanted, numeric_owner=True)  # noqa: S202 - `_members` checks
    for name in ("lists", "cache"):
        shutil.rmtree(folder / name, ignore_errors=True)
    (folder / "complete").touch()


def cases(folder: Path = SUITE) -> list[Case]:
    """Return every case of the suite; none where it has not been downloaded.

    Output in XML of version 1, which Octant does not write, is taken as a source: it is that of another case, or
    describes the same machine as the source that it was made from.
    """
    if not (folder / "complete").exists():
        return []
    found = []
    for path in sorted((folder / _IN_PACKAGE).rglob("*")):
        if path.suffix == ".output":
            kind = ".xml" if path.parent.name == "xml" else ".tar.bz2"
            found.append(_case(path, path.name.removesuffix(".output"), kind))
        elif path.suffix == ".xml":
            found.append(_case(path, path.name.removesuffix(".xml"), ".xml"))
    sources = {case.source for case in found if case.source != case.expected}
    first = [case for case in found if _is_version_1(case.expected)]
    turned = [replace(case, source=case.expected, expected=case.source) for case in first]
    return [*(case for case in found if case not in first), *(case for case in turned if case.source not in sources)]


def _is_version_1(path: Path) -> bool:
    return path.suffix == ".xml" and "<topology>" in path.read_text()


def _case(output: Path, stem: str, kind: str) -> Case:
    def text_of(suffix: str) -> str:
        path = output.with_name(f"{stem}.{suffix}")
        return path.read_text() if path.exists() else ""

    source = output.with_name(text_of("source").strip() or f"{stem}{kind}")
    variables = sorted(set(re.findall(r"(?m)^(HWLOC_\w+)=", text_of("env"))))
    return Case(f"{output.parent.name}/{stem}", source, output, tuple(text_of("options").split()), tuple(variables))


def main() -> int:
    """Download the suite for `make field`."""
    try:
        fetch()
    except (UnreachableError, OSError, tarfile.TarError) as error:
        print(f"cannot download hwloc's recorded machines ({error}); their tests will be skipped", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
