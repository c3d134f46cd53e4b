"""Programs print the same and end the same with the profiler, whatever happens to them, and keep what was recorded."""

import os
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from mpi_libraries import LIBRARIES, MpiLibrary, clean_environment
from namespaces import NoMount, tmpfs
from truth_programs import (
    PROGRAMS,
    ProgramRun,
    TruthPrograms,
    differences,
    read_truth,
    recorded,
    run_program,
)

pytestmark = pytest.mark.mpi

FIRST = LIBRARIES[0]
STATES = {
    "finalize": "finalized",
    "exit": "exited",
    "_exit": "running",
    "abort": "running exited",  # MPICH calls exit()
    "error": "running exited",
    "killed": "running",
    "segv": "running",
    "forks": "finalized",
    "exec": "finalized",
    "looks": "finalized",
    "before": "finalized",
}
"""States that a process may have after each case of `life.c`."""
OF_EVERY_LIBRARY = ("killed", "forks")

MODES = (
    "OCTANT_PROFILE_MODE=waits", "OCTANT_PROFILE_MODE=off", "OCTANT_PROFILE_MODE=counts", "OCTANT_PROFILE_SITES=0",
)  # fmt: skip

Pair = Callable[..., tuple[ProgramRun, ProgramRun]]


def _first_or_every(cases: Iterable[str], of_every_library: Sequence[str]) -> list[Any]:
    """Return the cases for the first library, and some of them for the others, with names of the tests."""
    return [
        pytest.param(library, case, id=f"{re.sub(r'[^A-Za-z0-9]', '', library.name)}-{case}")
        for library in LIBRARIES
        for case in cases
        if library is FIRST or case in of_every_library
    ]


def masked(run: ProgramRun) -> tuple[int, bytes, bytes]:
    """What the user sees, without the numbers of processes and addresses in messages of MPI libraries."""
    return run.code, run.stdout, re.sub(rb"0x[0-9a-f]+|\d{3,}|\],\d+\]", b"N", run.stderr)


@pytest.fixture
def pair(profiler: Path, tmp_path: Path) -> Pair:
    """Runs a program without and with the profiler."""

    def run(library: MpiLibrary, words: Sequence[str | Path], **options: object) -> tuple[ProgramRun, ProgramRun]:
        bare = run_program(library, tmp_path / "bare", words, profiler=None, **options)  # type: ignore[arg-type]
        profiled = run_program(library, tmp_path / "profiled", words, profiler=profiler, **options)  # type: ignore[arg-type]
        return bare, profiled

    return run


def compare_recorded(run: ProgramRun, *states: str) -> None:
    """All calls until the end of the process are in its file."""
    job = run.job()
    truth = read_truth(run, job)
    site = ("function", "line")
    for kind in (0, 1):
        assert not differences(truth.calls(*site)[kind], recorded(job, *site)[kind])
    assert len(job.processes) == 1
    assert job.processes[0].state in states


@pytest.mark.parametrize(("library", "case"), _first_or_every(STATES, OF_EVERY_LIBRARY), indirect=["library"])
def test_ends_of_processes(programs: TruthPrograms, pair: Pair, library: MpiLibrary, case: str) -> None:
    bare, profiled = pair(library, [programs.find(library, "life.c"), case])
    assert masked(profiled) == masked(bare)
    compare_recorded(profiled, *STATES[case].split())


# The launcher of Open MPI waits for seconds after a program that fails, and prints its message in parts.
@pytest.mark.parametrize(("library", "case"), _first_or_every(["finalize", "some"], ["some"]), indirect=["library"])
def test_ranks_behind_a_launcher(programs: TruthPrograms, pair: Pair, library: MpiLibrary, case: str) -> None:
    bare, profiled = pair(library, [programs.find(library, "life.c"), case], ranks=2)
    assert masked(profiled) == masked(bare)
    job = profiled.job()
    assert not differences(read_truth(profiled, job).calls("line")[0], recorded(job, "line")[0])


