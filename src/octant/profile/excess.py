"""Excess time: how much longer point-to-point calls took than the measured curve of this machine.

The curve is the time T(s) of a message of s bytes: half a round trip between two ranks that do nothing else. A send of
s bytes is expected to take T(s), as is a receive, and both together for a combined call (Sendrecv). The waiting for the
requests of non-blocking calls is part of their time. Sends and receives of a size are taken together, because a
receive also waits for its sender. The result is modelled: contention, waiting and distance are not separated.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from octant import workloads
from octant.profile.categories import category_of
from octant.profile.results import ExcessCall, ExcessRow, ExcessTime
from octant.profile.totals import bucket_limits, groups, is_counts_only, mpi_seconds, share_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from octant.message_times import MessageTimes
    from octant.profile.job import JobProfile

_MESSAGES = {"send": 1, "receive": 1, "exchange": 2}
"""Expected number of message times of one call."""
NOT_GIVEN = "there is no measured curve of messages between two ranks of this machine with this MPI library"


@dataclass(frozen=True)
class MessageCurve:
    """Measured time of one message over its length, between two ranks of this machine."""

    times: MessageTimes
    shortest: float  # measured length, bytes
    longest: float
    source: str = ""  # "run 20261126-1, Open MPI 4.1.4": where the curve comes from
    eager_limit: int | None = None  # bytes; the longest measured message of the first protocol, if known
    rendezvous_from: int | None = None  # bytes; the shortest measured message of the next protocol, if known
    between_hosts: bool = False

    def seconds(self, length: float) -> float:
        """Return the time of a message; the first and the last segment are extended."""
        return float(self.times.seconds(np.array([length]))[0])

    def has_length(self, length: float) -> bool:
        """Return whether a length is between the shortest and the longest measured message."""
        return self.shortest <= length <= self.longest


LENGTHS = "0,8,64,256,1KiB,2KiB,4KiB,8KiB,16KiB,32KiB,64KiB,128KiB,256KiB,1MiB,4MiB"
"""Lengths of messages from which the curve is fitted."""


@dataclass(frozen=True)
class NoCurve:
    """Why there is no curve to compare with."""

    reason: str


def curve_command(hosts: Iterable[str] = ()) -> str:
    """Return the command that measures the curve between two ranks: of one host, or of the first two hosts."""
    kernels = workloads.workloads().items()
    name = next((name for name, one in kernels if one.messages and one.traffic and one.duplex), "")
    words = ["octant", "run", name, f"bytes={LENGTHS}", "buffers=hot,rotating", "--ranks", "2"]
    two = sorted(hosts)[:2]
    words += ["--hosts", ",".join(two)] if len(two) > 1 else []
    return shlex.join(words) if name else ""


def excess_time(job: JobProfile, curve: MessageCurve | NoCurve | None) -> ExcessTime:
    """Return the excess of sends and receives of each size, or the reason why there is none."""
    hosts = {one.host for one in job.processes}
    if is_counts_only(job):
        return ExcessTime(reason="calls were counted without times; profile without --counts")
    if not isinstance(curve, MessageCurve):
        return ExcessTime(reason=curve.reason if curve else NOT_GIVEN, command=curve_command(hosts))
    if len(hosts) > 1 and not curve.between_hosts:
        return ExcessTime(
            reason=f"the ranks are on {len(hosts)} hosts, and the curve ({curve.source}) is that of one host",
            command=curve_command(hosts),
        )
    parts = {number: _MESSAGES.get(category_of(name), 0) for number, name in enumerate(job.call_names)}
    messages = [number for number, of in parts.items() if of]
    chosen = job.calls[np.isin(job.calls["call"], messages)]
    if not len(chosen):
        return ExcessTime(reason="the program sends no point-to-point messages", curve=curve.source)
    rows = {key[0]: _row(job, parts, part, curve) for key, part in groups(chosen, "bucket")}
    shares = {bucket: share_of(row.excess_s, row.time_s) for bucket, row in rows.items()}
    calls = [_call(job, parts, part, shares, curve) for _, part in groups(chosen, "call")]
    excess = sum(one.excess_s for one in rows.values())
    return ExcessTime(
        rows=tuple(rows.values()),
        calls=tuple(sorted(calls, key=lambda one: (-one.excess_s, one.name))),
        excess_s=excess,
        share=min(1.0, share_of(excess, mpi_seconds(job))),
        curve=curve.source,
        eager_limit=curve.eager_limit,
        rendezvous_from=curve.rendezvous_from,
    )


def _row(job: JobProfile, parts: Mapping[int, int], rows: np.ndarray, curve: MessageCurve) -> ExcessRow:
    """Return the excess of the calls of one bucket."""
    first, last = bucket_limits(int(rows["bucket"][0]))
    time_s, expected, calls = time_with_waiting(rows), _expected(parts, rows, curve), int(rows["calls"].sum())
    mean = float(rows["bytes"].sum()) / calls if calls else 0.0
    return ExcessRow(
        first=first,
        last=last,
        names=tuple(sorted({job.call_names[number] for number in rows["call"]})),
        messages=calls,
        time_s=time_s,
        expected_s=expected,
        excess_s=max(0.0, time_s - expected),
        is_extrapolated=not curve.has_length(mean),
    )


def _call(
    job: JobProfile, parts: Mapping[int, int], rows: np.ndarray, shares: Mapping[int, float], curve: MessageCurve
) -> ExcessCall:
    """Return the excess of one function: of each size, the share that the function has of the time."""
    excess = sum(shares[key[0]] * time_with_waiting(part) for key, part in groups(rows, "bucket"))
    return ExcessCall(
        job.call_names[int(rows["call"][0])], time_with_waiting(rows), _expected(parts, rows, curve), excess
    )


def time_with_waiting(rows: np.ndarray) -> float:
    """Return the time of calls, with the waiting for the requests that they started."""
    return float(rows["time_s"].sum() + rows["waited_s"].sum())


def _expected(parts: Mapping[int, int], rows: np.ndarray, curve: MessageCurve) -> float:
    """Return the time of calls on the curve, each function and bucket at its mean size."""
    expected = 0.0
    for (number, _), part in groups(rows, "call", "bucket"):
        calls = int(part["calls"].sum())
        if calls:
            expected += parts[number] * calls * curve.seconds(float(part["bytes"].sum()) / calls)
    return expected
