"""The logic of verdicts on numbers whose outcome is known, and the laws that it must keep."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_run import machine
from judged_study import CAVEATS, RATE, measured, study
from octant.stats import Estimate, Interval, caveat
from octant.study import file
from octant.study.design import design
from octant.study.kinds.knee import knee
from octant.study.parts import Bar, Cell
from octant.study.ratios import gain, quotient
from octant.study.values import CannotTest, StudyValues
from octant.study.verdict import (
    Effect,
    caveats_text,
    ends_text,
    judge,
    judge_effect,
    launches_needed,
    more_text,
    status_of,
    undecided_judgement,
    verdicts,
)

POSITIVE = st.floats(0.01, 100)
INTERVALS = st.tuples(POSITIVE, POSITIVE, POSITIVE).map(sorted).map(lambda three: Interval(*three))
BARS = st.one_of(
    POSITIVE.map(lambda x: Bar(above=x)),
    POSITIVE.map(lambda x: Bar(below=x)),
    st.tuples(POSITIVE, POSITIVE).map(sorted).map(lambda two: Bar(within=(two[0], two[1]))),
)


@pytest.mark.parametrize(
    ("here", "bar", "status"),
    [
        (Interval(1.8, 1.9, 2.0), Bar(above=1.5), "holds"),
        (Interval(1.8, 1.9, 2.0), Bar(above=2.0), "does not hold"),
        (Interval(1.8, 1.9, 2.0), Bar(above=1.9), "undecided"),
        (Interval(0.9, 0.95, 1.0), Bar(below=1.02), "holds"),
        (Interval(1.02, 1.1, 1.2), Bar(below=1.02), "does not hold"),
        (Interval(0.99, 1.0, 1.01), Bar(within=(0.98, 1.02)), "holds"),
        (Interval(0.98, 1.0, 1.02), Bar(within=(0.98, 1.02)), "holds"),
        (Interval(0.97, 1.0, 1.01), Bar(within=(0.98, 1.02)), "undecided"),
        (Interval(1.03, 1.04, 1.05), Bar(within=(0.98, 1.02)), "does not hold"),
        (Interval(1.0, 1.0, 1.0), Bar(above=1.0), "does not hold"),
        (Interval(0.9, 0.95, 1.0), Bar(below=1.0), "undecided"),
        (Interval(1.0, 1.1, 1.2), Bar(above=1.0), "undecided"),
    ],
)
def test_an_interval_against_a_bar(here: Interval, bar: Bar, status: str) -> None:
    assert judge(here, bar) == status


@given(INTERVALS, BARS)
def test_narrowing_an_interval_never_turns_a_verdict_round(here: Interval, bar: Bar) -> None:
    before = judge(here, bar)
    after = judge(Interval(here.middle, here.middle, here.middle), bar)
    assert before in ("undecided", after)
    assert after != "undecided"


@given(INTERVALS, BARS, st.integers(1, 50))
def test_only_the_undecided_need_launches_and_the_closer_the_more(here: Interval, bar: Bar, launches: int) -> None:
    if judge(here, bar) == "undecided":
        more = launches_needed(here, bar, launches)
        assert more is None or 1 <= more <= 1000
    assert launches_needed(here, bar, 0) is None


def test_launches_needed_follow_the_square_root() -> None:
    """10 launches, 0.1 from the bar, 0.2 of reach towards it: 4 times as many, 30 more."""
    assert launches_needed(Interval(0.9, 1.1, 1.3), Bar(above=1.0), 10) == 30
    assert launches_needed(Interval(0.9, 1.0, 1.1), Bar(above=1.0), 10) is None


@pytest.mark.parametrize(
    ("here", "bar", "launches", "more"),
    [
        (Interval(0.5, 0.75, 1.25), Bar(below=1.0), 10, 30),
        (Interval(0.9, 1.0, 1.1), Bar(within=(0.95, 1.08)), 10, 30),  # the nearer end decides
        (Interval(0.9, 1.0, 1.1), Bar(within=(0.92, 1.05)), 10, 30),
        (Interval(0.9, 1.0, 1.02), Bar(within=(0.95, 1.05)), 10, 30),  # the other end is not reached
        (Interval(0.9, 1.0, 1.3), Bar(within=(0.95, 1.1)), 10, 80),
        (Interval(2, 3, 4), Bar(above=1.0), 10, 1),  # decided: one more changes nothing
        (Interval(-15, 0, 15), Bar(above=1.0), 4, 896),
        (Interval(-16, 0, 16), Bar(above=1.0), 4, None),  # over a thousand
        (Interval(1, 1, 1), Bar(above=1.0), 4, None),
        (Interval(0.5, 1, 2), Bar(above=1.5), 0, None),
        (Interval(0.5, 1, 2), Bar(above=1.5), 1, 3),
        (Interval(0.5, 1, 2), Bar(above=1.5), 3, 1),
    ],
)
def test_launches_needed_are_those_of_the_end_that_needs_most(
    here: Interval, bar: Bar, launches: int, more: int | None
) -> None:
    assert launches_needed(here, bar, launches) == more


@pytest.mark.parametrize(
    ("more", "launches", "least", "text"),
    [
        (None, 6, 4, "the number of launches for a decision is not known"),
        (5, 0, 4, "the bounds of the model do not allow a verdict"),
        (1, 6, 4, "about 1 more launch per configuration would decide"),
        (5, 4, 4, "about 5 more launches per configuration would decide"),
        (3, 1, 4, "1 of at least 4 launches per configuration"),
        (1, 3, 4, "3 of at least 4 launches per configuration"),
        (2, 4, 6, "4 of at least 6 launches per configuration"),
    ],
)
def test_what_would_decide_is_said(more: int | None, launches: int, least: int, text: str) -> None:
    assert more_text(more, launches, least) == text


def test_doubts_and_ends_are_named_once_and_notes_not() -> None:
    drift, same = caveat("drift", "drifts by 9 %"), caveat("drift", "drifts by 7 %")
    effects = [
        Effect(Interval(1, 2, 3), 6, (drift, caveat("outliers", "7 % outliers"))),
        Effect(
            Interval(1, 2, 3), 6, (same, caveat("phase too short", "a short phase")), ends="the range of the rounds"
        ),
        Effect(Interval(2, 2, 2), 6, ends="nothing"),
    ]
    assert caveats_text(effects) == "; caveats: drifts by 9 %, a short phase"
    assert caveats_text(effects[2:]) == ""
    assert ends_text(effects) == "; in brackets: bounds of the model; in brackets: the range of the rounds"
    assert ends_text(effects[2:]) == ""


@pytest.mark.parametrize(
    ("launches", "least", "status"), [(0, 4, "holds"), (3, 4, "undecided"), (4, 4, "holds"), (4, 6, "undecided")]
)
def test_too_few_launches_leave_it_open_and_a_model_needs_none(launches: int, least: int, status: str) -> None:
    assert status_of(Effect(Interval(2, 3, 4), launches, least=least), Bar(above=1.0)) == status


def test_what_is_left_open_says_how_many_launches_would_decide_all_of_it() -> None:
    bar = Bar(above=1.0)
    near, far = Effect(Interval(0.9, 1.1, 1.3), 10), Effect(Interval(0.5, 1.1, 1.7), 12)
    found = undecided_judgement(bar, [near, far], [near, far, Effect(Interval(2, 3, 4), 8)], "two are open")
    assert (found.status, found.more_launches) == ("undecided", 420)
    assert found.why == "two are open; about 420 more launches per configuration would decide"
    hopeless = undecided_judgement(bar, [near, Effect(Interval(0.9, 1.0, 1.1), 10)], [near], "open")
    assert (hopeless.why, hopeless.more_launches) == ("open; the number of launches for a decision is not known", None)


def test_a_judgement_says_what_was_found_against_which_bar() -> None:
    found = judge_effect(Effect(Interval(1.8, 1.9, 2.0), 6, CAVEATS), Bar(above=1.5), " for b")
    assert (found.status, found.here, found.interval_text) == ("holds", Interval(1.8, 1.9, 2.0), "bounds of the model")
    assert found.why == (
        "×1.90 [1.80, 2.00] for b (required: above 1.5; in brackets: bounds of the model); caveats: 9 % slower"
    )
    undecided = judge_effect(Effect(Interval(0.9, 1.1, 1.3), 10), Bar(above=1.0), "")
    assert undecided.more_launches == 30
    assert undecided.why.endswith("; resolution 22 %; about 30 more launches per configuration would decide")
    assert "resolved" not in judge_effect(Effect(Interval(0.9, 1.1, 1.3), 0), Bar(above=1.0), "").why, "of a model"
    assert "resolved" not in judge_effect(Effect(Interval(0.9, 1.1, 1.3), 3), Bar(above=1.0), "").why, "too few"


def test_gain_of_times_is_the_other_way_round() -> None:
    slow, fast = measured(*[2.0] * 6), measured(*[1.0] * 6)
    assert gain(slow, fast, "higher").middle == pytest.approx(2)
    assert gain(slow, fast, "lower").middle == pytest.approx(0.5)


def test_a_ratio_is_that_of_paired_rounds() -> None:
    """What a round does to both sides is in no ratio: here rounds differ by a factor of four, the ratio by 1 %."""
    level = [1.0, 2.0, 4.0, 1.5, 3.0]
    apart = [1.01, 0.99, 1.0, 1.005, 0.995]
    top = measured(*(2 * x * y for x, y in zip(level, apart, strict=True)))
    found = gain(top, measured(*level), "higher")
    assert isinstance(found, Estimate)
    assert found.text == "95 % interval for the geometric mean ratio over 5 paired rounds between 07:35 and 07:39"
    assert 1.97 < found.low < found.middle < found.high < 2.03


def test_rounds_of_only_one_side_do_not_count() -> None:
    found = gain(measured(2, 2, 2, 2, 9, 9), measured(7, 1, 1, 1, 1, first=-1), "higher")
    assert isinstance(found, Estimate)
    assert found.number == 4
    assert found.middle == pytest.approx(2)
    with pytest.raises(CannotTest, match="no round"):
        gain(measured(1, 1), measured(1, 1, first=2), "higher")


def test_fewer_than_four_rounds_have_a_ratio_and_no_interval() -> None:
    found = gain(measured(2, 4, 8), measured(1, 1, 1), "higher")
    assert (found.low, found.middle, found.high) == pytest.approx((4, 4, 4))


TRIALS = 2000


def most_alarms(trials: int) -> float:
    """5.5 %, and three standard errors of so many trials."""
    return (0.055 + 3 * math.sqrt(0.05 * 0.95 / trials)) * trials


@pytest.mark.parametrize("shape", ["normal", "two levels", "one-sided"])
@pytest.mark.parametrize("rounds", [2, 3, 4, 6, 10, 12])
def test_without_an_effect_a_verdict_is_rare(rounds: int, shape: str) -> None:
    """The bar lies where the truth is, so any verdict is luck: 5.5 % may be, and three errors of so many trials."""
    draw = np.random.default_rng(5)

    def levels(n: int) -> list[float]:
        drawn = {
            "normal": draw.normal(0, 0.03, n),
            "two levels": np.where(draw.random(n) < 0.3, -0.2, 0.0) + draw.normal(0, 0.01, n),
            "one-sided": -draw.exponential(0.03, n),
        }
        return [float(x) for x in np.exp(drawn[shape])]

    test = 'kind = "ratio", measure = "m", of = { which = "b" }, bar = { above = 1.0 }'
    asked, cells = study(test), [Cell("m", (level,)) for level in "ba"]
    lucky = 0
    for _ in range(TRIALS):
        values = StudyValues({"m": RATE}, {cell: {"": measured(*levels(rounds))} for cell in cells}, {}, {})
        lucky += asked.findings[0].test.judge(asked, values).status != "undecided"
    assert lucky <= most_alarms(TRIALS)
    assert (lucky > 0) == (rounds >= 4)


@pytest.mark.slow
@pytest.mark.parametrize("repeats", [4, 6, 10])
def test_a_drift_does_not_pass_for_an_effect(repeats: int) -> None:
    """A machine that gets 30 % slower during the run, in the order in which the study starts its launches."""
    test = 'kind = "ratio", measure = "m", of = { which = "b" }, bar = { above = 1.0 }'
    knobs = {level: f'{level} = {{ knobs = {{ pages = "{level}" }} }}' for level in "ab"}
    text = f"""
    question = "?"
    repeats = {repeats}
    [baseline]
    which = "a"
    [measures.m]
    workload = "stream"
    [factors.which]
    {knobs["a"]}
    {knobs["b"]}
    [[findings]]
    id = "p6-locality-best"
    test = {{ {test} }}
    """
    asked, draw, lucky = file.parse(text, "test"), np.random.default_rng(9), 0
    for seed in range(600):
        plan = design(asked, machine(), seed)
        levels = {"a": [0.0] * repeats, "b": [0.0] * repeats}
        for n, (request, repeat) in enumerate(plan.order):
            slower = 1 - 0.3 * n / len(plan.order)
            levels[plan.requests[request].knobs["pages"]][repeat] = slower * float(np.exp(draw.normal(0, 0.01)))
        cells = {Cell("m", (level,)): {"": measured(*values)} for level, values in levels.items()}
        (verdict,) = verdicts(asked, StudyValues({"m": RATE}, cells, {}, {}), machine())
        lucky += verdict.status != "undecided"
    assert lucky <= most_alarms(600)


@given(INTERVALS, INTERVALS)
def test_a_ratio_of_gains_contains_itself_and_turns_round(a: Interval, b: Interval) -> None:
    one, other = quotient(a, b), quotient(b, a)
    assert one.low <= one.middle * (1 + 1e-9)
    assert one.middle <= one.high * (1 + 1e-9)
    assert one.middle * other.middle == pytest.approx(1)
    assert one.low * other.high == pytest.approx(1)
    assert one.high >= a.middle / b.middle * (1 - 1e-9)


def test_a_step_is_found_where_it_is() -> None:
    """Latency of a ladder: flat, then three times as long from 4 on; of rates the same the other way."""
    assert knee([1, 2, 4, 8], [1.0, 1.1, 3.0, 3.1], 1.5, "lower") == 4
    assert knee([1, 2, 4, 8], [9.0, 9.1, 3.0, 3.1], 1.5, "higher") == 4
    assert knee([1, 2, 4, 8], [1.0, 1.1, 1.2, 1.3], 1.5, "lower") is None
    assert knee([1, 2, 4, 8], [3.0, 9.0, 5.0, 5.0], 1.5, "higher") == 4, "worse than the best, not than the first"
    assert knee([1, 2, 4, 8], [9.0, 3.0, 5.0, 5.0], 1.5, "lower") == 4
    assert knee([1, 2], [3.0, 2.0], 1.5, "higher") == 2, "by the factor itself"


@given(st.lists(POSITIVE, min_size=2, max_size=20), st.floats(1.01, 3))
def test_a_flat_curve_and_a_rising_rate_have_no_knee(values: list[float], step: float) -> None:
    places = [float(i) for i in range(len(values))]
    assert knee(places, [values[0]] * len(values), step, "higher") is None
    assert knee(places, sorted(values), step, "higher") is None
