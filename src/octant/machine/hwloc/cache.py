"""Cache of the XML of this machine in the user's cache folder, valid while its inputs do not change.

A file is used only if this user owns it, no other user has write permission, and its content has the digest in its
first line.
"""

import hashlib
import os
import re
import stat
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from octant.machine.cpus import NODE
from octant.machine.hwloc import _helper
from octant.machine.hwloc.process import HelperError, wheel_library
from octant.machine.tree import FileTree

_FACTS = (
    "proc/sys/kernel/random/boot_id",
    "sys/devices/system/cpu/online",
    "sys/devices/system/cpu/present",
    "sys/devices/system/cpu/cpufreq/boost",
    "sys/devices/system/cpu/intel_pstate/no_turbo",
    "sys/devices/system/node/online",
    "sys/devices/system/node/has_memory",
    "proc/self/cgroup",
)
"""Files whose contents may change between boots or during operation: CPUs, clock frequencies and memory on or off."""
_PLACES = ("/sys/devices/system/cpu", "/sys/devices/system/node", "/proc", "/etc/ld.so.cache", _helper.__file__)
"""Files and folders whose identity is part of the key: containers may replace them, and libraries may be updated."""
_KEPT_S = 30 * 86400
_FAILED_S = 3600
"""Time for which a failure is kept; heavy load may be its cause."""


def cached_xml(produce: Callable[[], str]) -> str:
    """Return the XML of this machine from the cache, or the result of `produce`, which is then stored.

    Failures are also stored for a limited time, since each command would otherwise wait for a library that hangs.

    Raises:
        HelperError: the library failed, now or within the last `_FAILED_S` seconds.
    """
    key = _key()
    if key is None:
        return produce()
    file = _folder() / f"{key}.xml"
    with suppress(OSError, ValueError):
        return _read(file)
    failure = file.with_suffix(".failed")
    message = ""
    with suppress(OSError, ValueError):
        message = _read(failure) if time.time() - failure.stat().st_mtime < _FAILED_S else ""
    if message:
        raise HelperError(message)
    try:
        text = produce()
    except HelperError as error:
        with suppress(OSError):
            _write(failure, str(error))
        raise
    with suppress(OSError):
        _write(file, text)
    return text


def _folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "octant" / "topology"


def _key(root: Path = Path("/")) -> str | None:
    """Return a digest of the inputs; `None` if the kernel does not identify the boot."""
    tree = FileTree(root)
    facts = [tree.text(path) for path in _FACTS]
    if not facts[0]:
        return None
    facts += re.findall(r"(?m)^(?:Cpus|Mems)_allowed:.*", tree.text("proc/self/status") or "")
    memory = ("proc/meminfo", *(f"{NODE}/node{number}/meminfo" for number in tree.numbers(NODE, "node")))
    facts += [line for path in memory for line in re.findall(r"(?m)^.*MemTotal:.*", tree.text(path) or "")]
    folders = os.environ.get("LD_LIBRARY_PATH", "")
    libraries = (str(wheel_library()), *(f"{one}/{_helper.SYSTEM_LIBRARY}" for one in folders.split(":") if one))
    facts += [folders, *map(_state, (*_PLACES, *libraries))]
    return hashlib.sha256("\n".join(map(str, facts)).encode()).hexdigest()[:32]


def _state(path: str) -> str:
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError:
        return f"{path}: none"
    changed = (status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else ()
    return f"{path}: {status.st_dev} {status.st_ino} {changed}"


def _read(file: Path) -> str:
    """Return the content of a cache file after checking its owner, permissions and digest.

    Raises:
        OSError: the file cannot be read.
        ValueError: another user may have written the file, or it is damaged.
    """
    with os.fdopen(os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as opened:
        status = os.fstat(opened.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o022:
            raise ValueError("another user may have written the file")
        data = opened.read(_helper.OUTPUT_BYTES)
    digest, _, body = data.partition(b"\n")
    if hashlib.sha256(body).hexdigest().encode() != digest:
        raise ValueError("the file is damaged")
    return body.decode()


def _write(file: Path, text: str) -> None:
    """Write a file atomically, and remove files older than `_KEPT_S`."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    for other in file.parent.iterdir():
        with suppress(OSError):
            if time.time() - other.stat().st_mtime > _KEPT_S:
                other.unlink()
    body = text.encode()
    descriptor, partial = tempfile.mkstemp(dir=file.parent)
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
        Path(partial).replace(file)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise
