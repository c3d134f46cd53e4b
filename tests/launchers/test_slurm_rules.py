"""srun as Octant reads and writes it, compared with a real Slurm on machines of many shapes (data/slurm.json)."""

import json
import re
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octant.launchers import LauncherReading, _reading, from_syntax, slurm, to_syntax
from octant.launchers._tables import OPTIONAL
from octant.launchers._words import ParsedOptions
from octant.launchers.slurm.option_tables import GPU_OPTIONS
from octant.launchers.slurm.srun_line import SrunOptions, memory_of, step_of
from octant.launchers.slurm.step_masks import SlurmSettings, compute_masks, memory_nodes, node_of
from octant.machine import Topology
from octant.machine.cpusets import parse_cpus
from octant.machine.hwloc import load, read_synthetic
from octant.placement import numbers_text
from octant.placement.planner import DoesNotFitError, plan
from octant.placement.request import PlacementRequest, request_from_lists
from paths import DATA, MACHINES
from slurm_cases import MACHINES as PRETENDED
from slurm_cases import SETTINGS, Machine, all_pairs, cases, generated, topology_of

RECORDS = json.loads((DATA / "slurm.json").read_text())["machines"]
BY_MACHINE = {Machine(**part["machine"]): {line: answer for line, *answer in part["runs"]} for part in RECORDS}
SMT = "pack:2 numa:4 core:16 pu:2(indexes=core)"


def read(line: str, topology: Topology) -> LauncherReading:
    return from_syntax(f"{line} PROGRAM", topology, "slurm")[1]


def sets(line: str, topology: Topology) -> list[frozenset[int]]:
    return [place.cpus for place in read(line, topology).placement.ranks]


def recorded(answer: list[object], topology: Topology) -> list[frozenset[int]] | None:
    """Return the masks as the kernel applies them; `None`: Slurm refused."""
    masks = answer[0]
    if not isinstance(masks, list):
        return None
    return [topology.allowed if mask is None else parse_cpus(mask) & topology.allowed for mask in masks]


def differences(answers: Mapping[str, list[object]], topology: Topology) -> list[str]:
    found = []
    for line, answer in answers.items():
        expected = recorded(answer, topology)
        text = line if line.startswith("#SBATCH -N") else f"#SBATCH -N {2 if '-N2' in line else 1}\n{line}"
        try:
            got: list[frozenset[int]] | str = sets(text, topology)
        except ValueError as error:
            got = str(error)
        if (got != expected) if expected is not None else not isinstance(got, str):
            found.append(f"{line}\n  Slurm: {answer[0]}\n  Octant: {got}")
    return found


