"""How wide text is: as the terminal, else as COLUMNS says, else as a table needs."""

import io
import os
import re
import subprocess
import sys

import pytest
from rich.table import Table

from octant.report import terminal
from pseudo_terminal import output_in_terminal

DOCTOR = """
from octant.advice import Advice, Diagnosis
from octant.registry import Broken
from octant.advice.fitness import judge_fitness
from octant.report.machine.advice import as_text

advice = Advice("Swap [2 GiB]", "spoils", {"/proc/swaps": "[x]"}, ("swapoff -a  # " + 90 * "x",), "Slow.", "swap")
found = Diagnosis((advice,), (Broken("mine", "mine.py", "no rule"),))
print(as_text(found, judge_fitness(None, found, "--static")))
"""


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


def test_the_doctor_prints_the_same_text_with_colours_in_a_terminal_only() -> None:
    env = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {"COLUMNS": "80", "TERM": "xterm"}
    command = [sys.executable, "-c", DOCTOR]
    plain = subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout
    shown = output_in_terminal(command, env)
    assert "\x1b" not in plain
    assert f"swapoff -a  # {90 * 'x'}\n" in plain, "a line to be copied"
    for code, text in (("1;31", "Invalidates"), ("2", r"\(swap\)"), ("36", "fix   swapoff"), ("1;33", "Rules that")):
        assert re.search(rf"\x1b\[{code}m{text}", shown), text
    assert re.sub(r"\x1b\[[0-9;]*m", "", shown) == plain
