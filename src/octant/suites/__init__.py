"""Suites: files of requests, which `octant evaluate` measures. A file that lies here is a suite by its name.

What a request's values say in facts of the machine (`4*cached/ranks`) is worked out when the suite is asked.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta
from msgspec.structs import replace

from octant import facts, registry, tile, untrusted, workloads
from octant.analysis.program import declared_workload
from octant.facts import Need
from octant.failure import Exit, Refusal, suggestion
from octant.request import Presentation, Request, Shape, Subject, each_once
from octant.runs.modes import ranks_and_knobs
from octant.runs.programs import file_requests, placeholders
from octant.runs.programs import table as program_table
from octant.runs.programs.table import ProgramTable, knob_problem
from octant.runs.rounds import CURVE_LAUNCHES, LAUNCHES
from octant.suites.screen import SuiteAnswer, SuiteTile, check, declared, figures_of

if TYPE_CHECKING:
    from octant.machine import Machine
    from octant.metric import Metric
    from octant.registry import Entries

MOST_BYTES = 1 << 20
MAX_REQUESTS = 10_000
Repeats = Annotated[int, Meta(ge=1, le=1000)]


class SuiteError(Refusal):
    """A suite that cannot be used; the text names the file, the key and the reason."""

    def __init__(self, text: str) -> None:
        super().__init__(text, Exit.WRONG_WORD)


class SuiteRequest(ProgramTable, frozen=True):
    """One ask of a suite's file: of a workload, or of a program, in whose command line `{knob}` is a knob's value."""

    workload: str = ""  # family/name
    title: str = ""
    short: str = ""  # what is measured, in a word or two, for the rows of tables
    mode: Literal["one", "star", "threads", "all"] = "one"
    ranks: str = ""  # a count or an expression; "": what the mode says
    knobs: Mapping[str, str] = {}
    needs: tuple[Need, ...] = ()  # left out where the machine lacks one of these
    table: bool = True  # a row of the terminal's table; else a curve of the report
    repeats: Repeats | None = None  # launches; `None`: the suite's

    def __post_init__(self) -> None:
        if bool(self.workload) == bool(self.command):
            raise ValueError("a request names either a workload or a command; give one of the two")
        if self.command and self.mode != "one":
            raise ValueError("mode: a program has no mode; remove it, and see `ranks`")
        for key, why in program_table.problems(self):
            raise ValueError(f"{key}: {why}")
        for why in (knob_problem(self, knob) for knob in self.knobs if self.command):
            if why:
                raise ValueError(f"knobs: {why}")


class Suite(untrusted.InputTable, frozen=True, kw_only=True):
    """A suite's file."""

    title: str
    repeats: Repeats = LAUNCHES  # launches of what is in the table
    curve_repeats: Repeats = CURVE_LAUNCHES  # and of curves
    answer: SuiteAnswer = SuiteAnswer()
    tiles: Annotated[tuple[SuiteTile, ...], Meta(max_length=tile.MOST)] = ()
    requests: Annotated[tuple[SuiteRequest, ...], Meta(min_length=1, max_length=MAX_REQUESTS)]

    def __post_init__(self) -> None:
        check(self.tiles, self.answer, (request.title for request in self.requests))


def names() -> list[str]:
    """The suites that come with Octant."""
    return sorted(path.stem for path in _folder().glob("*.toml"))


def load(name: str) -> Suite:
    """A suite by its name, or from a file.

    Raises:
        Refusal: neither, or a file that is too large, no TOML, or has a key missing, unknown or of the wrong kind.
    """
    table = untrusted.parse_toml(_text(name), f"suite {name}")
    if "asks" in table and "requests" not in table:  # the key of versions up to 0.2
        table["requests"] = table.pop("asks")
        print(f"octant: suite {name}: [[asks]] is now [[requests]]", file=sys.stderr)
    try:
        return untrusted.convert(table, Suite)
    except untrusted.MistakesError as error:
        raise SuiteError(f"cannot read the suite {name} {error.mistakes[0]}") from error


def entries() -> Entries[Suite]:
    """The suites that come with Octant, and those whose file cannot be read."""
    return registry.collect((name, registry.attempt(name, _file(name), partial(load, name))) for name in names())


def _file(name: str) -> Path:
    return _folder() / f"{name}.toml"


def _folder() -> Path:
    return Path(str(files("octant.suites")))


def _text(name: str) -> str:
    if name in names():
        return _file(name).read_text(encoding="utf-8")
    path = Path(name)
    if not untrusted.exists(path):
        raise SuiteError(
            f"cannot find the suite {name!r} (neither a file nor one of ours); {suggestion(name, names())}"
        )
    return untrusted.read_text(path, "suite", MOST_BYTES)


