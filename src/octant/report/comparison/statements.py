"""What a comparison says and in which order, as data: its page and its text only write it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from octant.advice.findings import RunFinding
from octant.analysis.causes import LOST_LITTLE, grade_of_share_lost, share_lost
from octant.analysis.conditions import shape_text
from octant.analysis.names import short_name
from octant.report.charts.bars.ratios import RatioRow, ratios
from octant.report.claims import claims, grade_of_verdicts
from octant.report.comparison import two_programs
from octant.report.plain import clean
from octant.report.screen.answer import Reliability
from octant.runs.programs.pair import SENSIBLE_S
from octant.runs.programs.typed import comparison_line
from octant.stats.gate import EXTENDED_THRESHOLDS, OBRIEN_FLEMING_THRESHOLDS, least_rounds
from octant.stats.grades import GRADE_NAMES
from octant.stats.verdicts import percent
from octant.units import counted, fixed_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octant.analysis.compare import Comparison, Comparisons, Word
    from octant.report.charts.picture import Picture, Tone

ORDER: dict[Word, str] = {
    "slower": "Slower in B",
    "differs": "Differs between these two sessions",
    "undecided": "Not decided",
    "no difference detected": "No difference detected between these two sessions",
    "insufficient data": "No verdict",
    "equivalent": "The same",
    "faster": "Faster in B",
    "not comparable": "Not comparable",
}
"""Words in the order of a view, with their headings."""

MOST_ROUNDS = 24
"""Rounds that are proposed at once: more are seldom worth their time on a machine that others use."""
MOST_IN_ANSWER = 3
"""Sentences on cells of two programs that make the answer; of more cells it counts the verdicts."""
MOST_OF_PROGRAMS = 1000
"""Rounds of two programs that are proposed at once."""
GATES_ROUNDS = max(OBRIEN_FLEMING_THRESHOLDS)
ALIKE = 0.05
"""Shares of lost time of the two sides that differ by no more than this are said to be alike."""
GATE_OR_ROUNDS = "Six rounds are usual, four the least."

SAME_RUN = "A and B are the same run: this shows how wide the intervals are, and nothing else."
APART = "They were not measured in turn, and what differs between two sessions is in no interval over launches."
"""Of two stored runs."""


def ordered(found: Comparisons) -> list[Comparison]:
    """The figures that can be compared, the worst news first: by word, then from slow to fast."""
    words = list(ORDER)
    judged = (one for one in found.figures if one.verdict)
    return sorted(judged, key=lambda one: (words.index(one.word), one.speed or 0.0))


def name(one: Comparison) -> str:
    """The figure's short name."""
    return clean(short_name(one.figure))


def findable_text(one: Comparison) -> str:
    """The least difference that would have been detected in 80 % of cases: `± 18 %`; empty without a verdict."""
    verdict = one.verdict
    return f"± {percent(verdict.min_detectable_effect)}" if verdict and verdict.speed else ""


def values_text(found: Comparisons) -> str:
    """What the values of the figures with a ratio are: those that have exactly this ratio."""
    named = {
        "geometric mean": "geometric means", "Hodges-Lehmann": "Hodges-Lehmann estimates", "median": "medians",
    }  # fmt: skip
    used = {one.statistic for one in found.figures if one.verdict and one.verdict.speed}
    kinds = in_words([text for name, text in named.items() if name in used])
    return f"values of A and B: {kinds} of the launches whose ratio is shown; the report of a run shows medians"


def counts(found: Comparisons) -> list[tuple[int, str]]:
    """How many figures have which verdict; what cannot occur, or is seldom and did not, is left out."""
    margin = percent(found.margin)
    words: dict[Word, str] = {
        "slower": "slower", "faster": "faster", "differs": "differ between these two sessions",
        "equivalent": f"equivalent within {margin}", "no difference detected": "no difference detected",
        "undecided": "undecided", "insufficient data": "insufficient data", "not comparable": "not comparable",
    }  # fmt: skip
    usual: set[Word] = {"differs", "no difference detected"}
    if found.pair:
        usual = {"slower", "faster", "equivalent", "undecided"}
    shown = [one for one in found.figures if not one.is_alone and not one.lost]
    numbers = {word: sum(one.word == word for one in shown) for word in words}
    rows = [(numbers[word], text) for word, text in words.items() if numbers[word] or word in usual]
    lost = sum(one.lost for one in found.figures)
    return [*([(lost, "failed in B")] if lost else []), *rows]


