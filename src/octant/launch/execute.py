"""Run one command line and remove its leftovers: the only place that starts kernels and programs."""

import contextlib
import os
import re
import secrets
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from resource import struct_rusage
from typing import IO, NamedTuple

from octant import build
from octant.launch import leftovers, processes

Observer = Callable[[float], None]
"""Called a few times a second with the seconds since the start."""
_POLL_S = 0.1
_GRACE_S = 4.0
"""From SIGTERM to SIGKILL: longer than octant-bind waits between the two, so that it can still write its report."""
_EXIT_S = 10.0
"""For processes that are exiting: the system frees the memory of a large one in seconds."""
_OF_RANK = re.compile(r"EXIT STRING: .*\(signal (\d+)\)|exited on signal (\d+)")
"""How the launchers of MPICH and of Open MPI say what ended a rank."""
_FIRST_CODE = re.compile(r"EXIT CODE: (\d+)")
_USUAL = (signal.SIGINT, signal.SIGQUIT, signal.SIGILL, signal.SIGABRT, signal.SIGBUS, signal.SIGSEGV, signal.SIGTERM)
_OURS = re.compile(r"octant-bind: |[a-z0-9_]+/[a-z0-9_]+: ")  # how our programs begin what they say


def waited_text(seconds: float) -> str:
    """Return a waiting time as text: `15 s`, `1.5 s`."""
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.2g} s"


@dataclass(frozen=True)
class ProcessOutcome:
    """How a command ended."""

    code: int  # exit status; negative: minus the signal that ended it
    timed_out: bool
    seconds: float
    errors: str  # the end of its standard error and output; "" where these were passed through
    user_s: float = 0.0  # of all its processes that were waited for
    system_s: float = 0.0
    memory_bytes: int = 0  # the most that one of them had resident

    @property
    def signal_of_rank(self) -> int:
        """The signal that ended one of its ranks, as the launcher says; 0: it says nothing of one.

        The exit status of MPICH's launcher is then its number, which of a kernel means something else.
        """
        found = _OF_RANK.search(self.errors) if self.code > 0 else None
        return int(found[1] or found[2]) if found else 0

    @property
    def reason(self) -> str:
        """Why it failed, in a sentence; empty when it did not."""
        if self.timed_out:
            return f"timed out after {waited_text(self.seconds)}"
        if self.code == 0:
            return ""
        text = self.errors.strip()
        lines = [line for line in text.splitlines() if _OURS.match(line)]
        if not lines and self.signal_of_rank:
            return f"a rank was {self._ended_by_one_of() or _ended_by(self.signal_of_rank)}"
        ended = _ended_by(-self.code) if self.code < 0 else f"exit status {self.code}"
        said = lines[0] if lines else text
        return f"{said} ({ended})" if said else ended

    def _ended_by_one_of(self) -> str:
        """Which signals may have ended a rank if the launcher of MPICH killed another one: it combines their statuses.

        SIGINT (2) and its own SIGKILL (9) read as SIGSEGV (11).
        """
        first = _FIRST_CODE.search(self.errors)
        if not first or int(first[1]) != signal.SIGKILL:
            return ""
        names = [one.name for one in _USUAL if one | signal.SIGKILL == self.signal_of_rank]
        if len(names) < 2:
            return ""
        return f"killed by {', '.join(names[:-1])} or {names[-1]} (mpiexec combines the statuses of its ranks)"


def _ended_by(number: int) -> str:
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    return f"killed by {name}" + " (possibly out of memory)" * (number == signal.SIGKILL)


class Streams(NamedTuple):
    """The standard streams of a command, as file descriptors or constants of `subprocess`."""

    input: int
    output: int
    errors: int


def execute(
    words: Sequence[str], environment: Mapping[str, str], timeout_s: float, observe: Observer
) -> ProcessOutcome:
    """Run a command to its end, without input, and keep the end of its output.

    Its processes are killed on timeout, on an exception (Ctrl-C) and if this process is killed.
    """
    with tempfile.TemporaryFile() as output:
        outcome = None
        try:
            streams = Streams(subprocess.DEVNULL, output.fileno(), output.fileno())
            outcome = run(words, observe, new_mark(), environment, timeout_s, streams)
        finally:
            if outcome is None or outcome.code != 0:
                leftovers.remove()
        return replace(outcome, errors=_end_of(output))


def new_mark() -> str:
    """Return a unique word that marks the environment of one launch."""
    return secrets.token_hex(8)


