"""Puts changed inputs to every reader of foreign text; exits with 1 where one crashes, hangs, or leaves a traceback.

    python tests/fuzz/run.py [--inputs N] [--only TARGET] [--seconds S] [--network MODULE] [--jobs J]

The same N gives the same inputs everywhere. An input whose way through a reader is new (which line refused it, and in
which words) joins those that are changed further. Inputs run in children, so that what kills one is known by its
number. With the network module built under a sanitizer: `make fuzz`.
"""

import argparse
import functools
import hashlib
import importlib.util
import mmap
import multiprocessing
import os
import pickle
import random
import select
import struct
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

os.environ["OMP_NUM_THREADS"] = "1"  # before the network module starts its threads

from fuzz_mutations import mutate
from fuzz_targets import SECONDS, Target, attempt, kept, peak_mib, targets
from paths import ROOT

BATCH = 500
"""Inputs of one child."""
STUCK_S = 60.0
"""After so long on one input, in native code that no signal interrupts, the child is killed."""
MAX_KEPT = 400
"""Inputs of a target that are changed further."""
FINDINGS = ROOT / "build" / "fuzz"


@dataclass
class Tally:
    """What came of a target."""

    name: str
    inputs: int = 0
    seconds: float = 0.0
    peak_mib: float = 0.0
    grown_mib: float = 0.0
    ways: int = 0
    findings: dict[str, tuple[bytes, str]] = field(default_factory=dict)  # by where: input, fault


@dataclass
class _Batch:
    fresh: dict[str, bytes] = field(default_factory=dict)
    findings: dict[str, tuple[bytes, str]] = field(default_factory=dict)
    peak_mib: float = 0.0
    grown_mib: float = 0.0


def _input(target: Target, pool: Sequence[bytes], number: int) -> bytes:
    """The input of that number: first the seeds and what once failed, as they are."""
    if number < len(pool):
        return pool[number]
    rng = random.Random(f"{target.name} {number}")
    return mutate(rng.choice(pool), pool, target.form, rng, target.most_bytes)


def _child(target: Target, pool: list[bytes], known: frozenset[str], first: int, last: int, at: mmap.mmap) -> _Batch:
    batch, begin = _Batch(), peak_mib()
    for number in range(first, last):
        at[:8] = struct.pack("q", number)
        data = _input(target, pool, number)
        outcome = attempt(target, data, _SECONDS[0])
        if outcome.fault and outcome.where not in batch.findings:
            batch.findings[outcome.where] = _shrunk(target, data, outcome.where), outcome.fault
        elif outcome.where not in known and outcome.where not in batch.fresh:
            batch.fresh[outcome.where] = data
    batch.peak_mib = peak_mib()
    batch.grown_mib = batch.peak_mib - begin
    return batch


