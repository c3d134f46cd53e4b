"""The first screen that a suite declares: `[answer]` and up to six `[[tiles]]`, checked against the suite's asks."""

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
_MOST = 300  # characters of a text
Text = Annotated[str, Meta(max_length=_MOST)]


def _template(names: str) -> Any:
    """The type of a text whose `{…}` are of this pattern."""

    def read(text: str) -> str:
        for name in _FIELD.findall(text):
            if not re.fullmatch(names, name):
                raise ValueError(f"nothing is called {{{name[:60]}}}; try {names.replace('|', ', ')}")
        return text

    return read_with(read, str, Text)


if TYPE_CHECKING:
    TextOfCores: TypeAlias = str
    TextOfSides: TypeAlias = str
else:
    TextOfCores = _template("cores")
    TextOfSides = _template(r"share|value|against|value\.[a-z]+|against\.[a-z]+")


class SuiteFigure(InputTable, frozen=True):
    """A figure of the suite: of the request with this title."""

    title: Text
    knobs: Mapping[str, Text] = {}
    metric: Text = ""
    pick: Pick = "first"

    def named(self) -> tile.NamedFigure:
        """The same, as a run stores it."""
        return tile.NamedFigure(self.title, dict(self.knobs), self.metric, self.pick)


class SuiteComparison(InputTable, frozen=True):
    """What the bar shows, if it is no share of a limit."""

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
    also: Annotated[tuple[SuiteAlso, ...], Meta(max_length=tile.MOST_ALSO)] = ()
    missing: Mapping[str, Text] = {}  # a need, or "" for any other reason, and what is said where it is not met


class SuiteAnswer(InputTable, frozen=True):
    """The sentence above the tiles."""

    subject: TextOfCores = ""
    says: Annotated[tuple[Text, ...], Meta(max_length=tile.MOST)] = ()
    besides: Text = ""


def check(tiles: Iterable[SuiteTile], answer: SuiteAnswer, titles: Iterable[str]) -> None:
    """Looks whether tiles name asks that there are, and the sentence tiles that there are.

    Raises:
        ValueError: one is not there, or a bar lacks what it compares.
    """
    tiles, known = tuple(tiles), set(titles)
    for one in tiles:
        for figure in figures_of(one):
            if figure.title not in known:
                raise ValueError(f"the tile {one.name} names no request of this suite: {figure.title!r}")
        for need in filter(None, one.missing):
            facts.check_need(need)
        if (one.kind == "figure" and one.bar == "comparison") != (one.compared is not None):
            raise ValueError(
                f"the bar of the tile {one.name} is a comparison without `compared`, or the other way round"
            )
        if one.bar not in {"figure": ("none", "limit", "comparison"), "balance": ("none", "comparison")}.get(
            one.kind, ("none", "parts")
        ):
            raise ValueError(f"the tile {one.name} has no bar of the kind {one.bar!r}")
        if any(part.show in ("value", "plateaus", "half length") and part.figure is None for part in one.also):
            raise ValueError(f"a further value of the tile {one.name} names no figure")
    names = [one.name for one in tiles]
    if len(set(names)) < len(names):
        raise ValueError("two tiles have one name")
    for name in _FIELD.findall(" ".join([*answer.says, answer.besides])):
        for part in name.split("/"):
            if part not in names:
                raise ValueError(f"the answer names no tile of this suite: {{{name}}}")


def figures_of(one: SuiteTile) -> list[SuiteFigure]:
    """Every figure that a tile names: its own, what its bar compares, and further values."""
    compared = [one.compared.value, one.compared.against] if one.compared else []
    return [*one.figures, *(figure for figure in (*compared, *(r.figure for r in one.also)) if figure)]


def declared(tiles: Iterable[SuiteTile], answer: SuiteAnswer, machine: Machine) -> tile.DeclaredScreen:
    """The first screen on a machine: its cores and what it lacks are in the texts."""
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
    """The words of the first need that the machine does not meet, else those for any other reason."""
    return next((says for need, says in words.items() if need and facts.missing(need, machine)), words.get("", ""))
