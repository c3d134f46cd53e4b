"""Containers of profiles: as they are, and made of JSON, so that changes get behind the compression."""

import json
import tempfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from octant.profile.classic import write_classic
from octant.profile.container import MAGIC, read_container, write_container
from octant.profile.job import JobProfile
from octant.profile.measures import results, series
from octant.profile.merge import merge
from profile_files import exchange, write_files

FORMAT = "json"


def _job() -> JobProfile:
    with tempfile.TemporaryDirectory() as name:
        return merge(write_files(Path(name), exchange(3)))


def _as_json(data: bytes) -> bytes:
    """Return the parts of a container as one JSON object."""
    head, _, rest = data[len(MAGIC) :].partition(b"\n")
    header = json.loads(head)
    parts: list[Any] = []
    for block in header["blocks"]:
        content, rest = zlib.decompress(rest[: block["stored"]]), rest[block["stored"] :]
        numbers = np.frombuffer(content, block["type"]).tolist() if block["type"] else json.loads(content)
        parts.append({"name": block["name"], "type": block["type"], "content": numbers})
    return json.dumps({"rows": header["rows"], "parts": parts}).encode()


def _container(data: bytes) -> bytes:
    """Return the container of such an object; other data as they are."""
    try:
        whole = json.loads(data)
        blocks, stored = [], []
        for part in whole["parts"]:
            kind = part["type"]
            with np.errstate(all="ignore"):
                numbers = np.array(part["content"]).astype(kind).tobytes() if kind else b""
            content = numbers if kind else json.dumps(part["content"]).encode()
            stored.append(zlib.compress(content, 1))
            blocks.append({"name": part["name"], "type": kind, "bytes": len(content), "stored": len(stored[-1])})
        head = json.dumps({"rows": whole["rows"], "blocks": blocks}).encode()
    except (ValueError, TypeError, LookupError, OverflowError, RecursionError, AttributeError):
        return data
    return MAGIC + head + b"\n" + b"".join(stored)


_WHOLE = write_container(_job())
SEEDS = [_as_json(_WHOLE), _WHOLE]


def read(data: bytes) -> None:
    """What is read is complete enough for results, series and the files of mpitrace."""
    job = read_container(_container(data))
    assert all(np.isfinite(one.value) for one in results(job))
    assert all(one["rank"] < job.ranks for one in series(job))
    if job.processes:
        with tempfile.TemporaryDirectory() as name:
            write_classic(job, Path(name), {"SAVE_ALL_TASKS": "yes"} if job.ranks < 100 else {})
