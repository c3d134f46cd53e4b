"""Measures that name a program: what a study file may say, what is started, and the verdicts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fake_run import machine
from octant import build, suites
from octant.cli import application
from octant.failure import Exit, Refusal
from octant.program import ProgramValue
from octant.runs.programs.permissions import permissions
from octant.runs.programs.reference import baseline_of
from octant.study import file
from octant.study.design import design
from octant.study.file import StudyError
from octant.study.measures import metric_of
from octant.study.question import Study

STUDY = """
question = "Is b faster?"
repeats = 4
baseline = { way = "a" }
[measures.rate]
command = ["./app", "--way", "{way}"]
environment = { OMP_NUM_THREADS = "{threads}" }
values = [{ name = "rate", unit = "Mop/s", pattern = 'rate ([0-9.]+)' }]
[measures.memory]
command = ["./app", "--way", "{way}"]
environment = { OMP_NUM_THREADS = "{threads}" }
metric = "memory"
[factors.way]
a = { knobs = { way = "1" } }
b = { knobs = { way = "2" } }
[[findings]]
id = "b-is-faster"
statement = "The second way is twice as fast."
test = { kind = "ratio", measure = "rate", of = { way = "b" }, bar = { above = 1.5 } }
"""

APP = """#!/bin/sh
touch started
echo "rate $(($2 * 10))"
"""


def program(folder: Path, name: str = "app", text: str = APP) -> Path:
    """A program in a folder."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


