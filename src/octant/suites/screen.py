"""First screen declared by a suite: `[answer]` and up to six `[[tiles]]`, checked against the suite's requests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from msgspec import Meta

from octant import facts, tile
from octant.units import number_word
from octant.untrusted import InputTable, read_with

if TYPE_CHECKING:
    from octant.machine import Machine

Pick = Literal["first", "last", "best"]
_FIELD = re.compile(r"\{([^{}]*)\}")
_MAX_TEXT_LENGTH = 300  # characters of a text
Text = Annotated[str, Meta(max_length=_MAX_TEXT_LENGTH)]


def _template(names: str) -> Any:
    """Return the type of a text whose `{…}` match this pattern."""

    def read(text: str) -> str:
        for name in _FIELD.findall(text):
            if not re.fullmatch(names, name):
                raise ValueError(f"{{{name[:60]}}} is unknown; try {names.replace('|', ', ')}")
        return text

    return read_with(read, str, Text)


if TYPE_CHECKING:
    TextOfCores: TypeAlias = str
    TextOfSides: TypeAlias = str
else:
    TextOfCores = _template("cores")
    TextOfSides = _template(r"share|value|against|value\.[a-z]+|against\.[a-z]+")


class SuiteFigure(InputTable, frozen=True):
    """A figure of the suite, named by the title of its request."""

    title: Text
    knobs: Mapping[str, Text] = {}
    metric: Text = ""
    pick: Pick = "first"

    def named(self) -> tile.NamedFigure:
        """Return the figure as a run stores it."""
        return tile.NamedFigure(self.title, dict(self.knobs), self.metric, self.pick)


class SuiteComparison(InputTable, frozen=True):
    """Comparison that the bar shows instead of a share of a limit."""

    text: TextOfSides
    value: SuiteFigure | None = None
    against: SuiteFigure | None = None


class SuiteAlso(InputTable, frozen=True):
    """A further value of a tile."""

    show: Literal["value", "plateaus", "half length", "library", "time lost"] = "value"
    label: Text = ""
    figure: SuiteFigure | None = None


class SuiteTile(InputTable, frozen=True):
    """One tile of a suite's file."""

    name: Text
    what: TextOfCores
    figures: Annotated[tuple[SuiteFigure, ...], Meta(min_length=1, max_length=64)]
    kind: Literal["figure", "time lost", "balance"] = "figure"
    bar: Literal["none", "limit", "comparison", "parts"] = "none"
    compared: SuiteComparison | None = None
    also: Annotated[tuple[SuiteAlso, ...], Meta(max_length=tile.MAX_ADDITIONAL_VALUES)] = ()
    missing: Mapping[str, Text] = {}  # text by requirement that is not met; "": any other reason


class SuiteAnswer(InputTable, frozen=True):
    """Sentence above the tiles."""

    subject: TextOfCores = ""
    says: Annotated[tuple[Text, ...], Meta(max_length=tile.MAX_TILES)] = ()
    besides: Text = ""


def check(tiles: Iterable[SuiteTile], answer: SuiteAnswer, titles: Iterable[str]) -> None:
    """Check that tiles name existing requests, and the sentence existing tiles.

    Raises:
        ValueError: a name does not exist, or a bar has nothing to compare.
    """
    tiles, known = tuple(tiles), set(titles)
    for one in tiles:
        for figure in figures_of(one):
            if figure.title not in known:
                raise ValueError(f"the tile {one.name} names a request that the suite does not have: {figure.title!r}")
        for need in filter(None, one.missing):
            facts.check_need(need)
        if (one.kind == "figure" and one.bar == "comparison") != (one.compared is not None):
            raise ValueError(f"the tile {one.name} needs `compared` if and only if its bar is `comparison`")
        if one.bar not in {"figure": ("none", "limit", "comparison"), "balance": ("none", "comparison")}.get(
            one.kind, ("none", "parts")
        ):
            raise ValueError(f"the tile {one.name} of the kind {one.kind!r} cannot have the bar {one.bar!r}")
        if any(part.show in ("value", "plateaus", "half length") and part.figure is None for part in one.also):
            raise ValueError(f"an entry of `also` of the tile {one.name} names no figure")
    names = [one.name for one in tiles]
    if len(set(names)) < len(names):
        raise ValueError("two tiles have the same name")
    for name in _FIELD.findall(" ".join([*answer.says, answer.besides])):
        for part in name.split("/"):
            if part not in names:
                raise ValueError(f"the answer names a tile that the suite does not have: {{{name}}}")


def figures_of(one: SuiteTile) -> list[SuiteFigure]:
    """Return all figures that a tile names: headline, comparison and further values."""
    compared = [one.compared.value, one.compared.against] if one.compared else []
    return [*one.figures, *(figure for figure in (*compared, *(r.figure for r in one.also)) if figure)]


def declared(tiles: Iterable[SuiteTile], answer: SuiteAnswer, machine: Machine) -> tile.DeclaredScreen:
    """Return the first screen for a machine, with the number of cores and unmet requirements in its texts."""
    cores = facts.facts(machine)["cores"]

    def filled(text: str, number: str) -> str:
        return text.replace("{cores}", f"{number} core{'s' * (cores != 1)}")

    return tile.DeclaredScreen(
        tile.DeclaredAnswer(filled(answer.subject, number_word(cores).capitalize()), answer.says, answer.besides),
        tuple(
            tile.DeclaredTile(
                name=one.name,
                what=filled(one.what, str(cores)),
                figures=tuple(figure.named() for figure in one.figures),
                kind=one.kind,
                bar=one.bar,
                compared=_comparison(one.compared),
                also=tuple(map(_also, one.also)),
                missing=_missing(one.missing, machine),
            )
            for one in tiles
        ),
    )


def _comparison(one: SuiteComparison | None) -> tile.TileComparison | None:
    if one is None:
        return None
    return tile.TileComparison(one.text, *(side.named() if side else None for side in (one.value, one.against)))


def _also(one: SuiteAlso) -> tile.Also:
    return tile.Also(one.show, one.label, one.figure.named() if one.figure else None)


def _missing(words: Mapping[str, str], machine: Machine) -> str:
    """Return the text of the first requirement that the machine does not meet, or the general text."""
    return next((text for need, text in words.items() if need and facts.missing(need, machine)), words.get("", ""))
