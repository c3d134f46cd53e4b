"""The tiles of a first screen: value, claim, grade, bar and strip, also of runs that are hard to show."""

import json
import re
from dataclasses import replace

import pytest

import screens
from octant.advice.findings import RunFinding
from octant.analysis.summary import summarise
from octant.record import Failure
from octant.report.export import tidy
from octant.report.page import html
from octant.report.screen.answer import Tile
from octant.report.screen.text import screen_lines, wrapped
from octant.report.screen.tiles import answer_text, tiles
from octant.report.tables import text
from octant.tile import DeclaredScreen
from reports import report_of
from screen_run import SCREEN, WORKLOADS, messages, rates, run_of, spread, summary_of

LENGTHS = {8: 1500.0, 1024: 1600.0, 524288: 43000.0, 4194304: 1_800_000.0}


def peak(values: list[float], passed: bool = True) -> Tile:
    return tiles(summary_of(rates(values, passed=passed)))[0]


def test_a_tile_says_value_claim_and_share_of_its_limit() -> None:
    tile = peak(spread(90e9, 0.02))
    assert (tile.number, tile.unit) == ("90.0", "Gflop/s")
    assert tile.interval.endswith("95\u202f% interval, median of 6 launches")
    assert tile.bar is not None
    assert (tile.bar.kind, round(tile.bar.shares[0][1], 3)) == ("limit", 0.9)
    assert tile.of == "90\u202f% of 100\u202fGflop/s (2 units x 25\u202fGHz)"
    assert tile.strip is not None
    assert (len(tile.strip.counted), tile.strip.left_out) == (6, ())
    assert tile.strip.ends == ("88.2", "91.8")
    assert tile.figure == 0


def test_the_texts_at_the_ends_of_a_strip_are_those_of_its_drawing() -> None:
    """With three launches the interval is wider than they are."""
    strip = peak([90e9, 91e9, 92e9]).strip
    assert strip is not None
    assert strip.low < min(strip.counted) <= max(strip.counted) < strip.high
    assert strip.span == (strip.low, strip.high)
    assert strip.ends == (f"{strip.low / 1e9:.0f}", f"{strip.high / 1e9:.0f}")


def test_a_strip_has_a_band_only_for_an_interval_over_launches() -> None:
    two = peak([90e9, 92e9]).strip
    assert two is not None
    assert two.low == two.middle == two.high
    drawn = html.templates().get_template("parts.html.jinja").module.strip(two)  # type: ignore[attr-defined]
    assert '<svg class="strip"' in drawn
    assert 'class="band"' not in drawn
    assert two.ends == ("90.0", "92.0")


@pytest.mark.parametrize(
    ("half", "grade"), [(0.02, "reliable"), (0.05, "note"), (0.12, "limited"), (0.4, "not measurable")]
)
def test_the_width_of_the_interval_grades_a_tile(half: float, grade: str) -> None:
    tile = peak(spread(90e9, half))
    assert tile.grade == grade
    assert (tile.bar is None) == (grade == "not measurable")
    assert bool(tile.of) == (grade != "not measurable")


def test_few_launches_are_said_to_be_few() -> None:
    assert peak([90e9, 91e9, 92e9]).interval.endswith("median of 3 launches, few")
    assert peak([90e9, 92e9]).interval == "90.0 and 92.0: two launches, no interval"
    one = peak([90e9])
    assert (one.number, one.interval, one.strip) == ("90.0", "one launch; launches were not repeated", None)
    assert one.grade == "note"


def test_a_wrong_result_has_no_speed_and_no_share() -> None:
    tile = peak(spread(90e9, 0.01), passed=False)
    assert (tile.number, tile.unit, tile.grade) == ("wrong result", "", "wrong")
    assert tile.interval == "failed verification: compared with the plain loop: 1 > 1e-12"
    assert (tile.bar, tile.of, tile.strip) == (None, "", None)


