"""What every command that reads a run says of lines and runs that cannot be read."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from fake_kernel import request
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
    assert f"octant: {run.id}: records.jsonl, line {number}: incomplete line" in done.stderr
    assert done.exit_code == 0, done.exception
    assert ("incomplete line" in done.stdout) == ("--json" in words), "programs find them in the figures"


def test_a_run_that_cannot_be_read_is_named_and_hides_no_other(store: Store) -> None:
    bad = store.create("bad", machine(), [request()])
    (bad.folder / "asked.json").write_text("{")
    done = CliRunner().invoke(application(), ["runs", "--store", str(store.root)])
    assert done.exit_code == 0
    assert "evaluate --quick" in done.stdout
    assert f"octant: cannot read {bad.folder / 'asked.json'}" in done.stderr


@pytest.mark.parametrize("text", ["{", "[" * 200_000, '{"format": 2}'])
def test_the_last_run_that_can_be_read_is_last_and_the_others_are_named(store: Store, text: str) -> None:
    (good,) = store.runs()
    bad = store.create("bad", machine(), [request()])
    bad.folder.rename(newest := bad.folder.with_name("29991231-000000-ffff"))
    (newest / "asked.json").write_text(text)
    for words in (["report", "last", "--json"], ["compare", "last", "last"], ["export", "last"]):
        done = CliRunner().invoke(application(), [*words, "--store", str(store.root)])
        assert done.exit_code == 0, done.exception
        named = [line for line in done.stderr.splitlines() if str(newest) in line]
        assert named
        assert all(line.endswith(f"; last is {good.id}") for line in named)
    resumed = CliRunner().invoke(application(), ["resume", "last", "--store", str(store.root)])
    assert isinstance(resumed.exception, Refusal), "another run is not measured instead"
    with pytest.raises(Refusal, match="cannot read"):
        Store(store.root).find(newest.name)


def test_many_damaged_lines_are_counted(store: Store) -> None:
    (run,) = store.runs()
    with run.records.open("a") as file:
        file.write("nonsense\n" * 100)
    done = CliRunner().invoke(application(), ["runs", "--store", str(store.root)])
    assert done.stderr.count("incomplete line or no record") == 20
    assert "81 more lines cannot be read" in done.stderr


def test_an_unknown_stored_setting_is_not_set_on_resuming(tmp_path: Path) -> None:
    store = Store(tmp_path)
    run = store.create("q", machine(), [request()])
    path = run.folder / "asked.json"
    path.write_text(path.read_text().replace('"mpi": {}', '"mpi": {"LD_PRELOAD": "evil.so"}'))
    done = CliRunner().invoke(application(), ["resume", "last", "--store", str(tmp_path)])
    assert isinstance(done.exception, Refusal)
    assert done.exception.code == Exit.NOT_SUPPORTED
    assert "cannot set 'LD_PRELOAD'" in str(done.exception)
    assert not run.plan.exists(), "nothing was started"
