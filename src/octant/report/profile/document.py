"""The analysis of a profile as JSON: every number as it is in `Analysis`, with how it was obtained."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from octant import __version__
from octant.profile.job import Site
from octant.report.plain import clean
from octant.report.profile.first import answer_text
from octant.report.profile.tables import definitions

if TYPE_CHECKING:
    from octant.profile.results import Analysis

FORMAT = "octant-profile-1"
"""Name of the format; members may be added without a new number."""
_BYTES = frozenset({"bytes", "bytes_sent", "mean_bytes"})


def report_json(analysis: Analysis) -> str:
    """Return the document as indented JSON."""
    return json.dumps(document(analysis), ensure_ascii=False, indent=1, allow_nan=False)


def document(analysis: Analysis) -> dict[str, Any]:
    """Return all results of an analysis as JSON types.

    `basis` is how the numbers of an object were obtained. `null` is a value that is not known or not defined; times are
    in seconds, sizes in bytes, shares between 0 and 1.
    """
    job = analysis.job
    about = {
        "format": FORMAT, "octant": __version__, "program": job.program, "ranks_of_job": job.ranks,
        "library": job.library, "abi": job.abi, "is_complete": job.is_complete, "answer": answer_text(analysis),
        "definitions": dict(definitions()),
    }  # fmt: skip
    values = {one.name: plain(getattr(analysis, one.name)) for one in fields(analysis) if one.name != "job"}
    return {**about, **(_without_bytes(values) if analysis.is_counts_only else values)}


def _without_bytes(value: Any) -> Any:
    """Return the results of a profile that has only numbers of calls, with `null` for bytes."""
    if isinstance(value, dict):
        return {name: None if name in _BYTES else _without_bytes(one) for name, one in value.items()}
    return [_without_bytes(one) for one in value] if isinstance(value, list) else value


def plain(value: object) -> Any:
    """Return a result as JSON types: objects with their basis, arrays as lists, sites with their text."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if is_dataclass(value) and not isinstance(value, type):
        members = {one.name: plain(getattr(value, one.name)) for one in fields(value)}
        text = {"text": clean(value.text)} if isinstance(value, Site) else {}
        basis = {"basis": value.KIND} if hasattr(value, "KIND") else {}
        return basis | members | text
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value
