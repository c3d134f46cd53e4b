"""What ARCHITECTURE.md calls one file or one folder is one: each is added here, and a command uses it."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fake_run import fake_run, machine, write_run
from octant import suites
from octant.cli import application
from octant.machine import discover
from octant.software.surroundings import Surroundings
from octant.study import file
from paths import ROOT
from registries import added
from study_text import STUDY

RUN = CliRunner()


def invoke(*words: str) -> str:
    """Return the output of a command that succeeds."""
    result = RUN.invoke(application(), list(words))
    assert result.exit_code == 0, (words, result.output, result.exception)
    return result.output


def written(folder: Path, name: str, source: str) -> Path:
    """Return a folder with one module."""
    home = folder / "entries"
    home.mkdir()
    (home / f"{name}.py").write_text(source, encoding="utf-8")
    return home


def test_the_map_names_a_test_for_each_file_and_folder() -> None:
    """Each row of the table that says "one file" or "one folder" names a file of tests that is there."""
    text = (
        (ROOT / "ARCHITECTURE.md")
        .read_text(encoding="utf-8")
        .partition("## Where things live")[2]
        .partition("\n## ")[0]
    )
    rows = [line for line in text.splitlines() if line.startswith("|") and re.search(r"\bone (file|folder)\b", line)]
    assert len(rows) >= 10
    for row in rows:
        tests = re.findall(r"`(tests/[a-z_/]+\.py)`", row)
        assert tests, row
        assert all((ROOT / one).is_file() for one in tests), row
        for place in re.findall(r"`(src/octant/[a-z_/]+)/(?=[A-Z*])", row):
            assert (ROOT / place).is_dir(), row


RULE = '''"""A rule that always applies."""

from octant.advice import Advice, Facts


def advise(facts: Facts) -> Advice | None:
    """Return the same advice for every machine."""
    return Advice(title="this is a demonstration", severity="note", evidence={}, fix=("true",), why="of a test")
'''


def test_a_rule_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discover, "discover", machine)
    monkeypatch.setattr("octant.software.observe.observe", lambda *_: Surroundings())
    with added("octant.advice.rules", written(tmp_path, "demo", RULE)):
        shown = RUN.invoke(application(), ["doctor", "--static"]).output
        assert "this is a demonstration" in shown
        assert "A rule that always applies" in RUN.invoke(application(), ["doctor", "--explain", "demo"]).output
    assert "demonstration" not in RUN.invoke(application(), ["doctor", "--static"]).output


FINDING = '''"""A finding that every run has."""

from octant.advice.findings import RuleResult, RunFinding


def judge(summary):
    """Return the same finding for every run."""
    found = RunFinding(rule="demo", title="this run is a demonstration", body="It is of a test.", lines=("true",),
                       family="demo", details=(), kind="reliability", gain=1.0)
    return RuleResult((found,))
'''


def test_a_finding_of_a_run_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_run(fake_run(), tmp_path / "store")
    monkeypatch.setenv("OCTANT_STORE", str(tmp_path / "store"))
    with added("octant.advice.findings", written(tmp_path, "demo", FINDING)):
        assert "this run is a demonstration" in invoke("report", "last")


KIND = '''"""A kind of test that is a ratio under another name."""

from octant.study.kinds.ratio import RatioTest


class DemoTest(RatioTest, frozen=True, kw_only=True):
    """A ratio."""
'''


def test_a_kind_of_test_and_a_study_are_one_file_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discover, "discover", machine)
    monkeypatch.setattr(file, "_shipped_folder", lambda: tmp_path / "studies")
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies" / "is-b-faster.toml").write_text(STUDY.replace('kind = "ratio"', 'kind = "demo"'))
    with added("octant.study.kinds", written(tmp_path, "demo", KIND)):
        (row,) = json.loads(invoke("study", "list", "--json"))
        assert (row["name"], row.get("error")) == ("is-b-faster", None)
        assert "Is b faster?" in invoke("study", "show", "is-b-faster")
    (row,) = json.loads(invoke("study", "list", "--json"))
    assert "demo" in row["error"]


FORMAT = '''"""Output of a tool of a test: lines `Triad RATE`, in bytes per second."""

from octant.foreign import ImportedRow, ImportedValue, Output, Table


def read(lines):
    """Return a table with a row for each line."""
    rows = tuple(
        ImportedRow(line.number, {}, (ImportedValue("bandwidth", float(line.text.split()[1]), "B/s", line.number),))
        for line in lines if line.text.startswith("Triad ")
    )
    return Output("Demo", "1", "", tuple(Table("stream", row.line, (row,), {"kernel": "triad"}, 1, 1) for row in rows))
'''


def test_an_import_format_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OCTANT_STORE", str(tmp_path / "store"))
    (tmp_path / "output").write_text("Triad 12.5e9\n")
    with added("octant.foreign", written(tmp_path, "demo", FORMAT)):
        (figure,) = json.loads(invoke("import", "demo", str(tmp_path / "output"), "--json"))["figures"]
        assert (figure["workload"], figure["median"]) == ("imported/demo_stream", 12.5e9)


COMMAND = '''"""A command of a test."""

import typer


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command("greet")(greet)


def greet() -> None:
    """Greet the caller."""
    print("hello")
'''


def test_a_command_is_one_file(tmp_path: Path) -> None:
    with added("octant.cli", written(tmp_path, "greeting", COMMAND)):
        assert invoke("greet") == "hello\n"
        assert "Greet the caller." in invoke("--help")
    assert RUN.invoke(application(), ["greet"]).exit_code != 0


def test_a_suite_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discover, "discover", machine)
    monkeypatch.setattr(suites, "_folder", lambda: tmp_path)
    text = (
        'title = "A demonstration"\n[[requests]]\nworkload = "node/stream"\ntitle = "triad"\n'
        'knobs = { kernel = "triad" }\n'
    )
    (tmp_path / "demo.toml").write_text(text)
    (row,) = json.loads(invoke("evaluate", "--list", "--json"))
    assert (row["name"], row.get("error")) == ("demo", None)
    (request,) = suites.requests(suites.load("demo"), machine(), name="demo")
    assert (request.subject.workload, request.knobs["kernel"]) == ("node/stream", "triad")
