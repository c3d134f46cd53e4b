"""What each kind of test says of values whose verdict is known."""

import dataclasses
import math

import pytest
from msgspec.structs import replace

from fake_run import machine
from judged_study import AXIS, CAVEATS, FLOPS, RATE, SIZES, A, B, C, curve, judged, measured, study
from octant.stats import Interval, caveat
from octant.study import file
from octant.study.parts import Cell
from octant.study.ratios import factor_text
from octant.study.values import StudyValue, StudyValues
from octant.study.verdict import (
    verdicts,
)
from octant.units import si_text

TWO_UNITS = """
question = "?"
[baseline]
which = "a"
[measures.m]
workload = "stream"
[measures.n]
workload = "latency"
[factors.which]
a = {}
b = {}
[[findings]]
id = "p6-locality-best"
test = { kind = "share", measure = "m", whole = "n", bar = { above = 0.1 } }
"""


def test_an_interaction_compares_gains() -> None:
    """m gains 4-fold, n 2-fold: twice as much."""
    test = 'kind = "interaction", measure = "m", versus = "n", of = { which = "b" }, bar = { above = 1.5 }'
    found = judged(test, {"m a": A, "m b": C, "n a": A, "n b": B})
    assert found.status == "holds"
    assert found.here is not None
    assert found.here.middle == pytest.approx(2, rel=1e-3)


@pytest.mark.parametrize(("first", "second", "status"), [("c", "b", "holds"), ("b", "c", "does not hold")])
def test_an_order_is_tested_step_by_step(first: str, second: str, status: str) -> None:
    places = f'[{{ which = "{first}" }}, {{ which = "{second}" }}, {{}}]'
    found = judged(f'kind = "order", measure = "m", places = {places}', {"m a": A, "m b": B, "m c": C})
    assert found.status == status


def test_most_counts_measures() -> None:
    values = {"m a": A, "m b": B, "n a": B, "n b": A}
    assert judged('kind = "most", of = { which = "b" }, share = 0.5', values).status == "holds"
    found = judged('kind = "most", of = { which = "b" }, share = 0.9', values)
    assert found.status == "does not hold"
    assert "1 of 2 measures gain significantly: m ×2.00" in found.why


def test_most_may_have_an_upper_share() -> None:
    some = 'kind = "most", of = { which = "b" }, gain = 0.98, share = 0.5, at_most = 0.9'
    found = judged(some, {"m a": A, "m b": B, "n a": B, "n b": A})
    assert found.status == "holds"
    assert "1 of 2 measures lose at most 2 %: m ×2.00" in found.why
    assert judged(some, {"m a": A, "m b": B, "n a": A, "n b": B}).status == "does not hold"
    assert judged(some, {"m a": B, "m b": A, "n a": B, "n b": A}).status == "does not hold"
    assert judged(some, {"m a": A, "m b": B}).status == "cannot be tested here"


def test_a_measure_that_could_not_be_asked_does_not_make_the_others_most() -> None:
    """n was not measured: m alone is half of the measures, so 0.5 is reached and 0.9 is open."""
    values = {"m a": A, "m b": B}
    assert judged('kind = "most", of = { which = "b" }, share = 0.5', values).status == "holds"
    found = judged('kind = "most", of = { which = "b" }, share = 0.9', values)
    assert found.text == "cannot be tested here: not measured yet"
    assert judged('kind = "most", of = {}, to = { which = "b" }, share = 0.9', values).status == "does not hold"


def test_what_was_not_given_as_asked_is_not_judged() -> None:
    asked = "the request was not met: rank 0: pages=thp requested, 0 % of a buffer is on huge pages"
    spoiled = {"": dataclasses.replace(B[""], caveats=(caveat("request not met", asked),))}
    found = judged(
        'kind = "ratio", measure = "m", of = { which = "b" }, bar = { above = 1.0 }', {"m a": A, "m b": spoiled}
    )
    assert found.text == f"cannot be tested here: m: b: {asked}"


