"""An entry of a registry that is missing or broken stops no command that does not need it by name."""

import json
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import fake_study
from fake_run import fake_run, machine, stored, write_run
from octant import benchmarks, launchers, suites, workloads
from octant.advice import Advice, Facts, diagnose
from octant.advice.findings import review
from octant.advice.fitness import judge_fitness
from octant.analysis.summary import Summary, summarise
from octant.cli import application
from octant.failure import Exit, Refusal
from octant.foreign import read_file
from octant.launchers._roles import file_name, find
from octant.machine import discover
from octant.record.writer import seal
from octant.registry import Broken, Entries
from octant.report.machine import advice as advice_writer
from octant.request import Launch, Request, Shape, Subject
from octant.runs.command_line import find_workload
from octant.simulate.stored_figures import matching_figures
from octant.software.surroundings import Surroundings
from octant.store import Store
from octant.store.run_request import run_request_text
from octant.study import file
from octant.study.question import Study
from paths import DATA
from registries import ENTRIES, ERROR, changed, place_of
from study_text import STUDY

RUN = CliRunner()
RECORDED = [json.loads(line) for line in (DATA / "smoke-points.jsonl").read_text(encoding="utf-8").splitlines()]
STUDIES = file.names()
TORUS = "package:1 core:2 pu:1"


def of_kind(kind: str) -> pytest.MarkDecorator:
    """Run a test over the entries of one kind, and each way in which they can be missing."""
    found = [(package, name) for one, package, name in ENTRIES if one == kind]
    assert found
    return pytest.mark.parametrize(("package", "name"), found, ids=[f"{name}" for _, name in found])


def refused(call: Callable[[], object]) -> str:
    with pytest.raises(Refusal) as raised:
        call()
    return str(raised.value)


def unspaced(text: str) -> str:
    """Return the text without spaces and ends of lines, which depend on the width of the screen."""
    return "".join(text.split())


def named(package: str, name: str) -> str:
    """Return the file and the error, as in a row or a refusal."""
    return f"{place_of(package, name)}: ValueError: {ERROR}"


@pytest.fixture(scope="module")
def app() -> typer.Typer:
    return application()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a store with a run of each workload, whose id ends in its name, and `fake_run` as the last."""
    folder = tmp_path_factory.mktemp("store")
    for name in workloads.workloads():
        start = next(line for line in RECORDED if line["kind"] == "launch" and line["workload"] == name)
        line = next(line for line in RECORDED if line["kind"] == "point" and line["workload"] == name)
        launch = Launch(Request(Subject(name), line["knobs"], Shape(line["shape"]["ranks"])), 0)
        run = stored([launch], folder=folder / "runs" / id_of(name))
        run.folder.mkdir(parents=True)
        (run.folder / "asked.json").write_text(run_request_text(run), encoding="utf-8")
        lines = [seal({**one, "launch": launch.key}) for one in (start, line)]
        (run.folder / "records.jsonl").write_text("".join(f"{one}\n" for one in lines), encoding="utf-8")
    write_run(fake_run(), folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OCTANT_STORE", str(folder))
        yield folder


@pytest.fixture(scope="module")
def summary() -> Summary:
    return summarise(fake_run())


def id_of(name: str) -> str:
    return f"20261121-214530-{name.replace('/', '-')}"


def invoke(app: typer.Typer, *words: str) -> str:
    """Return the output of a command that succeeds."""
    result = RUN.invoke(app, list(words))
    assert result.exit_code == 0, (words, result.output, result.exception)
    return result.output


# Each registry, with each entry left out or broken.


@of_kind("workload")
def test_a_workload(package: str, name: str, store: Path, app: typer.Typer) -> None:
    full = f"{package.rpartition('.')[2]}/{name}"
    others = set(workloads.workloads()) - {full}
    with changed(package, name, "broken"):
        assert set(workloads.workloads()) == others
        listed = {row["name"]: row for row in json.loads(invoke(app, "workloads", "--json"))}
        assert listed.keys() == {*others, full}
        assert listed[full]["error"] == f"ValueError: {ERROR}"
        assert f"cannot measure {full!r} ({full} cannot be used here ({named(package, name)})); correct" in refused(
            lambda: find_workload(full)
        )
        report = invoke(app, "report", id_of(full), "--json")
        _is_shown_from_its_record(full, json.loads(report), f"{full} cannot be used here")
    with changed(package, name, "left out"):
        assert set(workloads.workloads()) == others
        run = Store(store).find(id_of(full))
        assert matching_figures(run, "") == []
        assert f"this installation has no workload {full}" in refused(lambda: matching_figures(run, full))
        assert refused(lambda: find_workload(full)).startswith(f"cannot measure {full!r} (no workload {full!r}); ")
        report = invoke(app, "report", id_of(full), "--json")
        _is_shown_from_its_record(full, json.loads(report), f"this installation has no workload {full}")


def test_tables_of_patterns_say_that_a_workload_is_missing(store: Path, app: typer.Typer) -> None:
    with changed("octant.workloads.mpi", "p2p", "left out"):
        shown = RUN.invoke(app, ["mpi", "--run", id_of("mpi/p2p")])
        assert shown.exit_code == 0
        assert "octant: this installation has no workload mpi/p2p; its figures come from the records" in shown.stderr
        tables = json.loads(RUN.invoke(app, ["mpi", "--run", id_of("mpi/p2p"), "--json"]).stdout)["tables"]
        rows = [row for table in tables for row in table["rows"]]
        values = ("time", "low", "high", "median_bytes_per_second", "t_max", "t_avg", "bytes_per_second")
        assert rows
        assert {row[name] for row in rows for name in values} == {None}, "the time of a step is none of a message"


def test_a_family(store: Path, app: typer.Typer) -> None:
    """Its workloads are missing, and bare names are refused with the family's error."""
    with changed("octant.workloads", "node", "broken"):
        assert {name.partition("/")[0] for name in workloads.workloads()} == {"hpcc", "io", "mpi"}
        listed = {row["name"]: row for row in json.loads(invoke(app, "workloads", "--json"))}
        assert listed["node"]["error"] == f"ValueError: {ERROR}"
        for name in ("stream", "node/stream"):
            assert f"the family node cannot be used here ({named('octant.workloads', 'node')})" in refused(
                partial(find_workload, name)
            )
        assert "node/stream cannot be used here" in invoke(app, "report", id_of("node/stream"), "--json")
        assert find_workload("p2p").name == "mpi/p2p"