def answer(found: Comparisons) -> str:
    """The comparison in two sentences: what is faster and slower, and what could not have been detected."""
    if found.before.run.id == found.after.run.id:
        return SAME_RUN
    if 0 < len(programs := two_programs.sentences(found)) <= MOST_IN_ANSWER:
        return " ".join(programs)
    if not found.compared:
        return "The two runs have no figure that can be compared."
    lost = [one for one in found.figures if one.lost]
    failed = f" B failed in {len(lost)} that A measured." if lost else ""
    return f"{_sentence(found)}.{failed} {_undetectable(found)}".strip()


def _sentence(found: Comparisons) -> str:
    of, margin = counted(found.compared, "figure"), percent(found.margin)
    rows = ordered(found)
    by = {word: [one for one in rows if one.word == word] for word in ORDER}
    if len(by["equivalent"]) == found.compared:
        return (
            f"A and B are the same within {margin} in all {of}"
            if len(rows) > 1
            else f"A and B are the same within {margin}"
        )
    if len(by["insufficient data"]) == found.compared:
        few = max(found.verdicts, key=lambda verdict: verdict.number)
        return f"No figure of {found.compared} has a verdict: {few.text.partition(': ')[2]}"
    if by["differs"] or by["no difference detected"]:
        begin = f"Between these two sessions {_of_sessions(by['differs'], len(by['no difference detected']), of)}"
    elif not by["faster"] and not by["slower"]:
        beyond = f" beyond {margin}" if found.margin else ""
        begin = f"No difference{beyond} was detected in {of if len(rows) > 1 else 'the one figure'}"
    else:
        begin = f"B is faster in {len(by['faster']) or 'none'} of {of}{_with_ratio(by['faster'][-1:])}"
        begin += f", slower in {len(by['slower']) or 'none'}{_with_ratio(by['slower'][:1])}"
    rest: list[tuple[int, str, str]] = [
        (len(by["equivalent"]), f"is the same within {margin}", f"are the same within {margin}"),
        (len(by["undecided"]), "is not decided", "are not decided"),
    ]
    few_of = f"too few {_unit(found)}"
    rest.append((len(by["insufficient data"]), f"has {few_of}", f"have {few_of}"))
    listed = [f"{count} {one if count == 1 else several}" for count, one, several in rest if count]
    return f"{begin}; {in_words(listed)}" if listed else begin


def _of_sessions(differing: Sequence[Comparison], unseen: int, of: str) -> str:
    if not differing:
        return f"no difference was detected in {of}"
    far = sorted(differing, key=_distance)[-1:]
    seen = f"{len(differing)} of {of} differ{'s' * (len(differing) == 1)}{_with_ratio(far)}"
    return seen + (f", and no difference was detected in {unseen}" if unseen else "")


def in_words(texts: Sequence[str]) -> str:
    """`a, b and c`."""
    return " and ".join(filter(None, (", ".join(texts[:-1]), *texts[-1:])))


def _with_ratio(one: Sequence[Comparison]) -> str:
    return f" ({name(one[0])} × {fixed_text(one[0].speed or math.nan, 2)})" if one else ""


def _distance(one: Comparison) -> float:
    speed = one.speed or 1.0
    return max(speed, 1 / speed)


def _unit(found: Comparisons) -> str:
    return "rounds" if found.pair else "launches"


