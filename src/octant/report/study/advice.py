"""What to do with the result of a study: the setting to take with its lines, launches, a machine, or nothing."""

from __future__ import annotations

import contextlib
import shlex
from typing import TYPE_CHECKING

from octant import facts, units
from octant.advice.findings import RunFinding
from octant.advice.findings._program_lines import program_line
from octant.analysis.causes import causes_of_points
from octant.failure import Refusal
from octant.placement.request import PAGE_BYTES
from octant.report.study.answer import (
    adopted_settings,
    baseline,
    best_of_all,
    costs,
    middle,
    of_measure,
    ratio,
    setting,
    times,
)
from octant.report.study.smallest_groups import smallest_groups
from octant.runs.programs.allowed import permissions, quoted
from octant.runs.programs.typed import resume_line
from octant.stats.paired import LEAST_ROUNDS
from octant.stats.verdicts import MARGIN, percent
from octant.study import file
from octant.study.ratios import factor_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from octant.report.study.answer import Adopted
    from octant.request import Request
    from octant.runs.programs.allowed import Permission
    from octant.study.outcome import Outcome
    from octant.study.parts import Cell
    from octant.study.values import Place
    from octant.study.verdict import FindingVerdict

MOST_LAUNCHES = 60
"""Launches of each combination that are proposed at once."""
MOST_ADOPTED = 3
"""Settings that are proposed, in the order of `adopted_settings`."""
NOTHING_OPEN = "No setting asks for a change, and every finding has its verdict."
LOST = ("lost time", "stolen time")
"""Kinds of caveat that a quiet machine takes away."""
_PAGES = {"thp": "thp", **{units.bytes_text(size).replace(" ", ""): word for word, size in PAGE_BYTES.items()}}


def steps(outcome: Outcome) -> tuple[RunFinding, ...]:
    """What to do with the result, the most urgent first; never empty."""
    found = [*_spoiled(outcome), *_adopt(outcome), *smallest_groups(outcome), *_keep(outcome), *_model_steps(outcome)]
    found += [*_quiet_machine(outcome), *_more_launches(outcome), *_waiting(outcome)]
    return tuple(found) or (RunFinding("nothing", "Nothing more to do here", NOTHING_OPEN, ()),)


def _spoiled(outcome: Outcome) -> Iterator[RunFinding]:
    if outcome.values.wrong:
        title = f"{units.counted(len(outcome.values.wrong), 'wrong answer')}: what they are of has no speed"
        yield RunFinding("wrong answer", title, outcome.values.wrong[0], ("octant doctor",))
    if outcome.run is not None and not outcome.run.complete:
        left = units.counted(len(outcome.run.remaining()), "launch")
        yield RunFinding("incomplete", "Finish the run", f"{left} left.", (resume_line(outcome.run),))


def _adopt(outcome: Outcome) -> Iterator[RunFinding]:
    """A step for each setting that is better for some measure, with what it does elsewhere."""
    settings: dict[tuple[str, ...], list[Adopted]] = {}
    for one in adopted_settings(outcome):
        settings.setdefault(one.place[0].levels, []).append(one)
    for levels, gained in list(settings.items())[:MOST_ADOPTED]:
        first, speed = gained[0], gained[0].told.speed
        lost = [
            f"{ratio(outcome.baseline_verdicts[place])}{of_measure(outcome, place)}" for place in costs(outcome, levels)
        ]
        gain = f"{setting(outcome, first.place)}: {ratio(first.told)} here{of_measure(outcome, first.place)}"
        title = f"{units.capital(gain)}, but {lost[0]}" if lost else f"Use {gain}"
        others = [f"{ratio(one.told)}{of_measure(outcome, one.place)}" for one in gained[1:]] + lost[1:]
        evidence = f"{speed.low:.2f} … {speed.high:.2f}: {speed.text}" if speed else ""
        body = f"{evidence}{_where(outcome, first)}." + (f" Also {', '.join(others)}." if others else "")
        yield RunFinding("adopt", title, body, lines_for(outcome, first.place), gain=middle(first.told))


