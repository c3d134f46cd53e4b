"""Fuzz targets: what they are, and what may come of one input: nothing, or a refusal in our words."""

import importlib.util
import linecache
import re
import resource
import signal
import traceback
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from octant.failure import Refusal
from paths import ROOT

FOLDER = ROOT / "tests" / "fuzz"
SECONDS = 2.0
"""Processor time that one input may take."""
MEMORY_MIB = 256
"""What one input may add to the memory in use."""

_NAMES = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|/\S*|[\d.,-]+")


@dataclass(frozen=True)
class Target:
    """One reader of foreign text, and what uses what it read.

    The file of a target has `FORMAT` (of `fuzz_mutations.FORMATS`), `SEEDS` and `read`; `REFUSES`, where its
    command makes a refusal of another exception, which counts only from a `raise` of ours; and `MAX_BYTES`, where its
    reader accepts more or fewer than 1 MiB.
    """

    name: str
    form: str
    seeds: tuple[bytes, ...]
    read: Callable[[bytes], None]
    refuses: tuple[type[Exception], ...] = ()
    most_bytes: int = 1 << 20


@dataclass(frozen=True)
class Outcome:
    """What came of one input."""

    where: str  # the same for inputs that went the same way
    fault: str = ""  # what must not happen, with its traceback; "": read or refused


class _TooSlow(BaseException):
    """Not an `Exception`: nothing but the driver may catch it."""


def targets() -> dict[str, Target]:
    """Every target by the name of its file."""
    return {path.stem: _load(path) for path in sorted((FOLDER / "targets").glob("*.py"))}


def _load(path: Path) -> Target:
    spec = importlib.util.spec_from_file_location(f"fuzz_target_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    further = {
        name: getattr(module, name.upper()) for name in ("refuses", "most_bytes") if hasattr(module, name.upper())
    }
    return Target(path.stem, module.FORMAT, tuple(module.SEEDS), module.read, **further)


def kept(name: str) -> list[Path]:
    """The inputs that a target once failed on."""
    return sorted((FOLDER / "corpus" / name).glob("*"))


def attempt(target: Target, data: bytes, seconds: float = SECONDS) -> Outcome:
    """Puts one input to a target, which may take so many seconds of the processor."""
    before = peak_mib()
    try:
        with _limit(seconds):
            target.read(data)
    except Refusal as refusal:
        return _within(before, _place(refusal))
    except (Exception, _TooSlow) as error:
        meant = isinstance(error, target.refuses) and _is_raised_by_us(error)
        return _within(before, _place(error), "") if meant else Outcome(_place(error, 0), traceback.format_exc())
    return _within(before, "read")


def peak_mib() -> float:
    """The most memory that this process has had in use."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _within(before: float, where: str, fault: str = "") -> Outcome:
    grown = peak_mib() - before
    if grown > MEMORY_MIB and not fault:
        fault = f"took {grown:.0f} MiB more memory"
    return Outcome(where, fault)


@contextmanager
def _limit(seconds: float) -> Iterator[None]:
    """Raises `_TooSlow` inside the block once it has taken so many seconds of the processor."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise _TooSlow(f"more than {seconds:g} s")

    former = signal.signal(signal.SIGPROF, stop)
    # Once more every 0.1 s: an exception that is raised in a callback of the garbage collector goes no further.
    signal.setitimer(signal.ITIMER_PROF, seconds, 0.1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, former)


def _is_raised_by_us(error: BaseException) -> bool:
    """Whether it comes from a `raise` and not from what went wrong below one."""
    name, line = _frames(error)[-1]
    return linecache.getline(name, line).lstrip().startswith("raise ")


def _place(error: BaseException, words: int = 80) -> str:
    """Where our sources raised it, and in which words (so many): without numbers, quoted names and paths."""
    name, line = next((frame for frame in reversed(_frames(error)) if "/octant/" in frame[0]), ("", 0))
    return f"{type(error).__name__} {Path(name).name}:{line} {_NAMES.sub('_', str(error)[:400])[:words]}"


def _frames(error: BaseException) -> list[tuple[str, int]]:
    """File and line of every frame, the innermost last."""
    found, at = [], error.__traceback__
    while at:
        found.append((at.tb_frame.f_code.co_filename, at.tb_lineno))
        at = at.tb_next
    return found


def one_in(several: int, data: bytes) -> bool:
    """Whether this input is one of those, of so many each, that also go through what takes long."""
    return zlib.crc32(data) % several == 0


def sealed(line: bytes) -> bytes:
    """A line of records with its checksum where it has none, so that changes get behind the check of it."""
    text = line.rstrip()
    if not text.startswith(b'{"format":2') or not text.endswith(b"}") or b',"crc":"' in text[-18:]:
        return line
    return text[:-1] + b',"crc":"%08x"}' % zlib.crc32(text[:-1])
