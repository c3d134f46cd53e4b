"""Output of a program while it runs: the beginning and the end are kept, whatever its amount, and it can be shown."""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import select
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

HEAD_BYTES = 8 << 20
"""Of the beginning of a stream, which are kept."""
TAIL_BYTES = HEAD_BYTES - 128
"""Of its end; the rest is for the line that says what is left out between the two."""
_PIPE_BYTES = 1 << 20
_LINE_BYTES = 64 << 10
"""An output that is cut is cut at the end of a line, if there is one within so many bytes."""


class Capture:
    """A pipe that takes one stream of a program, and the thread that drains it.

    The beginning and the end are in memory; what is between them is counted.
    """

    def __init__(self, name: str, shown: int | None = None) -> None:
        """Open the pipe.

        Args:
            name: of the stream, for people.
            shown: file descriptor to which the bytes are passed through as they come.

        Raises:
            OSError: no descriptor is left.
        """
        self.name, self._shown = name, shown
        self.total = 0
        self._head = mmap.mmap(-1, HEAD_BYTES)  # takes memory page by page, as it is written to
        self._tail = mmap.mmap(-1, TAIL_BYTES)
        self._last = b"\n"
        self._wake, self._output = os.pipe(), os.pipe()
        self._read_end, self.write_end = self._output
        os.set_blocking(self._read_end, False)
        with contextlib.suppress(OSError):  # more than this user may have in pipes
            fcntl.fcntl(self.write_end, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        self._thread = threading.Thread(target=self._drain, daemon=True)
        self._thread.start()

    def finish(self) -> None:
        """Take what is still in the pipe, without waiting for who holds its other end, and close it."""
        os.write(self._wake[1], b"x")
        self._thread.join()
        for descriptor in (*self._wake, *self._output):
            os.close(descriptor)
        if self._shown is not None and self._last != b"\n" and os.isatty(self._shown):
            self._pass_on(memoryview(b"\n"))

    def end_of_it(self, most: int) -> bytes:
        """The last bytes of the stream, at most so many."""
        return b"".join(self._parts())[-most:] if most else b""

    def write(self, path: Path) -> str:
        """Write what was kept to a new file; return a sentence about what was left out, "" if nothing was.

        Raises:
            OSError: the file cannot be written.
        """
        head, tail = self._parts()
        left_out = self.total - len(head) - len(tail)
        marker = b""
        if left_out:
            head, tail = _whole_lines(head, tail)
            left_out = self.total - len(head) - len(tail)
            marker = f"\n[octant: {left_out} bytes of {self.name} are left out here]\n".encode()
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.writelines((head, marker, tail))
        return f"{left_out:,} of {self.total:,} bytes of {self.name} were left out" if left_out else ""

    def _parts(self) -> tuple[memoryview, bytes | memoryview]:
        """What was kept of the beginning and of the end."""
        head = memoryview(self._head)[: min(self.total, HEAD_BYTES)]
        behind, tail = self.total - len(head), memoryview(self._tail)
        if behind <= TAIL_BYTES:
            return head, tail[:behind]
        at = behind % TAIL_BYTES
        return head, b"".join((tail[at:], tail[:at]))

    def _drain(self) -> None:
        poll = select.poll()
        for descriptor in (self._wake[0], self._read_end):
            poll.register(descriptor, select.POLLIN)
        while self._wake[0] not in {descriptor for descriptor, _ in poll.poll()}:
            if self._take() == 0:  # the program closed it, and so did we
                return
        left = 2 * _PIPE_BYTES  # a process that still writes must not hold us up
        while left > 0 and (taken := self._take()):
            left -= taken

    def _take(self) -> int | None:
        """Read once; return the number of bytes, 0 at the end of the stream, `None` if there is nothing to read yet."""
        room = self._room()
        try:
            count = os.readv(self._read_end, [room])
        except BlockingIOError:
            return None
        self.total += count
        if count and self._shown is not None:
            self._last = bytes(room[count - 1 : count])
            self._pass_on(room[:count])
        return count

    def _room(self) -> memoryview:
        """Where the next bytes belong."""
        if self.total < HEAD_BYTES:
            return memoryview(self._head)[self.total :]
        return memoryview(self._tail)[(self.total - HEAD_BYTES) % TAIL_BYTES :]

    def _pass_on(self, data: memoryview) -> None:
        while data and self._shown is not None:
            try:
                data = data[os.write(self._shown, data) :]
            except BlockingIOError:
                select.select([], [self._shown], [])
            except OSError:  # nobody reads it any more: the program goes on
                self._shown = None


def _whole_lines(head: memoryview, tail: bytes | memoryview) -> tuple[memoryview, bytes | memoryview]:
    """Both without the line that the cut goes through, so that nothing in it is taken for a whole line."""
    end = bytes(head[-_LINE_BYTES:]).rfind(b"\n")
    if end >= 0:
        head = head[: max(0, len(head) - _LINE_BYTES) + end]
    begin = bytes(tail[:_LINE_BYTES]).find(b"\n")
    return head, tail[begin + 1 :]
