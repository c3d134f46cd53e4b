"""Reads a file of lines that may still grow: each line once, with the place it lies at, and what is wrong with it."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from octant.record import Failure, Point, RecordError
from octant.record.lines import Reader

MOST_BYTES = 64 << 20
"""Of one line; a record is at most 4 MiB."""


@dataclass(frozen=True)
class Line:
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
        self.torn = False  # whether the last line has no end, as yet
        self._offset = 0
        self._number = 0

    def lines(self) -> Iterator[tuple[Line, bytes]]:
        """Each whole line that came since; none where there is no file. A line without an end stays for the next time.

        Raises:
            OSError: the file cannot be read.
        """
        self.torn = False
        try:
            file = self.path.open("rb")
        except FileNotFoundError:
            return
        with file:
            if file.seek(0, os.SEEK_END) == self._offset:
                return
            file.seek(self._offset)
            while text := file.readline(MOST_BYTES):
                if not text.endswith(b"\n") and (len(text) < MOST_BYTES or not _skip_line(file.readline)):
                    self.torn = True
                    return
                line = Line(self.path, self._offset, len(text))
                self._offset = file.tell()
                self._number += 1
                if not text.endswith(b"\n"):
                    self.reject(f"longer than {MOST_BYTES >> 20} MiB")
                elif text.strip():
                    yield line, text

    def reject(self, why: str) -> None:
        """Notes that the line that was read last is damaged."""
        self.damaged.append(f"{self.path.name}, line {self._number}: {why}")


def _skip_line(more: Callable[[int], bytes]) -> bool:
    """Reads on to the end of a line; whether there is one."""
    while text := more(MOST_BYTES):
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
            except RecordError as error:
                self.tail.reject(str(error))
                continue
            if record is not None and record.launch in self._keys:
                record = replace(record, launch=self._keys[record.launch])
            if isinstance(record, Point):
                points.append(record)
            elif record is not None:
                failures.append(record)
        return points, failures
