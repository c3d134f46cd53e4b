"""What `--help` and the tab key say: nothing swallowed, nothing cut off, names that only Octant knows."""

from pathlib import Path

import pytest
import typer.testing

from octant.cli import _complete, application

COMMANDS = (
    "",
    "run ",
    "evaluate ",
    "report ",
    "compare ",
    "export ",
    "doctor ",
    "place ",
    "where ",
    "model ",
    "study ",
)


def called(words: str, **env: str) -> str:
    return typer.testing.CliRunner(env={"COLUMNS": "80", **env}).invoke(application(), words.split()).output


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_whole_and_fits(command: str) -> None:
    page = called(command + "--help")
    assert page.startswith("Usage: ")
    assert max(map(len, page.splitlines())) <= 80
    assert not [line for line in page.splitlines()[1:] if line.endswith("...")]


def test_defaults_in_words_are_shown() -> None:
    assert "[default: report.html in the run's" in called("report --help")
    assert "[default: the one available]" in " ".join(called("where --help").split())


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("octant run st", "stream"),
        ("octant doctor --explain limit_m", "limit_memlock"),
        ("octant report pre", "previous"),
    ],
)
def test_the_tab_key_knows_names(typed: str, offered: str) -> None:
    words = {"_OCTANT_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
    result = typer.testing.CliRunner(env=words).invoke(application(), prog_name="octant")
    assert result.output.split() == [offered]


def test_runs_of_the_store_are_offered_newest_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("20260101-a", "20260102-b"):
        (tmp_path / "runs" / name).mkdir(parents=True)
    monkeypatch.setenv("OCTANT_STORE", str(tmp_path))
    assert _complete.runs("") == ["last", "previous", "20260102-b", "20260101-a"]
    assert _complete.runs("l") == ["last"]
