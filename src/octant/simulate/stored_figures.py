"""Selection of figures of a stored run by a text such as `stream kernel=triad mode=one bytes=2GiB`."""

from collections.abc import Mapping, Sequence

from octant import units
from octant.analysis.figures import Figure
from octant.analysis.summary import summarise
from octant.failure import Exit, Refusal
from octant.record import NOT_STATED
from octant.request import EFFORT
from octant.store import StoredRun
from octant.workloads import full_name, why_absent

_MAX_VALUES = 4  # of a knob in an error message


def matching_figures(run: StoredRun, text: str) -> list[Figure]:
    """Return the headline figures of a run that match workload, mode, ranks and knobs of a text; "": all.

    Raises:
        Refusal: the text is invalid, or no figure matches; the message lists the available values.
    """
    summary = summarise(run)
    figures = [figure for figure in summary.figures if figure.workload.name not in summary.unknown]
    if not text.strip():
        return figures
    workload, *words = text.split()
    measured = dict.fromkeys(figure.workload.name for figure in summary.figures)
    try:
        workload = full_name(workload, measured)
        if workload in summary.unknown:  # its headline differs from its declaration
            raise Refusal(
                f"cannot use {workload} of run {run.id} ({why_absent(workload)}); try octant report {run.id}",
                Exit.NOT_SUPPORTED,
            )
    except LookupError:
        have = ", ".join(measured) or "nothing"
        raise Refusal(
            f"run {run.id} does not contain {workload} (it contains {have}); try octant report {run.id}",
            Exit.WRONG_WORD,
        ) from None
    of_workload = [figure for figure in figures if figure.workload.name == workload]
    matching = of_workload
    for word in words:
        name, equals, value = word.partition("=")
        known = {name for figure in of_workload for name in _facts(figure)}
        if not equals or name not in known:
            names = ", ".join(sorted(known))
            message = f"cannot select figures of {workload} by {word!r}; write knob=value with one of {names}"
            raise Refusal(message, Exit.WRONG_WORD)
        left = [figure for figure in matching if _same(_facts(figure).get(name, ""), value)]
        if not left:
            have = _values(matching, name)
            raise Refusal(
                f"run {run.id} does not contain {workload} with {word}; available: {name}={have}", Exit.WRONG_WORD
            )
        matching = left
    return matching


def figures_of_one_point(run: StoredRun, text: str) -> list[Figure]:
    """Return the figures of exactly one configuration.

    Raises:
        Refusal: as `matching_figures`, or the text is ambiguous; the message lists the distinguishing knobs.
    """
    figures = matching_figures(run, text)
    facts = [_facts(figure) for figure in figures]
    if any(other != facts[0] for other in facts):
        differing = [name for name in facts[0] if len({fact.get(name) for fact in facts}) > 1]
        choices = " ".join(f"{name}={_values(figures, name)}" for name in differing)
        count = len({tuple(sorted(fact.items())) for fact in facts})
        raise Refusal(f"{count} configurations of {text.split()[0]} match {text!r}; add {choices}", Exit.WRONG_WORD)
    return figures


def _facts(figure: Figure) -> Mapping[str, str]:
    knobs = {name: value for name, value in figure.knobs.items() if name not in EFFORT}
    link = {"link": figure.link} if figure.link else {}
    return {
        "mode": figure.mode,
        "ranks": NOT_STATED if figure.point.ranks is None else str(figure.point.ranks),
        **link,
        **knobs,
    }


def _same(have: str, asked: str) -> bool:
    try:
        return have == asked or units.parse_bytes(have) == units.parse_bytes(asked)
    except ValueError:
        return False


def _values(figures: Sequence[Figure], name: str) -> str:
    values = list(dict.fromkeys(_facts(figure).get(name, "") for figure in figures))
    return "|".join(values[:_MAX_VALUES]) + ("|…" if len(values) > _MAX_VALUES else "")
