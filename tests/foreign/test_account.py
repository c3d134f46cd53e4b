"""Every line of a file is interpreted, irrelevant for a stated reason, or unrecognised and named."""

import math
import re
from collections import Counter
from pathlib import Path

import pytest

from foreign_outputs import FILES, figures, text_of, tool_of
from octant import foreign, registry
from octant.failure import Refusal
from octant.foreign import ImportedRow, ImportedValue, Line, Lines, Output, Table
from octant.foreign._account import KnownLines, known_lines, nearest, settle
from octant.foreign._clean import clean
from octant.foreign._plausible import measured

SAYING = [Line(number, text) for number, text in enumerate(["Tool 1.0", "N : 5", "X : 6", "row 1", "done", "row 2"], 1)]


def table(line: int, *scope: tuple[int, int]) -> Table:
    return Table(f"test {line}", line, (ImportedRow(line, {}, (ImportedValue("time", 1.0, "s", line),)),), scope=scope)


def known(tmp_path: Path) -> KnownLines | None:
    path = tmp_path / "tool.toml"
    path.write_text(
        'expected = ["Tool N row"]\n'
        '[[irrelevant]]\nreason = "the end"\npatterns = ["done"]\n'
        '[[syntax]]\nwhat = "parameters"\npatterns = ["[A-Z] : .*"]\n'
    )
    return known_lines(path)


def test_lines_that_may_change_figures_leave_those_out_and_are_quoted(tmp_path: Path) -> None:
    lines = Lines(SAYING)
    lines.use(1, 2, 4)
    found = settle(lines, known(tmp_path), Output("Tool", "1", "", (table(4, (1, 4)), table(6, (5, 6)))))
    assert [one.line for one in found.tables] == [6]
    (remark,) = found.remarks
    assert remark.startswith(
        'line 3 ("X : 6") is not recognised and may change figures; not imported: test 4 (line 4). If the line'
    )
    account = found.account
    assert (account.interpreted, account.irrelevant, account.unrecognised) == (3, 1, 2)
    assert account.quoted == ('line 3 ("X : 6")', 'line 6 ("row 2")')
    assert known(tmp_path) == known_lines(tmp_path / "tool.toml")
    assert known_lines(tmp_path / "none.toml") is None


def test_what_a_reader_refuses_is_a_remark_and_leaves_other_figures(tmp_path: Path) -> None:
    lines = Lines(SAYING)
    lines.use(1, 2, 3, 4, 6)
    lines.refuse(4, 'the column "Foo" is not imported')
    found = settle(lines, known(tmp_path), Output("Tool", "1", "", (table(4),)))
    assert found.tables == (table(4),)
    assert found.remarks == ('line 4 ("row 1") is not recognised: the column "Foo" is not imported',)


def test_a_line_in_front_of_a_prefix_is_still_in_the_syntax_of_the_tool(tmp_path: Path) -> None:
    lines = Lines([Line(1, "[3] X : 6")])
    assert settle(lines, known(tmp_path), Output("Tool", "1", "", (table(4),))).tables == ()


PREFIXES = {
    "srun -l": "{rank}: ", "srun -l of many": " {rank}: ", "Open MPI": "[1,{rank}]<stdout>:",
    "PRRTE": "[prterun-node1-77@1,{rank}]<stdout>: ", "Hydra": "[{rank}] ", "mpiexec": "{rank}> ",
    "PALS": "x1000c0s0b0n0 {rank}: ", "pdsh": "node{rank}: ", "ISO": "2026-11-26T13:41:32.123+01:00 ",
    "brackets": "[2026-11-26 13:41:32] ", "date": "Thu Nov 26 13:41:32 2026 ", "both": "13:41:32 {rank}: ",
    "Open MPI's time": "Thu Nov 26 13:41:32 2026<stdout>:", "seconds": "[  12.345678] ",
    "time and dash": "2026-11-26 13:41:32 - ", "containers": "bench-{rank}  | ",
    "journal": "Nov 26 13:41:32 node1 bash[4711]: ",
}  # fmt: skip


@pytest.mark.parametrize("what", PREFIXES)
def test_a_prefix_of_the_whole_file_is_removed_and_ranks_are_kept_apart(what: str) -> None:
    prefix = PREFIXES[what]
    texts = ["Size 5 6", "  N : 7", "", "1 2.5 3.5", "2: 5", "- a parameter", "| a cell"]
    lines = [Line(number, prefix.format(rank=0) + text) for number, text in enumerate(texts, 1)]
    if "{rank}" in prefix:
        lines.insert(2, Line(99, prefix.format(rank=12) + "a warning of rank 12"))
    found = clean(lines)
    first, *others = found.streams.values()
    assert [line.text for line in first] == [text.strip() for text in texts]
    assert [[line.text for line in other] for other in others] == [["a warning of rank 12"]] * ("{rank}" in prefix)
    assert found.prefixes


