"""Declaration of a workload folder: metrics, limits, pictures, network traffic, and a tiny complete run."""

import functools
import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, ParamSpec, TypeAlias, TypeVar

from octant.failure import suggestion
from octant.limit import MEMORY, Known, Limit, Provides
from octant.machine import Machine
from octant.metric import Metric, Needed, needed_names
from octant.record import Point
from octant.stats.caveats import GRADES
from octant.step import NOT_KNOWN, Declared, Scaling, Step, StepError, checked


@dataclass(frozen=True)
class Curve:
    """Metric against a knob or another metric, with a line for each mode and each value of the other knobs.

    Against a knob, points are in the order of its values. Against a metric, a line joins the points of one request in
    their order.
    """

    x: str  # a knob, or a metric of the workload
    y: str = ""  # "": the headline
    each: tuple[str, ...] = ()
    """Knobs with a line for each value; none: all that vary or, against a metric, the requests."""
    marks: Literal["", "caches"] = ""  # lines across the picture
    along: str = ""  # x in words; "": its name
    title: str = ""  # "": the title of the request, and x


@dataclass(frozen=True)
class Ladder:
    """Metric against a memory footprint. All ladders of a run form one picture with plateaus and caches."""

    x: str = "bytes"  # a knob of sizes
    y: str = ""  # "": the headline
    along: str = "footprint"  # x in words


@dataclass(frozen=True)
class Messages:
    """Headline (a time) and rate against message length, with fitted lines and N½.

    A line for each mode and each value of the other knobs.
    """

    rate: str  # a metric of the workload
    x: str = "bytes"  # a knob of sizes
    each: tuple[str, ...] = ()  # knobs with a line for each value; none: all that vary
    along: str = "length of the message"  # x in words


@dataclass(frozen=True)
class LostTime:
    """Share of time in interruptions of each length, with causes; the headline is `interrupted`."""

    title: str = ""


@dataclass(frozen=True)
class Bars:
    """Metric as bars, one for each value of a knob, which may be a word."""

    x: str
    y: str = ""  # "": the headline
    title: str = ""  # "": the title of the request, and x


@dataclass(frozen=True)
class Spread:
    """Spread over ranks: three metrics of one unit along a knob, as a line in a band from minimum to maximum.

    A band for each mode and each value of the other knobs.
    """

    x: str  # a knob, or a metric of the workload
    low: str
    middle: str
    high: str
    each: tuple[str, ...] = ()  # knobs with a band for each value; none: all that vary
    along: str = ""  # x in words; "": its name
    title: str = ""  # "": the title of the request, and x


@dataclass(frozen=True)
class Choice:
    """Best value of a knob for each combination of the others, and the cost of the worst one; of the headline."""

    x: str  # a knob, of words


@dataclass(frozen=True)
class Stacked:
    """Phases of a step side by side in one bar, a bar for each value of a knob."""

    x: str = ""  # "": a bar for each cell
    phases: tuple[str, ...] = ()  # "solve", "solve/halo", …; none: all
    waiting: tuple[str, ...] = ()  # phases in which ranks wait for others: grey


@dataclass(frozen=True)
class Timeline:
    """Samples of a metric in time order: a residual by iteration."""

    y: str = ""  # "": the headline


@dataclass(frozen=True)
class Matrix:
    """Metric of every pair of ranks as squares: cells whose groups are pairs, all of one request together.

    The metric does not reduce groups.
    """

    y: str
    title: str = ""  # "": the metric by pairs of ranks


@dataclass(frozen=True)
class RankBars:
    """User and system time of each rank of a user's program as bars, of the cell with most ranks."""

    title: str = ""


Picture: TypeAlias = (
    Curve | Ladder | Messages | LostTime | Bars | Spread | Choice | Stacked | Timeline | Matrix | RankBars
)


