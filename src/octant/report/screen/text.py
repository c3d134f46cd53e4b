"""The first screen of a run in the terminal: identity, headline, reliability, tiles in columns, what to do first."""

import re
import textwrap
from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from octant.advice.findings import RunFinding
from octant.report.claims import NARROW
from octant.report.plain import clean
from octant.report.screen.answer import FitnessLine, Tile
from octant.report.screen.first_screen import FirstScreen
from octant.report.sentences import Sentences
from octant.report.terminal import table_lines
from octant.stats.grades import SIGNS, GradeName

STYLES: dict[GradeName, str] = {
    "reliable": "", "note": "dim", "limited": "yellow", "not measurable": "red", "wrong": "bold red",
}  # fmt: skip
LEAST_DETAILS = 32
"""Columns of the details of tiles; in a narrower terminal they are below the value."""
MAX_DETAILS = 3
"""Lines of details of a tile."""
MAX_BODY = 2
"""Lines of the text of a finding; that of a wrong result is complete."""
SHORT = 24
"""Characters of a phrase that is not divided at the end of a line."""
LONGEST_NAME = 32
_TEXTS = Sentences("octant.report.screen", "screen")


def screen_lines(first: FirstScreen, run: str, width: int, notes: bool = False) -> list[Text]:
    """Return the first screen in lines of at most `width` columns; commands to copy keep their length.

    Args:
        run: id of the run, for commands.
        notes: also all caveats of the tiles, and the table of reliability.
    """
    machine, *about = first.identity or ("",)
    found = [*wrapped(machine, width, "bold", 2), *(line for one in about for line in wrapped(one, width, "dim", 2))]
    found += wrapped(first.incomplete, width, "yellow", 2)
    found += [Text()] if found else []
    label = f"Reliability: {first.reliability.word}."
    reliability = wrapped(f"{label} {first.reliability.text}", width)
    reliability[0].stylize(STYLES[first.reliability.grade] or "green", 0, len(label))
    found += [*wrapped(first.answer, width, "bold"), *reliability, *_fitness_lines(first.fitness, width), Text()]
    found += _tile_lines(first.tiles, width)
    if notes:
        found += _caveat_lines(first, width)
    elif marks := {sign: tile.grade for tile in first.tiles if (sign := _sign(tile))}:
        found += [Text(), *wrapped(_TEXTS.line("caveats", list(marks.items()), run), width, "dim")]
    return [*found, *_to_do(first, width)]


def _fitness_lines(fitness: FitnessLine | None, width: int) -> list[Text]:
    """Return the verdict on the machine with its first reason."""
    if fitness is None:
        return []
    lines = wrapped(f"{fitness.label}. {fitness.text}", width)
    lines[0].stylize(STYLES[fitness.grade] or "green", 0, len(fitness.label) + 1)
    return lines


def _tile_lines(tiles: Sequence[Tile], width: int) -> list[Text]:
    """Return a row per tile, with its details next to it, or below it if the terminal is narrow."""
    measured = [tile for tile in tiles if not tile.missing]
    name = max((min(len(tile.name), LONGEST_NAME) for tile in tiles), default=0)
    number = max((len(tile.number) for tile in measured), default=0)
    table = Table(box=None, show_header=bool(measured), header_style="dim", pad_edge=False, padding=(0, 2, 0, 0))
    ends = "95 % interval" if any(tile.ends for tile in measured) else ""
    for heading, style in (("", "bold"), ("", "bold"), (ends, "dim"), ("", "")):
        table.add_column(heading, style=style, no_wrap=True)
    for tile in measured:
        value = f"{tile.number:>{number}} {tile.unit}" if tile.unit else tile.number
        cells = [f"{clean(tile.name)[:LONGEST_NAME]:<{name}}", clean(value), clean(tile.ends)]
        table.add_row(*map(Text, cells), Text(_sign(tile), style=STYLES[tile.grade]))
    heads = table_lines(table, 500)
    left = max((line.cell_len for line in heads), default=0) + 2
    is_wide = width - left >= LEAST_DETAILS
    head = heads.pop(0) if measured else Text()
    found = [head.append("  details" * is_wide, "dim")] if ends else []
    for tile in tiles:
        if tile.missing:
            head = Text(f"{clean(tile.name):<{name}}", style="bold")
            found += _side_by_side(head, f"{tile.what}: {tile.missing}", name + 2, width)
        elif is_wide:
            found += _side_by_side(heads.pop(0), _details(tile, width - left), left, width)
        else:
            found += [heads.pop(0), *_indented(_details(tile, width - name - 2), name + 2, width)]
    return found