def _is_shown_from_its_record(full: str, report: dict[str, object], why: str) -> None:
    """All of its figures are there, with a remark, and without a limit."""
    figures, screen = report["figures"], report["first_screen"]
    assert isinstance(figures, list)
    assert isinstance(screen, dict)
    assert report["unknown_workloads"] == [full]
    (absent,) = screen["absent"]
    assert absent.startswith(why)
    assert "its figures come from the records alone" in absent
    assert figures
    assert any(figure["median"] is not None for figure in figures)
    assert {figure["workload"] for figure in figures} == {full}
    assert not any(figure["limit"] for figure in figures)


@of_kind("rule")
def test_a_rule(package: str, name: str) -> None:
    facts = Facts(machine())
    rest = [advice for advice in diagnose(facts).advice if advice.rule != name]
    with changed(package, name, "broken"):
        found = diagnose(facts)
        assert list(found.advice) == rest
        assert unspaced(f"{name}: {named(package, name)}") in unspaced(
            advice_writer.as_text(found, judge_fitness(None, found))
        )
        (row,) = json.loads(advice_writer.as_json(found, judge_fitness(None, found)))["unusable_rules"]
        assert {"rule": name, "error": f"ValueError: {ERROR}"}.items() <= row.items()
    with changed(package, name, "left out"):
        assert (list(diagnose(facts).advice), diagnose(facts).broken) == (rest, ())