def test_a_prefix_of_few_lines_is_none_and_colours_are_removed() -> None:
    lines = [Line(1, "\x1b[1;32mTool\x1b[0m 1.0\x07"), Line(2, "0: 5"), Line(3, "\tN : 5"), Line(4, "x y"), Line(5, "")]
    found = clean(lines)
    assert [line.text for line in found.streams[""]] == ["Tool 1.0", "0: 5", "N : 5", "x y", ""]
    assert found.prefixes == ()


def test_copies_of_a_program_are_refused() -> None:
    text = text_of("stream-5.10.txt")
    both = "".join(f"{rank}: {line}" for line in text.splitlines(keepends=True) for rank in (0, 1))
    with pytest.raises(Refusal, match="ranks 0, 1 each printed figures of stream"):
        foreign.read("stream", both)
    warned = "".join(f"0: {line}1: a warning\n" for line in text.splitlines(keepends=True))
    found = foreign.read("stream", warned)
    assert [one[5] for one in figures(found)] == [one[5] for one in figures(foreign.read("stream", text))]
    assert found.remarks == ('19 lines of other ranks are not imported; the first is line 2 ("a warning")',)


@pytest.mark.parametrize("value", [0.0, -1.0, math.inf, math.nan, 2.4e-301])
def test_impossible_values_are_omitted_and_listed(value: float) -> None:
    check = ImportedValue("residual", 0.0, "1", 9, 16.0)
    rows = (ImportedRow(1, {}, (ImportedValue("rate", value, "flop/s", 1), ImportedValue("time", 2.0, "s", 1), check)),)
    (kept,), (remark,) = measured((Table("a", 1, rows),))
    assert kept.rows[0].values == (ImportedValue("time", 2.0, "s", 1), check)
    assert remark.startswith("1 value not imported (zero or implausible): rate ")
    assert remark.endswith(" flop/s (line 1)")
    named = ImportedRow(1, {}, (ImportedValue("rate", value, "flop/s", 1, printed="HPL_Tflops=x"), check))
    (remark,) = measured((Table("a", 1, (named,)),))[1]
    assert remark == "1 value not imported (zero or implausible): HPL_Tflops=x (line 1)"
    only = (ImportedRow(1, {}, (ImportedValue("rate", value, "flop/s", 1), check)),)
    assert measured((Table("a", 1, only),))[0] == ()


def test_what_is_plausible_is_kept_as_it_is() -> None:
    tables = tuple(foreign.read(tool_of(path), path.read_text()).tables for path in FILES)
    assert all(measured(one) == (one, ()) for one in tables)


def test_the_nearest_line_shares_most_words() -> None:
    assert nearest(SAYING, ["a row 2", "done"]) == SAYING[4]
    assert nearest(SAYING, ["row 2 x"]) == SAYING[5]
    assert nearest([Line(1, " "), Line(2, "x")], []) == Line(2, "x")
    assert nearest([], ["x"]) is None


def test_every_reason_and_pattern_of_the_readers_can_be_used() -> None:
    for tool in foreign.tools():
        data = known_lines(registry.file_of("octant.foreign", tool).with_suffix(".toml"))
        for pattern, reason in data.reasons if data else ():
            assert reason.strip(), pattern


ACCOUNTED = [
    path for path in FILES if known_lines(registry.file_of("octant.foreign", tool_of(path)).with_suffix(".toml"))
]
"""The outputs of tools whose readers account for their lines."""
STRANGE = {
    "a parameter": "XSLOPPY : 3", "a member": "Number of devices = 4", "a fact": "Buffer location = device",
    "a line of another program": "[node7:123] WARNING: no device found", "a comment": "# Validation: off",
    "a title": "HPL-FOO 9.1 -- Foo's High-Performance Linpack benchmark --",
    "another title": "NAS Parallel Benchmarks 9 (quick) -- XX Benchmark", "a third title": "GPU-STREAM Version 3.2",
    "a row": "Triad:           1.5     0.0042     0.0042     0.0042     7",
    "another row": "WR11C2R4 10 2 2 4 7 1 9 9 9",
    "a verdict": "||Ax-b||_oo/(eps*||A||)= 0.5 ...... SKIPPED", "columns": "T/V  N  NB  P  Q  Watts",
    "other columns": "Function    Best Rate GB/s  Avg time     Min time     Max time",
    "a section": "=== GPU results ===",
}  # fmt: skip


