"""What a study file may say, and how it is refused: by line, key and reason."""

import re

import pytest

from octant import catalogue, workloads
from octant.failure import Refusal
from octant.study import file
from octant.study.parts import place_text
from octant.untrusted import line_of
from study_text import STUDY


@pytest.mark.parametrize("name", file.names())
def test_shipped_studies_ask_for_what_there_is(name: str) -> None:
    study = file.load(name)
    for measure in study.measures.values():
        if measure.workload in workloads.workloads():
            workloads.workload(measure.workload).metric(measure.metric)
    published = {finding.id for finding in study.findings if not finding.statement}
    assert published <= set(catalogue.findings())


AXIS = 'axis = { knob = "bytes", values = ["1KiB", "2KiB"] }'


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("question =", "queston =", 2, "queston: unknown key; did you mean question?"),
        ("[baseline]", 'picture = "curve"\n[baseline]', 3, "picture: a curve needs an axis of numbers, and m has none"),
        ("[baseline]", 'picture = "pie"\n[baseline]', 3, "picture: unknown value 'pie'; try one of bars, curve"),
        ("[baseline]", "color = 1\n[baseline]", 3, "color: unknown key; try one of question, source"),
        ("[baseline]", "repeats = 100000\n[baseline]", 3, "repeats: expected integer <= 1000, got 100000"),
        ('which = "a"', 'which = "c"', 3, "baseline: no level 'c' of which; try one of a, b"),
        ('which = "a"', 'witch = "a"', 3, "baseline: no level of which; try one of a, b"),
        ('workload = "stream"', 'model = "gups"', 5, "measures.m: with source = 'measure' it must name a workload"),
        (
            'workload = "stream"',
            'workload = "strem"',
            6,
            "measures.m.workload: no workload 'strem'; did you",
        ),
        (
            '"stream"',
            '"stream"\nmetric = "speed"',
            7,
            "measures.m.metric: no metric 'speed' in node/stream; try one of bandwidth",
        ),
        (
            '"stream"',
            f'"stream"\n{AXIS.replace("2KiB", "1024")}',
            7,
            "measures.m.axis.values: '1024' is listed twice",
        ),
        (
            '"stream"',
            '"stream"\nknobs = { bytes = "1KiB,2KiB" }',
            7,
            "measures.m.knobs.bytes: several values (1KiB,2KiB)",
        ),
        (
            '"stream"\n',
            f'"stream"\n{AXIS}\n[knobs]\nbytes = "9KiB"\n',
            9,
            "knobs.bytes: the axis of m already varies bytes",
        ),
        ("p6-locality-best", "p6-locality-worst", 11, "findings.0.id: no finding 'p6-locality-worst'"),
        ('of = { which = "b" }', 'of = { which = "z" }', 12, "findings.0.test: no level 'z' of which; try one of a, b"),
        ('of = { which = "b" }', 'of = { which = "a" }', 12, "findings.0.test: a combination is compared with itself"),
        ('measure = "m"', 'measure = "n"', 12, "findings.0.test: no measure 'n'; try one of m"),
        ("above = 1.0 }", "above = 1.0, below = 2.0 }", 12, "findings.0.test.bar: exactly one of"),
        ("above = 1.0 }", "above = nan }", 12, "findings.0.test.bar.above: expected number >= -1e+300, got nan"),
        (
            "above = 1.0 }",
            "within = [1.1, 0.9] }",
            12,
            "findings.0.test.bar.within: 1.1 to 0.9 is not a range; swap the two",
        ),
        ('kind = "ratio"', 'kind = "knee"', 12, "findings.0.test: a knee needs a measure with an axis, and m has none"),
        (
            'pages = "thp" }',
            'pages = "thp" }, needs = ["luck"]',
            9,
            "factors.which.b.needs.0: unknown need; try numa>=2",
        ),
        (
            'pages = "thp" }',
            'pages = "8KiB to 4*llc by 2" }',
            9,
            "factors.which.b.knobs.pages: several values (8KiB to",
        ),
        (
            '"stream"',
            '"stream"\naxis = { knob = "bytes", values = ["1KiB"] }',
            7,
            "measures.m.axis.values: an axis needs at least two",
        ),
        (
            '"stream"',
            '"stream"\naxis = { knob = "bytes", values = ["1KiB", "llc/ranks"] }',
            7,
            "measures.m.axis.values: 'ranks' in",
        ),
        (
            'measure = "m"',
            'measure = "m", at = "64KiB"',
            12,
            "findings.0.test: no axis value '64KiB' in m; give it an axis",
        ),
        ('pages = "thp" }', 'pages = "thp" }, place = "4y2"', 9, "factors.which.b.place: not a placement request"),
    ],
)
def test_a_study_file_is_refused_by_line_key_and_reason(old: str, new: str, line: int, message: str) -> None:
    assert file.parse(STUDY, "mine").question == "Is b faster?"
    where = f", line {line}" if line else ""
    reason, _, hint = message.partition("; ")
    expected = f"cannot read the study mine{where} ({reason}" + (f"); {hint}" if hint else "")
    with pytest.raises(file.StudyError, match=re.escape(expected)):
        file.parse(STUDY.replace(old, new, 1), "mine")


