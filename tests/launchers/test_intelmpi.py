"""Intel MPI: the answers are those that it gave itself, recorded by tests/support/record_intelmpi.py."""

import re
from collections.abc import Sequence

import pytest

import record_intelmpi
from octant.launchers import LauncherReading, _reading, from_syntax, intelmpi
from octant.machine import CpuSet, Topology
from octant.machine.hwloc import load
from octant.placement import set_text
from octant.placement.request import PlacementRequest, request_from_lists
from record_hydra import machine

RUNS = record_intelmpi.records()
IGNORED_VALUES = re.compile(r"\[3,c\]")
"""Of older versions and of Intel's reference: drawn, with the remark that this version ignores them."""


@pytest.fixture(autouse=True)
def plain_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the search for the request that is equivalent to masks, which takes most of the time."""

    def listed(sets: Sequence[CpuSet], _topology: Topology, threads: int | None) -> PlacementRequest:
        return request_from_lists([tuple(sorted(held)) for held in sets], threads or 1)

    monkeypatch.setattr(_reading, "recognise", listed)


def answer(line: str, topology: str) -> LauncherReading:
    return from_syntax(line, load(topology), "intelmpi")[1]


def masks(line: str, topology: str) -> list[str]:
    return [set_text(place.cpus) for place in answer(line, topology).placement.ranks]


def test_masks_are_those_of_intel_mpi_or_refused() -> None:
    """What Octant answers is what Intel MPI did; some forms it refuses by name, since it has no rule for them."""
    wrong, agreed = [], 0
    for run in RUNS:
        topology = machine(run.topology)
        try:
            reading = from_syntax(run.line, topology, "intelmpi")[1]
        except ValueError:
            continue
        expected = [topology.allowed if mask is None else mask for mask in run.masks]
        if [place.cpus for place in reading.placement.ranks] == expected:
            agreed += 1
        elif not IGNORED_VALUES.search(run.variables):
            wrong.append(run)
    assert wrong == []
    assert agreed > 280


def test_the_default_is_always_drawn() -> None:
    """Without any variable nothing is refused, as long as there is a hardware thread for each rank."""
    for run in RUNS:
        if (
            not run.variables
            and re.fullmatch(r"-np? \d+ *", run.options)
            and len(run.masks) <= len(machine(run.topology).allowed)
        ):
            from_syntax(run.line, machine(run.topology), "intelmpi")


def test_intel_mpi_does_what_our_lines_ask() -> None:
    """The lines are those that it was run with, and the masks that it applied are the planned ones."""
    applied = {(run.topology, run.variables, run.options): list(run.masks) for run in record_intelmpi.written_records()}
    assert len(applied) > 100
    assert applied == record_intelmpi.written()


@pytest.mark.parametrize(
    ("line", "topology", "expected"),
    [
        ("I_MPI_PIN=1 mpirun -n 1 p", "pack:2 core:18 pu:1", ["0-35"]),
        ("I_MPI_PIN=1 mpirun -n 2 p", "core:16 pu:1", ["0-7", "8-15"]),
        ("I_MPI_PIN_DOMAIN=auto mpirun -n 2 p", "core:2 pu:1", ["0", "1"]),
        ("I_MPI_PIN_DOMAIN=core mpirun -n 8 p", "pack:2 core:8 pu:1", ["0", "1", "2", "3", "8", "9", "10", "11"]),
        ("I_MPI_PIN_DOMAIN=core I_MPI_PIN_ORDER=compact mpirun -n 4 p", "pack:2 core:8 pu:1", ["0", "1", "2", "3"]),
        ("I_MPI_PIN_DOMAIN=omp OMP_NUM_THREADS=4 mpirun -n 4 p", "pack:2 core:8 pu:1", ["0-3", "4-7", "8-11", "12-15"]),
        ("mpirun -genv I_MPI_PIN_DOMAIN 2 -n 2 p", "pack:2 core:8 pu:1", ["0-1", "8-9"]),
        ("I_MPI_PIN_PROCESSOR_LIST=1,0 mpirun -n 3 p", "core:4 pu:1", ["1", "0", "1"]),
        ("mpirun -hosts a,b -ppn 2 -genv I_MPI_PIN_DOMAIN socket -n 4 p", "pack:2 core:2 pu:1", ["0-1", "2-3"]),
    ],
)
def test_domains(line: str, topology: str, expected: list[str]) -> None:
    assert masks(line, topology) == expected


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("I_MPI_PIN_ORDER=foo mpirun -n 2 p", "I_MPI_PIN_ORDER=foo .Intel MPI ignores it"),
        ("I_MPI_PIN_ORDER=scatter mpirun -n 2 p", "I_MPI_PIN_ORDER=scatter"),
        ("I_MPI_PIN_DOMAIN=2:scatter mpirun -n 2 p", "I_MPI_PIN_DOMAIN=2:scatter"),
        ("I_MPI_PIN_DOMAIN=cache mpirun -n 2 p", "I_MPI_PIN_DOMAIN=cache"),
        ("I_MPI_PIN_CELL=foo mpirun -n 2 p", "I_MPI_PIN_CELL=foo"),
        ("I_MPI_PIN_PROCESSOR_LIST=allcores:map=scatter mpirun -n 2 p", "ignores processor sets"),
        ("I_MPI_PIN_PROCESSOR_LIST=0 I_MPI_PIN_DOMAIN=core mpirun -n 2 p", "with I_MPI_PIN_DOMAIN"),
        ("I_MPI_PIN=1 I_MPI_PIN_PROCESSOR_EXCLUDE_LIST=0 mpirun -n 2 p", "EXCLUDE_LIST is not supported"),
        ("I_MPI_PIN_DOMAIN=omp mpirun -n 2 p", "without OMP_NUM_THREADS"),
        ("I_MPI_PIN=1 mpirun -cpu-bind 2 -n 2 p", "cpu-bind is not supported"),
        ("I_MPI_PIN=1 mpirun -cpu-set 2 -n 2 p", "cpu-set is an unknown option"),
        ("I_MPI_PIN=1 mpirun -hosts a,b -n 2 p", "give -n and -ppn"),
        ("I_MPI_PIN_DOMAIN=[0x1] mpirun -n 2 p", "1 masks of I_MPI_PIN_DOMAIN for 2 ranks"),
    ],
)
def test_what_is_not_known_for_certain_is_refused_by_name(line: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        answer(line, "pack:2 core:4 pu:2")


def test_answers_are_labelled_and_irrelevant_options_listed() -> None:
    remarks = " / ".join(answer("I_MPI_DEBUG=5 I_MPI_PIN=1 mpirun -l -bind-to core -n 2 p", "core:4 pu:1").remarks)
    assert "are from Intel's reference" in remarks
    assert "-bind-to (Intel MPI accepts it, and it has no effect)" in remarks
    assert "I_MPI_DEBUG" in remarks


@pytest.mark.parametrize("name", sorted(intelmpi.OPTIONS))
def test_no_option_leaves_the_answer_silently_unchanged(name: str) -> None:
    option = intelmpi.OPTIONS[name]
    values = {"genv": "A=b", "env": "A=b", "n": "2", "ppn": "2", "hosts": "a"}
    value = [values.get(option.name, "x")] * (option.values - (option.name in ("env", "genv")))
    line = "" if option.name == "n" else "-n 4"
    try:
        remarks = answer(f"I_MPI_PIN=1 mpiexec {' '.join(['-' + name, *value])} {line} p", "core:4 pu:1").remarks
    except ValueError as error:
        remarks = (str(error),)
    said = " ".join(remarks)
    neutral = option.name in ("n", "hosts", "genv", "env")
    assert neutral or name in said or option.name in said or "hosts" in said
