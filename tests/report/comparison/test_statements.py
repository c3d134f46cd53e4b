"""What a comparison says, in which order and in which words, and what it proposes: just above and just below."""

import dataclasses
import json
import math
import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import command_lines
from fake_summary import fake_summary
from made_comparisons import LOUD, MIXED, QUIET, STEPS, comparison_of, of_values
from octant.analysis.compare import Comparisons, compare
from octant.report.charts.bars.ratios import RatioRow, ratio_axis, ratio_ticks, ratios
from octant.report.charts.picture import MAX_BARS
from octant.report.comparison import statements
from octant.report.comparison import text as comparison
from octant.stats.paired import LEAST_ROUNDS
from octant.stats.verdicts import percent
from octant.store.run_request import Looks
from screen_run import messages, rates, summary_of


def test_the_worst_news_comes_first() -> None:
    rows = statements.ordered(comparison_of(*MIXED))
    assert [one.word for one in rows] == ["slower", "slower", "undecided", "equivalent", "faster", "faster"]
    assert [round(one.speed or 0, 2) for one in rows] == [0.8, 0.9, 1.05, 1.0, 1.2, 1.5]


def test_page_and_text_have_one_order_and_one_set_of_words() -> None:
    found = comparison_of(*MIXED)
    drawn = statements.picture(found)
    assert drawn is not None
    names = [statements.name(one) for one in statements.ordered(found)]
    assert [text for _, text in drawn.panels[0].y.ticks] == names == [cells[0] for cells in drawn.rows]
    page = [line.plain for line in comparison.lines(found)]
    ratios_shown = [float(ratio) for line in page for ratio in re.findall(r"×(\d\.\d{3})  ", line)]
    assert ratios_shown == pytest.approx([one.speed or 0.0 for one in statements.ordered(found)], abs=6e-4)
    verdicts = drawn.panels[0].columns[-1].texts
    assert verdicts == (
        "at least 3 % slower", "at least 3 % slower", "undecided", "equivalent within 3 %", "at least 3 % faster",
        "at least 3 % faster",
    )  # fmt: skip
    text = "\n".join(page)
    assert " ".join(statements.answer(found).split()) in " ".join(text.split())
    assert all(
        one in text for one in {*verdicts, *(statements.detectable_text(one) for one in statements.ordered(found))}
    )


def test_the_answer_counts_names_the_best_and_says_what_stayed_unseen() -> None:
    found = comparison_of(*MIXED)
    best, worst = (statements.name(statements.ordered(found)[place]) for place in (-1, 0))
    text = statements.answer(found)
    assert text.startswith(f"B is faster in 2 of 6 figures ({best} × 1.50), slower in 2 ({worst} × 0.80); ")
    assert "1 is equivalent within 3 % and 1 is undecided. In 1 figure the smallest detectable difference is " in text
    assert statements.counts(found) == [(2, "slower"), (2, "faster"), (1, "equivalent within 3 %"), (1, "undecided")]


@pytest.mark.parametrize(
    ("sides", "begins"),
    [
        (((1.0, QUIET),) * 3, "A and B are equivalent within 3 % in all 3 figures."),
        (((1.0, QUIET),), "A and B are equivalent within 3 %."),
        (
            ((1.0, LOUD),),
            "No difference beyond 3 % was detected in the one figure; 1 is undecided. The smallest detectable ",
        ),
        (
            ((1.0, LOUD), (1.0, 2 * LOUD), (1.0, QUIET)),
            "No difference beyond 3 % was detected in 3 figures; 1 is equivalent",
        ),
        (((1.2, QUIET), (1.0, LOUD)), "B is faster in 1 of 2 figures ("),
    ],
)
def test_answers_of_plain_cases(sides: tuple[tuple[float, float], ...], begins: str) -> None:
    assert statements.answer(comparison_of(*sides)).startswith(begins)


def test_absence_of_evidence_is_not_presented_as_evidence_of_absence() -> None:
    nothing = comparison_of((1.0, LOUD), (1.0, 2 * LOUD), (1.0, LOUD / 2))
    min_detectable_effect = sorted(verdict.min_detectable_effect for verdict in nothing.verdicts)
    least, most = percent(min_detectable_effect[0]), percent(min_detectable_effect[-1])
    text = statements.answer(nothing)
    assert f"In 3 figures the smallest detectable difference is {least}, and " in text
    assert text.endswith(f" {most} in the noisiest of them.")
    assert (statements.reliability(nothing).grade, len(nothing.undecided)) == ("not measurable", 3)
    assert statements.reliability(nothing).text.startswith("6 interleaved rounds; 0 of 3 figures decided")
    shown = "\n".join(line.plain for line in comparison.lines(nothing))
    assert "Reliability: not measurable." in shown
    assert "good" not in shown
    assert "not detected" not in statements.answer(comparison_of((1.0, QUIET)))


