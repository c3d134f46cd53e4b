"""`octant profile`: the program behaves as without it, whatever happens to it, and its profile is stored and shown."""

import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from mpi_libraries import LIBRARIES, MpiLibrary
from namespaces import NoMount, tmpfs
from octant.analysis.profiles import newest_analysis
from octant.failure import Exit
from octant.launch import profiles
from octant.profile.job import Job
from octant.store import Store, StoredRun
from paths import ROOT, Octant

PROGRAM = r"""
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "octant_profile.h"

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    char const* const wanted = argc > 1 ? argv[1] : "";
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    octant_begin("solver");
    for (int i = 0; i < 7; ++i) MPI_Barrier(MPI_COMM_WORLD);
    octant_end();
    if (rank == 0) {
        puts("to standard output");
        fflush(stdout);
        fputs("to standard error\n", stderr);
    }
    if (!strcmp(wanted, "read"))
        for (int c; rank == 0 && (c = getchar()) != EOF;) putchar(c);
    if (!strcmp(wanted, "hang"))
        for (;;) pause();
    if (!strcmp(wanted, "die")) kill(getpid(), SIGKILL);
    MPI_Finalize();
    return argc > 1 ? atoi(wanted) : 0;
}
"""
BARRIERS = 7
MPICH, OPEN_MPI = (next(one for one in LIBRARIES if one.name == name) for name in ("MPICH 5", "Open MPI 4"))


@dataclass(frozen=True)
class Command:
    """Starts `octant profile` in a process of its own, whose node-local files are in a folder of the test."""

    environment: Mapping[str, str]
    local: Path

    def start(self, *words: str | Path, source: int = subprocess.DEVNULL) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "octant.cli", "profile", *map(str, words)]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, env=self.environment, stdin=source, stdout=pipe, stderr=pipe)

    def run(self, *words: str | Path, data: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
        process = self.start(*words, source=subprocess.PIPE)
        out, errors = process.communicate(data, timeout=60)
        return subprocess.CompletedProcess(words, process.returncode, out, errors)

    @property
    def stored(self) -> StoredRun:
        return Store(Path(self.environment["OCTANT_STORE"])).newest()[0]

    @property
    def job(self) -> Job:
        found = newest_analysis(self.stored)
        assert found is not None
        return found.job

    @property
    def left(self) -> list[str]:
        return [path.name for path in self.local.iterdir()]


@pytest.fixture
def command(environment: Mapping[str, str], tmp_path: Path) -> Command:
    local = tmp_path / "local"
    local.mkdir()
    return Command({**environment, **OPEN_MPI.environment, profiles.LOCAL: str(local)}, local)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[MpiLibrary], Path]:
    """Compiles the program for a library, once."""
    folder = tmp_path_factory.mktemp("compiled")

    def compile_for(library: MpiLibrary) -> Path:
        if library.missing:
            pytest.skip(library.missing)
        program = folder / re.sub(r"\W", "", library.name)
        if not program.exists():
            words = [library.compiler, "-O1", "-g", f"-I{ROOT}/native/profiler", "-xc", "-", "-o", str(program), "-ldl"]
            subprocess.run(words, input=PROGRAM, text=True, check=True, capture_output=True)
        return program

    return compile_for


@pytest.fixture(params=[MPICH, OPEN_MPI], ids=["MPICH", "OpenMPI"])
def line(request: pytest.FixtureRequest, compiled: Callable[[MpiLibrary], Path]) -> Sequence[str]:
    """The command line of the program on two ranks."""
    library: MpiLibrary = request.param
    return library.start(2, compiled(library))


def masked(text: str) -> str:
    """Return a text without the numbers of processes in messages of launchers."""
    return re.sub(r"\d{3,}|\[\d+,\d+\]", "N", text)


def barriers(job: Job) -> list[int]:
    """Return the recorded barriers of each rank."""
    number = job.call_names.index("MPI_Barrier")
    rows = job.calls[job.calls["call"] == number]
    return [int(rows["calls"][rows["rank"] == one.rank].sum()) for one in job.processes]


