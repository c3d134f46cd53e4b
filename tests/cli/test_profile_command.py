"""`octant profile`: the program behaves as without it, whatever happens to it, and its profile is stored and shown."""

import json
import re
import shlex
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from mpi_libraries import LIBRARIES, MpiLibrary
from namespaces import NoMount, tmpfs
from octant.analysis.profiles import newest_analysis
from octant.failure import Exit
from octant.launch import profiles
from octant.profile.job import JobProfile
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

static void interrupt_octant(void) {  // the first process above that is Python
    char file[32], name[16] = "";
    for (int pid = getppid(); pid > 1 && strncmp(name, "python", 6);) {
        snprintf(file, sizeof file, "/proc/%d/stat", pid);
        FILE* const stat = fopen(file, "r");
        int parent = 0;
        if (stat == NULL || fscanf(stat, "%*d (%15[^)]) %*c %d", name, &parent) != 2) return;
        fclose(stat);
        if (!strncmp(name, "python", 6)) kill(pid, SIGINT);
        pid = parent;
    }
}

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
    if (argc > 2)
        for (int c; rank == 0 && (c = getchar()) != EOF;) putchar(c);
    if (!strcmp(wanted, "orphan")) kill(getppid(), SIGKILL);
    if (!strcmp(wanted, "interrupt") && rank == 0) interrupt_octant();
    if (strchr("hoi", *wanted) && *wanted)
        for (;;) pause();
    if (!strcmp(wanted, "die")) kill(getpid(), SIGKILL);
    MPI_Finalize();
    return atoi(wanted);
}
"""
BARRIERS = 7
MPICH, OPEN_MPI = (next(one for one in LIBRARIES if one.name == name) for name in ("MPICH 5", "Open MPI 4"))


@dataclass(frozen=True)
class Command:
    """What `octant profile` of a test stored, and its node-local files, which are in a folder of the test."""

    environment: Mapping[str, str]
    variables: Mapping[str, str]  # of it, those of the test
    local: Path

    @property
    def stored(self) -> StoredRun:
        return Store(Path(self.environment["OCTANT_STORE"])).newest()[0]

    @property
    def job(self) -> JobProfile:
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
    variables = {**OPEN_MPI.environment, profiles.LOCAL: str(local)}
    return Command({**environment, **variables}, variables, local)


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


def masked(text: str) -> str:
    """Return a text without the numbers of processes in messages of launchers."""
    return re.sub(r"\d{3,}|\[\d+,\d+\]", "N", text)


def barriers(job: JobProfile) -> list[int]:
    """Return the recorded barriers of each rank."""
    number = job.call_names.index("MPI_Barrier")
    rows = job.calls[job.calls["call"] == number]
    return [int(rows["calls"][rows["rank"] == one.rank].sum()) for one in job.processes]


def assert_recorded(job: JobProfile, is_complete: bool = False) -> None:
    """Every barrier was recorded; rank 1 may have been killed in the last one."""
    first, second = barriers(job)
    assert first == BARRIERS
    assert second in ((BARRIERS,) if is_complete else (BARRIERS - 1, BARRIERS))


@pytest.mark.mpi
@pytest.mark.parametrize(
    ("library", "words", "is_complete"),
    [
        (MPICH, ("7", "read"), True),
        (MPICH, ("die",), False),
        (OPEN_MPI, ("0", "read"), True),  # its launcher takes two seconds for a failure
    ],
    ids=["MPICH", "killed", "OpenMPI"],
)
def test_streams_and_status_are_those_of_the_program(
    octant: Octant, command: Command, compiled: Callable[[MpiLibrary], Path], tmp_path: Path,
    library: MpiLibrary, words: Sequence[str], is_complete: bool,
) -> None:  # fmt: skip
    data = tmp_path / "data"
    data.write_text("".join(map(chr, range(14, 127))) * 50)  # Open MPI loses parts of longer ones, also without Octant
    line = library.start(2, compiled(library), *words)
    with data.open() as file:
        done = octant("profile", "--", *line, env=command.variables, stdin=file.fileno())
    assert "to standard error\n" in done.stderr
    if is_complete:
        assert (done.returncode, done.stdout) == (int(words[0]), "to standard output\n" + data.read_text())
    else:
        bare = subprocess.run(line, capture_output=True, env=command.environment, text=True, check=False)
        assert done.returncode == (bare.returncode if bare.returncode >= 0 else 128 - bare.returncode)
        assert masked(done.stdout) == masked(bare.stdout)
    assert command.left == []
    assert bool(command.stored.failures) == (words[0] != "0"), "a failed program has a profile, too"
    assert command.job.is_complete == is_complete
    assert_recorded(command.job, is_complete)


@pytest.mark.mpi
def test_tables_of_killed_guards_on_other_nodes(
    octant: Octant, command: Command, compiled: Callable[[MpiLibrary], Path], tmp_path: Path
) -> None:
    there = tmp_path / "there"  # only processes that the launcher starts know this file system
    there.mkdir()
    line = [*MPICH.launcher, "-genv", profiles.LOCAL, str(there), "-n", "2", str(compiled(MPICH))]
    done = octant("profile", "--", *line, "orphan", env=command.variables)
    assert done.returncode not in (0, 1)
    assert not [*there.iterdir(), *command.left]
    assert_recorded(command.job)
    assert [one.state for one in command.job.processes] == ["running"] * 2
    assert "ended before MPI_Finalize" in done.stderr


@pytest.mark.mpi
def test_timeouts(octant: Octant, command: Command, compiled: Callable[[MpiLibrary], Path]) -> None:
    line = MPICH.start(2, compiled(MPICH))
    done = octant("profile", "--timeout", "0.5", "--", *line, "hang", env=command.variables)
    assert done.returncode == Exit.CANNOT_RUN
    assert "timed out after 0.5 s" in done.stderr
    assert_recorded(command.job)
    assert command.left == []


@pytest.mark.mpi
def test_interruptions(octant: Octant, command: Command, compiled: Callable[[MpiLibrary], Path]) -> None:
    done = octant("profile", "--", *MPICH.start(2, compiled(MPICH)), "interrupt", env=command.variables)
    assert done.returncode == Exit.INTERRUPTED
    assert done.stdout.startswith("to standard output\n")
    assert "MPI profile of" in done.stderr
    assert_recorded(command.job)
    assert command.left == []


@pytest.mark.mpi
def test_full_node_local_file_system(octant: Octant, command: Command, compiled: Callable[[MpiLibrary], Path]) -> None:
    try:
        with tmpfs("size=1m") as disk:
            variables = {**command.variables, profiles.LOCAL: str(disk.outside)}
            done = octant("profile", "--", *MPICH.start(2, compiled(MPICH)), env=variables)
            assert list(disk.outside.iterdir()) == []
    except NoMount as error:
        pytest.skip(str(error))
    assert (done.returncode, done.stdout) == (0, "to standard output\n")
    assert barriers(command.job) == [BARRIERS] * 2, "the tables are where there is room"


@pytest.mark.mpi
def test_programs_behind_other_programs(
    octant: Octant, command: Command, compiled: Callable[[MpiLibrary], Path], tmp_path: Path
) -> None:
    (tmp_path / "data").write_text("not read\n")
    words = ("sh", "-c", f"cat; (true); exec {shlex.quote(str(compiled(MPICH)))}")
    with (tmp_path / "data").open() as file:
        done = octant("profile", "--repeats", "2", "--", *words, env=command.variables, stdin=file.fileno())
    assert (done.returncode, done.stdout) == (0, "to standard output\n" * 2), (
        "if there is more than one launch, none reads the input"
    )
    assert barriers(command.job) == [BARRIERS]


@pytest.mark.mpi
def test_stored_profiles(
    octant: Octant, command: Command, compiled: Callable[[MpiLibrary], Path], tmp_path: Path
) -> None:
    folder, line = tmp_path / "classic", MPICH.start(2, compiled(MPICH))
    options = ("--counts", "--no-sites", "--mpitrace", str(folder), "-o", str(tmp_path / "page.html"))
    done = octant("profile", *options, "--", *line, env=command.variables)
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
    assert octant("profile", "--cost", "--", "false").returncode == Exit.CANNOT_RUN


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


OTHER_MPI = r"""
#include <stdio.h>
#define CALL(name, parameters, ...) \
    int PMPI_##name parameters __VA_ARGS__ int MPI_##name parameters __attribute__((weak, alias("PMPI_" #name)));
