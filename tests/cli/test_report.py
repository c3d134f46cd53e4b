"""`octant report`, `export` and `compare` on a store of fake runs: words in, text and exit codes out."""

import dataclasses
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from fake_run import WORKLOADS, fake_run, write_run
from octant import workloads
from octant.cli import application
from octant.cli._run import shown
from octant.cli._stored import find_run
from octant.failure import Refusal
from octant.record import Samples


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three runs, the last of them slower, in a folder with a space and a letter beyond ASCII."""
    monkeypatch.setattr(workloads, "workloads", lambda: WORKLOADS)
    folder = tmp_path / "Läufe von heute"
    for day, speed in ((1, 1.0), (2, 1.0), (3, 0.8)):
        write_run(fake_run(Path(f"2026112{day}-000000-aaaa"), speed=speed), folder)
    return folder


def call(store: Path, *words: str) -> Result:
    return CliRunner().invoke(application(), [*words, "--store", str(store)])


def test_a_run_that_was_written_reads_back_the_same(store: Path, tmp_path: Path) -> None:
    run = fake_run()
    back = write_run(run, tmp_path / "other")
    assert [dataclasses.replace(p, read=Samples) for p in back.points] == [
        dataclasses.replace(p, read=Samples) for p in run.points
    ]
    for one, other in zip(back.points, run.points, strict=True):
        assert [(x.head, *x.values) for x in one.read().series] == [(x.head, *x.values) for x in other.read().series]
    assert back.failures == run.failures
    assert [launch.key for launch in back.launches] == [launch.key for launch in run.launches]


def test_report_prints_the_table_and_the_path_last(store: Path) -> None:
    result = call(store, "report", "last")
    assert result.exit_code == 0
    path = Path(result.stdout.splitlines()[-1])
    assert path == store / "runs" / "20261123-000000-aaaa" / "report.html"
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "Gflop/s" in result.stdout


@pytest.mark.parametrize("every", [False, True])
def test_an_evaluation_writes_all_samples_if_requested(store: Path, every: bool) -> None:
    run = find_run(store, "last")
    shown(json=True, notes=False, page=True, all_samples=every)(run)
    page = (run.folder / "report.html").read_text(encoding="utf-8")
    assert ("This page holds all" in page) == every
    assert "--all-samples" in CliRunner().invoke(application(), ["evaluate", "--help"]).stdout


def test_report_takes_a_network_of_the_catalogue_to_draw_with_messages(store: Path, tmp_path: Path) -> None:
    done = call(store, "report", "last", "--model", "bgp", "-o", str(tmp_path / "page.html"))
    assert done.exit_code == 0, done.output
    refused = call(store, "report", "last", "--model", "nowhere", "-o", str(tmp_path / "none.html"))
    assert isinstance(refused.exception, Refusal)
    assert "unknown network 'nowhere'" in str(refused.exception)
    assert not (tmp_path / "none.html").exists()


def test_report_writes_to_the_given_path_and_json_writes_nothing(store: Path, tmp_path: Path) -> None:
    target = tmp_path / "mein Bericht ü.html"
    assert call(store, "report", "previous", "-o", str(target)).stdout.splitlines()[-1] == str(target)
    assert target.exists()
    result = call(store, "report", "previous", "--json")
    assert json.loads(result.stdout)["run"] == "20261122-000000-aaaa"
    assert not (store / "runs" / "20261122-000000-aaaa" / "report.html").exists()


def test_a_page_that_cannot_be_written_is_refused_before_anything_is_printed(store: Path, tmp_path: Path) -> None:
    for words in (["-o", str(tmp_path / "missing" / "x.html")], ["--json", "-o", str(tmp_path / "x.html")]):
        result = call(store, "report", "last", *words)
        assert isinstance(result.exception, Refusal)
        assert result.stdout == ""
        assert not (tmp_path / "x.html").exists()


@pytest.mark.parametrize(("form", "start"), [("csv", b"run,machine,"), ("json", b"{"), ("parquet", b"PAR1")])
def test_export_writes_each_format(store: Path, tmp_path: Path, form: str, start: bytes) -> None:
    target = tmp_path / f"run.{form}"
    assert call(store, "export", "last", "--to", form, "-o", str(target)).exit_code == 0
    assert target.read_bytes().startswith(start)


def test_report_draws_pictures_in_the_terminal_where_asked(store: Path) -> None:
    assert "Memory ladder" not in call(store, "report", "last").stdout
    assert "Memory ladder" in call(store, "report", "last", "--pictures").stdout


@pytest.mark.parametrize(("option", "column"), [("--results", "result"), ("--samples", "series")])
def test_export_has_rows_for_results_and_for_samples(store: Path, tmp_path: Path, option: str, column: str) -> None:
    target = tmp_path / "rows.csv"
    assert call(store, "export", "last", option, "-o", str(target)).exit_code == 0
    assert column in target.read_text(encoding="utf-8").split("\n")[0].split(",")
    assert isinstance(call(store, "export", "--samples", "--results").exception, Refusal)


def test_export_to_nowhere_is_refused(store: Path, tmp_path: Path) -> None:
    result = call(store, "export", "last", "-o", str(tmp_path / "missing" / "run.csv"))
    assert isinstance(result.exception, Refusal)
    assert "cannot write" in str(result.exception)


def test_compare_gives_no_verdict_on_single_launches_and_its_gate_measures_or_refuses(store: Path) -> None:
    shown = call(store, "compare")
    assert shown.exit_code == 0
    assert "None of the 13 figures has a verdict" in " ".join(shown.stdout.split())
    document = json.loads(call(store, "compare", "--json").stdout)
    assert (document["a"], document["b"], document["regressions"]) == (
        "20261122-000000-aaaa",
        "20261123-000000-aaaa",
        0,
    )
    gate = call(store, "compare", "--gate").exception
    assert isinstance(gate, Refusal)
    assert "cannot measure A again (20261122-000000-aaaa: it was measured on another machine, fake)" in str(gate)


def test_an_unknown_run_is_refused_with_the_known_ones(store: Path) -> None:
    result = call(store, "compare", "2019", "last")
    assert isinstance(result.exception, Refusal)
    assert "20261123-000000-aaaa" in str(result.exception)


def test_json_of_an_evaluation_is_json_to_the_end_and_names_the_report(store: Path) -> None:
    document = json.loads(call(store, "resume", "20261123", "--json").stdout)
    assert document["report"] == str(store / "runs" / "20261123-000000-aaaa" / "report.html")
    assert Path(document["report"]).exists()


def test_report_writes_each_picture_for_two_columns_and_for_one(store: Path, tmp_path: Path) -> None:
    folder = tmp_path / "neu" / "Bilder"
    result = call(store, "report", "last", "--svg", str(folder))
    assert result.exit_code == 0
    assert Path(result.stdout.splitlines()[-1]).suffix == ".html"
    names = sorted(path.name for path in folder.iterdir())
    assert len(names) >= 2
    assert {name.rpartition("-")[0].rpartition("-")[2] for name in names} == {"two", "one"}
    for path in folder.iterdir():
        text = path.read_text(encoding="utf-8")
        assert "20261123-000000-aaaa" in text
        assert 'width="180mm"' in text or 'width="88mm"' in text


def test_no_svg_goes_through_a_link_or_into_a_file(store: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for target in ("file", "file/below"):
        result = call(store, "report", "last", "--svg", str(tmp_path / target))
        assert result.exit_code == 1
        assert "use --svg with a folder that you can write to" in str(result.exception)
    assert (tmp_path / "file").read_text() == "mine"
