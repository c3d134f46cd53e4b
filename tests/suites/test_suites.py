"""Suites are files: what they ask of a machine, what they leave out, and what is refused."""

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec import structs

from fake_run import GIB, MIB, machine
from octant import suites, workloads
from octant.failure import Refusal, RenamedWarning
from octant.suites import SuiteError
from paths import ROOT


def write(folder: Path, text: str) -> str:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("name", suites.names())
def test_tiles_name_metrics_that_the_workloads_of_their_requests_have(name: str) -> None:
    suite = suites.load(name)
    assert suites.problems(suite) == []
    tile = suite.tiles[0]
    wrong = structs.replace(tile, figures=(structs.replace(tile.figures[0], metric="rat"),))
    (said,) = suites.problems(structs.replace(suite, tiles=(wrong, *suite.tiles[1:])))
    assert re.match(f"the tile {tile.name}: node/.* has no metric 'rat', ", said)
    with pytest.raises(SuiteError, match="has no metric 'rat'"):
        suites.requests(structs.replace(suite, tiles=(wrong, *suite.tiles[1:])), machine())


@pytest.mark.parametrize("name", suites.names())
def test_every_suite_requests_known_workloads_on_every_kind_of_machine(name: str) -> None:
    suite = suites.load(name)
    for here in (machine(), machine(cores=1), machine(packages=2, nodes=2, cores=16, smt=2)):
        found = suites.requests(suite, here)
        assert {request.subject.workload for request in found} <= set(workloads.workloads())
        assert all(request.show.title for request in found)
        keys = [request.key for request in found]
        assert len(set(keys)) == len(keys), "no two requests are the same"
        for request in found:
            for cell in request.cells():
                assert not any("cached" in value or "cores" in value for value in cell.values())
            assert request.repeats >= (6 if request.show.table else 3), "each launch is a sample"


def test_the_key_of_earlier_versions_is_read_with_a_note(tmp_path: Path) -> None:
    text = "title = 'x'\n[[requests]]\nworkload = 'node/stream'\ntitle = 'one'\n"
    today = suites.load(write(tmp_path, text))
    with pytest.warns(RenamedWarning, match=re.escape("[[asks]] is now [[requests]]")):
        assert suites.load(write(tmp_path, text.replace("requests", "asks"))) == today