def test_a_rule_that_raises_while_it_judges_is_a_row_too(summary: Summary, monkeypatch: pytest.MonkeyPatch) -> None:
    from octant.advice.findings import imbalance
    from octant.advice.rules import smt

    def raising(_of: object) -> None:
        raise ValueError(ERROR)

    monkeypatch.setattr(smt, "advise", raising)
    monkeypatch.setattr(imbalance, "judge", raising)
    assert [(one.name, one.error) for one in diagnose(Facts(machine())).broken] == [("smt", f"ValueError: {ERROR}")]
    assert [one.name for one in review(summary).broken] == ["imbalance"]


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (
            Advice("Odd", "grave", {"file": "x"}, (), "why"),  # type: ignore[arg-type]
            "its advice 'Odd' has the severity 'grave', try one of spoils",
        ),
        ([3], "its advise returns a int, not Advice"),
        ("slow", "its advise returns a str, not Advice"),
    ],
    ids=["severity", "number", "text"],
)
def test_a_rule_that_returns_what_is_no_advice_is_a_row_too(
    returned: object, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from octant.advice.rules import smt

    monkeypatch.setattr(smt, "advise", lambda _facts: returned)
    (broken,) = diagnose(Facts(machine())).broken
    assert broken.name == "smt"
    assert said in broken.error


def test_a_finding_of_another_type_or_kind_is_a_row_too(summary: Summary, monkeypatch: pytest.MonkeyPatch) -> None:
    from octant.advice.findings import RuleResult, RunFinding, imbalance

    odd = RunFinding("imbalance", "Odd", "b", (), kind="grave")  # type: ignore[arg-type]
    for returned, said in (
        (RuleResult((odd,)), "of the kind 'grave', try one of"),
        (None, "returns a NoneType, not RuleResult"),
    ):
        monkeypatch.setattr(imbalance, "judge", partial(lambda found, _of: found, returned))
        (broken,) = review(summary).broken
        assert broken.name == "imbalance"
        assert said in broken.error


def test_the_doctor_lists_a_rule_that_is_broken(app: typer.Typer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discover, "discover", machine)
    monkeypatch.setattr("octant.software.observe.observe", lambda *_: Surroundings())
    with changed("octant.advice.rules", "smt", "broken"):
        shown = RUN.invoke(app, ["doctor", "--static"])
        assert "rules that cannot be used: 1" in shown.output
        assert ERROR in refused(lambda: RUN.invoke(app, ["doctor", "--explain", "smt"], catch_exceptions=False))


@of_kind("finding")
def test_a_finding(package: str, name: str, summary: Summary) -> None:
    with changed(package, name, "broken"):
        found = review(summary)
        assert [one.reason for one in found.broken] == [named(package, name)]
    with changed(package, name, "left out"):
        assert review(summary) == (type(found))(found.findings, found.passed)


def test_a_finding_that_is_broken_is_a_remark_of_the_report(store: Path, app: typer.Typer) -> None:
    with changed("octant.advice.findings", "steal", "broken"):
        report = " ".join(invoke(app, "report", "last").split())
    assert f"the rule steal cannot be used here ({named('octant.advice.findings', 'steal')})" in report.replace(
        "- ", "-"
    )


@of_kind("kind of test")
def test_a_kind_of_test(package: str, name: str) -> None:
    using = [study for study in STUDIES if f'kind = "{name}"' in file.source_text(study)[1]]
    others = [study for study in STUDIES if study not in using]
    text = STUDY.replace('kind = "ratio"', f'kind = "{name}"')
    for how, why in (("broken", named(package, name)), ("left out", f"unknown value {name!r}")):
        with changed(package, name, how):  # type: ignore[arg-type]
            assert not isinstance(file.entry(others[0]), Broken)
            assert why in refused(lambda: file.parse(text, "mine"))
            for one in map(file.entry, using[:1]):
                assert isinstance(one, Broken)
                assert why in one.error


@of_kind("launcher")
def test_a_launcher(package: str, name: str, app: typer.Typer, tmp_path: Path) -> None:
    node = tmp_path / "node.synthetic"
    node.write_text(TORUS)
    place = ("place", "--place", "2x1", "--on", str(node), "--json")
    own = {
        role: key
        for role in launchers.ROLES
        for key, one in launchers.launchers_with_role(role).items()
        if file_name(one) == name
    }
    uses: dict[str, Callable[[str], object]] = {
        "write": lambda key: RUN.invoke(app, [*place, "--for", key], catch_exceptions=False),
        "read": lambda key: launchers.from_syntax("", machine().topology, key),
        "start": launchers.launcher,
        "mpiexec": launchers.mpi_launcher,
        "job": launchers.batch_system,
        "recognise": partial(find, "recognise"),
    }
    with changed(package, name, "broken"):
        for role, key in own.items():
            assert named(package, name) in refused(partial(uses[role], key))
            assert key not in launchers.names(role)
        assert launchers.chosen("", launchers.JobSize(1), {}) == "direct"
        shown = json.loads(invoke(app, *place, "--for", "all"))["launchers"]
        assert [one for one, syntax in shown.items() if "error" in syntax] == [name]
    with changed(package, name, "left out"):
        for role, key in own.items():
            assert f"no such {launchers.ROLES[role].kind}" in refused(partial(uses[role], key))
            assert key not in launchers.names(role)
        assert set(json.loads(invoke(app, *place, "--for", "all"))["launchers"]) == set(shown) - {name}


@of_kind("import format")
def test_an_import_format(package: str, name: str, tmp_path: Path) -> None:
    other = "stream" if name != "stream" else "hpl"
    with changed(package, name, "broken"):
        assert named(package, name) in refused(lambda: read_file(name, tmp_path / "none"))
        assert "cannot read the output" in refused(lambda: read_file(other, tmp_path / "none"))
    with changed(package, name, "left out"):
        assert f"unknown tool '{name}'; try one of " in refused(lambda: read_file(name, tmp_path / "none"))
        assert "cannot read the output" in refused(lambda: read_file(other, tmp_path / "none"))


@of_kind("command group")
def test_a_command_group(package: str, name: str) -> None:
    whole = set(typer.main.get_command(application()).commands)  # type: ignore[attr-defined]
    with changed(package, name, "broken"):
        app = application()
        rest = set(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
        assert rest < whole
        assert unspaced(named(package, name)) in unspaced(invoke(app, "--help"))
        gone = min(whole - rest)
        assert named(package, name) in refused(lambda: RUN.invoke(app, [gone], catch_exceptions=False))
    with changed(package, name, "left out"):
        app = application()
        assert set(typer.main.get_command(app).commands) == rest  # type: ignore[attr-defined]
        assert "cannot be used here" not in invoke(app, "--help")
        assert RUN.invoke(app, [gone]).exit_code == Exit.WRONG_WORD


@of_kind("benchmark")
def test_a_benchmark(package: str, name: str, store: Path) -> None:
    command = benchmarks.entries().working[name].command
    with changed(package, name, "broken"):
        app = application()
        assert unspaced(named(package, name)) in unspaced(invoke(app, "--help"))
        assert named(package, name) in refused(lambda: RUN.invoke(app, [command], catch_exceptions=False))
        assert invoke(app, "report", "last", "--json")
    with changed(package, name, "left out"):
        assert "cannot be used here" not in invoke(application(), "--help")
        assert RUN.invoke(application(), [command]).exit_code == Exit.WRONG_WORD


# Studies and suites, which are files of data.


@pytest.fixture(scope="module")
def parsed() -> Entries[Study]:
    return file.entries()


@pytest.mark.parametrize("name", STUDIES)
def test_a_study(name: str, parsed: Entries[Study], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others are read once for all of these tests."""
    text = file.source_text(name)[1].replace("\n[", "\nfrobnicate = 1\n[", 1)
    for one in STUDIES:
        (tmp_path / f"{one}.toml").write_text(text if one == name else "")
    load = file.load
    monkeypatch.setattr(file, "_shipped_folder", lambda: tmp_path)
    monkeypatch.setattr(file, "load", lambda one: load(one) if one == name else parsed.working[one])
    found = file.entries()
    assert list(found.working) == [one for one in STUDIES if one != name]
    broken = found.broken[name]
    assert broken.file == str(tmp_path / f"{name}.toml")
    assert "frobnicate: unknown key" in broken.error
    assert "frobnicate: unknown key" in refused(lambda: file.load(name))
    (tmp_path / f"{name}.toml").unlink()
    assert (list(file.entries().working), file.entries().broken) == (list(found.working), {})


def test_a_study_of_a_missing_workload_is_a_row_and_refused_with_the_reason(
    app: typer.Typer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("page-size", "vsx-fmadd"):
        text = file.source_text(name)[1]
        (tmp_path / f"{name}.toml").write_text(text)
    text = file.source_text("page-size")[1]
    (tmp_path / "misspelt.toml").write_text(text.replace('workload = "', 'workload = "no', 1))
    (tmp_path / "torn.toml").write_text("question = [")
    monkeypatch.setattr(file, "_shipped_folder", lambda: tmp_path)
    monkeypatch.setattr(discover, "discover", machine)
    listed = {row["name"]: row for row in json.loads(invoke(app, "study", "list", "--json"))}
    assert listed.keys() == {"page-size", "vsx-fmadd", "misspelt", "torn"}
    assert "no workload" in listed["misspelt"]["error"]
    assert listed["misspelt"]["line"] > 1
    shown = unspaced(invoke(app, "study", "list"))
    assert shown.count("cannotberead(") == 2
    assert "page-size" in shown
    for command in ("show", "run", "report"):
        said = refused(partial(RUN.invoke, app, ["study", command, "misspelt"], catch_exceptions=False))
        assert said.startswith(f"cannot read the study misspelt, line {listed['misspelt']['line']} (measures.")
        assert "no workload" in said


def test_a_stored_run_of_a_study_is_shown_without_the_study_and_without_its_workload(
    app: typer.Typer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "stream-affinity-pages"
    monkeypatch.setenv("OCTANT_STORE", str(tmp_path / "store"))
    fake_study.programs(tmp_path / "bin", monkeypatch)
    run = fake_study.run(Store(tmp_path / "store"), name, machine(nodes=2), lambda *_: 50e9, repeats=3)
    usual = invoke(app, "study", "report", name)
    (tmp_path / f"{name}.toml").write_text("question = [")
    with monkeypatch.context() as patch:
        patch.setattr(file, "_shipped_folder", lambda: tmp_path)
        assert invoke(app, "study", "report", name) == usual
        (tmp_path / f"{name}.toml").unlink()
        assert invoke(app, "study", "report", name).replace(f"{name}.toml", name) == usual
    with changed("octant.workloads.node", "stream", "left out"):
        said = refused(lambda: RUN.invoke(app, ["study", "report", run.id], catch_exceptions=False))
        assert "no workload 'node/stream'" in said
        assert said.endswith(f"; try octant report {run.id}")
        report = json.loads(invoke(app, "report", run.id, "--json"))
        assert len(report["figures"]) >= len(run.requests)


@pytest.mark.parametrize("name", suites.names())
def test_a_suite(name: str, app: typer.Typer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    including = {one for one in suites.names() if name in suites.load(one).include}
    others = [one for one in suites.names() if one != name and one not in including]
    for one in suites.names():
        shutil.copy(suites._file(one), tmp_path / f"{one}.toml")
    monkeypatch.setattr(suites, "_folder", lambda: tmp_path)
    (tmp_path / f"{name}.toml").write_text("title = 1\n")
    rows = {row["name"]: row for row in json.loads(invoke(app, "evaluate", "--list", "--json"))}
    assert "error" in rows[name]
    assert all("error" not in rows[one] for one in others)
    assert "cannotberead(" in unspaced(invoke(app, "evaluate", "--list"))
    assert "cannot read the suite" in refused(lambda: suites.load(name))
    (tmp_path / f"{name}.toml").unlink()
    assert list(suites.entries().working) == others
    assert "cannot find the suite" in refused(lambda: suites.load(name))


def test_a_suite_leaves_out_workloads_that_are_not_here(app: typer.Typer) -> None:
    suite = suites.load("quick")
    every = suites.requests(suite, machine(), name="quick")
    for how in ("broken", "left out"):
        with changed("octant.workloads.node", "stream", how):
            asked = suites.requests(suite, machine(), name="quick")
            assert asked == tuple(request for request in every if request.subject.workload != "node/stream")
            assert list(suites.absent(suite, "quick")) == ["node/stream"]
            assert suites.first_screen(suite, machine(), ["gemm"]).tiles
            assert "its requests are excluded" in " ".join(invoke(app, "evaluate", "--list").split())
            assert "node/stream" in refused(lambda: suites.requests(suite, machine(), name="a file of the user's"))


def test_a_suite_without_requests_for_this_machine_is_refused(
    app: typer.Typer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(discover, "discover", machine)
    monkeypatch.setenv("OCTANT_STORE", str(tmp_path / "store"))

    def said(*words: str) -> str:
        return refused(partial(RUN.invoke, app, ["evaluate", *words], catch_exceptions=False))

    assert said("--only", "mpi/startup") == (
        "cannot evaluate mpi/startup (the suite quick has no request for it on this machine); "
        "try octant run mpi/startup"
    )
    (tmp_path / "quick.toml").write_text('title = "Mine"\n[[requests]]\nworkload = "node/vecmath"\n')
    monkeypatch.setattr(suites, "_folder", lambda: tmp_path)
    with changed("octant.workloads.node", "vecmath", "broken"):
        assert said() == (
            "cannot evaluate (no workload of the suite quick is available in this installation and on this machine); "
            "try octant workloads"
        )
    assert not (tmp_path / "store" / "runs").exists()
