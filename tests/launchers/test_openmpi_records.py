"""Open MPI 5 and 4.1: what Octant reads from command lines is what the launchers did on ten pretended machines.

And what Octant writes for placements gives the masks that it drew. `tests/support/record_openmpi.py` and
`record_openmpi41.py` make the records.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

import launcher_records
from launcher_records import Recorded
from octant.launchers import _command, from_syntax, openmpi, openmpi41
from octant.machine import CpuSet, Topology
from octant.placement.expressions import objects, parse_place
from octant.placement.planner import plan
from paths import DATA
from pretended import MACHINES, topology

RECORDS = {name: launcher_records.read(DATA / f"{name}-options.json") for name in ("openmpi", "openmpi41")}
WRITTEN = {name: launcher_records.read_written(DATA / f"{name}-written.json") for name in RECORDS}
LAUNCHERS = {"openmpi": openmpi, "openmpi41": openmpi41}
LEFT_OUT = r"^cannot (read|interpret) "
"""How Octant's own refusals begin, of lines that the launcher accepts: they name the option."""
MAX_LEFT_OUT = {"openmpi": 1, "openmpi41": 65}
STARTS_NONE = r"starts none of the"
"""Open MPI 5.0.11 prints a map with more ranks than -n here, and then starts none."""


def drawn(name: str, record: Recorded) -> list[CpuSet]:
    """Return the masks of a recorded line, without the search for an equivalent request."""
    variables, options = launcher_records.split_variables(record.line)
    module = LAUNCHERS[name]
    row = _command.parsed(module, ["mpirun", *options, "prog"])
    _command.account_options(row)
    seen = {**variables, **_command.assigned(row)}
    _command.account_variables(seen, [module.VARIABLES], module.TITLE)
    command = _command.Command(row.words, row.given, row.program, record.line, seen, (row,))
    return expected(module.rank_masks(command, topology(record.machine))[0], topology(record.machine))


def expected(masks: Sequence[CpuSet | None], machine: Topology) -> list[CpuSet]:
    return [machine.allowed if mask is None else mask for mask in masks]


def in_cores(masks: Sequence[CpuSet], machine: Topology) -> list[CpuSet]:
    """Return the cores that masks touch: Open MPI 5 prints cores, unless :HWTCPUS is given."""
    return [frozenset().union(*(core for core in objects(machine, "core") if core & mask)) for mask in masks]


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", RECORDS)
def test_masks_are_those_of_the_launcher(name: str, machine: str) -> None:
    wrong = []
    for record in (one for one in RECORDS[name] if one.machine == machine and "no end" not in one.refused):
        try:
            masks = drawn(name, record)
        except ValueError as refusal:
            if record.masks and not re.search(f"{LEFT_OUT}|{STARTS_NONE}", str(refusal)):
                wrong.append((record.line, str(refusal)))
            continue
        wanted = expected(record.masks, topology(machine))
        if name == "openmpi" and "--bind-to hwthread" in record.line:
            masks, wanted = in_cores(masks, topology(machine)), in_cores(wanted, topology(machine))
        if not record.masks or masks != wanted:
            wrong.append((record.line, record.refused or "other masks"))
    assert wrong == []


@pytest.mark.parametrize("name", RECORDS)
def test_a_pasted_line_is_drawn_with_these_masks(name: str) -> None:
    for record in [one for one in RECORDS[name] if one.masks and one.machine in ("no-smt", "offline")][::8]:
        variables, options = launcher_records.split_variables(record.line)
        before = "".join(f"{key}={value} " for key, value in variables.items())
        text = f"{before}mpirun {' '.join(options)} prog"
        try:
            masks = drawn(name, record)
        except ValueError:
            continue
        reading = from_syntax(text, topology(record.machine), name)[1]
        assert [place.cpus for place in reading.placement.ranks] == masks, text


@pytest.mark.parametrize("name", RECORDS)
def test_few_lines_that_the_launcher_accepts_are_left_out(name: str) -> None:
    left_out = 0
    for record in RECORDS[name]:
        try:
            drawn(name, record)
        except ValueError as refusal:
            left_out += bool(record.masks) and re.search(STARTS_NONE, str(refusal)) is None
    assert left_out <= MAX_LEFT_OUT[name]


@pytest.mark.parametrize("name", RECORDS)
def test_the_records_are_many_and_of_every_machine(name: str) -> None:
    accepted = [record for record in RECORDS[name] if record.masks]
    assert len(accepted) >= 200
    assert {record.machine for record in accepted} == set(MACHINES)


@pytest.mark.parametrize("name", WRITTEN)
def test_the_launcher_sets_the_masks_that_octant_drew(name: str, tmp_path: Path) -> None:
    for record in WRITTEN[name]:
        machine = topology(record.machine)
        planned = [place.cpus for place in plan(machine, parse_place(record.place, machine)).ranks]
        options = launcher_records.options_of(name, record.machine, record.place, tmp_path)
        assert options == record.options, "other options than those that were recorded: record them again"
        assert not options or list(record.masks) == planned, (record.machine, record.place)


@pytest.mark.parametrize("name", WRITTEN)
def test_what_octant_writes_is_read_back_with_the_same_masks(name: str) -> None:
    for record in WRITTEN[name]:
        if record.options and "rankfile" not in record.options:
            assert drawn(name, Recorded(record.machine, record.options, ())) == list(record.masks), record


@pytest.mark.parametrize("machine", ["no-smt", "sub-numa", "smt2"])
@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("option", ["--cpu-set 2-5", "--cpu-set 2,3,4,5", "--cpu-list 2,3,4,5",
                                    "--mca hwloc_base_cpu_list 2,3,4,5"])  # fmt: skip
def test_ranks_stay_in_the_cpus_of_a_list(option: str, name: str, machine: str) -> None:
    """A list of CPUs restricts the ranks, or the lines are refused, or a remark says that it has no effect."""
    text = f"mpirun -np 1 {option} p"
    try:
        reading = from_syntax(text, topology(machine), name)[1]
    except ValueError:
        return
    listed = frozenset().union(*objects(topology(machine), "core")[2:6])
    without_effect = any(note.startswith("Open MPI 5 ignores --mca hwloc_base_cpu_list") for note in reading.remarks)
    assert without_effect == (name == "openmpi" and option.startswith("--mca"))
    assert without_effect or reading.placement.ranks[0].cpus <= listed


def test_a_parameter_that_only_41_has_decides_the_version() -> None:
    name, reading = from_syntax("mpirun -np 4 --mca hwloc_base_cpu_list 2-5 --bind-to core p", topology("no-smt"))
    assert name == "openmpi41"
    assert {place.cpus for place in reading.placement.ranks} == {frozenset({2, 3, 4, 5})}
    assert any("because of hwloc_base_cpu_list" in note for note in reading.remarks)
