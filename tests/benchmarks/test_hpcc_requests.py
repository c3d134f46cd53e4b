"""Sizes of HPC Challenge follow from N as HPCC's own output says, and every test asks what its kernel can take."""

from pathlib import Path
from typing import Any

import pytest

from octant import untrusted, workloads
from octant.benchmarks import benchmarks
from octant.benchmarks import requests as hpcc
from octant.benchmarks.hpcc.sizes import HpccSizes, full_order, quick_order, read_order
from octant.benchmarks.table import BenchmarkError, BenchmarkTest, check_sizes, read_tests
from octant.build.describe import Described
from octant.failure import Exit, Refusal
from paths import DATA

GIB = 1 << 30
TESTS = read_tests("hpcc")


def test_sizes_are_those_that_hpcc_itself_took() -> None:
    text = (DATA / "foreign" / "hpcc-1.5.0.txt").read_text(encoding="utf-8")
    said = dict(line.split("=", 1) for line in text.partition("Begin of Summary")[2].splitlines() if "=" in line)
    sizes = HpccSizes(int(said["CommWorldProcs"]), int(said["HPL_N"]))
    assert sizes.dgemm_n == int(said["DGEMM_N"])
    assert sizes.ptrans_n == int(said["PTRANS_n"])
    assert sizes.table_bytes == 8 * int(said["RandomAccess_N"])
    assert sizes.mpi_table_bytes == 8 * int(said["MPIRandomAccess_N"])
    assert sizes.stream_length == int(said["STREAM_VectorSize"])
    assert sizes.fft_n == int(said["FFT_N"])
    assert sizes.gfft_n == int(said["MPIFFT_N"])


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 6, 7, 8, 96])
@pytest.mark.parametrize("order", [1, 64, 1000, 8192, 100_000])
def test_sizes_are_positive_and_fit_for_any_number_of_ranks(ranks: int, order: int) -> None:
    sizes = HpccSizes(ranks, order)
    share = sizes.rank_bytes
    assert min(sizes.dgemm_n, sizes.ptrans_n, sizes.fft_n, sizes.gfft_n) >= 1
    if share >= 1 << 20:
        assert 24 * sizes.dgemm_n**2 <= share
        assert sizes.stream_three_bytes <= share
        assert share < 2 * sizes.table_bytes <= 2 * share
        assert 16 * sizes.fft_n <= share // 2
        assert 4 * 16 * sizes.gfft_n <= sizes.matrix_bytes
    assert sizes.gfft_n % sizes.gfft_ranks**2 == 0
    assert sizes.gfft_ranks == ({7: 6}.get(ranks, ranks))


def test_messages_have_the_lengths_that_the_model_needs() -> None:
    """Within a node, and between hosts of whatever two ranks are on different ones."""
    tests = [one for one in read_tests("hpcc") if one.workload == "mpi/p2p"]
    for across in (False, True):
        lengths: dict[str, set[str]] = {}
        for test in tests:
            knobs = {**test.knobs, **(test.across if across else {})}
            for pattern in knobs["pattern"].split(","):
                lengths.setdefault(pattern, set()).update(knobs["bytes"].split(","))
            assert knobs["groups"] == "{pairs}" or not across
        assert len(lengths["pingpong"]) >= 5
        assert lengths["duplex"]


def test_pairs_are_all_of_few_ranks_and_some_of_many() -> None:
    assert HpccSizes(1, 64).pairs == ""
    assert HpccSizes(3, 64).pairs == "0+1,0+2,1+2"
    assert HpccSizes(8, 64).pairs.count("+") == 28
    assert 14 <= HpccSizes(96, 64).pairs.count("+") <= 28


def test_orders_fill_the_memory_that_they_should() -> None:
    assert 8 * quick_order(2, 24 * GIB) ** 2 <= 512 << 20
    assert 8 * quick_order(64, 8 * GIB) ** 2 <= GIB
    assert 0.79 <= 8 * full_order(64 * GIB) ** 2 / (64 * GIB) <= 0.8
    assert quick_order(1, 0) > 0
    assert full_order(64 * GIB, 63 * GIB) == full_order(64 * GIB)
    assert 0.89 <= 8 * full_order(64 * GIB, 32 * GIB) ** 2 / (32 * GIB) <= 0.9