@pytest.mark.parametrize("machine", PRETENDED, ids=lambda machine: f"{machine.topology} {machine.offline}".strip())
def test_srun_is_read_as_slurm_runs_it(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search for a plain request behind the masks, which costs most of the time, is left out."""
    monkeypatch.setattr(
        _reading,
        "recognise",
        lambda held, _topology, threads: request_from_lists([tuple(sorted(one)) for one in held], threads),
    )
    assert not (found := differences(BY_MACHINE[machine], topology_of(machine))), "\n".join(found)


def test_every_pair_of_option_values_was_recorded() -> None:
    lines = {case.line() for machine in PRETENDED for case in cases(machine)}
    assert lines >= {case.line() for case in all_pairs()}
    for machine in (*PRETENDED, *SETTINGS):
        assert {case.line() for case in cases(machine)} <= BY_MACHINE[machine].keys(), "record again"
    assert len(PRETENDED) >= 10
    assert sum(map(len, BY_MACHINE.values())) >= 200


@pytest.mark.parametrize("machine", PRETENDED, ids=lambda machine: f"{machine.topology} {machine.offline}".strip())
def test_lines_that_octant_writes_were_run_with_the_drawn_masks(machine: Machine) -> None:
    answers, topology = BY_MACHINE[machine], topology_of(machine)
    for text, placement, lines in generated(machine):
        for line in lines:
            assert line in answers, f"{line}: record again"
            assert recorded(answers[line], topology) == [place.cpus for place in placement.ranks], f"{text}: {line}"
            if "memory=bind" in text:
                assert answers[line][1] == [f"bind {place.memory[0]}" for place in placement.ranks]


@settings(max_examples=30)
@given(
    st.sampled_from(
        ["frameworks-node.synthetic", "epyc-2s-nps4.synthetic", "power8-2s-smt8.synthetic", "vm-2core.xml"]
    ),
    st.integers(1, 8),
    st.integers(1, 8),
    st.sampled_from(["hwthread", "core", "l3", "numa", "package"]),
    st.sampled_from(["compact", "scatter", "scatter:numa", "scatter:package"]),
    st.sampled_from([0, 1, 2]),
)
def test_lines_printed_together_are_equivalent(
    machine: str, ranks: int, threads: int, unit: str, order: str, smt: int
) -> None:
    topology = load(MACHINES / machine)
    request = PlacementRequest(ranks, threads, unit, order, smt)  # type: ignore[arg-type]
    try:
        placement = plan(topology, request)
    except DoesNotFitError:
        return
    starts = [line[line.index("srun ") :] for line in to_syntax("slurm", placement, request, topology).lines
              if "srun " in line]  # fmt: skip
    for line in starts:
        assert sets(line.removesuffix(" PROGRAM"), topology) == [place.cpus for place in placement.ranks], line


def test_two_masks_never_have_one_line_of_named_options() -> None:
    topology = read_synthetic(SMT)
    named: dict[str, list[frozenset[int]]] = {}
    for unit in ("core", "hwthread", "numa", "package"):
        for order in ("compact", "scatter:package"):
            request = PlacementRequest(8 if unit in ("core", "hwthread", "numa") else 2, 4, unit, order)
            placement = plan(topology, request)
            lines = to_syntax("slurm", placement, request, topology).lines
            for line in (line for line in lines if "named" in line):
                drawn = [frozenset(place.cpus) for place in placement.ranks]
                assert named.setdefault(line, drawn) == drawn, line
    assert len(named) >= 4


def test_one_thread_of_a_core_is_one_hardware_thread() -> None:
    """Masks as CSCS prints them for Eiger; verbose alone binds as if nothing were said."""
    topology = read_synthetic(SMT)
    expected = [frozenset(range(first, first + 16)) for first in (0, 64, 16, 80, 32, 96, 48, 112)]
    for hint in ("--hint=nomultithread", "--threads-per-core=1", "--cpu-bind=verbose --hint=nomultithread"):
        assert sets(f"srun -n8 -N1 -c16 {hint}", topology) == expected, hint
    assert sets("srun -n 2 -c 128 --cpu-bind=verbose", topology) == sets("srun -n 2 -c 128", topology)


def test_domains_follow_the_distribution_and_idle_ones_are_named() -> None:
    topology = read_synthetic(SMT)
    domains = topology.groups("numa")
    assert sets("srun -n 2 -c 32 --cpu-bind=ldoms -m block:cyclic", topology) == [domains[0], domains[4]]
    assert sets("srun -n 2 -c 32 --cpu-bind=ldoms -m block:block", topology) == [domains[0], domains[1]]
    said = " ".join(read("srun -n 4 -c 32 --cpu-bind=ldoms", topology).remarks)
    assert "4 tasks on 8 NUMA domains" in said
    assert "NUMA domains" not in " ".join(read("srun -n 8 -c 32 --cpu-bind=ldoms", topology).remarks)
    request = PlacementRequest(8, 4, "numa")
    (line,) = [line for line in to_syntax("slurm", plan(topology, request), request, topology).lines if "named" in line]
    assert re.search(r"-n 8 -c 32 --cpu-bind=ldoms", line)


def test_memory_of_srun_is_read() -> None:
    topology = read_synthetic("pack:2 numa:2 core:2 pu:1")
    ranks = read("srun -n 2 -c 2 --mem-bind=verbose,mask_mem:0x1,0x4", topology).placement.ranks
    assert [place.memory for place in ranks] == [(0,), (2,)]
    assert str(read("srun -n 2 --mem-bind=local", topology).request.memory) == "local"
    with pytest.raises(ValueError, match="the machine has 4 NUMA nodes"):
        read("srun -n 8 --mem-bind=rank", topology)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("srun -n 2 -m arbitrary", "list of hosts"),
        ("srun -n 2 -m block:odd", "cannot read -m"),
        ("srun -n 2 --hint=odd", "cannot read --hint"),
        ("srun -n 2 --cpu-bind=map_cpu:x", "as the list of map_cpu"),
        ("srun -n 2 --mem-bind=odd", "cannot read --mem-bind"),
        ("srun -n 2 --exact --whole", "exclude each other"),
        ("srun -n 9 -c 999", "more than the job has"),
        ("srun -n 9999999", "it is not an integer"),
        ("srun -n 90000", "more than 4096 tasks"),
    ],
)
def test_what_srun_refuses_is_refused(line: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        read(line, read_synthetic("pack:2 core:4 pu:2"))


def test_cpus_that_slurm_does_not_count_are_refused() -> None:
    """Two cores with two hardware threads, two with one: Slurm counts four, and takes CPUs 0, 2, 4 and 6 for them."""
    topology = topology_of(Machine("pack:1 core:4 pu:2", offline="5,7"))
    assert sets("srun -n 2 --cpu-bind=map_cpu:4,0", topology) == [frozenset({4}), frozenset({0})]
    request = PlacementRequest(2, 2, "hwthread", smt=2)
    answer = to_syntax("slurm", plan(topology, request), request, topology)
    assert not answer.lines
    assert "does not count all CPUs" in answer.cannot[0]


def test_gpus_may_move_a_step_that_has_not_all_cores() -> None:
    topology = read_synthetic(SMT)
    assert "not used for the placement: --gpus-per-node" in " ".join(
        read("srun -n 8 --gpus-per-node=8 --cpu-bind=map_cpu:0,16,32,48,64,80,96,112", topology).remarks
    )
    with pytest.raises(ValueError, match="--gpus-per-node may select cores close to its GPUs"):
        read("srun -n 8 -c 2 --gpus-per-node=8", topology)


@pytest.mark.parametrize(
    ("text", "nodes"), [("-w n[1-4]", 4), ("-w a,b", 2), ("-w rack[0-1]n[01,03-05],x", 9), ("-N 2", 2), ("", 1)]
)
def test_hosts_by_name_decide_the_number_of_nodes(text: str, nodes: int) -> None:
    said = " ".join(read(f"srun {text} -n 18 --cpu-bind=none", read_synthetic(SMT)).remarks)
    assert (f"one of {nodes} nodes" in said) == (nodes > 1)


def test_settings_that_change_masks_are_named() -> None:
    topology = read_synthetic("pack:2 core:4 pu:2(indexes=core)")
    assert "CR_CORE_DEFAULT_DIST_BLOCK" in " ".join(read("srun -n 4 -c 2 --cpu-bind=cores", topology).remarks)
    assert "autobind=cores" in " ".join(read("srun -n 4", topology).remarks)
    assert "default settings" not in " ".join(read("srun -n 2 --cpu-bind=mask_cpu:0x1,0x2", topology).remarks)


@pytest.mark.parametrize(
    "machine", SETTINGS, ids=lambda machine: " ".join(map(str, list(machine.facts().values())[1:]))
)
def test_settings_of_slurm_change_masks_as_slurm_changes_them(machine: Machine) -> None:
    topology = topology_of(machine)
    node = node_of(topology)
    settings_of = SlurmSettings(
        "DIST_BLOCK" in machine.select,
        "ONE_TASK" in machine.select,
        machine.task_plugin.partition("=")[2],
        machine.one_cpu_a_core,
    )
    for line, answer in BY_MACHINE[machine].items():
        words = line.split()
        at = words.index("srun")
        asked = SrunOptions(slurm.parse(words[at:]), dict(word.split("=", 1) for word in words[:at]), ParsedOptions(0))
        if "-N" not in line:
            asked.variables = {"SLURM_JOB_NUM_NODES": "1", **asked.variables}
        try:
            held = compute_masks(node, step_of(asked, node), settings_of)
            kind, listed, _prefer = memory_of(asked)
            if kind not in ("", "local"):
                memory_nodes(node, kind, listed, len(held))
            got: object = [None if mask is None else numbers_text(mask) for mask in held]
        except ValueError:
            got = ""
        assert (got or None) == (None if isinstance(answer[0], str) else answer[0]), line


def test_every_option_of_the_help_text_is_in_the_table() -> None:
    """Output of `srun --help`; some of its optional values and one value are not shown there."""
    hidden = {"kill-on-bad-exit", "no-kill", "overlap", "container", "bcast", "resv-ports"}
    rows = re.findall(
        r"^ {2}(?:-(\w),? +| {4})--([\w-]+)(\[?=)?", (DATA / "srun-22.05.8.txt").read_text(), re.MULTILINE
    )
    assert len(rows) > 100
    for letter, name, value in rows:
        option = slurm.OPTIONS[name]
        assert not letter or slurm.OPTIONS[letter] is option, name
        assert option.values == {"": 0, "=": 1, "[=": OPTIONAL}[value] or name in hidden, name
        assert option.effect != "irrelevant" or option.reason, name


@pytest.mark.parametrize("name", sorted({option.name for option in slurm.OPTIONS.values()}))
def test_no_option_of_srun_leaves_the_answer_silently_unchanged(name: str) -> None:
    """It changes the masks, is listed below the answer, or the line is refused."""
    topology = read_synthetic("pack:2 numa:2 core:4 pu:2")
    option = slurm.OPTIONS[name]
    line = "srun -N 1 -n 4 -c 2 --cpu-bind=cores"
    word = f"--{name}" + ("=1" if option.values == 1 else "")
    if option.effect in ("not read", "refused"):
        with pytest.raises(ValueError, match=f"--{name}"):
            read(f"{line} {word}", topology)
    elif option.effect == "irrelevant" and name not in GPU_OPTIONS:
        assert f"--{name}" in " ".join(read(f"{line} {word}", topology).remarks)
        assert sets(f"{line} {word}", topology) == sets(line, topology)
    with pytest.raises(ValueError, match="--unheard-of"):
        read(f"{line} --unheard-of {word}", topology)
