"""The index of a store, which lists runs: whatever is in it, the list is right."""

import tempfile
from pathlib import Path

from octant.store import Store
from octant.store.index import Listed, rows

FORMAT = "text"
_ID = "20261121-214530-3f2a"


def _row(_name: str) -> Listed:
    return Listed(_ID, "", "title", "run", "2026-11-21T21:45:31Z", "a", "", 3, 0, 1)


def _index() -> bytes:
    with tempfile.TemporaryDirectory() as name:
        rows(Path(name), [_ID], _row)
        return (Path(name) / "index.sqlite").read_bytes()


SEEDS = [_index(), b""]


def read(data: bytes) -> None:
    """The list of a store of one run, which it has or has not."""
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "index.sqlite").write_bytes(data)
        found = rows(Path(name), [_ID], _row)
        assert [row.id for row in found] == [_ID]
        assert not Store(Path(name)).list_runs()
