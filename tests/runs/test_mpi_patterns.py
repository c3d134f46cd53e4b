"""Names of patterns become asks: sizes, process counts and groups as IMB has them."""

import pytest

from octant import workloads
from octant.ask import Ask
from octant.catalogue.mpi_patterns import find, pattern_of, patterns
from octant.failure import Exit, Refusal
from octant.runs import mpi_patterns


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mpi_patterns, "describe", lambda *_: None)
    monkeypatch.setattr(mpi_patterns, "read_knobs", lambda _, words: dict(word.split("=") for word in words))


def only(asks: tuple[Ask, ...]) -> Ask:
    (one,) = asks
    return one


def test_a_name_is_that_of_imb_or_osu_in_capitals_or_not() -> None:
    assert {find(name).name for name in ("PingPong", "pingpong", "osu_latency", "LATENCY")} == {"PingPong"}
    with pytest.raises(Refusal, match="did you mean PingPong") as refused:
        find("PingPing0Pong")
    assert refused.value.code == Exit.WRONG_WORD


def test_every_row_asks_a_workload_that_is_there_and_is_found_again() -> None:
    names = [one.name.lower() for one in patterns()]
    assert len(set(names)) == len(names)
    for one in patterns():
        assert workloads.workload(one.workload).family == "mpi", one.name
        found = pattern_of(one.workload, {**one.knobs, "bytes": "8"})
        assert found is not None
        assert found.name == one.name
        assert one.factor == 0 or one.sizes, f"{one.name}: a rate without a length"
        if one.sizes:
            assert mpi_patterns.lengths(one.sizes)


def test_lengths_are_zero_then_powers_of_two_or_a_list() -> None:
    assert mpi_patterns.lengths("0:16") == [0, 1, 2, 4, 8, 16]
    assert mpi_patterns.lengths("8,1KiB") == [8, 1024]
    assert len(mpi_patterns.lengths("0:4MiB")) == 24
    with pytest.raises(Refusal, match="as sizes"):
        mpi_patterns.lengths("many")


@pytest.mark.parametrize(
    ("ranks", "counts"), [(2, [2]), (3, [2, 3]), (4, [2, 4]), (5, [2, 4, 5]), (8, [2, 4, 8]), (1, [1])]
)
def test_process_counts_double_up_to_all(ranks: int, counts: list[int]) -> None:
    assert mpi_patterns.process_counts(ranks) == counts


@pytest.mark.usefixtures("asked")
def test_a_pair_runs_once_and_in_multi_mode_as_often_as_it_fits() -> None:
    assert only(mpi_patterns.asks(["pingpong"], 8)).knobs["groups"] == "first:2"
    assert only(mpi_patterns.asks(["pingpong"], 8, multi=True)).knobs["groups"] == "2"
    assert len(only(mpi_patterns.asks(["PingPong", "osu_latency"], 2)).cells()) == 24


@pytest.mark.usefixtures("asked")
def test_sizes_repeats_and_knobs_are_the_users() -> None:
    one = only(mpi_patterns.asks(["pingpong"], 2, "8,64", repeats=2, words=["buffers=rotating", "seconds=0.5"]))
    assert (one.knobs["bytes"], one.knobs["buffers"], one.knobs["seconds"], one.repeats) == (
        "8,64",
        "rotating",
        "0.5",
        2,
    )
    with pytest.raises(Refusal, match="the pattern PingPong sets it"):
        mpi_patterns.asks(["pingpong"], 2, words=["pattern=exchange"])


def test_one_rank_is_refused_with_a_reason() -> None:
    with pytest.raises(Refusal, match="needs two ranks") as refused:
        mpi_patterns.asks([], 1)
    assert refused.value.code == Exit.NOT_SUPPORTED
