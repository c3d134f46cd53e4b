"""Files of merged profiles: exact round trips, and the refusal of every inconsistent file."""

import re
import zlib
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from octant.failure import Refusal
from octant.profile.container import MAGIC, read_container, write_container
from octant.profile.job import CALLS, JobProfile, Region, Site
from octant.profile.merge import merge
from profile_files import MadeProcess, exchange, write_files


@pytest.fixture
def job(tmp_path: Path) -> JobProfile:
    return merge(write_files(tmp_path, exchange(4)))


def same(one: JobProfile, other: JobProfile) -> bool:
    """Whether two profiles are equal in every bit."""
    for each in fields(JobProfile):
        a, b = getattr(one, each.name), getattr(other, each.name)
        if isinstance(a, np.ndarray):
            if a.dtype != b.dtype or a.tobytes() != b.tobytes():
                return False
        elif a != b:
            return False
    return True


def test_what_is_written_is_read(job: JobProfile, tmp_path: Path) -> None:
    assert same(read_container(write_container(job)), job)
    calls = job.calls.copy()
    calls["time_s"] = np.pi  # not a single-precision number
    calls["bytes"][0] = 2**62
    resolved = tuple(replace(site, function="f<int>", file="/src/a.cpp", line=7) for site in job.sites)
    second = replace(job, calls=calls, sites=resolved, missing=(), problems=("A problem.",), program="/ä")
    assert same(read_container(write_container(second)), second)
    empty = merge([], ranks=1000)
    assert same(read_container(write_container(empty)), empty)
    killed = merge(write_files(tmp_path, [MadeProcess(3, 9, state="running")]))
    assert set(killed.missing) == set(range(9)) - {3}
    assert same(read_container(write_container(killed)), killed)


def parts(data: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """Return the header and the compressed blocks."""
    head, _, rest = data[len(MAGIC) :].partition(b"\n")
    header = msgspec.json.decode(head)
    blocks = []
    for block in header["blocks"]:
        blocks.append(rest[: block["stored"]])
        rest = rest[block["stored"] :]
    return header, blocks


def joined(header: dict[str, Any], blocks: list[bytes]) -> bytes:
    return MAGIC + msgspec.json.encode(header) + b"\n" + b"".join(blocks)


def with_column(data: bytes, name: str, values: np.ndarray) -> bytes:
    header, blocks = parts(data)
    (at,) = [number for number, block in enumerate(header["blocks"]) if block["name"] == name]
    blocks[at] = zlib.compress(values.tobytes())
    header["blocks"][at] |= {"stored": len(blocks[at]), "bytes": values.nbytes, "type": values.dtype.str}
    return joined(header, blocks)


def with_tables(data: bytes, **values: object) -> bytes:
    header, blocks = parts(data)
    text = msgspec.json.encode({**msgspec.json.decode(zlib.decompress(blocks[0])), **values})
    blocks[0] = zlib.compress(text)
    header["blocks"][0] |= {"stored": len(blocks[0]), "bytes": len(text)}
    return joined(header, blocks)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("calls.rank", 4, "calls.rank contains 4, and must be between 0 and 3"),
        ("calls.rank", -1, "calls.rank contains -1"),
        ("calls.call", 9999, "calls.call contains 9999"),
        ("calls.site", 5, "calls.site contains 5, and must be between 0 and 4"),
        ("calls.communicator", 2, "calls.communicator contains 2"),
        ("calls.region", 2, "calls.region contains 2"),
        ("calls.bucket", 65, "calls.bucket contains 65"),
        ("calls.calls", -5, "calls.calls contains -5"),
        ("calls.time_s", -1.0, "calls.time_s contains a time that is negative or no number"),
        ("calls.max_s", float("nan"), "calls.max_s contains a time that is negative or no number"),
        ("peers.peer", -2, "peers.peer contains -2"),
        ("peers.kind", 4, "peers.kind contains 4"),
        ("region_times.region", 2, "region_times.region contains 2"),
        ("region_times.time_s", float("inf"), "region_times.time_s contains a time"),
    ],
)
def test_values_out_of_range_are_refused(job: JobProfile, column: str, value: float, message: str) -> None:
    name, _, field = column.partition(".")
    values = getattr(job, name)[field].copy()
    values[-1] = value
    with pytest.raises(Refusal, match=re.escape(f"cannot read the profile ({message}")):
        read_container(with_column(write_container(job), column, values))


