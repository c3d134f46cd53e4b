"""Reads a file of lines that may still grow: each line once, with the place it lies at, and what is wrong with it."""

import hashlib
import io
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from octant.record import Failure, LinkTraffic, Point, RecordError
from octant.record.lines import Reader
from octant.request import cell_count
from octant.store.run_request import MAX_CELLS

MAX_BYTES = 64 << 20
"""Of one line; a record is at most 4 MiB."""
MAX_DAMAGED = 10_000
"""Lines of a file that are no records, before the rest of it is left unread."""
_EMPTY = re.compile(rb"\n*")


@dataclass(frozen=True)
class LineLocation:
    """Where a line lies."""

    path: Path
    offset: int
    size: int

    def __call__(self) -> bytes:
        """Its bytes, read again."""
        with self.path.open("rb") as file:
            file.seek(self.offset)
            return file.read(self.size)


class Tail:
    """The lines of a file behind those that were read before."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.damaged: list[str] = []
        self.torn = ""  # what is wrong with the last line, where it has no end as yet
        self.number = 0  # of the line that was read last, from 1
        self._offset = 0

    def lines(self) -> Iterator[tuple[LineLocation, bytes]]:
        """Each whole line that came since; none where there is no file. A line without an end stays for the next time.

        Raises:
            OSError: the file cannot be read.
        """
        self.torn = ""
        try:
            file = self.path.open("rb")
        except FileNotFoundError:
            return
        with file:
            if file.seek(0, os.SEEK_END) == self._offset:
                return
            file.seek(self._offset)
            while (text := file.readline(MAX_BYTES)) and len(self.damaged) <= MAX_DAMAGED:
                if not text.endswith(b"\n") and (len(text) < MAX_BYTES or not _skip_line(file.readline)):
                    self.torn = f"{self.path.name}, line {self.number + 1}: torn: the line has no end"
                    return
                line = LineLocation(self.path, self._offset, len(text))
                self._offset = file.tell()
                self.number += 1
                if len(self.damaged) == MAX_DAMAGED:
                    self.reject(f"more than {MAX_DAMAGED} lines are damaged; further lines are not read")
                elif not text.endswith(b"\n"):
                    self.reject(f"longer than {MAX_BYTES >> 20} MiB")
                elif text == b"\n":
                    self._skip_empty(file)
                else:
                    yield line, text

    def reject(self, why: str) -> None:
        """Record that the last line read is damaged."""
        self.damaged.append(f"{self.path.name}, line {self.number}: {why}")

    def _skip_empty(self, file: io.BufferedReader) -> None:
        """Count empty lines by the block, because there may be a hundred million."""
        while ahead := file.peek():
            found = _EMPTY.match(ahead)
            count = found.end() if found else 0
            file.seek(count, os.SEEK_CUR)
            self._offset += count
            self.number += count
            if count < len(ahead):
                return


def _skip_line(more: Callable[[int], bytes]) -> bool:
    """Read to the end of a line; return whether it has one."""
    while text := more(MAX_BYTES):
        if text.endswith(b"\n"):
            return True
    return False


class Records:
    """The points and failures of a run, in the order in which they came. Samples stay in the file.

    Args:
        keys: what launches are called now, by what they are called in the file.
        started: of the run, as `Reader` takes it.
    """

    def __init__(self, path: Path, keys: Mapping[str, str], started: str) -> None:
        self.tail = Tail(path)
        self._keys = keys
        self._reader = Reader(started)
        self._points: dict[bytes, int] = {}  # by digest: the number of the line
        self._failed_cells = 0

    @property
    def link_traffic(self) -> Mapping[str, LinkTraffic]:
        """What crossed emulated links, by launch, as far as the file was read."""
        return {self._keys.get(launch, launch): one for launch, one in self._reader.link_traffic.items()}

    def read_new(self) -> tuple[list[Point], list[Failure]]:
        """Those behind what was read before.

        Raises:
            OSError: the file cannot be read.
        """
        points: list[Point] = []
        failures: list[Failure] = []
        for line, text in self.tail.lines():
            try:
                record = self._reader.read(text, line)
                self._check_cells(record)
            except RecordError as error:
                self.tail.reject(str(error))
                continue
            if isinstance(record, Point):
                first = self._points.setdefault(hashlib.blake2b(text, digest_size=16).digest(), self.tail.number)
                if first != self.tail.number:  # no two measurements agree in every sample
                    self.tail.reject(f"repeats line {first}")
                    continue
            if record is not None and record.launch in self._keys:
                record = replace(record, launch=self._keys[record.launch])
            if isinstance(record, Point):
                points.append(record)
            elif record is not None:
                failures.append(record)
        return points, failures

    def _check_cells(self, record: object) -> None:
        """Count the cells of a failure, whose lists of values multiply.

        Raises:
            RecordError: all failures together have more cells than a run may request.
        """
        if isinstance(record, Failure):
            self._failed_cells += cell_count(record.knobs)
            if self._failed_cells > MAX_CELLS:
                raise RecordError(f"the failures contain more than {MAX_CELLS} configurations")