def _where(outcome: Outcome, one: Adopted) -> str:
    """`; better from 16 MiB on`, where the measure has an axis."""
    axis = outcome.study.measures[one.place[0].measure].axis
    if axis is None:
        return ""
    first = axis.values.index(one.everywhere[0])
    if axis.values[first:] == one.everywhere and len(one.everywhere) > 1:
        return f"; better from {axis.label(one.everywhere[0])} on"
    return f"; better at {', '.join(map(axis.label, one.everywhere))}"


def _keep(outcome: Outcome) -> Iterator[RunFinding]:
    """Nothing to change: only where all that was measured is shown to be the same within the margin, or to be worse."""
    words = {told.word for told in outcome.baseline_verdicts.values()}
    absent = len({cell.levels for cell in outcome.values.absent})
    scope = f" {units.counted(absent, 'setting')} could not be measured." if absent else ""
    if words == {"same"}:
        others = units.counted(len({cell.levels for cell, _ in outcome.baseline_verdicts}), "other setting")
        body = f"{others} measured, the same as {baseline(outcome)} within {percent(MARGIN)}.{scope}"
        yield RunFinding("same", "Change nothing", body, ())
    elif words and words <= {"slower", "same"}:
        place, told = min(outcome.baseline_verdicts.items(), key=lambda one: middle(one[1]))
        worst = f"{setting(outcome, place)} is {ratio(told)}{of_measure(outcome, place)}"
        yield RunFinding("keep", f"Keep {baseline(outcome)}", f"Nothing is better, and {worst}.{scope}", ())


def _more_launches(outcome: Outcome) -> Iterator[RunFinding]:
    run = outcome.run
    if run is None:
        return
    have = outcome.repeats
    open_ones = [one for one in outcome.verdicts if one.status == "undecided"]
    unclear = [told for told in outcome.baseline_verdicts.values() if told.needed]
    if open_ones:
        title = f"{units.counted(len(open_ones), 'verdict')} need{'s' * (len(open_ones) == 1)} more launches"
        needed = [one.more_launches for one in open_ones if one.more_launches]
    elif unclear and not adopted_settings(outcome):
        title = "More launches would tell the settings apart"
        needed = [max(1, (told.needed or 0) - have) for told in unclear]
    else:
        return
    far = have + max(needed, default=have)
    body = f"About {far} of each combination on this machine, or a quiet one."
    repeats = min(far, max(MOST_LAUNCHES, 2 * have))
    body += f" The line measures {repeats}, the most that are proposed at once." if repeats < far else ""
    body = body if needed else "How many is not known: their intervals lie about the bar."
    yield RunFinding("launches", title, body, (f"{_run_line(outcome)} --repeats {repeats}",))


def _quiet_machine(outcome: Outcome) -> Iterator[RunFinding]:
    """What lost over half of its time: one step for all findings that rest on it."""
    spoiled = [one for one in outcome.verdicts if one.caveat in LOST]
    lost = causes_of_points(outcome.run.points) if outcome.run else None
    if not spoiled or outcome.run is None or lost is None:
        return
    by_others = lost.other_processes >= lost.lost / 2
    took, was = (
        f"Other work took {percent(lost.other_processes)} of the time",
        f"{percent(lost.lost)} of the time was lost",
    )
    wait = f"{units.counted(len(spoiled), 'finding')} wait{'s' * (len(spoiled) == 1)}"
    title = f"{took if by_others else was}: {wait} for a quiet machine"
    body = "They rest" if len(spoiled) > 1 else "It rests"
    body += " on launches that lost over half of their time. Find what takes it, then measure again."
    repeats = max(outcome.repeats, outcome.study.repeats, LEAST_ROUNDS)
    lines = ("octant doctor", f"{_run_line(outcome)} --repeats {repeats}")
    yield RunFinding("lost time", title, body, lines)


def _waiting(outcome: Outcome) -> Iterator[RunFinding]:
    """Findings that cannot be tested here: the machine to carry them to, or the reason."""
    for reason, (machine, wanting) in waiting(outcome).items():
        if wanting[0].caveat in LOST:
            continue
        findings = {one.finding.id for one in wanting}
        count = units.counted(len(findings), "finding")
        if machine:
            body = f"{count} wait{'s' * (len(findings) == 1)} for it: {reason}."
            line = f"{_run_line(outcome)}  # there"
            yield RunFinding("machine", f"Carry the question to {machine}", body, (line,))
        else:
            line = f"octant study show {_word(outcome)}"
            yield RunFinding("untestable", f"{count} cannot be tested here", f"{units.capital(reason)}.", (line,))


