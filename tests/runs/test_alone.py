"""Patterns that run alone: one that hangs or crashes costs one time limit and no other pattern, and is named."""

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fake_kernel import Kernel, planned, request
from fake_run import machine
from octant import workloads
from octant.failure import Exit
from octant.launch.execute import ProcessOutcome
from octant.mpi import faults
from octant.mpi.neutral import Library
from octant.record import Failure
from octant.request import Launch, Request, Shape, Subject
from octant.runs import plan
from octant.runs.session import execute_run, run_all
from octant.store import Store, StoredRun

HUNG, CRASHED = ProcessOutcome(-15, True, 15.0, ""), ProcessOutcome(139, False, 0.2, "")
OPENMPI = Library("openmpi", "5.0.11")


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workloads, "alone_knobs", lambda _name: ("pattern",))
    monkeypatch.setattr(faults, "in_use", lambda: OPENMPI)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def test_every_workload_of_messages_starts_what_it_compares_alone() -> None:
    """What hangs in one library is to lose nothing else."""
    assert [name for name, one in workloads.workloads().items() if name.startswith("mpi/") and not one.alone] == []


def go_on(store: Store, run: StoredRun, kernel: Kernel) -> StoredRun:
    plan_of = functools.partial(planned, records=run.records)
    return execute_run(store, run, run_all(run.launches), plan_of, start=kernel)


def test_a_pattern_that_hangs_is_started_once_and_the_others_are_measured(store: Store) -> None:
    kernel = Kernel({1: HUNG})
    question = request(3, ranks=5, pattern="a,b,c", bytes="8,16")
    run = go_on(store, store.create("q", machine(), [question]), kernel)
    assert len(kernel.starts) == 3 + 2 + 2, "the two later launches leave the one out that hung"
    assert {point.knobs["pattern"] for point in run.points} == {"a", "c"}
    assert len(run.points) == 3 * 2 * 2
    said = "hangs on this system (Open MPI 5.0.11, 5 ranks: timed out after 15 s) and is not repeated"
    assert {failure.reason for failure in run.failures} == {f"{said}; if it is only slow, use a longer --timeout"}
    assert {failure.exit for failure in run.failures} == {Exit.NOT_SUPPORTED}
    assert run.complete, "resuming does not pay the time limit again"


def test_a_pattern_that_is_slow_and_still_answers_is_no_hang(store: Store) -> None:
    class Slow(Kernel):
        """Answers one cell in each start; from the fourth on, none."""

        def __call__(self, words: Sequence[str], *further: Any) -> ProcessOutcome:
            first = [word.split(",")[0] for word in words]
            outcome = super().__call__(first if len(self.starts) < 3 else words, *further)
            return HUNG if len(self.starts) <= 4 else outcome

    run = store.create("q", machine(), [request(1, ranks=2, pattern="a", bytes="1,2,4,8,16")])
    kernel = Slow({3: HUNG})
    run = go_on(store, run, kernel)
    assert [point.knobs["bytes"] for point in run.points] == ["1", "2", "4"]
    (failure,) = run.failures
    assert (failure.knobs["bytes"], "hangs on this system" in failure.reason) == ("8,16", True)


def test_a_resumed_run_knows_what_hung_before(store: Store) -> None:
    question = request(2, ranks=2, pattern="a,b")
    run = store.create("q", machine(), [question])

    def stopped(*given: object) -> ProcessOutcome:
        if len(kernel.starts) == 2:
            raise KeyboardInterrupt
        return kernel(*given)  # type: ignore[arg-type]

    kernel = Kernel({0: HUNG})
    with pytest.raises(KeyboardInterrupt):
        execute_run(store, run, run_all(run.launches), functools.partial(planned, records=run.records), start=stopped)
    again = Kernel()
    run = go_on(store, store.read(run.id), again)
    assert [words[-1] for words in again.starts] == ["pattern=b"]
    assert run.complete


ABORTED, ILLEGAL = (f"YOUR APPLICATION TERMINATED WITH THE EXIT STRING: X (signal {number})\n" for number in (6, 4))


@pytest.mark.parametrize(
    ("code", "said", "signal"),
    [
        (-11, "", "SIGSEGV"),
        (11, "", "SIGSEGV"),
        (139, "", "SIGSEGV"),
        (134, "", "SIGABRT"),
        (6, ABORTED, "SIGABRT"),
        (4, ILLEGAL, "SIGILL"),
        (1, "prterun: rank 1 with PID 7 on node n exited on signal 11 (Segmentation fault).\n", "SIGSEGV"),
    ],
)
def test_a_crash_is_reported_for_every_exit_code_of_the_launcher(
    store: Store, code: int, said: str, signal: str
) -> None:
    run = store.create("q", machine(), [request(2, ranks=2, pattern="a,b")])
    run = go_on(store, run, Kernel({0: ProcessOutcome(code, False, 0.2, said)}))
    assert {failure.reason for failure in run.failures} == {
        f"crashes on this system (Open MPI 5.0.11, 2 ranks: {signal}) and is not repeated"
    }
    assert {point.knobs["pattern"] for point in run.points} == {"b"}


def test_a_library_that_crashes_is_a_result_and_the_others_are_measured(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workloads, "alone_knobs", lambda _name: ())
    monkeypatch.setattr(workloads, "apart_knobs", lambda _name: ("library", "isa"))
    run = store.create("q", machine(), [request(2, library="a,b,c", n="16,32")])
    kernel = Kernel({1: ProcessOutcome(-11, False, 0.2, "")})
    run = go_on(store, run, kernel)
    assert [words[-1] for words in kernel.starts[:3]] == ["n=16,32"] * 3
    assert len(kernel.starts) == 3 + 2, "one process each, and not again what crashed"
    assert {failure.reason for failure in run.failures} == {
        "the library crashed (library=b: SIGSEGV) and is not started again; try another library"
    }
    assert {point.knobs["library"] for point in run.points} == {"a", "c"}
    assert run.complete


