"""Two sides measured alternately: rounds in random order, continued rounds, and what cannot be repeated."""

import dataclasses
import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from fake_kernel import Kernel, planned, request
from fake_run import machine
from octant.failure import Exit, Refusal
from octant.launch.execute import ProcessOutcome
from octant.record import Failure
from octant.request import Request, Subject
from octant.runs.interleaved import Interleaved, RoundEnd, create_runs, measure_rounds
from octant.runs.plan import planner_of
from octant.runs.session import execute_run, run_all
from octant.store import Store, StoredRun

REQUESTS = (request(bytes="1MiB,2MiB"), request(bytes="4MiB", kernel="copy"))
COUPLES = tuple((one, one) for one in REQUESTS)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """With a program that replaces the kernel."""
    kernels = tmp_path / "kernels"
    kernels.mkdir()
    program = kernels / "octant-node-stream"
    program.write_text("the first build")
    program.chmod(0o755)
    monkeypatch.setenv("OCTANT_KERNELS", str(kernels))
    return Store(tmp_path / "store")


def stored(store: Store, *requests: Request) -> StoredRun:
    """Create a run with one launch."""
    run = store.create("evaluate --quick", machine(), requests or REQUESTS, benchmark="evaluate")
    return execute_run(store, run, run_all(run.launches), planner_of(run), start=Kernel())


def go_on(
    store: Store,
    sides: Interleaved,
    rounds: int,
    kernel: Kernel | None = None,
    is_enough: Callable[[RoundEnd], bool] = lambda _end: False,
) -> Interleaved:
    plans = [functools.partial(planned, records=run.records) for run in (sides.before, sides.after)]
    return measure_rounds(store, sides, (plans[0], plans[1]), rounds, is_enough, start=kernel or Kernel())


def begun(store: Store, rounds: int = 6) -> Interleaved:
    return create_runs(store, stored(store), stored(store), COUPLES, machine(), rounds, "once")


def test_each_round_starts_every_launch_of_both_sides_once_and_partners_one_after_the_other(store: Store) -> None:
    kernel, sides = Kernel(), begun(store, 16)
    done = go_on(store, sides, 16, kernel)
    starts = [(words[words.index("--output") + 1], words[words.index("--run") + 1]) for words in kernel.starts]
    assert len(starts) == len(set(starts)) == 2 * 2 * 16
    for first, second in zip(starts[::2], starts[1::2], strict=True):
        assert (first[0] != second[0], first[1]) == (True, second[1]), "A and B of the same round and ask"
    for order in ([folder for folder, _ in starts[::2]], [key.rpartition("-")[0] for _, key in starts[::4]]):
        assert len(set(order)) == 2, "which side, and which request, comes first is drawn"
    repeats = [launch.rpartition("-")[2] for _, launch in starts]
    assert repeats == [str(number) for number in range(16) for _ in range(4)]
    assert (done.rounds, len(done.before.points), len(done.after.points)) == (16, 48, 48)


def test_a_round_is_complete_with_every_cell_of_its_launches(store: Store) -> None:
    done = go_on(store, begun(store), 2)
    whole, torn = done.before.points, next(p for p in done.before.points if p.launch.endswith("-1"))
    for part, rounds in ((whole, 2), (tuple(p for p in whole if p is not torn), 1)):
        assert Interleaved(dataclasses.replace(done.before, points=part), done.after).rounds == rounds
    failure = Failure(torn.workload, torn.launch, torn.knobs, 1, "killed", 1)
    part = tuple(p for p in whole if p is not torn)
    failed = dataclasses.replace(done.before, points=part, failures=(failure,))
    assert Interleaved(failed, done.after).rounds == 2


def test_the_two_runs_name_each_other_and_what_they_repeat(store: Store) -> None:
    before, after = stored(store), stored(store)
    made = create_runs(store, before, after, COUPLES, machine(), 6, "rising")
    sides = Interleaved(store.read(made.before.id), store.read(made.after.id))
    assert sides.before.id < sides.after.id
    for run, other, of in ((sides.before, sides.after, before), (sides.after, sides.before, after)):
        assert run.pair is not None
        assert (run.pair.partner, run.pair.of, run.pair.rounds, run.pair.looks) == (other.id, of.id, 6, "rising")
    assert [run.title for run in (sides.before, sides.after)] == [
        "A again: evaluate --quick",
        "B again: evaluate --quick",
    ]
    assert {run.benchmark for run in (sides.before, sides.after)} == {"evaluate"}
    assert sides.couples == tuple(
        (dataclasses.replace(a, repeats=6), dataclasses.replace(b, repeats=6)) for a, b in COUPLES
    )


