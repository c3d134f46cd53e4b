"""What the shell offers at a tab: names that only Octant knows."""

import os
from pathlib import Path


def workloads(incomplete: str) -> list[str]:
    """Names of workloads: their folders, without loading them."""
    from octant import workloads as folder

    places = [place for path in folder.__path__ for place in Path(path).iterdir()]
    names = {place.name for place in places if place.is_dir() and place.name[0] not in "._"}
    return sorted(name for name in names if name.startswith(incomplete))


def rules(incomplete: str) -> list[str]:
    """Names of the rules of `octant doctor`."""
    from octant.advice import known

    return [name for name in known() if name.startswith(incomplete)]


def runs(incomplete: str) -> list[str]:
    """Runs of the store, the newest first, and the words for the last two."""
    folder = Path(os.environ.get("OCTANT_STORE") or "octant-store", "runs")
    try:
        names = sorted((place.name for place in folder.iterdir()), reverse=True)
    except OSError:
        names = []
    return [name for name in ("last", "previous", *names) if name.startswith(incomplete)]
