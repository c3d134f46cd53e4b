"""Plan of a study on a machine: the requests, and a random order that is recorded."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from octant import facts
from octant.failure import Refusal
from octant.machine import Machine
from octant.placement import planner
from octant.placement.expressions import LOCATION, parse_place
from octant.placement.request import parse_request
from octant.program import ProgramProfile
from octant.request import Presentation, Request, Shape, Subject
from octant.runs.programs import file_requests, placeholders
from octant.runs.rounds import drawn_order
from octant.study.cells import combinations
from octant.study.file import StudyError
from octant.study.measures import subject_of
from octant.study.parts import Cell, Level, Measure, place_text
from octant.study.question import Study


@dataclass(frozen=True)
class MpiInUse:
    """The MPI library in use, and settings of a study without effect there, with the reason."""

    name: str = ""  # "mpich", "openmpi", "intelmpi"
    lacking: Mapping[str, str] = field(default_factory=dict)


NO_LIBRARY = MpiInUse()
CROWD = 16  # threads per hardware thread above which a count is considered a mistake


@dataclass(frozen=True)
class Design:
    """Plan of a study on a machine."""

    requests: tuple[Request, ...]
    order: tuple[tuple[int, int], ...]  # (request, repeat) of each launch, in launch order
    questions: Mapping[Cell, str]  # which request, by its key, answers a cell
    absent: Mapping[Cell, str]  # cells that are not available, and why
    refused: tuple[Request, ...]  # requests of absent cells, for the records


def design(
    study: Study,
    machine: Machine,
    seed: int,
    library: MpiInUse = NO_LIBRARY,
    explain_missing_link: Callable[[str], str] = lambda _link: "",
    why_no_memory: Callable[[Request, Machine], str] = lambda _request, _machine: "",
    allowed: Collection[str] = (),
) -> Design:
    """Plan a study: each round has every combination once, in random order, so that drift affects all equally.

    The result depends only on the arguments. Runs of format 1, which stored no cells, are read in this way.

    Args:
        seed: of the order.
        library: the MPI library in use.
        why_no_link: returns why an emulated link is not available; "" if it is.
        why_no_memory: returns why no cell of a request fits into memory (`runs.cell_costs.explain_no_fit`), else "".
        allowed: programs of the file that the user allows (`runs.programs.permissions`).

    Raises:
        StudyError: ranks or threads that are not a count, or a knob whose expression has no value on this machine.
    """
    asked: dict[Cell, Request] = {}
    absent: dict[Cell, str] = {}
    known = facts.numbers(machine)
    for levels in combinations(study):
        chosen = [study.factors[factor][level] for factor, level in zip(study.factors, levels, strict=True)]
        needs = [*study.needs, *(need for level in chosen for need in level.needs)]
        reasons = [why for need in needs if (why := facts.missing(need, machine))]
        reasons += [why for level in chosen if (why := _without(level, library))]
        for name, measure in study.measures.items():
            cell = Cell(name, levels)
            crowd, why = _crowd(measure, chosen, known, str(cell))
            try:
                request = _request(study, measure, cell, {**known, **crowd}, library)
                asked[cell] = _located(request, machine)
                if measure.command:
                    states_ranks = measure.ranks != "1" or any(level.ranks is not None for level in chosen)
                    asked[cell] = file_requests.with_program_name(asked[cell], states_ranks, allowed)
            except ValueError as error:
                raise StudyError(f"cannot plan {cell} ({error}); try 4*llc/ranks") from error
            except Refusal as refusal:  # launcher or program not available
                why = why or str(refusal)
            why = reasons[0] if reasons else why or _does_not_fit(asked[cell], machine, explain_missing_link)
            why = why or why_no_memory(asked[cell], machine)
            if why:
                absent[cell] = why
    possible: dict[str, Request] = {}  # two cells may have the same request here: it is asked once
    for cell, request in asked.items():
        if cell not in absent:
            possible[request.key] = file_requests.merge_requests(possible.get(request.key, request), request)
    firsts = {request.key for cell, request in asked.items() if cell.levels == study.full({})}
    return Design(
        _with_baseline_first(possible.values(), firsts),
        drawn_order([study.repeats] * len(possible), seed),
        {cell: request.key for cell, request in asked.items() if cell not in absent},
        absent,
        tuple(asked[cell] for cell in absent),
    )


def _with_baseline_first(requests: Iterable[Request], baselines: Collection[str]) -> tuple[Request, ...]:
    """Return the requests, those of baselines first if a check needs a baseline (`programs.reference`)."""
    requests = tuple(requests)
    if not any(check.needs_baseline for request in requests for check in request.subject.checks):
        return requests
    return tuple(sorted(requests, key=lambda request: request.key not in baselines))


def mpi_settings(study: Study, library: str) -> dict[str, str]:
    """Return the settings of this MPI library that a study changes, with one value each."""
    levels = [level for factor in study.factors.values() for level in factor.values()]
    return {name: value for level in levels for name, value in _own(level, library).items()}


def _own(level: Level, library: str) -> Mapping[str, str]:
    return {str(name): own for name, own in level.mpi.items()}.get(library, {})


def _without(level: Level, library: MpiInUse) -> str:
    if level.mpi and not _own(level, library.name):
        return f"no equivalent setting of {library.name or 'the MPI library in use'} is known"
    return next((library.lacking[name] for name in _own(level, library.name) if name in library.lacking), "")


def _does_not_fit(request: Request, machine: Machine, explain_missing_link: Callable[[str], str]) -> str:
    if request.shape.link and (why := explain_missing_link(request.shape.link)):
        return why
    if not request.shape.place:
        return ""
    try:
        planner.plan(machine.topology, parse_request(request.shape.place), machine.page_sizes)
    except planner.DoesNotFitError as reason:
        return str(reason)
    except ValueError:  # a location that there is not
        return f"this machine has no {request.shape.place}"
    return ""


def _located(request: Request, machine: Machine) -> Request:
    """Return the request with the hardware threads of a location in its placement (`numa:1.core:0`)."""
    if not LOCATION.fullmatch(request.shape.place):
        return request
    try:
        place = str(parse_place(request.shape.place, machine.topology))
    except ValueError:
        return request
    return replace(request, shape=replace(request.shape, place=place))


def _crowd(measure: Measure, levels: list[Level], known: Mapping[str, int], title: str) -> tuple[dict[str, int], str]:
    """Return ranks, threads per rank and threads per core of a launch, or why it is not possible."""
    counts: dict[str, int] = {}
    for name, texts in (
        ("ranks", [measure.ranks, *(level.ranks for level in levels)]),
        ("threads", [measure.threads, *(level.threads for level in levels)]),
    ):
        text = _last(texts)
        try:
            counts[name] = facts.count(text, {**known, **counts})
        except ValueError as error:
            why = f"{name} = {text!r}: {error}"
            raise StudyError(f"cannot plan {title} ({why}); try 2, cores or 2*cores") from error
        if counts[name] == 0:
            return {"ranks": 1, "threads": 1, "fill": 1}, f"the number of {name} is 0 ({text} on this machine)"
    ranks, threads, cpus = counts["ranks"], counts["threads"], known["hwthreads"]
    too_many = f"{ranks} ranks of {threads} thread{'s' * (threads > 1)} on {cpus} hardware threads are too many"
    if ranks < measure.least_ranks:
        return {**counts, "fill": 1}, f"needs at least {measure.least_ranks} ranks"
    counts["fill"] = max(1, ranks * threads // known["cores"])
    return counts, too_many if ranks * threads > CROWD * cpus else ""


def _request(study: Study, measure: Measure, cell: Cell, known: Mapping[str, int], library: MpiInUse) -> Request:
    named = study.named_levels(cell)
    levels = [study.factors[factor][level] for factor, level in named.items()]
    written = {**study.knobs, **measure.knobs}
    for level in levels:
        written |= {**level.knobs, **level.measures.get(cell.measure, {})}
    if measure.axis:
        written[measure.axis.knob] = ",".join(measure.axis.values)
    knobs = {name: ",".join(facts.value(part, known) for part in text.split(",")) for name, text in written.items()}
    if known["threads"] > 1 or (measure.command and "threads" in placeholders.placeholder_names(measure.subject)):
        knobs["threads"] = str(known["threads"])
    mpi = {name: value for level in levels for name, value in _own(level, library.name).items()}
    place = place_text(_last(["", *(level.place for level in levels if level.place)]), known)
    link = _last([measure.link, *(level.link for level in levels)])
    shape = Shape(known["ranks"], place, link=link)
    subject = subject_of(measure, named) if measure.command else Subject(measure.workload)
    profiles = [level.profile for level in levels if level.profile is not None]
    if profiles and measure.command:
        subject = replace(subject, profile=ProgramProfile() if profiles[-1] else None)
    return Request(subject, knobs, shape, mpi, Presentation(str(cell)), study.repeats)


def _last(texts: list[str | None]) -> str:
    return [text for text in texts if text is not None][-1]
