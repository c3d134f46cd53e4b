"""`asked.json` and the lines of `plan.jsonl`: what was asked and decided, read strictly. Data, never commands."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct, structs

from octant.launch import Planned
from octant.limit import StoredLimit
from octant.machine import Machine, codec
from octant.machine.codec import StoredMachine
from octant.placement import RankPlacement
from octant.record import Natural, RecordError
from octant.record.writer import seal, unseal
from octant.renamed import current_knobs, current_metric, current_workload
from octant.request import Count, Launch, Request, Shape, Subject, cell_count
from octant.store.environment import recorded
from octant.tile import DeclaredScreen, NamedFigure

FORMAT = 2
MAX_BYTES = 64 << 20
"""Of an asked.json."""

MAX_LIMITS = 10_000
"""Of a run that uses limits of earlier runs."""
MAX_CELLS = 300_000
"""Of all launches of a run: thirty launches of as many as one may have."""

Seed = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Seconds = Annotated[float, Meta(ge=0, le=1e9)]


@dataclass(frozen=True)
class StudyRequest:
    """The study that a run answers: its file as it was then, and what else its launches came from."""

    name: str
    seed: Seed  # of the order of the launches
    text: str
    library: str = ""  # the MPI library that its settings were written for
    lacking: Mapping[str, str] = field(default_factory=dict)  # settings without effect there, and why
    cells: Mapping[str, str] = field(
        default_factory=dict
    )  # the key of the request that answers a cell, by the cell's text
    absent: Mapping[str, str] = field(default_factory=dict)  # why a cell was not asked, by its text
    axes: Mapping[str, Mapping[str, str]] = field(
        default_factory=dict
    )  # measure -> axis value in the text -> requested value


Looks = Literal["once", "rising", "any time"]
"""When paired rounds are judged: at their planned number, at looks with rising thresholds, after any round."""


@dataclass(frozen=True)
class Pair:
    """Link between two runs with paired rounds: the n-th requests of both are a couple."""

    partner: str  # id of the other run
    of: str  # id of the run that is measured again
    rounds: Count  # at most
    looks: Looks = "once"


@dataclass(frozen=True)
class ProvenSetting:
    """A setting of the MPI library: requested and set values, and the result of a probe before the run."""

    asked: str  # "eager-limit=65536"; "": what the environment sets
    variables: Mapping[str, str]
    read_back: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # spellings of each value that MPI_T shows
    proof: str = ""  # "effect", "read-back", "launch": the best that was seen here; "": no probe ran
    effect: str = ""  # what was seen, or why no probe ran
    caveat: str = ""  # what was observed is not what was requested


@dataclass(frozen=True)
class ImportedFile:
    """An output of another tool that an imported run was read from."""

    tool: str  # "IMB 2021.11"
    version: str  # the unmodified line of the file that states it
    file: str  # as it was named
    remarks: tuple[str, ...] = ()  # what of it was not read, and why
    lines: tuple[int, ...] = ()  # interpreted, irrelevant, unrecognised; empty: not accounted for
    unrecognised: tuple[str, ...] = ()  # the first of these lines, quoted


@dataclass(frozen=True)
class RunRequest:
    """What was asked, of which machine, in which surroundings."""

    who: str  # "run", "evaluate", "suite NAME", "study NAME", "import TOOL"
    title: str
    started: str  # ISO 8601 with offset
    machine: Machine
    environment: Mapping[str, str]
    requests: tuple[Request, ...]
    order: tuple[tuple[int, int], ...]  # (request, repeat); empty if launches are decided one by one
    seed: int = 0
    study: StudyRequest | None = None
    keys: Mapping[str, str] = field(default_factory=dict)  # of launches whose key was another: today's
    settings: tuple[ProvenSetting, ...] = ()
    pair: Pair | None = None
    screen: DeclaredScreen = field(default_factory=DeclaredScreen)
    imported: tuple[ImportedFile, ...] = ()  # not measured here, but read from these files
    benchmark: str = ""  # the command with a set of tests: "evaluate", "hpcc", "mpi"
    limits: tuple[StoredLimit, ...] = ()  # of earlier runs, for limits that the run does not measure

    @property
    def source(self) -> str:
        """Return the source of an imported run: `results of IMB 2021.11, read from a.txt, b.txt`; "" if measured."""
        tools, files = ([getattr(one, part) for one in self.imported] for part in ("tool", "file"))
        return f"results of {', '.join(dict.fromkeys(tools))}, read from {', '.join(files)}" if files else ""

    def decided_launches(self) -> tuple[Launch, ...]:
        """Return the planned launches in order."""
        return tuple(Launch(self.requests[number], repeat) for number, repeat in self.order)


class _ProvenSetting(Struct):
    asked: str
    variables: dict[str, str]
    read_back: dict[str, tuple[str, ...]] = {}
    proof: str = ""
    effect: str = ""
    doubt: str = ""


class _RunRequest(Struct):
    format: Literal[2]
    who: str
    title: str
    started: str
    machine: StoredMachine
    environment: dict[str, str]
    requests: list[Request] = msgspec.field(name="asks")
    order: list[tuple[Natural, Natural]]
    seed: Seed = 0
    study: StudyRequest | None = None
    settings: list[_ProvenSetting] = []
    pair: Pair | None = None
    screen: DeclaredScreen = DeclaredScreen()
    imported: list[ImportedFile] = []
    benchmark: str | None = None  # `None`: of a version that did not record it
    limits: Annotated[tuple[StoredLimit, ...], Meta(max_length=MAX_LIMITS)] = ()


class _Place(Struct):
    threads: Annotated[list[Annotated[list[Natural], Meta(min_length=1)]], Meta(min_length=1)]
    memory: list[Natural] = []


class _Start(Struct, tag_field="kind", tag="start"):
    launch: str
    repeat: Natural
    knobs: dict[str, str]
    shape: Shape
    words: list[str]
    environment: dict[str, str]
    mpi: dict[str, str]
    launcher: str
    places: list[_Place]
    timeout_s: Seconds
    expected_s: Seconds
    build: str = ""
    request: Request | None = msgspec.field(default=None, name="ask")


@dataclass(frozen=True)
class Repeats:
    """Number of launches per cell of programs: decided by their first launches, or requested."""

    repeats: Count
    round_s: Seconds = 0.0  # seconds of one launch of each cell; 0: the number was requested


class _Repeats(Struct, tag_field="kind", tag="repeats"):
    repeats: Count
    round_s: Seconds = 0.0


_ASKED = msgspec.json.Decoder(_RunRequest)
_DECIDED: msgspec.json.Decoder[_Start | _Repeats] = msgspec.json.Decoder(_Start | _Repeats)


def run_request_text(asked: RunRequest) -> str:
    """Return the text of asked.json."""
    members = {
        "format": FORMAT,
        "who": asked.who,
        "title": asked.title,
        "benchmark": asked.benchmark,
        "started": asked.started,
        "machine": codec.to_json(asked.machine),
        "environment": dict(asked.environment),
        "seed": asked.seed,
        "asks": list(map(_members, asked.requests)),
        "order": [],
        **({"study": _members(asked.study)} if asked.study else {}),
        **({"settings": list(map(_setting_members, asked.settings))} if asked.settings else {}),
        **({"pair": _members(asked.pair)} if asked.pair else {}),
        **({"screen": _members(asked.screen)} if asked.screen.tiles else {}),
        **({"imported": [_members(one) for one in asked.imported]} if asked.imported else {}),
        **({"limits": [_members(one) for one in asked.limits]} if asked.limits else {}),
    }
    order = json.dumps(asked.order, separators=(",", ":"))  # on one line: there may be thousands
    return json.dumps(members, indent=1).replace('\n "order": []', f'\n "order": {order}', 1)


def read_run_request(text: bytes) -> RunRequest:
    """Read a text of format 2.

    Raises:
        ValueError: a member is missing, of the wrong type or out of range; the message names it.
    """
    asked = _ASKED.decode(text)
    for start in (asked.started, *(one.measured for one in asked.limits)):
        check_start(start)
    requests = tuple(map(_current_request, asked.requests))
    for number, repeat in asked.order:
        if number >= len(requests) or repeat >= requests[number].repeats:
            raise ValueError(f"its order names launch {repeat} of request {number}, which does not exist")
    sizes = [cell_count(request.knobs) for request in requests]
    check_cells(sum(sizes) + sum(sizes[number] for number, _ in asked.order))
    renamed = {
        raw.key: request for request, raw in zip(requests, asked.requests, strict=True) if raw.key != request.key
    }
    found = RunRequest(
        asked.who, asked.title, asked.started, asked.machine.machine(), recorded(asked.environment), requests,
        tuple(asked.order), asked.seed, _study(asked.study, renamed) if asked.study else None,
        {f"{old}-{n}": f"{request.key}-{n}" for old, request in renamed.items() for n in range(request.repeats)},
        settings=tuple(ProvenSetting(*structs.astuple(one)) for one in asked.settings), pair=asked.pair,
        screen=_current_screen(asked.screen, requests), imported=tuple(asked.imported),
        benchmark=asked.benchmark or "", limits=asked.limits,
    )  # fmt: skip
    return of_earlier_version(found) if asked.benchmark is None else found


_COMMAND = re.compile(r"(?:[AB] again: )*(evaluate|hpcc|mpi)(?: |$)")
"""Titles of runs of these commands in versions up to 0.2, including repeated measurements."""


def of_earlier_version(asked: RunRequest) -> RunRequest:
    """Return the record of a version that stored neither the benchmark of a run nor the tests of its requests.

    Those versions gave a run the command as its title, and a request the name of its test. In an imported run, the
    title of a request was the name of the benchmark in the file, then the knobs that the file stated. This is the only
    place that derives anything from titles.
    """
    found = _COMMAND.match(asked.title)
    benchmark = found[1] if found and not asked.imported else ""
    if benchmark not in ("hpcc", "mpi") and not asked.imported:
        return replace(asked, benchmark=benchmark)
    titles = (
        request.show.title.partition(", ")[0] if asked.imported else request.show.title for request in asked.requests
    )
    requests = (
        replace(request, show=replace(request.show, test=test))
        for request, test in zip(asked.requests, titles, strict=True)
    )
    return replace(asked, benchmark=benchmark, requests=tuple(requests))


def check_start(text: str) -> None:
    """Check the start of a run.

    Raises:
        ValueError: no ISO 8601 with an offset, or not of our time.
    """
    started = datetime.fromisoformat(text)
    if started.tzinfo is None or not 1970 < started.year < 3000:
        raise ValueError(f"its start {text!r} is not a date with an offset from UTC")


def check_cells(count: int) -> None:
    """Check the number of requested cells: a few lists of values multiply.

    Raises:
        ValueError: more than anybody measures.
    """
    if count > MAX_CELLS:
        raise ValueError(f"it requests more than {MAX_CELLS} configurations")


def start_line(planned: Planned, was_asked: bool) -> str:
    """Return the line of plan.jsonl that is written before a launch starts.

    Args:
        was_asked: asked.json holds the launch's ask; else the line does.
    """
    launch = planned.launch
    return seal(
        {
            "format": FORMAT,
            "kind": "start",
            "launch": launch.key,
            "repeat": launch.repeat,
            "knobs": dict(launch.started_knobs),
            "shape": _members(launch.request.shape),
            "words": planned.words,
            "environment": dict(planned.environment),
            "mpi": dict(launch.request.mpi),
            "launcher": planned.launcher,
            "places": [
                {"threads": [sorted(mask) for mask in place.threads], "memory": place.memory}
                for place in planned.places
            ],
            "timeout_s": planned.timeout_s,
            "expected_s": planned.expected_s,
            "build": planned.build,
            **({} if was_asked else {"ask": _members(launch.request)}),
        }
    )


def repeats_line(decided: Repeats) -> str:
    """Return the line of plan.jsonl that is written when the number of launches of programs is decided."""
    return seal({"format": FORMAT, "kind": "repeats", "repeats": decided.repeats, "round_s": decided.round_s})


def read_decided(line: bytes, requests: Mapping[str, Request], keys: Mapping[str, str]) -> Planned | Repeats:
    """Read a line of plan.jsonl.

    Args:
        requests: the known requests, by key.
        keys: of launches whose key was another: today's.

    Raises:
        RecordError: torn, damaged, or a member is missing, of the wrong kind or out of range.
    """
    body = unseal(line)
    try:
        start = _DECIDED.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RecordError(f"a field is missing or wrong ({error})") from error
    if isinstance(start, _Repeats):
        return Repeats(start.repeats, start.round_s)
    key = keys.get(start.launch, start.launch)
    request = _current_request(start.request) if start.request else requests.get(key.rpartition("-")[0])
    if request is None or Launch(request, start.repeat).key != key:
        raise RecordError(f"the launch {start.launch} was not requested")
    places = tuple(
        RankPlacement.of_threads(rank, place.threads, tuple(place.memory)) for rank, place in enumerate(start.places)
    )
    return Planned(
        Launch(request, start.repeat, _current_knobs(request.subject, start.knobs)), tuple(start.words),
        start.environment, start.launcher, places, start.expected_s, start.timeout_s, start.build,
    )  # fmt: skip


def _members(value: object) -> dict[str, Any]:
    """Return the fields of a dataclass or struct whose values JSON can represent."""
    members: dict[str, Any] = msgspec.to_builtins(value)
    return members


def _setting_members(setting: ProvenSetting) -> dict[str, Any]:
    members = _members(setting)
    return {**{name: value for name, value in members.items() if name != "caveat"}, "doubt": setting.caveat}


def _study(study: StudyRequest, renamed: Mapping[str, Request]) -> StudyRequest:
    cells = {text: renamed[key].key if key in renamed else key for text, key in study.cells.items()}
    return replace(study, cells=cells)


def _current_request(request: Request) -> Request:
    """Return the request under current names."""
    if bool(request.subject.workload) == bool(request.subject.command):
        raise ValueError("a request names either a workload or a command line")
    subject = replace(request.subject, workload=current_workload(request.subject.workload))
    return replace(request, subject=subject, knobs=_current_knobs(subject, request.knobs))


def _current_knobs(subject: Subject, knobs: Mapping[str, str]) -> Mapping[str, str]:
    """Return knobs under current names; those of a program are the user's."""
    return knobs if subject.command else current_knobs(subject.workload, knobs)


def _current_screen(screen: DeclaredScreen, requests: Sequence[Request]) -> DeclaredScreen:
    """Return the first screen with current names of the knobs and metrics of its figures."""
    workloads = {request.show.title: request.subject.workload for request in requests if request.subject.workload}

    def figure(one: NamedFigure | None) -> NamedFigure | None:
        return current(one) if one else None

    def current(one: NamedFigure) -> NamedFigure:
        name = workloads.get(one.title, "")
        return replace(one, knobs=current_knobs(name, one.knobs), metric=current_metric(name, one.metric))

    return replace(
        screen,
        tiles=tuple(
            replace(
                one,
                figures=tuple(map(current, one.figures)),
                compared=one.compared
                and replace(one.compared, value=figure(one.compared.value), against=figure(one.compared.against)),
                also=tuple(replace(further, figure=figure(further.figure)) for further in one.also),
            )
            for one in screen.tiles
        ),
    )
