"""Asks, cells and launches: keys tell questions apart, and what is done and what is left make the whole."""

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octant import units
from octant.request import Launch, Presentation, Request, Shape, Subject, canonical, comparable_cell, each_once

NAMES = st.sampled_from(["bytes", "kernel", "pages", "width"])
VALUES = st.lists(st.integers(1, 99), min_size=1, max_size=4, unique=True).map(lambda xs: ",".join(map(str, xs)))
KNOBS = st.dictionaries(NAMES, VALUES, max_size=3)


def request(**knobs: str) -> Request:
    return Request(Subject("node/w"), knobs)


@given(KNOBS)
def test_the_cells_of_an_ask_are_the_whole_product_once(knobs: dict[str, str]) -> None:
    cells = request(**knobs).cells()
    assert len(cells) == math.prod(len(value.split(",")) for value in knobs.values())
    assert len({tuple(sorted(cell.items())) for cell in cells}) == len(cells)


@given(KNOBS, st.data())
def test_what_is_left_and_what_is_done_make_the_whole(knobs: dict[str, str], data: st.DataObject) -> None:
    launch = Launch(request(**knobs))
    done = data.draw(st.lists(st.sampled_from(launch.cells()), unique_by=lambda p: tuple(sorted(p.items()))))
    left = launch.without([{**cell, "more": "knobs of the harness"} for cell in done])
    missing = [cell for cell in launch.cells() if cell not in done]
    assert [cell for rest in left for cell in rest.cells()] == missing, "exactly these, in their order"
    assert {rest.key for rest in left} <= {launch.key}, "what comes of the rest belongs to the same launch"
    if sum("," in value for value in knobs.values()) == 1:
        assert len(left) <= 1, "a single list is cut to what is missing"


def test_a_cell_that_is_spelled_otherwise_is_done() -> None:
    (left,) = Launch(request(bytes="1MiB,2MiB", memory="preferred:0")).without(
        [{"bytes": "1024KiB", "memory": "prefer:0"}]
    )
    assert left.started_knobs == {"bytes": "2MiB", "memory": "preferred:0"}


def test_a_command_line_is_started_cell_by_cell_and_a_kernel_once() -> None:
    assert len(Launch(request(a="1,2", b="3,4")).starts()) == 1
    launch = Launch(Request(Subject(command=("/usr/bin/solve", "{a}")), {"a": "1,2"}))
    assert [start.cells() for start in launch.starts()] == [[{"a": "1"}], [{"a": "2"}]]
    assert {start.key for start in launch.starts()} == {launch.key}
    assert launch.key.startswith("program-solve-")


def test_values_of_a_knob_that_run_alone_are_started_one_by_one() -> None:
    launch = Launch(request(pattern="a,b", bytes="8,16"))
    starts = launch.starts(alone=["pattern"])
    assert [start.started_knobs for start in starts] == [
        {"pattern": "a", "bytes": "8,16"}, {"pattern": "b", "bytes": "8,16"},
    ]  # fmt: skip
    assert [cell for start in starts for cell in start.cells()] == launch.cells()
    assert launch.starts(alone=["other"]) == (launch,)


def test_keys_tell_questions_apart_and_repeats_together() -> None:
    one = request(a="1")
    assert Launch(one).key != Launch(one, 1).key
    assert Launch(one).key == Launch(request(a="1")).key
    different = [
        one,
        request(a="2"),
        dataclasses.replace(one, subject=Subject("node/v")),
        dataclasses.replace(one, subject=Subject(command=("w",))),
        dataclasses.replace(one, shape=Shape(2)),
        dataclasses.replace(one, shape=Shape(place="1x1")),
        dataclasses.replace(one, mpi={"MPIR_CVAR_X": "1"}),
    ]
    assert len({question.key for question in different}) == len(different)
    shown = dataclasses.replace(one, show=Presentation("other words", table=False), repeats=3)
    assert shown.key == one.key, "how it is shown is no part of the question"
    assert [launch.repeat for launch in shown.launches()] == [0, 1, 2]


@pytest.mark.parametrize(
    ("written", "spelled"),
    [
        ("prefer:0", "preferred:0"),
        ("preferred:0", "preferred:0"),
        ("2m", "2MiB"),
        ("4k", "4KiB"),
        ("2048KiB", "2MiB"),
        ("2 MiB", "2MiB"),
        ("1500KiB", "1500KiB"),
        ("1kB", "1000B"),
        ("2097152", "2097152"),
        ("0.02", "0.02"),
        ("double", "double"),
        ("16KiB,1024KiB,thp", "16KiB,1MiB,thp"),
        ("", ""),
        ("bind:0,1", "bind:0+1"),
        ("bind:0,2-3,local", "bind:0+2-3,local"),
        ("local,interleave:0,1,bind:0,bind:1", "local,interleave:0+1,bind:0,bind:1"),
        ("first:2,4", "first:2,4"),
    ],
)
def test_every_value_has_one_spelling(written: str, spelled: str) -> None:
    assert canonical(written) == spelled
    assert canonical(spelled) == spelled


@given(st.integers(0, 2**29), st.sampled_from(["B", "KiB", "MiB", "GiB"]))
def test_a_size_is_the_same_however_it_is_spelled(number: int, unit: str) -> None:
    text = f"{number}{unit}"
    assert units.parse_bytes(canonical(text)) == units.parse_bytes(text)
    assert comparable_cell({"bytes": text}) == comparable_cell({"bytes": str(units.parse_bytes(text))})


def test_effort_is_no_part_of_a_cell() -> None:
    assert comparable_cell({"bytes": "1048576", "seconds": "9"}) == comparable_cell({"bytes": "1MiB"})


def test_a_value_is_listed_once_however_it_is_spelled() -> None:
    assert each_once("384KiB,393216,1MiB,384KiB") == "384KiB,1MiB"
    assert each_once("hot,rotating,hot") == "hot,rotating"