def _shrunk(target: Target, data: bytes, where: str, tries: int = 150) -> bytes:
    """A shorter input with the same fault."""
    size, end = max(1, len(data) // 2), time.monotonic() + 20
    while size and tries and time.monotonic() < end:
        for begin in range(0, len(data), size):
            tries -= 1
            less = data[:begin] + data[begin + size :]
            outcome = attempt(target, less, _SECONDS[0])
            if outcome.fault and outcome.where == where:
                data = less
                break
            if not tries:
                break
        else:
            size //= 2
    return data


def _run_batch(target: Target, pool: list[bytes], known: frozenset[str], first: int, last: int) -> tuple[int, _Batch]:
    """Runs inputs in a child; gives the number behind the last that it got to."""
    at = mmap.mmap(-1, 8)
    at[:8] = struct.pack("q", first)
    reading, writing = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(reading)
            with os.fdopen(writing, "wb") as out:
                pickle.dump(_child(target, pool, known, first, last, at), out)
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    answer, number, since = b"", first, time.monotonic()
    with os.fdopen(reading, "rb", buffering=0) as source:
        while True:
            if select.select([source], [], [], 1.0)[0]:
                if not (part := source.read(1 << 20)):
                    break
                answer += part
            (now,) = struct.unpack("q", at[:8])
            if now != number:
                number, since = now, time.monotonic()
            elif time.monotonic() - since > STUCK_S:
                os.kill(child, 9)
    _, status = os.waitpid(child, 0)
    if status == 0:
        return last, pickle.loads(answer)  # noqa: S301 - of our own child
    (number,) = struct.unpack("q", at[:8])
    why = f"the process ended with {os.waitstatus_to_exitcode(status)}"
    return number + 1, _Batch(findings={f"killed at {number}": (_input(target, pool, number), why)})


def run(target: Target, inputs: int) -> Tally:
    """Puts so many inputs to a target."""
    tally, begin = Tally(target.name), time.monotonic()
    pool = [*target.seeds, *(path.read_bytes() for path in kept(target.name))]
    known: set[str] = set()
    number = 0
    while number < inputs:
        number, batch = _run_batch(target, pool, frozenset(known), number, min(inputs, number + BATCH))
        known |= batch.fresh.keys()
        pool += list(batch.fresh.values())[: max(0, MAX_KEPT - len(pool))]
        tally.findings = {**batch.findings, **tally.findings}
        tally.peak_mib = max(tally.peak_mib, batch.peak_mib)
        tally.grown_mib = max(tally.grown_mib, batch.grown_mib)
    tally.inputs, tally.seconds, tally.ways = number, time.monotonic() - begin, len(known)
    return tally


def _keep(tally: Tally) -> None:
    """Writes what failed below build/fuzz; into tests/fuzz/corpus it goes with the correction."""
    for data, fault in tally.findings.values():
        folder = FINDINGS / tally.name
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / hashlib.sha256(data).hexdigest()[:12]
        path.write_bytes(data)
        print(f"\n{tally.name}: {path.relative_to(ROOT)}\n{fault}", flush=True)


def _use_network(path: Path) -> None:
    """Takes the network module from that file or folder."""
    import octant

    file = next(path.glob("_network*.so")) if path.is_dir() else path
    spec = importlib.util.spec_from_file_location("octant._network", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    setattr(octant, "_network", module)  # noqa: B010 - which mypy knows as the module of stubs


def _worker(name: str, inputs: int) -> Tally:
    return run(_TARGETS[name], inputs)


_TARGETS: dict[str, Target] = {}
_SECONDS = [SECONDS]  # that one input may take; set before children start


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=1000, help="for each target")
    parser.add_argument("--only", action="append", default=[], help="a target; may be given several times")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of the processor that one input may take")
    parser.add_argument("--network", type=Path, help="file or folder of the module to use")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    if asked.network:
        _use_network(asked.network)
    warnings.simplefilter("error")  # on the terminal of a user they are as wrong as a traceback
    if os.access("/dev/shm", os.W_OK):  # noqa: S108 - folders of our own in it; on a disk each costs milliseconds
        tempfile.tempdir = "/dev/shm"  # noqa: S108
    _TARGETS.update(targets())
    os.environ["OCTANT_KERNELS"] = str(FINDINGS / "no-kernels")  # a reader that asks for a kernel must not build it
    _SECONDS[0] = asked.seconds
    names = asked.only or list(_TARGETS)
    with multiprocessing.get_context("fork").Pool(min(asked.jobs, len(names)), maxtasksperchild=1) as workers:
        tallies = []
        for tally in workers.imap_unordered(functools.partial(_worker, inputs=asked.inputs), names):
            _keep(tally)
            tallies.append(tally)
            print(
                f"{tally.name:20} {tally.inputs:9,} inputs {tally.inputs / tally.seconds:8,.0f}/s {tally.ways:5} ways "
                f"{tally.peak_mib:6.0f} MiB at most (+{tally.grown_mib:.0f}) {len(tally.findings):3} findings",
                flush=True,
            )
    total = sum(tally.inputs for tally in tallies)
    found = sum(len(tally.findings) for tally in tallies)
    print(f"{total:,} inputs, {found} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