@dataclass(frozen=True)
class Traffic:
    """Traffic of a point in the terms of the network model, and its relation to the headline.

    A headline in seconds is the time in which the largest flow carries `units`. A headline in units per second is the
    rate of a node, or of the only flow.
    """

    pattern: str  # of octant.network.traffic; `first-to-last` within a node if both ranks are on one
    units: float = 0.0  # of one message, if the headline is a time
    cost: Literal["bulk", "update", "transpose"] = "bulk"  # cost of one unit: a byte of a long message, an update, …
    relation: Literal["eq", "at_least", "at_most"] = "at_least"  # of the load of the links to the measured rate
    description: str = ""  # "messages of 1 MiB, rotating buffers"
    may_be_cached: bool = False  # sent data may be in a cache; figures without are preferred
    both_ways: bool = False  # the same amount returns at the same time
    parts: int = 1  # the headline is 1/parts of the time of the pattern
    at_once: int = 1  # consecutive messages of each flow that carry the data of all parts
    of_link: bool = True  # it calibrates links; otherwise it is only compared with the model
    is_message: bool = False  # its headline is the time of one message without contention


@dataclass(frozen=True)
class CollectiveTraffic:
    """Collective of a point in the terms of `octant model collective`; its headline is the time of one call."""

    operation: str  # of octant.network.collectives
    bytes_each: int  # as that operation measures them
    algorithm: str = "all"  # "all": the fastest according to the model


@dataclass(frozen=True)
class NoTraffic:
    """Reason why the network model does not describe a point."""

    reason: str


@dataclass(frozen=True)
class Probe:
    """Short measurement at the beginning and end of runs with a workload of the same family."""

    title: str
    knobs: Mapping[str, str]
    metric: str  # metric of the probe
    caveat: Callable[[Machine, Sequence[float]], str]
    """Text of the caveat from the metric in all probes of a run; "": no caveat."""
    kind: str  # of that doubt, in `stats.GRADES`


_Given = ParamSpec("_Given")
_Answer = TypeVar("_Answer")


def total(function: Callable[_Given, _Answer], otherwise: _Answer) -> Callable[_Given, _Answer]:
    """Return the function with the result `otherwise` for points that lack what it needs.

    A stored point may be of another version or changed, so that knobs, notes and counts are missing or invalid.
    """

    @functools.wraps(function)
    def answer(*args: _Given.args, **kwargs: _Given.kwargs) -> _Answer:
        try:
            return function(*args, **kwargs)
        except (LookupError, ValueError, ArithmeticError):
            return otherwise

    return answer


def any_size(_machine: Machine, _value: str) -> str:
    """Return nothing: results of all sizes are compared, as users of the published benchmark do (`Workload.sizes`)."""
    return ""


def beyond_caches(machine: Machine, value: str) -> str:
    """Return `memory` for data well beyond every cache, else the size (`Workload.sizes`)."""
    cached = machine.may_be_cached_bytes()
    return MEMORY if cached and value.isdecimal() and int(value) >= 2 * cached else value


