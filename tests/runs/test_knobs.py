"""Asks are judged before there is a run of them: by the table of knobs, and by the kernel where only it can."""

import json
from pathlib import Path

import pytest

from fake_kernel import request
from octant.build import program_name
from octant.build.describe import Described, DescribedKnob
from octant.failure import Exit, Refusal
from octant.runs.knobs import check_knobs, check_requests

KNOBS = [{"name": name, "kind": "integer", "default": "1", "help": ""} for name in ("n", "threads")]


def says(folder: Path, takes: bool, code: int) -> Path:
    """Simulate a kernel that refuses all knobs."""
    said = json.dumps({"knobs": KNOBS, "least_ranks": 1, "takes": takes})
    program = folder / program_name("node/stream")
    refuses = f'echo "node/stream: cannot use 3 ranks (odd); try 4" >&2; exit {code:d}' if code else ":"
    asked = f'echo "$@" >>{folder}/asked; {refuses}'
    program.write_text(f"#!/bin/sh\n[ $# -gt 1 ] && {{ {asked}; }}\necho '{said}'\n")
    program.chmod(0o755)
    return folder / "asked"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OCTANT_KERNELS", str(tmp_path))


def test_a_shape_that_the_kernel_does_not_take_is_refused_before_there_is_a_run(tmp_path: Path) -> None:
    asked = says(tmp_path, takes=True, code=Exit.WRONG_WORD)
    with pytest.raises(Refusal, match=r"cannot use 3 ranks \(odd\)"):
        check_requests([request(ranks=3, n="7,8", threads="2")])
    assert asked.read_text().split() == ["--describe", "n=7,8", "threads=2", "--ranks", "3"]


def test_what_is_not_supported_is_left_to_its_launch(tmp_path: Path) -> None:
    """A suite goes on with what it asks besides."""
    says(tmp_path, takes=True, code=Exit.NOT_SUPPORTED)
    check_requests([request(ranks=3, n="7")])


def test_a_kernel_that_takes_every_shape_is_not_asked_about_numbers(tmp_path: Path) -> None:
    """Each question starts a process: a suite has hundreds of requests."""
    asked = says(tmp_path, takes=False, code=Exit.OK)
    check_requests([request(n=str(n)) for n in range(1, 9)])
    assert asked.read_text().count("\n") == 1


@pytest.mark.parametrize(
    ("kind", "value", "nearest"),
    [
        ("integer", "200000", "46340"),
        ("integer", "1", "2"),
        ("bytes", "1GiB", "46340B"),
        ("real", "1e9", "46340"),
        ("bytes", "1B", "2B"),
    ],
)
def test_a_value_out_of_range_is_refused_with_the_nearest_one(kind: str, value: str, nearest: str) -> None:
    knob = DescribedKnob("n", kind, "256", "", (), 2, 46340)
    described = Described((knob,), 1, {})
    with pytest.raises(Refusal, match=rf"\(the (maximum|minimum) is {nearest}\); try n={nearest}$"):
        check_knobs("node/gemm", {"n": value}, described)
    check_knobs("node/gemm", {"n": nearest}, described)
