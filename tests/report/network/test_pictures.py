"""Load maps and pictures of the network model: what they show is what was solved."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from networks import network
from octant.failure import Refusal
from octant.network import NetworkFile, load, make, solve
from octant.network.loads import LoadMap, load_map
from octant.network.overview import Overview, overview, sizes
from octant.report.network import page as network_page
from octant.report.network import svg
from octant.report.network import text as network_text
from octant.report.network.pictures import curve, failures
from pages import NASTY, opened

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
    told = [title.text or "" for title in drawn.iter("{http://www.w3.org/2000/svg}title")]
    stubs = sorted(int(text.split(": ")[1].split()[0]) for text in told if text.startswith("D links"))
    assert stubs == sorted([4, 2, 3, 3, 3, 3, 3, 3] * 4)  # 24 peers dealt over 8 hosts, seen from class 1
    saturated = [text for text in told if text.startswith("L-local") and text.endswith("100 %")]
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
    told = [t.text or "" for t in drawn.iter("{http://www.w3.org/2000/svg}title") if t.text]
    assert "25 supernodes: L-local 100 % of its capacity" in told
    assert len(told) == sum(len(found.classes) for found in shown.maps.values())


@pytest.mark.parametrize(("sizes", "holds"), [((9, 17), "17 supernodes: D"), ((9,), "D links of octant")])
def test_a_drawing_stands_alone(shown: Overview, sizes: tuple[int, ...], holds: str) -> None:
    alone = svg.drawing({size: shown.maps[size] for size in sizes}, "supernodes")
    assert holds in alone
    assert ET.fromstring(alone).find("{http://www.w3.org/2000/svg}style") is not None  # noqa: S314 - our own text
    with pytest.raises(Refusal, match="cannot draw"):
        svg.drawing({}, "supernodes")


def test_the_curve_overlays_what_was_published(shown: Overview) -> None:
    picture = curve(shown)
    model, published, queue = picture.panels[0].series
    assert published.x == (1.0, 2.0)
    assert published.y == pytest.approx((1.08e9, 0.1e9))
    assert model.y[4] > model.y[5]  # the drop from 24 to 25
    assert queue.name.startswith("closed queue")
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
    assert {series.name for series in picture.panels[0].series} == {"twin", "spread", "recompute"}
    bgp = failures(overview(load("bgp"), "uniform", (8,)))
    assert bgp is not None
    assert [series.name for series in bgp.panels[0].series] == ["recompute"]  # a torus has no other policy


def test_the_page_holds_everything_and_is_the_same_twice(shown: Overview) -> None:
    page = network_page.render(shown)
    assert page == network_page.render(shown)
    assert not re.search(r'(?:src|href)="(?!#|data:)', page)
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert found is not None
    data = json.loads(found[1])["document"]
    assert [point["size"] for point in data["maps"]] == [1, 2, 9, 17, 24, 25]
    assert page.count('class="frame"') == 6
    assert len(re.findall(r'class="frame" data-label="\d+ supernodes">', page)) == 1  # the rest is hidden
    assert 'max="5"' in page
    assert "975 Mupdate/s per octant. L-local is saturated" in page


def test_an_application_has_a_curve_only() -> None:
    ring = overview(load("power575-ib"), "random-ring", (2, 4))
    assert ring.maps == {}
    page = network_page.render(ring)
    assert 'class="frame"' not in page
    assert "random-ring against nodes" in page
    assert "empirical factor 0.94" in page
    assert curve(ring).panels[0].series[0].name == "model (solver of each size in the table)"


def test_names_of_people_stay_text(shown: Overview) -> None:
    nasty = shown.network.model_copy(update={"title": NASTY, "sources": (NASTY,)})
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


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_slider_turns_the_pages(browser: "Browser", shown: Overview, tmp_path: Path, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    width = 375 if scheme == "dark" else 1200
    page, wrong = opened(browser, network_page.write(shown, tmp_path / "netz ä.html"), width, scheme)
    slider = page.locator("#size")
    slider.focus()
    page.keyboard.press("Home")
    assert page.locator("#size-label").inner_text() == "1 supernodes"
    assert page.locator(".frame:visible").count() == 1
    page.keyboard.press("End")
    assert "25 supernodes" in page.locator(".frame:visible p").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert wrong == []
    found = axe.Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
