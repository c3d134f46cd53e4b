"""Captions, labels and facts of pictures: one template per picture, filled from typed values."""

from __future__ import annotations

import functools
import re
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from octant import units
from octant.report import claims
from octant.report.charts.picture import thinned_text

_SPACE = re.compile(r"[ \n]+")  # not the narrow spaces in quantities


def picture_texts(picture: str, **values: Any) -> dict[str, Any]:
    """Return the caption of a picture, its label and its facts, as arguments of `Picture`.

    The template has these three as blocks; each line of the facts is `what | text`.
    """
    template = _environment().get_template(f"{picture}.jinja")
    context = template.new_context(values)
    parts = {name: "".join(block(context)) for name, block in template.blocks.items()}
    lines = [_SPACE.sub(" ", line).partition(" | ") for line in parts.get("facts", "").splitlines() if line.strip()]
    return {
        "caption": _SPACE.sub(" ", parts["caption"]).strip(),
        "label": _SPACE.sub(" ", parts.get("label", "")).strip(),
        "facts": tuple((what.strip(), text.strip()) for what, _, text in lines),
    }


@functools.cache
def _environment() -> Environment:
    environment = Environment(  # noqa: S701 - plain texts; pages escape them
        loader=PackageLoader("octant.report.charts", "texts"), undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    environment.filters.update(
        quantity=claims.quantity, ratio=claims.ratio, bytes=units.bytes_text, percent=units.percent_text,
        si=units.si_text, fixed=units.fixed_text, capital=units.capital, count=units.counted, share=claims.percent,
    )  # fmt: skip
    environment.globals.update(thinned=thinned_text, intervals=claims.caption)
    return environment