def test_inconsistent_sizes_are_refused_before_memory_is_allocated(job: JobProfile) -> None:
    data = write_container(job)

    def refused(change: dict[str, Any], message: str, **header_change: object) -> None:
        header, blocks = parts(data)
        header["blocks"][3] |= change
        with pytest.raises(Refusal, match=re.escape(message)):
            read_container(joined({**header, **header_change}, blocks))

    refused({"bytes": 10**9}, "calls.call has 1000000000 bytes for 20 rows")
    refused({}, "calls has 1099511627776 rows, of at most 16777216", rows={"calls": 2**40})
    refused({}, "has", rows={"calls": 10**7})
    refused({"stored": 10**9}, "after the end of the file")
    refused({"stored": -1}, "Expected `int` >= 0")
    refused({"type": "|O"}, "calls.call has the unknown type '|O'")
    refused({"name": "calls.rank"}, "calls.rank exists twice")
    refused({"name": "calls.later"}, "calls.call is missing")
    for length in (0, 5, len(MAGIC), 100, len(data) // 2, len(data) - 1):
        with pytest.raises(Refusal):
            read_container(data[:length])
    with pytest.raises(Refusal, match="bytes after its last part"):
        read_container(data + b"x")


def test_a_compressed_bomb_is_refused(job: JobProfile) -> None:
    header, blocks = parts(write_container(job))
    blocks[0] = zlib.compress(b" " * 50_000_000, 9)
    header["blocks"][0] |= {"stored": len(blocks[0])}
    with pytest.raises(Refusal, match="tables does not have the stated"):
        read_container(joined(header, blocks))
    header["blocks"][0] |= {"bytes": 2**38}
    with pytest.raises(Refusal, match="tables has 274877906944 bytes, which is too many"):
        read_container(joined(header, blocks))


def test_damaged_tables_are_refused(job: JobProfile) -> None:
    data = write_container(job)

    def refused(message: str, **values: object) -> None:
        with pytest.raises(Refusal, match=re.escape(message)):
            read_container(with_tables(data, **values))

    refused("its processes are not in the order of 3 ranks", ranks=3)
    refused("it has no region of the whole program", regions=[])
    refused("region 1 has the parent 1", regions=[{"name": ""}, {"name": "x", "parent": 1}])
    refused("its missing ranks 2 to 1 are not valid", missing=[(2, 1)])
    refused("its missing ranks 0 to 7 are not valid", missing=[(0, 7)])
    refused("Expected `int`", ranks="4")
    header, blocks = parts(data)
    with pytest.raises(Refusal, match="its tables are missing"):
        read_container(joined({**header, "blocks": header["blocks"][1:]}, blocks[1:]))


def test_later_versions_are_named_and_additions_ignored(job: JobProfile) -> None:
    data = write_container(job)
    with pytest.raises(Refusal, match="it has a later version"):
        read_container(data.replace(b"octant profile 1", b"octant profile 2", 1))
    with pytest.raises(Refusal, match="it is not a file of octant profile"):
        read_container(b"{}")
    header, blocks = parts(with_tables(data, later=[1]))
    extra = zlib.compress(b"xyz")
    header["blocks"].append({"name": "waits", "stored": len(extra), "bytes": 3, "type": "json"})
    assert same(read_container(joined({**header, "also": 1}, [*blocks, extra])), job)


def test_columns_take_the_space_that_their_values_need() -> None:
    calls = np.zeros(1000, CALLS)
    calls["time_s"] = np.random.default_rng(1).random(1000).astype(np.float32)
    some = JobProfile(1, (), ("MPI_Send",), (Site("", 0),), (), (Region(""),))
    data = write_container(replace(some, calls=calls))
    assert 3000 < len(data) < 6000