@dataclass(frozen=True)
class Workload:
    """Workload. Its kernel is the program `octant-<family>-<name>`; its page is the folder's README."""

    summary: str  # one line
    metrics: tuple[Metric, ...]  # the first is the headline
    smoke: Mapping[str, str]  # knobs of a tiny and complete run
    name: str = ""  # family/name; the registry sets it
    bounded_by: tuple[str, ...] = ()  # limits used by `least_seconds`
    least_seconds: Callable[[Known, Machine, Point], Limit | None] = lambda _known, _machine, _point: None
    provides: tuple[Provides, ...] = ()
    pictures: tuple[Picture, ...] = ()
    traffic: Callable[[Machine, Point], Traffic | CollectiveTraffic | NoTraffic] | None = None
    duplex: str = ""
    """Metric with the time of bidirectional messages over that of unidirectional ones: 1 to 2."""
    of_links: bool = True  # some of its traffic calibrates links; otherwise it is only compared with the model
    footprint: Callable[[Machine, Point], int | None] = lambda _machine, _point: None
    """Bytes that all ranks and threads together traverse repeatedly; `None`: not known."""
    guideline: Callable[[Point], tuple[str, str]] | None = None
    """Performance guideline: its headline is the time of the first operation over that of the second, its bound."""
    messages: bool = False  # its ranks exchange messages, so that it runs with several ranks by default
    alone: tuple[str, ...] = ()
    """Knobs whose values are started one by one, each in separate processes with a tight time limit, so that a hang or
    crash in a library affects only one value."""
    apart: tuple[str, ...] = ()
    """Knobs whose values are started one by one with the usual time limit: libraries that load only once."""
    ours: tuple[str, ...] = ()
    """Values of these knobs that are code of this project, not of a library."""
    probe: Probe | None = None
    results: Mapping[str, str] = field(default_factory=dict)
    """Results and checks of the kernel that other code reads: the kernel's text by identifier."""
    step: Declared | None = None  # computation, memory and messages of one step (`step.py` of the folder)
    not_declared: tuple[str, ...] = ()
    """Counts that metrics use and `step` omits: they depend on the data, the processor or another role."""
    scaling: Scaling | None = None  # growth of its step, for predictions by the network model
    sizes: Mapping[str, Callable[[Machine, str], str]] = field(default_factory=dict)
    """Knobs of the problem size, which other tools choose by other rules. The function returns the part of a value that
    must agree in a comparison with another tool, for the machine of our own result."""

    aliases: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Names of other benchmarks for this workload, each with the knobs that it implies: `triad` is `kernel=triad`."""

    def answering_every_point(self) -> "Workload":
        """Return the workload with functions that are defined for every stored point."""
        return replace(
            self,
            least_seconds=total(self.least_seconds, None),
            provides=tuple(replace(one, when=total(one.when, False)) for one in self.provides),
            traffic=self.traffic and total(self.traffic, NoTraffic("the record does not state what was sent")),
            footprint=total(self.footprint, None),
            guideline=self.guideline and total(self.guideline, ("the operation", "its reference")),
            step=self.step and checked(self.step),
        )

    @property
    def family(self) -> str:
        """The first part of the name."""
        return self.name.partition("/")[0]

    def metric(self, name: str = "") -> Metric:
        """Return the metric of that name, or the headline.

        Raises:
            KeyError: no such metric; the message lists the known ones.
        """
        for metric in self.metrics:
            if name in ("", metric.name):
                return metric
        raise KeyError(f"no metric {name!r} in {self.name}; {suggestion(name, [m.name for m in self.metrics])}")

    def result(self, identifier: str, point: Point) -> float | None:
        """Return the value of a result of `results` in a point; `None` where the point or the declaration has none."""
        text = self.results.get(identifier)
        return next((one.value for one in point.results if one.name == text), None)

    def counts_of(self, metric: str = "") -> tuple[str, ...]:
        """Return the counts that a metric, or the headline, is a rate of; none if it is no rate of counts."""
        return tuple(one.name for one in needed_names(self.metric(metric).value) if one.kind == "count")

    def problems(
        self,
        described: Mapping[str, Any] | None = None,
        points: Sequence[Point] = (),
        limits: Collection[str] | None = None,
    ) -> list[str]:
        """Return a text for every unresolved name in this declaration.

        Args:
            described: output of the kernel with `--describe`. Without it, names of knobs, phases, readings and roles
            are
                not checked.
            points: of a complete run. Without them, names of counts and results are not checked.
            limits: the names of all limits that workloads provide; `None`: not checked.
        """
        found = [*_misspelt_metrics(self), *_misspelt_limits(self, limits)]
        if described is not None:
            found += [*_unknown_series(self, described), *_unknown_knobs(self, described)]
            found += _wrong_step(self, described)
        if points:
            found += [*_unrecorded(self, points), *_unused_series(points, described or {})]
        return list(dict.fromkeys(found))


_METRICS_OF_PICTURES = ("y", "rate", "low", "middle", "high")
"""Fields of pictures with names of metrics; `x` may also be a knob."""


def _unknown(where: str, what: str, names: Iterable[str], known: Iterable[str]) -> Iterator[str]:
    """Yield a text for each name that is not among the known ones."""
    known = list(known)
    for name in names:
        if name not in known:
            yield f"{where}: no {what} {name!r}; {suggestion(name, known) if known else 'it has none'}"


def _picture_name(picture: Picture) -> str:
    of = getattr(picture, "x", "") or getattr(picture, "y", "")
    return f"picture {type(picture).__name__}" + f" of {of}" * bool(of)


def _misspelt_metrics(workload: Workload) -> Iterator[str]:
    names = [metric.name for metric in workload.metrics]
    for name, number in Counter(names).items():
        if number > 1:
            yield f"metric {name!r} is declared {number} times; rename one"
    for picture in workload.pictures:
        used = filter(None, (getattr(picture, part, "") for part in _METRICS_OF_PICTURES))
        yield from _unknown(_picture_name(picture), "metric", used, names)
    for one in workload.provides:
        yield from _unknown(f"limit {one.name!r} that it provides", "metric", [one.metric], names)
    yield from _unknown("duplex", "metric", filter(None, [workload.duplex]), names)
    if workload.probe:
        yield from _unknown("probe", "metric", filter(None, [workload.probe.metric]), names)
        yield from _unknown("probe", "kind of caveat", [workload.probe.kind], GRADES)
    for metric, need in _series_of(workload):
        if need.name != "step" and not need.name.startswith(("phase/", "reading/")):
            yield f"metric {metric.name!r}: no series {need.name!r}; use step, phase/NAME or reading/NAME"


def _misspelt_limits(workload: Workload, limits: Collection[str] | None) -> Iterator[str]:
    if limits is not None:
        yield from _unknown("bounded by", "limit that an installed workload provides,", workload.bounded_by, limits)


def _series_of(workload: Workload) -> Iterator[tuple[Metric, Needed]]:
    every = ((metric, need) for metric in workload.metrics for need in needed_names(metric.value))
    return ((metric, need) for metric, need in every if need.kind == "series")


def _rows(described: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the declarations of the kernels of a program."""
    return list(described.get("rows", {}).values()) or [described]


