"""Of a stream the beginning and the end are kept, whatever its length and however it comes, and the rest is counted."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octant.launch import capture
from octant.launch.capture import Captures

HEAD, TAIL, LINE = 300, 170, 40


@pytest.fixture(autouse=True, scope="module")
def small() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(capture, "HEAD_BYTES", HEAD)
        patch.setattr(capture, "TAIL_BYTES", TAIL)
        patch.setattr(capture, "_LINE_BYTES", LINE)
        yield


@given(data=st.lists(st.binary(max_size=200) | st.sampled_from([b"\n", b"line\n", b"x" * 120]), max_size=12))
def test_what_is_kept_is_the_beginning_and_the_end(tmp_path_factory: pytest.TempPathFactory, data: list[bytes]) -> None:
    path = tmp_path_factory.mktemp("captured") / "stdout"
    captures = Captures({"stdout": None})
    captures.begin()
    (stream,) = captures.streams
    for part in data:
        os.write(stream.write_end, part)
    captures.finish()
    every = b"".join(data)
    said, kept = stream.write(path), path.read_bytes()
    assert len(kept) <= HEAD + TAIL + 128
    if len(every) <= HEAD + TAIL:
        assert (kept, said) == (every, "")
    else:
        assert every.endswith(stream.end_of_it(TAIL))
        _check_cut(every, kept, said)


def _check_cut(every: bytes, kept: bytes, said: str) -> None:
    found = re.search(rb"\n\[octant: (\d+) bytes of stdout are omitted here\]\n", kept)
    assert found
    head, tail, count = kept[: found.start()], kept[found.end() :], int(found[1])
    assert every.startswith(head)
    assert every.endswith(tail)
    assert len(head) + len(tail) + count == len(every)
    assert said == f"{count:,} of {len(every):,} bytes of stdout were omitted"
    assert HEAD - LINE <= len(head) <= HEAD
    assert TAIL - LINE <= len(tail) <= TAIL
    begin = len(every) - len(tail)
    if b"\n" in every[HEAD - LINE : HEAD]:
        assert every[len(head) : len(head) + 1] == b"\n", "a line is not cut"
    if b"\n" in every[len(every) - TAIL : len(every) - TAIL + LINE]:
        assert every[begin - 1 : begin] == b"\n", "a line is not cut"


def test_an_output_that_is_cut_is_cut_between_lines(tmp_path: Path) -> None:
    captures = Captures({"stdout": None})
    captures.begin()
    (stream,) = captures.streams
    lines = [f"line {number}\n".encode() for number in range(100)]
    os.write(stream.write_end, b"".join(lines))
    captures.finish()
    said = stream.write(tmp_path / "stdout")
    assert said.endswith("bytes of stdout were omitted")
    *kept, end = (tmp_path / "stdout").read_bytes().splitlines(keepends=True)
    assert {*kept, end} - {*lines} == {next(one for one in kept if one.startswith(b"[octant: "))}


def test_what_was_never_drained_is_taken_at_the_end(tmp_path: Path) -> None:
    captures = Captures({"stdout": None, "stderr": None})
    for one in captures.streams:
        os.write(one.write_end, one.name.encode())
    captures.finish()
    assert [one.end_of_it(100) for one in captures.streams] == [b"stdout", b"stderr"]
    assert [one.write(tmp_path / one.name) for one in captures.streams] == ["", ""]


def test_a_reader_that_has_gone_does_not_stop_the_program() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    captures = Captures({"stdout": writing})
    captures.begin()
    (stream,) = captures.streams
    for _ in range(3):
        os.write(stream.write_end, b"text\n")
    captures.finish()
    os.close(writing)
    assert stream.end_of_it(100) == b"text\n" * 3
