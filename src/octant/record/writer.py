"""Lines of a records file that no kernel wrote, and the checksum that ends every line."""

import json
import math
import re
import zlib
from collections.abc import Mapping
from typing import Any

from octant.record import FORMAT, Failure, KeptFile, Point, Process, RecordError, link_traffic
from octant.record.ends import name_of

_CRC = re.compile(rb',"crc":"([0-9a-f]{8})"}')


def failure_line(failure: Failure) -> str:
    """Return the line of a failure that the launcher saw and the kernel could not write."""
    progress = {"share": failure.share, "phase": failure.phase} if failure.share is not None else None
    return seal(
        {
            "format": FORMAT, "kind": "failure", "workload": failure.workload, "launch": failure.launch,
            "knobs": dict(failure.knobs), "ranks": failure.ranks, "reason": failure.reason, "exit": int(failure.exit),
            "end": name_of(failure.exit),
            **({"progress": progress} if progress else {}),
            **({"files": [kept_member(one) for one in failure.files]} if failure.files else {}),
        }
    )  # fmt: skip


def point_line(point: Point) -> str:
    """Return the line of a point with results only, which no kernel wrote."""
    results = [
        {
            "name": one.name, "value": one.value if math.isfinite(one.value) else None, "unit": one.unit,
            **({} if one.bound is None else {"bound": one.bound}), "group": one.group,
        }
        for one in point.results
    ]  # fmt: skip
    return seal(
        {
            "format": FORMAT, "kind": "point", "workload": point.workload, "launch": point.launch,
            "knobs": dict(point.knobs),
            "shape": {"ranks": point.ranks, "threads": point.threads, "groups": list(map(list, point.groups))},
            "pace": point.pace, "work": [], "results": results, "notes": dict(point.notes),
        }
    )  # fmt: skip


def kept_member(file: KeptFile) -> dict[str, str | int]:
    """Return an item of a point's `files`, in the form that a `Reader` reads."""
    end = {"left_out": file.left_out} if file.left_out else {"crc": file.crc, "stored": file.stored}
    return {"name": file.name, "kind": file.kind, "rank": file.rank, "bytes": file.bytes, **end}


def launch_line(launch: str, process: Process) -> str:
    """Return the line with the start time of processes, for points that no kernel wrote."""
    return seal({"format": FORMAT, "kind": "launch", "launch": launch, "started": process.started})


def link_line(launch: str, link: str, report: bytes) -> str:
    """Return the line with the traffic of an emulated link, from the report of octant-link.

    Raises:
        RecordError: the report is invalid.
    """
    return seal({"format": FORMAT, "kind": "link", "launch": launch, "link": link, **link_traffic.members(report)})


def seal(members: Mapping[str, Any]) -> str:
    """Return a JSON object as one line whose last member is the checksum of the preceding text."""
    text = json.dumps(members, separators=(",", ":"), allow_nan=False)[:-1]
    return f'{text},"crc":"{zlib.crc32(text.encode()):08x}"}}'


def unseal(line: bytes) -> bytes:
    """Return the line of `seal` without its end, after the checksum was verified.

    Raises:
        RecordError: incomplete, damaged, or of another format.
    """
    body = line.rstrip(b"\r\n")
    crc = _CRC.fullmatch(body, max(0, len(body) - 18))
    if crc is None:
        raise RecordError("incomplete line or no record: it does not end with a checksum")
    if zlib.crc32(memoryview(body)[: crc.start()]) != int(crc[1], 16):
        raise RecordError("damaged: the checksum does not match")
    if not body.startswith(f'{{"format":{FORMAT},'.encode()):
        raise RecordError(f"this version does not read its format, only 1 and {FORMAT}")
    return body
