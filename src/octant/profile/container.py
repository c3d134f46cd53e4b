"""The file that contains the profile of a launch; docs/records.md describes it.

Everything in a file is checked before it is used: sizes before memory is allocated, numbers before they are indices.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta, Struct

from octant.failure import Exit, Refusal
from octant.profile.job import CALLS, PEERS, REGION_TIMES, Communicator, JobProfile, ProcessProfile, Region, Site
from octant.profile.process_file import MAX_AMOUNT, MAX_RANKS

MAGIC = b"octant profile 1\n"
MAX_HEADER_BYTES = 1 << 20
MAX_TABLES_BYTES = 1 << 28
"""Maximum length of the tables as JSON."""
MAX_ROWS = 1 << 24
"""Maximum number of rows of an array."""
_MAX_RATIO = 1100  # of zlib; a declared size above it is wrong
_TABLES = "tables"
_ARRAYS = {"calls": CALLS, "peers": PEERS, "region_times": REGION_TIMES}
_NARROW = {"i": ("|i1", "<i2", "<i4", "<i8"), "f": ("<f4", "<f8")}
_Count = Annotated[int, Meta(ge=0, le=1 << 40)]
_Text = Annotated[str, Meta(max_length=8192)]
_Number = Annotated[int, Meta(ge=0, le=1 << 62)]
_Seconds = Annotated[float, Meta(ge=0, le=1e18)]
_Rank = Annotated[int, Meta(ge=0, lt=MAX_RANKS)]


class _Block(Struct):
    """One compressed part of the file: the tables, or a column of an array."""

    name: _Text
    stored: _Count  # bytes in the file
    bytes: _Count  # when decompressed
    type: _Text = ""  # of numbers, as numpy names it; "": text


class _Header(Struct):
    rows: dict[_Text, _Count]
    blocks: Annotated[list[_Block], Meta(max_length=200)]


class _Process(Struct):
    rank: _Rank
    host: _Text
    pid: int
    state: _Text
    elapsed_s: _Seconds
    threads: _Number
    mpi_s: _Seconds
    own_cost_s: _Seconds
    clock_s: _Seconds
    lost_calls: _Number = 0
    lost_requests: _Number = 0
    peak_memory_bytes: _Number | None = None
    user_s: _Seconds | None = None
    system_s: _Seconds | None = None
    context_switches: _Number | None = None
    flags: Annotated[tuple[_Text, ...], Meta(max_length=32)] = ()


class _Site(Struct):
    module: _Text
    offset: _Number
    function: _Text = ""
    file: _Text = ""
    line: _Number = 0
    build_id: _Text = ""


class _Communicator(Struct):
    name: _Text
    size: _Number
    kind: _Text = "communicator"


class _Region(Struct):
    name: _Text
    parent: int = -1


class _Tables(Struct):
    ranks: Annotated[int, Meta(ge=0, le=MAX_RANKS)]
    processes: list[_Process]
    call_names: list[_Text]
    sites: list[_Site]
    communicators: list[_Communicator]
    regions: list[_Region]
    library: _Text = ""
    abi: _Text = ""
    program: _Text = ""
    missing: list[tuple[_Rank, _Rank]] = []  # first and last of each range
    problems: list[_Text] = []


class _DamageError(ValueError):
    """What is wrong with a file."""


def write_container(job: JobProfile) -> bytes:
    """Return a profile as the content of a file."""
    tables = _Tables(
        job.ranks,
        [_Process(*(getattr(one, each.name) for each in fields(ProcessProfile))) for one in job.processes],
        list(job.call_names),
        [_Site(one.module, one.offset, one.function, one.file, one.line, one.build_id) for one in job.sites],
        [_Communicator(one.name, one.size, one.kind) for one in job.communicators],
        [_Region(one.name, one.parent) for one in job.regions],
        job.library,
        job.abi,
        job.program,
        list(_ranges(job.missing)),
        list(job.problems),
    )
    text = msgspec.json.encode(tables)
    stored = [zlib.compress(text)]
    blocks = [_Block(_TABLES, len(stored[0]), len(text))]
    for name, kind in _ARRAYS.items():
        for column in kind.names or ():
            values = _narrowed(getattr(job, name)[column])
            stored.append(zlib.compress(values.tobytes(), 6))
            blocks.append(_Block(f"{name}.{column}", len(stored[-1]), values.nbytes, values.dtype.str))
    header = _Header({name: len(getattr(job, name)) for name in _ARRAYS}, blocks)
    return b"".join([MAGIC, msgspec.json.encode(header), b"\n", *stored])


def _ranges(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    first = last = None
    for number in sorted(numbers):
        if first is None or last is None or number != last + 1:
            if first is not None and last is not None:
                yield first, last
            first = number
        last = number
    if first is not None and last is not None:
        yield first, last


def _narrowed(values: np.ndarray) -> np.ndarray:
    """Return the values in the smallest type that contains them exactly."""
    for name in _NARROW[values.dtype.kind]:
        with np.errstate(over="ignore"):
            narrow: np.ndarray = np.ascontiguousarray(values).astype(name)
        if (narrow == values).all():
            return narrow
    return np.ascontiguousarray(values)  # not a number


def read_container(data: bytes) -> JobProfile:
    """Return the profile in the content of a file.

    Raises:
        Refusal: it is no profile, of a later version, or damaged.
    """
    try:
        return _read(data)
    except (_DamageError, msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        text = f"cannot read the profile ({error}); profile the program again with octant profile"
        raise Refusal(text, Exit.WRONG_WORD) from error


def _read(data: bytes) -> JobProfile:
    if not data.startswith(MAGIC):
        if data.startswith(MAGIC[:-2]):
            raise _DamageError("it has a later version")
        raise _DamageError("it is not a file of octant profile")
    end = data.find(b"\n", len(MAGIC), len(MAGIC) + MAX_HEADER_BYTES)
    if end < 0:
        raise _DamageError("its header has no end")
    header = msgspec.json.decode(data[len(MAGIC) : end], type=_Header)
    found = _blocks(data, end + 1, header)
    if _TABLES not in found:
        raise _DamageError("its tables are missing")
    tables = msgspec.json.decode(found[_TABLES], type=_Tables)
    arrays = {name: _array(name, kind, header.rows.get(name, 0), found) for name, kind in _ARRAYS.items()}
    _check_tables(tables)
    _check_calls(arrays["calls"], tables)
    _check_others(arrays["peers"], arrays["region_times"], tables)
    return JobProfile(
        tables.ranks,
        tuple(
            ProcessProfile(*(getattr(one, each.name) for each in fields(ProcessProfile))) for one in tables.processes
        ),
        tuple(tables.call_names),
        tuple(Site(one.module, one.offset, one.function, one.file, one.line, one.build_id) for one in tables.sites),
        tuple(Communicator(one.name, one.size, one.kind) for one in tables.communicators),
        tuple(Region(one.name, one.parent) for one in tables.regions),
        library=tables.library,
        abi=tables.abi,
        program=tables.program,
        missing=tuple(rank for first, last in tables.missing for rank in range(first, last + 1)),
        problems=tuple(tables.problems),
        **arrays,
    )


def _blocks(data: bytes, at: int, header: _Header) -> dict[str, Any]:
    """Return the tables as JSON and each known column; sizes are checked before anything is decompressed."""
    found: dict[str, Any] = {}
    for name, rows in header.rows.items():
        if rows > MAX_ROWS:
            raise _DamageError(f"{name} has {rows} rows, of at most {MAX_ROWS}")
    known = {f"{name}.{column}": name for name, kind in _ARRAYS.items() for column in kind.names or ()}
    for block in header.blocks:
        if block.stored > len(data) - at:
            raise _DamageError(f"{block.name} ends {block.stored - len(data) + at} bytes after the end of the file")
        if block.name in found:
            raise _DamageError(f"{block.name} exists twice")
        part = data[at : at + block.stored]
        at += block.stored
        if block.name == _TABLES:
            found[_TABLES] = _decompress(block, part, MAX_TABLES_BYTES)
        elif block.name in known:
            if block.type not in _NARROW["i"] + _NARROW["f"]:
                raise _DamageError(f"{block.name} has the unknown type {block.type!r}")
            rows, kind = header.rows.get(known[block.name], 0), np.dtype(block.type)
            if block.bytes != rows * kind.itemsize:
                raise _DamageError(f"{block.name} has {block.bytes} bytes for {rows} rows")
            found[block.name] = np.frombuffer(_decompress(block, part, MAX_ROWS * 8), kind)
    if at != len(data):
        raise _DamageError(f"it has {len(data) - at} bytes after its last part")
    return found


def _decompress(block: _Block, part: bytes, limit: int) -> bytes:
    if block.bytes > min(limit, len(part) * _MAX_RATIO):
        raise _DamageError(f"{block.name} has {block.bytes} bytes, which is too many")
    stream = zlib.decompressobj()
    try:
        found = stream.decompress(part, block.bytes + 1)
    except zlib.error as error:
        raise _DamageError(f"{block.name} is damaged") from error
    if len(found) != block.bytes or not stream.eof or stream.unused_data:
        raise _DamageError(f"{block.name} does not have the stated {block.bytes} bytes")
    return found


def _array(name: str, kind: np.dtype[Any], rows: int, columns: dict[str, Any]) -> np.ndarray:
    found = np.zeros(rows, kind)
    for column in kind.names or ():
        values = columns.get(f"{name}.{column}")
        if values is None:
            if rows:
                raise _DamageError(f"{name}.{column} is missing")
            continue
        wanted = found.dtype[column]
        if values.dtype.kind != wanted.kind or values.dtype.itemsize > wanted.itemsize:
            raise _DamageError(f"{name}.{column} has the type {values.dtype.str} instead of {wanted.str}")
        found[column] = values
    return found


def _check_tables(tables: _Tables) -> None:
    ranks = [one.rank for one in tables.processes]
    if ranks != sorted(set(ranks)) or (ranks and ranks[-1] >= tables.ranks):
        raise _DamageError(f"its processes are not in the order of {tables.ranks} ranks")
    if not tables.regions:
        raise _DamageError("it has no region of the whole program")
    for number, region in enumerate(tables.regions):
        if not (region.parent == -1 if number == 0 else 0 <= region.parent < number):
            raise _DamageError(f"region {number} has the parent {region.parent}")
    before = -1
    for first, last in tables.missing:
        if not before < first <= last < tables.ranks:
            raise _DamageError(f"its missing ranks {first} to {last} are not valid")
        before = last


def _check_calls(calls: np.ndarray, tables: _Tables) -> None:
    _check_range("calls", calls, "rank", 0, tables.ranks)
    _check_range("calls", calls, "thread", 0, 1 << 20)
    _check_range("calls", calls, "call", 0, len(tables.call_names))
    _check_range("calls", calls, "site", 0, len(tables.sites))
    _check_range("calls", calls, "communicator", 0, len(tables.communicators))
    _check_range("calls", calls, "region", 0, len(tables.regions))
    _check_range("calls", calls, "bucket", 0, 65)
    for column in ("calls", "bytes"):
        _check_range("calls", calls, column, 0, MAX_AMOUNT + 1)
    for column in ("time_s", "waited_s", "in_flight_s", "min_s", "max_s"):
        _check_times("calls", calls, column)


def _check_others(peers: np.ndarray, times: np.ndarray, tables: _Tables) -> None:
    _check_range("peers", peers, "rank", 0, tables.ranks)
    _check_range("peers", peers, "peer", -1, tables.ranks)
    _check_range("peers", peers, "kind", 0, 4)
    for column in ("messages", "bytes"):
        _check_range("peers", peers, column, 0, MAX_AMOUNT + 1)
    _check_range("region_times", times, "rank", 0, tables.ranks)
    _check_range("region_times", times, "region", 0, len(tables.regions))
    _check_range("region_times", times, "visits", 0, MAX_AMOUNT + 1)
    for column in ("time_s", "mpi_s"):
        _check_times("region_times", times, column)


def _check_range(name: str, rows: np.ndarray, column: str, least: int, end: int) -> None:
    """Check that integers are at least `least` and less than `end`."""
    if not len(rows):
        return
    values = rows[column]
    for value in (int(values.min()), int(values.max())):
        if not least <= value < end:
            raise _DamageError(f"{name}.{column} contains {value}, and must be between {least} and {end - 1}")


def _check_times(name: str, rows: np.ndarray, column: str) -> None:
    values = rows[column]
    if len(values) and not (np.isfinite(values).all() and values.min() >= 0):
        raise _DamageError(f"{name}.{column} contains a time that is negative or no number")
