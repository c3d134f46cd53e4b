"""A study with two measures and a factor, the values that launches gave, and the verdict on them."""

from datetime import UTC, datetime, timedelta

from fake_run import machine
from octant.stats import Interval, caveat
from octant.study import file
from octant.study.parts import Cell
from octant.study.question import Study
from octant.study.values import LaunchValue, Quantity, StudyValue, StudyValues
from octant.study.verdict import FindingVerdict, verdicts

RATE, FLOPS = Quantity("B/s", "higher"), Quantity("flop/s", "higher")


NOW = datetime(2026, 11, 22, 7, 35, tzinfo=UTC)


def measured(*middles: float, spread: float = 0.001, first: int = 0) -> StudyValue:
    """A launch in each round from `first` on, whose own interval reaches `spread` to either side."""
    launches = [
        LaunchValue(Interval(x * (1 - spread), x, x * (1 + spread)), number, NOW + timedelta(minutes=number))
        for number, x in enumerate(middles, first)
    ]
    return StudyValue(tuple(launches))


CAVEATS = (caveat("drift", "9 % slower"), caveat("preempted samples", "9 % of the samples were preempted"))


def study(test: str, extra: str = "", more: str = "") -> Study:
    text = f"""
    question = "?"
    [baseline]
    which = "a"
    [measures.m]
    workload = "stream"
    {extra}
    [measures.n]
    workload = "stream"
    {extra}
    [factors.which]
    a = {{}}
    b = {{}}
    c = {{}}
    [[findings]]
    id = "p6-locality-best"
    test = {{ {test} }}
    {more}
    """
    return file.parse(text, "test")


def judged(test: str, values: dict[str, dict[str, StudyValue]], extra: str = "", more: str = "") -> FindingVerdict:
    """The verdict on `measure level` -> axis value -> value."""
    cells = {Cell(name[0], (name[2],)): curve for name, curve in values.items()}
    quantities = {"m": RATE, "n": RATE}
    asked = study(test, extra, more)
    absent = {
        Cell(measure, (level,)): "not measured yet"
        for measure in "mn"
        for level in "abc"
        if Cell(measure, (level,)) not in cells
    }
    (found,) = verdicts(asked, StudyValues(quantities, cells, absent, {}), machine())
    return found


AXIS = 'axis = { knob = "bytes", values = ["1KiB", "2KiB", "4KiB", "8KiB"] }'


SIZES = ("1KiB", "2KiB", "4KiB", "8KiB")


def curve(*values: float) -> dict[str, StudyValue]:
    return {at: measured(*[v] * 6) for at, v in zip(SIZES, values, strict=True)}


A, B, C = ({"": measured(*[x, x * 1.001] * 3)} for x in (10.0, 20.0, 40.0))
