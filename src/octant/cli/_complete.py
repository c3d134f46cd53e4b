"""Completions for the shell: names that only Octant knows."""

import os
from pathlib import Path


def workloads(incomplete: str) -> list[str]:
    """Names of workloads, with family where the input has one: their folders, without loading them."""
    from octant import workloads as folder

    places = [place.parent for path in folder.__path__ for place in Path(path).glob("[!._]*/[!._]*/__init__.py")]
    bare = [place.name for place in places]
    offered = [
        place.name for place in places if bare.count(place.name) == 1 or place.parent.name == folder.FIRST_FAMILY
    ]
    if "/" in incomplete or not any(name.startswith(incomplete) for name in offered):
        offered = [f"{place.parent.name}/{place.name}" for place in places]
    return sorted(name for name in offered if name.startswith(incomplete))


def rules(incomplete: str) -> list[str]:
    """Names of the rules of `octant doctor`."""
    from octant.advice import all_rules

    return [name for name in all_rules() if name.startswith(incomplete)]


def runs(incomplete: str) -> list[str]:
    """Runs of the store, the newest first, and the names of the last two."""
    folder = Path(os.environ.get("OCTANT_STORE") or "octant-store", "runs")
    try:
        names = sorted((place.name for place in folder.iterdir()), reverse=True)
    except OSError:
        names = []
    return [name for name in ("last", "previous", *names) if name.startswith(incomplete)]
