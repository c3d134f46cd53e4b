"""Load maps and pictures of the network model: what they show is what was solved."""

import base64
import json
import re
import xml.etree.ElementTree as ET
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from networks import network
from octant.failure import Refusal
from octant.network import NetworkFile, load, make, solve
from octant.network.loads import LoadMap, load_map
from octant.network.overview import Overview, overview, sizes
from octant.report.charts.layout.labels import text_width
from octant.report.network import answers as network_text
from octant.report.network import page as network_page
from octant.report.network import svg
from octant.report.network.page import curve, failures
from pages import NASTY, opened
from paths import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def randomaccess(supernodes: int) -> LoadMap:
    sized = load("power775").at_size(supernodes)
    return load_map(sized, make(sized, "randomaccess"))


@pytest.fixture(scope="module")
def shown() -> Overview:
    return overview(load("power775"), "randomaccess", (1, 2, 9, 17, 24, 25))


@pytest.mark.parametrize(
    "net",
    [load("power775").at_size(9), *map(load, ("bgp", "power575-ib", "hyperx-example")), network("torus", sizes=[5, 3])],
    ids=lambda net: net.name,
)
@pytest.mark.parametrize("traffic", ["uniform", "random"])
def test_the_busiest_link_of_a_class_is_its_headroom(net: NetworkFile, traffic: str) -> None:
    pattern = make(net, traffic)
    found = load_map(net, pattern)
    answer = solve(net, pattern, "enumeration")
    busiest = {one.link_class: one.busiest for one in found.classes if one.limited}
    assert busiest == pytest.approx({b.link_class: 1 / b.headroom for b in answer.bottlenecks})
    assert max(busiest.values()) == pytest.approx(1)
    assert found.bottleneck.busiest == pytest.approx(1)
    assert all(list(one.quantiles) == sorted(one.quantiles) for one in found.classes)


def test_the_bottleneck_moves_from_d_to_l_local_at_25_supernodes() -> None:
    assert randomaccess(24).bottleneck.link_class == "D"
    assert randomaccess(25).bottleneck.link_class == "L-local"


def test_links_of_a_class_are_counted_without_the_ends_of_a_mesh() -> None:
    bgp = load("bgp")
    found = {one.link_class: one.links for one in load_map(bgp, make(bgp, "uniform")).classes}
    assert found["link"] == 2 * 3 * 4 * 4 * 3


def test_the_drawing_shows_which_octant_carries_how_many_supernodes() -> None:
    drawn = ET.fromstring(svg.topology(randomaccess(25)))  # noqa: S314 - our own text
    titles = [title.text or "" for title in drawn.iter("{http://www.w3.org/2000/svg}title")]
    stubs = sorted(int(text.split(": ")[1].split()[0]) for text in titles if text.startswith("D links"))
    assert stubs == sorted([4, 2, 3, 3, 3, 3, 3, 3] * 4)  # 24 peers dealt over 8 hosts, seen from class 1
    saturated = [text for text in titles if text.startswith("L-local") and text.endswith("100 %")]
    assert saturated
    assert all("octants 0 and" in text for text in saturated)  # to the host of four
    assert (
        sum("barred" in (circle.get("class") or "") for circle in drawn.iter("{http://www.w3.org/2000/svg}circle")) == 1
    )


@pytest.mark.parametrize("wraps", [True, False])
def test_a_slice_draws_every_link_of_its_nodes_once(wraps: bool) -> None:
    net = network("torus", sizes=[4, 4, 3], wraps=wraps)
    drawn = ET.fromstring(svg.topology(load_map(net, make(net, "uniform"))))  # noqa: S314 - our own text
    lines = list(drawn.iter("{http://www.w3.org/2000/svg}line"))
    assert len(lines) == 2 * 2 * 4 * (4 if wraps else 3)
    ends = [[float(line.get(end) or "nan") for end in ("x1", "y1", "x2", "y2")] for line in lines]
    assert max(abs(x2 - x1) + abs(y2 - y1) for x1, y1, x2, y2 in ends) <= 32  # links around are stubs
    assert len(list(drawn.iter("{http://www.w3.org/2000/svg}circle"))) == 2 * 16


def test_shapes_without_a_drawing_have_none() -> None:
    net = load("hyperx-example")
    assert svg.topology(load_map(net, make(net, "uniform"))) == ""


@pytest.mark.slow
def test_heat_has_one_cell_a_class_and_size(shown: Overview) -> None:
    drawn = ET.fromstring(svg.heat(shown.maps, "supernodes"))  # noqa: S314 - our own text
    titles = [t.text or "" for t in drawn.iter("{http://www.w3.org/2000/svg}title") if t.text]
    assert "25 supernodes: L-local 100 % of its capacity" in titles
    assert len(titles) == sum(len(found.classes) for found in shown.maps.values())