def _sign(tile: Tile) -> str:
    return "" if tile.missing or tile.grade == "reliable" else SIGNS[tile.grade]


def _details(tile: Tile, width: int) -> str:
    phrases = [clean(one).replace(" ", NARROW) if len(one) <= SHORT else clean(one) for one in tile.details]
    return _fitting(phrases, "; ", width, MAX_DETAILS)


def _fitting(texts: list[str], between: str, width: int, most: int) -> str:
    """Return the first texts, as many as fit on `most` lines, at least one; the others are on the page."""
    while len(texts) > 1 and len(textwrap.wrap(between.join(texts), width, break_on_hyphens=False)) > most:
        texts = texts[:-1]
    return between.join(texts)


def _side_by_side(head: Text, text: str, left: int, width: int) -> list[Text]:
    """Return a head with a text in the columns from `left` on."""
    first, *more = _indented(text, left, width) or [Text()]
    head.append(" " * (left - head.cell_len)).append(first.plain[left:], style="not bold dim")
    return [head, *more]


def _indented(text: str, left: int, width: int) -> list[Text]:
    lines = textwrap.wrap(clean(text), max(width - left, 16), break_on_hyphens=False)
    return [Text(" " * left + line, style="dim") for line in lines]


def _caveat_lines(first: FirstScreen, width: int) -> list[Text]:
    """Return all caveats of the tiles, and the table of reliability."""
    found: list[Text] = []
    names: dict[tuple[GradeName, tuple[str, ...]], list[Tile]] = {}  # tiles with the same caveats
    for tile in first.tiles:
        names.setdefault((tile.grade, tile.reasons), []).append(tile)
    for (grade, reasons), alike in names.items():
        text = f"{_sign(alike[0])} {', '.join(tile.name for tile in alike)}: {'; '.join(reasons)}"
        found += wrapped(text, width, STYLES[grade], 2) if reasons else []
    found = [Text(), Text("Caveats", style="bold"), *found] if found else []
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("Reliability", "Observation", "Consequence"):
        table.add_column(heading, overflow="fold")
    for row in first.reliability.rows:
        table.add_row(*map(Text, map(clean, (row.what, row.seen, row.so))))
    return [*found, *table_lines(table, width)]


def _to_do(first: FirstScreen, width: int) -> list[Text]:
    """Return the first findings with the lines to copy, and the numbers of other findings and passed checks."""
    found: list[Text] = []
    for number, one in enumerate(first.findings[: first.shown], 1):
        found += [*wrapped(f"{number}. {one.title}", width, "bold", 3), *_body(one, width)]
        found += [Text(f"     {clean(line)}", style="cyan") for line in one.lines]
    found = [Text(), Text("What to do first", style="bold"), *found] if found else []
    rest = len(first.findings) - first.shown
    summary = _TEXTS.line("checked", bool(found), rest, len(first.passed), first.is_reliable)
    below = wrapped(summary, width, "dim" if found else "")
    return found + below if found or not below else [Text(), *below]


def _body(one: RunFinding, width: int) -> list[Text]:
    sentences = re.split(r"(?<=[.;]) (?=\S)", clean(one.body))
    fitting = " ".join(sentences) if one.kind == "wrong" else _fitting(sentences, " ", width - 3, MAX_BODY)
    text = re.sub(";$", ".", fitting)
    return [Text(f"   {line}") for line in textwrap.wrap(text, width - 3, break_on_hyphens=False)]


def wrapped(text: str, width: int, style: str = "", hang: int = 0) -> list[Text]:
    """Return a text in lines of at most `width` columns, all but the first indented."""
    lines = textwrap.wrap(clean(text), width, subsequent_indent=" " * hang, break_on_hyphens=False)
    return [Text(line, style=style) for line in lines]
