"""What to do with the result of a study: a setting with its commands, more launches, another machine, or nothing."""

import contextlib
import shlex
from collections.abc import Iterator
from typing import Any

from octant import facts, units
from octant.advice.findings import RunFinding
from octant.advice.findings._program_lines import program_line
from octant.analysis.causes import causes_of_points
from octant.analysis.clusters import clusters, groups_text
from octant.failure import Refusal
from octant.placement import set_text
from octant.placement.nonempty import NonEmptySet
from octant.placement.request import PAGE_BYTES
from octant.report.study.answer import Adopted, Gain, adopted_settings, baseline_text, best_of_all, costs, middle
from octant.report.study.rows import is_invalid
from octant.report.tables.layout import fill
from octant.request import Request
from octant.runs.programs.command_text import resume_line, shape_words
from octant.runs.programs.options import option_words
from octant.runs.programs.permissions import Permission, permissions, quoted
from octant.stats.paired import LEAST_ROUNDS
from octant.stats.verdicts import MARGIN, percent
from octant.study import file
from octant.study.outcome import Outcome
from octant.study.parts import Cell
from octant.study.ratios import factor_text
from octant.study.values import Place
from octant.study.verdict import FindingVerdict

MAX_LAUNCHES = 60
"""Launches of each configuration that are proposed at once."""
MAX_ADOPTED = 3
"""Settings that are proposed, in the order of `adopted_settings`."""
NOTHING_OPEN = "No setting needs a change, and every finding has its verdict."
LOST = ("lost time", "stolen time")
"""Kinds of caveat that a quiet machine removes."""
_PAGES = {"thp": "thp", **{units.bytes_text(size).replace(" ", ""): word for word, size in PAGE_BYTES.items()}}


def steps(outcome: Outcome) -> tuple[RunFinding, ...]:
    """Return what to do with the result, the most urgent first; never empty."""
    found = [*_spoiled(outcome), *_adopt(outcome), *smallest_groups(outcome), *_keep(outcome), *_model_steps(outcome)]
    found += [*_quiet_machine(outcome), *_more_launches(outcome), *_waiting(outcome)]
    return tuple(found) or (RunFinding("nothing", "Nothing more to do here", NOTHING_OPEN, ()),)


def _step(rule: str, part: str, lines: tuple[str, ...], effect: float = 0.0, **values: Any) -> RunFinding:
    """Return a step whose title and text are the lines of a part of the template."""
    title, _, body = fill("study/steps", part, **values).partition("\n")
    return RunFinding(rule, title, " ".join(body.split("\n")), lines, gain=effect)


def _spoiled(outcome: Outcome) -> Iterator[RunFinding]:
    if wrong := outcome.values.wrong:
        yield _step("wrong result", "wrong", ("octant doctor",), number=len(wrong), first=wrong[0])
    if outcome.run is not None and not outcome.run.complete:
        yield _step("incomplete", "incomplete", (resume_line(outcome.run),), left=len(outcome.run.remaining()))


def _adopt(outcome: Outcome) -> Iterator[RunFinding]:
    """Return a step for each setting that is better for some measure, with its effect on the others."""
    settings: dict[tuple[str, ...], list[Adopted]] = {}
    for one in adopted_settings(outcome):
        settings.setdefault(one.place[0].levels, []).append(one)
    for levels, (first, *more) in list(settings.items())[:MAX_ADOPTED]:
        lost, gain = costs(outcome, levels), Gain.of(outcome, first.place)
        others = [*(Gain.of(outcome, one.place) for one in more), *lost[1:]]
        axis = outcome.study.measures[first.place[0].measure].axis
        better = [axis.label(at) for at in first.everywhere] if axis else []
        rest = axis.values[axis.values.index(first.everywhere[0]) :] if axis else ()
        yield _step(
            "adopt", "adopt", lines_for(outcome, first.place), gain.middle, gain=gain, lost=lost, axis=better,
            interval=outcome.baseline_verdicts[first.place].speed, others=others,
            first=better[0] if rest == first.everywhere and len(better) > 1 else "",
        )  # fmt: skip