@pytest.mark.parametrize(("sizes", "holds"), [((9, 17), "17 supernodes: D"), ((9,), "D links of octant")])
def test_a_drawing_needs_no_other_file(shown: Overview, sizes: tuple[int, ...], holds: str) -> None:
    alone = svg.drawing({size: shown.maps[size] for size in sizes}, "supernodes")
    assert holds in alone
    assert ET.fromstring(alone).find("{http://www.w3.org/2000/svg}style") is not None  # noqa: S314 - our own text
    with pytest.raises(Refusal, match="cannot draw"):
        svg.drawing({}, "supernodes")


def test_the_curve_overlays_what_was_published(shown: Overview) -> None:
    picture = curve(shown)
    model, published, queue, ranged = picture.panels[0].series
    assert published.x == (1.0, 2.0)
    assert published.y == pytest.approx((1.08e9, 0.1e9))
    assert model.y[4] > model.y[5]  # the drop from 24 to 25
    assert queue.name.startswith("closed queue")
    assert (ranged.low[5], ranged.high[5]) == pytest.approx((0.8892e9, 1.0036e9), rel=1e-3)  # at 25
    assert len(picture.rows) == len(shown.curve.points)
    assert all(len(cells) == len(picture.header) for cells in picture.rows)
    assert picture.rows[1][-2:] == ("-10.0 %", "class aggregation")
    assert model.name == "model (class aggregation)"


def test_failover_policy_matters_more_than_the_failure(shown: Overview) -> None:
    left = {(worst.size, worst.policy): worst.left for worst in shown.failures}
    assert left[24, "twin"] == pytest.approx(0.5)  # 1.08 to 0.54 Gupdate/s
    assert left[24, "spread"] == pytest.approx(0.945 / 1.08)
    picture = failures(shown)
    assert picture is not None
    assert {series.name for series in picture.panels[0].series} == {"twin", "spread", "detour", "recompute"}
    bgp = failures(overview(load("bgp"), "uniform", (8,)))
    assert bgp is not None
    assert [series.name for series in bgp.panels[0].series] == ["detour", "recompute"]  # of a torus


def test_the_page_holds_everything_and_is_the_same_twice(shown: Overview) -> None:
    page = network_page.render(shown)
    assert page == network_page.render(shown)
    assert not re.search(r'(?:src|href)="(?!#|data:)', page)
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert found is not None
    data = {
        name: json.loads(zlib.decompress(base64.b64decode(json.loads(found[1])[name])))
        for name in ("document", "frames")
    }
    assert [point["size"] for point in data["document"]["maps"]] == [1, 2, 9, 17, 24, 25]
    assert [label for label, _ in data["frames"]] == [f"{size} supernodes" for size in (1, 2, 9, 17, 24, 25)]
    assert data["frames"][5][1] in page, "one of them is readable without scripts"
    assert 'max="5"' in page
    assert "975 Mupdate/s per octant. L-local is saturated" in page
    assert "randomaccess on 25 supernodes: 975 Mupdate/s per octant, limited by L-local." in page
    assert "The error is -10.0 % at 1 published point not used for calibration." in page
    assert len(page) < 400_000


def test_an_application_has_a_curve_only() -> None:
    ring = overview(load("power575-ib"), "random-ring", (2, 4))
    assert ring.maps == {}
    page = network_page.render(ring)
    assert 'id="size"' not in page
    assert "random-ring against nodes" in page
    assert "empirical factor 0.94" in page
    assert curve(ring).panels[0].series[0].name == "model (solver of each size in the table)"


def test_names_of_people_stay_text(shown: Overview) -> None:
    nasty = replace(shown.network, title=NASTY, sources=(NASTY,))
    page = network_page.render(overview(nasty, "randomaccess", (1, 2), failures=False))
    assert NASTY not in page


def test_the_terminal_shows_curve_and_loads(shown: Overview) -> None:
    lines = network_text.overview_text(shown).splitlines()
    assert lines[0] == "power775: randomaccess, update/s per octant"
    assert lines[1].startswith(" 1.08 Gupdate/s │@")  # published and modelled in one place
    rows = {line.split("│")[0].strip(): line.split("│")[1] for line in lines if "│" in line}
    assert rows["D"] == "     " + "▓" * 20 + "▇" * 5
    assert rows["L-local"].endswith("▓▓▓▓▓")


def test_sizes_go_up_to_the_machine() -> None:
    assert sizes(load("power775")) == tuple(range(1, 65))
    assert sizes(load("bgp")) == (8, 27, 64)
    assert sizes(load("power575-ib")) == (2, 4, 8, 16, 32, 64, 72)


NETWORKS = {name: load(name) for name in ("bgp", "dragonfly-example", "hyperx-example", "power575-ib")}
NETWORKS["power775"] = load("power775").at_size(9)
NETWORKS["torus"] = network("torus", sizes=[4, 4, 3])