@pytest.mark.parametrize(
    "test",
    [
        'kind = "ratio", measure = "m", of = { which = "b" }, at = "1KiB", bar = { above = 1.0 }',
        'kind = "order", measure = "m", places = [{ which = "b" }, {}], at = "1KiB"',
        'kind = "most", of = { which = "b" }',
        'kind = "interaction", measure = "n", versus = "m", of = { which = "b" }, at = "1KiB", versus_at = "1KiB", '
        "bar = { above = 0.1 }",
        'kind = "spread", measure = "m", of = { which = "b" }, bar = { below = 9.0 }',
        'kind = "knee", measure = "m", of = { which = "b" }, bar = { above = 1.0 }',
    ],
)
def test_every_verdict_names_the_doubts(test: str) -> None:
    limited = {at: dataclasses.replace(one, caveats=CAVEATS) for at, one in curve(18, 8, 8, 8).items()}
    values = {"m a": curve(9, 4, 4, 4), "m b": limited, "n a": curve(9, 4, 4, 4), "n b": curve(18, 8, 8, 8)}
    text = judged(test, values, AXIS).text
    assert "caveats: 9 % slower" in text
    assert "preempted" not in text, "a note"


def test_a_knee_moves_by_a_factor() -> None:
    test = 'kind = "knee", measure = "m", of = { which = "b" }, to = {}, bar = { within = [2.0, 4.0] }'
    found = judged(test, {"m a": curve(9, 4, 4, 4), "m b": curve(9, 9, 9, 4)}, AXIS)
    assert found.status == "holds"
    assert found.here == Interval(4, 4, 4)
    assert found.interval_text == "", "no ends"
    flat = judged(test, {"m a": curve(9, 9, 9, 9), "m b": curve(9, 9, 9, 4)}, AXIS)
    assert flat.text == "cannot be tested here: no step of ×1.5 along the axis for a"


def test_the_places_of_a_knee_are_those_of_one_round_each() -> None:
    """Every second round runs 1.6 times as fast, and the first launch gave nothing at one size."""
    whole = {
        at: measured(*[x * (1 + 0.6 * (n % 2)) for n in range(7)]) for at, x in zip(SIZES, (9, 9, 9, 4), strict=True)
    }
    lacking = whole | {"1KiB": dataclasses.replace(whole["1KiB"], launches=whole["1KiB"].launches[1:])}
    test = 'kind = "knee", measure = "m", bar = { above = 4096.0 }'
    found = judged(test, {"m a": lacking}, AXIS)
    assert found.here == Interval(8192, 8192, 8192)
    assert found.status == "holds"
    apart = {at: measured(9, 9, 9, 9, 9, 9, first=6 * n) for n, at in enumerate(SIZES)}
    assert judged(test, {"m a": apart}, AXIS).text == "cannot be tested here: no round has all compared values"
    stuck = curve(9, 9, 9, 0)
    assert judged(test, {"m a": stuck}, AXIS).text == "cannot be tested here: a value is zero, so there is no step"


def test_a_spread_along_the_axis() -> None:
    test = 'kind = "spread", measure = "m", over = ["2KiB", "4KiB", "8KiB"], bar = { below = 1.1 }'
    flat = judged(test, {"m a": curve(1, 4, 4.1, 4.2)}, AXIS)
    assert flat.status == "holds"
    assert flat.here is not None
    assert flat.here.middle == pytest.approx(4.2 / 4)
    assert judged(test, {"m a": curve(1, 3, 4.1, 4.2)}, AXIS).status == "does not hold"