@pytest.mark.parametrize(
    ("quiet", "loud", "grade"),
    [(3, 0, "reliable"), (2, 1, "note"), (1, 1, "limited"), (1, 2, "limited"), (0, 1, "not measurable")],
)
def test_a_badge_is_not_better_than_what_is_decided(quiet: int, loud: int, grade: str) -> None:
    found = comparison_of(*[(1.0, QUIET)] * quiet, *[(1.0, LOUD)] * loud)
    assert statements.reliability(found).grade == grade
    assert json.loads(comparison.as_json(found))["undecided"] == loud


def test_the_interval_of_a_ratio_that_says_nothing_is_not_stated() -> None:
    found = comparison_of((1.0, 2.0), (5.0, 0.5))
    open_one, proven = (one.verdict.speed for one in found.figures if one.verdict)
    assert open_one is not None
    assert proven is not None
    assert (open_one.is_too_wide, proven.is_too_wide) == (True, False)
    assert (proven.high - proven.low) / 2 / proven.middle > 0.3, "wide, and yet a proof"
    ends_by_speed = {
        round(one["speed"]): (one["low"], one["high"]) for one in json.loads(comparison.as_json(found))["figures"]
    }
    assert ends_by_speed == {1: (None, None), 5: (proven.low, proven.high)}
    shown = [line.plain for line in comparison.lines(found, width=160)]
    assert [" … " in line for line in shown if "→ " in line and "×" in line] == [False, True]
    drawn = statements.picture(found)
    assert drawn is not None
    assert [row[2] for row in drawn.rows] == ["", f"{proven.low:.3f} … {proven.high:.3f}"]


def test_too_few_rounds_are_doubtful_and_not_unmeasurable() -> None:
    assert statements.reliability(comparison_of((1.0, QUIET), rounds=3)).grade == "limited"


def test_too_few_rounds_are_no_verdict_and_count_for_nothing() -> None:
    found = comparison_of(*MIXED, rounds=LEAST_ROUNDS - 1)
    assert statements.answer(found).startswith(
        "None of the 6 figures has a verdict: 3 of 4 rounds. The speed of B over"
    )
    assert (6, "insufficient data") in statements.counts(found)
    drawn = statements.picture(found)
    assert drawn is not None
    assert set(drawn.panels[0].columns[-1].texts) == {"insufficient data: 3 of 4 rounds"}
    assert len(drawn.panels[0].series) == 1, "without a verdict nothing could have been found"


def test_figures_without_a_verdict_do_not_count_for_the_correction() -> None:
    """Of a figure that is zero in some rounds of B, too few rounds are left for a verdict."""
    found = comparison_of((1.2, LOUD), (1.0, QUIET))
    few = dataclasses.replace(found.after.figures[1], launches=found.after.figures[1].launches[:2])
    after = dataclasses.replace(found.after, figures=(found.after.figures[0], few))
    judged = compare(found.before, after).verdicts
    assert [verdict.word for verdict in judged][1] == "insufficient data"
    assert judged[0].min_detectable_effect == pytest.approx(
        comparison_of((1.2, LOUD)).verdicts[0].min_detectable_effect
    )
    assert found.verdicts[0].min_detectable_effect > judged[0].min_detectable_effect


def test_same_within_the_margin_just_inside_and_just_outside() -> None:
    inside, outside = (comparison_of((speed, QUIET)).verdicts[0].text for speed in (1.027, 1.033))
    assert inside == "equivalent within 3 %"
    assert outside == "at least 3 % faster"


def test_two_sessions_differ_and_are_to_be_measured_in_turn() -> None:
    found = of_values(np.ones((2, 6)) * np.exp(QUIET * STEPS), np.outer([1.2, 1.0], np.exp(QUIET * STEPS[::-1])), None)
    assert [one.word for one in statements.ordered(found)] == ["differs", "no difference detected"]
    assert statements.ordered(found)[0].verdict.text == "differs between these two sessions"  # type: ignore[union-attr]
    assert statements.answer(found).startswith("Between these two sessions 1 of 2 figures differs (")
    assert statements.reliability(found).grade == "limited"
    (step,) = statements.steps(found)
    assert step.lines == ("octant compare --rounds 6 20261122-000000-aaaa 20261122-000001-bbbb",)


