"""The statements of a comparison in their order, as data for the page and the terminal."""

import math
from collections import Counter
from collections.abc import Hashable, Sequence

from octant.advice.findings import RunFinding
from octant.advice.findings._curves import size_knob
from octant.analysis.causes import LOST_LITTLE, grade_of_share_lost, share_lost
from octant.analysis.compare import Comparison, Comparisons, Word
from octant.analysis.conditions import shape_text
from octant.analysis.figures import Figure
from octant.analysis.names import short_name
from octant.report.charts.bars.ratios import RatioRow, ratios
from octant.report.charts.picture import Picture, Tone
from octant.report.claims import claims, grade_of_verdicts
from octant.report.comparison.more_launches import can_be_interleaved, more_launches, shortage
from octant.report.plain import clean
from octant.report.screen.answer import Reliability
from octant.report.sentences import Sentences
from octant.request import comparable
from octant.runs.program_pair import SENSIBLE_S
from octant.runs.programs.command_text import comparison_line
from octant.stats import Estimate
from octant.stats.gate import EXTENDED_THRESHOLDS, OBRIEN_FLEMING_THRESHOLDS, least_rounds
from octant.stats.grades import GRADE_NAMES
from octant.stats.verdicts import percent
from octant.units import brief_text, counted, fixed_text

ORDER: dict[Word, str] = {
    "slower": "Slower in B",
    "differs": "Differs between these two sessions",
    "undecided": "Undecided",
    "no difference detected": "No difference detected between these two sessions",
    "insufficient data": "Insufficient data: ratios without a verdict",
    "equivalent": "Equivalent",
    "faster": "Faster in B",
    "not measurable": "Not measurable: ratios without a verdict",
    "not comparable": "Not comparable",
}
"""Words in the order of a view, with their headings."""
COUNTED: tuple[Word, ...] = (
    "slower", "faster", "differs", "equivalent", "no difference detected", "undecided", "insufficient data",
    "not measurable", "not comparable",
)  # fmt: skip
_OF_SESSIONS: tuple[Word, ...] = ("differs", "no difference detected")
MAX_ROUNDS = 24
"""Rounds that are proposed at once: more are seldom worth their time on a machine that others use."""
MAX_IN_ANSWER = 3
"""Sentences on cells of two programs that make the answer; of more cells it counts the verdicts."""
MAX_OF_PROGRAMS = 1000
"""Rounds of two programs that are proposed at once."""
GATES_ROUNDS = max(OBRIEN_FLEMING_THRESHOLDS)
ALIKE = 0.05
"""Shares of lost time of the two sides that differ by no more than this are said to be alike."""
MAX_SENTENCES = 12
"""Configurations of two programs with a sentence each; for more, the counts give the verdicts."""
SAME_RUN = "A and B are the same run: the ratios only show the width of the intervals."
_TEXTS = Sentences("octant.report.comparison", "comparison")


def ordered(found: Comparisons) -> list[Comparison]:
    """Return the figures with a ratio by verdict, slower ones first.

    Figures of one verdict that differ only in their size are sorted by size, others from slow to fast.
    """
    words = list(ORDER)
    with_ratio = [one for one in found.figures if one.speed is not None]
    slowest: dict[Hashable, float] = {}
    for one in with_ratio:
        key = one.word, _series(one.figure)
        slowest[key] = min(one.speed or 0.0, slowest.get(key, math.inf))
    return sorted(
        sorted_by_size(with_ratio), key=lambda one: (words.index(one.word), slowest[one.word, _series(one.figure)])
    )


def sorted_by_size(figures: Sequence[Comparison]) -> list[Comparison]:
    """Return the figures, those that differ only in their size together and sorted by size."""
    places: dict[Hashable, int] = {}
    for one in figures:
        places.setdefault(_series(one.figure), len(places))
    return sorted(figures, key=lambda one: (places[_series(one.figure)], _size(one.figure) or ()))


def _series(figure: Figure) -> Hashable:
    """Return what figures that differ only in their size have in common; unique for a figure without a size."""
    of = figure.identity
    if (size := _size(figure)) is None:
        return id(figure)
    knobs = tuple((name, value) for name, value in of.knobs if name != size[0])
    return of.subject, figure.metric.name, knobs, of.size, of.link, of.means, of.placement, of.settings


def _size(figure: Figure) -> tuple[str, int] | None:
    """Return the size knob of a figure and its value; `None` if it has none."""
    knob = size_knob(figure) or "bytes"  # an imported cell may have no picture
    size = comparable(figure.knobs.get(knob, ""))
    return (knob, int(size)) if size.isascii() and size.isdecimal() else None


def why(one: Comparison) -> str:
    """Return the caveats of a comparison."""
    return clean("; ".join(one.why))