def assert_recorded(job: Job, is_complete: bool = False) -> None:
    """Every barrier was recorded; rank 1 may have been killed in the last one."""
    first, second = barriers(job)
    assert first == BARRIERS
    assert second in ((BARRIERS,) if is_complete else (BARRIERS - 1, BARRIERS))


@pytest.mark.mpi
@pytest.mark.parametrize("case", ["7", "die"])
def test_output_and_status_are_those_of_the_program(
    octant: Octant, command: Command, line: Sequence[str], case: str
) -> None:
    words, variables = [*line, case], command.environment
    bare = subprocess.run(words, capture_output=True, env=variables, stdin=subprocess.DEVNULL, text=True, check=False)
    done = octant("profile", "--", *words, env=variables)
    assert done.returncode == (bare.returncode if bare.returncode >= 0 else 128 - bare.returncode)
    assert masked(done.stdout) == masked(bare.stdout)
    assert "to standard error\n" in done.stderr
    assert command.left == []
    assert command.stored.failures, "a failed program has a profile, too"
    assert command.job.is_complete == (case == "7")
    assert_recorded(command.job, is_complete=case == "7")


@pytest.mark.mpi
def test_standard_input_reaches_the_program(command: Command, compiled: Callable[[MpiLibrary], Path]) -> None:
    data = bytes(range(256)) * 4000
    done = command.run("--", *OPEN_MPI.start(2, compiled(OPEN_MPI)), "read", data=data)
    assert done.stdout == b"to standard output\n" + data
    done = command.run("--repeats", "2", "--", *OPEN_MPI.start(2, compiled(OPEN_MPI)), "read", data=data)
    assert done.stdout == b"to standard output\n" * 2, "of several launches, none reads it"


@pytest.mark.mpi
def test_guards_and_processes_that_are_killed(command: Command, line: Sequence[str]) -> None:
    process = command.start("--", *line, "hang")
    assert process.stdout
    assert process.stdout.readline() == b"to standard output\n"
    every = of_program(process.pid, line[-1])
    assert len(every["program"]) == len(every["guard"]) == 2
    for pid in (*every["guard"], *every["program"]):
        with contextlib.suppress(ProcessLookupError):  # it ends with its guard
            os.kill(pid, signal.SIGKILL)
    _, errors = process.communicate(timeout=60)
    assert process.returncode not in (0, 1)
    assert command.left == []
    assert_recorded(command.job)
    assert [one.state for one in command.job.processes] == ["running"] * 2
    assert b"ended before MPI_Finalize" in errors


@pytest.mark.mpi
def test_tables_of_killed_guards_on_other_nodes(
    command: Command, compiled: Callable[[MpiLibrary], Path], tmp_path: Path
) -> None:
    there = tmp_path / "there"  # only processes that the launcher starts know this file system
    there.mkdir()
    program = compiled(MPICH)
    line = [*MPICH.launcher, "-genv", profiles.LOCAL, str(there), "-n", "2", str(program)]
    process = command.start("--", *line, "hang")
    assert process.stdout
    process.stdout.readline()
    for pid in of_program(process.pid, str(program))["guard"]:
        os.kill(pid, signal.SIGKILL)
    process.communicate(timeout=60)
    assert list(there.iterdir()) == []
    assert_recorded(command.job)


def of_program(octant: int, program: str) -> dict[str, list[int]]:
    """Return the processes below one that are the program, and those that guard it."""
    parents = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                stat = (folder / "stat").read_text().rpartition(")")[2].split()
                parents[int(folder.name)] = int(stat[1]), (folder / "cmdline").read_bytes().split(b"\0")
            except (OSError, IndexError):
                continue
    below = {octant}
    while more := {pid for pid, (parent, _) in parents.items() if parent in below} - below:
        below |= more
    found: dict[str, list[int]] = {"program": [], "guard": []}
    for pid in below - {octant}:
        words = parents[pid][1]
        if words[0] == program.encode():
            found["program"].append(pid)
        elif words[0].endswith(b"octant-bind") and b"--profile" in words and b"--whole" not in words:
            found["guard"].append(pid)
    return found


