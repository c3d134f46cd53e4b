"""One start of a kernel for the benchmarks, and what it measured."""

import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from octant import build, workloads
from octant.analysis.figures import figure
from octant.record import Point
from octant.record.lines import Reader


def points(
    name: str, words: Sequence[str], launcher: Sequence[str] = (), environment: Mapping[str, str] | None = None
) -> list[Point]:
    """Return the points of one launch, with their samples in memory."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "records.jsonl"
        command = [*launcher, str(build.find(name)), *words, "--output", str(output)]
        subprocess.run(command, check=True, env={**os.environ, **(environment or {})})
        reader = Reader()
        records = [reader.read(line) for line in output.read_bytes().splitlines()]
    return [record for record in records if isinstance(record, Point)]


def median(
    name: str,
    words: Sequence[str],
    launcher: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    metric: str = "",
) -> float:
    """Return a metric (the headline unless named) of the only cell of one launch, in base units.

    Raises:
        SystemExit: the kernel gave no right answer.
    """
    found = figure(workloads.workload(name), points(name, words, launcher, environment), metric).value
    if found is None:
        raise SystemExit(f"cannot compare ({name} {' '.join(words)} gave no right answer); run it by itself")
    return found.middle
