"""Outputs as long as a reader accepts, of lines that take it longest: read or refused in seconds, not minutes."""

from collections.abc import Callable
from pathlib import Path

import pytest

from foreign_outputs import text_of
from fuzz_targets import attempt, targets
from octant import foreign
from octant.failure import Refusal
from octant.foreign._text import LONGEST, MAX_LINES

IMPORT = targets()["foreign_output"]


def filled(begin: str, line: str) -> str:
    """Return a text that begins so and goes on with this line up to the limits."""
    most = min((foreign.MAX_BYTES - 2 * len(begin)) // (len(line) + 1), MAX_LINES - begin.count("\n") - 2)
    return begin + f"{line}\n" * most


def up_to(text: str, line: str) -> str:
    """Return the text up to the end of the line that begins so."""
    return text[: text.index("\n", text.index(line)) + 1]


SPACES, LETTERS = " " * (LONGEST - 40), "a" * (LONGEST - 40)
IMB = up_to(text_of("imb-2021.11-p2p.txt"), "       #bytes")
GROUPS = up_to(text_of("imb-2021.11-multi.txt"), "     Group")
HPL_ROW = "WR00L2L2 10000 192 2 4 2.5 2.7e+02\n||Ax-b||_oo= 0.5 ...... PASSED\nXN : 5\nXN : 5\nXN : 5"
STREAM = text_of("stream-5.10.txt")
HPL, NPB, OSU = text_of("hpl-2.3.txt"), text_of("npb-3.4.2-mpi.txt"), text_of("osu-5.8.txt")
LONG: dict[str, tuple[str, Callable[[], str]]] = {
    "processes that are not named": ("imb", lambda: filled(IMB, f"#{SPACES}x")),
    "rows of one size and group": ("imb", lambda: filled(GROUPS, "0 8 1000 1.00 1.00 1.00")),
    "rows": ("imb", lambda: filled(IMB, "0 1000 1.00 0.00 3")),
    "short lines": ("imb", lambda: filled(IMB, "0" * 100)),
    "columns that are none": ("osu", lambda: filled(OSU, f"# {LETTERS}")),
    "checks that are none": ("hpl", lambda: filled(up_to(HPL, "WR"), "||x||" + "=" * (LONGEST // 2) + "." * 1000)),
    "verdicts that are none": ("hpl", lambda: filled(HPL, "||x||" + "." * 2000 + "...... PASSE")),
    "titles that are none": ("stream", lambda: filled(STREAM, "STREAM " * 500)),
    "rows and unknown members": ("hpl", lambda: up_to(HPL, "WR11") + f"{HPL_ROW}\n" * 5900),
    "ranks": ("stream", lambda: STREAM + "".join(f"{rank}: x\n" for rank in range(MAX_LINES - 100))),
    "values with spaces": ("npb", lambda: filled(up_to(NPB, "Benchmark Completed"), f" Class = a{SPACES}b")),
}


@pytest.mark.parametrize("what", LONG)
def test_the_longest_output_is_read_or_refused_soon(what: str) -> None:
    tool, text = LONG[what]
    assert attempt(IMPORT, f"{tool}\n{text()}".encode(), seconds=30).fault == ""


def test_the_bounds_are_named(tmp_path: Path) -> None:
    path = tmp_path / "output.txt"
    path.write_text(IMB + "0\n" * MAX_LINES)
    with pytest.raises(Refusal, match="cannot read the output: it has more than 30000 lines; divide it into"):
        foreign.read_file("imb", path)
    path.write_text(IMB + "0 1000 1.00 0.00 3\n" * (foreign.MAX_ROWS + 1))
    with pytest.raises(Refusal, match=r"10001 rows with 20002 values; at most 10000 and 50000"):
        foreign.read_file("imb", path)


def test_rows_of_groups_at_one_size_are_one_row() -> None:
    whole = foreign.read("imb", text_of("imb-2021.11-multi.txt"))
    table = next(table for table in whole.tables if table.groups)
    assert all(len({value.group for value in row.values}) == len(table.groups) for row in table.rows)