def parsed(old: str = "", new: str = "") -> Study:
    """The study with a part replaced, in every place."""
    assert old in STUDY
    return file.parse(STUDY.replace(old, new) if old else STUDY, "mine")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kernels: Path) -> Path:
    """A folder with the study and its program, in which commands are given."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OCTANT_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("OCTANT_KERNELS", str(kernels))
    monkeypatch.setenv("COLUMNS", "100")
    program(tmp_path)
    (tmp_path / "mine.toml").write_text(STUDY, encoding="utf-8")
    return tmp_path


def test_a_program_has_its_values_and_what_is_measured_of_every_program() -> None:
    study = parsed()
    rate, memory = (metric_of(study.measures[name]) for name in ("rate", "memory"))
    assert (rate.name, rate.unit, rate.better) == ("rate", "Mop/s", "higher")
    assert (memory.name, memory.unit, memory.better) == ("memory", "B", "lower")
    assert metric_of(parsed('metric = "memory"\n', "").measures["memory"]).name == "wall time"


def test_measures_of_one_command_share_its_launches(here: Path) -> None:
    plan = design(parsed(), machine(), 1)
    assert [request.knobs for request in plan.requests] == [{"way": "1", "threads": "1"}, {"way": "2", "threads": "1"}]
    for request in plan.requests:
        assert request.subject.values == (ProgramValue("rate", "Mop/s", "higher", pattern="rate ([0-9.]+)"),)
        assert request.subject.directory == str(here)
        assert request.subject.name == "program/app"
    assert len(plan.questions) == 4
    assert set(plan.questions.values()) == {request.key for request in plan.requests}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('["./app", "--way", "{way}"]', "[]", "with source = 'measure' it must name a workload or a command"),
        ("[measures.memory]", '[measures.memory]\nworkload = "stream"', "it must name a workload or a command, and no"),
        (
            'metric = "memory"',
            'metric = "memori"',
            "measures.memory.metric: no metric 'memori' in program/app); did you mean memory",
        ),
        (
            'knobs = { way = "1" }',
            'knobs = { wayy = "1" }',
            "the command line does not contain {wayy}); did you mean way?",
        ),
        ('knobs = { way = "1" }', 'link = "1Gbit/s"', "way a has the key `link`, which is not available for programs"),
        ('metric = "memory"', 'mode = "all"', "measures.memory.mode: a program has no mode"),
        ('metric = "memory"', "predicted = true", "measures.memory.predicted: a prediction requires a workload"),
        ("'rate ([0-9.]+)'", "'rate (['", "measures.rate.values.0: invalid --value"),
        ("pattern = ", "patern = ", "measures.rate.values.0.patern: unknown key); did you mean pattern?"),
        (", pattern = 'rate ([0-9.]+)'", "", "a value needs either `pattern` (regular expression) or `path` (JSON)"),
        ('name = "rate"', 'name = "wall time"', "wall time is always measured, and its name is reserved"),
        ('name = "rate"', 'name = "a[b"', "measures.rate.values.0: invalid --value"),
        ('unit = "Mop/s"', 'source = "../x"', "it is outside the working directory of the program"),
        ('metric = "memory"', 'checks = ["rate within x"]', "measures.memory.checks.0: invalid --check"),
        ('OMP_NUM_THREADS = "{threads}"', 'A-B = "1"', "measures.rate.command: invalid --env"),
        (
            'metric = "memory"',
            "values = [{ name = 'rate', unit = 'Mop/s', pattern = 'total ([0-9.]+)' }]",
            "measures.memory.values: rate defines 'rate' differently",
        ),
        ('id = "b-is-faster"', 'id = "p6-locality-best"', "the catalogue already has a statement for p6-locality-best"),
        ('statement = "The second way is twice as fast."', "", "no finding 'b-is-faster'"),
    ],
)
def test_mistakes_are_refused_with_their_key(old: str, new: str, message: str) -> None:
    with pytest.raises(StudyError) as refused:
        parsed(old, new)
    assert message in str(refused.value)


def test_only_a_program_has_values() -> None:
    text = STUDY.replace('command = ["./app", "--way", "{way}"]\nenvironment', 'workload = "stream"\nenvironment')
    with pytest.raises(StudyError, match=r"measures\.rate\.environment: this key requires `command`"):
        file.parse(text, "mine")


def test_checks_compare_with_the_baseline_of_the_study(here: Path) -> None:
    """It is the first request, and programs that a knob names have one subject."""
    for name in ("app-1", "app-2"):
        program(here, name)
    text = STUDY.replace('"./app"', '"./app-{way}"').replace(
        "[measures.memory]", "checks = ['rate within 1']\n[measures.memory]"
    )
    study = file.parse(
        text.replace('way = "a"', 'way = "b"').replace('of = { way = "b" }', 'of = { way = "a" }'), "mine"
    )
    plan = design(study, machine(), 1)
    assert [request.knobs["way"] for request in plan.requests] == ["2", "1"]
    assert {request.subject.name for request in plan.requests} == {"program/app-way"}
    assert baseline_of(plan.requests[1], plan.requests).request == plan.requests[0]


@pytest.mark.usefixtures("here")
def test_a_program_that_is_not_there_cannot_be_asked() -> None:
    plan = design(parsed('"./app"', '"no-such-program"'), machine(), 1)
    assert plan.requests == ()
    assert set(plan.absent.values()) == {"program no-such-program is not on PATH"}


@pytest.mark.mpi
@pytest.mark.usefixtures("here", "mpiexec_on_path")
def test_a_launcher_of_the_command_line_says_how_many_ranks() -> None:
    launched = parsed('["./app",', '["mpiexec", "-n", "2", "./app",')
    assert {(request.shape.ranks, request.subject.name) for request in design(launched, machine(), 1).requests} == {
        (2, "program/app")
    }
    text = STUDY.replace('["./app",', '["mpiexec", "-n", "{ranks}", "./app",')
    counted = file.parse(text.replace('metric = "memory"', 'metric = "memory"\nranks = "cores"'), "mine")
    assert {request.shape.ranks for request in design(counted, machine(cores=4), 1).requests} == {1, 4}
    wrong = file.parse(text.replace("{ranks}", "3").replace("metric", 'ranks = "2"\nmetric', 1), "mine")
    with pytest.raises(StudyError, match="its launcher starts 3 ranks, but `ranks` is 2"):
        design(wrong, machine(), 1)


def run(*words: str, code: int = 0) -> str:
    """What a command prints; a refusal is its text."""
    result = CliRunner().invoke(application(), list(words))
    if isinstance(result.exception, Refusal):
        assert result.exception.code == code
        return str(result.exception)
    assert result.exit_code == code, (words, result.output, result.exception)
    return result.output


@pytest.mark.alone
def test_a_study_of_a_program_has_verdicts_and_a_page(here: Path) -> None:
    refusal = run("study", "run", "mine.toml", code=Exit.NOT_SUPPORTED)
    assert "./app --way {way}" in refusal
    assert refusal.endswith("run octant study run mine.toml --allow ./app")
    assert not (here / "started").exists()
    out = run("study", "run", "mine.toml", "--allow", "./app")
    assert (here / "started").exists()
    assert "holds: ×2.00" in out
    run("study", "report", "mine", "-o", "page.html")
    found = json.loads(run("study", "report", "mine", "--json"))
    assert found["findings"][0]["statement"] == "The second way is twice as fast."
    assert found["findings"][0]["status"] == "holds"
    page = (here / "page.html").read_text(encoding="utf-8")
    assert "The second way is twice as fast." in page
    assert "Statements of the author of the study" in page
    assert ">There<" not in page
    assert "b-is-faster" in run("study", "show", "mine.toml")
    assert [row["name"] for row in json.loads(run("study", "list", "--json"))] == file.names()


SUITE = """
title = "Two ways"
repeats = 3
[[requests]]
command = ["./app", "--way", "{way}"]
title = "ways"
short = "Way"
knobs = { way = "1,2" }
values = [{ name = "rate", unit = "Mop/s", pattern = 'rate ([0-9.]+)' }]
[[requests]]
command = ["no-such-program"]
title = "absent"
[[tiles]]
name = "Rate"
what = "second way"
figures = [{ title = "ways", knobs = { way = "2" }, metric = "rate" }]
"""


@pytest.mark.alone
def test_a_suite_measures_a_program(here: Path) -> None:
    (here / "suite.toml").write_text(SUITE, encoding="utf-8")
    refusal = run("evaluate", "--suite", "suite.toml", code=Exit.NOT_SUPPORTED)
    assert refusal.endswith("run octant evaluate --suite suite.toml --allow ./app")
    assert not (here / "started").exists()
    out = run("evaluate", "--suite", "suite.toml", "--allow", "./app")
    assert "absent is skipped: program no-such-program is not on PATH" in out
    assert "20.0 Mop/s" in out


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('short = "Way"', 'short = "Way"\nworkload = "stream"', "a request needs either `workload` or `command`"),
        ('short = "Way"', 'short = "Way"\nmode = "all"', "programs have no mode"),
        ('way = "1,2"', 'wayy = "1,2"', "the command line does not contain {wayy}); did you mean way?"),
        ("'rate (", "'rate ((", "requests.0: values.0: invalid --value"),
        ('metric = "rate"', 'metric = "rat"', "program/app has no metric 'rat', did you mean rate?"),
    ],
)
@pytest.mark.usefixtures("here")
def test_mistakes_of_a_suite_are_refused(old: str, new: str, message: str) -> None:
    assert old in SUITE
    Path("suite.toml").write_text(SUITE.replace(old, new), encoding="utf-8")
    with pytest.raises(Refusal) as refused:
        suites.requests(suites.load("suite.toml"), machine())
    assert message in str(refused.value)


@pytest.mark.parametrize("name", suites.names())
def test_no_shipped_suite_names_a_program(name: str) -> None:
    assert not any(request.command for request in suites.load(name).requests)


@pytest.mark.parametrize("name", file.names())
def test_a_shipped_study_names_only_example_programs_and_needs_no_permission(name: str) -> None:
    study = file.load(name)
    commands = [measure.command for measure in study.measures.values() if measure.command]
    assert all(build.example_named(command[0]) for command in commands)
    if commands:
        assert permissions(design(study, machine(), 1).requests) == ()
    assert commands or not any(finding.statement for finding in study.findings)  # of its own: about these programs


def stopped(here: Path, command: tuple[str, ...]) -> str:
    """The id of a run of the command that is stopped before its first launch, with two launches left out."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("octant.cli._stored.measure", lambda _store, run, *_, **__: run)
        CliRunner().invoke(application(), list(command))
    (run,) = (here / "store/runs").iterdir()
    return run.name


