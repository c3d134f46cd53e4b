"""Outputs of other benchmarks: what is in them comes out, by the names of columns; what is damaged is left out."""

import contextlib
import dataclasses
import math
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreign_outputs import FILES, described, figures, read, text_of, tool_of, value
from octant import foreign
from octant.failure import Exit, Refusal
from octant.foreign._rates import MEGABYTES, StatedRate, solve
from octant.foreign._text import Rounded, number_of

EVERY = pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
TOOLS = {tool_of(path) for path in FILES}


def output_of(path: Path, text: str) -> list[object]:
    """Figures of a text in a file's format: none where it is refused."""
    try:
        return [*figures(foreign.read(tool_of(path), text))]
    except Refusal:
        return []


def test_every_tool_has_an_output_here() -> None:
    assert set(foreign.tools()) == TOOLS
    assert len(FILES) >= 20
    assert all(path.stat().st_size <= 25_000 for path in FILES)


@EVERY
def test_reading_gives_all_that_is_written_down_for_an_output(path: Path, request: pytest.FixtureRequest) -> None:
    """Names, units, knobs, ranks, lines and checks: a change of any shows as a difference of the file `NAME.read`."""
    expected, found = path.with_suffix(".read"), described(foreign.read_file(tool_of(path), path))
    if request.config.getoption("--rewrite"):
        expected.write_text(found, encoding="utf-8")
    assert found == expected.read_text(encoding="utf-8")


@EVERY
def test_the_line_of_every_figure_holds_its_digits(path: Path) -> None:
    """Values are the file's numbers times a power of ten, 2^20 or nothing: the digits must stand in the line named."""
    lines = text_of(path.name).splitlines()
    found = figures(foreign.read_file(tool_of(path), path))
    for _, _, _, name, _, number, line, bound in found:
        words = re.split(r"[\s=()]+|,(?=\s)|\[\d+\]", lines[line - 1])
        numbers = [abs(one.value) for word in words if (one := number_of(word or ""))]
        scales = [10.0**power * mega for power in range(-12, 13) for mega in (1, 2**20 / 10**6)]
        near = any(math.isclose(n * scale, number, rel_tol=1e-9, abs_tol=1e-300) for n in numbers for scale in scales)
        assert near or (bound == 0.0 and number in (0.0, 1.0)), (name, number, lines[line - 1])


@pytest.mark.parametrize(("unit", "per_second"), [("usec", 1e6), ("msec", 1e3), ("sec", 1.0)])
def test_times_are_in_the_unit_of_their_column(unit: str, per_second: float) -> None:
    head = f"# Benchmarking Barrier\n# #processes = 4\n#repetitions t_min[{unit}] t_max[{unit}] t_avg[{unit}]\n"
    (table,) = foreign.read("imb", f"{head}1000 1.25 2.50 2.00\n").tables
    found = {one.name: one.value for one in table.rows[0].values}
    expected = {"time": 2.5, "t_min": 1.25, "t_max": 2.5, "t_avg": 2.0}
    assert found == {name: pytest.approx(number / per_second, rel=1e-12) for name, number in expected.items()}


@pytest.mark.parametrize("tool", sorted(TOOLS))
def test_a_text_that_says_nothing_has_neither_version_nor_date(tool: str) -> None:
    found = foreign.read(tool, "nothing of it\n")
    assert dataclasses.replace(found, tool="") == foreign.Output("", "", "", ())
    assert found.name == found.tool


def test_a_comment_is_no_header_of_columns() -> None:
    text = "# OSU MPI Latency Test v7.5\n# Size  Latency (us)\n{}\n8 1.5\n"
    known = text.format("# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait")
    assert value(foreign.read("osu", known), "MPI Latency Test", "time", "8") == 1.5e-6
    for comment in ("# Size", "# Size  of messages", "# Size  Size", "# Placement: far"):
        found = foreign.read("osu", text.format(comment))
        assert found.tables == ()
        assert f'line 3 ("{comment}") is not recognised and may change figures' in found.remarks[0]


