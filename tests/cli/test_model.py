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
        (
            ("explain", "power775", "-t", "randomaccess", "-n", "25"),
            "The next limit is the injection links, at 1.11 times the present rate.",
        ),
        (("diff", "power775", "power775", "-t", "ptrans", "--sizes", "3", "--routing", "indirect"), "limited by"),
        (
            ("bracket", "dragonfly-example", "-t", "shift", "-p", "32", "-n", "9", "--against", "valiant"),
            "ideal adaptive",
        ),
        (("reach", "power775", "1e9", "-t", "randomaccess", "-n", "16"), "D × 1.389"),
        (
            ("fail", "power775", "-c", "D", "-n", "3", "-t", "ptrans"),
            "D cables, one failure at a time: the cable fails (policy spread)",
        ),
        (("fail", "power775", "-c", "D", "-n", "3", "-t", "ptrans", "--lanes", "2"), "keeps 100 %"),
        (("fail", "power775", "-c", "D", "-n", "2", "--random", "3", "--trials", "4"), "3 random link failures"),
        (("recover", "power575-ib", "-c", "port", "-p", "12", "--megabytes", "0.5"), "0 missing at the end"),
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


@pytest.mark.parametrize(
    ("text", "more", "says"),
    [
        ("0 1 0\n", (), "contains no bytes"),
        ("# none\n", (), "is empty"),
        ("0 99999999999 1\n", (), "line 1"),
        ("0 1 1\n", ("--bytes", "1MiB"), "cannot combine"),
        ("0 1 1\n", ("--job", "2"), "cannot combine"),
        ("0 16777214 1\n", ("--per-node", "4096"), "cannot place 16777215 ranks"),
    ],
)
def test_traffic_of_a_file_that_says_nothing_is_refused(
    text: str, more: tuple[str, ...], says: str, tmp_path: Path
) -> None:
    pairs = tmp_path / "pairs"
    pairs.write_text(text)
    with pytest.raises(Refusal, match=says):
        run("solve", "bgp", "--pairs", str(pairs), *more)


def test_inputs_are_plain_files_of_some_size(tmp_path: Path) -> None:
    (tmp_path / "pairs").write_text("0 1 1\n")
    (tmp_path / "map").write_text("-1\n0\n")
    for words in (("--pairs", "/dev/zero"), ("--pairs", str(tmp_path / "pairs"), "--place", str(tmp_path / "map"))):
        with pytest.raises(Refusal, match=r"regular file|plain file|not a node"):
            run("solve", "bgp", *words)
    with pytest.raises(Refusal, match="regular file"):
        run("calibrate", "power775", "-t", "ptrans", "--free", "D", "--points", "/dev/zero")


def test_what_nothing_limits_and_what_has_no_route_are_answers() -> None:
    words = ("solve", "dragonfly-example", "-n", "2", "-t", "shift", "-p", "0")
    assert "shift: no limit per flow" in run(*words)
    assert "64 of 64 flows are within a node" in run(*words)
    assert answer(*words)["rate_per_s"] is None
    random = ("fail", "dragonfly-example", "-c", "global", "--random", "5", "--trials", "3")
    cut = run(*random, "--policy", "stall")
    assert "without a route       some traffic in 3 of 3 trials" in cut
    assert "--policy detour" in cut
    assert "--policy detour" in run("fail", "bgp", "-c", "link", "--policy", "stall", "-t", "shift")
    for policy in ("detour", "recompute"):
        assert "without a route" not in run(*random, "--policy", policy)
    assert "detour, because traffic would have no route with stall" in run(*random)
    assert "path never removed" in run("recover", "bgp", "-c", "link", "--megabytes", "0.1", "--timeout", "0s")
    assert "no packet is lost" in run("recover", "bgp", "-c", "link", "--megabytes", "0.001", "--fails", "1s")


