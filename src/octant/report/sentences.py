"""Sentences of reports as Jinja2 templates: a file per screen or table, whose macros are filled from typed values."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

from octant import units
from octant.report import claims
from octant.report.plain import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

_SPACES = re.compile("[ \n]+")  # not the narrow space before units


def listed(texts: Sequence[str]) -> str:
    """Return `a, b and c`."""
    return " and ".join(filter(None, (", ".join(texts[:-1]), *texts[-1:])))


class Sentences:
    """The macros of one template file, which is loaded at the first use.

    Control characters of values are replaced. A macro that uses a value without having it raises `UndefinedError`.
    """

    def __init__(self, package: str, template: str) -> None:
        self._package, self._template = package, template

    @functools.cached_property
    def _macros(self) -> Any:
        from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - slow to load

        environment = Environment(  # noqa: S701 - plain text for terminals; pages escape it
            loader=PackageLoader(self._package), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
            finalize=lambda value: clean(value) if isinstance(value, str) else value,
        )  # fmt: skip
        environment.filters.update(
            bytes=units.bytes_text, capital=units.capital, listed=listed, percent=claims.percent,
            quantity=claims.quantity, ratio=claims.ratio, narrow=units.unbroken,
        )  # fmt: skip
        environment.globals.update(counted=units.counted, number_word=units.number_word)
        return environment.get_template(f"{self._template}.jinja").module

    def lines(self, macro: str, /, *values: object, **named: object) -> list[str]:
        """Return the lines of a macro that are not empty, with single spaces."""
        text: str = getattr(self._macros, macro)(*values, **named)
        return [line for part in text.split("\n") if (line := _SPACES.sub(" ", part).strip(" "))]

    def line(self, macro: str, /, *values: object, **named: object) -> str:
        """Return the text of a macro as one line."""
        return " ".join(self.lines(macro, *values, **named))
