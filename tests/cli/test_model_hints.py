"""Hints of the network model name options that exist."""

import re
from pathlib import Path

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

from octant.cli import application, model
from octant.failure import Refusal

OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
PARTS = ("cli/model.py", "network", "report/network", "simulate")


def options() -> set[str]:
    """Every option of every `octant model` command."""
    app = typer.Typer()
    model.register(app)
    app.callback()(lambda: None)
    (group,) = get_command(app).commands.values()  # type: ignore[attr-defined]
    return {word for command in group.commands.values() for one in command.params for word in one.opts}


def sources() -> list[Path]:
    root = Path(__file__).resolve().parents[2]
    folder, native = root / "src" / "octant", root / "native" / "network"
    files = [
        path for part in PARTS for path in ([folder / part] if part.endswith(".py") else (folder / part).rglob("*.py"))
    ]
    return [*files, *native.rglob("*.cpp")]


@pytest.mark.parametrize("path", sources(), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_each_option_that_a_hint_names_exists(path: Path) -> None:
    text = path.read_text()
    said = STRING.findall(text) if path.suffix == ".cpp" else [text]
    named = {word for part in said for word in OPTION.findall(part)}
    assert named - options() - {"--help"} == set()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("power775", "--run", "last"), "cannot use --run with power775"),
        (("power775", "--nodes", "1"), "cannot use --nodes 1"),
    ],
)
def test_what_contradicts_in_a_question_about_hpcc_is_refused(words: tuple[str, ...], why: str) -> None:
    with pytest.raises(Refusal, match=why):
        CliRunner().invoke(application(), ["model", "hpcc", *words], catch_exceptions=False)