@pytest.mark.parametrize(
    ("ours", "spread", "status"),
    [
        ((420.0, 850.0, 1700.0), 0.001, "holds"),
        ((420.0, 850.0, 2000.0), 0.001, "does not hold"),  # 19 % away at 4 nodes, whatever the other two say
        ((420.0, 850.0, 1700.0), 0.2, "undecided"),  # launches differ by ±20 %
    ],
)
def test_agreement_is_decided_by_the_point_that_agrees_least(
    ours: tuple[float, ...], spread: float, status: str
) -> None:
    """HPL on one, two and four Power 575: 423, 840 and 1682 Gflop/s."""
    test = 'kind = "agrees", measure = "m", over = ["1", "2", "4"], bar = { within = [0.9, 1.1] }'
    published = '[[published]]\ntable = "p6-hpcc-scaling"\nmetric = "hpl"\nmeasure = "m"\naxis = "nodes"'
    asked = study(test, 'axis = { knob = "nodes", values = ["1", "2", "4"] }', published)
    here = {
        at: measured(*[x * (1 - spread), x * (1 + spread)] * 3) for at, x in zip(("1", "2", "4"), ours, strict=True)
    }
    (found,) = verdicts(asked, StudyValues({"m": FLOPS}, {Cell("m", ("a",)): here}, {}, {}), machine())
    assert found.status == status


@pytest.mark.parametrize(("below", "status"), [(11.0, "holds"), (9.0, "does not hold"), (10.1, "undecided")])
def test_a_value_is_judged_in_its_own_unit(below: float, status: str) -> None:
    test = f'kind = "value", measure = "m", bar = {{ below = {below} }}'
    unit = RATE.unit
    found = judged(test, {"m a": {"": measured(*[9.9, 10.2] * 4)}})
    assert found.status == status
    assert f" for m (required: below {si_text(below, unit)}; in brackets: 95 % interval" in found.text


def test_what_was_not_measured_is_not_tested() -> None:
    test = 'kind = "ratio", measure = "m", of = { which = "b" }, bar = { above = 1.0 }'
    assert judged(test, {"m a": A}).text == "cannot be tested here: not measured yet"


@pytest.mark.parametrize(("launches", "status"), [(1, "undecided"), (2, "undecided"), (3, "undecided"), (4, "holds")])
def test_one_launch_is_one_sample_and_gives_no_verdict(launches: int, status: str) -> None:
    test = 'kind = "ratio", measure = "m", of = { which = "b" }, bar = { above = 1.0 }'
    few = {"m a": {"": measured(*[10.0] * launches)}, "m b": {"": measured(*[20.0] * launches)}}
    assert judged(test, few).status == status


def test_factors_show_three_digits() -> None:
    assert factor_text(Interval(1.8, 1.9, 2.0)) == "×1.90 [1.80, 2.00]"
    assert factor_text(Interval(2, 2, 2)) == "×2.00"
    assert not math.isnan(float(factor_text(Interval(123.4, 123.4, 123.4))[1:]))


@pytest.mark.parametrize(
    ("test", "why"),
    [
        (
            'kind = "ratio", measure = "m", of = { which = "b" }, bar = { above = 1.5 }',
            "×2.00 for m, b over a (required: above 1.5)",
        ),
        (
            'kind = "order", measure = "m", places = [{ which = "b" }, {}]',
            "b > baseline: ×2.00 between consecutive configurations",
        ),
        ('kind = "most", of = { which = "b" }, share = 1.0', "2 of 2 measures gain significantly: m ×2.00, n ×4.00"),
        (
            'kind = "interaction", measure = "n", versus = "m", of = { which = "b" }, bar = { above = 1.5 }',
            "×2.00: n ×4.00 over m ×2.00 (required: above 1.5)",
        ),
    ],
)
def test_each_kind_says_what_it_found(test: str, why: str) -> None:
    found = judged(test, {"m a": A, "m b": B, "n a": A, "n b": C})
    assert (found.status, found.why) == ("holds", why)


def test_most_asks_at_the_end_of_the_axis_and_what_is_open_counts_neither_way() -> None:
    test = 'kind = "most", of = { which = "b" }, share = 0.9'
    values = {"m a": curve(4, 4, 4, 4), "m b": curve(9, 9, 9, 4), "n a": curve(4, 4, 4, 4), "n b": curve(4, 4, 4, 9)}
    found = judged(test, values, AXIS)
    assert found.status == "does not hold"
    assert found.why.startswith("1 of 2 measures gain significantly: m ×1.00, n ×2.25")
    few = {"": measured(20.0, 20.0)}
    assert judged(test, {"m a": A, "m b": few, "n a": A, "n b": B}).status == "undecided"
    less = judged(test, {"m a": A, "m b": few, "n a": B, "n b": A})
    assert less.status == "does not hold", "one that does not gain is too many"