@pytest.mark.mpi
def test_timeouts_and_interruptions(command: Command, compiled: Callable[[MpiLibrary], Path]) -> None:
    line = MPICH.start(2, compiled(MPICH))
    done = command.run("--timeout", "1", "--", *line, "hang")
    assert done.returncode == Exit.CANNOT_RUN
    assert b"timed out after 1 s" in done.stderr
    assert_recorded(command.job)
    process = command.start("--", *line, "hang")
    assert process.stdout
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == Exit.INTERRUPTED
    assert b"MPI profile of" in errors
    assert_recorded(command.job)
    assert command.left == []


@pytest.mark.mpi
def test_full_node_local_file_system(command: Command, compiled: Callable[[MpiLibrary], Path], tmp_path: Path) -> None:
    words = [sys.executable, "-m", "octant.cli", "profile", "--", *MPICH.start(2, compiled(MPICH))]
    try:
        with tmpfs("size=1m") as disk:
            variables = {**command.environment, profiles.LOCAL: disk.inside}
            done = subprocess.run([*disk.within, *words], env=variables, capture_output=True, check=False)
            assert list(disk.outside.iterdir()) == []
    except NoMount as error:
        pytest.skip(str(error))
    assert (done.returncode, done.stdout) == (0, b"to standard output\n")
    assert barriers(command.job) == [BARRIERS] * 2, "the tables are where there is room"


@pytest.mark.mpi
def test_programs_behind_other_programs(command: Command, compiled: Callable[[MpiLibrary], Path]) -> None:
    program = shlex.quote(str(compiled(MPICH)))
    done = command.run("--", "sh", "-c", f"cat; (true); exec {program} 5", data=b"from a pipe\n")
    assert (done.returncode, done.stdout) == (5, b"from a pipe\nto standard output\n")
    assert barriers(command.job) == [BARRIERS]


@pytest.mark.mpi
def test_time_of_a_region_is_a_value(octant: Octant, command: Command, compiled: Callable[[MpiLibrary], Path]) -> None:
    line = MPICH.start(2, compiled(MPICH))
    words = ("--value", "region:solver", "--value", "wait=region:nowhere", "--repeats", "1", "--", *line)
    done = octant("run", *words)
    assert done.returncode == Exit.WRONG_WORD
    assert "the profile has no region 'nowhere'; use one of solver" in done.stderr
    (point,) = command.stored.points
    times = {one.name: one for one in point.results}
    assert times["solver"].unit == "s"
    assert 0 < times["solver"].value < times["wall time"].value
    assert barriers(command.job) == [BARRIERS] * 2


@pytest.mark.mpi
def test_stored_profiles(
    octant: Octant, command: Command, compiled: Callable[[MpiLibrary], Path], tmp_path: Path
) -> None:
    folder, line = tmp_path / "classic", MPICH.start(2, compiled(MPICH))
    done = command.run("--counts", "--no-sites", "--mpitrace", folder, "-o", tmp_path / "page.html", "--", *line)
    assert done.returncode == 0
    assert [path.name for path in folder.iterdir() if path.name.endswith(".0")] == ["mpi_profile.0"]
    assert (tmp_path / "page.html").read_text().startswith("<!")
    assert {flag for one in command.job.processes for flag in one.flags} >= {"counts only", "no sites"}
    shown = octant("profile", "report")
    assert shown.returncode == 0
    assert shown.stdout.splitlines()[-1] == str(command.stored.folder / "profile.html")
    document = json.loads(octant("profile", "report", "last", "--json").stdout)
    assert document["ranks_of_job"] == 2


