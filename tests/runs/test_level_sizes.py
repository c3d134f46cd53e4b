"""Sizes by memory level in knobs: lists, ranges, and refusals with the next step."""

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import trees
from fake_run import GIB, KIB, MIB, machine
from octant.build.describe import Described, DescribedKnob
from octant.failure import Refusal
from octant.machine.cache_levels import level_sizes
from octant.runs.knobs import check_knobs, evaluate_level_sizes

KNOBS = tuple(
    DescribedKnob(name, kind, "", "", (), 64, 2.0**50) for name, kind in (("bytes", "bytes"), ("n", "integer"))
)
KERNEL = Described(KNOBS, 1, {})
HERE = machine()  # L1 48 KiB, L2 2 MiB, L3 32 MiB, 16 GiB


def evaluated(text: str, **counts: int) -> list[int]:
    return list(map(int, evaluate_level_sizes({"bytes": text}, KERNEL, HERE, counts).knobs["bytes"].split(",")))


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("L2", [2 * MIB]),
        ("L1,L2/4,2*L3,memory/8", [48 * KIB, MIB // 2, 64 * MIB, 2 * GIB]),
        ("L1/2 to L1*8 by 2", [24 * KIB, 48 * KIB, 96 * KIB, 192 * KIB, 384 * KIB]),
        ("L2,2097152", [2 * MIB]),  # the same size once
        ("threads*L2/2", [4 * MIB]),
        ("2*L3/ranks at least L2", [32 * MIB]),
    ],
)
def test_levels_are_replaced_by_bytes(text: str, sizes: list[int]) -> None:
    assert evaluated(text, threads=4, ranks=2) == sizes


def test_the_expression_of_each_size_is_kept() -> None:
    found = evaluate_level_sizes({"bytes": "L2/4,64KiB,L1/2 to 4*L3 by 2", "n": "3"}, KERNEL, HERE, {})
    assert found.expressions == {"bytes": {str(MIB // 2): "L2/4", str(48 * KIB): "L1"}}, "L2 is no step of the range"
    assert found.knobs["n"] == "3"
    assert evaluate_level_sizes({"bytes": "64KiB,1MiB"}, KERNEL, HERE, {}).expressions == {}


@given(st.sampled_from(["L1", "L2", "L3", "memory"]), st.integers(1, 9), st.integers(1, 64), st.integers(2, 4))
def test_a_range_of_levels_ascends_within_its_ends(level: str, times: int, part: int, factor: int) -> None:
    size = level_sizes(HERE)[level]
    steps = evaluated(f"{level}/{part} to {times}*{level} by {factor}")
    assert steps[0] == size // part
    assert all(b == a * factor for a, b in itertools.pairwise(steps))
    assert steps[-1] <= times * size < steps[-1] * factor


@pytest.mark.parametrize(
    ("on", "text", "why"),
    [
        ("altra-1s", "2*L3", "cannot set bytes=2*L3: this machine states no L3; its levels are"),
        ("kvm-xeon-2cpu", "L3", "cannot set bytes=L3: the size of the L3 is disputed"),
        ("epyc-2s-nps4", "l2", "'l2' is a name of suites; try L2"),
        ("epyc-2s-nps4", "L2*threads", "'threads' is not known here; try L2, L2/4"),
        ("epyc-2s-nps4", "L2/0", "'L2/0' divides by zero); try L2, L2/4"),
        ("epyc-2s-nps4", "L2 to L1 by 2", "has 0 steps; 1 to 200 are allowed"),
        ("epyc-2s-nps4", "L2+L1", "cannot read 'L2+L1' as a size; .*by memory level: L2, L2/4, 2*L3, memory/8"),
        ("epyc-2s-nps4", "L1/20000", "is out of range (the minimum is"),
    ],
)
def test_a_size_without_meaning_is_refused_with_the_next_step(on: str, text: str, why: str) -> None:
    with pytest.raises(Refusal, match=re.escape(why).replace(r"\.\*", ".*")):
        check_knobs("x/y", evaluate_level_sizes({"bytes": text}, KERNEL, trees.machine(on), {}).knobs, KERNEL)


def test_a_job_accepts_levels_that_only_its_node_has() -> None:
    evaluate_level_sizes({"bytes": "L1/2 to 4*L4 by 2"}, KERNEL, None, {})