def test_flows_have_the_size_that_is_asked() -> None:
    words = ("solve", "dragonfly-example", "-n", "3", "-t", "shift")
    static = answer(*words)["rate_per_s"]
    packets = answer(*words, "--solver", "packets")
    assert packets["rate_per_s"] == pytest.approx(static, rel=0.02)
    assert packets["units_each"] == 2**20
    assert packets["time_s"] == pytest.approx(2**20 / packets["rate_per_s"])
    short = answer(*words, "--solver", "packets", "--bytes", "4096")
    assert short["rate_per_s"] < packets["rate_per_s"] / 4
    assert answer("scale", *words[1:2], "--sizes", "3", "-t", "shift", "--solver", "packets")["points"][0][
        "rate_per_s"
    ] == pytest.approx(packets["rate_per_s"])
    assert "(largest flow: 4 KiB)" in run(*words, "--solver", "packets", "--bytes", "4KiB")


def test_max_min_gives_all_rates_to_programs() -> None:
    rates = answer("solve", "bgp", "-t", "random", "--solver", "max-min")["flow_rates"]
    assert len(rates["each_per_s"]) == rates["crossing"] + rates["inside"] == 64
    assert rates["each_per_s"].count(None) == rates["inside"]
    assert rates["slowest_per_s"] == min(rate for rate in rates["each_per_s"] if rate)


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
        (("fail", "bgp", "-c", "link", "--policy", "magic"), "try one of stall, twin, spread, detour, recompute"),
        (("app", "bgp"), "--compute 1.2ms"),
        (("app", "bgp", "--compute", "1ms", "--halo", "4d:8"), "does not begin with 2d: or 3d:"),
        (("scale", "power775", "--sizes", "0"), "1:64:8"),
        (("scale", "power775", "--sizes", "600"), "at most 512"),
        (("solve", "bgp", "--solver", "magic"), "fluid"),
        (("solve", "bgp", "-t", "magic"), "tornado"),
        (("solve", "bgp", "-t", "shift", "--solver", "queue"), "packets"),
        (("fail", "bgp", "-c", "D"), "try one of link"),
        (("fail", "bgp", "-c", "link", "--policy", "twin"), "recompute"),
        (("calibrate", "bgp", "--free", "link"), "--points"),
        (("export", "bgp", "--to", "paper"), "edges"),
        (("fail", "power775", "-c", "D", "-n", "2", "--lanes", "13"), "10 lanes and 2 spares"),
        (("app", "bgp", "--ranks", "1:20000", "--compute", "1ms"), "more than 10000 sizes"),
        (("recover", "power575-ib", "-c", "port", "--fails", "soon"), "20ms"),
        (("app", "bgp", "--ranks", "8", "--compute", "1ms", "--overhead", "-1us"), "20ms"),
        (("solve", "bgp", "-t", "shift", "--bytes", "0"), "--bytes 1MiB"),
        (("solve", "bgp", "-t", "shift", "--bytes", "big"), "64KiB"),
        (("solve", "bgp", "--bytes", "1MiB"), "use a list of flows"),
        (("solve", "power775", "--job", "0,64"), "on power775 .64 supernodes, numbered from 0"),
        (("scale", "bgp", "-t", "shift", "--solver", "packetz"), "did you mean packets"),
        (("scale", "power575-ib", "-t", "random-ring", "--job", "2", "--sizes", "4"), "ordered-ring"),
        (("recover", "power775", "-c", "D", "-n", "2", "--megabytes", "1e6"), "packets one by one"),
        (("recover", "power575-ib", "-c", "port", "--fails", "1e8s"), "0 to 3600 s"),
        (("recover", "bgp", "-c", "link", "-n", "1"), "there is no cable"),
        (("fail", "bgp", "-c", "link", "--random", "1000"), "link has 288 links"),
        (("fail", "dragonfly-example", "-c", "global", "-n", "2", "-t", "shift", "-p", "0"), "no link limits shift"),
        (("loads", "dragonfly-example", "-t", "shift", "-t", "to-itself", "--sizes", "2"), "other --sizes"),
    ],
)
def test_refusals_say_what_to_try(words: tuple[str, ...], says: str) -> None:
    with pytest.raises(Refusal, match=says) as refusal:
        run(*words)
    assert refusal.value.code == 2