def requests(
    suite: Suite,
    machine: Machine,
    only: Sequence[str] = (),
    name: str = "suite",
    allowed: Collection[str] = (),
    report: Callable[[str], None] = lambda _text: None,
) -> tuple[Request, ...]:
    """What the suite asks of a machine, in the order of its file.

    What the machine lacks is left out; on one core so are `star` and `threads`, which would repeat `one`. So is what
    `absent` names, and a program that is not there.

    Args:
        only: workloads to keep; none: all.
        name: of the suite.
        allowed: programs of the file that the user allows (`runs.programs.permissions`).
        report: is given the reason why a request of a program is left out.

    Raises:
        SuiteError: an unknown workload or metric, or a value that cannot be worked out.
    """
    known = facts.numbers(machine)
    kept = {workloads.workload(one).name for one in only}
    left_out = absent(suite, name)
    if wrong := problems(suite):
        raise SuiteError(f"cannot ask what {name} says ({wrong[0]}); correct it")
    found: list[Request] = []
    for number, one in enumerate(suite.requests, 1):
        if one.workload in left_out:
            continue
        try:
            workload = workloads.workload(one.workload) if one.workload else None
            if kept and (workload is None or workload.name not in kept):
                continue
            if any(facts.missing(need, machine) for need in one.needs):
                continue
            if known["cores"] == 1 and one.mode in ("star", "threads"):
                continue
            repeats = one.repeats or (suite.repeats if one.table else suite.curve_repeats)
            if workload:
                found.append(_request(one, workload.name, known, not workload.messages, repeats))
            else:
                found.append(
                    file_requests.with_program_name(_program_request(one, known, repeats), bool(one.ranks), allowed)
                )
        except Refusal as refusal:
            report(f"{one.title or f'request {number}'} is left out: {refusal}")
        except (LookupError, ValueError) as error:
            reason = error.args[0] if error.args else error
            raise SuiteError(
                f"cannot ask what {name} says ({one.title or f'request {number}'}: {reason}); correct it"
            ) from error
    return tuple(found)


def absent(suite: Suite, name: str) -> dict[str, str]:
    """The workloads of a suite that comes with Octant which this installation cannot use, and why.

    Of a suite of the user's there are none: it may have misspelt a name, which is refused.
    """
    asked = dict.fromkeys(one.workload for one in suite.requests if one.workload) if name in names() else ()
    return {one: why for one in asked if (why := workloads.why_absent(one))}


def problems(suite: Suite) -> list[str]:
    """Return the metrics that tiles name and that no workload of their requests has, in words.

    Of workloads that this installation cannot use nothing is known.
    """
    asked: dict[str, dict[str, tuple[Metric, ...]]] = {}  # the metrics of a request by its title and what it is of
    known = workloads.workloads()
    for request in suite.requests:
        workload = declared_workload(request.subject) if request.command else known.get(_full_name(request.workload))
        of = workload.name if workload else _full_name(request.workload)
        asked.setdefault(request.title, {})[of] = workload.metrics if workload else ()
    found = []
    for one in suite.tiles:
        for figure in filter(lambda figure: figure.metric, figures_of(one)):
            names = asked.get(figure.title, {})
            metrics = [metric.name for metrics in names.values() for metric in metrics]
            if metrics and figure.metric not in metrics:
                said = suggestion(figure.metric, metrics)
                found.append(f"the tile {one.name}: no metric {figure.metric!r} in {' or '.join(names)}, {said}")
    return found


def first_screen(suite: Suite, machine: Machine, only: Sequence[str] = ()) -> tile.DeclaredScreen:
    """What the first screen of a report on a run of the suite shows.

    Args:
        only: workloads that are asked; none: all. Of others it does not say that the machine lacks something.
    """
    kept = {workloads.workload(one).name for one in only}
    asked = {one.title for one in suite.requests if not kept or _full_name(one.workload) in kept}
    tiles = (
        one if {figure.title for figure in one.figures} & asked else replace(one, missing={}) for one in suite.tiles
    )
    return declared(tiles, suite.answer, machine)


def _full_name(workload: str) -> str:
    try:
        return workloads.workload(workload).name
    except LookupError:  # of `absent`
        return workload


def _program_request(one: SuiteRequest, known: Mapping[str, int], repeats: int) -> Request:
    ranks = facts.count(one.ranks, known) if one.ranks else 1
    if ranks < 1:
        raise ValueError(f"{one.ranks!r} comes to no rank here")
    here = {**known, "ranks": ranks}
    knobs = {name: facts.values(text, here) for name, text in one.knobs.items()}
    if "threads" in placeholders.placeholder_names(one.subject):
        knobs.setdefault("threads", "1")
    return Request(
        one.subject, knobs, Shape(ranks), show=Presentation(one.title, one.table, one.short), repeats=repeats
    )


def _request(one: SuiteRequest, workload: str, known: Mapping[str, int], alone: bool, repeats: int) -> Request:
    ranks, set_by_mode = ranks_and_knobs(one.mode, known["cores"], alone)
    if one.ranks:
        ranks = facts.count(one.ranks, known)
        if ranks < 1:
            raise ValueError(f"{one.ranks!r} comes to no rank here")
    here = {**known, "ranks": ranks, "threads": int(set_by_mode.get("threads", "1"))}
    knobs = {name: each_once(facts.values(text, here)) for name, text in one.knobs.items()}
    show = Presentation(one.title, one.table, one.short)
    return Request(Subject(workload), {**knobs, **set_by_mode}, Shape(ranks), show=show, repeats=repeats)