def waiting(outcome: Outcome) -> dict[str, tuple[str, list[FindingVerdict]]]:
    """The findings that cannot be tested here, by their reason, with the machine that they need (`""`: not known)."""
    found: dict[
        tuple[str, str], tuple[str, list[FindingVerdict]]
    ] = {}  # caveats fold by their kind: texts have figures
    for asked, verdict in zip(outcome.study.findings, outcome.verdicts, strict=True):
        if verdict.status == "cannot be tested here":
            needs = [need for need in asked.needs if outcome.run and facts.missing(need, outcome.run.machine)]
            key = (verdict.caveat, "" if verdict.caveat else verdict.why)
            found.setdefault(key, (facts.wanted(needs[0]) if needs else "", []))[1].append(verdict)
    return {
        why or (those[0].why if len(those) == 1 else kind): (machine, those)
        for (kind, why), (machine, those) in found.items()
    }


def _model_steps(outcome: Outcome) -> Iterator[RunFinding]:
    if outcome.run is not None:
        return
    best = best_of_all(outcome)
    if (
        best
        and not outcome.study.is_scaled(best[0][0].levels)
        and best[1].low > 1 + MARGIN
        and outcome.study.picture != "years"
    ):
        name, gained = units.capital(setting(outcome, best[0])), f"{factor_text(best[1])} over {baseline(outcome)}"
        title = f"{name}: {times(best[1].middle)} in the model{of_measure(outcome, best[0])}"
        yield RunFinding("model", title, f"{gained}. It is a model's word: measure it where such a machine stands.", ())
    for status, rule, verb, begin in (
        ("does not hold", "model misses", "hold in the model", ""),
        ("undecided", "model bounds", "decided by the model's bounds", "No launches change that: "),
    ):
        those = [one for one in outcome.verdicts if one.status == status]
        if those:
            several = len(those) > 1
            auxiliary = ("do" if several else "does") if rule == "model misses" else ("are" if several else "is")
            title = f"{units.counted(len(those), 'finding')} {auxiliary} not {verb}"
            lines = (f"octant catalogue findings {those[0].finding.id}",) if those[0].finding.document else ()
            yield RunFinding(rule, title, f"{begin}{those[0].why}.", lines)


def lines_for(outcome: Outcome, place: Place) -> tuple[str, ...]:
    """The lines that apply a setting: to a program of the user's where it is a placement or a variable, and here."""
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
    words = ["octant run", request.subject.workload, *(shlex.quote(f"{name}={value}") for name, value in knobs.items())]
    if request.shape.place:
        words.append(f"--place {shlex.quote(request.shape.place)}")
    elif request.shape.ranks > 1:
        words.append(f"--ranks {request.shape.ranks}")
    words += [f"--link {shlex.quote(request.shape.link)}"] if request.shape.link else []
    words += [f"--mpi {shlex.quote(f'{name}={value}')}" for name, value in sorted(request.mpi.items())]
    return (*own, " ".join(words))


def _place_line(outcome: Outcome, request: Request) -> list[str]:
    """The line that writes placement, memory and pages in a launcher's words; none where nothing is placed."""
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
        if request.subject.command and request.key == outcome.asked.requests.get(owner)
    )
    return next((request for request in outcome.run.requests if request.show.title == str(owner)), next(of_key, None))


def _run_line(outcome: Outcome) -> str:
    """The command that runs the study, with what it has to be allowed; nothing that the store names is started."""
    words: tuple[Permission, ...] = ()
    with contextlib.suppress(Refusal):  # its launcher cannot be recognised here
        words = permissions(outcome.run.requests) if outcome.run else ()
    return " ".join(["octant study run", _word(outcome), *(f"--allow {quoted(one.word)}" for one in words)])


def _word(outcome: Outcome) -> str:
    """The study as a word of the command: its name, or its file's."""
    return outcome.name if outcome.name in file.names() else shlex.quote(f"{outcome.name}.toml")