def run(
    words: Sequence[str],
    observe: Observer,
    mark: str,
    environment: Mapping[str, str] | None = None,
    timeout_s: float | None = None,
    streams: Streams | None = None,
    period_s: Callable[[float], float] = lambda _elapsed_s: _POLL_S,
    folder: Path | None = None,
    guard: Sequence[str] = (),
) -> ProcessOutcome:
    """Run a command to its end, calling `observe` every `period_s(seconds so far)`.

    Every process of it is found by OCTANT_MARK in its environment, which begins with `mark`, since launchers give their
    ranks sessions of their own. The temporary files of its launcher are in a folder of their own, which is removed.

    Args:
        streams: of the command; `None`: those of this process, and Ctrl-C reaches the command from the terminal, so
            that it may end by itself.
        folder: in which the command works; `None`: that of this process.
        guard: further options of octant-bind, which starts the command.

    Raises:
        OSError: the command cannot be started, for example because the folder does not exist.
    """
    with leftovers.temporary_folder(words, {**os.environ, **(environment or {})}) as variables:
        return _run(
            words, observe, mark, {**(environment or {}), **variables}, timeout_s, streams, period_s, folder, guard
        )


def _run(
    words: Sequence[str],
    observe: Observer,
    mark: str,
    environment: Mapping[str, str],
    timeout_s: float | None,
    streams: Streams | None,
    period_s: Callable[[float], float],
    folder: Path | None,
    guard: Sequence[str],
) -> ProcessOutcome:
    bound = [str(build.find("bind")), "--die-with", str(os.getpid()), "--mark", mark, *guard, "--"]
    since_ticks, begin, timed_out, usage = processes.now_ticks(), time.monotonic(), False, None
    process = subprocess.Popen(  # noqa: S603 - words of our own making or the user's, no shell
        [*bound, *words],
        stdin=streams.input if streams else None,
        stdout=streams.output if streams else None,
        stderr=streams.errors if streams else None,
        env={**os.environ, **environment},
        cwd=folder,
        start_new_session=streams is not None,
    )
    try:
        while usage is None and not timed_out:
            elapsed_s = time.monotonic() - begin
            timed_out = timeout_s is not None and elapsed_s > timeout_s
            if not timed_out:
                observe(elapsed_s)
                left_s = float("inf") if timeout_s is None else max(0.0, timeout_s - elapsed_s) + 0.001
                usage = _wait(process, min(period_s(elapsed_s), left_s))
    except KeyboardInterrupt:
        if streams is not None:
            raise
        os.kill(process.pid, signal.SIGINT)
        usage = _wait(process, float("inf"))
    finally:
        if usage is None or (streams is not None and process.returncode != 0):
            usage = _end(process, f"OCTANT_MARK={mark}".encode(), usage, since_ticks)
    seconds = time.monotonic() - begin
    memory_bytes = usage.ru_maxrss * 1024
    return ProcessOutcome(process.returncode, timed_out, seconds, "", usage.ru_utime, usage.ru_stime, memory_bytes)


def _wait(process: "subprocess.Popen[bytes]", patience_s: float) -> struct_rusage | None:
    """Return the resource usage of the process; `None` if it does not end within that time."""
    try:
        descriptor = os.pidfd_open(process.pid)
    except OSError:  # Linux before 5.3
        return _wait_by_polling(process, patience_s)
    try:
        end = select.poll()
        end.register(descriptor, select.POLLIN)
        end.poll(None if patience_s == float("inf") else 1000 * patience_s)
    finally:
        os.close(descriptor)
    return _usage(process)


def _wait_by_polling(process: "subprocess.Popen[bytes]", patience_s: float) -> struct_rusage | None:
    end, pause_s = time.monotonic() + patience_s, 0.0005
    while (usage := _usage(process)) is None and (left_s := end - time.monotonic()) > 0:
        time.sleep(min(pause_s, left_s))
        pause_s = min(2 * pause_s, 0.05)
    return usage


def _usage(process: "subprocess.Popen[bytes]") -> struct_rusage | None:
    """Return the resource usage of the process; `None` if it is still running."""
    pid, status, usage = os.wait4(process.pid, os.WNOHANG)
    if not pid:
        return None
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage


def _end(
    process: "subprocess.Popen[bytes]", mark: bytes, usage: struct_rusage | None, since_ticks: int
) -> struct_rusage:
    """Terminate the remaining processes of a command with SIGTERM, then SIGKILL, and wait for them.

    A killed process still holds its memory for a while, and no other process can free it earlier.

    Args:
        since_ticks: when the command was started (`processes.now_ticks`).
    """
    for sign, patience_s in ((signal.SIGTERM, _GRACE_S), (signal.SIGKILL, 5.0)):
        if usage is None:
            os.kill(process.pid, sign)
        for pid in processes.marked(mark):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, sign)
        end = time.monotonic() + patience_s
        while (usage is None or processes.marked(mark)) and time.monotonic() < end:
            usage = usage or _wait(process, 0.05)
            if usage is not None and processes.marked(mark):
                time.sleep(0.05)
    while usage is None:
        usage = _wait(process, float("inf"))
    end = time.monotonic() + _EXIT_S
    while processes.exiting(since_ticks) and time.monotonic() < end:
        time.sleep(0.01)
    return usage


def _end_of(output: IO[bytes]) -> str:
    size = output.seek(0, os.SEEK_END)
    output.seek(max(0, size - 4000))
    return output.read().decode(errors="replace")