def test_a_stop_keeps_both_runs_and_going_on_measures_what_is_missing(store: Store) -> None:
    sides, kernel = begun(store), Kernel()

    def stop(*arguments: object) -> ProcessOutcome:
        if len(kernel.starts) == 9:
            raise KeyboardInterrupt
        return kernel(*arguments)  # type: ignore[arg-type]

    plans = [functools.partial(planned, records=run.records) for run in (sides.before, sides.after)]
    with pytest.raises(KeyboardInterrupt):
        measure_rounds(store, sides, (plans[0], plans[1]), 6, start=stop)
    kept = Interleaved(store.read(sides.before.id), store.read(sides.after.id))
    assert (kept.rounds, len(kept.before.points) + len(kept.after.points) >= 12) == (2, True)
    rest = Kernel()
    done = go_on(store, kept, 6, rest)
    assert (done.rounds, len(kernel.starts) + len(rest.starts)) == (6, 24)
    assert not go_on(store, done, 6, none := Kernel()).before.failures
    assert none.starts == []


def test_who_decides_is_asked_after_each_new_round_but_the_last(store: Store) -> None:
    asked: list[tuple[int, int]] = []

    def is_enough(end: RoundEnd) -> bool:
        asked.append((end.number, len(end.read().after.points) // 3))
        assert sorted(side for side, _ in end.batches) == [0, 0, 1, 1]
        assert {batch.launch.repeat for _, batch in end.batches} == {end.number - 1}
        return end.number == 5

    sides = go_on(store, begun(store), 3, is_enough=is_enough)
    assert asked == [(1, 1), (2, 2)]
    asked.clear()
    done = go_on(store, sides, 8, is_enough=is_enough)
    assert asked == [(4, 4), (5, 5)]
    assert done.rounds == 5


def test_a_launch_that_fails_is_kept_and_the_rounds_go_on(store: Store) -> None:
    done = go_on(store, begun(store), 6, Kernel({0: ProcessOutcome(1, False, 0.1, "no")}))
    assert len(done.before.failures) + len(done.after.failures) == 1
    assert (done.rounds, len(done.before.points) + len(done.after.points) >= 33) == (6, True)
    later = Kernel()
    go_on(store, done, 8, later)
    assert {words[words.index("--run") + 1].rpartition("-")[2] for words in later.starts} == {"6", "7"}, (
        "its partner ran in another hour"
    )


def refused(store: Store, before: StoredRun, couple: tuple[Request, Request] = COUPLES[0]) -> str:
    """Why the side A cannot be measured again; no run is made of it."""
    number = len(store.ids())
    with pytest.raises(Refusal) as refusal:
        create_runs(store, before, before, (couple,), machine(), 6, "once")
    assert refusal.value.code == Exit.CANNOT_RUN, "3 is the gate's"
    assert len(store.ids()) == number
    return str(refusal.value)


def test_another_build_or_machine_or_surrounding_is_not_measured_in_its_place(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = stored(store)
    assert f"cannot measure A again ({run.id}: it was measured on another machine, fake); " in refused(
        store, dataclasses.replace(run, machine=machine(cores=4))
    )
    always = dataclasses.replace(machine(), system={**machine().system, "thp": "always"})
    assert "thp was always and is madvise" in refused(store, dataclasses.replace(run, machine=always))
    with monkeypatch.context() as other:
        other.setenv("UCX_TLS", "tcp")
        assert "UCX_TLS was not set and is tcp" in refused(store, run)
    (tmp_path / "kernels" / "octant-node-stream").write_text("the second build")
    assert "the build of node/stream was " in refused(store, run)
    plans = {key: dataclasses.replace(one, build="") for key, one in run.plans.items()}
    assert "it does not state the build of node/stream" in refused(store, dataclasses.replace(run, plans=plans))
    (tmp_path / "kernels" / "octant-node-stream").unlink()
    assert "cannot find the program octant-node-stream" in refused(store, run)


def test_what_a_store_says_is_started_only_if_it_is_ours(store: Store) -> None:
    run = stored(store)
    with pytest.raises(Refusal, match="do not contain the requests"):
        create_runs(store, run, run, (), machine(), 6, "once")
    command = Request(Subject(command=("./evil",)))
    assert "command lines in a store are never executed" in refused(store, run, (command, command))
    preload = dataclasses.replace(REQUESTS[0], mpi={"LD_PRELOAD": "evil.so"})
    assert "cannot set 'LD_PRELOAD'" in refused(store, run, (preload, preload))
    away = dataclasses.replace(REQUESTS[0], shape=dataclasses.replace(REQUESTS[0].shape, place="64x1"))
    assert "cannot measure A again" in refused(store, run, (away, away))


def test_what_hangs_twice_on_a_side_is_not_tried_in_the_other_rounds(store: Store) -> None:
    kernel = Kernel()

    def start(words: Sequence[str], *further: Any) -> ProcessOutcome:
        if "kernel=copy" in words and str(sides.after.records) in words:
            kernel.starts.append(list(words))
            return ProcessOutcome(-15, True, 7.0, "")
        return kernel(words, *further)

    sides = begun(store)
    plans = [functools.partial(planned, records=run.records) for run in (sides.before, sides.after)]
    done = measure_rounds(store, sides, (plans[0], plans[1]), 6, start=start)
    assert (len(done.after.failures), len(kernel.starts)) == (2, 6 * 3 + 2)
