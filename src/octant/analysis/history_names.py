"""Selection of a history by words: names of workloads, requests and tiles, values of knobs, and metrics."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from octant.analysis.history import words_of
from octant.failure import Exit, Refusal, suggestion
from octant.request import comparable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from octant.analysis.history import SeriesOfPoints
    from octant.metric import Metric

MAX_LISTED = 20
"""Largest number of ambiguous figures that a message lists."""
_WORD = re.compile(r"[^\s,()]+")

Selected = tuple["SeriesOfPoints", str]
"""A series and the name of a metric; "": the headline."""


def select(words: Sequence[str], every: Sequence[SeriesOfPoints]) -> Selected:
    """Return the series and the metric that the words name.

    Args:
        words: names, and NAME=VALUE for knobs, `ranks`, `threads`, `metric` and `id`.
        every: all series of the machine.

    Raises:
        Refusal: no figure or several figures have this name; the message lists what to type.
    """
    named = " ".join(word for word in words if "=" not in word)
    given = dict(word.split("=", 1) for word in words if "=" in word)
    metric = given.pop("metric", "")
    fitting = [one for one in every if _has(one, given)]
    found = _by_name(named.lower(), fitting) if named else [(one, "") for one in fitting]
    if metric:
        found = [(one, metric) for one, _ in found if metric in (known.name for known in one.workload.metrics)]
    if not found:
        raise _unknown(" ".join(words), every)
    shown = [one for one in found if one[0].in_table] or found
    if len({(id(one), name) for one, name in shown}) > 1:
        raise _ambiguous(" ".join(words), shown, every)
    return shown[0]


def _has(series: SeriesOfPoints, given: dict[str, str]) -> bool:
    own = {**series.attributes, "id": series.id}
    return all(comparable(own.get(name, "")) == comparable(value) for name, value in given.items())


def _by_name(named: str, series: Sequence[SeriesOfPoints]) -> list[Selected]:
    """Return the series of the best kind of match: tile, whole title, workload, then words in any of the names."""
    tiles = [(one, metric) for one in series for tile, metric in sorted(one.tiles) if tile.lower() == named]
    titles = [(one, "") for one in series if named in (text.lower() for text in one.titles)]
    names = [(one, "") for one in series if named in (one.identity.subject.lower(), one.leaf.lower())]
    return tiles or titles or names or _by_words(_WORD.findall(named), series)


def _by_words(words: Sequence[str], series: Iterable[SeriesOfPoints]) -> list[Selected]:
    """Return the series whose names contain all words; words that only a metric has select the metric."""
    found: list[Selected] = []
    for one in series:
        texts = [one.identity.subject, one.leaf, *one.titles, *one.attributes.values()]
        known = {word for text in texts for word in _WORD.findall(text.lower())}
        rest = [word for word in words if word not in known]
        metrics = [metric for metric in one.workload.metrics if _names(metric, rest)]
        if not rest or (metrics and len(rest) < len(words)):
            found.append((one, metrics[0].name if rest else ""))
    return found


def _names(metric: Metric, words: Sequence[str]) -> bool:
    return set(words) <= set(_WORD.findall(metric.name.lower()))


def _unknown(named: str, every: Sequence[SeriesOfPoints]) -> Refusal:
    known = dict.fromkeys(name for one in every for name in (one.leaf, *(tile for tile, _ in one.tiles)))
    hint = suggestion(named, known, "octant history")
    return Refusal(f"cannot find the figure {named!r} (no run of this machine has it); {hint}", Exit.WRONG_WORD)


def _ambiguous(named: str, found: Sequence[Selected], every: Sequence[SeriesOfPoints]) -> Refusal:
    lines = list(dict.fromkeys(f"  octant history {words_of(one, every, metric)}" for one, metric in found))
    more = f"\n  and {len(lines) - MAX_LISTED} more" if len(lines) > MAX_LISTED else ""
    listed = "\n".join(lines[:MAX_LISTED])
    why = f"cannot choose a figure ({named!r} fits {len(lines)} figures); type one of these:"
    return Refusal(f"{why}\n{listed}{more}", Exit.WRONG_WORD)
