"""Names of benchmarks of other tools in Octant: the equivalent workload and its knobs, as data."""

import functools
import importlib.resources
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from octant.foreign._text import slug_of
from octant.untrusted import parse_toml


@dataclass(frozen=True)
class OctantName:
    """Workload and knobs of a benchmark in Octant."""

    workload: str
    knobs: Mapping[str, str] = field(default_factory=dict)
    ranks: int | None = None  # by its definition


def find_octant_name(tool: str, benchmark: str, knobs: Collection[str] = ()) -> OctantName:
    """Return the equivalent workload of a tool's benchmark; `imported/TOOL_NAME` if there is none.

    Args:
        knobs: names of the knobs of its table.
    """
    slug = slug_of(benchmark)
    entry = _names().get(tool, {}).get(slug)
    if entry is None or not set(_names()["apart"].get(tool, ())).isdisjoint(knobs):
        return OctantName(f"imported/{tool}_{slug}", ranks=(entry or {}).get("ranks"))
    rest = {name: str(value) for name, value in entry.items() if name not in ("workload", "ranks")}
    return OctantName(entry.get("workload", f"imported/{tool}_{slug}"), rest, entry.get("ranks"))


@functools.cache
def _names() -> dict[str, Any]:
    text = importlib.resources.files(__package__).joinpath("names.toml").read_text(encoding="utf-8")
    return parse_toml(text, "names of benchmarks")
