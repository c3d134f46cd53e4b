"""Bare C loops of this folder as peers: compiled once; each launch gives the median of the printed numbers."""

import statistics
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

WIDE = ("-O3", "-march=native", "-mprefer-vector-width=512", "-funroll-loops")
"""Flags for the fastest plain loop."""


@contextmanager
def compiled(name: str, *flags: str) -> Iterator[Path]:
    """Yield the program compiled from `name`.c."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / name
        source = Path(__file__).parent / f"{name}.c"
        subprocess.run(["cc", *flags, str(source), "-o", str(program), "-ldl"], check=True)
        yield program


def median(program: Path, words: Sequence[str], prefix: Sequence[str] = ()) -> float:
    """Return the median of the numbers that one launch prints, one per line."""
    output = subprocess.run([*prefix, str(program), *words], check=True, capture_output=True, text=True).stdout
    return statistics.median(map(float, output.split()))
