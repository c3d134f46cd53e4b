"""Capture of a program's output: the beginning and the end are stored, and it can be shown while it runs."""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import select
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

HEAD_BYTES = 8 << 20
"""Of the beginning of a stream, which are kept."""
TAIL_BYTES = HEAD_BYTES - 128
"""Of its end; the rest is for the line that says what is left out between the two."""
_PIPE_BYTES = 1 << 20
_LINE_BYTES = 64 << 10
"""An output that is cut is cut at the end of a line, if there is one within so many bytes."""


class Captures:
    """The captured streams of one program, and the thread that drains them."""

    def __init__(self, streams: Mapping[str, int | None]) -> None:
        """Open the pipes.

        Args:
            streams: their names, each with a file descriptor to which the bytes are passed through as they come.

        Raises:
            OSError: no descriptor is left.
        """
        self._wake, self._thread = os.pipe(), threading.Thread(target=self._drain, daemon=True)
        self.streams = [Capture(name, shown) for name, shown in streams.items()]

    def begin(self) -> None:
        """Drain the pipes from now on, if that has not begun; until then a program can fill them."""
        if self._thread.ident is None:
            self._thread.start()

    def finish(self) -> None:
        """Take what is still in the pipes, without waiting for who holds their other ends, and close them."""
        if self._thread.ident is not None:
            os.write(self._wake[1], b"x")
            self._thread.join()
        for one in self.streams:
            one.finish()
        for descriptor in self._wake:
            os.close(descriptor)

    def _drain(self) -> None:
        poll, streams = select.poll(), {one.read_end: one for one in self.streams}
        for descriptor in (self._wake[0], *streams):
            poll.register(descriptor, select.POLLIN)
        while True:
            ready = {descriptor for descriptor, _ in poll.poll()}
            if self._wake[0] in ready:
                return
            for descriptor in ready:
                streams[descriptor].take()


class Capture:
    """A pipe that takes one stream of a program.

    The beginning and the end are in memory; what is between them is counted.
    """

    def __init__(self, name: str, shown: int | None) -> None:
        self.name, self._shown = name, shown
        self.total = 0
        self._head = mmap.mmap(-1, HEAD_BYTES)  # takes memory page by page, as it is written to
        self._tail = mmap.mmap(-1, TAIL_BYTES)
        self._last = b"\n"
        self.read_end, self.write_end = os.pipe()
        os.set_blocking(self.read_end, False)
        with contextlib.suppress(OSError):  # more than this user may have in pipes
            fcntl.fcntl(self.write_end, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)

    def finish(self) -> None:
        """Take what is still in the pipe, and close it."""
        left = 2 * _PIPE_BYTES  # a process that still writes must not hold us up
        while left > 0 and (taken := self.take()):
            left -= taken
        os.close(self.read_end)
        os.close(self.write_end)
        if self._shown is not None and self._last != b"\n" and os.isatty(self._shown):
            self._pass_on(memoryview(b"\n"))

    def end_of_it(self, most: int) -> bytes:
        """Return the last bytes of the stream, at most `most`."""
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
            marker = f"\n[octant: {left_out} bytes of {self.name} are omitted here]\n".encode()
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.writelines((head, marker, tail))
        return f"{left_out:,} of {self.total:,} bytes of {self.name} were omitted" if left_out else ""

    def _parts(self) -> tuple[memoryview, bytes | memoryview]:
        """Return the stored beginning and end of the stream."""
        head = memoryview(self._head)[: min(self.total, HEAD_BYTES)]
        behind, tail = self.total - len(head), memoryview(self._tail)
        if behind <= TAIL_BYTES:
            return head, tail[:behind]
        at = behind % TAIL_BYTES
        return head, b"".join((tail[at:], tail[:at]))

    def take(self) -> int | None:
        """Read once; return the number of bytes, 0 at the end of the stream, `None` if there is nothing to read yet."""
        room = self._room()
        try:
            count = os.readv(self.read_end, [room])
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
            except OSError:  # the reader has closed it: the program continues
                self._shown = None


def _whole_lines(head: memoryview, tail: bytes | memoryview) -> tuple[memoryview, bytes | memoryview]:
    """Both without the line that the cut goes through, so that nothing in it is taken for a whole line."""
    end = bytes(head[-_LINE_BYTES:]).rfind(b"\n")
    if end >= 0:
        head = head[: max(0, len(head) - _LINE_BYTES) + end]
    begin = bytes(tail[:_LINE_BYTES]).find(b"\n")
    return head, tail[begin + 1 :]
