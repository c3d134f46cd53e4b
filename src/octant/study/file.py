"""A study file: a question as data. Read once, checked against the catalogue, refused with file and key."""

import math
import tomllib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from octant import catalogue, units, workloads
from octant.failure import Exit, Refusal
from octant.placement.request import parse_request
from octant.study.lines import line_of

Levels: TypeAlias = Mapping[str, str]  # factor -> level; factors left out are at the baseline
Need = Annotated[str, StringConstraints(pattern=r"^((cores|smt|numa|packages)[<>]=\d+|pages=\d+[KMG]iB|thp)$")]
Argument: TypeAlias = str | int | float | bool
Finite = Annotated[float, Field(allow_inf_nan=False)]
MOST_LAUNCHES = 20_000  # of one study: at a second each, half a working day
MOST_POINTS = 1000  # along an axis


class StudyError(Refusal):
    """A study file that cannot be used; the text names the file, the key and the reason."""

    def __init__(self, text: str) -> None:
        super().__init__(text, Exit.WRONG_ANSWER)


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Axis(_Part):
    """A knob (of a model: an argument) that one launch goes through, point by point."""

    knob: str
    values: tuple[str, ...] = Field(min_length=2, max_length=MOST_POINTS)
    unit: str = ""

    @property
    def has_numbers(self) -> bool:
        """Whether every value is a count or a size, so that a curve can be drawn along them."""
        try:
            return bool([number(value) for value in self.values])
        except ValueError:
            return False


def _full_name(workload: str) -> str:
    try:
        return workloads.workload(workload).name
    except LookupError:  # told with the key where it stands
        return workload


class Measure(_Part):
    """What is measured, or computed by a model, in every combination of levels."""

    workload: Annotated[str, AfterValidator(_full_name)] = ""
    metric: str = ""  # "": the headline
    model: str = ""  # the name of a function of `octant.simulate.studied`, for source = "model"
    kind: Literal["rate", "time"] = "rate"  # of a model's answer; a workload's metric knows its own
    unit: str = ""  # of a model's answer, likewise
    knobs: Mapping[str, str] = {}
    arguments: Mapping[str, Argument] = {}
    ranks: str = "1"  # counts may be words: cores, hwthreads, "2*cores"
    threads: str = "1"
    mode: str | None = None
    axis: Axis | None = None


class Level(_Part):
    """One setting of a factor: everything that it turns."""

    knobs: Mapping[str, str] = {}
    arguments: Mapping[str, Argument] = {}
    ranks: str | None = None
    threads: str | None = None
    place: str = ""  # a placement request; {ranks}, {threads} and {fill} (threads a core) stand for the numbers
    mpi: Mapping[Literal["mpich", "openmpi", "intelmpi"], Mapping[str, str]] = {}  # library -> environment
    needs: tuple[Need, ...] = ()
    about: str = ""


class Published(_Part):
    """Where the published numbers of a measure stand, and which columns say at which levels."""

    table: str
    metric: str
    measure: str
    where: Mapping[str, str] = {}  # columns that all rows share
    columns: Mapping[str, Mapping[str, Mapping[str, str]]] = {}  # factor -> level -> column -> value
    axis: str = ""  # the column that holds the axis
    scale: Finite = Field(1.0, gt=0)  # base units in one of the table's


class Bar(_Part):
    """What a value must meet: exactly one of the three."""

    above: Finite | None = None
    below: Finite | None = None
    within: tuple[Finite, Finite] | None = None

    def text(self) -> str:
        """For people: `above 2`."""
        if self.within is not None:
            return f"within {self.within[0]:g} to {self.within[1]:g}"
        return f"above {self.above:g}" if self.above is not None else f"below {self.below:g}"


class There(_Part):
    """Published values that say the same as a test, for its verdict; several rows give a range."""

    table: str
    metric: str
    where: Mapping[str, str] = {}
    means: Literal["gain", "percent"] = "gain"  # percent: a gain of 15 is a factor of 1.15


class Ratio(_Part):
    """How many times as good one combination is as another: of rates, `of` over `to`; of times, the other way."""

    kind: Literal["ratio"]
    measure: str
    of: Levels = {}
    to: Levels = {}
    at: str = ""  # axis value
    to_at: str = ""  # axis value of `to`, where it differs
    bar: Bar


class Interaction(_Part):
    """How many times as much one measure gains by the same change as another measure does."""

    kind: Literal["interaction"]
    measure: str
    versus: str
    of: Levels = {}
    to: Levels = {}
    at: str = ""
    versus_at: str = ""
    bar: Bar


