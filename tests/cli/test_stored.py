"""What every command that reads a run says of lines and runs that cannot be read."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from fake_kernel import ask
from fake_run import fake_run, machine, write_run
from octant.cli import application
from octant.failure import Exit, Refusal
from octant.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    run = write_run(fake_run(), tmp_path)
    with run.records.open("a") as file:
        file.write("nonsense\n")
    return Store(tmp_path)


@pytest.mark.parametrize(
    "words", [["report", "--json"], ["export", "--to", "csv"], ["compare", "last", "last"], ["runs"]]
)
def test_damaged_lines_are_named_on_standard_error(store: Store, words: list[str]) -> None:
    (run,) = store.runs()
    number = len(run.records.read_text().splitlines())
    done = CliRunner().invoke(application(), [*words, "--store", str(store.root)])
    assert f"octant: {run.id}: records.jsonl, line {number}: torn" in done.stderr
    assert "torn" not in done.stdout


def test_a_run_that_cannot_be_read_is_named_and_hides_no_other(store: Store) -> None:
    bad = store.create("bad", machine(), [ask()])
    (bad.folder / "asked.json").write_text("{")
    done = CliRunner().invoke(application(), ["runs", "--store", str(store.root)])
    assert done.exit_code == 0
    assert "evaluate --quick" in done.stdout
    assert f"octant: cannot read {bad.folder / 'asked.json'}" in done.stderr


def test_a_stored_setting_that_nobody_knows_is_not_set_on_resuming(tmp_path: Path) -> None:
    store = Store(tmp_path)
    run = store.create("q", machine(), [ask()])
    path = run.folder / "asked.json"
    path.write_text(path.read_text().replace('"mpi": {}', '"mpi": {"LD_PRELOAD": "evil.so"}'))
    done = CliRunner().invoke(application(), ["resume", "last", "--store", str(tmp_path)])
    assert isinstance(done.exception, Refusal)
    assert done.exception.code == Exit.NOT_SUPPORTED
    assert "cannot set 'LD_PRELOAD'" in str(done.exception)
    assert not run.plan.exists(), "nothing was started"
