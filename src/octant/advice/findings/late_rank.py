"""All ranks of a collective wait for the same rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant.advice.findings import RuleResult, RunFinding
from octant.advice.findings._profiles import of_newest_profile
from octant.advice.findings._thresholds import OF_MPI_PROGRAM
from octant.units import counted, percent_text, si_text

if TYPE_CHECKING:
    from octant.advice.findings._profiles import ProfiledProgram
    from octant.profile.results import CollectiveWait


def judge_profile(program: ProfiledProgram) -> RuleResult:
    """Return a finding on the collective with the most waiting for one rank."""
    analysis = program.analysis
    late = [one for one in analysis.waits if one.rank is not None]
    if not late or program.share_of_time(late[0].waited_s) < OF_MPI_PROGRAM:
        return RuleResult(passed=("no rank was waited for in one collective",) if analysis.waits else ())
    wait = late[0]
    others = wait.ranks - 1
    each = si_text(wait.waited_s / others, "s")
    who = "The other rank waits" if others == 1 else f"The other {others} ranks wait"
    if wait.is_one_event:
        body = f"{who} {each} on average, most of it in one call. Examine what rank {wait.rank} does before this call; "
    else:
        body = (
            f"{who} {each} on average, in {counted(wait.calls, 'call')}. Give rank {wait.rank} less work before this "
        )
        body += "call; "
    repeats = analysis.repeats
    options: tuple[str, ...] = ()
    if repeats.late is None:
        options, command = ("--repeats", "3"), "the command shows whether the same rank is late in further launches."
    else:
        command = "then profile again with the command."
        body = f"In {repeats.late} of {counted(repeats.launches, 'launch')}, the same rank is late. {body}"
    body += command
    return RuleResult(
        (
            RunFinding(
                rule="late rank",
                title=f"{percent_text(wait.share)} of MPI time is waiting for rank {wait.rank} in {_place(wait)}",
                body=body,
                lines=program.lines(*options),
                family="late rank",
                gain=program.order(wait.waited_s),
                details=(
                    f"{_basis(wait)}: rank {wait.rank} {si_text(wait.least_s, 's')}, the next rank "
                    f"{si_text(wait.next_s, 's')}",
                ),
            ),
        )
    )


judge = of_newest_profile(judge_profile)


def _basis(wait: CollectiveWait) -> str:
    """Return how the waiting is known."""
    return "measured in a barrier before the call" if wait.basis == "measured" else "inferred from the time in the call"


def _place(wait: CollectiveWait) -> str:
    """Return the call and its site."""
    return f"{wait.name} at {wait.site.text}"
