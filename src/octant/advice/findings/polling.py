"""A rank calls Test or Probe functions very often."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant.advice.findings import RuleResult, RunFinding
from octant.advice.findings._profiles import of_newest_profile
from octant.advice.findings._thresholds import OF_MPI_PROGRAM, POLLS_A_SECOND, RECORDING
from octant.profile.totals import call_totals
from octant.units import percent_text

if TYPE_CHECKING:
    from octant.advice.findings._profiles import ProfiledProgram


def judge_profile(program: ProfiledProgram) -> RuleResult:
    """Return a finding on the function with which ranks poll most, if it takes a relevant time."""
    analysis = program.analysis
    polls = call_totals(analysis.job, ("poll",))
    elapsed = {one.rank: one.elapsed_s for one in analysis.ranks}
    if analysis.is_counts_only or not polls:
        return RuleResult()
    most = max(polls, key=lambda one: one.calls)
    rank = most.calls_of_ranks.rank_of_maximum
    rate = most.calls_of_ranks.maximum / elapsed[rank] if elapsed.get(rank) else 0.0
    seconds = sum(one.time_s for one in polls)
    recording = analysis.reliability.own_cost_share
    relevant = program.share_of_time(seconds) >= OF_MPI_PROGRAM or recording >= RECORDING
    if rate < POLLS_A_SECOND or not relevant:
        return RuleResult(passed=("no rank polls in a relevant time",))
    cheaper = recording >= RECORDING
    share = percent_text(program.share_of_time(seconds))
    advice = "Call a Wait function if the rank has nothing else to do"
    command = "the command counts calls without timing them" if cheaper else "the command profiles the program again"
    return RuleResult(
        (
            RunFinding(
                rule="polling",
                title=f"Rank {rank} calls {most.name} {rate:,.0f} times per second",
                body=f"Such calls take {share} of the time, and recording all calls {percent_text(recording)}. "
                f"{advice}; {command}.",
                lines=program.lines("--counts") if cheaper else program.lines(),
                family="polling",
                gain=program.order(seconds),
                details=tuple(f"{one.name}: {one.calls:,} calls" for one in polls),
            ),
        )
    )


judge = of_newest_profile(judge_profile)
