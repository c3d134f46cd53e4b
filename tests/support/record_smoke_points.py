"""Writes tests/data/smoke-points.jsonl: what the kernels of every workload record, cut to a few samples.

Run by hand: `python tests/support/record_smoke_points.py`. It needs `make dev`; read the diff before you commit it.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from octant import workloads
from octant.build import program_name
from octant.software.blas import openblas_path
from paths import DATA, ROOT

RECORDED = DATA / "smoke-points.jsonl"
KERNELS = Path(os.environ.get("OCTANT_KERNELS", ROOT / "build" / "dev" / "bin"))
CELLS = 2
"""Points of each workload."""
SAMPLES = 4
"""Values of each list of samples."""


def main() -> None:
    lines = [line for name in workloads.workloads() for line in recorded(name)]
    RECORDED.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines), encoding="utf-8")


def recorded(name: str) -> Iterator[dict[str, Any]]:
    """A launch and a few points of a workload's smoke run."""
    workload = workloads.workload(name)
    words = [f"{knob}={value}" for knob, value in workload.smoke.items()]
    launcher = [str(Path(sys.executable).parent / "mpiexec"), "-n", "2"] if workload.messages else []
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "records.jsonl"
        program = [str(KERNELS / program_name(name)), *words, "--output", str(output), "--run", f"{name}-0"]
        environment = {**os.environ, "OCTANT_BLAS": str(openblas_path() or "")}
        subprocess.run([*launcher, *program], check=False, env=environment, capture_output=True)
        every = [json.loads(line.replace(folder, "/scratch")) for line in output.read_text().splitlines()]
    for launch in (without(line, "crc") for line in every if line["kind"] == "launch"):
        launch["build"]["faults_compiled"] = False  # else none of its figures would be used
        yield launch
    points = [line for line in every if line["kind"] == "point"]
    if not points:
        raise SystemExit(f"{name} recorded no point: {every}")
    yield from map(cut, points[:: max(1, len(points) // CELLS)][:CELLS])


def cut(point: dict[str, Any]) -> dict[str, Any]:
    """The point with the first of its samples, without what refers to others and what was disturbed."""
    point = without(point, "crc", "marks", "lost", "noise")
    point["warmup"] = min(point.get("warmup", 0), 1)
    point["given"] = [without(given, "scheduling") for given in point["given"]]
    point["sync"]["exit_skew_ns"] = point["sync"]["exit_skew_ns"][:SAMPLES]
    for series in point.get("series", ()):
        for name in ("ns", "gap_ns", "values", "entries", "clock_hz"):
            if isinstance(series.get(name), list):
                series[name] = series[name][:SAMPLES]
        series["preempted"] = []
    return point


def without(line: dict[str, Any], *names: str) -> dict[str, Any]:
    """The line without these members."""
    return {name: value for name, value in line.items() if name not in names}


if __name__ == "__main__":
    main()
