"""Shell completion of workloads, rules and runs."""

import os
from pathlib import Path


def workloads(incomplete: str) -> list[str]:
    """Return names of workloads from their folders, with the family if the input contains one."""
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
    """Return the names of the rules of `octant doctor`."""
    from octant.advice import all_rules

    return [name for name in all_rules() if name.startswith(incomplete)]


def runs(incomplete: str) -> list[str]:
    """Return `last`, `previous` and the runs of the store, newest first."""
    folder = Path(os.environ.get("OCTANT_STORE") or "octant-store", "runs")
    try:
        names = sorted((place.name for place in folder.iterdir()), reverse=True)
    except OSError:
        names = []
    return [name for name in ("last", "previous", *names) if name.startswith(incomplete)]
