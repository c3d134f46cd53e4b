"""What all pages share: files, content policy, data that no text can end, and the parts of templates."""

import base64
import hashlib
import json
import re
from pathlib import Path

import pytest

from octant.failure import Refusal
from octant.report.charts import draw
from octant.report.charts.picture import Axis, ChartSeries, Panel, Picture
from octant.report.network.svg import asset
from octant.report.page import html
from octant.report.screen.answer import Reliability, ShareBar, Strip
from octant.report.screen.first_screen import FirstScreen
from octant.report.screen.text import screen_lines
from octant.stats.grades import GradeName
from pages import inflated

PICTURE = Picture(
    "one", "One", "How to read it.",
    (Panel(Axis("x", False, ((0, "0"), (2, "2"))), Axis("y", False, ((0, "0"), (2, "2"))),
           (ChartSeries("s", "curve", (0, 1, 2), (0, 2, 1)),)),),
    ("x", "y"), (("0", "0"), ("1", "2"), ("2", "1")),
)  # fmt: skip


def parts(call: str, **values: object) -> str:
    """Return the result of a call of a part of pages."""
    template = "{% import 'parts.html.jinja' as parts with context %}{{ parts." + call + " }}"
    return html.templates().from_string(template).render(**values)


def test_a_page_is_written_whole_or_refused(tmp_path: Path) -> None:
    assert html.save("<p>é\x1b</p>", tmp_path / "page.html").read_text(encoding="utf-8") == "<p>é�</p>"
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    with pytest.raises(Refusal, match="cannot write"):
        html.save("", tmp_path / "missing" / "page.html")


def test_no_text_ends_the_data_of_a_page() -> None:
    text = "</script><!--\u2028\u2029"
    held = html.json_markup({"a": text})
    assert not re.search("[<\u2028\u2029]", held)
    assert json.loads(held) == {"a": text}


def test_the_policy_allows_the_style_and_the_script_of_the_page_alone() -> None:
    page = html.templates().get_template("base.html.jinja")
    assert page
    rendered = html.render("further.html.jinja", {}, shown=NothingToShow())
    assert "<script" not in rendered
    whole = html.render("base.html.jinja", {"run": "x"}, style=asset("network.css"), script=asset("network.js"))
    assert all(one in whole for one in (".chart", ".network", "unpacked", "slider")), "a style or a script is missing"
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', whole)
    assert policy
    for element in ("style", "script"):
        content = re.search(rf"<{element}>(.*?)</{element}>", whole, re.DOTALL)
        assert content
        digest = base64.b64encode(hashlib.sha256(content[1].encode()).digest()).decode()
        assert f"{element}-src 'sha256-{digest}'".replace("+", "&#43;") in policy[1].replace("&#39;", "'").replace(
            "+", "&#43;"
        )
    assert "unsafe" not in policy[1]


class NothingToShow:
    """A table without rows."""

    groups, footnotes, ends, claim = (), (), "", ""


def test_style_and_script_keep_their_budgets() -> None:
    whole = html.render("base.html.jinja", {})
    for element in ("style", "script"):
        content = re.search(rf"<{element}>(.*?)</{element}>", whole, re.DOTALL)
        assert content
        assert 1000 < len(content[1].encode()) <= 15_000, element


def test_the_style_has_every_colour_in_both_schemes() -> None:
    style = html.render("base.html.jinja", {})
    light, dark = (re.findall(r"(--[\w-]+): (#\w{6});", part) for part in draw.style("colours.css").split("@media"))
    assert [role for role, _ in light] == [role for role, _ in dark]
    assert len(light) > 10
    for role, colour in (*light, *dark):
        assert f"{role}:{colour};" in style.replace("}", ";")
    known = {role for role, _ in light} | {"--text", "--code"}
    assert set(re.findall(r"var\((--[\w-]+)", html.render("base.html.jinja", {}, style=asset("network.css")))) <= known


@pytest.mark.parametrize(
    ("text", "parted"),
    [
        ("90\u202f% of 144", ("90\u202f%", " of 144")),
        ("0.4 % lost", ("0.4 %", " lost")),
        ("no limit known", ("", "no limit known")),
        ("", ("", "")),
    ],
)
def test_a_share_at_the_beginning_of_a_text_is_emphasised(text: str, parted: tuple[str, str]) -> None:
    assert html.leading_share(text) == parted


def numbers(svg: str, name: str, kind: str) -> list[float]:
    return [float(x) for x in re.findall(rf'class="{kind}"[^>]* {name}="([\d.]+)"', svg)]


