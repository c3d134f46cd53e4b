"""`octant model loads|report|app|check|export` and `octant run --on-model`, as people type them."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from octant.cli import application
from octant.failure import Refusal
from octant.network.files import parse


def run(*words: str) -> str:
    found = CliRunner().invoke(application(), list(words))
    if found.exception is not None:
        raise found.exception
    return found.stdout


def as_json(*words: str) -> Any:
    return json.loads(run(*words, "--json"))


def test_loads_draw_in_the_terminal_and_as_data() -> None:
    words = ("model", "loads", "power775", "-t", "randomaccess", "--supernodes", "24,25")
    assert "busiest link of each class" in run(*words)
    found = as_json(*words)
    busiest = {c["link_class"]: c["quantiles"][-1] for c in found["maps"]["25"]["classes"]}
    assert busiest["L-local"] == pytest.approx(1)
    assert busiest["D"] == pytest.approx(0.867, abs=1e-3)


def test_loads_write_a_drawing(tmp_path: Path) -> None:
    path = tmp_path / "eine Zeichnung ä.svg"
    assert run("model", "loads", "bgp", "--sizes", "64", "--svg", str(path)).strip() == str(path)
    assert path.read_text(encoding="utf-8").startswith("<svg")
    with pytest.raises(Refusal, match="cannot draw loads"):
        run("model", "loads", "power775", "-t", "gfft", "--sizes", "8", "--svg", str(path))


def test_report_ends_with_the_path_of_the_page(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    assert run("model", "report", "bgp", "--sizes", "8,27", "-o", str(path)).strip() == str(path)
    assert "bgp: uniform" in path.read_text(encoding="utf-8")
    assert [point["size"] for point in as_json("model", "report", "bgp", "--sizes", "8")["curve"]["points"]] == [8]
    with pytest.raises(Refusal, match="cannot write"):
        run("model", "report", "bgp", "--sizes", "8", "-o", str(tmp_path / "no" / "such" / "folder.html"))


def test_app_predicts_a_time_step() -> None:
    words = ("model", "app", "bgp", "--ranks", "8,64", "--compute", "1ms", "--halo", "3d:64KiB", "--reduce", "8")
    assert "nothing overlaps" in run(*words)
    found = as_json(*words)
    assert found["step"]["compute_s"] == 1e-3
    assert [one["ranks"] for one in found["times"]] == [8, 64]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ((), "either --compute"),
        (("--compute", "1ms", "--run", "last"), "either --compute"),
        (("--run", "last"), "say --kernel"),
        (("--run", "last", "--kernel", "stream"), "cannot find the run"),
        (("--compute", "1ms", "--ranks", "100000"), "cannot place"),
    ],
)
def test_app_refuses_half_a_question(words: tuple[str, ...], reason: str, tmp_path: Path) -> None:
    with pytest.raises(Refusal, match=reason):
        run("model", "app", "bgp", *words, "--store", str(tmp_path / "store"))


def test_exports_are_for_other_tools() -> None:
    assert '<platform version="4.1">' in run("model", "export", "bgp", "--to", "simgrid")
    assert parse(run("model", "export", "bgp", "--to", "graph"), "exported").topology.nodes() == 64


def test_an_unknown_second_opinion_is_refused() -> None:
    with pytest.raises(Refusal, match="try simgrid"):
        run("model", "check", "bgp", "--with", "ns3")


def test_a_network_that_is_not_there_is_refused_before_anything_starts() -> None:
    with pytest.raises(Refusal, match="cannot find network 'bgq'"):
        run("run", "pingpong", "--on-model", "bgq")