@pytest.mark.parametrize("name", NETWORKS)
def test_every_part_and_every_class_of_links_is_explained(name: str) -> None:
    found = load_map(NETWORKS[name], make(NETWORKS[name], "uniform"))
    said = dict(network_page.link_terms(found))
    assert set(said) >= {one.link_class for one in found.classes}
    assert len(said) > len(found.classes), "and what the network is made of"
    assert "a link of this class" not in " ".join(said.values())
    assert all(text and not text.endswith(".") for text in said.values())


def test_a_class_of_links_is_explained_with_its_capacity_and_in_the_files_own_words() -> None:
    power775 = NETWORKS["power775"]
    said = dict(network_page.link_terms(load_map(power775, make(power775, "uniform"))))
    assert said["L-local"] == (
        "a link between two octants of one drawer; copper, within a drawer; 24.0 GB/s and 188 Mpackets/s each way"
    )
    assert said["D"].startswith("a link between two supernodes; each pair of them has 8 links; optical")
    assert said["octant"].endswith("31 of the 32 in a supernode compute")


@pytest.mark.parametrize(
    ("name", "words"), [("power775", {"half of a line", "dashed circle"}), ("bgp", {"shade of a circle"})]
)
def test_what_a_drawing_shows_is_explained(name: str, words: set[str]) -> None:
    found = load_map(NETWORKS[name], make(NETWORKS[name], "uniform"))
    assert words <= set(dict(network_page.drawing_terms(found)))
    assert ("line beyond the edge" in dict(network_page.drawing_terms(found))) is False, "a mesh has no way around"


def test_a_torus_has_lines_beyond_its_edge_and_what_is_not_drawn_is_not_explained() -> None:
    torus, tree = (load_map(NETWORKS[name], make(NETWORKS[name], "uniform")) for name in ("torus", "power575-ib"))
    assert "line beyond the edge" in dict(network_page.drawing_terms(torus))
    assert svg.topology(tree) == ""
    assert network_page.drawing_terms(tree) == ()


@pytest.mark.parametrize("room", [svg.WIDE, svg.NARROW])
@pytest.mark.parametrize("name", NETWORKS)
def test_drawings_keep_to_their_room(name: str, room: int) -> None:
    found = load_map(NETWORKS[name], make(NETWORKS[name], "uniform"))
    for drawing in (
        svg.strips(found, room),
        svg.heat(dict.fromkeys(range(1, 65), found), "supernodes", room),
        svg.topology(found) if room == svg.WIDE else "",
    ):
        if not drawing:
            continue
        root = ET.fromstring(drawing)  # noqa: S314 - our own text
        width = float(root.get("width") or "nan")
        assert width <= room
        for text in root.iter("{http://www.w3.org/2000/svg}text"):
            long, x = text_width(text.text or "", svg.SIZE), float(text.get("x") or "nan")
            left = x - {"start": 0, "middle": long / 2, "end": long}[text.get("text-anchor") or ""]
            assert left >= -1
            assert left + long <= width + 1, text.text


@pytest.mark.parametrize(
    ("name", "words", "at"),
    [
        ("bgp-64", ("bgp", "uniform"), (64,)),
        ("power775-25", ("power775", "randomaccess"), (25,)),
        ("power775-loads", ("power775", "randomaccess"), ()),
    ],
)
def test_the_drawings_of_the_documentation_are_those_of_today(
    name: str, words: tuple[str, str], at: tuple[int, ...], request: pytest.FixtureRequest
) -> None:
    """`pytest --rewrite` draws them again."""
    path, found = ROOT / "docs/pictures" / f"{name}.svg", overview(load(words[0]), words[1], at, failures=False)
    now = svg.drawing(found.maps, found.curve.size_word)
    if request.config.getoption("--rewrite"):
        path.write_text(now, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == now


SMALLEST_TEXT = """
Math.min(...[...document.querySelectorAll(".loads svg text")].filter((text) => text.checkVisibility())
  .map((text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a))"""


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_slider_turns_the_pages(browser: "Browser", shown: Overview, tmp_path: Path, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    width = 320 if scheme == "dark" else 1200
    page, wrong = opened(browser, network_page.write(shown, tmp_path / "netz ä.html"), width, scheme)
    page.wait_for_selector("#frame[data-ready]")
    page.locator("#size").focus()
    page.keyboard.press("Home")
    assert page.locator("#size-label").inner_text() == "1 supernodes"
    page.keyboard.press("ArrowRight")
    assert page.locator("#size").get_attribute("aria-valuetext") == "2 supernodes"
    page.keyboard.press("End")
    assert "25 supernodes" in page.locator("#frame p").inner_text()
    assert page.locator("#frame svg:visible").count() == 2, "links by load for this width, and the topology"
    assert page.evaluate(SMALLEST_TEXT) >= 11
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert wrong == []
    found = axe.Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
