"""Page sizes of the segments of a running process: from smaps, and as root from the page flags.

`smaps` may be read by the owner of the process and by root (ptrace access mode READ, see ptrace(2)). Pages of 64 KiB
need the page frame numbers in `pagemap`, which are zero without CAP_SYS_ADMIN, and `/proc/kpageflags`, which only root
may open (proc(5); Documentation/admin-guide/mm/pagemap.rst of Linux).
"""

import errno
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from octant.failure import Exit, Refusal

SEGMENTS = ("text", "data", "heap", "stack", "mmap", "shared", "files")
"""Code; the program's own data; malloc's heap; the main thread's stack; anonymous ranges, among them large blocks of
malloc and stacks of other threads; memory that processes share; other ranges of files."""
MIDDLE = 64 * 1024
"""The size of pages between small and huge that only the pages' own flags show."""
_LARGE = 2 * 1024 * 1024
ROOT_REQUIRED = "root (CAP_SYS_ADMIN) is required to read the flags of pages"
MAX_PAGES = 1 << 22
"""Of a process that are looked at one by one: 16 GiB of small ones."""
_HEAD = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) (\S{4}) [0-9a-f]+ (\S+) (\d+) *(.*)$")
_FIELD = re.compile(r"^(\w+): +(\d+) kB$")
_SHARED = ("/SYSV", "/dev/shm", "/memfd:", "/dev/zero")  # noqa: S108 - names, nothing is opened
_PRESENT, _OF_A_FILE = np.uint64(1 << 63), np.uint64(1 << 61)  # of an entry of pagemap
_NUMBER = np.uint64((1 << 55) - 1)
_HEAD_PAGE, _TAIL_PAGE = np.uint64(1 << 15), np.uint64(1 << 16)  # of an entry of kpageflags
_GAP = 4  # blocks: reading the flags of those between two costs less than a second call
Numbers = NDArray[np.uint64]


@dataclass(frozen=True)
class Range:
    """One range of addresses, from smaps."""

    begin: int
    end: int
    rights: str
    inode: int
    name: str
    kib: Mapping[str, int]

    @property
    def resident_bytes(self) -> int:
        """What of it is in memory; pages of a pool are not counted by the system."""
        return 1024 * (self.kib.get("Rss", 0) + self.pooled_kib)

    @property
    def pooled_kib(self) -> int:
        """Of it, from a pool of huge pages."""
        return self.kib.get("Private_Hugetlb", 0) + self.kib.get("Shared_Hugetlb", 0)


@dataclass
class PageSizes:
    """Bytes in memory of each segment, by page size."""

    base_bytes: int
    by_segment: dict[str, dict[int, int]] = field(default_factory=dict)
    unknown: str = ""  # why the share of 64 KiB pages is unknown; empty: it is known

    def add(self, segment: str, page_bytes: int, held_bytes: int) -> None:
        """More memory of a segment."""
        sizes = self.by_segment.setdefault(segment, {})
        sizes[page_bytes] = sizes.get(page_bytes, 0) + held_bytes

    def total(self, page_bytes: int | None = None) -> int:
        """Bytes of all segments, on pages of one size or of all."""
        return sum(
            held for sizes in self.by_segment.values() for size, held in sizes.items() if page_bytes in (None, size)
        )

    def sizes(self) -> list[int]:
        """Page sizes to show: the usual four, and what else was found."""
        found = {size for sizes in self.by_segment.values() for size in sizes}
        return sorted({self.base_bytes, MIDDLE, _LARGE, 1 << 30} | found)


def page_sizes(pid: int, proc: Path = Path("/proc"), flags: Path = Path("/proc/kpageflags")) -> PageSizes:
    """Return the page sizes of the segments of a process.

    Raises:
        Refusal: there is no such process, or its memory may not be looked at.
    """
    folder = proc / str(pid)
    try:
        ranges = parse_smaps((folder / "smaps").read_text(errors="replace"))
        program = str((folder / "exe").readlink())
    except (FileNotFoundError, ProcessLookupError):
        why = f"cannot observe process {pid} (it does not exist); use a PID that ps lists"
        raise Refusal(why, Exit.WRONG_WORD) from None
    except OSError as error:
        raise access_refusal(pid, error) from error
    found = PageSizes(min((one.kib.get("KernelPageSize", 4) for one in ranges), default=4) * 1024)
    middle = _Middle(folder / "pagemap", flags, found.base_bytes)
    for segment, one in segments(ranges, program):
        page = one.kib.get("KernelPageSize", 4) * 1024
        if page > found.base_bytes:
            found.add(segment, page, one.resident_bytes)
            continue
        large = 1024 * sum(one.kib.get(name, 0) for name in ("AnonHugePages", "ShmemPmdMapped", "FilePmdMapped"))
        small = one.resident_bytes - large
        held = min(middle.bytes_of(one), small) if one.kib.get("Anonymous", 0) * 1024 > large else 0
        for size, bytes_ in ((_LARGE, large), (MIDDLE, held), (found.base_bytes, small - held)):
            if bytes_:
                found.add(segment, size, bytes_)
    found.unknown = middle.unknown
    return found


def access_refusal(pid: int, error: OSError) -> Refusal:
    """Return the refusal for a process whose files in `/proc` this user may not read."""
    why = f"{error.strerror}: only its owner and root may read its memory map"
    return Refusal(f"cannot observe process {pid} ({why}); run as its owner, or as root")


