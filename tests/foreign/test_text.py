"""Words, numbers and lines of foreign text, one by one."""

import math

import pytest

from octant import foreign
from octant.failure import Exit, Refusal
from octant.foreign import Lines
from octant.foreign._rates import MEGABYTES, Solution, common_megabyte
from octant.foreign._text import (
    LONGEST,
    LONGEST_WORD,
    Line,
    Rounded,
    count_of,
    date_of,
    lines_of,
    number_of,
    ranks_of,
    slug_of,
    word_of,
)


@pytest.mark.parametrize(
    ("word", "value", "half"),
    [
        ("12", 12.0, 0.5), ("-3", -3.0, 0.5), ("+3", 3.0, 0.5), ("1.25", 1.25, 5e-3), ("1,25", 1.25, 5e-3),
        ("2.50e+03", 2500.0, 5.0), ("7E-2", 0.07, 5e-3), ("1" * 18, 1.11111111111111111e17, 0.5),
    ],
)  # fmt: skip
def test_a_number_represents_all_values_that_round_to_it(word: str, value: float, half: float) -> None:
    found = number_of(word)
    assert found is not None
    assert (found.value, found.half) == pytest.approx((value, half))
    assert (found.low, found.high) == pytest.approx((max(0.0, value - half), value + half))
    assert found.times(1e-6) == Rounded(value * 1e-6, half * 1e-6)


@pytest.mark.parametrize("word", ["nan", "-NaN", "nan(0x1)", "inf", "+Infinity", "****"])
def test_what_c_prints_for_no_number_is_none(word: str) -> None:
    found = number_of(word)
    assert found is not None
    assert math.isnan(found.value)
    assert found.half == 0.0


@pytest.mark.parametrize(
    "word", ["", "1" * 19, "1.", ".5", "1.2.3", "1e", "1e1000", "1e400", "0x10", "1_0", " 1", "a1"]
)
def test_other_words_are_no_numbers(word: str) -> None:
    assert number_of(word) is None


def test_counts_are_whole_and_ranks_are_some() -> None:
    assert [count_of(word) for word in ("0", "9" * 18, "9" * 19, "-1", "1.0", "")] == [
        0,
        10**18 - 1,
        None,
        None,
        None,
        None,
    ]
    assert [ranks_of(word) for word in ("0", "1", "10000000", "10000001", "x")] == [None, 1, 10_000_000, None, None]


def test_words_and_names_hold_what_ours_may_hold() -> None:
    assert word_of("  64x64 x 64; rm -rf / ") == "64x64_x_64_rm_-rf"
    assert word_of("A.b_c+d-e") == "A.b_c+d-e"
    assert slug_of("MPI_Put  Latency-Test (v5)") == "mpi_put_latency_test_v5"
    assert slug_of("_XX_") == "xx"
    for make in (word_of, slug_of):
        assert make("_?_") == "unnamed"
        assert make("x" * 99) == "x" * LONGEST_WORD
        assert make("x" * (LONGEST_WORD - 1) + " y") == "x" * (LONGEST_WORD - 1)


def test_a_date_is_in_the_form_of_c() -> None:
    assert date_of("Sun Nov  1 02:03:04 2026") == "2026-11-01T02:03:04"
    assert [date_of(text) for text in ("2026-11-01", "Sun Nov 31 02:03:04 2026", "")] == [""] * 3


def test_lines_end_as_any_system_ends_them() -> None:
    lines, torn = lines_of("a\r\nb\rc\n\nd")
    assert (lines, torn) == ([Line(1, "a"), Line(2, "b"), Line(3, "c"), Line(4, "")], 5)
    assert lines_of("a\n \t")[1] == 0, "what is left of the last line is blank"
    long, _ = lines_of(f"{'x' * LONGEST}\n{'x' * (LONGEST + 1)}\nz\n")
    assert [line.number for line in Lines(long)] == [1, 3]
    assert [line.number for line in long] == [1, 2, 3], "a long line is not read, but it is accounted for"


def test_tables_of_a_file_have_one_megabyte() -> None:
    both, new, old = (
        Solution(frozenset(found), frozenset({1.0})) for found in (MEGABYTES, MEGABYTES[:1], MEGABYTES[1:])
    )
    assert common_megabyte([], "here") is None
    assert common_megabyte([both, both], "here") is None
    assert common_megabyte([both, new], "here") == 1e6
    assert common_megabyte([old, both], "here") == 2**20
    with pytest.raises(
        Refusal, match=r"cannot import here: .*different megabytes.*; import the output of each tool separately"
    ) as refused:
        common_megabyte([new, old], "here")
    assert refused.value.code == Exit.WRONG_WORD


def test_a_benchmark_that_we_do_not_measure_has_a_name_of_its_tool() -> None:
    assert foreign.find_octant_name("imb", "_Un known_").workload == "imported/imb_un_known"
    assert foreign.find_octant_name("none", "PingPong").workload == "imported/none_pingpong"