def _series_names(row: Mapping[str, Any]) -> list[str]:
    """Return the series that a kernel declares in addition to its step."""
    return [
        *(f"phase/{name}" for name in row.get("phases", ())),
        *(f"reading/{reading['name']}" for reading in row.get("readings", ())),
    ]


def _unknown_series(workload: Workload, described: Mapping[str, Any]) -> Iterator[str]:
    """Yield phases, readings and roles that no kernel declares, and roles whose times are not kept."""
    rows = _rows(described)
    series = ["step", *dict.fromkeys(name for row in rows for name in _series_names(row))]
    timed: dict[str, bool] = {}
    for role in (role for row in rows for role in row.get("roles", ())):
        timed[role["name"]] = timed.get(role["name"], False) or role["timed"]
    for metric, need in _series_of(workload):
        where = f"metric {metric.name!r}"
        yield from _unknown(where, "series", [need.name], series)
        if need.role is not None:
            yield from _unknown(where, "role", [need.role], timed)
            if not timed.get(need.role, True):
                yield f"metric {metric.name!r}: role {need.role!r} is not timed, so it has no series; name a timed role"
    phases = [name.removeprefix("phase/") for name in series if name.startswith("phase/")]
    for picture in workload.pictures:
        if isinstance(picture, Stacked):
            yield from _unknown(_picture_name(picture), "phase", (*picture.phases, *picture.waiting), phases)


