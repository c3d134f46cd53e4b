"""What a kernel says of itself is asked once by each command, unless the program changes."""

import json
import os
from pathlib import Path

import pytest

from octant.build import program_name
from octant.build.describe import describe
from octant.failure import Exit, Refusal


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OCTANT_KERNELS", str(tmp_path))
    return tmp_path / program_name("node/stream")


def says(kernel: Path, least_ranks: int, status: int = 0) -> None:
    """Replace the kernel by a script that counts how often it is started."""
    text = json.dumps({"knobs": [], "least_ranks": least_ranks})
    kernel.write_text(f"#!/bin/sh\necho >>{kernel}.starts\necho '{text}'\nexit {status}\n")
    kernel.chmod(0o755)


def starts(kernel: Path) -> int:
    return kernel.with_name(f"{kernel.name}.starts").read_text().count("\n")


def test_the_same_question_starts_a_kernel_once(kernel: Path) -> None:
    says(kernel, 1)
    assert [describe("node/stream").least_ranks for _ in range(3)] == [1, 1, 1]
    assert starts(kernel) == 1
    describe("node/stream", {"bytes": "1MiB"})
    describe("node/stream", {"bytes": "1MiB"}, ranks=2)
    assert starts(kernel) == 3


def test_a_kernel_that_was_built_again_is_asked_again(kernel: Path) -> None:
    says(kernel, 1)
    assert describe("node/stream").least_ranks == 1
    before = kernel.stat().st_mtime_ns
    says(kernel, 2)
    os.utime(kernel, ns=(before + 1, before + 1))
    assert describe("node/stream").least_ranks == 2


def test_a_failure_is_not_remembered(kernel: Path) -> None:
    says(kernel, 1, status=1)
    with pytest.raises(Refusal, match="cannot read the knobs"):
        describe("node/stream")
    before = kernel.stat().st_mtime_ns
    says(kernel, 1)
    os.utime(kernel, ns=(before, before))
    assert describe("node/stream").least_ranks == 1


@pytest.mark.parametrize("code", [Exit.WRONG_WORD, Exit.NOT_SUPPORTED])
def test_what_a_kernel_does_not_take_is_refused_with_its_reason(kernel: Path, code: Exit) -> None:
    kernel.write_text(
        f"#!/bin/sh\necho 'node/stream: cannot use 3 ranks (odd: one is left over); try 4' >&2\nexit {code:d}\n"
    )
    kernel.chmod(0o755)
    with pytest.raises(Refusal, match=r"^cannot use 3 ranks \(odd: one is left over\); try 4$") as refused:
        describe("node/stream", {"bytes": "8"}, 3)
    assert refused.value.code == code
