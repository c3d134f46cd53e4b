"""How wide text is: as the terminal, else as COLUMNS says, else as a table needs."""

import io
import sys

import pytest
from rich.table import Table

from octant.report import terminal


def wide_table() -> Table:
    table = Table(box=None)
    for name in ("one", "two"):
        table.add_column(name, overflow="fold")
    table.add_row("word " * 20, "word " * 20)
    return table


@pytest.mark.parametrize(("named", "columns"), [("72", 72), ("160", 160), ("7", 40), ("10000", 500)])
def test_a_pipe_is_as_wide_as_columns_says(monkeypatch: pytest.MonkeyPatch, named: str, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", named)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert terminal.screen_columns(100) == columns
    longest = max(map(len, terminal.render(wide_table()).splitlines()))
    assert columns - 12 <= longest <= columns or columns > 200


@pytest.mark.parametrize("named", ["", "wide", "-3", "1e3", "9" * 40])
def test_columns_that_is_no_number_is_ignored(monkeypatch: pytest.MonkeyPatch, named: str) -> None:
    monkeypatch.setenv("COLUMNS", named)
    assert terminal.screen_columns(100, io.StringIO()) == 100
    assert terminal.screen_columns(80, io.StringIO()) == 80
