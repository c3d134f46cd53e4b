"""Every command that shows stored runs shows those of users' programs; none calls them missing or unmeasured."""

import datetime
import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from octant.cli import application
from octant.program import ProgramValue
from program_run import BEGUN, RankSeen, Seen, launches, request_of, stored_program

VALUES = (ProgramValue("rate", "Mop/s", "higher", pattern="(.*)"),)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Two runs of `My app.v2` with two values of a knob; other builds, the second one is slower."""
    request = request_of(
        ("mpiexec", "-n", "2", "./My app.v2", "{n}"), ranks=2, program="My app.v2", knobs={"n": "1,2"}, values=VALUES
    )
    for day, (rate, build) in enumerate(((100.0, "a1"), (80.0, "b2"))):
        seen = Seen(ranks=[RankSeen(), RankSeen()], build={"program": build, "libm.so.6": "c3"})
        cells = [
            [replace(one, values={"rate": (rate * n / one.wall, "Mop/s")}) for one in launches(seen)] for n in (1, 2)
        ]
        stored_program(tmp_path / "store", request, cells, begun=BEGUN + datetime.timedelta(days=day))
    return tmp_path / "store"


def call(store: Path, *words: str) -> Result:
    found = CliRunner().invoke(application(), [*words, "--store", str(store)])
    assert "not installed" not in found.output
    assert "Nothing was measured" not in found.output
    return found


def ids(store: Path) -> list[str]:
    return sorted(path.name for path in (store / "runs").iterdir())


def test_the_report_lists_and_writes_its_page(store: Path) -> None:
    found = call(store, "report")
    assert found.exit_code == 0, found.output
    assert "My app.v2, n 1, 2 ranks" in found.output
    assert "80.0 Mop/s" in found.output or "80 Mop/s" in found.output
    assert "program/My app.v2 · rate, Mop/s" in found.output
    page = Path(found.output.splitlines()[-1])
    assert "My app.v2: rate against n" in page.read_text(encoding="utf-8")


def test_json_and_exports_hold_all_figures(store: Path) -> None:
    document = json.loads(call(store, "report", "--json").output)
    assert document["unknown_workloads"] == []
    assert {one["metric"] for one in document["figures"]} >= {"rate", "wall time", "memory", "CPU utilisation"}
    for words in ((), ("--results",), ("--samples",)):
        text = call(store, "export", "last", *words).output
        assert text.count("program/My app.v2") >= 24
    assert json.loads(call(store, "export", "last", "--to", "json").output)["figures"] == document["figures"]


def test_the_list_of_runs_shows_the_command(store: Path) -> None:
    assert call(store, "runs").output.count("mpiexec -n 2") == 2


def test_two_runs_are_compared_with_what_differs(store: Path) -> None:
    found = call(store, "compare", *ids(store))
    assert found.exit_code == 0, found.output
    assert "2 of 2 figures differ" in found.output
    assert "My app.v2, n 1" in found.output
    assert "a1 in A, b2 in B" in found.output
    assert "c3 in" not in found.output, "a library that did not change"