def test_a_share_beyond_its_limit_is_shown_and_doubted() -> None:
    tile = peak([108e9] * 6)
    assert tile.of.startswith("108\u202f% of")
    assert tile.grade == "limited"
    assert peak([104e9] * 6).of.startswith("104\u202f% of")


def test_a_value_of_zero_has_no_share() -> None:
    tile = peak([0.0] * 6)
    assert (tile.number, tile.unit, tile.bar) == ("0", "flop/s", None)


def test_the_first_figure_that_was_measured_is_the_headline() -> None:
    alone = tiles(summary_of(rates([90e9] * 6, n=1)))[0]
    assert (alone.number, alone.also) == ("90.0", ()), "the headline is not repeated below"
    both = tiles(summary_of([*rates([180e9] * 6), *rates([90e9] * 6, n=1)]))[0]
    assert (both.number, both.also) == ("180", ("1 core 90.0\u202fGflop/s",))


def test_a_comparison_is_of_two_figures_in_the_suites_words() -> None:
    tile = tiles(summary_of(messages(LENGTHS)))[1]
    assert (tile.number, tile.unit) == ("1.50", "µs")
    assert tile.of == "best 12.2\u202fGB/s at 512\u202fKiB; 19\u202f% of that left at 4\u202fMiB"
    assert tile.bar is not None
    assert tile.bar.kind == "comparison"


def test_a_tile_without_a_figure_says_why_and_keeps_its_place() -> None:
    found = tiles(summary_of(rates([90e9] * 6)))
    assert [tile.name for tile in found] == ["Peak", "Messages"]
    assert (found[1].missing, found[1].number) == ("no MPI", "")
    run = run_of(rates([90e9] * 6), messages({8: 1500.0}))
    launch = run.launches[-1].key
    lost = replace(
        run,
        points=tuple(p for p in run.points if p.workload != "fake/message"),
        failures=(Failure("fake/message", launch, {"bytes": "8"}, 2, "killed by a signal", 1),),
    )
    assert tiles(summarise(lost, WORKLOADS))[1].missing == "failed: killed by a signal"
    assert tiles(summarise(replace(lost, failures=()), WORKLOADS))[1].missing == "6 launches not measured yet"


def test_a_run_without_a_declaration_shows_at_most_six_headlines() -> None:
    many = [one for n in range(1, 9) for one in rates([n * 1e9] * 6, n=n)]
    found = tiles(summary_of(many, messages({8: 1500.0}), screen=DeclaredScreen()))
    assert len(found) == 6
    assert [tile.name for tile in found][-2:] == ["Loop, n 5, 1 core", "Message"], "each workload has one"
    assert len({tile.name for tile in found}) == 6
    assert answer_text(summary_of(screen=DeclaredScreen()), ()) == "Nothing was measured."


def test_the_sentence_leaves_out_what_was_not_measured() -> None:
    both = summary_of(rates([90e9] * 6), messages(LENGTHS))
    sentence = answer_text(both, tiles(both))
    assert sentence.startswith("Two cores computed at 90.0\u202fGflop/s and sent a message in 1.50\u202fµs; ")
    one = summary_of(rates([90e9] * 6))
    assert answer_text(one, tiles(one)) == "Two cores computed at 90.0\u202fGflop/s."
    wide = summary_of(rates(spread(90e9, 0.5)))
    assert answer_text(wide, tiles(wide)) == "No figure is reliable enough for a summary."


def test_declared_tiles_are_those_of_the_run() -> None:
    renamed = replace(SCREEN, tiles=(replace(SCREEN.tiles[0], name="Speed", what="of all"),))
    (tile,) = tiles(summary_of(rates([90e9] * 6), screen=renamed))
    assert (tile.name, tile.what) == ("Speed", "of all")