def test_the_same_run_twice_says_so_and_proposes_nothing() -> None:
    side = fake_summary(np.ones((2, 6)), "20261122-000000-aaaa")
    found = compare(side, side)
    assert statements.answer(found) == statements.SAME_RUN
    assert statements.steps(found) == ()


def test_only_what_is_undecided_asks_for_rounds() -> None:
    decided, unclear = comparison_of((1.2, QUIET)), comparison_of((1.0, LOUD), (1.2, QUIET))
    assert [step.title for step in statements.steps(decided)] == ["As a gate"]
    more, gate = statements.steps(unclear)
    assert more.title == "1 figure needs more rounds"
    needed = next(verdict.needed for verdict in unclear.verdicts if verdict.needed)
    assert f"needs about {needed} for 3 %" in more.body
    assert more.lines[0].startswith(f"octant compare --rounds {statements.MAX_ROUNDS} ")
    assert gate.body == "Can stop early after 8 and 12 rounds; Holm correction for 2 figures."
    assert (
        statements.steps(decided)[0].body == "Can stop early after 4, 6, 8 and 12 rounds; Holm correction for 1 figure."
    )


def test_a_line_with_fewer_rounds_than_are_needed_says_so() -> None:
    (more, _) = statements.steps(comparison_of((1.0, LOUD)))
    assert int(more.body.split("about ")[1].split()[0]) > statements.MAX_ROUNDS
    assert more.body.endswith(f" The command measures {statements.MAX_ROUNDS}, the maximum proposed at once.")


def test_after_a_gate_no_gate_is_proposed_but_more_rounds_of_it() -> None:
    runs = comparison_of((1.0, LOUD))
    (more,) = statements.steps(compare(runs.before, runs.after, gate=True))
    assert more.rule == "rounds"
    assert more.lines[0].startswith("octant compare --gate --rounds ")


@pytest.mark.parametrize("found", [comparison_of(*MIXED), comparison_of((1.0, LOUD), rounds=30)])
def test_proposed_lines_are_lines_of_the_command(found: Comparisons) -> None:
    lines = [line for step in statements.steps(found) for line in step.lines]
    assert lines
    for line in lines:
        command_lines.read(line)
        assert line.endswith(f" {found.before.run.id} {found.after.run.id}")
        assert int(line.split("--rounds ")[1].split()[0]) > found.rounds or "--gate" in line


LAUNCHES = st.lists(st.tuples(*[st.floats(1e-9, 1e12)] * 2), min_size=1, max_size=14)
SPREADS = st.lists(st.tuples(*[st.floats(0.9, 1.1)] * 2), min_size=4, max_size=14)
CONTRADICTORY = [(99.2, 99.2 * 0.9), (99.0, 99.0 * 1.3), (99.4, 99.4 * 1.3), (99.3, 99.3 * 0.95)]
"""Medians fall, the mean of the ratios rises."""


@given(st.one_of(LAUNCHES, SPREADS), st.booleans(), st.sampled_from(["higher", "lower"]))
@example(CONTRADICTORY, True, "higher")
@example(CONTRADICTORY * 3, True, "lower")
@example(CONTRADICTORY, False, "lower")
def test_the_printed_ratio_is_that_of_the_printed_values(
    launches: list[tuple[float, float]], in_turn: bool, better: str
) -> None:
    before, after = zip(*launches, strict=True)
    found = of_values([before], [after], "once" if in_turn else None, better=better)
    (document,) = json.loads(comparison.as_json(found))["figures"]
    quotient = document["b"] / document["a"] if better == "higher" else document["a"] / document["b"]
    assert document["speed"] == pytest.approx(quotient, rel=1e-9)
    shown = " ".join(line.plain for line in comparison.lines(found, width=200))
    a, b, ratio = map(float, re.findall(r"([\d.e+-]+) → ([\d.e+-]+) .*?×([\d.e+-]+)", shown)[0])
    if min(a, b) > 0 and 0.01 < document["speed"] < 100:  # else too few digits are shown to tell
        quotient = b / a if better == "higher" else a / b
        assert ratio == pytest.approx(quotient, abs=5.1e-4 + 1.1e-3 * quotient)
        assert (ratio - 1.002) * (quotient - 1) >= 0 or abs(ratio - 1) <= 0.002, "no contradiction of signs"