@pytest.mark.alone
@pytest.mark.parametrize("name", ["mine.toml", "suite.toml"])
def test_a_run_of_a_file_goes_on_with_its_file_alone(here: Path, name: str) -> None:
    (here / "suite.toml").write_text(SUITE, encoding="utf-8")
    first = ("study", "run", name) if name == "mine.toml" else ("evaluate", "--suite", name)
    run_id = stopped(here, (*first, "--allow", "./app"))
    assert f"octant resume {run_id} --from {name}" in run("report", run_id)
    refusal = run("resume", run_id, code=Exit.NOT_SUPPORTED)
    assert refusal.endswith(f"run octant resume {run_id} --from {name}")
    refusal = run("resume", run_id, "--from", name, code=Exit.NOT_SUPPORTED)
    assert refusal.endswith(f"run octant resume {run_id} --from {name} --allow ./app")
    assert not (here / "started").exists()
    run("resume", run_id, "--from", name, "--allow", "./app")
    assert (here / "started").exists()
    assert "left" not in run("report", run_id).partition("Sources")[0]


def test_a_planted_store_starts_nothing_that_its_file_does_not_say(here: Path) -> None:
    run_id = stopped(here, ("study", "run", "mine.toml", "--allow", "./app"))
    asked = here / "store/runs" / run_id / "asked.json"
    for old, new in (("--way", "--evil"), ('"way": "2"', '"way": "3"'), ('"OMP_NUM_THREADS":', '"LD_PRELOAD":')):
        text = asked.read_text(encoding="utf-8")
        assert old in text
        asked.write_text(text.replace(old, new), encoding="utf-8")
        result = CliRunner().invoke(application(), ["resume", run_id, "--from", "mine.toml", "--allow", "./app"])
        assert isinstance(result.exception, Refusal), result.output
        assert not (here / "started").exists()
        asked.write_text(text, encoding="utf-8")
    (here / "other.toml").write_text(STUDY.replace("--way", "--other"), encoding="utf-8")
    refusal = run("resume", run_id, "--from", "other.toml", "--allow", "./app", code=Exit.WRONG_WORD)
    assert "other.toml does not request 'way=" in refusal