def test_models_are_judged_by_their_bounds_and_launches_change_nothing() -> None:
    def model(*values: float) -> dict[str, StudyValue]:
        return {at: StudyValue(modelled=Interval(x, 2 * x, 3 * x)) for at, x in zip(SIZES, values, strict=True)}

    flat = judged('kind = "spread", measure = "m", bar = { below = 2.5 }', {"m a": model(1, 2, 1, 2)}, AXIS)
    assert (flat.status, flat.here) == ("holds", Interval(2, 2, 2))
    assert flat.why == "×2.00, largest over smallest value (required: below 2.5)"
    test = 'kind = "interaction", measure = "m", versus = "n", of = { which = "b" }, bar = { above = 1.5 }'
    places = ', at = "1KiB", versus_at = "1KiB"'
    open_ = judged(
        test.replace(", bar", f"{places}, bar"),
        {"m a": model(1, 1, 1, 1), "m b": model(2, 2, 2, 2), "n a": model(1, 1, 1, 1), "n b": model(1, 1, 1, 1)},
        AXIS,
    )
    assert open_.here is not None
    assert open_.here.middle == pytest.approx(2)
    assert open_.more_launches is None


def test_a_ratio_says_where_on_the_axis_both_sides_are() -> None:
    test = 'kind = "ratio", measure = "m", at = "1KiB", to_at = "4KiB", bar = { above = 1.5 }'
    found = judged(test, {"m a": curve(8, 8, 4, 4)}, AXIS)
    assert found.why == "×2.00 for m at 1KiB over 4KiB (required: above 1.5)"
    sides = {"m a": curve(1, 1, 1, 1), "m b": curve(3, 1, 1, 1)}
    one = judged(test.replace(', to_at = "4KiB"', ', of = { which = "b" }'), sides, AXIS)
    assert one.why == "×3.00 for m, b over a at 1KiB (required: above 1.5)"


def test_what_a_finding_needs_is_looked_for_on_this_machine() -> None:
    test = 'kind = "ratio", measure = "m", of = { which = "b" }, bar = { above = 1.0 }'
    asked = study(test)
    finding = replace(asked.findings[0], needs=("numa>=1", "numa>=2", "smt>=9"))
    asked = replace(asked, findings=(finding,))
    cells = {Cell("m", ("a",)): A, Cell("m", ("b",)): B}
    values = StudyValues({"m": RATE, "n": RATE}, cells, {}, {})
    (here,) = verdicts(asked, values, machine())
    assert (here.status, here.why) == ("cannot be tested here", "needs 2 NUMA domains; this machine has 1")
    assert here.finding.id == "p6-locality-best"
    assert verdicts(asked, values, machine(nodes=2))[0].why.startswith("needs 9 hardware threads")
    assert verdicts(asked, values, None)[0].status == "holds", "a model needs no machine"


def test_a_share_is_of_the_same_combination_and_falls_with_the_rate() -> None:
    """m is 10 of the 20 of n, and 20 of 10."""
    values = {"m a": A, "n a": B, "m b": B, "n b": A}
    asked = 'kind = "share", measure = "m", whole = "n", {}bar = {{ within = [0.4, 0.6] }}'
    found = judged(asked.format(""), values)
    assert found.status == "holds"
    assert found.here is not None
    assert found.here.middle == pytest.approx(0.5, rel=1e-3)
    other = judged(asked.format('of = { which = "b" }, '), values)
    assert other.status == "does not hold"
    assert other.here is not None
    assert other.here.middle == pytest.approx(2, rel=1e-3)


def test_a_share_of_what_has_another_unit_or_of_itself_is_refused() -> None:
    with pytest.raises(file.StudyError, match="compared with itself"):
        study('kind = "share", measure = "m", whole = "m", bar = { above = 0.1 }')
    with pytest.raises(file.StudyError, match=r"m is in B/s \(higher is better\), n in s"):
        file.parse(TWO_UNITS, "test")