def name(one: Comparison) -> str:
    """Return the short name of the figure."""
    return clean(short_name(one.figure))


def detectable_text(one: Comparison) -> str:
    """Return the smallest detectable difference (detected in 80 % of cases): `± 18 %`; empty without a verdict."""
    verdict = one.verdict
    return f"± {percent(verdict.min_detectable_effect)}" if verdict and verdict.speed else ""


def values_text(found: Comparisons) -> str:
    """Return the statistics whose quotients are the printed ratios."""
    return _TEXTS.line("values", {one.statistic for one in found.figures if one.speed is not None})


def counts(found: Comparisons) -> list[tuple[int, str]]:
    """Return the number of figures with each verdict; verdicts that are rare and did not occur are omitted."""
    texts = {"differs": "differ between these two sessions", "equivalent": f"equivalent within {percent(found.margin)}"}
    usual: tuple[Word, ...] = ("slower", "faster", "equivalent", "undecided") if found.pair else _OF_SESSIONS
    usual = usual if any(verdict.speed for verdict in found.verdicts) else ()
    numbers = Counter(one.word for one in found.figures if not one.is_alone and not one.lost)
    lost = sum(one.lost for one in found.figures)
    rows = [(numbers[word], texts.get(word, word)) for word in COUNTED if numbers[word] or word in usual]
    return [(lost, "failed in B")] * bool(lost) + rows


def answer(found: Comparisons) -> str:
    """Return the comparison in two sentences: what is faster and slower, and the smallest detectable difference."""
    if found.before.run.id == found.after.run.id:
        return SAME_RUN
    if 0 < len(programs := program_sentences(found)) <= MAX_IN_ANSWER:
        return " ".join(programs)
    if not found.compared:
        if common := sum(not one.is_alone for one in found.figures):
            text = _TEXTS.line("nothing_comparable", common, bool(ordered(found)))
            return f"{text} {range_text(found)}".strip()
        measured = [sorted({clean(request.subject.name) for request in run.requests}) for run in found.runs]
        return _TEXTS.line("nothing_common", *measured)
    margin, rows = percent(found.margin), ordered(found)
    judged = [one for one in rows if one.verdict]
    by = {word: [one for one in rows if one.word == word] for word in ORDER}
    unit = "rounds" if found.pair else "launches"
    rest = (
        (len(by["equivalent"]), f"is equivalent within {margin}", f"are equivalent within {margin}"),
        (len(by["undecided"]), "is undecided", "are undecided"),
        (len(by["insufficient data"]), f"has too few {unit}", f"have too few {unit}"),
    )
    known = [
        one.verdict.min_detectable_effect
        for one in found.undecided
        if one.verdict and one.verdict.speed and not one.figure.metric.is_share  # no speed, though a ratio
    ]
    text = _TEXTS.line(
        "answer",
        by={word: len(ones) for word, ones in by.items()},
        figures=found.compared,
        margin=margin if found.margin else "",
        range=range_text(found),
        insufficient=reason_text(max(judged, key=lambda one: one.verdict.number if one.verdict else 0)),
        slowest=_with_ratio(by["slower"][:1]),
        fastest=_with_ratio(by["faster"][-1:]),
        farthest=_with_ratio(sorted(by["differs"], key=lambda one: max(one.speed or 1.0, 1 / (one.speed or 1.0)))[-1:]),
        rest=[f"{number} {one if number == 1 else many}" for number, one, many in rest if number],
        failed=sum(one.lost for one in found.figures),
        undetectable=[percent(one) for one in sorted(known)],
    )
    return text.replace(" ; ", "; ").replace(" .", ".")


def reason_text(one: Comparison) -> str:
    """Return the reason why a figure with a ratio has too little data for a verdict; empty if it has enough."""
    if one.verdict is None or one.word != "insufficient data":
        return ""
    return one.verdict.text.partition(": ")[2] if one.verdict.unit == "paired rounds" else shortage(one)


def range_text(found: Comparisons) -> str:
    """Return the smallest and the largest ratio with their figures; empty without ratios."""
    shown = sorted((one for one in found.figures if one.speed is not None), key=lambda one: one.speed or 0.0)
    ends = shown[:1] + shown[1:][-1:]
    return _TEXTS.line("range", [(fixed_text(one.speed or math.nan, 2), name(one)) for one in ends]) if ends else ""


def _with_ratio(one: Sequence[Comparison]) -> str:
    return f" ({name(one[0])} × {fixed_text(one[0].speed or math.nan, 2)})" if one else ""


