"""A rank sends many small messages to the same rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from octant.advice.findings import RuleResult, RunFinding
from octant.advice.findings._profiles import of_newest_profile
from octant.advice.findings._thresholds import MANY_MESSAGES, OF_MPI_PROGRAM, SMALL_MESSAGE
from octant.profile.categories import category_of
from octant.profile.excess import time_with_waiting
from octant.profile.job import SENT
from octant.profile.totals import bucket_limits
from octant.units import bytes_text, percent_text

if TYPE_CHECKING:
    from octant.advice.findings._profiles import ProfiledProgram
    from octant.profile.job import JobProfile


def judge_profile(program: ProfiledProgram) -> RuleResult:
    """Return a finding on the pair of ranks with most small messages, if such messages take a relevant time."""
    analysis = program.analysis
    job = analysis.job
    sent = job.peers[(job.peers["kind"] == SENT) & (job.peers["peer"] >= 0) & (job.peers["peer"] != job.peers["rank"])]
    if analysis.is_counts_only or not len(sent):
        return RuleResult()
    small = sent[(sent["messages"] >= MANY_MESSAGES) & (sent["bytes"] < SMALL_MESSAGE * sent["messages"])]
    seconds = _seconds(job)
    if not len(small) or program.share_of_time(seconds) < OF_MPI_PROGRAM:
        return RuleResult(passed=("no rank sends many small messages to one rank in a relevant time",))
    most = small[np.argmax(small["messages"])]
    rank, peer, messages = int(most["rank"]), int(most["peer"]), int(most["messages"])
    size = bytes_text(round(int(most["bytes"]) / messages))
    share = percent_text(program.share_of_time(seconds))
    return RuleResult(
        (
            RunFinding(
                rule="small messages",
                title=f"Rank {rank} sends {messages:,} messages of {size} on average to rank {peer}",
                body=f"Calls for messages below {bytes_text(SMALL_MESSAGE)} take {share} of the time, nearly all of it "
                "the start of each message. Collect data for the same rank in one message, then profile again with the "
                "command.",
                lines=program.lines(),
                family="small messages",
                gain=program.order(seconds),
                details=(f"{len(small):,} pairs of ranks with at least {MANY_MESSAGES:,} such messages",),
            ),
        )
    )


judge = of_newest_profile(judge_profile)


def _seconds(job: JobProfile) -> float:
    """Return the time of calls that send or receive small messages, with the waiting for their requests."""
    kinds = ("send", "receive", "exchange")
    numbers = [number for number, name in enumerate(job.call_names) if category_of(name) in kinds]
    buckets = [number for number in range(64) if bucket_limits(number)[1] < SMALL_MESSAGE]
    rows = job.calls[np.isin(job.calls["call"], numbers) & np.isin(job.calls["bucket"], buckets)]
    return time_with_waiting(rows)