def kept(found: Output) -> list[tuple[object, ...]]:
    """Each figure with what decides its cell, without numbers of lines."""
    return [
        (table.benchmark, str(dict(table.knobs)), str(dict(row.knobs)), table.ranks, table.threads, v.name, v.value)
        for table in found.tables
        for row in table.rows
        for v in row.values
    ]


def named(found: Output, number: int) -> bool:
    """Whether the import reports this line."""
    return any(f"line {number} " in text for text in (*found.account.quoted, *found.remarks))


def within(after: list[tuple[object, ...]], before: list[tuple[object, ...]]) -> bool:
    """Whether some figures are missing, and no other is there instead."""
    return len(after) < len(before) and not Counter(after) - Counter(before)


def positions(lines: list[str]) -> list[int]:
    """Return the ends, each change from one kind of line to another, and some between."""
    kinds = [re.sub(r"[\d.eE+-]+", "0", line)[:12] for line in lines]
    changes = [k for k in range(1, len(lines)) if kinds[k] != kinds[k - 1]]
    return sorted({0, len(lines), *changes[:: max(1, len(changes) // 6)]})


@pytest.mark.parametrize("path", ACCOUNTED, ids=lambda path: path.name)
def test_a_line_that_is_not_known_is_never_passed_over(path: Path) -> None:
    """The figures are the same and the line is among the unrecognised, or those that it may change are refused."""
    tool, lines = tool_of(path), text_of(path.name).splitlines()
    whole = foreign.read(tool, text_of(path.name))
    before = kept(whole)
    for place in positions(lines):
        for what, strange in STRANGE.items():
            text = "\n".join([*lines[:place], strange, *lines[place:], ""])
            found = foreign.read(tool, text)
            assert named(found, place + 1), (what, place)
            assert kept(found) == before or (found.remarks and within(kept(found), before)), (what, place)


@pytest.mark.parametrize(
    "path",
    [path for path in ACCOUNTED if "-prefix" not in path.name and path.name != "osu-7.5-cuda.txt"],
    ids=lambda path: path.name,
)
def test_a_prefix_of_one_line_is_never_passed_over(path: Path) -> None:
    """A line that only one rank's prefix sets apart is unrecognised, and what it may change is refused."""
    tool, lines = tool_of(path), text_of(path.name).splitlines()
    whole = foreign.read(tool, text_of(path.name))
    before = kept(whole)
    for place in range(0, len(lines), max(1, len(lines) // 9)):
        if re.search(r"\w", lines[place]):
            found = foreign.read(tool, "\n".join([*lines[:place], f"[7] {lines[place]}", *lines[place + 1 :], ""]))
            after = kept(found)
            assert after == before or (found.remarks and within(after, before)), lines[place]
            assert named(found, place + 1), lines[place]


@pytest.mark.parametrize("path", ACCOUNTED, ids=lambda path: path.name)
def test_a_prefix_of_all_lines_changes_no_figure(path: Path) -> None:
    tool, lines = tool_of(path), text_of(path.name).splitlines()
    whole = foreign.read(tool, text_of(path.name))
    for what in list(PREFIXES)[ACCOUNTED.index(path) % 2 :: 2]:  # the files of each tool have all of them together
        prefix = PREFIXES[what]
        text = "".join(f"{prefix.format(rank=0)}  \x1b[32m{line}\x1b[0m\n" for line in lines)
        found = foreign.read(tool, text)
        assert kept(found) == kept(whole), what
        assert found.account.unrecognised == whole.account.unrecognised, what
        assert found.account.prefixes, what


@pytest.mark.parametrize("path", ACCOUNTED, ids=lambda path: path.name)
def test_every_line_of_the_outputs_here_is_known(path: Path) -> None:
    """Outputs with lines of other programs have `noise` in their names."""
    found = foreign.read(tool_of(path), text_of(path.name))
    assert ("noise" in path.name) == bool(found.account.unrecognised), found.account.quoted


@pytest.mark.parametrize(
    "path",
    [path for path in ACCOUNTED if path.name != "osu-7.5-cuda.txt"],  # does not state what its tables have in common
    ids=lambda path: path.name,
)
def test_all_runs_of_a_file_are_read(path: Path) -> None:
    tool, text = tool_of(path), text_of(path.name)
    whole, twice = foreign.read(tool, text), foreign.read(tool, text + text)
    assert kept(twice) == kept(whole) * 2
    assert twice.account.unrecognised == 2 * whole.account.unrecognised