def test_programs_without_mpi_leave_no_file(programs: TruthPrograms, pair: Pair, tmp_path: Path) -> None:
    bare, profiled = pair(FIRST, [programs.find(FIRST, "life.c"), "never"])
    assert profiled.seen == bare.seen == (6, b"no call of MPI\n", b"")
    assert not list(profiled.profile.iterdir())
    bare, profiled = pair(FIRST, ["sh", "-c", "echo a shell; exit 4"])
    assert profiled.seen == bare.seen
    static = tmp_path / "static"
    source = (
        '#include <stdio.h>\nint MPI_Init(void) { return 5; }\nint main(void) { puts("static"); return MPI_Init(); }\n'
    )
    for option in ("-static", "-rdynamic"):  # neither calls our functions: the second has its own
        command = ["cc", option, "-xc", "-", "-o", str(static)]
        if subprocess.run(command, input=source, text=True, capture_output=True, check=False).returncode:
            continue
        bare, profiled = pair(FIRST, [static])
        assert profiled.seen == bare.seen == (5, b"static\n", b"")
    assert not list(profiled.profile.iterdir())


def test_mpi_that_is_loaded_at_run_time(pair: Pair, library: MpiLibrary, tmp_path: Path) -> None:
    program, module = tmp_path / "loads", tmp_path / "plugin.so"
    for command in (
        ["cc", "-rdynamic", str(PROGRAMS / "loads.c"), "-o", str(program), "-ldl"],
        [library.compiler, "-g", "-O1", "-shared", "-fPIC", str(PROGRAMS / "plugin.c"), "-o", str(module)],
    ):
        subprocess.run(command, check=True, capture_output=True)
    bare, profiled = pair(library, [program, module])
    assert profiled.seen == bare.seen
    assert profiled.code == 8
    compare_recorded(profiled, "finalized")
    shown = subprocess.run(["ldd", module], capture_output=True, text=True, check=True, env=clean_environment(library))
    mpi = re.findall(r"=> (\S*libmpi\S*|\S*libmpich\S*)", shown.stdout)[0]
    assert pair(library, [program, mpi])[1].seen[0] == 9


@pytest.mark.parametrize(("library", "order"), _first_or_every(["first", "last"], ["last"]), indirect=["library"])
def test_two_tools_see_all_calls(
    programs: TruthPrograms, profiler: Path, library: MpiLibrary, tmp_path: Path, order: str
) -> None:
    tool = tmp_path / "tool.so"
    command = [library.compiler, "-shared", "-fPIC", "-O1", str(PROGRAMS / "tool.c"), "-o", str(tool)]
    subprocess.run(command, check=True, capture_output=True)
    words: list[str | Path] = [programs.find(library, "life.c"), "finalize"]
    bare = run_program(library, tmp_path / "bare", words, profiler=None, preload=[tool])
    before, after = ([tool], []) if order == "first" else ([], [tool])
    profiled = run_program(library, tmp_path / "both", words, profiler=profiler, preload=before, preload_after=after)
    assert masked(profiled) == masked(bare)
    assert b"tool: 10 0\n" in profiled.stderr
    job = profiled.job()
    expected = read_truth(profiled, job).calls()[0]
    if order == "first":  # it calls PMPI functions
        expected = Counter({key: n for key, n in expected.items() if key[1] not in {"MPI_Barrier", "MPI_Finalize"}})
    assert not differences(expected, recorded(job)[0])
    assert {process.state for process in job.processes} == {"finalized"}


@pytest.mark.parametrize("size", ["4k", "256k", "2m"])
def test_full_disk(programs: TruthPrograms, profiler: Path, tmp_path: Path, size: str) -> None:
    words: list[str | Path] = [programs.find(FIRST, "calls.c"), "blocking", "sites", "communicators"]
    bare = run_program(FIRST, tmp_path / "bare", words, profiler=None, ranks=2)
    try:
        with tmpfs(f"size={size}") as disk:
            variables = {"OCTANT_PROFILE": disk.inside}
            profiled = run_program(
                FIRST, tmp_path / "full", words, profiler=profiler, ranks=2, environment=variables, within=disk.within
            )
    except NoMount as error:
        pytest.skip(str(error))
    assert profiled.seen == bare.seen