def reliability(found: Comparisons) -> Reliability:
    """Return how far the comparison is reliable: how both sides were measured, and the time that they lost."""
    shares = [share for side in (found.before, found.after) if (share := share_lost(side.run.points)) is not None]
    grade = grade_of_share_lost(max(shares, default=None))
    pair, lost = found.pair, len(shares) == 2 and max(shares) > LOST_LITTLE
    undecided = sum(not verdict.is_decided for verdict in found.verdicts)
    if pair:
        grade = max(grade, grade_of_verdicts(found.verdicts), key=GRADE_NAMES.index)
    elif grade in ("reliable", "note"):
        grade = "limited"
    correction = {"once": "Benjamini-Hochberg, 5 %", "rising": "Holm, 5 %", "any time": "e-values, 5 %"}
    text = _TEXTS.line(
        "reliability", bool(pair), any(verdict.speed for verdict in found.verdicts), found.rounds,
        found.compared - undecided, found.compared,
        correction[pair.looks] if pair else "", [percent(one) for one in shares] if lost else (),
        lost and max(shares) - min(shares) <= ALIKE,
    )  # fmt: skip
    return Reliability(grade, text, ())


def program_sentences(found: Comparisons) -> list[str]:
    """Return a sentence for each configuration of two programs, in the order of the requests; none for other runs."""
    if not found.of_programs:
        return []
    several = len(found.before.run.requests) > 1
    texts = [
        f"{f'{clean(one.figure.title)}: ' * several}{_program_sentence(one, found)}." for one in found.figures
    ] or [f"{text}." for text in _missing(found)]  # fmt: skip
    more = len(texts) - MAX_SENTENCES
    return texts if more <= 0 else [*texts[:MAX_SENTENCES], f"{counted(more, 'more comparison')} below."]


def round_seconds(found: Comparisons) -> float | None:
    """Return the duration of a round of two programs, from the recorded wall times; `None` without them."""
    sums = []
    for run in found.runs:
        taken: dict[str, float] = {}  # of each round, which has the number of its launches
        for point in run.points:
            seconds = next((one.value for one in point.results if one.name == "wall time"), math.nan)
            number = point.launch.rpartition("-")[2]
            taken[number] = taken.get(number, 0.0) + seconds
        known = [seconds for seconds in taken.values() if math.isfinite(seconds)]
        if not known:
            return None
        sums.append(sum(known) / len(known))
    return sum(sums)


def _missing(found: Comparisons) -> list[str]:
    """Return why sides gave no result: `B gave no result: ./new ended by SIGSEGV`."""
    sides = zip("AB", found.runs, strict=True)
    return [f"{side} gave no result: {clean(run.failures[0].reason)}" for side, run in sides if run.failures]


def _program_sentence(one: Comparison, found: Comparisons) -> str:
    wrong = [(side, row.wrong[0].text) for side, row in (("A", one.before), ("B", one.after)) if row and row.wrong]
    verdict = one.verdict
    speed = verdict.speed if verdict else None
    round_s, more = round_seconds(found), (verdict.needed or 0) - verdict.number if verdict else 0
    metric = one.figure.metric.name
    return _TEXTS.line(
        "program",
        wrong=wrong[-1] if wrong else (),  # a result of B is compared with A's
        missing=_missing(found) if one.before is None or one.after is None else (),
        verdict=verdict,
        why="; ".join(one.why),
        by="" if metric == "wall time" else f" by {metric}",
        differences=[_difference(ratio) for ratio in (speed.low, speed.middle, speed.high)] if speed else (),
        ends=_ends(speed) if speed else (),
        undetected=percent(verdict.max_undetected_effect) if verdict and speed else "",
        more=more,
        time=brief_text(more * round_s) if round_s and more > 0 else "",
        margin=percent(found.margin),
    )


def _difference(speed: float) -> str:
    """Return `12 % faster`: the share by which the speed, or if B is slower the time, is larger."""
    return f"{percent(speed - 1)} faster" if speed >= 1 else f"{percent(1 / speed - 1)} slower"


def _ends(speed: Estimate) -> list[str]:
    """Return the ends of the interval in the direction of the difference: `9 %` and `15 %`, or `-1 %` and `15 %`."""
    ends = [one - 1 for one in (speed.low, speed.high)]
    if speed.middle < 1:
        ends = [1 / one - 1 for one in (speed.high, speed.low)]
    return [f"-{percent(-end)}" if end < 0 else percent(end) for end in ends]


