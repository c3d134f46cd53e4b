"""Requests as text, and torus maps."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octant.placement.request import MAX_NODE_THREADS, Memory, PlacementRequest, parse_request
from octant.placement.torus import coordinates, read_map, write_map

REQUEST = st.builds(
    PlacementRequest,
    ranks=st.integers(1, 600),
    threads=st.integers(1, 99),
    unit=st.sampled_from(["hwthread", "core", "l2", "l3", "numa", "package"]),
    order=st.sampled_from(["compact", "scatter", "scatter:numa"]),
    smt=st.integers(0, 8),
    memory=st.sampled_from(
        [
            Memory(),
            Memory("local"),
            Memory("bind", (0, 1, 3)),
            Memory("preferred", (2,)),
            Memory("interleave"),
        ]
    ),
    pages=st.sampled_from(["default", "4k", "64k", "thp", "2m", "16m", "1g"]),
    heap=st.sampled_from(["default", "huge"]),
    text=st.sampled_from(["default", "huge"]),
    stack=st.sampled_from(["default", "huge"]),
    kind=st.sampled_from(["any", "performance"]),
    share=st.booleans(),
    oversubscribe=st.booleans(),
)


@given(REQUEST)
def test_every_request_reads_back_from_its_text(request: PlacementRequest) -> None:
    assert parse_request(str(request)) == request


@given(st.lists(st.lists(st.integers(0, 300), min_size=2, max_size=2), min_size=1, max_size=5))
def test_explicit_lists_keep_their_order(lists: list[list[int]]) -> None:
    request = PlacementRequest(ranks=len(lists), threads=2, cpus=tuple(tuple(cpus) for cpus in lists))
    assert parse_request(str(request)) == request


def test_the_documented_example() -> None:
    request = parse_request("4x2,unit=core,order=scatter,smt=1,memory=local,pages=2m")
    assert request == PlacementRequest(4, 2, "core", "scatter", 1, Memory("local"), "2m")
    assert parse_request("cpus=0-1/4-5") == PlacementRequest(2, 2, cpus=((0, 1), (4, 5)))
    assert parse_request("8x1,smt=all").smt == 0
    for nodes in ("0+2-3", "0,2-3", "0,2,3"):
        assert parse_request(f"8x1,memory=bind:{nodes},smt=all").memory == Memory("bind", (0, 2, 3))
    assert parse_request("1x1,pages.text=huge,pages.heap=huge") == PlacementRequest(heap="huge", text="huge")
    assert parse_request("1x1,text=huge,stack=huge").huge_segments == ("text", "stack")
    assert parse_request("8x1,smt=off").smt == 1
    assert parse_request("16x1,order=TXYZ,torus=2x2x2").torus == (2, 2, 2)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "'' is not a placement; use a form such as 4x2"),
        ("4x2,unit=cores", "unknown value in unit=cores; did you mean core"),
        ("4x2,colour=red", "; try one of ranks, threads, unit"),
        ("4x2,unit=core,unit=l3", "unit occurs twice"),
        ("4x2,order=random", "unknown value in order=random"),
        ("4x2,order=XYZT", "requires a torus of 3 dimensions"),
        ("4x2,order=XXYT,torus=1x1x1", "unknown value in order"),
        ("4x2,smt=two", "cannot use smt=two"),
        ("4x2,memory=bind:0,unit=core,1", "is not of the form KEY=VALUE"),
        ("4x2,memory=near", "unknown value in policy=near"),
        ("4x2,memory=preferred", "exactly one NUMA node"),
        ("4x2,memory=local:1", "use memory=bind:0"),
        ("4x2,pages=3m", "unknown value in pages=3m"),
        ("0x2", "both must be at least 1"),
        ("3x1,cpus=0/1", "one list per rank"),
        ("4x2,share=maybe", "the value must be yes or no"),
        ("4x2,torus=0x1x1", "each dimension must be at least 1"),
    ],
)
def test_wrong_words_are_refused_with_the_known_ones(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        parse_request(text)


@given(st.permutations("XYZT"), st.tuples(*[st.integers(1, 4)] * 4))
def test_letters_visit_every_place_once(letters: list[str], shape: tuple[int, ...]) -> None:
    total = shape[0] * shape[1] * shape[2] * shape[3]
    places = coordinates("".join(letters), shape, total)
    assert len(set(places)) == total
    assert read_map(write_map(places), shape[:3]) == places


def test_blue_gene_q_counts_from_the_right() -> None:
    assert coordinates("ABCDET", (1, 1, 1, 2, 2, 4), 6)[4:] == [(0, 0, 0, 0, 1, 0), (0, 0, 0, 0, 1, 1)]
    assert coordinates("TEDCBA", (2, 1, 1, 1, 1, 4), 3)[1:] == [(1, 0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 1)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0 0\n", "line 1.*4 numbers are required"),
        ("# x\n\n0 0 0 0 0\n", "line 3.*4 numbers are required"),
        ("0 0 0 0\n0 0 9 0\n", "line 2.*outside of torus=2x2x2"),
        ("0 0 0 0\n# gap\n0 0 0 0\n", "line 3.*repeats line 1"),
        ("0 0 0 -1\n", "line 1"),
        ("0 0 0 x\n", "line 1"),
        ("0 0 0 99999999999\n", "line 1"),
        ("# nothing\n", "no coordinates"),
    ],
)
def test_map_files_are_checked(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=words):
        read_map(text, (2, 2, 2))
    file = tmp_path / "octant.map"
    file.write_text(text)
    with pytest.raises(ValueError, match=words):
        parse_request(f"torus=2x2x2,map={file}")


def test_a_map_file_is_a_value(tmp_path: Path) -> None:
    file = tmp_path / "octant.map"
    file.write_text("1 1 0 0\n0 0 0 1\n0 0 0 0\n")
    request = parse_request(f"torus=2x2x1,map={file}")
    assert (request.ranks, request.map) == (3, ((1, 1, 0, 0), (0, 0, 0, 1), (0, 0, 0, 0)))
    assert str(request) == f"3x1,torus=2x2x1,map={file}"
    assert parse_request(str(request)) == request
    assert parse_request(f"2x1,torus=2x2x1,map={file}").ranks == 2
    for text, words in [
        (f"4x1,torus=2x2x1,map={file}", "4 ranks with a map of 3 lines"),
        (f"2x1,map={file}", "requires a torus"),
        ("16x1,torus=2x2x2", "add order=TXYZ or map=FILE"),
        ("1x1,threads=4", "threads twice, in 1x1"),
        ("99999999x1,oversubscribe=yes", "on one node at most 65536 are supported"),
        ("1x1,cpus=0-99999999999", "the largest number is 65535"),
        ("1x1,torus=²x1x1", "not an integer"),
    ]:
        with pytest.raises(ValueError, match=words):
            parse_request(text)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"threads": 0}, "cannot place 1 ranks x 0 threads: both must be at least 1"),
        ({"smt": -1}, "cannot use -1 hardware threads per core; use smt=1, 2, 4, 8 or all"),
        ({"heap": "small"}, "unknown value in heap=small; try one of default, huge"),
        ({"kind": "fast"}, "unknown value in kind=fast; try one of any, performance"),
        ({"near": "me"}, "unknown value in near=me; try one of any, adapter"),
        ({"memory": Memory("default", (1,))}, "memory=default takes no NUMA nodes; use memory=bind:0"),
        ({"memory": Memory("preferred", (1, 2))}, "memory=preferred requires exactly one NUMA node"),
        ({"order": "ABCDET", "torus": (2, 2, 2)}, "order=ABCDET requires a torus of 5 dimensions"),
        ({"map": ((0, 0, 0, 0),)}, "map requires a torus; add for example torus=8x8x16"),
        ({"ranks": 2, "cpus": ((0,),)}, "cannot place 2 ranks on 1 lists; write one list per rank"),
    ],
)
def test_requests_that_contradict_themselves_are_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        PlacementRequest(**changes)


def test_the_most_threads_may_be_asked_for() -> None:
    assert PlacementRequest(ranks=MAX_NODE_THREADS).ranks == MAX_NODE_THREADS
    with pytest.raises(ValueError, match="at most"):
        PlacementRequest(ranks=MAX_NODE_THREADS // 2 + 1, threads=2)


def test_explicit_lists_give_the_numbers_that_are_not_given() -> None:
    assert parse_request("cpus=0-3/4-7").threads == 4
    assert parse_request("threads=2,cpus=0-3/4-7") == PlacementRequest(2, 2, cpus=((0, 1, 2, 3), (4, 5, 6, 7)))
    with pytest.raises(ValueError, match=r"must be yes or no"):
        parse_request("4x2,share=maybe")