def smallest_groups(outcome: Outcome) -> Iterator[RunFinding]:
    """Return the smallest groups of hardware threads that the first measure of pairs shows; nothing without groups."""
    topology = outcome.values.topology
    values = (one for by_place in outcome.values.by_cell.values() for one in by_place.values())
    found = next((one for one in values if one.pairs and not is_invalid(one)), None)
    here = clusters(found.pairs, topology) if found and topology else None
    if here is None or not here.complete or not here.found:
        return
    first = here.found[0]
    cpus: frozenset[int] = max(first.groups, key=len)
    line = f"octant bind --place {set_text(NonEmptySet(cpus, 'hardware threads of a group'))}"
    yield _step(
        "near", "near", (line,), number=len(first.groups),
        what=here.names(first.groups) or "groups that the system does not report", groups=groups_text(first.groups),
        within=first.within, between=first.between,
    )  # fmt: skip


def _keep(outcome: Outcome) -> Iterator[RunFinding]:
    """Return that nothing has to change, if all measured settings are shown to be equivalent or worse."""
    words = {verdict.word for verdict in outcome.baseline_verdicts.values()}
    absent, base = len({cell.levels for cell in outcome.values.absent}), baseline_text(outcome)
    if words == {"equivalent"}:
        others = len({cell.levels for cell, _ in outcome.baseline_verdicts})
        yield _step("same", "same", (), others=others, base=base, margin=percent(MARGIN), absent=absent)
    elif words and words <= {"slower", "equivalent"}:
        worst = min(outcome.baseline_verdicts, key=lambda one: middle(outcome.baseline_verdicts[one]))
        yield _step("keep", "keep", (), base=base, worst=Gain.of(outcome, worst), absent=absent)


def _more_launches(outcome: Outcome) -> Iterator[RunFinding]:
    if outcome.run is None:
        return
    have = outcome.repeats
    undecided = [one for one in outcome.verdicts if one.status == "undecided"]
    unclear = [one for one in outcome.baseline_verdicts.values() if one.needed]
    if not undecided and (not unclear or adopted_settings(outcome)):
        return
    needed = [one.more_launches for one in undecided if one.more_launches]
    needed = needed if undecided else [max(1, (one.needed or 0) - have) for one in unclear]
    target = have + max(needed, default=have)
    repeats = min(target, max(MAX_LAUNCHES, 2 * have))
    lines = (f"{_run_line(outcome)} --repeats {repeats}",)
    known = target if needed else 0
    yield _step("launches", "launches", lines, open=len(undecided), needed=known, repeats=repeats)


def _quiet_machine(outcome: Outcome) -> Iterator[RunFinding]:
    """Return one step for all findings whose launches lost more than half of their time."""
    spoiled = [one for one in outcome.verdicts if one.caveat in LOST]
    lost = causes_of_points(outcome.run.points) if outcome.run else None
    if not spoiled or outcome.run is None or lost is None:
        return
    others = percent(lost.other_processes) if lost.other_processes >= lost.lost / 2 else ""
    repeats = max(outcome.repeats, outcome.study.repeats, LEAST_ROUNDS)
    lines = ("octant doctor", f"{_run_line(outcome)} --repeats {repeats}")
    yield _step("lost time", "quiet", lines, others=others, lost=percent(lost.lost), findings=len(spoiled))


def _waiting(outcome: Outcome) -> Iterator[RunFinding]:
    """Return the findings that cannot be tested here, with the machine that they need, or the reason."""
    for reason, (machine, untested) in waiting(outcome).items():
        findings = len({one.finding.id for one in untested})
        if untested[0].caveat in LOST:
            continue
        if machine:
            line = f"{_run_line(outcome)}  # there"
            yield _step("machine", "elsewhere", (line,), machine=machine, findings=findings, reason=reason)
        else:
            line = f"octant study show {_word(outcome)}"
            yield _step("untestable", "untestable", (line,), findings=findings, reason=reason)


def waiting(outcome: Outcome) -> dict[str, tuple[str, list[FindingVerdict]]]:
    """Return the findings that cannot be tested here by reason, with the machine that they need (`""`: not known)."""
    found: dict[tuple[str, str], tuple[str, list[FindingVerdict]]] = {}  # caveats by kind, as their texts have figures
    for test, verdict in zip(outcome.study.findings, outcome.verdicts, strict=True):
        if verdict.status == "cannot be tested here":
            needs = [need for need in test.needs if outcome.run and facts.missing(need, outcome.run.machine)]
            key = (verdict.caveat, "" if verdict.caveat else verdict.why)
            found.setdefault(key, (facts.wanted(needs[0]) if needs else "", []))[1].append(verdict)
    return {
        why or (those[0].why if len(those) == 1 else kind): (machine, those)
        for (kind, why), (machine, those) in found.items()
    }