PROFILED = """
question = "Which calls?"
repeats = 4
baseline = { call = "MPI_Send" }
parts = ["call"]
[measures.calls]
command = ["octant-mpi-mesh", "--steps", "2"]
profile = true
metric = "call:{call}:calls:0"
[measures.time]
command = ["octant-mpi-mesh", "--steps", "2"]
profile = true
metric = "region:solve"
[factors.call]
MPI_Send = {}
MPI_Recv = {}
"""


def test_parts_of_a_profile_share_one_launch_and_need_no_permission() -> None:
    study = file.parse(PROFILED, "mine")
    plan = design(study, machine(), 1)
    (request,) = plan.requests
    assert len(plan.questions) == 4
    names = ["call:MPI_Send:calls:0", "region:solve", "call:MPI_Recv:calls:0"]
    assert [value.name for value in request.subject.values] == names
    assert request.subject.profile is not None
    assert permissions(plan.requests) == ()
    units = [metric_of(study.measures[name], {"call": "MPI_Recv"}).unit for name in ("calls", "time")]
    assert units == ["1", "s"]
    assert study.baseline_of(("MPI_Recv",)) == ("MPI_Recv",)


def test_a_level_switches_the_profile_of_a_program() -> None:
    text = PROFILED.replace('parts = ["call"]\n', "").replace("{call}", "MPI_Send")
    plan = design(file.parse(text.replace("MPI_Recv = {}", "MPI_Recv = { profile = false }"), "mine"), machine(), 1)
    assert [request.subject.profile is None for request in plan.requests] == [False, True]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('parts = ["call"]\n', "", "measures.calls.metric: {call} is not a factor of `parts`); did you mean call?"),
        ('parts = ["call"]', 'parts = ["cal"]', "parts: no factor 'cal'"),
        ("MPI_Recv = {}", 'MPI_Recv = { ranks = "2" }', "a level of a part must not change the launch"),
        ("MPI_Recv = {}", "Recv = {}", "'Recv' is not a function of MPI"),
        (":calls:", ":cals:", "no quantity 'cals'); did you mean calls?"),
        ("profile = true\n", "", "call:{call}:calls:0 is a value of a profile); add profile = true"),
    ],
)
def test_mistakes_in_parts_and_values_of_a_profile_are_named(old: str, new: str, message: str) -> None:
    assert old in PROFILED
    with pytest.raises(StudyError) as refused:
        file.parse(PROFILED.replace(old, new), "mine")
    assert message in str(refused.value)