def _undetectable(found: Comparisons) -> str:
    """Below which differences nothing could have been detected in the figures without a decision; else empty.

    Of the least detectable differences of several figures the smallest is true of all of them, the greatest of one.
    """
    known = [
        one.verdict.min_detectable_effect
        for one in found.undecided
        if one.verdict and one.verdict.speed and not one.figure.metric.is_share  # no speed, though a ratio
    ]
    if not known:
        return ""
    least, most = percent(min(known)), percent(max(known))
    noisiest = f", for the noisiest of them below {most}" if most != least else ""
    where = f"For {counted(len(known), 'figure')} a" if found.compared > 1 else "A"
    return f"{where} difference below {least} could not have been detected{noisiest}."


def reliability(found: Comparisons) -> Reliability:
    """How far the comparison can be believed: how both sides were measured, and what their time was lost to."""
    lost = [share_lost(side.run.points) for side in (found.before, found.after)]
    grade = grade_of_share_lost(max((share for share in lost if share is not None), default=None))
    if not found.pair:
        return Reliability("limited" if grade in ("reliable", "note") else grade, f"{APART}{_lost_text(lost)}", ())
    undecided = sum(not verdict.is_decided for verdict in found.verdicts)
    grade = max(grade, grade_of_verdicts(found.verdicts), key=GRADE_NAMES.index)
    judged = f"{found.compared - undecided} of {counted(found.compared, 'figure')} decided"
    correction = {"once": "Benjamini-Hochberg at 5 %", "rising": "Holm at 5 %", "any time": "e-values against 5 %"}
    how = f"{found.rounds} interleaved rounds; {judged}, {correction[found.pair.looks]}."
    return Reliability(grade, f"{how}{_lost_text(lost)}", ())


def _lost_text(lost: Sequence[float | None]) -> str:
    """` Other work took 24 % of the time, which both sides saw alike.`; empty where it is not known, or under 1 %."""
    known = [share for share in lost if share is not None]
    if len(known) < len(lost) or max(known) <= LOST_LITTLE:
        return ""
    if max(known) - min(known) <= ALIKE:
        return f" Other work took {percent(sum(known) / len(known))} of the time, which both sides saw alike."
    return f" Other work took {percent(known[0])} of A's time and {percent(known[1])} of B's, which is not alike."


def steps(found: Comparisons) -> tuple[RunFinding, ...]:
    """What would decide the rest: more rounds, or a gate; nothing for figures that have their verdicts.

    Where no figure can be compared because their ranks and threads differ, how to measure A with those of B.
    """
    before, after = found.before.run, found.after.run
    if before.id == after.id:
        return ()
    if not found.compared:
        return _same_shape(found)
    if not found.pair and any(request.subject.command for run in found.runs for request in run.requests):
        return _programs_in_turn(found)
    if not found.pair:
        body = f"A and B in turn, so that what differs between two sessions is in no ratio. {GATE_OR_ROUNDS}"
        return (
            RunFinding("rounds", "Measure both again", body, (f"octant compare --rounds 6 {before.id} {after.id}",)),
        )
    return _more_rounds(found) if found.gate else (*_more_rounds(found), _gate(found))


def _programs_in_turn(found: Comparisons) -> tuple[RunFinding, ...]:
    """How the programs of two stored runs are measured in turn: by commands that are given again.

    Nothing where the runs have several requests in common.
    """
    couples = found.couples()
    if len(couples) != 1 or any(request.mpi for request in couples[0]):
        return ()
    body = (
        "What differs between two sessions is then in no ratio. If the program was changed, keep both versions under "
    )
    body += "two names and use these names in the line: its first command is A, its second one is B."
    return (RunFinding("rounds", "Measure both again, in turn", body, (comparison_line(couples),)),)


def _same_shape(found: Comparisons) -> tuple[RunFinding, ...]:
    """How A is measured with the ranks and threads of B; nothing where there are several of one workload."""
    wanted = {(in_a[0], in_b[0]) for _, in_a, in_b in found.shapes if len(in_a) == len(in_b) == 1}
    if len(wanted) != 1 or found.before.run.imported:
        return ()
    ((old, new),) = wanted
    counts = [one for size in (old, new) for one in (size.ranks, size.threads) if one is not None]
    if len(counts) < 4 or (old.ranks, old.threads) == (new.ranks, new.threads):
        return ()
    placed = any(request.shape.place for request in found.before.run.requests) or max(counts[1], counts[3]) > 1
    option = f"--place {new.ranks}x{new.threads}" if placed else f"--ranks {new.ranks}"
    body = f"A has {shape_text(old)} and B {shape_text(new)}, which is another quantity. Measure A again with {option}."
    return (RunFinding("shape", "Measure the same shape in both", body, ()),)