class Order(_Part):
    """Combinations from best to worst; each must be at least as good as the next, less the margin."""

    kind: Literal["order"]
    measure: str
    places: tuple[Levels, ...] = Field(min_length=2)
    at: str = ""
    margin: float = Field(0.0, ge=0, lt=1)


class Knee(_Part):
    """Where, along the axis, the measure is first worse by `step` than the best before; alone or over another's."""

    kind: Literal["knee"]
    measure: str
    of: Levels = {}
    to: Levels | None = None
    step: Finite = Field(1.5, gt=1)
    bar: Bar


class Most(_Part):
    """A share of the measures that gain by a change."""

    kind: Literal["most"]
    measures: tuple[str, ...] = ()  # none: all
    of: Levels = {}
    to: Levels = {}
    gain: Finite = Field(1.0, gt=0)
    share: float = Field(0.5, gt=0, le=1)


class Spread(_Part):
    """The largest over the smallest value along the axis: 1 is flat."""

    kind: Literal["spread"]
    measure: str
    of: Levels = {}
    over: tuple[str, ...] = ()  # axis values; none: all
    bar: Bar


class Agrees(_Part):
    """Every published value of a measure over ours: 1 is agreement. For models above all."""

    kind: Literal["agrees"]
    measure: str
    of: Levels = {}
    over: tuple[str, ...] = ()  # axis values; none: all that are published
    bar: Bar


Test = Annotated[Ratio | Interaction | Order | Knee | Most | Spread | Agrees, Field(discriminator="kind")]


class FindingTest(_Part):
    """A finding of the catalogue and the test that it must pass here."""

    id: str
    test: Test
    there: There | None = None
    needs: tuple[Need, ...] = ()


class Study(_Part):
    """A question: measures × factors, the published numbers, the findings that it tests, its picture."""

    question: str
    source: Literal["measure", "model"] = "measure"
    repeats: int = Field(6, ge=1, le=1000)  # launches of every combination: each is a sample
    picture: Literal["bars", "curve"] = "bars"  # a bar a combination and axis value, or a curve along the axis
    needs: tuple[Need, ...] = ()
    knobs: Mapping[str, str] = {}
    arguments: Mapping[str, Argument] = {}
    measures: Mapping[str, Measure] = Field(min_length=1)
    factors: Mapping[str, Mapping[str, Level]] = Field(min_length=1)
    baseline: Levels
    combinations: tuple[Levels, ...] = ()  # none: all of them
    published: tuple[Published, ...] = ()
    findings: tuple[FindingTest, ...] = ()
    notes: tuple[str, ...] = ()

    def full(self, levels: Levels) -> tuple[str, ...]:
        """The level of every factor, in the file's order."""
        return tuple({**self.baseline, **levels}[factor] for factor in self.factors)


def number(text: str) -> float:
    """An axis value as a number: a count or a size.

    Raises:
        ValueError: neither.
    """
    try:
        return float(text)
    except ValueError:
        return float(units.parse_bytes(text))


def names() -> list[str]:
    """The studies that come with Octant."""
    return sorted(path.name.removesuffix(".toml") for path in _shipped().iterdir() if path.name.endswith(".toml"))


def source_text(name: str) -> tuple[str, str]:
    """Name and text of a study: one that comes with Octant, or a file.

    Raises:
        StudyError: neither; the message names the nearest.
    """
    if name in names():
        return name, (_shipped() / f"{name}.toml").read_text(encoding="utf-8")
    path = Path(name)
    if not path.is_file():
        near = [known for known in names() if name.split("-")[0] in known] or names()
        why = "neither a file nor a study that comes with Octant"
        raise StudyError(f"cannot find the study {name!r} ({why}); try {', '.join(near)}")
    try:
        return path.stem, path.read_text(encoding="utf-8")
    except OSError as error:
        raise StudyError(f"cannot read the study {name} ({error.strerror}); see its permissions") from error
    except UnicodeDecodeError as error:
        raise StudyError(f"cannot read the study {name} (no UTF-8 text); try a TOML file") from error


def parse(text: str, name: str) -> Study:
    """A study from its text.

    Raises:
        StudyError: no TOML, a key missing, unknown or of the wrong kind, or a name that leads nowhere.
    """
    try:
        study = Study.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise StudyError(f"cannot read the study {name} ({error}); mend that line") from error
    except ValidationError as error:
        first = error.errors()[0]
        path = [str(part) for part in first["loc"] if part not in _TAGS]
        raise _refused(name, text, ".".join(path), _SAID.get(first["type"], first["msg"])) from error
    for key, problem in _problems(study):
        raise _refused(name, text, key, problem)
    return study