def test_an_order_is_read_and_one_that_does_not_fit_is_refused_with_its_bytes() -> None:
    assert read_order("hpl:4096", 24 * GIB) == 4096
    for words in ("4096", "hpl:", "hpl:0", "hpl:-1", "hpl:1e4", "hpl:99999999999", "hpl:٣"):
        with pytest.raises(Refusal, match="hpl:N") as wrong:
            read_order(words, 24 * GIB)
        assert wrong.value.code == Exit.WRONG_WORD
    with pytest.raises(Refusal, match=r"needs 74.51 GiB, and this machine has 24 GiB.*try --size hpl:50752") as large:
        read_order("hpl:100000", 24 * GIB)
    assert large.value.code == Exit.NOT_SUPPORTED


def test_every_key_has_one_row_for_each_rule() -> None:
    rows = [
        (one.key, one.rule or test.rule, one.knobs.get("buffers")) for test in read_tests("hpcc") for one in test.figure
    ]
    assert len(rows) == len(set(rows))
    names = [test.name for test in read_tests("hpcc")]
    assert len(names) == len(set(names))
    stars = {name.replace("Star", "Single") for name in names if name.startswith("Star")}
    assert stars <= set(names), "with one rank, Single replaces Star"


def test_a_cell_of_each_test_fits_each_of_its_figures() -> None:
    for test in read_tests("hpcc"):
        for one in test.figure:
            for name, value in one.knobs.items():
                assert value in test.knobs[name].split(","), (test.name, one.key)


@pytest.fixture
def described(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hpcc, "describe", lambda *_: Described((), 1, {"pace": "steps"}))
    monkeypatch.setattr(hpcc, "check_knobs", lambda *_: None)


@pytest.mark.usefixtures("described")
@pytest.mark.parametrize("ranks", [1, 2, 7])
def test_what_can_be_measured_is_asked_and_the_rest_has_a_reason(ranks: int) -> None:
    found = hpcc.request_tests(TESTS, HpccSizes(ranks, 512), quick=True, repeats=benchmarks()["hpcc"].launches)
    asked = {request.show.title: request for request in found.requests}
    names = {test.name for test in read_tests("hpcc")}
    assert set(asked) | set(found.left_out) == names or (ranks == 1 and set(asked) | set(found.left_out) < names)
    assert not set(asked) & set(found.left_out)
    assert len({request.key for request in found.requests}) == len(found.requests), (
        "no two requests are the same question"
    )
    assert {request.repeats for request in found.requests} == {benchmarks()["hpcc"].launches}
    assert not any("{" in value for request in found.requests for value in request.knobs.values())
    for test in read_tests("hpcc"):
        if test.workload in workloads.workloads() and test.name in asked:
            wanted = {"one": 1, "star": ranks, "all": 6 if test.ranks and ranks == 7 else ranks}[test.mode]
            assert asked[test.name].shape.ranks == wanted
            if test.mode == "star":
                assert asked[test.name].knobs["groups"] == "1", "alone, whatever its pace"
    assert ("PingPong latency" in asked) == (ranks > 1)


@pytest.mark.usefixtures("described")
def test_ranks_on_several_hosts_do_not_ask_for_memory_that_all_share() -> None:
    def transports(**where: Any) -> dict[str, str]:
        requests = hpcc.request_tests(TESTS, HpccSizes(2, 512), quick=True, repeats=None, **where).requests
        return {
            request.show.title: request.knobs.get("transport", "")
            for request in requests
            if request.subject.workload.startswith("hpcc/")
        }

    there = transports(hosts=("a", "b"))
    assert there["MPIFFT"] == "hierarchical"
    assert there["MPIRandomAccess"] == there["MPIRandomAccess_LCG"] == "hierarchical"
    assert transports(link="1Gbit/s") == there
    assert "messages" not in transports(hosts=("a",)).values()