def test_rows_below_a_second_header_are_not_read() -> None:
    head = "#bytes #repetitions t_min[{0}] t_max[{0}] t_avg[{0}]\n"
    text = f"# Benchmarking Reduce\n# #processes = 4\n{head.format('usec')}4 9 1 3 2\n{head.format('sec')}8 9 1 3 2\n"
    (table,) = foreign.read("imb", text).tables
    assert [row.knobs for row in table.rows] == [{"bytes": "4"}]


@EVERY
def test_a_file_cut_at_any_line_says_nothing_else(path: Path) -> None:
    lines = text_of(path.name).splitlines(keepends=True)
    whole, before = output_of(path, "".join(lines)), 0
    for end in range(len(lines)):
        part = output_of(path, "".join(lines[:end]))
        assert part == [one for one in whole if one in part]
        assert len(part) >= before or "hpcc" in path.name
        before = len(part)


@EVERY
def test_ends_of_lines_and_what_is_between_them_change_nothing(path: Path) -> None:
    text = text_of(path.name)
    whole = output_of(path, text)
    assert whole or "timeout" in path.name
    assert output_of(path, text.replace("\n", "\r\n")) == whole
    warning = "[host:1] WARNING: %s%n an osc component was 3 times %d not used; see 12.5\n"
    noisy = "".join(line + warning for line in text.splitlines(keepends=True))
    assert [one[5] for one in figures(foreign.read(tool_of(path), noisy))] == [
        one[5] for one in figures(read(path.name))
    ]