_TAGS = ("ratio", "interaction", "order", "knee", "most", "spread", "agrees", "function-after")  # pydantic's own words
_SAID = {
    "extra_forbidden": "there is no such key; remove it or mend its spelling",
    "missing": "this key is missing; add it",
    "string_pattern_mismatch": "no such need; try numa>=2, packages>=2, cores>=2, smt>=2, pages=2MiB or thp",
}


def _refused(name: str, text: str, key: str, problem: str) -> StudyError:
    line = line_of(text, key.split("."))
    return StudyError(
        f"cannot read the study {name}{f', line {line}' if line else ''} ({key or 'the whole'}: {problem})"
    )


def load(name: str) -> Study:
    """A study by name or path.

    Raises:
        StudyError: as `source_text` and `parse`.
    """
    return parse(source_text(name)[1], name)


def _shipped() -> Traversable:
    return files("octant.study") / "studies"


def _problems(study: Study) -> Iterator[tuple[str, str]]:
    """Names that lead nowhere, as (key, what is wrong with it)."""
    for factor in study.factors:
        if factor not in study.baseline:
            yield "baseline", f"no level of {factor}; try one of {', '.join(study.factors[factor])}"
    yield from _levels(study, "baseline", study.baseline)
    for n, combination in enumerate(study.combinations):
        yield from _levels(study, f"combinations.{n}", combination)
    for name, measure in study.measures.items():
        yield from _measure(study, name, measure)
    yield from _knobs(study)
    yield from _size(study)
    for factor, levels in study.factors.items():
        yield from ((f"factors.{factor}.{name}.place", why) for name, level in levels.items() if (why := _place(level)))
    for n, published in enumerate(study.published):
        yield from _published(study, f"published.{n}", published)
    for n, finding in enumerate(study.findings):
        if finding.id not in catalogue.findings():
            yield f"findings.{n}.id", f"no finding {finding.id!r} in the catalogue; try `octant catalogue findings`"
        if finding.there:
            yield from _rows(f"findings.{n}.there", finding.there.table, finding.there.metric, finding.there.where)
        yield from _test(study, f"findings.{n}.test", finding.test)


def _levels(study: Study, key: str, levels: Levels) -> Iterator[tuple[str, str]]:
    for factor, level in levels.items():
        if factor not in study.factors:
            yield key, f"no factor {factor!r}; try {', '.join(study.factors)}"
        elif level not in study.factors[factor]:
            yield key, f"no level {level!r} of {factor}; try {', '.join(study.factors[factor])}"


def _measure(study: Study, name: str, measure: Measure) -> Iterator[tuple[str, str]]:
    if bool(measure.model) == bool(measure.workload) or bool(measure.model) != (study.source == "model"):
        wanted = "a model" if study.source == "model" else "a workload"
        yield f"measures.{name}", f"with source = {study.source!r} it must name {wanted}, and nothing else"
    elif measure.workload:
        yield from _workload(f"measures.{name}", measure)
    if study.picture == "curve" and not (measure.axis and measure.axis.has_numbers):
        yield "picture", f"a curve needs an axis of numbers, and {name} has none; try 'bars'"
    if measure.axis:
        yield from _distinct(f"measures.{name}.axis.values", measure.axis)


def _workload(key: str, measure: Measure) -> Iterator[tuple[str, str]]:
    try:
        workloads.workload(measure.workload).metric(measure.metric)
    except LookupError as error:
        yield f"{key}.{'workload' if measure.workload not in workloads.workloads() else 'metric'}", str(error.args[0])


def _distinct(key: str, axis: Axis) -> Iterator[tuple[str, str]]:
    seen: dict[float | str, str] = {}
    for value in axis.values:
        same = seen.setdefault(number(value) if axis.has_numbers else value, value)
        if same is not value:
            yield key, f"{value!r} stands there twice (as {same!r}); each point is measured once a launch"


def _knobs(study: Study) -> Iterator[tuple[str, str]]:
    """Knobs that would make several points of one launch, or that the axis would silently overrule."""
    turned = [("knobs", study.knobs), *((f"measures.{name}.knobs", m.knobs) for name, m in study.measures.items())]
    for factor, levels in study.factors.items():
        turned += [(f"factors.{factor}.{name}.knobs", level.knobs) for name, level in levels.items()]
    axes = {measure.axis.knob: name for name, measure in study.measures.items() if measure.axis}
    for key, knobs in turned:
        for knob, value in knobs.items():
            if "," in value:
                yield f"{key}.{knob}", f"several values ({value}) would pass for several launches; make them an axis"
            if knob in axes:
                yield f"{key}.{knob}", f"the axis of {axes[knob]} goes through {knob} itself; drop one of the two"