@pytest.mark.usefixtures("described")
def test_ranks_that_cannot_share_as_much_send_messages() -> None:
    def by_messages(bytes_: float, ranks: int = 2, **where: Any) -> set[str]:
        found = hpcc.request_tests(
            TESTS, HpccSizes(ranks, 4096), quick=True, repeats=None, shareable_bytes=bytes_, **where
        )
        sent = {request.show.title for request in found.requests if request.knobs.get("transport") == "messages"}
        assert sent == set(found.unshared)
        return sent

    sizes = HpccSizes(2, 4096)
    every = {"MPIRandomAccess", "MPIRandomAccess_LCG", "PTRANS", "MPIFFT"}
    assert by_messages(0) == every
    assert by_messages(sizes.ptrans_bytes) == every - {"PTRANS"}
    assert by_messages(sizes.mpi_table_bytes) == set()
    assert by_messages(0, ranks=1) == set(), "a single rank shares with no other"
    assert by_messages(0, link="1Gbit/s") == set()


def test_a_kernel_that_refuses_leaves_its_test_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> Described:
        raise Refusal("cannot find octant-node-gemm (it is not built); try `make setup`")

    monkeypatch.setattr(hpcc, "describe", refuse)
    found = hpcc.request_tests(TESTS, HpccSizes(2, 512), quick=True, repeats=1)
    assert not found.requests
    assert "not built" in found.left_out["SingleDGEMM"]


def test_kernels_take_what_is_asked(kernels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OCTANT_KERNELS", str(kernels))
    here = {test.name for test in read_tests("hpcc") if test.workload in workloads.workloads()}
    for quick in (True, False):
        found = hpcc.request_tests(TESTS, HpccSizes(2, 512), quick, repeats=1)
        assert not here & set(found.left_out), found.left_out


@pytest.mark.parametrize(
    ("figure", "said"),
    [
        (
            {"knobs": {"kernel": "trid"}},
            "(knobs.kernel: the test has no kernel=trid); did you mean triad?",
        ),
        (
            {"knobs": {"kernel": "copy"}},
            "(knobs.kernel: the test has no kernel=copy); try one of triad, add",
        ),
        (
            {"knobs": {"store": "plan"}},
            "(knobs.store: the test has no store=plan); did you mean plain?",
        ),
        ({"knobs": {"byts": "1"}}, "(knobs.byts: node/stream has no such knob); did you mean bytes?"),
        ({"metric": "bandwith"}, "(metric: node/stream has no metric 'bandwith'); did you mean "),
        ({"reference": "x"}, "(reference: node/stream has no metric 'x'); try one of "),
    ],
    ids=lambda one: next(iter(one)) if isinstance(one, dict) else "",
)
def test_a_figure_that_no_cell_of_its_test_can_be_is_a_mistake(
    figure: dict[str, object], said: str, kernels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OCTANT_KERNELS", str(kernels))
    test = {"name": "x", "workload": "node/stream", "mode": "one", "knobs": {"kernel": "triad,add"}}
    given = untrusted.convert({**test, "figure": [{"key": "k", "unit": 1.0, **figure}]}, BenchmarkTest)
    (found,) = hpcc.problems([given])
    assert str(found).startswith(said.replace("(", "(test.0.figure.0.", 1))


def test_the_figures_of_hpcc_are_those_of_cells(kernels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OCTANT_KERNELS", str(kernels))
    assert not list(hpcc.problems(TESTS))


def test_sizes_that_a_benchmark_does_not_declare_are_a_mistake() -> None:
    """With `sizes.py` this is known once sizes were chosen."""
    known = [one for one in dir(HpccSizes(2, 512)) if not one.startswith("_")]
    check_sizes("hpcc", TESTS, known)
    with pytest.raises(
        BenchmarkError, match=r"toml, line \d+ \(test\.2\.knobs\.n: sizes\.py declares no size .hpl_n.\)"
    ):
        check_sizes("hpcc", TESTS, ["ranks"])
