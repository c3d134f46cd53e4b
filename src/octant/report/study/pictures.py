"""A study as data for pictures: a bar per combination, or curves along the axis, published values beside ours."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from octant import catalogue
from octant.report.charts.curve import value_axis
from octant.report.charts.picture import Axis, Panel, Picture, Series
from octant.report.charts.ticks import ZERO_BYTES, even_ticks, places, si_ticks, size_ticks
from octant.report.study.text import Place, columns_and_rows, ends_texts
from octant.report.study.text import places as places_of
from octant.study.parts import number
from octant.study.values import quantities

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from octant.study.cells import Cell
    from octant.study.file import Study
    from octant.study.outcome import Outcome

_LABEL = 26  # characters of a line of a bar's label
_WIDE_AXIS = 100  # the same of the axis along which a curve runs


def pictures(outcome: Outcome) -> list[Picture]:
    """One a measure, as each has its own unit; a measure without any value has none."""
    draw = curves if outcome.study.picture == "curve" else bars
    return [draw(outcome, measure) for measure in outcome.study.measures if places_of(outcome, measure)]


def bars(outcome: Outcome, measure: str) -> Picture:
    """A bar per combination, from the file's first at the top, and the published value under ours."""
    found = places_of(outcome, measure)
    names = _names(outcome.study, [place.cell for place in found])
    labels = [f"{names[place.cell]}{', ' * bool(place.at)}{place.at}" for place in found]
    series = []
    ours = [(float(n), place.ours.value) for n, place in enumerate(found) if place.ours]
    if ours:
        series.append(
            Series(
                _ours(outcome), "across", tuple(value.middle for _, value in ours), tuple(n for n, _ in ours),
                tuple(value.low for _, value in ours), tuple(value.high for _, value in ours),
                tuple(labels[int(n)] for n, _ in ours),
            )
        )  # fmt: skip
    rows = [(float(n), place.published.value) for n, place in enumerate(found) if place.published]
    if rows:
        texts = tuple(f"published: {labels[int(n)]}" for n, _ in rows)
        drawn = Series("published", "across", tuple(v for _, v in rows), tuple(n for n, _ in rows), labels=texts)
        series.append(drawn)
    unit, title = _unit(outcome, measure)
    most = max(x for one in series for x in (*one.x, *one.high))
    ticks = tuple((float(n), textwrap.fill(label, _LABEL)) for n, label in enumerate(labels))
    factors = list(outcome.study.factors)
    across = Axis(title, False, even_ticks(most, si_ticks(unit)), unit)
    along = Axis(factors[0] if len(factors) == 1 else "", False, ticks, down=True)
    return _picture(outcome, measure, f"{_capital(measure)} by {_list(factors)}", across, along, series)


def curves(outcome: Outcome, measure: str) -> Picture:
    """A curve per combination along the measure's axis, and the published values as points."""
    axis = outcome.study.measures[measure].axis
    if axis is None:  # the file is refused before
        raise ValueError(f"{measure} has no axis")
    found = places_of(outcome, measure)
    sized = axis.knob == "bytes"
    cells = list(dict.fromkeys(place.cell for place in found))
    names = _names(outcome.study, cells)
    published_cells = list(dict.fromkeys(place.cell for place in found if place.published))
    word = axis.unit if axis.unit and not sized else axis.knob
    series = []
    for cell in cells:
        name = names[cell] if len(cells) > 1 else _ours(outcome)
        mine = [(_x(place, sized), place.ours.value) for place in found if place.cell == cell and place.ours]
        at = [place.at for place in found if place.cell == cell and place.ours]
        if mine:
            series.append(
                Series(
                    name, "curve", tuple(x for x, _ in mine), tuple(value.middle for _, value in mine),
                    tuple(value.low for _, value in mine), tuple(value.high for _, value in mine),
                    tuple(f"{name}, {word} {one}" for one in at),
                )
            )  # fmt: skip
    for cell in published_cells:
        name = f"published, {names[cell]}" if len(cells) > 1 else "published"
        rows = [(place, place.published.value) for place in found if place.cell == cell and place.published]
        points = [(_x(place, sized), value, place.at) for place, value in rows]
        xs, ys = tuple(x for x, _, _ in points), tuple(y for _, y, _ in points)
        series.append(Series(name, "points", xs, ys, labels=tuple(f"{name}, {word} {at}" for _, _, at in points)))
    unit, title = _unit(outcome, measure)
    xs = tuple(sorted({x for one in series for x in one.x}))
    along = _along(word, xs, sized)
    upright = value_axis(title, [y for one in series for y in (*one.y, *one.low, *one.high)], unit)
    return _picture(outcome, measure, f"{_capital(measure)} against {word}", along, upright, series)


