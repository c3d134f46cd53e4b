"""`octant resume RUN -- COMMAND`: goes on with what the user gives again, and starts nothing that only a store says."""

import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fake_kernel import planned
from fake_run import machine
from octant.failure import Exit
from octant.program import ProgramCheck, ProgramValue
from octant.request import Launch, Request, Subject
from octant.store import Store, StoredRun
from octant.store.run_request import start_line
from paths import Octant


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a directory of the user in which the command works, next to its store."""
    path = tmp_path / "work"
    path.mkdir()
    return path


def subject(folder: Path, **parts: Any) -> Subject:
    return replace(Subject(command=("true", "{n}"), program="true", directory=str(folder)), **parts)


def stored(folder: Path, asked: Subject, knobs: str = "1", where: str = "asked.json", repeats: int = 1) -> StoredRun:
    """Return a run without measurements; a planted launch in plan.jsonl was decided later."""
    request, store = Request(asked, {"n": knobs}, repeats=repeats), Store(folder.parent / "store")
    if where == "asked.json":
        return store.create("q", machine(), [request])
    run = store.create("q", machine(), [Request(subject(folder), {"n": "1"}, repeats=1)])
    run.plan.write_text(start_line(planned(Launch(request, 1), run.records), was_asked=False) + "\n")
    return run


@pytest.mark.parametrize("where", ["asked.json", "plan.jsonl"])
@pytest.mark.parametrize(
    ("planted", "why"),
    [
        ({"command": ("touch", "MARKER")}, "argument 1 of the command line is 'true', but 'touch' in the run"),
        ({"command": ("true", "{n}", "x")}, "the command line has 2 arguments, but 3 in the run"),
        ({"environment": {"LD_PRELOAD": "MARKER"}}, "the variable LD_PRELOAD is missing; it is '.*' in the run"),
        ({"input": "MARKER"}, "the input is missing, but '"),
        ({"directory": "/"}, "the working directory is '.*', but '/' in the run"),
        ({"before": (("touch", "MARKER"),)}, "--before is missing, but 'touch"),
        ({"after": (("touch", "MARKER"),)}, "--after is missing, but 'touch"),
        ({"checks": (ProgramCheck("command", command=("touch", "MARKER")),)}, "--check command is missing, but "),
    ],
    ids=["command", "more words", "variable", "input", "directory", "before", "after", "check"],
)
def test_nothing_that_only_a_store_says_is_started(
    folder: Path, octant: Octant, planted: dict[str, Any], why: str, where: str
) -> None:
    marker = folder.parent / "sprung"
    evil = subject(folder, **{name: with_marker(value, str(marker)) for name, value in planted.items()})
    run = stored(folder, evil, where=where)
    before = run.plan.read_text() if run.plan.exists() else ""
    done = octant("resume", "last", "n=1", "--", "true", "{n}", cwd=folder)
    assert done.returncode == Exit.WRONG_WORD
    assert re.search(why, done.stderr), done.stderr
    unnamed = octant("resume", "last", cwd=folder)
    assert unnamed.returncode == Exit.NOT_SUPPORTED
    assert "command lines in a store are never executed" in unnamed.stderr
    assert not marker.exists()
    assert (run.plan.read_text() if run.plan.exists() else "") == before, "nothing was started"


def with_marker(value: Any, marker: str) -> Any:
    if isinstance(value, ProgramCheck):
        return replace(value, command=with_marker(value.command, marker))
    if isinstance(value, dict):
        return {name: with_marker(one, marker) for name, one in value.items()}
    return (
        tuple(with_marker(one, marker) for one in value)
        if isinstance(value, tuple)
        else value.replace("MARKER", marker)
    )


@pytest.mark.parametrize("name", ["n", "threads"])
def test_the_values_of_knobs_are_given_again(folder: Path, octant: Octant, name: str) -> None:
    """They are filled into the words: `sh -c 'solve {n}'` would start whatever the value says."""
    marker, command = folder.parent / "sprung", ("sh", "-c", f"true {{{name}}}")
    request = Request(subject(folder, command=command, program="sh"), {name: f"1; touch {marker}"}, repeats=1)
    Store(folder.parent / "store").create("q", machine(), [request])
    for words in ([f"{name}=1"], []):
        done = octant("resume", "last", *words, "--", *command, cwd=folder)
        assert done.returncode == Exit.WRONG_WORD
        assert f"the knob {name} is" in done.stderr
    assert not marker.exists()


@pytest.mark.parametrize(
    "planted",
    [
        {"values": (ProgramValue("secret", source="/etc/passwd", pattern="(.*)"),)},
        {"values": (ProgramValue("secret", source="../x", pattern="(.*)"),)},
        {"checks": (ProgramCheck("file", file="a", reference="/etc/passwd"),)},
        {"keep": ("/etc/*",)},
    ],
    ids=["absolute", "above", "reference", "kept"],
)
def test_a_file_elsewhere_that_only_a_store_names_is_not_read(
    folder: Path, octant: Octant, planted: dict[str, Any]
) -> None:
    stored(folder, subject(folder, **planted))
    done = octant("resume", "last", "n=1", "--", "true", "{n}", cwd=folder)
    assert done.returncode == Exit.NOT_SUPPORTED
    assert "it is outside the working directory of the program" in done.stderr
    assert "add --allow " in done.stderr


def test_a_reference_is_read_if_the_check_is_given_again(folder: Path, octant: Octant) -> None:
    stored(folder, subject(folder, checks=(ProgramCheck("file", file="a", reference="/etc/hostname"),)))
    done = octant("resume", "last", "n=1", "--check", "file a = /etc/hostname", "--", "true", "{n}", cwd=folder)
    assert "it is outside" not in done.stderr
    other = octant("resume", "last", "n=1", "--check", "file a = b", "--", "true", "{n}", cwd=folder)
    assert "--check differs from that of the run" in other.stderr


def test_the_line_that_is_shown_goes_on_with_the_run(folder: Path, octant: Octant) -> None:
    """All that has to be given again is in it, quoted for a shell."""
    parts = {
        "command": ("sh", "-c", "echo \"n {n} '$A'\" >>out; cat"),
        "program": "sh",
        "environment": {"A": "b c"},
        "input": "in put",
        "before": (("touch", "be fore"),),
        "after": (("touch", "after"), ("touch", "{n}")),
        "checks": (ProgramCheck("command", command=("true", "{n}")),),
    }
    (folder / "in put").write_text("x\n")
    run = stored(folder, subject(folder, **parts), knobs="1,2")
    refused = octant("resume", "last", cwd=folder)
    line = shlex.split(refused.stderr.partition("; if you trust it, run ")[2])
    assert line[:3] == ["octant", "resume", run.id]
    done = octant(*line[1:], cwd=folder)
    assert done.returncode == Exit.OK, done.stderr
    assert sorted((folder / "out").read_text().splitlines()) == ["n 1 'b c'", "n 2 'b c'"]
    assert Store(folder.parent / "store").read(run.id).complete
    assert octant(*line[1:], cwd=folder).returncode == Exit.OK
    assert len((folder / "out").read_text().splitlines()) == 2, "nothing is measured again"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["n=2", "--", "true", "{n}"], "the knob n is '2', but '1' in the run"),
        (["--", "true", "{n}"], "the knob n is missing; it is '1' in the run"),
        (["n=1", "--env", "A=b", "--", "true", "{n}"], "the run has no variable A"),
        (["n=1", "--value", "x=y", "--", "true", "{n}"], "--value differs from that of the run"),
        (["n=1", "--keep", "x", "--", "true", "{n}"], "--keep differs from that of the run"),
        (["n=1", "--fresh-dir", "--", "true", "{n}"], "the run does not use --fresh-dir"),
        (["n=1", "--", "true", "{n} "], "argument 2 of the command line is '{n} ', but '{n}' in the run"),
        (["n=1", "--"], "the command line after -- is missing"),
        (["n=1", "--env", "A=b"], "command lines in a store are never executed"),
    ],
)
def test_the_first_difference_is_shown(folder: Path, octant: Octant, words: list[str], why: str) -> None:
    run = stored(folder, subject(folder))
    done = octant("resume", "last", *words, cwd=folder)
    assert done.returncode != Exit.OK
    assert why in done.stderr
    assert why.startswith("the command line after") or f"run octant resume {run.id} n=1 -- true {{n}}" in done.stderr


def test_a_run_of_workloads_takes_no_program(octant: Octant, tmp_path: Path) -> None:
    Store(tmp_path / "store").create("q", machine(), [Request(Subject("node/stream"), repeats=1)])
    assert "it is a run of workloads" in octant("resume", "last", "--", "true").stderr
    assert "--env" in octant("resume", "last", "--env", "A=b").stderr
    assert "the knobs are stored with the run" in octant("resume", "last", "bytes=1").stderr
