"""Time that the MPI profiler adds to calls which do almost nothing, to the start and end of a program, and its memory.

python bench/bench_profiler.py [--library FILE] [--repeats 5] [--batches 100]

The program is bare_profiled.c, one rank, in the order bare, recording, disabled, counting only. Times are thread CPU
time: the least of all batches, because the machine only ever adds to it.
"""

import argparse
import os
import resource
import statistics
import struct
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from octant import build
from octant.build import find_environment_program

OPERATIONS = 1000
STARTS = 25
MODES = ("full", "off", "counts")
GOALS_NS = {"Iprobe, miss": 45, "Test, null request": 45, "Barrier, self": 45, "Sendrecv, self, 0 B": 55}
"""Added to each call while recording."""
GOAL_BESIDES_CLOCK_NS, GOAL_OFF_NS, GOAL_COUNTS_NS = 12, 5, 12
GOAL_START_MS, GOAL_THREAD_MB = 10, 1
SLAB_BYTES_AT = 24  # offset in the header of profile_format.h


def launch(program: Path, library: Path | None, folder: Path, mode: str, words: tuple[str, ...]) -> str:
    """Return the output of the program, profiled if there is a library."""
    environment = dict(os.environ)
    environment.pop("OCTANT_PROFILE_MODE", None)
    if library:
        environment |= {"LD_PRELOAD": str(library), "OCTANT_PROFILE": str(folder)}
        environment |= {"OCTANT_PROFILE_MODE": "counts"} if mode == "counts" else {}
        words = (*words, "off") if mode == "off" else words
    output = subprocess.run([str(program), *words], check=True, capture_output=True, text=True, env=environment).stdout
    for file in folder.iterdir():
        file.unlink()
    return output


def measure(program: Path, library: Path, folder: Path, repeats: int, batches: int) -> None:
    """Print what is added to each operation."""
    least: dict[str, dict[str, float]] = {mode: {} for mode in ("bare", *MODES)}
    calls: dict[str, int] = {}
    for _ in range(repeats):
        for mode, found in least.items():
            used = None if mode == "bare" else library
            for line in launch(program, used, folder, mode, (str(batches), str(OPERATIONS))).splitlines():
                name, count, took = line.split("\t")
                calls[name] = int(count)
                found[name] = min(float(took), found.get(name, float("inf")))
    clock = least["bare"].pop("clock pair")
    print(f"a pair of clock readings takes {clock:.1f} ns; added ns per call:")
    print(f"{'operation':<26}{'calls':>6}{'bare ns':>9}{'added':>8}{'goal':>6}{'besides clock':>15}", end="")
    print(f"{'disabled':>10}{'counted':>9}")
    for name, bare in least["bare"].items():
        full, off, counts = ((least[mode][name] - bare) / calls[name] for mode in MODES)
        print(f"{name:<26}{calls[name]:>6}{bare:>9.1f}{full:>8.1f}{GOALS_NS.get(name, '–'):>6}", end="")
        print(f"{full - clock if name != 'Comm_rank' else full:>15.1f}{off:>10.1f}{counts:>9.1f}")
    print(f"goals besides the clock {GOAL_BESIDES_CLOCK_NS}, disabled {GOAL_OFF_NS}, counted {GOAL_COUNTS_NS} ns")


def start_and_end(program: Path, library: Path, folder: Path) -> None:
    """Print what is added to a program of about 20 calls, as the difference of neighbours in time."""
    found: Mapping[str, list[tuple[float, float]]] = {"bare": [], "full": []}
    for _ in range(STARTS):
        for mode, costs in found.items():
            begin, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
            launch(program, library if mode == "full" else None, folder, mode, ("1", "1"))
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            costs.append((time.perf_counter() - begin, cpu))
    pairs = list(zip(found["bare"], found["full"], strict=True))
    wall, cpu = (1e3 * statistics.median(full[part] - bare[part] for bare, full in pairs) for part in (0, 1))
    print(f"start and end of a small program: {wall:.1f} ms more, CPU time {cpu:.1f} ms more (goal {GOAL_START_MS} ms)")


def memory(program: Path, library: Path, folder: Path) -> None:
    """Print the size of the table of a thread."""
    environment = os.environ | {"LD_PRELOAD": str(library), "OCTANT_PROFILE": str(folder)}
    subprocess.run([str(program), "1", "1"], check=True, stdout=subprocess.DEVNULL, env=environment)
    (file,) = folder.iterdir()
    (slab_bytes,) = struct.unpack_from("=I", file.read_bytes(), SLAB_BYTES_AT)
    file_mb = file.stat().st_size / 1e6
    print(f"table of a thread: {slab_bytes / 1e6:.2f} MB (goal {GOAL_THREAD_MB} MB), file {file_mb:.2f} MB")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", type=Path)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--batches", type=int, default=100)
    options = parser.parse_args()
    library = options.library or build.find("profiler")
    compiler = find_environment_program("mpicc_abi") or find_environment_program("mpicc") or "mpicc"
    with tempfile.TemporaryDirectory() as name:
        program, folder = Path(name) / "profiled", Path(name) / "files"
        folder.mkdir()
        source = Path(__file__).parent / "bare_profiled.c"
        subprocess.run([str(compiler), "-O2", str(source), "-o", str(program)], check=True)
        measure(program, library, folder, options.repeats, options.batches)
        start_and_end(program, library, folder)
        memory(program, library, folder)


if __name__ == "__main__":
    main()
