"""Suites: files of requests, which `octant evaluate` measures. Each file of this folder is a suite.

What a request's values say in facts of the machine (`4*cached/ranks`) is worked out when the suite is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import Meta
from msgspec.structs import force_setattr, replace

from octant import facts, registry, renamed, tile, untrusted, workloads
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

MAX_BYTES = 1 << 20
MAX_REQUESTS = 10_000
Repeats = Annotated[int, Meta(ge=1, le=1000)]


class SuiteError(Refusal):
    """An unusable suite; the text names the file, the key and the reason."""

    def __init__(self, text: str) -> None:
        super().__init__(text, Exit.WRONG_WORD)


class SuiteRequest(ProgramTable, frozen=True):
    """A request of a suite's file: a workload, or a program with `{knob}` in its command line."""

    workload: str = ""  # family/name
    title: str = ""
    short: str = ""  # name of the quantity in one to three words, for rows of tables
    mode: Literal["one", "star", "threads", "all"] = "one"
    ranks: str = ""  # a count or an expression; "": as the mode defines
    knobs: Mapping[str, str] = {}
    needs: tuple[Need, ...] = ()  # requirements; skipped if the machine does not meet one
    table: bool = True  # a row of the terminal's table; else a curve of the report
    repeats: Repeats | None = None  # launches; `None`: as in the suite

    def __post_init__(self) -> None:
        if bool(self.workload) == bool(self.command):
            raise ValueError("a request needs either `workload` or `command`; give one of them")
        if self.command and self.mode != "one":
            raise ValueError("mode: programs have no mode; remove it, or set `ranks`")
        for key, why in program_table.problems(self):
            raise ValueError(f"{key}: {why}")
        for why in (knob_problem(self, knob) for knob in self.knobs if self.command):
            if why:
                raise ValueError(f"knobs: {why}")


class Suite(untrusted.InputTable, frozen=True, kw_only=True):
    """The file of a suite."""

    title: str
    include: tuple[str, ...] = ()  # suites of Octant, whose requests are added to those of the file
    repeats: Repeats = LAUNCHES  # launches of requests in the table
    curve_repeats: Repeats = CURVE_LAUNCHES  # launches of curves
    answer: SuiteAnswer = SuiteAnswer()
    tiles: Annotated[tuple[SuiteTile, ...], Meta(max_length=tile.MAX_TILES)] = ()
    requests: Annotated[tuple[SuiteRequest, ...], Meta(min_length=1, max_length=MAX_REQUESTS)]

    def __post_init__(self) -> None:
        for name in self.include:
            if name not in names():
                raise ValueError(f"include: there is no suite {name!r}; {suggestion(name, names())}")
            force_setattr(self, "requests", (*self.requests, *load(name).requests))
        check(self.tiles, self.answer, (request.title for request in self.requests))


def names() -> list[str]:
    """Return the names of the suites of Octant."""
    return sorted(path.stem for path in _folder().glob("*.toml"))


def load(name: str) -> Suite:
    """Read a suite by its name or from a file.

    Raises:
        Refusal: there is no such suite or file; the file is too large, not TOML, or a key is missing, unknown or of
            the wrong type.
    """
    table = untrusted.parse_toml(_text(name), f"suite {name}")
    if "asks" in table and "requests" not in table:  # the key of versions up to 0.2
        table["requests"] = table.pop("asks")
        renamed.warn(["[[asks]] is now [[requests]]"])
    renamed.warn(_replace_old_names(table))
    try:
        return untrusted.convert(table, Suite)
    except untrusted.MistakesError as error:
        raise SuiteError(f"cannot read the suite {name} {error.mistakes[0]}") from error


def _replace_old_names(table: Mapping[str, Any]) -> list[renamed.Replacement]:
    """Replace old names of workloads, knobs, values and metrics in the table of a suite's file, not yet checked."""
    changes: list[renamed.Replacement] = []
    workload_of: dict[object, str] = {}  # by the title of the request
    for one in _tables(table.get("requests")):
        changes += renamed.replace_workload(one, workloads.resolve)
        if isinstance(name := one.get("workload"), str):
            changes += renamed.replace_knobs([name], one)
            workload_of[str(one.get("title"))] = name
    for tile_table in _tables(table.get("tiles")):
        compared = tile_table.get("compared")
        named = [*_tables(tile_table.get("figures")), *(one.get("figure") for one in _tables(tile_table.get("also")))]
        named += [compared.get("value"), compared.get("against")] if isinstance(compared, dict) else []
        for figure in (one for one in named if isinstance(one, dict)):
            if name := workload_of.get(str(figure.get("title")), ""):
                changes += [*renamed.replace_knobs([name], figure), *renamed.replace_metric(name, figure)]
    return changes