def _model_steps(outcome: Outcome) -> Iterator[RunFinding]:
    if outcome.run is not None:
        return
    best, study = best_of_all(outcome), outcome.study
    if best and not study.is_scaled(best[0][0].levels) and best[1].low > 1 + MARGIN and study.picture != "years":
        gain, base = Gain.of(outcome, best[0], best[1].middle), baseline_text(outcome)
        yield _step("model", "model", (), gain=gain, factor=factor_text(best[1]), base=base)
    for status, rule in (("does not hold", "model misses"), ("undecided", "model bounds")):
        if those := [one for one in outcome.verdicts if one.status == status]:
            lines = (f"octant catalogue findings {those[0].finding.id}",) if those[0].finding.document else ()
            undecided, why = status == "undecided", those[0].why
            yield _step(rule, "misses", lines, number=len(those), undecided=undecided, why=why)


def lines_for(outcome: Outcome, place: Place) -> tuple[str, ...]:
    """Return the commands that apply a setting to a program of the user, and that measure it again."""
    request = _request_of(outcome, place[0])
    if request is None:
        return ()
    variables = " ".join(f"{name}={shlex.quote(value)}" for name, value in sorted(request.mpi.items()))
    own = [f"export {variables}"] if variables else []
    own += _place_line(outcome, request)
    knobs = {name: value for name, value in request.knobs.items() if name != "threads" or not request.shape.place}
    axis = outcome.study.measures[place[0].measure].axis
    if axis and place[1]:
        knobs[axis.knob] = place[1]
    if request.subject.command:
        return (*own, *program_line(request, knobs))
    words = ["octant", "run", request.subject.workload, *(f"{name}={value}" for name, value in knobs.items())]
    words += [*shape_words(request), *option_words("--link", [request.shape.link] if request.shape.link else [])]
    words += option_words("--mpi", [f"{name}={value}" for name, value in sorted(request.mpi.items())])
    return (*own, shlex.join(words))


def _place_line(outcome: Outcome, request: Request) -> list[str]:
    """Return the command that prints placement, memory and pages for a launcher; empty if nothing is placed."""
    pages, memory = _PAGES.get(request.knobs.get("pages", ""), ""), request.knobs.get("memory", "")
    shape = request.shape.place or (f"{request.shape.ranks}x{request.knobs.get('threads', '1')}" if pages else "")
    if not shape or request.knobs.get("pin") == "none":
        return []
    parts = [shape, f"memory={memory}" * (memory in ("local", "interleave")), f"pages={pages}" * bool(pages)]
    library = next((point.process.mpi for point in (outcome.run.points if outcome.run else ())), "")
    launcher = "openmpi" if library.startswith("Open MPI") else "mpich"
    return [f"octant place --place {shlex.quote(','.join(filter(None, parts)))} --for {launcher}"]


def _request_of(outcome: Outcome, cell: Cell) -> Request | None:
    if outcome.run is None:
        return None
    owner = outcome.values.same.get(cell, cell)
    of_key = (
        request
        for request in outcome.run.requests
        if request.subject.command and request.key == outcome.requested_cells.requests.get(owner)
    )
    return next((request for request in outcome.run.requests if request.show.title == str(owner)), next(of_key, None))


def _run_line(outcome: Outcome) -> str:
    """Return the command that runs the study, with the permissions that it needs."""
    words: tuple[Permission, ...] = ()
    with contextlib.suppress(Refusal):  # its launcher cannot be recognised here
        words = permissions(outcome.run.requests) if outcome.run else ()
    return " ".join(["octant study run", _word(outcome), *(f"--allow {quoted(one.word)}" for one in words)])


def _word(outcome: Outcome) -> str:
    """Return the study as an argument of the command: its name, or its file."""
    return outcome.name if outcome.name in file.names() else shlex.quote(f"{outcome.name}.toml")
