"""Starts one command line, watches it, and leaves nothing behind: the only place that starts kernels."""

import contextlib
import os
import secrets
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

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

    What it starts is ended on a timeout, on an exception (Ctrl-C) and when this process is killed; it is found by a
    variable in its environment, since launchers give their ranks sessions of their own.
    """
    mark = secrets.token_hex(8)
    guard = [str(build.find("bind")), "--die-with", str(os.getpid()), "--mark", mark, "--"]
    leftovers.remove()
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
            _end(process, f"OCTANT_MARK={mark}".encode())
            if process.returncode != 0:
                leftovers.remove(begin_wall_s)
        size = said.seek(0, os.SEEK_END)
        said.seek(max(0, size - 4000))
        text = said.read().decode(errors="replace")
    return Outcome(process.returncode, timed_out, time.monotonic() - begin, text)


def _end(process: "subprocess.Popen[bytes]", mark: bytes) -> None:
    """Ends what is left of a command, politely and then for certain, and waits for it; nothing is left after success.

    What has been killed still holds its memory for a while, which nobody could clear away before it lets go.
    """
    if process.poll() == 0:
        return
    for sign, patience_s in ((signal.SIGTERM, 2.0), (signal.SIGKILL, 5.0)):
        process.send_signal(sign)
        for pid in _marked(mark):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, sign)
        end = time.monotonic() + patience_s
        while (process.poll() is None or _marked(mark)) and time.monotonic() < end:
            time.sleep(0.05)
    process.wait()


def _marked(mark: bytes) -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it ended, or is not ours
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found