@EVERY
@pytest.mark.parametrize("word", ["nan", "-nan", "inf", "%s", "x" * 5000, "1e999", "9" * 30])
def test_words_in_place_of_numbers_give_no_figure(path: Path, word: str) -> None:
    """No exception but a refusal; what is left is of the whole file, or no number."""
    text = text_of(path.name)
    whole = {(one[3].partition("_")[0], *one[4:6]) for one in figures(read(path.name))}  # residuals are numbered
    numbers = list(re.finditer(r"(?<=\s)\d+\.\d+(?=\s)", text))
    for found in numbers[:: max(1, len(numbers) // 8)]:
        changed = text[: found.start()] + word + text[found.end() :]
        try:
            left = figures(foreign.read(tool_of(path), changed))
        except Refusal:
            continue
        assert all((one[3].partition("_")[0], *one[4:6]) in whole or math.isnan(one[5]) for one in left)


@EVERY
def test_a_last_line_without_an_end_is_not_read(path: Path) -> None:
    text = text_of(path.name).rstrip("\n")
    cut, last = text[:-1], len(text.splitlines())
    found = foreign.read(tool_of(path), cut)
    assert any(remark == f"line {last} is incomplete and not imported" for remark in found.remarks)


def test_decimal_commas_are_read() -> None:
    for name in ("imb-2021.11-mpi1.txt", "osu-5.8.txt", "stream-5.10.txt"):
        commas = re.sub(r"(?<=\d)\.(?=\d\d)", ",", text_of(name))  # not those of "v5.8"
        assert [one[5] for one in figures(foreign.read(tool_of(Path(name)), commas))] == [
            one[5] for one in figures(read(name))
        ]


def test_factors_and_megabytes_are_solved_from_the_rows() -> None:
    new, old = read("imb-2021.11-mpi1.txt"), read("pmb-2.2.txt")
    assert (new.name, old.name) == ("IMB 2021.11", "PMB 2.2")
    assert value(new, "Exchange", "bandwidth", "4096") == pytest.approx(10244.54e6)
    assert value(old, "Exchange", "bandwidth", "1048576") == pytest.approx(1111.00 * 2**20)
    assert value(old, "PingPong", "bandwidth", "4194304") == pytest.approx(4194304 / 3571.80e-6, rel=1e-5)
    assert value(new, "Uniband", "bandwidth", "64") == pytest.approx(64 * 192399, rel=1e-3)
    for factor in (0.5, 1.0, 2.0, 4.0):
        for megabyte in MEGABYTES:
            rows = [
                StatedRate(size, Rounded(t, 5e-9), Rounded(round(factor * size / t / megabyte, 2), 5e-3))
                for size, t in ((1024, 12.34e-6), (65536, 98.76e-6))
            ]
            found = solve(rows, (1.0, 2.0, 4.0, 0.5), "here")
            assert (found.megabytes, found.factors) == (frozenset({megabyte}), frozenset({factor}))


def test_rates_that_fit_nothing_refuse_the_file() -> None:
    text = text_of("imb-2021.11-mpi1.txt")
    with pytest.raises(Refusal, match=r"Exchange at line 8\d: .* are inconsistent \(ratio 0\.\d+\)") as refused:
        foreign.read("imb", text.replace("10244.54", "7244.54"))
    assert refused.value.code == Exit.WRONG_WORD
    with pytest.raises(Refusal, match="rates at line 13"):
        foreign.read("stream", text_of("stream-5.10.txt").replace("Array size = 10000000", "Array size = 20000000"))
    with pytest.raises(Refusal, match="rate of copy"):
        foreign.read("likwid", text_of("likwid-bench-5.2.2.txt").replace("49996800", "59996800"))


def test_rates_too_coarse_to_tell_the_megabyte_are_left_out() -> None:
    coarse = "\n".join(
        ["# Benchmarking PingPong", "# #processes = 2", "#bytes #repetitions t[usec] Mbytes/sec", "8 9 0.1 80", ""]
    )
    found = foreign.read("imb", coarse)
    assert [one[3] for one in figures(found)] == ["time"]
    assert "their unit (10^6 or 2^20 bytes) cannot be determined" in found.remarks[0]
    beside = foreign.read("imb", coarse.replace("t[usec]", "t_pure[usec]"))
    assert [one[3] for one in figures(beside)] == ["time", "t_pure"]
    assert beside.remarks == found.remarks


def test_what_timed_out_stays_and_what_is_cut_short_is_no_figure() -> None:
    rows = [row for table in read("imb-2021.11-timeout.txt").tables for row in table.rows]
    assert [(row.knobs, row.failed) for row in rows] == [
        ({"bytes": "0"}, "timed out in Sendrecv"),
        ({"bytes": "0"}, "timed out in Alltoall"),
    ]
    text = text_of("imb-2021.11-mpi1.txt").replace("256           50         0.27       960.88", "256  50  0.27")
    short = foreign.read("imb", text).tables[0].rows[6]
    assert (short.knobs, short.values, short.failed) == ({"bytes": "256"}, (), "incomplete row in PingPong")


def test_rows_above_a_second_header_keep_their_rates() -> None:
    """The title between both headers cannot be read, so that the second table is nobody's."""
    head = "#bytes #repetitions t[usec] Mbytes/sec\n"
    text = f"# Benchmarking PingPong\n# #processes = 2\n{head}1024 10 0.50 2048.00\n# Benchma WARN\n{head}8 9 1 8.00\n"
    known = foreign.read("imb", text.partition("# Benchma WARN")[0])
    found = foreign.read("imb", text)
    assert [one[3:6] for one in figures(found)] == [one[3:6] for one in figures(known)]
    assert value(found, "PingPong", "bandwidth", "1024") == 2.048e9
    assert "the rows below this second header of PingPong (line 1) are not imported" in found.remarks[0]


def test_groups_of_multi_mode_are_results_of_groups() -> None:
    bcast = read("imb-2021.11-multi.txt").tables[0]
    assert (bcast.ranks, bcast.groups, bcast.knobs["groups"]) == (4, ((0, 1), (2, 3)), "2")
    assert [(one.group, one.value) for one in bcast.rows[1].values if one.name == "t_max"] == [
        (0, 0.45 / 1e6),
        (1, 0.39 / 1e6),
    ]


def test_failed_checks_come_with_their_numbers() -> None:
    linpack = read("hpl-2.3.txt").tables
    assert [table.rows[0].values[-1].value for table in linpack] == [pytest.approx(2.41e-3, rel=1e-3), 510773.301]
    assert all(table.rows[0].values[-1].bound == 16.0 for table in linpack)
    assert len(read("hpl-1.0.txt").tables[0].rows[0].values) == 5, "two figures, three residuals"
    said = text_of("hpl-2.3.txt").replace("5.10773301e+05", "1.0e+00")
    assert foreign.read("hpl", said).tables[1].rows[0].values[-1].name == "verification", "the tool's word counts"
    assert value(read("osu-7.5.txt"), "MPI Latency Test", "validation", "1048576") == 1.0
    assert value(read("npb-3.4.2-mpi.txt"), "LU", "verification") == 1.0
    assert value(read("stream-5.10-failed.txt"), "stream", "validation", "240000000") == 1.0
    assert not read("npb-3.4.2-unverified.txt").tables[0].verified
    wrong = foreign.read("hpcc", text_of("hpcc-1.5.0.txt").replace("\nSuccess=1", "\nSuccess=0"))
    assert value(wrong, "hpl", "success") == 1.0


def test_columns_may_change_places() -> None:
    text = "\n".join(
        [
            "# Benchmarking Allreduce", "# #processes = 3", "t_avg[usec] #bytes t_max[usec] #repetitions t_min[usec]",
            "2.00 8 3.00 100 1.00", "",
        ]
    )  # fmt: skip
    found = foreign.read("imb", text)
    assert {name: value(found, "Allreduce", name, "8") for name in ("t_min", "t_avg", "t_max", "time")} == {
        "t_min": 1e-6, "t_avg": 2e-6, "t_max": 3e-6, "time": 3e-6,
    }  # fmt: skip
    swapped = "# OSU MPI Allreduce Latency Test v7.5\n# Size   Max Latency(us)   Min Latency(us)\n8 3.0 1.0\n"
    assert value(foreign.read("osu", swapped), "MPI Allreduce Latency Test", "t_min", "8") == 1e-6


@pytest.mark.parametrize(
    ("tool", "said", "why"),
    [
        ("imb", "nothing of it\n", "no figures of imb"),
        ("osu", text_of("pmb-2.2.txt"), "no figures of osu"),
        ("stream", text_of("stream-5.10.txt").partition("Solution")[0], "is not followed by a verdict"),
        ("hpcc", text_of("hpcc-1.5.0.txt").partition("End of Summary")[0], "the summary is incomplete"),
        ("imb", "x" * (foreign.MAX_BYTES + 1), "longer than"),
        ("osuu", "", "did you mean osu"),
    ],
)
def test_a_file_without_figures_is_refused(tool: str, said: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "output.txt"
    path.write_text(said, encoding="utf-8")
    with pytest.raises(Refusal, match=why) as refused:
        foreign.read_file(tool, path)
    assert refused.value.code == Exit.WRONG_WORD


@given(st.sampled_from(sorted(TOOLS)), st.text(alphabet=st.characters(codec="utf-8"), max_size=300))
def test_any_text_is_read_or_refused(tool: str, text: str) -> None:
    with contextlib.suppress(Refusal):
        foreign.read(tool, text + "\n")


def test_names_are_ours_where_we_measure_the_same() -> None:
    assert foreign.find_octant_name("imb", "PingPong").workload == "mpi/p2p"
    assert foreign.find_octant_name("imb", "Truly_passive_put").workload == "imported/imb_truly_passive_put"
    assert foreign.find_octant_name("osu", "MPI All-to-All Personalized Exchange Latency Test").knobs == {
        "pattern": "alltoall"
    }
    assert re.fullmatch(r"imported/[a-z0-9_]+", foreign.find_octant_name("npb", "../../x; rm -rf\n$(y)").workload)
