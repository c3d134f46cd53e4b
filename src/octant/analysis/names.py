"""Short names of figures for tables and pictures: subject, varied knobs, and cores."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from octant import units
from octant.program import is_program
from octant.record import NOT_STATED, unstated_counts
from octant.request import comparable
from octant.tile import NAME_WIDTH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octant.analysis.figures import Figure

_WORDS = {
    ("pages", "thp"): "huge pages",
    ("pages", "try-thp"): "huge pages if granted",
    ("pages", "base"): "base pages",
    ("store", "plain"): "plain stores",
    ("store", "streaming"): "streaming stores",
    ("buffers", "hot"): "hot buffers",
    ("buffers", "rotating"): "new buffers",
}
"""Texts of knob values that are clearer than `value name`."""
_BARE = frozenset({"element", "kernel"})  # the value is clear without the name
_SWITCHES = frozenset({"on", "off", "yes", "no", "true", "false", "none"})
"""Values that are unclear without the name of the knob."""
_CORES = re.compile(r"\bcores?\b")
_PLACES = {"one": "core", "threads": "thread", "star": "copy", "all": "rank"}


def short_name(figure: Figure, with_place: bool = True) -> str:
    """Return the subject, the varied knob values and the number of cores, in at most 32 characters.

    The metric is last if it is not the headline of its workload.

    Args:
        with_place: include the number of cores; pictures of one layout state it in their title.
    """
    knobs = _swept(figure)
    what, where = _what(figure, whole=True), _nonempty(place_text(figure)) * with_place
    link = ["emulated link"] * bool(figure.link)
    metric = [figure.metric.name] * (figure.metric is not figure.workload.metrics[0])
    long = [what, *(knob_of(figure, name) for name in knobs), *where, *link, *metric]
    name = ", ".join(long)
    if len(name) > NAME_WIDTH and is_program(figure.workload.name):  # its name is the least important part
        most = max(NAME_WIDTH - len(", ".join(long[1:])) - 2, 8)
        name = ", ".join([_cut(what, most), *long[1:]])
    elif len(name) > NAME_WIDTH:  # then values only; the details name the knobs
        what = _what(figure)
        rest = [
            *(knob_text(name, value, bare=True) for name, value in knobs.items()),
            *where,
            *["link"][: len(link)],
            *metric,
        ]
        most = max(NAME_WIDTH - len(", ".join(rest)) - 2, 8)
        name = ", ".join([_cut(what if len(what) <= most else _number_first(what), most), *rest])
    return _cut(name, NAME_WIDTH)


def distinct_names(figures: Sequence[Figure]) -> dict[int, str]:
    """Return the short name of each figure by id, or its whole title if others have the same short name."""
    names = {id(figure): short_name(figure) for figure in figures}
    several = {name for name, number in Counter(names.values()).items() if number > 1}
    return {id(figure): figure.name if names[id(figure)] in several else names[id(figure)] for figure in figures}


def name_and_rest(figure: Figure) -> tuple[str, str]:
    """Return the subject, and separately the varied knobs and the number of cores, for a tile."""
    what, *more = _what(figure, whole=True).split(", ")
    knobs = [knob_of(figure, name) for name in _swept(figure)]
    where = [*_nonempty(place_text(figure)), *["emulated link"] * bool(figure.link)]
    return _cut(what, NAME_WIDTH), ", ".join([*more, *knobs, *where])


def _nonempty(text: str) -> list[str]:
    return [text] if text else []


def _swept(figure: Figure) -> dict[str, str]:
    """Return the knobs that the request varied."""
    parts = figure.title.removeprefix(figure.label).split(", ")[1:]
    return {name: figure.knobs.get(name, "") for name in (part.partition(" ")[0] for part in parts)}


def _number_first(text: str) -> str:
    """Return `n=256 matrix multiply` for `Matrix multiply n=256`, so that the number is not truncated."""
    first, _, last = text.rpartition(" ")
    return f"{last} {first[:1].lower()}{first[1:]}" if first and any(map(str.isdigit, last)) else text


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip(' ,')}…"


def _what(figure: Figure, whole: bool = False) -> str:
    """Return the label of the request without its cores; not `whole`: up to the first comma."""
    if is_program(figure.workload.name):  # the name of a file, unchanged
        return figure.show.short or figure.label
    parts = [part for part in figure.label.split(", ") if not _CORES.search(part)]
    words = figure.show.short or ", ".join(parts if whole else parts[:1]) or figure.workload.name.rpartition("/")[2]
    return units.capital(words)


def picture_title(figures: Sequence[Figure], rest: str) -> str:
    """Return the title of a picture that declares none: the label of its first figure, and the rest."""
    return f"{_cut(_what(figures[0]), NAME_WIDTH)}: {rest}"


def place_text(figure: Figure) -> str:
    """Return the number of workers: `1 core`, `2 threads`, `4 copies`, `2 ranks`, `120 pairs`.

    A value of one of them is `each of 4`. If an imported file does not state them, `ranks not stated`. A user's program
    has ranks and, if requested, threads; the cores that one rank uses are not known.
    """
    point = figure.point
    if is_program(figure.workload.name):
        known = ((point.ranks, "rank"), (point.threads, "thread"))
        return " × ".join(units.counted(number, noun) for number, noun in known if number and number > 1)
    for note, what in (("pairs", "pair"), ("own threads", "thread")):
        if (own := point.notes.get(note, "")).isdecimal():
            return units.counted(int(own), what)
    if figure.mode == NOT_STATED:
        return unstated_counts(point)
    number = point.threads if figure.mode == "threads" else point.working_ranks
    if figure.metric.per_rank:
        return f"each of {number}"
    noun = _PLACES[figure.mode]
    return f"{number} {noun if number == 1 else 'copies' if noun == 'copy' else noun + 's'}"


def knob_text(name: str, value: str, bare: bool = False) -> str:
    """Return the value of a knob in words: `huge pages`, `128 KiB`, `n 256`, `streaming stores`, `double`.

    Args:
        bare: value without name: `streaming`, `256`.
    """
    known = _WORDS.get((name, value))
    if known:
        return known.partition(" ")[0] if bare else known
    size = comparable(value)
    if name == "bytes" and size.isdigit():
        return units.bytes_text(int(size))
    if bare or name in _BARE:
        return value
    return f"{name} {value}" if value[:1].isdigit() else f"{value} {name}"


def knob_of(figure: Figure, name: str) -> str:
    """Return the value of a knob of a figure in words.

    Knobs of a user's program: `n 4`, `flag on`, and words that are clear without the name, `static`.
    """
    value = figure.knobs.get(name, "")
    if not is_program(figure.workload.name):
        expression = figure.show.expressions.get(name, {}).get(value, "")
        return knob_text(name, value) + f" ({expression})" * bool(expression)
    alone = len(value) > 1 and not value[:1].isdigit() and value.lower() not in _SWITCHES
    return value if alone else f"{name} {value}"