def test_a_comparison_says_what_its_values_are() -> None:
    def said(looks: Looks | None, rounds: int) -> str:
        page = comparison.lines(of_values([np.ones(rounds)], [np.ones(rounds)], looks), width=200)
        return next((line.plain for line in page if line.plain.startswith("→")), "")

    assert said("once", 4).startswith("→  values of A and B: geometric means of the launches whose ratio is shown")
    assert said("once", 12).startswith("→  values of A and B: Hodges-Lehmann estimates of the launches")
    assert said(None, 20).startswith("→  values of A and B: geometric means of the launches")
    assert said("once", 3) == "→  values of A and B: medians of the launches", "those of the reports"


def row(name: str, middle: float, half: float = 0.01, min_detectable_effect: float = 0.05) -> RatioRow:
    return RatioRow(name, middle / (1 + half), middle, middle * (1 + half), min_detectable_effect)


def ends(*middles: float) -> tuple[float, float]:
    found = ratio_axis([(middle / 1.01, middle, middle * 1.01) for middle in middles]).ends
    assert found is not None
    return found


def test_the_axis_is_symmetric_unless_all_lie_on_one_side() -> None:
    low, high = ends(0.9, 1.4)
    assert low * high == pytest.approx(1)
    assert high > 1.41
    for low, high in (ends(1.2, 2.0), ends(1.2, 2.0, 0.98)):
        assert 1 / low < high
        assert high > 2.0
    low, high = ends(0.5, 0.8)
    assert 1 / low > high
    assert ends(50.0)[1] == 8.0, "an arrow replaces values beyond it"


def test_ratios_have_ticks_that_people_read() -> None:
    for ends in ((1 / 1.1, 1.1), (1 / 2.5, 2.5), (0.9, 8.0)):
        ticks = ratio_ticks(ends)
        assert 3 <= len(ticks) <= 15
        assert (1.0, "× 1") in ticks
        assert all(ends[0] <= at <= ends[1] for at, _ in ticks)


def test_the_smallest_detectable_difference_is_drawn_on_both_sides_and_within_the_axis() -> None:
    rows = [row("a", 1.2, min_detectable_effect=0.25), row("b", 1.0, min_detectable_effect=math.inf)]
    picture = ratios(rows, 0.03, "paired rounds")
    points, could = picture.panels[0].series
    assert points.kind == could.kind == "rows"
    assert (could.marker, could.y) == ("tick", (0.0, 0.0))
    assert could.x == pytest.approx((0.8, 1.25))
    assert picture.panels[0].bands[0].begin == pytest.approx(1 / 1.03)


def test_five_hundred_rows_are_folded_to_the_first_and_all_stand_in_the_table() -> None:
    rows = [row(f"figure {n}", 1 + n / 1000) for n in range(500)]
    picture = ratios(rows, 0.03, "paired rounds")
    assert len(picture.panels[0].y.ticks) == MAX_BARS
    assert len(picture.rows) == 500
    assert f"Of 500 rows, {MAX_BARS} are drawn" in picture.caption


def test_control_characters_of_names_reach_no_terminal() -> None:
    found = comparison_of((1.2, QUIET))
    figure = found.figures[0]
    workload = dataclasses.replace(figure.figure.workload, name="fake/\x1b[31m<script>")
    spoiled = dataclasses.replace(figure, before=dataclasses.replace(figure.figure, workload=workload))
    assert "\x1b" not in statements.name(spoiled)


def test_runs_without_common_figures_are_distinguished_by_their_workloads() -> None:
    before, after = summary_of(rates([90e9] * 6)), summary_of(messages({8: 1500.0}))
    found = compare(before, dataclasses.replace(after, run=dataclasses.replace(after.run, id="20261122-000001-bbbb")))
    assert statements.answer(found) == "No common figures: A measured fake/loop, B measured fake/message."


def test_common_figures_that_are_not_measurable_are_not_called_absent() -> None:
    before, after = summary_of(rates([90e9] * 6, passed=False)), summary_of(rates([90e9] * 6))
    found = compare(before, dataclasses.replace(after, run=dataclasses.replace(after.run, id="20261122-000001-bbbb")))
    assert statements.answer(found).startswith("1 common figure, but none is measurable in both runs")