def _more_rounds(found: Comparisons) -> tuple[RunFinding, ...]:
    open_ones = [verdict for verdict in found.verdicts if verdict.needed]
    if not open_ones:
        return ()
    most = max(verdict.needed or 0 for verdict in open_ones)
    rounds = min(max(most, found.rounds + 1), max(_most_rounds(found), 2 * found.rounds))
    plural = len(open_ones) > 1
    title = f"{counted(len(open_ones), 'figure')} need{'' if plural else 's'} more rounds"
    which = "The most spread one" if plural else "It"
    body = f"{which} needs about {most} for {percent(found.margin)}; a quiet machine needs far fewer."
    body += f" The line measures {rounds}, the most that are proposed at once." if rounds < most else ""
    options = [*(["--gate"] if found.gate else []), "--rounds", str(rounds)]
    return (RunFinding("rounds", title, body, (_again(found, *options),)),)


def _most_rounds(found: Comparisons) -> int:
    """How many rounds are proposed at once: of programs as many as take a sensible time."""
    round_s = two_programs.round_seconds(found) if found.of_programs else None
    return max(MOST_ROUNDS, min(MOST_OF_PROGRAMS, int(SENSIBLE_S / round_s))) if round_s else MOST_ROUNDS


def _gate(found: Comparisons) -> RunFinding:
    planned = EXTENDED_THRESHOLDS if found.of_programs else OBRIEN_FLEMING_THRESHOLDS
    looks = [str(rounds) for rounds in planned if rounds >= least_rounds(found.compared)]
    body = f"Stops early at {in_words(looks)} rounds; Holm over {counted(found.compared, 'figure')}."
    options = ["--gate"] if found.of_programs else ["--gate", "--rounds", str(GATES_ROUNDS)]
    return RunFinding("gate", "As a gate", body, (_again(found, *options),))


def _again(found: Comparisons, *options: str) -> str:
    """The command that measures both sides again; programs are given again, since a store starts none."""
    if found.of_programs:
        return comparison_line(tuple(zip(found.before.run.requests, found.after.run.requests, strict=True)), *options)
    return " ".join(["octant compare", *options, found.before.run.id, found.after.run.id])


def picture(found: Comparisons) -> Picture | None:
    """The ratios of all figures that have one, in the order of the comparison; `None` where there are none."""
    shown = [one for one in ordered(found) if one.speed and math.isfinite(one.speed)]
    rows = [_row(one) for one in shown]
    if not rows:
        return None
    claimed = "paired rounds" if found.pair else "these two sessions"
    drawn = ratios(rows, found.margin, ("ratio", "detectable", "verdict"), "Ratios, worst news first",
        f"Speed of B over A, 95 % interval of {claimed}", "← B slower", "B faster →")  # fmt: skip
    said = "; ".join(claims(one.verdict.speed for one in shown if one.verdict).values())
    return replace(drawn, caption=f"{drawn.caption} Lines: {said}." if said else drawn.caption)


def _row(one: Comparison) -> RatioRow:
    verdict, speed = one.verdict, one.speed or 1.0
    ends = verdict.speed.stated if verdict and verdict.speed else None
    tones: dict[Word, Tone] = {"slower": "wrong", "faster": "good", "undecided": "limited", "differs": "limited"}
    words = verdict.text.partition(":")[0] if verdict and one.word == "undecided" else verdict.text if verdict else ""
    return RatioRow(
        name(one), ends.low if ends else speed, speed, ends.high if ends else speed,
        verdict.min_detectable_effect if verdict and ends else math.inf,
        (fixed_text(speed, 2), findable_text(one), words),
        tones.get(one.word, "soft"),
    )  # fmt: skip
