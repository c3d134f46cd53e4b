"""The first screen of a run in the terminal: the sentence, how far it can be believed, and the tiles in columns."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from rich.text import Text

from octant import units
from octant.report.charts.terminal import bar
from octant.report.plain import clean
from octant.stats.grades import SIGNS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octant.report.screen.answer import Tile
    from octant.report.screen.first_screen import FirstScreen
    from octant.stats.grades import GradeName

STYLES: dict[GradeName, str] = {
    "reliable": "", "note": "dim", "limited": "yellow", "not measurable": "red", "wrong": "bold red",
}  # fmt: skip
BAR = 8
LEAST_BESIDE = 44  # columns for what a value claims; with fewer it stands below
LONGEST_NAME = 32


def screen_lines(first: FirstScreen, width: int) -> list[Text]:
    """The first screen in lines of at most `width` columns; lines to copy are as long as they are."""
    reliability = first.reliability
    grade = f"{SIGNS[reliability.grade]} {reliability.grade.capitalize()}"
    said = wrapped(f"{grade}  {reliability.text}", width, hang=len(grade) + 2)
    said[0].stylize(STYLES[reliability.grade] or "green", 0, len(grade))
    return [
        *wrapped(first.answer, width, "bold"),
        *said,
        Text(),
        *_tile_lines(first.tiles, width),
        *_to_do(first, width),
    ]


def _to_do(first: FirstScreen, width: int) -> list[Text]:
    """The first findings with the lines to copy, and how many more there are."""
    passed = units.counted(len(first.passed), "check") + " passed"
    if not first.findings:
        nothing = "Nothing found to mend; " if first.is_reliable else ""
        return [Text(), *wrapped(f"{nothing}{passed}.", width)] if first.passed else []
    lines, shown = [Text(), Text("What to do first", style="bold")], first.shown
    for number, one in enumerate(first.findings[:shown], 1):
        body = (Text(f"   {line}") for line in textwrap.wrap(clean(one.body), width - 3))
        lines += [*wrapped(f"{number}. {one.title}", width, "bold", 3), *body]
        lines += [Text(f"     {clean(line)}", style="cyan") for line in one.lines]
    rest = len(first.findings) - shown
    more = [units.counted(rest, "more finding")] if rest else []
    return [*lines, *wrapped(" · ".join([*more, *[passed] * bool(first.passed)]), width, "dim")]


def _tile_lines(tiles: Sequence[Tile], width: int) -> list[Text]:
    if not tiles:
        return []
    name = min(max(len(tile.name) for tile in tiles), LONGEST_NAME)
    number = max(len(tile.number) for tile in tiles)
    unit = max(len(tile.unit) for tile in tiles)
    grade = max((len(_grade(tile)) for tile in tiles), default=0)
    margin = name + 2
    left = margin + number + 1 + unit + 2 + grade + 2
    found: list[Text] = []
    for tile in tiles:
        head = Text(f"{clean(tile.name)[:name]:<{name}}  ", style="bold")
        if tile.missing:
            head.append(clean(f"{tile.what}: {tile.missing}"), style="dim")
            found += _cut(head, width, margin)
            continue
        head.append(f"{tile.number:>{number}}", style="bold").append(f" {tile.unit:<{unit}}  ", style="not bold")
        head.append(f"{_grade(tile):<{grade}}  ", style=f"not bold {STYLES[tile.grade]}")
        beside = width - left >= LEAST_BESIDE
        claim = textwrap.wrap(clean(tile.interval), max(width - left, LEAST_BESIDE)) if beside else []
        head.append(claim[0] if claim else "", style="not bold dim")
        head.rstrip()
        found.append(head)
        found += [Text(" " * left + more, style="dim") for more in claim[1:]]
        further = [clean(tile.what), "" if beside else clean(tile.interval), clean(tile.of), *map(clean, tile.also)]
        shown = f"{bar(tile.bar.shares[0][1], BAR)} " if tile.bar and tile.bar.kind == "limit" else ""
        text = " · ".join(filter(None, [further[0], further[1], f"{shown}{further[2]}", *further[3:]]))
        found += [Text(" " * margin + line, style="dim") for line in textwrap.wrap(text, width - margin)]
    return found


def _grade(tile: Tile) -> str:
    return "" if tile.missing or tile.grade == "reliable" else f"{SIGNS[tile.grade]} {tile.grade}"


def _cut(line: Text, width: int, hang: int) -> list[Text]:
    """A line that is too long, in lines of its own style."""
    return [line] if line.cell_len <= width else wrapped(line.plain, width, "dim", hang)


def wrapped(text: str, width: int, style: str = "", hang: int = 0) -> list[Text]:
    """A text in lines of at most `width` columns, all but the first indented."""
    return [Text(line, style=style) for line in textwrap.wrap(clean(text), width, subsequent_indent=" " * hang)]
