"""A launch is worked out once: words, environment, masks. What comes from a store is data, and never started."""

import dataclasses
import functools
from pathlib import Path

import pytest

from fake_kernel import request
from fake_run import machine
from octant import workloads
from octant.failure import Exit, Refusal
from octant.launch import Planned
from octant.launchers import openmpi
from octant.machine import Machine
from octant.request import Launch, Request, Shape, Subject
from octant.runs import cell_costs, plan
from octant.runs.rounds import seed_within
from octant.runs.starts import list_starts
from octant.step import Step
from octant.store import Store

MACHINE = machine(nodes=2, cores=4)
RECORDS = Path("/store/records.jsonl")
OWN = {"OMP_DYNAMIC": "false"}


@pytest.fixture(autouse=True)
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Programs that are found and never started."""
    says = {"mpiexec": "mpiexec (Open MPI) 5.0.8"}  # a library that lets more ranks start than there are cores here
    for name in ("octant-node-stream", "octant-bind", "mpiexec"):
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\necho '{says.get(name, 'never started')}'\n")
        program.chmod(0o755)
    monkeypatch.setenv("OCTANT_KERNELS", str(tmp_path))
    monkeypatch.setenv("OCTANT_MPIEXEC", str(tmp_path / "mpiexec"))
    return tmp_path


def resolved(question: Request, timeout_s: float | None = None) -> Planned:
    return plan.resolve(Launch(question), RECORDS, functools.partial(plan.placed, machine=MACHINE), OWN, timeout_s)


def test_one_rank_is_the_kernel_itself(kernels: Path) -> None:
    made = resolved(dataclasses.replace(request(bytes="1MiB,2MiB"), mpi={"MPIR_CVAR_X": "1"}))
    key = made.launch.key
    program = str(kernels / "octant-node-stream")
    order = str(seed_within(0, "launch 0"))
    assert made.words == (program, "--output", str(RECORDS), "--run", key, "--seed", order, "bytes=1MiB,2MiB")
    assert (made.launcher, made.places) == ("direct", ())
    assert made.environment == {
        "OMP_DYNAMIC": "false", "MPIR_CVAR_X": "1", "OCTANT_MPI_SETTINGS": "MPIR_CVAR_X",
    }  # fmt: skip
    assert made.timeout_s > 10 * made.expected_s > 0
    assert resolved(request(), 7.0).timeout_s == 7.0


def test_a_repetition_that_lasts_has_the_time_it_takes() -> None:
    """A drift over minutes is no hang."""

    def launch(**knobs: str) -> Launch:
        return Launch(Request(Subject("mpi/clock"), {"pattern": "drift", "seconds": "1", **knobs}))

    short, lasting = launch(), launch(duration="2min,4min")
    assert plan.expected_seconds(lasting) - 2 * plan.expected_seconds(short) == pytest.approx(360, abs=1)
    assert plan.timeout_seconds(lasting) > 360
    assert plan.timeout_seconds(short) > 20, "longer than the default duration"


def test_threads_beyond_the_hardware_threads_yield_and_the_record_reads_it_back(
    kernels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _pid: {0, 1})
    (kernels / "octant-mpi-threads").write_bytes((kernels / "octant-bind").read_bytes())
    (kernels / "octant-mpi-threads").chmod(0o755)
    crowd = Request(Subject("mpi/threads"), {"threads": "1,2"}, Shape(2))
    planned = resolved(crowd).environment
    assert (planned[openmpi.YIELD], planned["OCTANT_MPI_SETTINGS"]) == ("1", openmpi.YIELD)
    own = resolved(dataclasses.replace(crowd, mpi={openmpi.YIELD: "0"})).environment
    assert own[openmpi.YIELD] == "0"
    assert openmpi.YIELD not in resolved(dataclasses.replace(crowd, knobs={"threads": "1"})).environment


def test_a_placed_launch_says_its_masks(kernels: Path) -> None:
    made = resolved(dataclasses.replace(request(ranks=2, threads="2"), shape=Shape(2, "2x2,memory=local")))
    assert made.launcher == "mpiexec"
    assert [[sorted(mask) for mask in place.threads] for place in made.places] == [[[0], [1]], [[2], [3]]]
    assert [place.memory for place in made.places] == [(0,), (0,)]
    bind = made.words.index(str(kernels / "octant-bind"))
    assert made.words.index(str(kernels / "octant-node-stream")) > bind


def test_a_users_command_line_is_started_as_a_kernel_is() -> None:
    question = Request(
        Subject(command=("./solve", "-n", "{n}", "{ranks}", "{other}")), {"n": "8"}, Shape(1, "1x1,cpus=3")
    )
    made = resolved(question)
    assert made.words[-5:] == ("./solve", "-n", "8", "1", "{other}")
    assert made.words[-6] == "--"
    assert "octant-bind" in made.words[0]
    assert made.environment == {}
    assert resolved(dataclasses.replace(question, knobs={"threads": "2"})).environment == {"OMP_NUM_THREADS": "2"}


@pytest.mark.parametrize(
    ("place", "code"), [("9x9", Exit.NOT_SUPPORTED), ("1x1,unit=nothing", Exit.WRONG_WORD), ("x", Exit.WRONG_WORD)]
)
def test_a_placement_that_cannot_be_had_is_refused_alike_everywhere(place: str, code: int) -> None:
    with pytest.raises(Refusal) as refused:
        resolved(dataclasses.replace(request(), shape=Shape(1, place)))
    assert refused.value.code == code


def test_what_does_not_fit_into_memory_is_refused_before_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"groups": "all", "threads": "1", "bytes": "1MiB"}
    monkeypatch.setattr(cell_costs, "default_knobs", lambda _name: known)
    stream = workloads.workload("node/stream")
    monkeypatch.setattr(
        "octant.workloads.workloads",
        lambda: {stream.name: dataclasses.replace(stream, step=lambda *_: Step({}, 2**40))},
    )
    with pytest.raises(
        Refusal,
        match=rf"\(1 rank would need {2**40:,} B \(1 TiB\), and {2**35:,} B \(32 GiB\) are available\)",
    ):
        plan.check_startable(request(), MACHINE)


def test_a_placement_is_worked_out_once_for_all_launches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    work_out = plan.placed

    def counted(text: str, machine: Machine) -> plan.Placed:
        calls.append(text)
        return work_out(text, machine)

    monkeypatch.setattr(plan, "placed", counted)
    run = Store(tmp_path / "store").create("q", MACHINE, [dataclasses.replace(request(5), shape=Shape(1, "1x1"))])
    planner = plan.planner_of(run)
    orders = {planner(launch).words[planner(launch).words.index("--seed") + 1] for launch in run.launches}
    assert len(orders) == 5, "each launch measures its points in another order"
    assert {planner(launch).places for launch in run.launches} == {planner(run.launches[0]).places}
    assert calls == ["1x1"]


def test_launches_of_a_program_are_planned_for_each_cell(tmp_path: Path) -> None:
    subject = Subject(command=("./app", "{n}"), keep=("out-{n}",), before=(("make", "n={n}"),))
    run = Store(tmp_path / "store").create("q", MACHINE, [Request(subject, {"n": "1,2"}, repeats=2)])
    planner = plan.planner_of(run)
    launches = [start for launch in run.launches for start in list_starts([launch])]
    planned = [planner(launch) for launch in launches]
    assert [one.launch for one in planned] == launches
    assert [(one.words[-1], one.program.keep, one.program.before) for one in planned if one.program] == [
        (n, (f"out-{n}",), (("make", f"n={n}"),)) for n in ("1", "2", "1", "2")
    ]
    assert {one.program.report for one in planned if one.program} == {str(run.folder / "records.jsonl.guard")}
    assert all("--report" in one.words and one.timeout_s > 1e6 for one in planned), "nothing limits a first launch"
    limited = plan.planner_of(run, 7.0)(launches[0])
    assert (limited.timeout_s, limited.program and limited.program.commands_timeout_s) == (7.0, 7.0)
    assert planned[0].program
    assert planned[0].program.commands_timeout_s == 600.0


def stored(tmp_path: Path, question: Request) -> tuple[Launch, ...]:
    return Store(tmp_path / "store").create("q", MACHINE, [question]).launches


@pytest.mark.parametrize(
    "name",
    [
        "LD_PRELOAD",
        "PATH",
        "OMPI_MCA_plm_rsh_agent",
        "OMPI_MCA_mca_base_component_path",
        "UCX_MODULE_DIR",
        "FI_PROVIDER_PATH",
        "eager-limit",
    ],
)
def test_a_store_cannot_set_what_our_table_of_settings_does_not_have(tmp_path: Path, name: str) -> None:
    question = dataclasses.replace(request(), mpi={name: "evil.so"})
    with pytest.raises(Refusal, match=f"cannot set '{name}'"):
        plan.check_stored(stored(tmp_path, question))


@pytest.mark.parametrize(
    "name", ["OMPI_MCA_btl_sm_eager_limit", "I_MPI_FABRICS", "UCX_RNDV_THRESH", "MPIR_CVAR_BCAST_INTRA_ALGORITHM"]
)
def test_settings_of_our_table_are_set_again_on_resuming(tmp_path: Path, name: str) -> None:
    plan.check_stored(stored(tmp_path, dataclasses.replace(request(), mpi={name: "1"})))


FOREIGN = {
    "host": (dataclasses.replace(request(), shape=Shape(2, hosts=("their-host",))), "their-host"),
    "library": (request(library="none,/opt/libblas.so"), "/opt/libblas.so"),
    "setting": (dataclasses.replace(request(), mpi={"UCX_NET_DEVICES": "/srv/x"}), "/srv/x"),
    "map": (dataclasses.replace(request(), shape=Shape(2, "2x1, torus=1x2, map=places")), "places"),
}


@pytest.mark.parametrize("what", FOREIGN)
def test_what_a_store_names_is_used_only_if_it_is_allowed(tmp_path: Path, what: str) -> None:
    question, word = FOREIGN[what]
    launches = stored(tmp_path, question)
    with pytest.raises(Refusal, match=f"add --allow {word}"):
        plan.check_stored(launches)
    with pytest.raises(Refusal, match=f"cannot use {word} "):
        plan.check_stored(launches, ["another"])
    plan.check_stored(launches, [word])


def test_a_command_line_in_a_store_is_never_started(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="cannot resume 'rm -rf /'"):
        plan.check_stored(stored(tmp_path, Request(Subject(command=("rm", "-rf", "/")))))