@pytest.mark.mpi
def test_cost_of_recording(octant: Octant, command: Command, compiled: Callable[[MpiLibrary], Path]) -> None:
    done = octant("profile", "--cost", "--rounds", "4", "--", str(compiled(MPICH)), "0")
    assert done.returncode == 0, done.stderr
    assert re.search(r"changes the wall time by [+-]\S+ % \(95 % interval .* 4 paired rounds", done.stdout)
    profiled = command.stored
    assert profiled.pair
    bare = Store(profiled.folder.parent.parent).read(profiled.pair.partner)
    assert [bool(run.requests[0].subject.profile) for run in (bare, profiled)] == [False, True]
    assert not any(file.kind == "profile" for point in bare.points for file in point.files)
    assert octant("profile", "--cost", "--", str(compiled(MPICH)), "3").returncode == Exit.CANNOT_RUN


def test_programs_that_do_not_call_mpi(octant: Octant, command: Command) -> None:
    done = octant("profile", "--", "sh", "-c", "echo out; exit 3")
    assert (done.returncode, done.stdout) == (3, "out\n")
    assert octant("profile", "--", "true").returncode == 0
    assert "the program did not call MPI" in octant("profile", "--", "true").stderr
    done = octant("profile", "report")
    assert done.returncode == Exit.CANNOT_RUN
    assert "the program did not call MPI); check that" in done.stderr


def test_programs_that_cannot_be_profiled(octant: Octant, tmp_path: Path) -> None:
    sources = {"static": ("-static", ""), "contains": ("-O1", "int MPI_Init(void) { return 0; }")}
    for name, (option, text) in sources.items():
        program = tmp_path / name
        subprocess.run(
            ["cc", option, "-xc", "-", "-o", str(program)], input=f"{text} int main(void) {{ return 0; }}", text=True,
            check=True, capture_output=True,
        )  # fmt: skip
    done = octant("profile", "--", str(tmp_path / "static"))
    assert done.returncode == Exit.NOT_SUPPORTED
    assert "it is statically linked, and the profiler is a shared library; link it" in done.stderr.replace(")", "")
    assert (
        "it contains the MPI library"
        in octant("profile", "--", "mpiexec", "-n", "2", str(tmp_path / "contains")).stderr
    )


def test_another_tool_is_named(octant: Octant, tmp_path: Path) -> None:
    tool = tmp_path / "tool.so"
    words = ["cc", "-shared", "-fPIC", "-xc", "-", "-o", str(tool)]
    subprocess.run(words, input="int MPI_Send(void) { return 0; }", text=True, check=True, capture_output=True)
    done = octant("profile", "--env", f"LD_PRELOAD={tool}", "--", "true")
    assert "tool.so of LD_PRELOAD also intercepts MPI calls" in done.stderr
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ((), "there is no command line after --); try octant profile -- mpiexec -n 4 ./app"),
        (("./app", "x"), "to start a program: octant profile -- ./app x"),
        (("--counts", "--region-only", "--", "true"), "cannot use --counts with --region-only"),
        (("--rounds", "4", "--", "true"), "cannot use --rounds without --cost"),
        (("--cost", "--repeats", "2", "--", "true"), "cannot use --repeats with --cost"),
        (("--json", "--", "true"), "try octant profile report --json"),
        (("--ranks", "2", "report"), "cannot use --ranks (it precedes report"),
        (("report", "--", "true"), "cannot start a program (report shows a stored run)"),
        (("report", "-o", "x.html", "--json"), "--json writes no HTML file"),
        (("--value", "region:", "--", "true"), "a region needs a name"),
        (("--value", "memory=region:", "--", "true"), "memory is always measured"),
        (("--value", "x[s]=region:y", "--", "true"), "the time of a region is in seconds"),
    ],
)
def test_refused_words(octant: Octant, words: Sequence[str], text: str) -> None:
    if words[:1] == ("report",) and "--json" in words:
        octant("profile", "--", "true")
    done = octant("profile", *words)
    assert done.returncode == Exit.WRONG_WORD
    assert text in done.stderr
