"""MPICH's Hydra: the answers are those that it gave itself, recorded by tests/support/record_hydra.py."""

import re
from collections.abc import Sequence

import pytest

import record_hydra
from octant.launchers import LauncherReading, _reading, from_syntax, mpich
from octant.machine import CpuSet, Topology
from octant.placement import numbers_text
from octant.placement.request import PlacementRequest, request_from_lists
from record_hydra import machine

RUNS = record_hydra.records()
REFUSED_BY_US = re.compile(r"skip-launch-node|a occurs twice|-rankmap .* ranks, -n is")
"""What Hydra accepts and Octant refuses, with a reason: it is not sure of the answer."""


def test_the_records_cover_what_they_should() -> None:
    assert len(RUNS) > 1000
    assert {run.topology for run in RUNS} == set(record_hydra.TOPOLOGIES)
    lines = {(run.topology, run.variables, run.options) for run in RUNS}
    assert lines == set(record_hydra.cases())


@pytest.fixture
def plain_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the search for the request that is equivalent to masks, which takes most of the time."""

    def listed(sets: Sequence[CpuSet], _topology: Topology, threads: int | None) -> PlacementRequest:
        return request_from_lists([tuple(sorted(held)) for held in sets], threads or 1)

    monkeypatch.setattr(_reading, "recognise", listed)


@pytest.mark.usefixtures("plain_requests")
def test_masks_and_refusals_are_those_of_hydra() -> None:
    wrong = []
    for run in RUNS:
        topology = machine(run.topology)
        expected = [topology.allowed if mask is None else mask for mask in run.masks]
        try:
            answer = from_syntax(run.line, topology, "mpich")[1]
        except ValueError as error:
            if not run.refusal and not REFUSED_BY_US.search(str(error)):
                wrong.append((run, str(error)))
            continue
        if run.refusal or [place.cpus for place in answer.placement.ranks] != expected:
            wrong.append((run, ""))
    assert wrong == []


def test_interleaved_memory_is_that_of_hydra() -> None:
    interleaved = [run for run in RUNS if any(policy.startswith("interleave") for policy in run.memory)]
    assert len(interleaved) > 5
    for run in interleaved:
        answer = from_syntax(run.line, machine(run.topology), "mpich")[1]
        assert answer.request.memory.policy == "interleave", run
        nodes = [f"interleave {numbers_text(place.memory)}" for place in answer.placement.ranks]
        assert nodes == list(run.memory), run


def test_other_versions_differ_in_what_they_refuse_only() -> None:
    """Hydra 4.0.2 ignores that the system refuses a mask, and has fewer options; its masks are the same."""
    first = {(run.topology, run.line): run for run in RUNS}
    for version in record_hydra.other_versions():
        for run in record_hydra.records(version):
            assert run.refusal or first[run.topology, run.line].refusal, run


def test_hydra_does_what_our_lines_ask() -> None:
    """The lines are those that Hydra was run with, and the masks that it applied are the planned ones."""
    applied = {(run.topology, run.options): list(run.masks) for run in record_hydra.written_records()}
    planned = {}
    for name, text in record_hydra.placements():
        found = record_hydra.written(name, text)
        if found is not None:
            planned[name, found[0]] = found[1]
    assert len(planned) > 150
    assert applied == planned


VALID = ["-n 5 -bind-to core", "-n 4 -bind-to numa -map-by socket", "-np 3 -bind-to user:0,1,2", "-n 2"]
EXAMPLES = {"genv": "A=b", "env": "A=b", "topolib": "hwloc", "membind": "bind:numa", "hosts": "a", "ppn": "4",
            "map-by": "numa", "bind-to": "core:2", "n": "3", "order-nodes": "UP", "rankmap": "0,0,0,0,0"}  # fmt: skip
NO_INFLUENCE = ("topolib", "ppn", "order-nodes", "rankmap", "hosts", "genvnone", "envnone", "genvlist", "envlist")
"""Options that are interpreted, whose values in `EXAMPLES` are what holds without them."""


def answer(line: str) -> LauncherReading:
    return from_syntax(line, machine("SMT, sub-NUMA"), "mpich")[1]


@pytest.mark.usefixtures("plain_requests")
@pytest.mark.parametrize("line", VALID)
@pytest.mark.parametrize("name", sorted(mpich.OPTIONS))
def test_no_option_leaves_the_answer_silently_unchanged(line: str, name: str) -> None:
    """An option is refused by name, changes the answer, or is remarked on."""
    option = mpich.OPTIONS[name]
    value = [EXAMPLES.get(option.name, "x")] * (option.values - (option.name in ("env", "genv")))
    before = answer(f"mpiexec {line} prog")
    try:
        after = answer(f"mpiexec {' '.join(['-' + name, *value])} {line} prog")
    except ValueError as error:
        said = str(error)
    else:
        said = " ".join(set(after.remarks) - set(before.remarks))
        if after.placement != before.placement or option.name in NO_INFLUENCE:
            said += name
        if option.name == "map-by" and "-bind-to core" not in line:
            return  # without a binding, and with a list, Hydra ignores it
    found = ("memory policy", " A ", "hosts", name, option.name)
    assert any(word in f" {said} " for word in found), said


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("mpiexec -cpu-set 0-3 -bind-to core -n 2 prog", "cpu-set is an unknown option"),
        ("HYDRA_NEW=1 mpiexec -bind-to core -n 2 prog", "HYDRA_NEW is not supported"),
        ("mpiexec -skip-launch-node -bind-to core -n 2 prog", "skip-launch-node is not supported"),
        ("mpiexec -bind-to gpu -n 2 prog", "the location of devices is unknown"),
        ("OMP_NUM_THREADS=2 mpiexec -genvnone -bind-to core -n 2 prog", "genvnone does not export OMP_NUM_THREADS"),
        ("mpiexec -f hosts -bind-to core -n 4 prog", "list of hosts is in hosts"),
        ("mpiexec -configfile x", "programs are in a file"),
    ],
)
def test_what_cannot_be_answered_is_refused_by_name(line: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        answer(line)


def test_what_does_not_count_is_listed() -> None:
    remarks = " / ".join(answer("mpiexec -prepend-rank -iface ib0 -bind-to core -n 2 prog").remarks)
    assert "-prepend-rank (it concerns what is printed)" in remarks
    assert "-iface (it concerns the network)" in remarks
    remarks = " / ".join(answer("mpiexec -genv HYDRA_BINDING numa -n 2 prog").remarks)
    assert "HYDRA_BINDING (it is set for the ranks only, not for the launcher)" in remarks


def test_one_of_several_hosts_is_drawn() -> None:
    reading = answer("mpiexec -hosts a,b -ppn 2 -n 7 -bind-to core prog")
    assert len(reading.placement.ranks) == 4
    assert "the placement on one of 2 hosts is shown: ranks 0-1,4-5 of 7" in reading.remarks
    reading = answer("mpiexec -f hosts -ppn 4 -n 16 -bind-to core prog")
    assert len(reading.placement.ranks) == 4
    assert any("provided that hosts lists at least 4" in remark for remark in reading.remarks)