def _tables(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def entries() -> Entries[Suite]:
    """Return the suites of Octant, and the unreadable ones."""
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
            f"cannot find the suite {name!r} (no suite or file has this name); {suggestion(name, names())}"
        )
    return untrusted.read_text(path, "suite", MAX_BYTES)


def requests(
    suite: Suite,
    machine: Machine,
    only: Sequence[str] = (),
    name: str = "suite",
    allowed: Collection[str] = (),
    report: Callable[[str], None] = lambda _text: None,
) -> tuple[Request, ...]:
    """Return the requests of a suite for a machine, in the order of its file.

    Skipped are requests whose requirements the machine does not meet, workloads of `absent` and programs that do not
    exist; on one core also the modes `star` and `threads`, which would repeat `one`.

    Args:
        only: workloads to keep; none: all.
        name: name of the suite.
        allowed: programs of the file that the user allows (`runs.programs.permissions`).
        report: receives the reason why a request of a program is skipped.

    Raises:
        SuiteError: an unknown workload or metric, or a value that cannot be computed.
    """
    known = facts.numbers(machine)
    kept = {workloads.workload(one).name for one in only}
    left_out = absent(suite, name)
    if wrong := problems(suite):
        raise SuiteError(f"cannot use the suite {name} ({wrong[0]}); correct the file")
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
            report(f"{one.title or f'request {number}'} is skipped: {refusal}")
        except (LookupError, ValueError) as error:
            reason = error.args[0] if error.args else error
            raise SuiteError(
                f"cannot use the suite {name} ({one.title or f'request {number}'}: {reason}); correct the file"
            ) from error
    return tuple(found)


def absent(suite: Suite, name: str) -> dict[str, str]:
    """Return the workloads of one of Octant's suites that this installation cannot use, with the reason.

    For a suite of the user, return none: an unknown name is refused there.
    """
    asked = dict.fromkeys(one.workload for one in suite.requests if one.workload) if name in names() else ()
    return {one: why for one in asked if (why := workloads.why_absent(one))}


def problems(suite: Suite) -> list[str]:
    """Return a text for each metric that a tile names and no workload of its requests has.

    Workloads that this installation cannot use are not checked.
    """
    asked: dict[str, dict[str, tuple[Metric, ...]]] = {}  # metrics by title of the request and by workload
    known = workloads.workloads()
    for request in suite.requests:
        workload = (
            declared_workload(request.subject) if request.command else known.get(workloads.resolve(request.workload))
        )
        of = workload.name if workload else workloads.resolve(request.workload)
        asked.setdefault(request.title, {})[of] = workload.metrics if workload else ()
    found = []
    for one in suite.tiles:
        for figure in filter(lambda figure: figure.metric, figures_of(one)):
            names = asked.get(figure.title, {})
            metrics = [metric.name for metrics in names.values() for metric in metrics]
            if metrics and figure.metric not in metrics:
                hint = suggestion(figure.metric, metrics)
                found.append(f"the tile {one.name}: {' or '.join(names)} has no metric {figure.metric!r}, {hint}")
    return found


def first_screen(suite: Suite, machine: Machine, only: Sequence[str] = ()) -> tile.DeclaredScreen:
    """Return the first screen of a run of the suite.

    Args:
        only: requested workloads; none: all. Tiles of other workloads do not report unmet requirements.
    """
    kept = {workloads.workload(one).name for one in only}
    asked = {one.title for one in suite.requests if not kept or workloads.resolve(one.workload) in kept}
    tiles = (
        one if {figure.title for figure in one.figures} & asked else replace(one, missing={}) for one in suite.tiles
    )
    return declared(tiles, suite.answer, machine)


def _program_request(one: SuiteRequest, known: Mapping[str, int], repeats: int) -> Request:
    ranks = facts.count(one.ranks, known) if one.ranks else 1
    if ranks < 1:
        raise ValueError(f"{one.ranks!r} is 0 ranks on this machine")
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
            raise ValueError(f"{one.ranks!r} is 0 ranks on this machine")
    here = {**known, "ranks": ranks, "threads": int(set_by_mode.get("threads", "1"))}
    knobs = {name: each_once(facts.values(text, here)) for name, text in one.knobs.items()}
    show = Presentation(one.title, one.table, one.short)
    return Request(Subject(workload), {**knobs, **set_by_mode}, Shape(ranks), show=show, repeats=repeats)
