"""The command `octant` as a process of its own that need not load Python and our modules first.

Loading takes half a second of CPU time, and the tests start the command some hundred times. A server loads everything
once and forks for each command; the child does what `python -m octant.cli` does, with its own environment, folder,
streams, process number and exit status. Only words of Python itself, and of the locale, would come too late for it.
"""

import atexit
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import runpy
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pytest
import typer.main

import once
from octant import workloads
from octant.build import describe, program_name
from octant.failure import Refusal

READ_AT_THE_START = ("PYTHON", "LC_", "LANG", "LD_", "GLIBC_", "MALLOC_")
"""What variables begin with that Python, or what loads it, reads before anything else."""
_LONGEST = 1 << 20  # of a request in bytes: environments may be large


class Preloaded:
    """The server, which is started with the first command."""

    def __init__(self) -> None:
        self._server: tuple[subprocess.Popen[bytes], socket.socket] | None = None

    def run(
        self,
        words: Sequence[str],
        environment: Mapping[str, str],
        cwd: Path | None,
        timeout: float,
        stdin: int | None = None,
    ) -> "subprocess.CompletedProcess[str]":
        """Run `octant WORDS…` to its end, as `subprocess.run` does.

        Args:
            stdin: what the command reads; `None`: nothing.

        Raises:
            subprocess.TimeoutExpired: it took longer, and was killed.
        """
        self._server = self._server or _start()
        requests = self._server[1]
        request = json.dumps([list(words), dict(environment), str(cwd or Path.cwd())]).encode()
        outputs, writers = zip(os.pipe(), os.pipe(), strict=True)
        socket.send_fds(requests, [request], writers if stdin is None else (*writers, stdin))
        for writer in writers:
            os.close(writer)
        texts = ["", ""]

        def read(which: int) -> None:
            with os.fdopen(outputs[which]) as file:
                texts[which] = file.read()

        readers = [threading.Thread(target=read, args=(which,), daemon=True) for which in (0, 1)]
        for reader in readers:
            reader.start()
        pid = _number(requests)
        requests.settimeout(timeout)
        try:
            code = _number(requests)
        except TimeoutError as error:
            os.kill(pid, signal.SIGKILL)
            requests.settimeout(None)
            _number(requests)
            raise subprocess.TimeoutExpired(["octant", *words], timeout) from error
        requests.settimeout(None)
        for reader in readers:
            reader.join()
        return subprocess.CompletedProcess(["octant", *words], code, *texts)

    def end(self) -> None:
        """End the server."""
        if self._server:
            process, requests = self._server
            requests.close()
            process.wait()


def reads_at_the_start(names: Iterable[str]) -> bool:
    """Return whether one of these variables would come too late for a process that is forked."""
    return any(name.startswith(READ_AT_THE_START) for name in names)


def _number(requests: socket.socket) -> int:
    """Return the next number that the server sends: that of a process, and how it ended."""
    text = requests.recv(64)
    assert text, "the server has ended; its reason is on standard error"
    return int(text)


def _start() -> tuple["subprocess.Popen[bytes]", socket.socket]:
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for end in (ours, its):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _LONGEST)
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # threads are not forked
    with its:
        words = [sys.executable, __file__, str(its.fileno())]
        return subprocess.Popen(words, pass_fds=[its.fileno()], env=environment), ours


def _load() -> None:
    """Import all of Octant but its entry point and its tests, and ask the kernels for their knobs."""
    package = importlib.import_module("octant")
    for module in pkgutil.walk_packages(package.__path__, "octant."):
        if "test_" not in module.name and not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    once.read_parameters_once(pytest.MonkeyPatch())
    typer.main.get_command(importlib.import_module("octant.cli").application())
    kernels = Path(os.environ.get("OCTANT_KERNELS", ""))
    for name in workloads.workloads():
        if (kernels / program_name(name)).is_file():
            with contextlib.suppress(Refusal):
                describe.describe(name)
    gc.freeze()


def _serve(number: int) -> None:
    """Fork for each request; return in each child, and when there are no more."""
    requests = socket.socket(fileno=number)
    while True:
        request, writers, _, _ = socket.recv_fds(requests, _LONGEST, 3)
        if not request:
            os._exit(0)
        child = os.fork()
        if child == 0:
            requests.close()
            words, environment, cwd = json.loads(request)
            _become(words, environment, cwd, writers)
            return
        for writer in writers:
            os.close(writer)
        requests.send(str(child).encode())
        requests.send(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])).encode())


def _become(words: list[str], environment: dict[str, str], cwd: str, writers: list[int]) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    for stream, writer in zip((1, 2, 0), writers, strict=False):
        os.dup2(writer, stream)
        os.close(writer)
    # The server's streams know what its own files can do; a pipe cannot be searched.
    for name, number, buffering in (("stdout", 1, -1), ("stderr", 2, 1)):
        old = getattr(sys, name)
        new = open(number, "w", buffering, encoding=old.encoding, errors=old.errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, new)
    sys.argv = ["octant", *words]


def _exit(end: SystemExit) -> None:
    """End this process as Python does, without taking every object apart, which would copy the memory of the server.

    Python itself does the rest if the end is not a number, or an output cannot be written.
    """
    if end.code is not None and not isinstance(end.code, int):
        return
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        return
    os._exit((end.code or 0) & 0xFF)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    _load()
    _serve(int(sys.argv[1]))
    try:
        runpy.run_module("octant.cli", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        _exit(end)
        raise
    _exit(SystemExit(0))