@pytest.mark.parametrize("folder", ["/nowhere/at/all", "/proc", "", "relative"])
def test_folders_that_cannot_be_written(
    programs: TruthPrograms, pair: Pair, profiler: Path, tmp_path: Path, folder: str
) -> None:
    words: list[str | Path] = [programs.find(FIRST, "life.c"), "finalize"]
    bare, profiled = pair(FIRST, words, environment={"OCTANT_PROFILE": folder})
    assert profiled.seen == bare.seen


def test_without_a_folder_it_is_inert(programs: TruthPrograms, profiler: Path, tmp_path: Path) -> None:
    words: list[str | Path] = [programs.find(FIRST, "life.c"), "finalize"]
    bare = run_program(FIRST, tmp_path / "bare", words, profiler=None)
    inert = run_program(FIRST, tmp_path / "inert", words, profiler=None, preload=[profiler])
    assert inert.seen == bare.seen
    assert not list(inert.profile.iterdir())


@pytest.mark.parametrize(("library", "variable"), _first_or_every(MODES, MODES[:1]), indirect=["library"])
def test_modes(programs: TruthPrograms, pair: Pair, library: MpiLibrary, variable: str) -> None:
    words: list[str | Path] = [programs.find(library, "calls.c"), "blocking", "completions", "switched_off"]
    name, _, value = variable.partition("=")
    bare, profiled = pair(library, words, environment={name: value}, ranks=2)
    assert profiled.seen == bare.seen
    job = profiled.job()
    expected, found = read_truth(profiled, job).calls(), recorded(job)
    if value == "off":  # `switched_off` switches it on
        assert not [key for key in found[0] if key[1] in {"MPI_Send", "MPI_Recv", "MPI_Isend", "MPI_Waitall"}]
        assert [found[0][rank, "MPI_Barrier"] for rank in (0, 1)] == [3, 3]
        return
    assert not differences(expected[0], found[0])
    if value == "waits":  # barriers are made where recording is disabled, too, and are not calls of the program
        waited = {job.call_names[one["call"]] for one in job.calls if one["waited_s"] > 0 and one["in_flight_s"] == 0}
        assert "MPI_Barrier" in waited
        assert not {"MPI_Send", "MPI_Recv", "MPI_Waitall"} & waited
    if value == "counts":
        assert not job.calls["time_s"].any()
        return
    assert not differences(expected[1], found[1])
    if name == "OCTANT_PROFILE_SITES":
        assert {site.offset for site in job.sites} <= {0, 1}


def test_ranks_without_recording_take_part_in_the_barriers(programs: TruthPrograms, pair: Pair) -> None:
    """Otherwise the other ranks would wait indefinitely."""
    words: list[str | Path] = [programs.find(FIRST, "life.c"), "partly"]
    bare, profiled = pair(FIRST, words, environment={"OCTANT_PROFILE_MODE": "waits"}, ranks=2)
    assert profiled.seen == bare.seen
    assert [recorded(profiled.job())[0][rank, "MPI_Barrier"] for rank in (0, 1)] == [10, 13]


def test_environment_and_limits_of_descriptors(programs: TruthPrograms, pair: Pair) -> None:
    """A program that may open few files, and one that limits the size of files, work as before."""
    for limit in ("ulimit -n 40", "ulimit -f 1"):
        words: list[str | Path] = ["sh", "-c", f'{limit}; exec "$0" looks', programs.find(FIRST, "life.c")]
        bare, profiled = pair(FIRST, words)
        assert masked(profiled) == masked(bare), limit


def test_library_is_not_linked_to_mpi(profiler: Path) -> None:
    shown = subprocess.run(["readelf", "-d", profiler], capture_output=True, text=True, check=True)
    needed = re.findall(r"NEEDED.*\[(\S+)\]", shown.stdout)
    assert needed
    assert not [name for name in needed if "mpi" in name or "stdc++" in name]
    assert os.access(profiler, os.X_OK)