def test_sizes_follow_the_machine() -> None:
    found = suites.requests(suites.load("quick"), machine())  # 32 MiB of last-level cache, 16 GiB of memory
    stream = [request for request in found if request.subject.workload == "node/stream"]
    assert {request.knobs["bytes"] for request in stream if request.show.table} == {str(128 * MIB)}
    star = [
        request
        for request in suites.requests(suites.load("full"), machine())
        if request.subject.workload == "node/stream"
    ]
    assert {request.knobs["bytes"] for request in star if request.shape.ranks == 2} == {str(64 * MIB)}
    curve = next(request for request in stream if not request.show.table)
    sizes = [int(size) for size in curve.knobs["bytes"].split(",")]
    assert (sizes[0], sizes[-1]) == (8 * 1024, 256 * MIB)
    assert all(b / a == 2 for a, b in pairwise(sizes[sizes.index(8 * MIB) :]))
    assert all(b / a <= 1.5 for a, b in pairwise(sizes[: sizes.index(8 * MIB)])), "two an octave around the caches"
    small = replace(machine(), memory_bytes=GIB // 2)
    ladder = next(
        a for a in suites.requests(suites.load("quick"), small) if a.show.title == "load latency by footprint, one core"
    )
    assert ladder.knobs["bytes"].endswith(f",{32 * MIB},{64 * MIB}"), "an eighth of the memory at most"
    assert next(a for a in suites.requests(suites.load("quick"), small) if a.subject.workload == "node/stream").knobs[
        "bytes"
    ] == str(GIB // 16), "an eighth of the memory at most"


def test_a_mode_is_ranks_and_threads() -> None:
    found = suites.requests(suites.load("quick"), machine(cores=4), only=("node/peakflops",))
    shapes = [(request.shape.ranks, request.knobs.get("threads", "1")) for request in found if request.show.table]
    assert shapes == [(1, "1"), (4, "1"), (1, "4")]
    assert {request.shape.ranks for request in suites.requests(suites.load("quick"), machine(cores=1))} == {1}, (
        "no messages"
    )


def test_a_file_of_ones_own_is_a_suite(tmp_path: Path) -> None:
    text = """
title = "mine"
[[requests]]
workload = "stream"
ranks = "cores/2"
knobs = { bytes = "4*llc/ranks", kernel = "load,triad" }
needs = ["cores>=4"]
repeats = 3
"""
    suite = suites.load(write(tmp_path, text))
    (request,) = suites.requests(suite, machine(cores=8))
    assert (request.subject.workload, request.shape.ranks, request.repeats) == ("node/stream", 4, 3)
    assert request.knobs == {"bytes": str(32 * MIB), "kernel": "load,triad"}
    assert suites.requests(suite, machine(cores=2)) == ()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("title = 'x'", "requests: this key is missing"),
        ("title = 'x'\nrequests = []", "requests: expected array of length >= 1, got 0"),
        ("title = 'x'\n[[requests]]\nworkload = 'stream'\ncolour = 'red'", "colour: unknown key"),
        ("title = 'x'\n[[requests]]\nworkload = 'stream'\nneeds = ['gold']", "needs.0"),
        ("title = 'x'\n[[requests]]\nworkload = 'stream'\nrepeats = 0", "repeats"),
        ("title", "correct the file"),
        ("a = " + "[" * 5000, "nested deeper"),
    ],
)
def test_a_bad_file_is_refused_with_key_and_reason(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(Refusal, match=why):
        suites.load(write(tmp_path, text))


def test_what_cannot_be_asked_is_refused_by_name(tmp_path: Path) -> None:
    def refused(line: str) -> str:
        suite = suites.load(write(tmp_path, f"title = 'x'\n[[requests]]\ntitle = 'this one'\n{line}"))
        with pytest.raises(SuiteError) as error:
            suites.requests(suite, machine(), name="mine")
        return str(error.value)

    assert "this one: no workload 'strem'" in refused("workload = 'strem'")
    assert "divides by zero" in refused("workload = 'stream'\nknobs = { bytes = '4*llc/0' }")
    assert "0 ranks on this machine" in refused("workload = 'stream'\nranks = 'cores/64'")
    assert "'fill' in '4*fill' is not known on this machine" in refused(
        "workload = 'stream'\nknobs = { bytes = '4*fill' }"
    )
    with pytest.raises(SuiteError, match="no suite or file has this name"):
        suites.load("quicker")
    (tmp_path / "huge.toml").write_text("#" * (suites.MAX_BYTES + 1))
    with pytest.raises(Refusal, match="longer than 1048576 bytes"):
        suites.load(str(tmp_path / "huge.toml"))


def test_the_suite_of_the_documentation_can_be_asked(tmp_path: Path) -> None:
    text = (ROOT / "docs/measuring.md").read_text(encoding="utf-8").partition("```toml\n")[2].partition("```")[0]
    found = suites.requests(suites.load(write(tmp_path, text)), machine(cores=4))
    assert [(request.shape.ranks, request.repeats) for request in found] == [(1, 6), (4, 12)]


TILES = """
title = "mine"
[[requests]]
workload = "stream"
title = "triad"
[answer]
subject = "{cores}"
says = ["drew {Memory}"]
[[tiles]]
name = "Memory"
what = "{cores}"
figures = [{ title = "triad", knobs = { store = "streaming" } }]
missing = { "cores>=2" = "one core", "" = "nothing came" }
"""


def test_tiles_name_the_machine_and_its_missing_features(tmp_path: Path) -> None:
    suite = suites.load(write(tmp_path, TILES))
    many, one = (suites.first_screen(suite, machine(cores=cores)) for cores in (4, 1))
    assert (many.answer.subject, many.tiles[0].what, many.tiles[0].missing) == ("Four cores", "4 cores", "nothing came")
    assert (one.answer.subject, one.tiles[0].what, one.tiles[0].missing) == ("One core", "1 core", "one core")


@pytest.mark.parametrize(
    ("was", "becomes", "why"),
    [
        ('"triad", knobs', '"copy", knobs', "names a request that the suite does not have: 'copy'"),
        ('what = "{cores}"', 'what = "{ranks}"', r"tiles.0.what: \{ranks\} is unknown"),
        ("drew {Memory}", "drew {Storage}", r"the answer names a tile that the suite does not have: \{Storage\}"),
        ('what = "{cores}"\n', 'what = "x"\nbar = "comparison"\n', "needs `compared` if and only if"),
        ('what = "{cores}"\n', 'what = "x"\nbar = "parts"\n', "of the kind 'figure' cannot have the bar 'parts'"),
        ('what = "{cores}"\n', 'what = "x"\nbar = "pie"\n', "tiles.0.bar: unknown value 'pie'"),
        (
            'what = "{cores}"\n',
            'what = "x"\nalso = [{ label = "x" }]\n',
            "an entry of `also` of the tile Memory names no",
        ),
        ('"cores>=2" =', '"gold" =', "unknown need"),
        ('name = "Memory"', 'name = "Memory"\nscore = 9', "tiles.0.score: unknown key"),
    ],
)
def test_tiles_that_cannot_be_shown_are_refused(tmp_path: Path, was: str, becomes: str, why: str) -> None:
    assert was in TILES
    with pytest.raises(Refusal, match=why):
        suites.load(write(tmp_path, TILES.replace(was, becomes, 1)))


def test_a_suite_has_six_tiles_at_most(tmp_path: Path) -> None:
    tile = TILES[TILES.index("[[tiles]]") :]
    seven = TILES + "".join(tile.replace("Memory", f"M{i}") for i in range(6))
    with pytest.raises(Refusal, match="tiles"):
        suites.load(write(tmp_path, seven))


@pytest.mark.parametrize("name", suites.names())
def test_every_figure_that_a_tile_names_is_asked(name: str) -> None:
    """Its title, and knobs whose values the request sweeps or sets; knobs at their defaults are the kernel's."""
    suite = suites.load(name)
    asked = suites.requests(suite, machine())
    assert len(suite.tiles) == (1 if name == "noise" else 6)
    for one in suites.first_screen(suite, machine()).tiles:
        for figure in one.figures:
            fitting = [request for request in asked if request.show.title == figure.title]
            assert fitting, figure.title
            for knob, value in figure.knobs.items():
                assert any(value in request.knobs.get(knob, value).split(",") for request in fitting), (
                    figure.title,
                    knob,
                )


def test_unrequested_workloads_are_not_reported_as_missing() -> None:
    suite = suites.load("quick")

    def missing(*only: str) -> str:
        return next(one for one in suites.first_screen(suite, machine(), only).tiles if one.name == "Messages").missing

    assert (missing(), missing("p2p"), missing("stream")) == ("no MPI library", "no MPI library", "")


def test_the_noise_test_is_the_same_request_in_every_suite() -> None:
    """One thread on each hardware thread, also where cores have several; a machine of one core has it, too."""
    for on, threads in ((machine(cores=4, smt=2), "8"), (machine(cores=1), "1")):
        found = {name: suites.requests(suites.load(name), on)[-1] for name in suites.names()}
        assert {request.key for request in found.values()} == {found["noise"].key}
        assert dict(found["noise"].knobs) == {"threads": threads}


def test_a_suite_includes_only_suites_of_octant(tmp_path: Path) -> None:
    text = 'title = "x"\ninclude = ["noise"]\n[[requests]]\nworkload = "stream"\ntitle = "mine"\n'
    assert [one.title for one in suites.load(write(tmp_path, text)).requests] == [
        "mine", suites.load("noise").requests[0].title,
    ]  # fmt: skip
    with pytest.raises(Refusal, match="there is no suite 'nois'"):
        suites.load(write(tmp_path, text.replace("noise", "nois")))