def test_programs_read_the_same_first_screen() -> None:
    summary = summary_of(rates(spread(90e9, 0.05)))
    exported = json.loads(tidy.as_json(report_of(summary)))["first_screen"]
    tile = tiles(summary)[0]
    assert exported["answer"] == "Two cores computed at 90 Gflop/s."
    assert (exported["tiles"][0]["number"], exported["tiles"][0]["unit"]) == (tile.number, tile.unit)
    assert exported["tiles"][0]["strip"]["middle"] == pytest.approx(90e9, rel=0.01)
    assert exported["reliability"]["grade"] == "note"
    assert [row["what"] for row in exported["reliability"]["rows"]][:3] == [
        "CPU time lost",
        "Launches",
        "Other sessions",
    ]


@pytest.mark.parametrize("width", [60, 80, 100, 160])
def test_the_terminal_says_the_same_first(width: int) -> None:
    hard = summary_of([*rates(spread(90e9, 0.5)), *rates([45e9] * 6, n=1)], messages(LENGTHS))
    shown = [line.plain for line in text.lines(report_of(hard), width)]
    assert max(map(len, shown)) <= width
    page = " ".join(" ".join(shown).split())
    assert "Peak could not be measured." in page
    assert re.search(r"Peak +90 Gflop/s +no interval +×", page)
    assert "best 12.2 GB/s at 512 KiB; 19 % of that left at 4 MiB" in page
    lost = summary_of(rates([90e9] * 6))
    assert any(
        line.strip() == "Messages  8 B: no MPI" for line in [one.plain for one in text.lines(report_of(lost), width)]
    )


def test_six_tiles_and_three_findings_fit_on_a_screen_of_forty_lines() -> None:
    """At 100 columns; no line divides a number from its unit, and each tile has at most four lines."""
    shown = [line.plain.replace("\u202f", " ") for line in screen_lines(screens.SCREEN, "20261126-164456", 100)]
    assert len(shown) <= 40
    assert max(map(len, shown)) <= 100
    assert [sum(line.startswith(tile.name) for line in shown) for tile in screens.TILES] == [1] * 6
    assert any(re.match(r"Peak +129 Gflop/s +123 … 136 +i  double precision; 90 % of 144", line) for line in shown)
    assert not any(
        re.search(r"\d$", line) and shown[i + 1].strip()[:2] in ("GB", "ns", "%") for i, line in enumerate(shown[:-1])
    )
    assert "Reliability: limited. Memory: 3 of 6 launches excluded (and 3 more tiles). 24 % of" in "\n".join(shown)
    narrow = [line.plain for line in screen_lines(screens.SCREEN, "20261126-164456", 60)]
    assert max(len(line) for line in narrow if not line.startswith("     ")) <= 60


def test_notes_list_all_caveats_and_the_table_of_reliability() -> None:
    shown = "\n".join(line.plain for line in screen_lines(screens.SCREEN, "20261126-164456", 100, notes=True))
    assert "! Memory: 18 % of the time was lost" in shown
    assert re.search(r"Time lost +24 % on average, 93 % at most +89 of 357", shown)
    assert "--notes" not in shown


def test_the_text_of_a_wrong_result_is_never_cut() -> None:
    body = (
        "residual: 0.5 instead of 0.001, in 2 of 2 launches. Repeat the measurement with the command. " * 3 + "The end."
    )
    advice = RunFinding("x", "Title", body, ("octant run",))
    for finding, is_complete in ((advice, False), (replace(advice, kind="wrong"), True)):
        lines = screen_lines(replace(screens.SCREEN, findings=(finding,)), "run", 80)
        assert ("The end." in "\n".join(line.plain for line in lines)) is is_complete


def test_paths_and_names_with_hyphens_stay_whole() -> None:
    """A path that is split cannot be copied."""
    text = "imported results of HPL 2.3, read from /tmp/octant-ci.a1/tests/data/hpl-2.3.txt; not measured by Octant"
    for width in range(45, 100):
        words = [word for line in wrapped(text, width, hang=2) for word in line.plain.split()]
        assert words == text.split()