def test_what_is_no_toml_is_refused_by_line() -> None:
    with pytest.raises(Refusal, match=r"cannot read the study mine \(.*line 3.*\); correct the file"):
        file.parse(STUDY.replace("[baseline]", "[baseline"), "mine")


def test_a_study_of_too_many_launches_is_refused_before_it_is_planned() -> None:
    """Twelve factors of ten levels are a million million combinations."""
    levels = "\n".join(f'{n} = {{ knobs = {{ bytes = "{n}KiB" }} }}' for n in range(10))
    factors = "\n".join(f"[factors.f{n}]\n{levels}" for n in range(12))
    baseline = "\n".join(f'f{n} = "0"' for n in range(12))
    text = f'question = "?"\n[baseline]\n{baseline}\n[measures.m]\nworkload = "stream"\n{factors}'
    with pytest.raises(
        file.StudyError, match=r"line 17 \(factors: 6,000,000,000,000 launches exceed the maximum of 20,000"
    ):
        file.parse(text, "mine")


NESTED = """a = 1
[b]
"c d".e = 2
[[f]]
g = 3
[f.h]
i = 4
[[f]] # the second
g = 5
[f.h]
i = 6
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("a", 1), ("b", 2), ("b/c d", 3), ("b/c d/e/x", 3), ("b/z", 2), ("f/0", 4), ("f/0/g", 5), ("f/0/h/i", 7),
        ("f/1", 8), ("f/1/g", 9), ("f/1/h/i/0", 11), ("f", 4), ("z", None),
    ],
)  # fmt: skip
def test_the_line_of_a_key(path: str, line: int | None) -> None:
    assert line_of(NESTED, path.split("/")) == line


def test_published_columns_must_exist() -> None:
    extra = '[[published]]\ntable = "p7-stream-affinity-pages"\nmetric = "stream_triad"\nmeasure = "m"\n'
    with pytest.raises(
        file.StudyError, match=r"published\.0\.columns\.which\.a: no row of p7-stream-affinity-pages has"
    ):
        file.parse(STUDY + extra + 'columns.which = { a = { binding = "perhaps" } }', "mine")
    with pytest.raises(file.StudyError, match=r"published\.0: no table 'p8'"):
        file.parse(STUDY + extra.replace("p7-stream-affinity-pages", "p8"), "mine")


def test_combinations_that_are_called_alike_are_refused() -> None:
    """A run stores its cells by their texts."""
    factors = '[factors.which]\n"a, b" = {}\na = { knobs = { pages = "thp" } }\n[factors.other]\nc = {}\n"b, c" = {}'
    text = f'question = "?"\nbaseline = {{ which = "a", other = "c" }}\n[measures.m]\nworkload = "stream"\n{factors}'
    with pytest.raises(file.StudyError, match=r"several combinations have the name 'm: a, b, c'\); rename a level"):
        file.parse(text, "mine")


@pytest.mark.parametrize(
    "place", ["{fill:>1000000000}", "{fill.nope}", "{fill[0]}", "{ranks!r}", "{}", "{fil}x1", "{0}"]
)
def test_a_place_takes_numbers_by_their_names_and_no_other_format(place: str) -> None:
    text = STUDY.replace("b = {", f'b = {{ place = "{place}",', 1)
    assert place_text("{ranks}x{threads},smt={fill}", {"ranks": 2, "threads": 3, "fill": 4}) == "2x3,smt=4"
    with pytest.raises(ValueError, match=r"no such number .*; (did you mean|try one of)"):
        place_text(place, {"ranks": 2, "threads": 3, "fill": 4})
    with pytest.raises(file.StudyError, match=r"place: not a placement request: no such number"):
        file.parse(text, "mine")
