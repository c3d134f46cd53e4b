"""`octant model loads|report|app|collective|check|export` and `octant run --on-model`, as people type them."""

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


def test_a_page_without_a_file_goes_into_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    words = ("model", "report", "bgp", "-t", "random", "--sizes", "8")
    path = tmp_path / "store" / "models" / "bgp-random.html"
    assert run(*words, "--store", str(tmp_path / "store")).strip() == str(path)
    assert path.is_file()
    assert list(here.iterdir()) == []
    monkeypatch.setenv("OCTANT_STORE", str(tmp_path / "other"))
    assert run(*words).strip() == str(tmp_path / "other" / "models" / "bgp-random.html")
    assert list(here.iterdir()) == []


def test_report_ends_with_the_path_of_the_page(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    assert run("model", "report", "bgp", "--sizes", "8,27", "-o", str(path)).strip() == str(path)
    assert "bgp: uniform" in path.read_text(encoding="utf-8")
    assert [point["size"] for point in as_json("model", "report", "bgp", "--sizes", "8")["curve"]["points"]] == [8]
    with pytest.raises(Refusal, match="cannot write"):
        run("model", "report", "bgp", "--sizes", "8", "-o", str(tmp_path / "no" / "such" / "folder.html"))


def test_app_predicts_a_time_step() -> None:
    words = ("model", "app", "bgp", "--ranks", "8,64", "--compute", "1ms", "--halo", "3d:64KiB", "--reduce", "8")
    assert "no overlap" in run(*words)
    found = as_json(*words)
    assert found["step"]["compute_s"] == 1e-3
    assert [one["ranks"] for one in found["times"]] == [8, 64]


def test_app_chooses_the_algorithm_by_time_and_names_it() -> None:
    """Recursive doubling takes 7.6 s for a GiB among 1,024 ranks, the ring 0.18 s."""
    words = ("model", "app", "dragonfly-example", "--ranks", "1024", "--compute", "1ms", "--overhead", "1us")
    assert "allreduce of 1 GiB by ring (1024 ranks)" in run(*words, "--reduce", "1GiB")
    (ring,) = as_json(*words, "--reduce", "1GiB")["times"]
    (doubling,) = as_json(*words, "--reduce", "1GiB:1:recursive-doubling")["times"]
    (asked,) = as_json(*words, "--reduce", "1GiB", "--algorithm", "recursive-doubling")["times"]
    assert ring["reduction_s"] < 0.2
    assert doubling["reduction_s"] == asked["reduction_s"] > 7
    assert ring["algorithms"] == ["ring"]
    (valiant,) = as_json(*words, "--reduce", "1GiB:1:ring", "--routing", "valiant")["times"]
    assert valiant["reduction_s"] < 0.6 * ring["reduction_s"]  # neighbours of two groups share no local link


@pytest.mark.parametrize("question", [("app", "--compute", "1ms", "--reduce", "8:1"), ("collective", "allreduce")])
def test_messages_whose_latency_nothing_states_are_refused(question: tuple[str, ...]) -> None:
    command, *words = question
    asked = ("model", command, "dragonfly-example", *words, "--ranks", "4")
    with pytest.raises(Refusal, match="contains no latency for a message from node 0 to 1"):
        run(*asked)
    for given in (("--overhead", "1us"), ("--latency", "1us"), ("--latency", "0s")):
        run(*asked, *given)


def test_collective_compares_algorithms() -> None:
    words = ("model", "collective", "bgp", "allreduce", "--overhead", "2us")
    text = run(*words, "--bytes", "1MiB", "--ranks", "12", "--per-node", "4", "--place", "TXYZ")
    assert "bgp: allreduce of 1 MiB, 12 ranks on 3 nodes, routing random-minimal, overhead 2.00 µs" in text
    rows = [line.split() for line in text.splitlines()[2:]]
    assert [row[0] for row in rows] == ["recursive-doubling", "ring", "rabenseifner", "binomial"]
    assert "1.00" in next(row for row in rows if row[0] == "ring")  # the fastest


def test_collective_shows_where_the_fastest_changes() -> None:
    words = ("model", "collective", "bgp", "allreduce", "--overhead", "2us", "--sizes", "8:1GiB")
    changes = as_json(*words)["fastest"]
    assert [one["algorithm"] for one in changes] == ["recursive-doubling", "rabenseifner", "ring"]
    text = run(*words)
    assert text.splitlines()[-1] == (
        f"fastest: recursive-doubling, rabenseifner from {changes[1]['bytes_each']:,} bytes, "
        f"ring from {changes[2]['bytes_each']:,} bytes"
    )
    assert len(text.splitlines()) == 2 + 28 + 1


def test_collective_names_what_it_leaves_out_and_runs_where_it_can() -> None:
    text = run("model", "collective", "bgp", "alltoall", "--ranks", "6", "--routing", "dimension-ordered")
    assert "excluded: cannot run alltoall by pairwise on 6 ranks (not a power of two); try ring" in text
    assert "routing dimension-ordered" in text
    alone = as_json("model", "collective", "bgp", "barrier", "--ranks", "1")
    assert alone["timings"][0][0]["time_s"] == 0
    full = as_json("model", "collective", "bgp", "barrier", "--per-node", "2", "--size", "8", "--latency", "1us")
    assert (full["ranks"], full["nodes"], full["assumed_latency_s"]) == (16, 8, 1e-6)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("allredcue",), "did you mean allreduce"),
        (("allreduce", "--algorithm", "rign"), "did you mean ring"),
        (("allreduce", "--bytes", "many"), "8:1GiB"),
        (("allreduce", "--bytes", "9" * 400), "8:1GiB"),
        (("allreduce", "--bytes", "2048T"), "0 to 1PiB"),
        (("allreduce", "--sizes", "1GiB:8"), "8:1GiB"),
        (("allreduce", "--sizes", "0:8"), "8:1GiB"),
        (("allreduce", "--sizes", "8:64:1"), "8:1GiB"),
        (("allreduce", "--ranks", "65"), "cannot place 65 ranks"),
        (("allreduce", "--place", "ZYX"), "block"),
        (("allreduce", "--routing", "magic"), "no such routing"),
        (("allreduce", "--latency", "soon"), "20ms"),
    ],
)
def test_collective_refuses_what_means_nothing(words: tuple[str, ...], reason: str) -> None:
    with pytest.raises(Refusal, match=reason) as refusal:
        run("model", "collective", "bgp", *words)
    assert refusal.value.code == 2


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ((), "either --compute"),
        (("--compute", "1ms", "--run", "last"), "either --compute"),
        (("--run", "last"), "add --kernel"),
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


def test_an_unknown_simulator_is_refused() -> None:
    with pytest.raises(Refusal, match="try one of simgrid"):
        run("model", "check", "bgp", "--with", "ns3")


def test_a_network_that_is_not_there_is_refused_before_anything_starts() -> None:
    with pytest.raises(Refusal, match="unknown network 'bgq'"):
        run("run", "p2p", "--on-model", "bgq")


def test_a_point_on_which_the_model_was_calibrated_is_marked() -> None:
    words = ("model", "scale", "power775", "-t", "ptrans", "--sizes", "1,2,19")
    lines = run(*words).splitlines()
    assert lines[-1] == "* at 2, the model was calibrated with this value: D bytes/s"
    marked = [line.split()[0] for line in lines[2:-2] if "G * " in line]
    assert marked == ["1", "2"]
    known = [point["published"] for point in as_json(*words)["points"]]
    assert [one["calibrated"] if one else None for one in known] == [["injection bytes/s"], ["D bytes/s"], None]
