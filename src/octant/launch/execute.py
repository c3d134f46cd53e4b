"""Starts one command line, watches it, and leaves nothing behind: the only place that starts kernels."""

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from octant import build
from octant.launch import leftovers


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    code: int  # exit status; negative: minus the signal that ended it
    timed_out: bool
    seconds: float
    said: str  # the end of its standard error

    @property
    def reason(self) -> str:
        """Why it failed, in a sentence; empty when it did not."""
        if self.timed_out:
            return f"no end after {self.seconds:.0f} s; it was stopped"
        if self.code == 0:
            return ""
        ended = f"ended by {signal.Signals(-self.code).name}" if self.code < 0 else f"exit status {self.code}"
        lines = [line for line in self.said.strip().splitlines() if line.startswith("octant-")] or [self.said.strip()]
        return f"{lines[0]} ({ended})" if lines[0] else ended


def execute(
    words: Sequence[str], environment: Mapping[str, str], timeout_s: float, tick: Callable[[float], None]
) -> Outcome:
    """Runs a command to its end, calling `tick(seconds so far)` a few times a second.

    The command gets a process group of its own, which is ended on a timeout, on an exception (Ctrl-C) and when this
    process is killed.
    """
    guard = [str(build.find("bind")), "--die-with-parent", "--"]
    begin, begin_wall_s = time.monotonic(), time.time()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(  # noqa: S603 - words of our own making, no shell
            [*guard, *words],
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            env={**os.environ, **environment},
            start_new_session=True,
        )
        timed_out = False
        try:
            while process.poll() is None:
                elapsed_s = time.monotonic() - begin
                timed_out = elapsed_s > timeout_s
                if timed_out:
                    break
                tick(elapsed_s)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(0.1)
        finally:
            _end(process)
            if process.returncode != 0:
                leftovers.remove(begin_wall_s)
        size = said.seek(0, os.SEEK_END)
        said.seek(max(0, size - 4000))
        text = said.read().decode(errors="replace")
    return Outcome(process.returncode, timed_out, time.monotonic() - begin, text)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Ends what is left of a command's process group, politely and then for certain; nothing is left after success."""
    if process.poll() == 0:
        return
    for sign, patience_s in ((signal.SIGTERM, 2.0), (signal.SIGKILL, 5.0)):
        try:
            os.killpg(process.pid, sign)
        except ProcessLookupError:
            break
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(patience_s)
    process.wait()
