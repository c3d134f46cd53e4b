"""Runs in a store with profiles, and runs with times of messages."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from fake_run import fake_run, lane, machine, point, there_and_back, write_run
from octant.profile.container import write_container
from octant.profile.job import Job
from octant.record import Point, RankResources
from octant.record.writer import seal
from octant.store import Store, StoredRun
from program_run import Seen, launches, request_of, stored_program

LENGTHS = (0, 8, 64, 512, 1024, 2048, 4096, 8192, 16384, 65536, 262144, 1 << 20)


def store_profiles(root: Path, jobs: Sequence[Job]) -> StoredRun:
    """Return a stored run of a program in which each launch has one of these profiles."""
    request = request_of(("./solve", "-n", "4"), ranks=jobs[0].ranks)
    run = stored_program(root, request, [launches(Seen(), len(jobs))], on=machine())
    records = run.folder / "records.jsonl"
    waiting, lines = list(jobs), []
    for line in records.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if record["kind"] == "point" and waiting:
            record["files"] = [_store_file(run, record["launch"], waiting.pop(0))]
            del record["crc"]
            line = seal(record)  # noqa: PLW2901
        lines.append(line)
    records.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return Store(root).read(run.id)


def _store_file(run: StoredRun, launch: str, job: Job) -> dict[str, object]:
    content = write_container(job)
    stored = f"{launch}.{'0' * 16}/0.0.profile"
    path = run.folder / "files" / stored
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    crc = f"{zlib.crc32(content):08x}"
    return {"name": "profile", "kind": "profile", "rank": 0, "bytes": len(content), "crc": crc, "stored": stored}


def store_messages(
    root: Path,
    seconds: Callable[[float], float],
    name: str = "20261120-100000-aaaa",
    mpi: str = "MPICH 5.0.1",
    hosts: str = "aa",
    buffers: Sequence[str] = ("hot",),
    lengths: Sequence[int] = LENGTHS,
) -> StoredRun:
    """Return a stored run with the times of single messages between two ranks."""
    points = [_message(length, seconds(length), mpi, hosts, of) for of in buffers for length in lengths]
    run = replace(fake_run(), points=tuple(points), machine=machine(), id=name, folder=Path("runs", name))
    return write_run(run, root)


def _message(length: int, seconds: float, mpi: str, hosts: str, buffers: str) -> Point:
    given = tuple(RankResources(host, (rank,), ((rank,),)) for rank, host in enumerate(hosts))
    return point(
        "steps", workload="mpi/p2p", launch=f"messages-{buffers}-{length}-0", ranks=2, given=given, mpi=mpi,
        knobs={"bytes": str(length), "buffers": buffers, "pattern": "pingpong"}, counts=there_and_back(length),
        lanes=tuple(lane([round(2e9 * seconds)] * 8, rank=rank) for rank in range(2)),
    )  # fmt: skip
