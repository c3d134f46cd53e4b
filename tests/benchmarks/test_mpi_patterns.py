"""Names of patterns become asks: sizes, process counts and groups as IMB has them."""

import pytest

from octant import workloads
from octant.benchmarks.messages import requests as mpi_patterns
from octant.benchmarks.messages.patterns import find, pattern_of, patterns
from octant.failure import Exit, Refusal
from octant.request import Request


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mpi_patterns, "check_shape", lambda *_: None)
    monkeypatch.setattr(mpi_patterns, "read_knobs", lambda _, words: dict(word.split("=") for word in words))


def only(requests: tuple[Request, ...]) -> Request:
    (one,) = requests
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
        found = pattern_of(one.workload, {"bytes": "8", **one.knobs}, one.name)
        assert found is not None
        assert found.name == one.name
        assert one.factor == 0 or one.has_length, f"{one.name}: a rate without a length"
        assert not {*one.holds_with} & {*one.knobs}
        if one.sizes:
            assert mpi_patterns.lengths(one.sizes)


def test_names_of_one_cell_are_distinguished_by_the_requested_name() -> None:
    knobs = find("osu_bw").knobs
    found = {name: pattern_of("mpi/p2p", knobs, name) for name in ("osu_bw", "osu_mbw_mr", "anything", "")}
    assert {name: one.name for name, one in found.items() if one} == {
        "osu_bw": "Uniband", "osu_mbw_mr": "Multi_bandwidth", "anything": "Uniband", "": "Uniband",
    }  # fmt: skip
    assert pattern_of("mpi/p2p", knobs, "Ibcast_pure") == find("osu_bw"), "a name of another cell says nothing"
    assert (find("Ibcast").times, find("Ibcast_pure").times) == ("overlap", "range")


def test_a_suggestion_has_no_name_twice() -> None:
    with pytest.raises(Refusal) as refused:
        find("pingpon")
    words = str(refused.value).replace("?", "").split()
    assert [word for word in words if word.lower() == "pingpong"] == ["PingPong"]


def test_lengths_are_zero_then_powers_of_two_or_a_list() -> None:
    assert mpi_patterns.lengths("0:16") == [0, 1, 2, 4, 8, 16]
    assert mpi_patterns.lengths("8,1KiB") == [8, 1024]
    assert len(mpi_patterns.lengths("0:4MiB")) == 24
    with pytest.raises(Refusal, match="as sizes"):
        mpi_patterns.lengths("many")
    for text, why in (("0:", "'0:' as sizes .the last size is missing"), ("8:1", "the last size is below the first")):
        with pytest.raises(Refusal, match=why):
            mpi_patterns.lengths(text)


@pytest.mark.parametrize(
    ("ranks", "counts"), [(2, [2]), (3, [2, 3]), (4, [2, 4]), (5, [2, 4, 5]), (8, [2, 4, 8]), (1, [1])]
)
def test_process_counts_double_up_to_all(ranks: int, counts: list[int]) -> None:
    assert mpi_patterns.process_counts(ranks) == counts


@pytest.mark.usefixtures("asked")
def test_a_pair_runs_once_and_in_multi_mode_as_often_as_it_fits() -> None:
    assert only(mpi_patterns.requests(["pingpong"], 8)).knobs["groups"] == "first:2"
    assert only(mpi_patterns.requests(["pingpong"], 8, multi=True)).knobs["groups"] == "2"
    assert len(only(mpi_patterns.requests(["PingPong", "osu_latency"], 2)).cells()) == 24


@pytest.mark.usefixtures("asked")
def test_sizes_repeats_and_knobs_are_the_users() -> None:
    one = only(mpi_patterns.requests(["pingpong"], 2, "8,64", repeats=2, words=["buffers=rotating", "seconds=0.5"]))
    assert (one.knobs["bytes"], one.knobs["buffers"], one.knobs["seconds"], one.repeats) == (
        "8,64",
        "rotating",
        "0.5",
        2,
    )
    with pytest.raises(Refusal, match="the pattern PingPong sets it"):
        mpi_patterns.requests(["pingpong"], 2, words=["pattern=exchange"])


@pytest.mark.usefixtures("asked")
def test_modes_of_imb_are_both_asked_and_osus_one() -> None:
    assert only(mpi_patterns.requests(["Unidir_put"], 2)).knobs["window"] == mpi_patterns.MODES
    assert only(mpi_patterns.requests(["osu_put_latency"], 2)).knobs["window"] == "1"
    assert only(mpi_patterns.requests(["P_Write_Indv"], 2, words=["aggregate=8"])).knobs["aggregate"] == "8"
    assert only(mpi_patterns.requests(["osu_put_latency"], 2)).show.title == "osu_put_latency"
    assert only(mpi_patterns.requests(["osu_multi_lat"], 4)).knobs["groups"] == "2"


@pytest.mark.usefixtures("asked")
def test_lengths_are_multiples_of_the_elements_and_what_is_left_out_is_said() -> None:
    one = only(mpi_patterns.requests(["Allreduce"], 2, "0,1,4,7,8", words=["type=double"]))
    assert one.knobs["bytes"] == "0,8"
    (text,) = mpi_patterns.left_out(["Allreduce", "Bcast"], "0,1,4,7,8", ["type=double"])
    assert text == "Allreduce: the lengths 1, 4, 7 B are skipped, because elements have 8 B."
    assert mpi_patterns.left_out(["Allreduce"], "", []) == ()


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize(
    ("names", "sizes", "words", "why"),
    [
        (["pingpong"], "16", ["bytes=8"], "with bytes=8"),
        (["Barrier"], "8", [], "Barrier: the message length is fixed"),
        (["Fetch_and_op"], "8", [], "Fetch_and_op: the message length is fixed"),
    ],
)
def test_sizes_that_would_be_ignored_are_refused(names: list[str], sizes: str, words: list[str], why: str) -> None:
    with pytest.raises(Refusal, match=why) as refused:
        mpi_patterns.requests(names, 2, sizes, words=words)
    assert refused.value.code == Exit.WRONG_WORD


def test_one_rank_is_refused_with_a_reason() -> None:
    with pytest.raises(Refusal, match=r"\(patterns need at least two ranks\)") as refused:
        mpi_patterns.requests([], 1)
    assert refused.value.code == Exit.NOT_SUPPORTED
