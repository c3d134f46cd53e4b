"""Published rates from the catalogue, in base units, for comparison with the model."""

import csv
import io
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources

from octant.network.files import NetworkFile


@dataclass(frozen=True)
class PublishedPoint:
    """One published value, in base units per node, with its source."""

    value: float
    results: str
    relation: str
    derived: str = ""  # its computation from the printed value
    calibrated: tuple[str, ...] = ()  # values of the model that were calibrated with it


@lru_cache
def _rows(results: str) -> tuple[dict[str, str], ...]:
    path = resources.files("octant.catalogue") / "results" / f"{results}.csv"
    return tuple(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


def published_points(network: NetworkFile, traffic: str) -> dict[int, PublishedPoint]:
    """Return the published values by size; empty: the catalogue contains none for this traffic."""
    source = network.published.get(traffic)
    if source is None:
        return {}
    found: dict[int, PublishedPoint] = {}
    for row in _rows(source.results):
        size = row.get(source.size) or ""
        if not size.isdigit() or any(row.get(key) != value for key, value in source.where.items()):
            continue
        value = float(row["value"]) * source.scale
        if row["metric"] == source.metric:
            found[int(size)] = PublishedPoint(value, source.results, row["relation"])
        elif source.total and row["metric"] == source.total and int(size) not in found and row.get("nodes"):
            text = f"{row['value']} {row['unit']} / {row['nodes']} nodes"
            value = float(row["value"]) * (source.total_scale or source.scale)
            found[int(size)] = PublishedPoint(value / float(row["nodes"]), source.results, row["relation"], text)
    return {size: replace(point, calibrated=network.calibrated_on(traffic, size)) for size, point in found.items()}