def parse_smaps(text: str) -> list[Range]:
    """Parse the ranges of `/proc/PID/smaps`; skip unknown lines of newer kernels."""
    found: list[Range] = []
    kib: dict[str, int] = {}
    for line in text.splitlines():
        if head := _HEAD.match(line):
            kib = {}
            begin, end, rights, _device, inode, name = head.groups()
            found.append(Range(int(begin, 16), int(end, 16), rights, int(inode), name, kib))
        elif number := _FIELD.match(line):
            kib[number[1]] = int(number[2])
    return found


def segments(ranges: Sequence[Range], program: str) -> Iterator[tuple[str, Range]]:
    """Each range with its segment.

    Anonymous memory right behind the program's data belongs to that, and what lies right below the stack to that: parts
    that asked for pages of their own lose its name.
    """
    end_of_data = 0
    stacks = _stack_parts(ranges)
    for one in ranges:
        if one.name == "[heap]" or one.name.startswith("[anon: glibc: malloc"):
            segment = "heap"
        elif one.begin in stacks:
            segment = "stack"
        elif one.name.startswith("[v"):  # vdso, vvar, vsyscall are the kernel's
            continue
        elif "x" in one.rights and one.inode:
            segment = "text"
        elif one.rights.endswith("s") or one.name.startswith(_SHARED):
            segment = "shared"
        elif one.inode and not one.name.startswith("/anon_hugepage"):
            segment = "data" if one.name == program else "files"
            end_of_data = one.end if segment == "data" else end_of_data
        else:
            segment = "data" if one.begin == end_of_data and not one.name else "mmap"
            end_of_data = one.end if segment == "data" else end_of_data
        yield segment, one


def _stack_parts(ranges: Sequence[Range]) -> set[int]:
    """Where the parts of the main thread's stack begin."""
    found: set[int] = set()
    for one in reversed(ranges):
        if one.name == "[stack]" or (not one.name and not one.inode and one.end in found):
            found.add(one.begin)
    return found


class _Middle:
    """How much of a range is in pages of 64 KiB, from the flags of the pages themselves, which only root may read."""

    def __init__(self, pagemap: Path, flags: Path, base_bytes: int) -> None:
        self.pagemap, self.flags, self.base_bytes = pagemap, flags, base_bytes
        self.unknown = "" if base_bytes < MIDDLE else "the base page size is not smaller"
        self.left = MAX_PAGES

    def bytes_of(self, one: Range) -> int:
        """Return the bytes of a range in whole pages of 64 KiB; 0 if unknown, with the reason in `unknown`."""
        pages = (one.end - one.begin) // self.base_bytes
        if self.unknown:
            return 0
        if pages > self.left:
            self.unknown = f"it has more than {MAX_PAGES} pages"
            return 0
        self.left -= pages
        try:
            numbers = self._numbers(one.begin // self.base_bytes, pages)
            return self._held(numbers) * self.base_bytes
        except PermissionError:
            self.unknown = ROOT_REQUIRED
            return 0
        except OSError as error:
            self.unknown = f"{error.filename or self.pagemap}: {error.strerror}"
            return 0

    def _numbers(self, first: int, pages: int) -> Numbers:
        """Of the physical pages of a range that are in memory and of no file.

        Raises:
            PermissionError: the system hides them from this user: every number is zero.
            OSError: they cannot be read.
        """
        entries = _read(self.pagemap, first, pages)
        there: Numbers = entries[(entries & _PRESENT != 0) & (entries & _OF_A_FILE == 0)] & _NUMBER
        if there.size and not there.any():
            raise PermissionError(errno.EPERM, "page frame numbers are hidden", str(self.pagemap))
        return there

    def _held(self, numbers: Numbers) -> int:
        """How many of these pages belong to a block that is exactly 64 KiB large."""
        of_block = MIDDLE // self.base_bytes
        blocks, counts = np.unique(numbers // np.uint64(of_block), return_counts=True)
        if not blocks.size:
            return 0
        parts = np.flatnonzero(np.diff(blocks) > _GAP) + 1
        first = blocks[np.concatenate(([0], parts))].astype(np.int64)  # of each run of blocks that are close together
        last = blocks[np.concatenate((parts - 1, [blocks.size - 1]))].astype(np.int64)
        lengths = (last - first + 1) * of_block + 1  # with what follows the last block
        with self.flags.open("rb", buffering=0) as file:
            texts = [
                os.pread(file.fileno(), 8 * length, 8 * begin * of_block).ljust(8 * length, b"\0")
                for begin, length in zip(first.tolist(), lengths.tolist(), strict=True)
            ]
        flags: Numbers = np.frombuffer(b"".join(texts), dtype=np.uint64)
        run = np.searchsorted(first, blocks.astype(np.int64), side="right") - 1
        at = (np.cumsum(lengths) - lengths)[run] + (blocks.astype(np.int64) - first[run]) * of_block
        tails = np.concatenate(([0], np.cumsum(flags & _TAIL_PAGE != 0)))  # before each entry
        whole = (flags[at] & _HEAD_PAGE != 0) & (tails[at + of_block] - tails[at + 1] == of_block - 1)
        whole &= flags[at + of_block] & _TAIL_PAGE == 0
        return int(counts[whole].sum())


def _read(path: Path, first: int, count: int) -> Numbers:
    """So many entries of 64 bits from a place on; fewer where the file ends.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb", buffering=0) as file:
        file.seek(8 * first)
        text = file.read(8 * count)
    return np.frombuffer(text, dtype=np.uint64, count=len(text) // 8)
