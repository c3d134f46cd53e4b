"""FFTW as a peer: bare C programs of this folder that transform on request."""

import contextlib
import os
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from _hpcc import ROOT, hasten


class Peer:
    """Bare program that transforms on request."""

    def __init__(self, command: Sequence[str], real_time: bool) -> None:
        self.running = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **ROOT}
        )
        self.plan_s = float(self._line())
        self.real_time = real_time

    def _line(self) -> str:
        assert self.running.stdout is not None  # noqa: S101 - requested above
        return self.running.stdout.readline()

    def seconds(self) -> float:
        """Return the median of seven transforms, in seconds."""
        assert self.running.stdin is not None  # noqa: S101 - requested above
        if self.real_time:
            hasten(self.running.pid)
        self.running.stdin.write("\n")
        self.running.stdin.flush()
        return statistics.median(map(float, self._line().split()))

    def end(self) -> None:
        """Close the input of the program and wait until it exits."""
        self.running.communicate(timeout=60)


@contextlib.contextmanager
def compiled(name: str, compiler: str, *libraries: str) -> Iterator[Path | None]:
    """Yield the bare program, or `None` with a printed reason if it cannot be built."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / name
        words = ["-O2", str(Path(__file__).parent / f"{name}.c"), "-o", str(program), *libraries, "-lm"]
        found = shutil.which(compiler)
        built = found and subprocess.run([found, *words], capture_output=True, check=False).returncode == 0
        if not built:
            print(
                f"omitted: {name} (cannot be built; try apt-get install libfftw3-dev libfftw3-mpi-dev libopenmpi-dev)"
            )
        yield program if built else None