def test_code_of_ours_that_crashes_is_no_librarys_result_and_is_started_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workloads, "alone_knobs", lambda _name: ())
    monkeypatch.setattr(workloads, "apart_knobs", lambda _name: ("library", "isa"))
    monkeypatch.setattr(workloads, "is_ours", lambda _name, values: "plain" in values)
    run = store.create("q", machine(), [request(1, library="plain,b")])
    run = go_on(store, run, Kernel({0: ProcessOutcome(-11, False, 0.2, "")}))
    assert [failure.exit for failure in run.failures] == [Exit.CANNOT_RUN]
    assert [launch.started_knobs["library"] for launch in run.remaining()] == ["plain"]


def test_ours_are_values_that_a_workload_names() -> None:
    assert workloads.is_ours("node/gemm", ["plain", "auto"])
    assert not workloads.is_ours("node/gemm", ["openblas"])
    assert not workloads.is_ours("node/absent", ["plain"])


@pytest.mark.parametrize("code", [137, -9, *(code for code in Exit if code)])
def test_what_ends_from_outside_is_no_crash_and_is_tried_again(store: Store, code: int) -> None:
    run = store.create("q", machine(), [request(1, ranks=2, pattern="a,b")])
    run = go_on(store, run, Kernel({0: ProcessOutcome(code, False, 0.2, "")}))
    assert [failure.exit for failure in run.failures] == [Exit.CANNOT_RUN]
    assert [launch.started_knobs["pattern"] for launch in run.remaining()] == ["a"]


def test_a_cell_that_a_kernel_refuses_is_not_asked_for_again(store: Store) -> None:
    run = store.create("q", machine(), [request(3, ranks=2, pattern="a", bytes="8,16")])

    class Refusing(Kernel):
        def __call__(self, words: object, *further: object) -> ProcessOutcome:
            outcome = super().__call__(words, *further)  # type: ignore[arg-type]
            if len(self.starts) == 1:
                knobs = {"pattern": "a", "bytes": "16", "pin": "each"}
                store.append(run, Failure("node/stream", run.launches[0].key, knobs, 2, "cannot (no call)", 3))
            return outcome

    kernel = Refusing()
    done = go_on(store, run, kernel)
    assert [words[-1] for words in kernel.starts] == ["bytes=8,16", "bytes=8", "bytes=8"]
    assert done.complete


def test_a_value_that_a_kernel_cannot_read_is_not_started_again(store: Store) -> None:
    """A length that its code does not transform: six launches would fail alike."""
    run = store.create("q", machine(), [request(3, ranks=2, pattern="a", bytes="7")])

    class Refusing(Kernel):
        def __call__(self, words: Sequence[str], *_further: object) -> ProcessOutcome:
            self.starts.append(list(words))
            knobs = {"pattern": "a", "bytes": "7", "pin": "each"}
            store.append(run, Failure("node/stream", run.launches[0].key, knobs, 2, "cannot transform bytes=7", 2))
            return ProcessOutcome(2, False, 0.1, "")

    kernel = Refusing()
    done = go_on(store, run, kernel)
    assert len(kernel.starts) == 1
    assert [failure.exit for failure in done.failures] == [2, 2, 2]


def test_the_time_limit_is_a_few_times_what_is_expected() -> None:
    launch = Launch(request(ranks=2, pattern="a", bytes="8,16", seconds="0.1"))
    assert plan.timeout_seconds(launch) == plan.ALONE_LEAST_S
    many = Launch(request(ranks=2, pattern="a", bytes=",".join(str(2**i) for i in range(24)), seconds="1"))
    assert 2 < plan.timeout_seconds(many) / plan.expected_seconds(many) < 4
    crowd = Launch(request(ranks=8, pattern="a", bytes="8", seconds="9"))
    assert plan.timeout_seconds(crowd, 2) > 3 * plan.timeout_seconds(crowd, 8)
    large = Launch(request(ranks=2, pattern="a", bytes="2GiB"))
    assert plan.timeout_seconds(large) > 40, "two gibibytes take ten seconds in some libraries"


def test_a_known_fault_is_named_with_what_helps(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(faults, "in_use", lambda: Library("openmpi", "4.1.4"))
    monkeypatch.setattr(faults, "default_knobs", lambda _name: {"win": "create"})
    question = Request(Subject("mpi/onesided"), {"pattern": "compare-and-swap", "win": "allocate"}, Shape(2))
    run = go_on(store, store.create("q", machine(), [question]), Kernel({0: CRASHED}))
    (failure,) = run.failures
    assert "crashes on this system (Open MPI 4.1.4, 2 ranks: SIGSEGV)" in failure.reason
    assert "; a known bug of Open MPI 4.1 to before 5.0: MPI_Compare_and_swap in" in failure.reason
    assert failure.reason.endswith("; try OMPI_MCA_osc=^rdma")


def test_only_safe_leaves_out_just_the_cells_that_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(faults, "default_knobs", lambda _name: {"win": "create"})
    knobs = {"pattern": "put,compare-and-swap", "win": "allocate,create"}
    question = Request(Subject("mpi/onesided"), knobs, Shape(2))
    kept, said = faults.safe_requests([question], Library("openmpi", "4.1.4"))
    cells = [tuple(cell.values()) for one in kept for cell in one.cells()]
    assert sorted(cells) == [("compare-and-swap", "create"), ("put", "allocate"), ("put", "create")]
    assert len(said) == 1
    assert "OMPI_MCA_osc=^rdma" in said[0]
    assert faults.safe_requests([question], OPENMPI) == ((question,), ())