def test_a_strip_has_a_dot_for_each_launch_where_its_value_lies() -> None:
    strip = Strip((2.0, 3.0), (5.0,), 1.0, 2.5, 4.0, ("1", "5"))
    svg = parts("strip(one, 108)", one=strip)
    assert numbers(svg, "cx", "dot") == [29, 54]
    assert numbers(svg, "cx", "dot out") == [104]
    assert numbers(svg, "x", "band") == [4]
    assert numbers(svg, "width", "band") == [75]
    assert '<text x="0" y="26" text-anchor="start">1</text><text x="108" y="26" text-anchor="end">5</text>' in svg


def test_equal_launches_lie_in_the_middle_of_their_strip() -> None:
    svg = parts("strip(one, 100)", one=Strip((0.0, 0.0), (), 0.0, 0.0, 0.0, ("0", "0")))
    assert set(numbers(svg, "cx", "dot")) == {50}
    assert re.findall("<text.*?</text>", svg) == ['<text x="50" y="26" text-anchor="middle">0</text>']


@pytest.mark.parametrize(("share", "drawn"), [(0.0, 0), (0.5, 45.45), (1.0, 90.91), (1.04, 94.55), (7.0, 100)])
def test_only_a_share_of_a_limit_has_its_colour_and_is_measured_by_the_tick(share: float, drawn: float) -> None:
    for kind, colour in (("limit", "of-limit"), ("comparison", "compared")):
        svg = parts("bar(one)", one=ShareBar(kind, (("x", share),)))  # type: ignore[arg-type]
        assert numbers(svg, "width", colour) == [drawn]
        assert ("of-limit" in svg) == (kind == "limit")
        assert 'd="M90.91 0v8"' in svg


def test_parts_of_a_bar_lie_one_after_the_other_and_end_at_the_whole() -> None:
    shares = (("other processes", 0.5), ("the host", 0.25), ("unexplained", 0.5))
    svg = parts("bar(one)", one=ShareBar("parts", shares))
    assert [numbers(svg, name, "part-2") for name in ("x", "width")] == [[0], [50]]
    assert [numbers(svg, name, "part-3") for name in ("x", "width")] == [[50], [25]]
    assert [numbers(svg, name, "part-1") for name in ("x", "width")] == [[75], [25]]


def test_a_picture_is_included_for_each_width_with_its_table_and_as_files() -> None:
    section = parts("picture(one)", one=PICTURE)
    assert re.findall(r'<svg[^>]* class="chart w(\d+)', section) == ["780", "358"]
    assert section.count("<tr>") == 4
    assert 'id="one-title">One</h2>' in section
    files = json.loads(inflated(html.exports([PICTURE], "the run")))["one"]
    for name, width in (("wide", 780), ("narrow", 358)):
        assert f'viewBox="0 0 {width} ' in files[name]
        assert "the run" in files[name]


def test_long_texts_that_rows_repeat_stand_once_in_the_first_columns() -> None:
    rows = [("a long first cell", "1 KiB", "the same text"), ("a long first cell", "2 KiB", "the same text")]
    made = parts("numbers(header, rows, 'l')", header=("a", "b", "c"), rows=rows)
    assert made.count('<td rowspan="2">a long first cell</td>') == made.count("a long first cell") == 1
    assert made.count("the same text") == 2, "ends stay next to what they are"


def test_texts_are_escaped_and_cleaned_and_markup_is_neither() -> None:
    environment = html.templates(lambda text: text.replace("secret", "…"))
    assert environment.from_string("{{ one }}").render(one="<b>secret") == "&lt;b&gt;…"
    copied = environment.from_string(
        "{% import 'parts.html.jinja' as p with context %}{{ p.copied(['a <b', 'secret']) }}"
    )
    assert "<code>a &lt;b\n…</code>" in copied.render()


def test_no_finding_is_a_sentence_with_the_number_of_checks() -> None:
    said = parts("findings((), ('a', 'b'))")
    assert "No action is required; 2 checks passed." in said
    assert '<ol class="findings">' not in said
    limited = parts("findings((), ('a', 'b'), sound=false)")
    assert "<p>2 checks passed.</p>" in limited


@pytest.mark.parametrize(
    ("grade", "said"), [("note", "No action is required; 1 check passed."), ("limited", "1 check passed.")]
)
def test_the_terminal_says_so_only_of_what_can_be_believed(grade: GradeName, said: str) -> None:
    first = FirstScreen("Two cores computed.", Reliability(grade, "", ()), (), passed=("a",))
    assert screen_lines(first, "20261126", 80)[-1].plain == said