def _picture(outcome: Outcome, measure: str, title: str, x: Axis, y: Axis, series: Sequence[Series]) -> Picture:
    header, rows = columns_and_rows(outcome, measure)
    number_of = list(outcome.study.measures).index(measure) + 1
    caption = _caption(outcome, measure, across=y.down)
    table = tuple(tuple(cells) for cells in rows)
    return Picture(f"picture-{number_of}", title, caption, (Panel(x, y, tuple(series)),), tuple(header), table)


def _caption(outcome: Outcome, measure: str, across: bool) -> str:
    study, unit = outcome.study, quantities(outcome.study)[measure].unit
    whose = f" {unit.partition(' ')[2]}" if " per " in unit else ""
    found = places_of(outcome, measure)
    better = "More is better" if outcome.values.better(measure) == "higher" else "Less is better"
    text = f"Values{whose} of a model. {better}." if outcome.run is None else f"Medians over launches. {better}."
    ends = "; ".join(ends_texts(outcome, measure))
    text += f" Thin lines, and brackets in the table: {ends}." if ends else ""
    if len({place.cell for place in found}) > 1:
        text += f" The baseline is {_list([f'{factor} {level}' for factor, level in study.baseline.items()])}."
    if any(place.published for place in found):
        tables = dict.fromkeys(one.table for one in study.published if one.measure == measure)
        titles = "; ".join(catalogue.results()[table].title for table in tables)
        text += f" {'Hatched bars' if across else 'Single points'} are published values: {titles.rstrip('.')}."
    return text


def _names(study: Study, cells: Iterable[Cell]) -> dict[Cell, str]:
    """Combinations in words: of one factor the level and what it is, of several what differs from the baseline."""
    found = {}
    for cell in cells:
        pairs = list(zip(study.factors, cell.levels, strict=True))
        apart = [f"{factor} {level}" for factor, level in pairs if study.baseline[factor] != level]
        about = study.factors[pairs[0][0]][pairs[0][1]].about
        alone = f"{cell.levels[0]}: {about}" if about else cell.levels[0]
        found[cell] = alone if len(pairs) == 1 else ", ".join(apart) or "baseline"
    return found


def _ours(outcome: Outcome) -> str:
    return "model" if outcome.run is None else "here"


def _unit(outcome: Outcome, measure: str) -> tuple[str, str]:
    """The unit that ticks can carry, and the axis's title with the rest of it."""
    unit, _, per = quantities(outcome.study)[measure].unit.partition(" per ")
    return unit, f"{measure} per {per}" if per else measure


def _x(place: Place, sized: bool) -> float:
    x = number(place.at)
    return ZERO_BYTES if sized and x == 0 else x


def _along(word: str, xs: Sequence[float], sized: bool) -> Axis:
    if sized:
        return Axis(word, True, size_ticks(xs))
    if xs[0] > 0 and xs[-1] / xs[0] > _WIDE_AXIS:
        return Axis(word, True, places(xs))
    return Axis(word, False, even_ticks(xs[-1], lambda v: f"{v:g}"))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _list(texts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(texts[:-1]), texts[-1])))