def steps(found: Comparisons) -> tuple[RunFinding, ...]:
    """Return what would decide the remaining figures: more rounds, or a gate.

    Where no figure can be compared because their ranks and threads differ, how to measure A with those of B.
    """
    before, after = found.before.run, found.after.run
    if before.id == after.id:
        return ()
    if not found.pair and any(one.speed is not None for one in found.figures) and not can_be_interleaved(found):
        return more_launches(found)
    if not found.compared:
        return _same_shape(found)
    if not found.pair and any(request.subject.command for run in found.runs for request in run.requests):
        couples = found.couples()
        if len(couples) != 1 or any(request.mpi for request in couples[0]):  # no single command measures all of them
            return ()
        body, line = _TEXTS.line("programs_again"), comparison_line(couples)
        return (RunFinding("rounds", "Measure both again, interleaved", body, (line,)),)
    if not found.pair:
        line = f"octant compare --rounds 6 {before.id} {after.id}"
        return (RunFinding("rounds", "Measure both again", _TEXTS.line("again"), (line,)),)
    if found.gate:
        return _more_rounds(found)
    planned = EXTENDED_THRESHOLDS if found.of_programs else OBRIEN_FLEMING_THRESHOLDS
    looks = [str(rounds) for rounds in planned if rounds >= least_rounds(found.compared)]
    options = ["--gate"] if found.of_programs else ["--gate", "--rounds", str(GATES_ROUNDS)]
    body = _TEXTS.line("gate", looks, found.compared)
    return *_more_rounds(found), RunFinding("gate", "As a gate", body, (_again(found, *options),))


def _same_shape(found: Comparisons) -> tuple[RunFinding, ...]:
    """Return how to measure A with the ranks and threads of B; empty if a workload has several shapes."""
    wanted = {(in_a[0], in_b[0]) for _, in_a, in_b in found.shapes if len(in_a) == len(in_b) == 1}
    if len(wanted) != 1 or found.before.run.imported:
        return ()
    ((old, new),) = wanted
    counts = [one for size in (old, new) for one in (size.ranks, size.threads) if one is not None]
    if len(counts) < 4 or (old.ranks, old.threads) == (new.ranks, new.threads):
        return ()
    placed = any(request.shape.place for request in found.before.run.requests) or max(counts[1], counts[3]) > 1
    option = f"--place {new.ranks}x{new.threads}" if placed else f"--ranks {new.ranks}"
    body = _TEXTS.line("shape", shape_text(old), shape_text(new), option)
    return (RunFinding("shape", "Measure the same shape in both", body, ()),)


def _more_rounds(found: Comparisons) -> tuple[RunFinding, ...]:
    open_ones = [verdict for verdict in found.verdicts if verdict.needed]
    if not open_ones:
        return ()
    most, at_once = max(verdict.needed or 0 for verdict in open_ones), MAX_ROUNDS
    if found.of_programs and (round_s := round_seconds(found)):  # programs are limited by time
        at_once = max(MAX_ROUNDS, min(MAX_OF_PROGRAMS, int(SENSIBLE_S / round_s)))
    rounds = min(max(most, found.rounds + 1), max(at_once, 2 * found.rounds))
    title = f"{counted(len(open_ones), 'figure')} need{'s' * (len(open_ones) == 1)} more rounds"
    body = _TEXTS.line("more_rounds", len(open_ones), most, percent(found.margin), rounds)
    options = [*(["--gate"] if found.gate else []), "--rounds", str(rounds)]
    return (RunFinding("rounds", title, body, (_again(found, *options),)),)


def _again(found: Comparisons, *options: str) -> str:
    """Return the command that measures both sides again; it repeats the command lines of programs."""
    if found.of_programs:
        return comparison_line(tuple(zip(found.before.run.requests, found.after.run.requests, strict=True)), *options)
    return " ".join(["octant compare", *options, found.before.run.id, found.after.run.id])


def picture(found: Comparisons) -> Picture | None:
    """Return the ratios of all figures in the order of the comparison; `None` without ratios."""
    shown = [one for one in ordered(found) if one.speed and math.isfinite(one.speed)]
    rows = [_row(one) for one in shown]
    if not rows:
        return None
    intervals = "; ".join(claims(one.verdict.speed for one in shown if one.verdict).values())
    base = "paired rounds" if found.pair else "these two sessions"
    return ratios(rows, found.margin, base if intervals else "", intervals)


def _row(one: Comparison) -> RatioRow:
    verdict, speed = one.verdict, one.speed or 1.0
    ends = verdict.speed.stated if verdict and verdict.speed else None
    tones: dict[Word, Tone] = {"slower": "wrong", "faster": "good", "undecided": "limited", "differs": "limited"}
    words = verdict.text if verdict else one.word
    shortened = one.word == "undecided" or (verdict and verdict.unit != "paired rounds")  # the answer states the rest
    words = words.partition(":")[0] if shortened else words
    return RatioRow(
        name(one), ends.low if ends else speed, speed, ends.high if ends else speed,
        verdict.min_detectable_effect if verdict and ends else math.inf,
        detectable_text(one), words, tones.get(one.word, "soft"),
    )  # fmt: skip
