"""Programs that know their own profile: compiled once, run with the profiler, and compared with what it recorded."""

import json
import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mpi_libraries import MpiLibrary, clean_environment
from octant.profile.job import Job
from octant.profile.merge import merge
from octant.profile.sites import resolve_sites
from paths import ROOT

PROGRAMS = ROOT / "tests" / "profiler" / "programs"
BINDINGS = ("MPIF", "USE_MPI", "USE_F08")
"""Fortran bindings, as macros of `fortran.F90`."""
KINDS = ("sent", "received", "put", "got")
"""Kinds of messages, by the number in `Job.peers`."""

Calls = Counter[tuple[Any, ...]]


class TruthPrograms:
    """The compiled programs. All compilations run in the background, two at a time."""

    def __init__(self, folder: Path, libraries: Iterable[MpiLibrary]) -> None:
        """Start the compilations for all libraries that are installed."""
        self._folder = folder
        self._pool = ThreadPoolExecutor(2)
        self._built: dict[tuple[str, ...], Future[Path]] = {}
        installed = [library for library in libraries if not library.missing]
        for source in ("calls.c", "threads.c", "sessions.c", "life.c"):
            for library in installed:
                self._start(library.compiler, source)
        for library in installed:
            for binding in BINDINGS if library.fortran else ():
                self._start(library.fortran, "fortran.F90", binding)

    def _start(self, compiler: str, source: str, binding: str = "") -> None:
        key = (compiler, source, binding)
        if key not in self._built:
            self._built[key] = self._pool.submit(self._compile, *key)

    def _compile(self, compiler: str, source: str, binding: str) -> Path:
        folder = self._folder / Path(compiler).name / binding
        folder.mkdir(parents=True, exist_ok=True)
        program = folder / Path(source).stem
        options = [f"-D{binding}", f"-J{folder}", "-fallow-argument-mismatch", "-w"] if binding else ["-pthread"]
        command = [compiler, "-g", "-O1", *options, str(PROGRAMS / source), "-o", str(program)]
        done = subprocess.run(
            [*command, *(["-ldl"] if not binding else [])], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return program

    def find(self, library: MpiLibrary, source: str, binding: str = "") -> Path:
        """Return the program when it is compiled."""
        return self._built[library.fortran if binding else library.compiler, source, binding].result()

    def end(self) -> None:
        """Wait for the compilations."""
        self._pool.shutdown(cancel_futures=True)


@dataclass(frozen=True)
class ProgramRun:
    """One run of a program, and the folders with what it knows and what was recorded."""

    code: int
    stdout: bytes
    stderr: bytes
    truth: Path
    profile: Path

    @property
    def seen(self) -> tuple[int, bytes, bytes]:
        """What the user sees."""
        return self.code, self.stdout, self.stderr

    def job(self) -> Job:
        """Return the profile."""
        return resolve_sites(merge(path for path in self.profile.iterdir() if path.is_file()))


def run_program(
    library: MpiLibrary,
    folder: Path,
    words: Sequence[str | Path],
    *,
    profiler: Path | None,
    ranks: int = 0,
    environment: Mapping[str, str] | None = None,
    within: Sequence[str] = (),
    preload: Sequence[str | Path] = (),
    preload_after: Sequence[str | Path] = (),
    timeout_s: float = 60,
) -> ProgramRun:
    """Run a program to its end; the profiler is preloaded into the program, not into its launcher.

    Args:
        library: the MPI library.
        folder: for its truth, its profile and its files; made here.
        words: the program and its arguments.
        profiler: `None`: without.
        ranks: 0: without a launcher.
        environment: further variables of the program.
        within: words before the launcher.
        preload: further libraries to preload, before the profiler.
        preload_after: likewise, after it.
        timeout_s: after it, the run has failed.
    """
    truth, profile, place = (folder / name for name in ("truth", "profile", "place"))
    for each in (truth, profile, place):
        each.mkdir(parents=True, exist_ok=True)
    variables = {"TRUTH": str(truth), "PLACE": str(place), **(environment or {})}
    preloaded = [*map(str, preload), *([str(profiler)] if profiler else []), *map(str, preload_after)]
    if preloaded:
        variables["LD_PRELOAD"] = ":".join(preloaded)
    if profiler:
        variables.setdefault("OCTANT_PROFILE", str(profile))
    program = ["env", *(f"{name}={value}" for name, value in variables.items()), *map(str, words)]
    command = library.start(ranks, *program) if ranks else program
    done = subprocess.run(
        [*within, *command],
        env=clean_environment(library),
        cwd=place,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=timeout_s,
    )
    return ProgramRun(done.returncode, done.stdout, done.stderr, truth, profile)


@dataclass(frozen=True)
class Truth:
    """What the processes of a program know; ranks by the process or by the name of the file."""

    rows: tuple[tuple[int, Mapping[str, Any]], ...]  # rank, row

    def calls(self, *fields: str) -> tuple[Calls, Calls]:
        """Return calls and bytes by rank, name of the call and these fields."""
        calls: Calls = Counter()
        amounts: Calls = Counter()
        for rank, row in self.rows:
            if "call" in row:
                key = (rank, row["call"], *(row[each] for each in fields))
                calls[key] += 1
                amounts[key] += row["bytes"]
        return calls, +amounts

    def with_field(self, field: str) -> "Truth":
        """Return the rows that have a value of this field."""
        return Truth(tuple((rank, row) for rank, row in self.rows if row.get(field)))

    def peers(self) -> tuple[Calls, Calls]:
        """Return messages and bytes by rank, peer and kind."""
        messages: Calls = Counter()
        amounts: Calls = Counter()
        for rank, row in self.rows:
            if "peer" in row:
                key = (rank, row["peer"], row["kind"])
                messages[key] += 1
                amounts[key] += row["bytes"]
        return messages, +amounts


def read_truth(run: ProgramRun, job: Job) -> Truth:
    """Return what the processes wrote."""
    rank_of = {str(process.pid): process.rank for process in job.processes}
    rows = []
    for path in sorted(run.truth.iterdir()):
        rank = int(path.name.removeprefix("rank-")) if path.name.startswith("rank-") else rank_of.get(path.name, -1)
        rows += [(rank, json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines() if line]
    return Truth(tuple(rows))


def recorded(job: Job, *fields: str) -> tuple[Calls, Calls]:
    """Return calls and bytes of a profile by rank, name of the call and these fields."""
    calls: Calls = Counter()
    amounts: Calls = Counter()
    for row in job.calls:
        site, communicator = job.sites[row["site"]], job.communicators[row["communicator"]]
        values = {
            "function": site.function,
            "file": site.file.rpartition("/")[2],
            "line": site.line,
            "communicator": communicator.name,
            "region": job.regions[row["region"]].name,
            "bucket": int(row["bucket"]),
        }
        key = (int(row["rank"]), job.call_names[row["call"]], *(values[each] for each in fields))
        calls[key] += int(row["calls"])
        amounts[key] += int(row["bytes"])
    return calls, +amounts


def recorded_peers(job: Job) -> tuple[Calls, Calls]:
    """Return messages and bytes of a profile by rank, peer and kind."""
    messages: Calls = Counter()
    amounts: Calls = Counter()
    for row in job.peers:
        key = (int(row["rank"]), int(row["peer"]), KINDS[row["kind"]])
        messages[key] += int(row["messages"])
        amounts[key] += int(row["bytes"])
    return messages, +amounts


def differences(expected: Calls, found: Calls, wanted: Mapping[int, str] | None = None) -> list[str]:
    """Describe each entry with different values: what the program knows, what was recorded."""
    keys = sorted(expected.keys() | found.keys(), key=str)
    select = wanted or {}
    return [
        f"{key}: {expected[key]} expected, {found[key]} recorded"
        for key in keys
        if expected[key] != found[key] and all(key[at] == value for at, value in select.items())
    ]
