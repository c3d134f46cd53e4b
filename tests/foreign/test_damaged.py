"""Rows, verdicts and heads that are incomplete or unusual, one tool after the other."""

from pathlib import Path

import pytest

from foreign_outputs import figures, text_of, value
from octant import foreign
from octant.failure import Exit, Refusal
from octant.foreign import ImportedValue, Table

HPL = text_of("hpl-2.3.txt")


def imb(head: str, *rows: str, before: str = "# #processes = 4\n") -> Table:
    """Return the table of Allreduce with this head and these rows."""
    (table,) = foreign.read("imb", "\n".join([f"# Benchmarking Allreduce\n{before}{head}", *rows, ""])).tables
    return table


def names(table: Table) -> list[list[str]]:
    return [[one.name for one in row.values] for row in table.rows]


def test_the_word_of_linpack_counts_where_its_residual_would_pass() -> None:
    said = HPL.replace("5.10773301e+05", "1.0e+00")
    values = foreign.read("hpl", said).tables[1].rows[0].values
    assert values[-2:] == (
        ImportedValue("residual", 1.0, "1", 34, 16.0),
        ImportedValue("verification", 1.0, "1", 34, 0.0),
    )


def test_linpack_without_a_verdict_is_named_and_left_out() -> None:
    found = foreign.read("hpl", HPL.replace("PASSED", "passed").replace("FAILED", "failed"))
    assert found.tables == ()
    assert found.remarks[:2] == tuple(
        f"line {line} is not followed by a verdict and is not imported" for line in (18, 28)
    )


@pytest.mark.parametrize(
    "cells", [("2     4", "0     4"), ("2     4", "2     0"), ("6.51", "****"), ("2     4", "4000  4000")]
)
def test_linpack_with_cells_that_cannot_be_is_left_out(cells: tuple[str, str]) -> None:
    tables = foreign.read("hpl", HPL.replace(cells[0], cells[1], 1)).tables
    assert [one.line for one in tables] == ([18, 28] if cells[1] == "****" else [28])


def test_counts_of_a_row_are_whole() -> None:
    head = "#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]"
    for row in ("8 1.5 1 3 2", "8.5 9 1 3 2", "-8 9 1 3 2", "nan 9 1 3 2"):
        assert [one.line for one in imb(head, "4 9 1 3 2", row).rows] == [4]


def test_rates_are_those_of_rows_with_a_size_and_a_time() -> None:
    head = "#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec] Mbytes/sec"
    rows = ("0 9 1.00 2.00 1.50 0.00", "1000000 9 100.00 100.00 100.00 10000.00", "1000000 9 100.00 100.00 100.00 nan")
    times = ["time", "t_min", "t_max", "t_avg"]
    table = imb(head, *rows)
    assert names(table)[:2] == [times, [*times, "bandwidth"]]
    assert table.rows[1].values[-1].value == 1e10


def test_a_rate_is_not_checked_against_pure_communication() -> None:
    table = imb("#bytes #repetitions t_pure[usec] Mbytes/sec", "1000000 9 100.00 12345.00")
    assert names(table) == [["time", "t_pure"]], "nothing tells its megabyte"


def test_groups_that_are_not_listed_hold_neighbours() -> None:
    before = "# ( 3 groups of 2 processes each running simultaneous )\n"
    head, rows = "Group #bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]", [f"{k} 8 9 1 3 2" for k in range(3)]
    table = imb(head, *rows, before=before)
    assert (table.ranks, table.groups) == (6, ((0, 1), (2, 3), (4, 5)))
    assert [one.group for one in table.rows[0].values if one.name == "t_avg"] == [0, 1, 2]
    listed = imb(head, *rows, before=f"{before}#  Group  1:     4    5\n#  Group  2:     2    3\n")
    assert listed.groups == ((0, 1), (4, 5), (2, 3))
    twice = imb(head, *rows, before=f"{before}#  Group  1:     0    1\n")
    assert twice.groups == (), "ranks that are in two groups"


def test_threads_go_by_several_names() -> None:
    text = text_of("npb-3.3.1-omp.txt")
    for name in ("Total threads", "Number of threads", "Threads"):
        (table,) = foreign.read("npb", text.replace(" Total threads   =", f" {name} =")).tables
        assert (table.ranks, table.threads) == (1, 8)


def test_columns_with_one_space_between_them_are_told_apart() -> None:
    text = "# OSU MPI Allreduce Latency Test v7.5\n# Size Avg Latency(us) Min Latency(us) Validation\n8 3.0 1.0 Pass\n"
    found = foreign.read("osu", text)
    assert [one[3] for one in figures(found)] == ["t_avg", "t_min", "validation"]
    assert value(found, "MPI Allreduce Latency Test", "t_min", "8") == 1e-6


def test_a_size_of_zero_is_one_and_a_rate_of_minus_one_is_none() -> None:
    text = text_of("hpcc-1.5.0.txt").replace("\nPTRANS_n=200", "\nPTRANS_n=0").replace("\nHPL_N=400", "\nHPL_N=-1")
    tables = {table.benchmark: table for table in foreign.read("hpcc", text).tables}
    assert tables["ptrans"].knobs == {"n": "0", "block": "80", "grid": "1x2"}
    assert tables["hpl"].knobs == {"block": "80", "grid": "1x2"}


def test_a_refusal_names_the_file_the_reason_and_the_other_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "output.txt"
    path.write_text(text_of("osu-5.8.txt"))
    with pytest.raises(Refusal) as refused:
        foreign.read_file("imb", path)
    assert str(refused.value) == (
        f'cannot import {path}, which has no figures of imb: line 1 ("# OSU MPI Latency Test v5.8") is not recognised; '
        f"use octant import osu; supported tools: {', '.join(foreign.tools())}"
    )
    monkeypatch.setattr(foreign, "MAX_ROWS", 3)
    with pytest.raises(
        Refusal, match=r"^cannot import .*output.txt: it has \d+ rows with \d+ values; at most 3 and"
    ) as many:
        foreign.read_file("osu", path)
    assert (refused.value.code, many.value.code) == (Exit.WRONG_WORD, Exit.WRONG_WORD)