CALL(Init, (int* count, char*** words), { return printf("Init %d\n", *count), (void)words, 0; })
CALL(Initialized, (int* flag), { return *flag = 1, 0; })
CALL(Get_library_version, (char* text, int* length), { return *length = sprintf(text, VERSION), 0; })
CALL(Comm_dup, (int old, short* made), { return *made = 5, printf("Comm_dup %d\n", old), 0; })
CALL(Send, (int* data, int count), { return printf("Send %d %d\n", *data, count), 9; })
CALL(Finalize, (void), { return puts("Finalize"), 0; })
"""


@pytest.mark.parametrize("version", ["Other MPI 1.0", "Open MPI 99"])
def test_programs_with_an_unsupported_library_run_unrecorded(octant: Octant, tmp_path: Path, version: str) -> None:
    library, program = tmp_path / "libother.so", tmp_path / "program"
    words = ["cc", "-shared", "-fPIC", f'-DVERSION="{version}"', "-xc", "-", "-o", str(library)]
    subprocess.run(words, input=OTHER_MPI, text=True, check=True, capture_output=True)
    text = """
        int MPI_Init(int*, char***), MPI_Comm_dup(int, short*), MPI_Send(int*, int), MPI_Finalize(void);
        int main(int count, char** words) {
            int data = 7;
            short made = 0;
            MPI_Init(&count, &words);
            MPI_Comm_dup(3, &made);
            int const result = MPI_Send(&data, 2) + made;
            MPI_Finalize();
            return result;
        }"""
    words = ["cc", "-xc", "-", "-o", str(program), "-xnone", str(library)]
    subprocess.run(words, input=text, text=True, check=True, capture_output=True)
    bare = subprocess.run([program], capture_output=True, text=True, check=False)
    done = octant("profile", "--", str(program))
    assert (done.returncode, done.stdout) == (bare.returncode, bare.stdout)
    assert done.returncode == 9 + 5
    assert f"is not supported ({version})" in " ".join(done.stderr.split())
    assert "octant-profiler:" not in done.stderr


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
        (("--waits", "--counts", "--", "true"), "cannot use --waits with --counts"),
        (("--waits", "--region-only", "--", "true"), "cannot use --waits with --region-only"),
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
