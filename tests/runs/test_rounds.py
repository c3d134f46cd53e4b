"""Rounds: every launch once, spread over the run, in orders that only the seed draws."""

import dataclasses
import functools
import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_kernel import Kernel, planned, request
from fake_run import machine
from octant.runs import rounds
from octant.runs.session import LaunchStart, execute_run, run_all
from octant.store import Store, StoredRun

REPEATS = st.lists(st.integers(1, 12), min_size=1, max_size=12)
REQUESTS = (
    request(6, bytes="1KiB,2KiB"),
    request(3, bytes="4KiB"),
    request(6, bytes="8KiB"),
    request(3, bytes="16KiB"),
)


@pytest.mark.parametrize(
    ("knobs", "launches"),
    [
        ({}, 6),
        ({"kernel": "copy,scale,add,triad", "store": "plain,streaming"}, 6),
        ({"kernel": "copy", "bytes": "1,2,4,8,16"}, 3),
    ],
)
def test_a_knob_with_many_values_is_a_curve(knobs: dict[str, str], launches: int) -> None:
    assert rounds.usual_launches(knobs) == launches


@given(REPEATS, st.integers(0, 2**31))
def test_every_launch_starts_once_in_a_round_of_its_own(repeats: list[int], seed: int) -> None:
    order = rounds.drawn_order(repeats, seed)
    assert sorted(order) == [(number, i) for number, times in enumerate(repeats) for i in range(times)]
    due = rounds.due_rounds(repeats)
    numbers = [due[number][i] for number, i in order]
    assert numbers == sorted(numbers), "round by round"
    assert len(set(zip(numbers, (number for number, _ in order), strict=True))) == len(order), "once in a round"
    for number in range(len(repeats)):
        assert [i for one, i in order if one == number] == list(range(repeats[number])), "in their own order"


@given(REPEATS)
def test_launches_of_an_ask_lie_evenly_over_the_whole_run(repeats: list[int]) -> None:
    last = max(repeats)
    for times, due in zip(repeats, rounds.due_rounds(repeats), strict=True):
        most = -(-last // times)
        gaps = [after - before for before, after in itertools.pairwise([-1, *due, last])]
        assert max(gaps) <= most
        assert min(gaps) >= 1


def test_rounds_are_about_equally_long() -> None:
    due = rounds.due_rounds([6, 3, 3, 3, 3, 2, 2, 2])
    assert [sum(number in one for one in due) for number in range(6)] == [4, 4, 4, 4, 4, 4]


def test_the_order_follows_from_the_seed_and_no_two_rounds_are_alike() -> None:
    order = rounds.drawn_order([6] * 20, 1)
    assert order == rounds.drawn_order([6] * 20, 1)
    assert order != rounds.drawn_order([6] * 20, 2)
    blocks = {tuple(number for number, _ in order[20 * i : 20 * i + 20]) for i in range(6)}
    assert len(blocks) == 6
    assert rounds.drawn_order([], 1) == ()


def test_points_of_each_launch_have_an_order_of_their_own() -> None:
    keys = [launch.key for launch in request(6, bytes="1KiB,2KiB").launches()]
    seeds = [rounds.seed_within(seed, key) for seed in (1, 2) for key in keys]
    assert len(set(seeds)) == len(seeds)
    assert seeds[:6] == [rounds.seed_within(1, key) for key in keys]


def begun(store: Store, seed: int = 5) -> StoredRun:
    order = rounds.drawn_order([one.repeats for one in REQUESTS], seed)
    return store.create("q", machine(), REQUESTS, order, seed=seed)


def go_on(store: Store, run: StoredRun, stop_after: int | None = None) -> list[str]:
    """Return the started launches, with an interrupt after `stop` of them."""
    started: list[str] = []

    def observe(step: LaunchStart, _elapsed_s: float) -> None:
        if stop_after == len(started):
            raise KeyboardInterrupt
        started.append(step.planned.launch.key)

    try:
        plan = functools.partial(planned, records=run.records)
        execute_run(store, run, run_all(run.launches), plan, observe, Kernel())
    except KeyboardInterrupt:
        assert stop_after is not None
    return started


@pytest.mark.parametrize("stop_after", [0, 1, 7, 17])
def test_resuming_goes_on_in_the_same_order(tmp_path_factory: pytest.TempPathFactory, stop_after: int) -> None:
    whole = Store(tmp_path_factory.mktemp("whole"))
    expected = go_on(whole, begun(whole))
    stopped = Store(tmp_path_factory.mktemp("stopped"))
    run = begun(stopped)
    first = go_on(stopped, run, stop_after)
    assert first == expected[:stop_after]
    found = stopped.read(run.id)
    assert found.seed == 5
    assert go_on(stopped, found) == expected[stop_after:]
    assert stopped.read(run.id).complete


def test_a_stored_run_knows_its_rounds(tmp_path: Path) -> None:
    run = begun(Store(tmp_path))
    found = rounds.rounds_of(run)
    assert len(found) == 18
    assert {number for key, number in found.items() if key.startswith(REQUESTS[0].key)} == set(range(6))
    in_file_order = dataclasses.replace(run, order=tuple(sorted(run.order)))
    assert rounds.rounds_of(in_file_order) == {}, "a run of before there were rounds"
