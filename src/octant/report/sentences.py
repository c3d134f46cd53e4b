"""Sentences of reports as Jinja2 templates, filled from typed values: a file per screen, table or picture."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from octant import units
from octant.report.plain import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from jinja2 import Environment

_SPACES = re.compile("[ \n]+")  # not the narrow space before units


def listed(texts: Sequence[str]) -> str:
    """Return `a, b and c`."""
    return " and ".join(filter(None, (", ".join(texts[:-1]), *texts[-1:])))


def thinned_text(kept: int, of: int, what: str) -> str:
    """Return a sentence about thinned items: ` 12 of 40 lines are drawn; …`; empty if none is missing."""
    return f" {kept} of {of} {what} are drawn; `octant export` writes all." if kept < of else ""


def text_environment(package: str, clean_text: Callable[[str], str] = str, autoescape: bool = False) -> Environment:
    """Return the templates of a package, with filters for quantities; `clean_text` is applied to every text value."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - slow to load

    templates = Environment(
        loader=PackageLoader(package), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        autoescape=autoescape,  # noqa: S701 - plain text for terminals
        finalize=lambda value: clean_text(value) if isinstance(value, str) and not isinstance(value, Markup) else value,
    )  # fmt: skip
    templates.filters.update(bytes=units.bytes_text, capital=units.capital, si=units.si_text)
    templates.globals.update(counted=units.counted)
    return templates


@functools.lru_cache(maxsize=16)  # templates are compiled once
def environment(package: str, clean_text: Callable[[str], str] = clean, autoescape: bool = False) -> Environment:
    """Return the same with the texts of values of figures."""
    from octant.report import claims  # noqa: PLC0415 - loads numpy

    templates = text_environment(package, clean_text, autoescape)
    templates.filters.update(
        fixed=units.fixed_text, listed=listed, percent=claims.percent, quantity=claims.quantity, ratio=claims.ratio,
        narrow=units.unbroken,
    )  # fmt: skip
    templates.globals.update(intervals=claims.caption, number_word=units.number_word, thinned=thinned_text)
    return templates


class Sentences:
    """The macros of one template file, which is loaded at the first use.

    Control characters of values are replaced. A macro that uses a value without having it raises `UndefinedError`.
    """

    def __init__(self, package: str, template: str) -> None:
        self._package, self._template = package, template

    @functools.cached_property
    def _macros(self) -> Any:
        return environment(self._package).get_template(f"{self._template}.jinja").module

    def lines(self, macro: str, /, *values: object, **named: object) -> list[str]:
        """Return the lines of a macro that are not empty, with single spaces."""
        text: str = getattr(self._macros, macro)(*values, **named)
        return [line for part in text.split("\n") if (line := _SPACES.sub(" ", part).strip(" "))]

    def line(self, macro: str, /, *values: object, **named: object) -> str:
        """Return the text of a macro as one line."""
        return " ".join(self.lines(macro, *values, **named))


def picture_texts(picture: str, **values: object) -> dict[str, Any]:
    """Return the caption of a picture, its label and its facts, as arguments of `Picture`.

    The template has these three as blocks; each line of the facts is `what | text`.
    """
    template = environment("octant.report.charts").get_template(f"{picture}.jinja")
    context = template.new_context(values)
    blocks = {name: "".join(block(context)) for name, block in template.blocks.items()}
    caption, label, facts = (blocks.get(name, "") for name in ("caption", "label", "facts"))
    lines = [_SPACES.sub(" ", line).partition(" | ") for line in facts.splitlines() if line.strip()]
    return {
        "caption": _SPACES.sub(" ", caption).strip(), "label": _SPACES.sub(" ", label).strip(),
        "facts": tuple((what.strip(), text.strip()) for what, _, text in lines),
    }  # fmt: skip
