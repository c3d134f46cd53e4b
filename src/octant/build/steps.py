"""Runs one step of the set-up and shows its progress: `steps.py TITLE SECONDS COMMAND...`, before Octant is installed.

A terminal has one line that counts; elsewhere the step has a line at its beginning and one every ten seconds. What the
command prints goes to a file, and is shown if the command fails. SECONDS is what the step takes on two cores, for the
time left of a step that does not count what it does.
"""

import os
import re
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

LOOK_S = 0.5
LINE_S = 10.0
COUNTED = re.compile(rb"\[([0-9]+)/([0-9]+)\] ")  # of ninja: the job and how many there are
LEAST_COUNTED_S = 5.0  # a step that counts is believed from here on

KNOWN_ERRORS = (
    (rb"No space left on device", "the disk is full; free some space, then run make again"),
    (
        rb"NewConnectionError|ConnectTimeout|ReadTimeout|Read timed out|Temporary failure in name resolution|ProxyError"
        rb"|Connection refused|Network is unreachable|SSLError|Max retries exceeded",
        "the package index cannot be reached; check the network or set PIP_INDEX_URL to a mirror, then run make again",
    ),
    (rb"ensurepip is not available|No module named venv|No module named ensurepip",
     "Python's venv module is incomplete; install the package python3-venv of your distribution, then run make again"),
)  # fmt: skip
"""What pip and venv print for the usual causes, and the sentence that replaces their output."""


def main(words: list[str]) -> int:
    """Run the command; return its exit status."""
    title, expected, *command = words
    with tempfile.TemporaryFile() as log:
        status = run(command, ProgressLine(title, float(expected)), log.write)
        if status:
            log.seek(0)
            output = log.read()
            known = next((text for pattern, text in KNOWN_ERRORS if re.search(pattern, output)), "")
            if not known:
                sys.stderr.buffer.write(output)
                known = "correct the error above, then run make again"
            print(f"{title} failed: {known}", file=sys.stderr)
    return status


class ProgressLine:
    """What people see of a step."""

    def __init__(
        self, title: str, expected_s: float, now: Callable[[], float] = time.monotonic, delay_s: float = 0.0
    ) -> None:
        """Show the title; with `delay_s` only if the step takes longer than that."""
        self.title, self.expected_s, self.now, self.delay_s = title, expected_s, now, delay_s
        self.begun_s = self.printed_s = now()
        self.shown = False
        self.done, self.all = 0, 0
        self.terminal = sys.stderr.isatty()
        self.announce()

    def announce(self) -> None:
        """Show the title and the estimated time once, after the delay."""
        if not self.shown and self.now() - self.begun_s >= self.delay_s:
            self.shown = True
            self.tell(f"{self.title}, about {self.expected_s:.0f} s")

    def read(self, line: bytes) -> None:
        """Record the progress of the command."""
        if found := COUNTED.search(line):
            self.done, self.all = int(found[1]), int(found[2])

    def left_s(self) -> float:
        """Seconds left: as the counted part went, else what is expected, and never nothing."""
        over_s = self.now() - self.begun_s
        if self.done and over_s >= LEAST_COUNTED_S:
            return over_s * (self.all - self.done) / self.done
        return max(self.expected_s - over_s, 1.0)

    def look(self) -> None:
        """Show the progress, at most once per interval."""
        self.announce()
        if self.now() - self.printed_s < (LOOK_S if self.terminal else LINE_S):
            return
        count = f", {self.done} of {self.all}" if self.all else ""
        self.tell(f"{self.title}{count}, {self.now() - self.begun_s:.0f} s, about {self.left_s():.0f} s left")

    def end(self, status: int) -> None:
        """Show the elapsed time."""
        word = "failed after" if status else "done in"
        if self.shown:
            self.tell(f"{self.title}: {word} {self.now() - self.begun_s:.0f} s", last=True)

    def tell(self, text: str, last: bool = False) -> None:
        """Write a line; on a terminal, replace the last one."""
        self.printed_s = self.now()
        before, after = ("\r\033[K", "\n" * last) if self.terminal else ("", "\n")
        print(f"{before}{text}{after}", end="", file=sys.stderr, flush=True)


def run(command: list[str], line: ProgressLine, keep: Callable[[bytes], object], **options: Any) -> int:
    """Run the command, store its output and show its progress; `options` are those of `subprocess.Popen`."""
    child: subprocess.Popen[bytes]
    with subprocess.Popen(  # noqa: S603 - the words of the Makefile, or our own
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options
    ) as child:
        pipe = child.stdout
        assert pipe is not None  # noqa: S101 - requested above
        with selectors.DefaultSelector() as ready:
            ready.register(pipe, selectors.EVENT_READ)
            rest = b""
            while True:
                if ready.select(LOOK_S):
                    part = os.read(pipe.fileno(), 65536)
                    if not part:
                        break
                    keep(part)
                    *lines, rest = (rest + part).split(b"\n")
                    for one in lines:
                        line.read(one)
                line.look()
        status = child.wait()
    line.end(status)
    return status


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        print(file=sys.stderr)
        sys.exit(128 + signal.SIGINT)  # as `failure.Exit`, which cannot be imported yet