def _size(study: Study) -> Iterator[tuple[str, str]]:
    combinations = len(study.combinations) or math.prod(map(len, study.factors.values()))
    launches = combinations * len(study.measures) * (study.repeats if study.source == "measure" else 1)
    if launches > MOST_LAUNCHES:
        yield "factors", f"{launches:,} launches are absurd, at most {MOST_LAUNCHES:,}; list some [[combinations]]"


def _place(level: Level) -> str:
    try:
        if level.place:
            parse_request(level.place.format(ranks=1, threads=1, fill=1))
    except (ValueError, KeyError, IndexError) as error:
        return f"no placement request ({error})"
    return ""


def _rows(key: str, table: str, metric: str, where: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    if table not in catalogue.results():
        yield key, f"no table {table!r} in the catalogue; try `octant catalogue results`"
        return
    try:
        found = catalogue.results()[table].find(metric, where)
    except KeyError as error:
        yield key, str(error.args[0])
        return
    if not found:
        yield key, f"no row of {table} has {', '.join(f'{k} = {v!r}' for k, v in where.items())}"


def _published(study: Study, key: str, published: Published) -> Iterator[tuple[str, str]]:
    if published.measure not in study.measures:
        yield key, f"no measure {published.measure!r}; try {', '.join(study.measures)}"
    yield from _rows(key, published.table, published.metric, published.where)
    for factor, levels in published.columns.items():
        for level, where in levels.items():
            yield from _levels(study, f"{key}.columns", {factor: level})
            yield from _rows(f"{key}.columns.{factor}.{level}", published.table, published.metric, where)


def _test(study: Study, key: str, test: Test) -> Iterator[tuple[str, str]]:
    used = list(test.measures) if isinstance(test, Most) else [test.measure]
    used += [test.versus] if isinstance(test, Interaction) else []
    for name in used:
        if name not in study.measures:
            yield key, f"no measure {name!r}; try {', '.join(study.measures)}"
    asked = list(test.places) if isinstance(test, Order) else [test.of]
    asked += [test.to or {}] if isinstance(test, Ratio | Interaction | Knee | Most) else []
    for levels in asked:
        yield from _levels(study, key, levels)
    if study.combinations:
        planned = {study.full(levels) for levels in study.combinations}
        for levels in asked:
            if set(levels) <= set(study.factors) and study.full(levels) not in planned:
                yield key, f"the combination {', '.join(study.full(levels))} is not among combinations"
    bar = None if isinstance(test, Order | Most) else test.bar
    if bar is not None and sum(x is not None for x in (bar.above, bar.below, bar.within)) != 1:
        yield f"{key}.bar", "exactly one of above, below and within is needed"
    elif bar is not None and bar.within is not None and bar.within[0] > bar.within[1]:
        yield f"{key}.bar.within", f"{bar.within[0]:g} to {bar.within[1]:g} is no range; swap the two"
    if _compares_with_itself(study, test):
        yield key, "a combination is compared with itself; give `of` and `to` that differ"
    yield from _axis(study, key, test)


def _compares_with_itself(study: Study, test: Test) -> bool:
    if isinstance(test, Order):
        pairs = list(zip(test.places, test.places[1:], strict=False))
    elif isinstance(test, Ratio | Interaction | Knee | Most) and test.to is not None:
        moved = isinstance(test, Ratio) and test.to_at not in ("", test.at)
        pairs = [] if moved else [(test.of, test.to)]
    else:
        pairs = []
    return any({**study.baseline, **one} == {**study.baseline, **other} for one, other in pairs)


def _axis(study: Study, key: str, test: Test) -> Iterator[tuple[str, str]]:
    if isinstance(test, Most) or test.measure not in study.measures:
        return
    if isinstance(test, Interaction) and test.versus in study.measures:
        other = study.measures[test.versus].axis
        if test.versus_at not in (other.values if other else ("",)):
            where = f"on the axis {other.knob}; try {', '.join(other.values)}" if other else "not be: it has no axis"
            yield key, f"`versus_at` must say where {test.versus} is read: {where}"
    axis = study.measures[test.measure].axis
    known = axis.values if axis else ()
    if isinstance(test, Knee | Spread):
        if axis is None:
            yield key, f"a {test.kind} needs a measure with an axis; {test.measure} has none"
        values: tuple[str, ...] = test.over if isinstance(test, Spread) else ()
    elif isinstance(test, Agrees):
        values = test.over
        if not any(published.measure == test.measure for published in study.published):
            yield key, f"nothing is published for {test.measure}"
    else:
        values = tuple(v for v in (test.at, getattr(test, "to_at", "")) if v)
        if axis is not None and not test.at:
            yield key, f"`at` must say where on the axis {axis.knob}"
    for value in values:
        if value not in known:
            yield key, f"no axis value {value!r} in {test.measure}; try {', '.join(known) or 'none: it has no axis'}"
