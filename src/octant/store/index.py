"""What a list of runs shows, kept so that thousands are listed at once. Rebuilt at will, never the truth.

A row holds for as long as the run's files have the sizes and times that it was made from. Where the store cannot be
written, or the index is broken, runs are read instead.
"""

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from octant.store import files

NAME = "index.sqlite"
_FILES = ("asked.json", "plan.jsonl", "records.jsonl")
_VERSION = 5
_TABLE = "CREATE TABLE IF NOT EXISTS runs (id TEXT PRIMARY KEY, stamp TEXT NOT NULL, row BLOB NOT NULL)"


@dataclass(frozen=True)
class Listed:
    """A run as a list shows it."""

    id: str
    folder: str
    title: str
    who: str
    started: str  # ISO 8601 with offset
    machine: str
    study: str  # the name of the study that it answers, or ""
    points: int
    failures: int
    left: int  # launches without all their results
    problems: tuple[str, ...] = ()  # lines that cannot be read
    refused: str = ""  # why none of it can be read; then the rest is empty
    fingerprint: str = ""  # of the machine
    benchmark: str = ""


_ROW = msgspec.json.Decoder(Listed)


def rows(root: Path, names: Iterable[str], read: Callable[[str], Listed]) -> list[Listed]:
    """Return the rows of these runs in this order; `read` makes those that the index does not contain."""
    stamps = {name: _stamp(root / "runs" / name) for name in names}
    if not stamps:
        return []  # a folder without runs need not be a store, and nothing is written there
    with _open_index(root) as index:
        kept = _stored_rows(index) if index else {}
        fresh: list[tuple[str, str, bytes]] = []
        found = []
        for name, stamp in stamps.items():
            row = _decode(kept[name][1]) if name in kept and kept[name][0] == stamp else None
            if row is None:
                row = read(name)
                fresh.append((name, stamp, msgspec.json.encode(row)))
            found.append(row)
        gone = [name for name in kept if name not in stamps]
        if index and (fresh or gone):
            _keep(index, fresh, gone)
    return found


def _stamp(folder: Path) -> str:
    """Sizes and times of a run's files, and where it lies."""
    parts = [str(folder)]
    for name in _FILES:
        try:
            status = os.stat(f"{folder}/{name}")  # noqa: PTH116 - tens of thousands of them
            parts.append(f"{status.st_size} {status.st_mtime_ns}")
        except OSError:
            parts.append("-")
    return ";".join(parts)


def _decode(row: bytes) -> Listed | None:
    try:
        return _ROW.decode(row)
    except (msgspec.DecodeError, RecursionError):
        return None


@contextlib.contextmanager
def _open_index(root: Path) -> Iterator[sqlite3.Connection | None]:
    """Open the index, or create it again if it is broken; `None` if that is impossible."""
    path = root / NAME
    index = _connect(path)
    if index is None:
        with contextlib.suppress(OSError):
            path.unlink()
            index = _connect(path)
    try:
        yield index
    finally:
        if index:
            index.close()


def _connect(path: Path) -> sqlite3.Connection | None:
    index = None
    try:
        os.close(files.open_for_append(path))  # ours alone, and no link to somewhere else
        index = sqlite3.connect(path, timeout=1, isolation_level=None)
        index.execute("PRAGMA trusted_schema = OFF")
        if index.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
            index.execute("DROP TABLE IF EXISTS runs")
            index.execute(f"PRAGMA user_version = {_VERSION}")
        index.execute(_TABLE)
        index.execute("SELECT id, stamp, row FROM runs LIMIT 1").fetchone()
    except (OSError, sqlite3.Error, UnicodeDecodeError):  # sqlite3 decodes what it quotes of a broken schema
        if index:
            index.close()
        return None
    return index


def _stored_rows(index: sqlite3.Connection) -> Mapping[str, tuple[str, bytes]]:
    try:
        rows = index.execute("SELECT id, stamp, row FROM runs")
        return {name: (stamp, row) for name, stamp, row in rows if isinstance(row, bytes)}
    except (sqlite3.Error, UnicodeDecodeError):
        return {}


def _keep(index: sqlite3.Connection, fresh: Iterable[tuple[str, str, bytes]], gone: Iterable[str]) -> None:
    with contextlib.suppress(sqlite3.Error, UnicodeDecodeError):  # another process is writing it, or the disk is full
        index.execute("BEGIN IMMEDIATE")
        index.executemany("INSERT OR REPLACE INTO runs VALUES (?, ?, ?)", fresh)
        index.executemany("DELETE FROM runs WHERE id = ?", [(name,) for name in gone])
        index.execute("COMMIT")