def _unknown_knobs(workload: Workload, described: Mapping[str, Any]) -> Iterator[str]:
    """Yield knobs that the program does not have, and values that they do not accept."""
    choices = {knob["name"]: knob.get("choices", ()) for knob in described.get("knobs", ())}
    metrics = [metric.name for metric in workload.metrics]
    for picture in workload.pictures:
        known = [*choices, *metrics] if isinstance(picture, Curve | Spread | Bars) else choices
        yield from _unknown(_picture_name(picture), "knob or metric", filter(None, [getattr(picture, "x", "")]), known)
        yield from _unknown(_picture_name(picture), "knob", getattr(picture, "each", ()), choices)
    yield from _unknown("alone", "knob", workload.alone, choices)
    yield from _unknown("apart", "knob", workload.apart, choices)
    runs = [("smoke", workload.smoke), ("probe", workload.probe.knobs if workload.probe else {})]
    runs += [(f"alias {name!r}", knobs) for name, knobs in workload.aliases.items()]
    if scaling := workload.scaling:
        yield from _unknown("scaling", "knob", [scaling.size], choices)
        runs += [("scaling", knobs) for knobs in (*scaling.apart, scaling.only)]
    for where, knobs in runs:
        yield from _unknown(where, "knob", knobs, choices)
        for name, values in knobs.items():
            if choices.get(name):
                yield from _unknown(f"{where}, knob {name!r}", "value", values.split(","), choices[name])
    lists = [choices.get(name, ()) for name in (*workload.alone, *workload.apart)]
    if all(lists):
        yield from _unknown("ours", "value", workload.ours, [value for values in lists for value in values])


def _wrong_step(workload: Workload, described: Mapping[str, Any]) -> Iterator[str]:
    """Yield mistakes of the step in the smoke run of every kernel, and counts of metrics that are missing.

    Values without a declared step are a mistake only if there is no other value.
    """
    if workload.step is None:
        return
    defaults = {knob["name"]: knob.get("default", "") for knob in described.get("knobs", ())}
    smoke = itertools.product(*(values.split(",") for values in workload.smoke.values()))
    cells = [dict(zip(workload.smoke, values, strict=True)) for values in smoke]
    cells += [{described.get("chooser", ""): row} for row in described.get("rows", {})]
    ranks = max(2 if workload.messages else 1, described.get("least_ranks", 1))
    steps: list[Step] = []
    refused: list[str] = []
    for cell, threads in itertools.product(cells, (1, 2)):
        try:
            steps.append(checked(workload.step)({**defaults, **cell}, ranks, threads))
        except StepError as error:
            yield f"step: {error}"
        except NOT_KNOWN as error:
            refused.append(f"{type(error).__name__}: {error}")
    if not steps:
        yield from (f"step: it is not declared for any value of the smoke run ({text})" for text in refused[:1])
        return
    declared = ["messages", "bytes_sent", *(name for step in steps for name in step.counts), *workload.not_declared]
    for metric in workload.metrics:
        counts = [need.name for need in needed_names(metric.value) if need.kind == "count"]
        yield from _unknown(f"metric {metric.name!r}", "count", counts, dict.fromkeys(declared))


def _unrecorded(workload: Workload, points: Sequence[Point]) -> Iterator[str]:
    """Yield series, counts and results that no point has, except of roles that took part in no point."""
    roles = {None, *(head.role for point in points for head in point.heads)}
    for metric in workload.metrics:
        for need in needed_names(metric.value):
            if need.role in roles and not any(_is_recorded(need, point) for point in points):
                role = f" of role {need.role!r}" if need.role else ""
                yield f"metric {metric.name!r}: no point has the {need.kind} {need.name!r}{role}; see the kernel"
    recorded = {one.name for point in points for one in point.results}
    for identifier, text in workload.results.items():
        if text not in recorded:
            yield f"result {identifier!r}: no point has the result {text!r}; see the kernel"


def _is_recorded(need: Needed, point: Point) -> bool:
    if need.kind == "result":
        return any(one.name == need.name for one in point.results)
    if need.kind == "count":
        return any(need.name in work.counts for work in point.work_of(need.role))
    role = point.first_role if need.role is None else need.role
    return any(head.name == need.name and head.role == role for head in point.heads)


def _unused_series(points: Sequence[Point], described: Mapping[str, Any]) -> Iterator[str]:
    """Yield series that kernels declare and no point has; a role that is not timed has none."""
    rows, chooser = described.get("rows", {}), described.get("chooser", "")
    measured = [rows.get(row, described) for row in dict.fromkeys(point.knobs.get(chooser, "") for point in points)]
    recorded = {head.name for point in points for head in point.heads}
    for name in dict.fromkeys(name for row in measured for name in _series_names(row)):
        if name not in recorded:
            yield f"kernel: no point has the series {name!r} that it declares; a role that is timed must record it"
