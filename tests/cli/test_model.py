"""`octant model`: words in, tables or JSON out, and refusals that say what to try."""

from pathlib import Path

import pytest

from model_command import answer, run
from octant.failure import Refusal


def test_scale_gives_what_a_program_needs() -> None:
    curve = answer("scale", "power775", "--traffic", "randomaccess", "--supernodes", "1,2,24,25")
    points = {p["supernodes"]: p for p in curve["points"]}
    assert list(points) == [1, 2, 24, 25]
    assert points[1]["rate_per_s"] == pytest.approx(1.08e9)
    assert points[1]["unit"] == "update/s per octant"
    assert points[1]["solver"] == "class aggregation"
    assert points[1]["published"]["value"] == pytest.approx(1.08e9)
    assert points[2]["bottleneck"] == "D"
    assert points[2]["error"] == pytest.approx(-0.1)
    assert points[2]["low_per_s"] < points[2]["high_per_s"]
    assert points[24]["published"] is None
    assert points[25]["bottleneck"] == "L-local"
    assert points[25]["bound"]["rate_per_s"] < points[25]["rate_per_s"]


def test_scale_prints_a_table() -> None:
    text = run("scale", "power775", "-t", "ptrans", "--supernodes", "1:3")
    assert "B/s per octant" in text
    assert [line.split()[0] for line in text.splitlines()[2:5]] == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("list",), "power575-ib"),
        (("solve", "hyperx-example", "-t", "shift", "-p", "8"), "per flow (enumeration)"),
        (("solve", "bgp", "-t", "random", "--solver", "max-min"), "(max-min)"),
        (("solve", "bgp", "-t", "random", "--solver", "packets"), "(packets)"),
        (("explain", "power775", "-t", "randomaccess", "-n", "25"), "Next comes injection, 10.7 % further on."),
        (("diff", "power775", "power775", "-t", "ptrans", "--sizes", "3", "--routing", "indirect"), "limited by"),
        (
            ("bracket", "dragonfly-example", "-t", "shift", "-p", "32", "-n", "9", "--against", "valiant"),
            "ideal adaptive",
        ),
        (("reach", "power775", "1e9", "-t", "randomaccess", "-n", "16"), "D ×1.389"),
        (("fail", "power775", "-c", "D", "-n", "3", "-t", "ptrans"), "D cables, each fails alone (policy spread)"),
        (("fail", "power775", "-c", "D", "-n", "3", "-t", "ptrans", "--lanes", "2"), "keeps 100 %"),
        (("fail", "power775", "-c", "D", "-n", "2", "--random", "3", "--trials", "4"), "3 random links down"),
        (("recover", "power575-ib", "-c", "port", "-p", "12", "--megabytes", "0.5"), "0 missing in the end"),
        (("calibrate", "power775", "-t", "ptrans", "--free", "D,endpoint"), "8.400 G/s"),
        (("export", "bgp"), "0 1 link 374000000 inf 1e-07"),
    ],
)
def test_every_command_answers_in_words(words: tuple[str, ...], says: str) -> None:
    assert says in run(*words)


@pytest.mark.parametrize(
    "words",
    [
        ("list",),
        ("solve", "bgp"),
        ("explain", "bgp"),
        ("diff", "bgp", "bgp"),
        ("reach", "bgp", "1e9"),
        ("fail", "power775", "-c", "D", "-n", "2"),
        ("recover", "power575-ib", "-c", "port", "-p", "12", "--megabytes", "0.1"),
        ("calibrate", "power775", "-t", "ptrans", "--free", "D"),
    ],
)
def test_every_command_answers_in_json(words: tuple[str, ...]) -> None:
    assert answer(*words)


def test_traffic_of_a_file_is_placed_as_asked(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs"
    pairs.write_text("0 4 1000000\n")
    near = answer("solve", "bgp", "--pairs", str(pairs), "--place", "TXYZ", "--per-node", "4")
    same = answer("solve", "bgp", "--pairs", str(pairs), "--place", "block", "--per-node", "8")
    assert near["bottlenecks"][0]["link"] == "link (0,0,0) → (1,0,0)"
    assert same["bottlenecks"][0]["link_class"] == "local"
    (tmp_path / "map").write_text("0\n0\n0\n0\n63\n")
    mapped = answer("solve", "bgp", "--pairs", str(pairs), "--place", str(tmp_path / "map"))
    assert mapped["time_s"] < 1000000 / 374e6  # nine hops, but over several ways


def test_points_of_a_file_calibrate(tmp_path: Path) -> None:
    points = tmp_path / "points"
    points.write_text("2 0.1e9 0.05\n24 1.08e9 at_least\n")
    fit = answer("calibrate", "power775", "-t", "randomaccess", "--free", "D", "--points", str(points))
    assert fit["parameters"][0]["value"] == pytest.approx(0.2e9, rel=0.03)
    points.write_text("2 fast\n")
    with pytest.raises(Refusal, match="line 1"):
        run("calibrate", "power775", "-t", "randomaccess", "--free", "D", "--points", str(points))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("scale", "power776"), "power775"),
        (("scale", "bgp", "--routing", "magic"), "no such routing"),
        (("fail", "bgp", "-c", "link", "--policy", "magic"), "try stall, twin, spread, recompute"),
        (("app", "bgp"), "--compute 1.2ms"),
        (("app", "bgp", "--compute", "1ms", "--halo", "4d:8"), "no halo of 2d or 3d: 4d:8"),
        (("scale", "power775", "--sizes", "0"), "1:64:8"),
        (("scale", "power775", "--sizes", "600"), "at most 512"),
        (("solve", "bgp", "--solver", "magic"), "fluid"),
        (("solve", "bgp", "-t", "magic"), "tornado"),
        (("solve", "bgp", "-t", "shift", "--solver", "queue"), "packets"),
        (("fail", "bgp", "-c", "D"), "try link"),
        (("fail", "bgp", "-c", "link", "--policy", "twin"), "recompute"),
        (("calibrate", "bgp", "--free", "link"), "--points"),
        (("export", "bgp", "--to", "paper"), "edges"),
        (("fail", "bgp", "-c", "link", "--random", "1", "--trials", "0"), "--trials 100"),
        (("fail", "bgp", "-c", "link", "--random", "1", "--trials", "-1"), "--trials 100"),
        (("fail", "power775", "-c", "D", "-n", "2", "--lanes", "-1"), "10 and 2 spares"),
        (("fail", "power775", "-c", "D", "-n", "2", "--lanes", "13"), "10 and 2 spares"),
        (("solve", "bgp", "--solver", "queue", "--window", "0"), "--window 1"),
        (("recover", "power575-ib", "-c", "port", "--megabytes", "-1"), "negative"),
        (("recover", "power575-ib", "-c", "port", "--fails", "soon"), "20ms"),
        (("app", "bgp", "--ranks", "8", "--compute", "1ms", "--overhead", "-1us"), "20ms"),
        (("reach", "bgp", "inf"), "has no end"),
        (("solve", "bgp", "-n", "-5"), "1 or more"),
    ],
)
def test_refusals_say_what_to_try(words: tuple[str, ...], says: str) -> None:
    with pytest.raises(Refusal, match=says) as refusal:
        run(*words)
    assert refusal.value.code == 2
