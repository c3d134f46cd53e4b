"""Rules on profiles: each fires on what was planted for it, and is silent on what was planted for the others."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import replace

import pytest

from octant.advice.findings import (
    RuleResult,
    eager_limit,
    late_rank,
    polling,
    small_messages,
    small_reductions,
)
from octant.advice.findings._profiles import ProfiledProgram
from octant.advice.findings._thresholds import MANY_MESSAGES
from octant.message_times import LengthSegment, MessageTimes
from octant.profile.analysis import analyse
from octant.profile.excess import MessageCurve
from octant.profile.job import SENT, JobProfile
from profile_jobs import MadeProfile
from program_run import request_of

RULES: dict[str, Callable[[ProfiledProgram], RuleResult]] = {
    "late rank": late_rank.judge_profile,
    "small messages": small_messages.judge_profile,
    "small reductions": small_reductions.judge_profile,
    "eager limit": eager_limit.judge_profile,
    "polling": polling.judge_profile,
}
CURVE = MessageCurve(
    MessageTimes((LengthSegment(0, 1e-6, 1e-10), LengthSegment(8192, 5e-6, 1e-10))),
    shortest=0,
    longest=1 << 20,
    source="run 1, Open MPI 4.1.4",
    eager_limit=4040,
    rendezvous_from=8192,
)
LIBRARY = "Open MPI v4.1.4, package: Debian OpenMPI"


def program(made: MadeProfile, curve: MessageCurve | None = CURVE, **changed: object) -> ProfiledProgram:
    """Return the analysed profile of `./solve`, in a run with the id X."""
    job = made.job(**{"library": LIBRARY, **changed})
    request = request_of(("./solve", "-n", "4"), ranks=made.ranks)
    return ProfiledProgram(analyse(job, curve=curve), "octant profile report X", request)


def calm() -> MadeProfile:
    """Return a balanced program that mostly computes: 1000 balanced reductions, few messages of 1 MiB."""
    made = MadeProfile(4)
    for rank in range(4):
        made.add(rank, "MPI_Allreduce", 1000, 8, 0.02 + 0.001 * rank)
        made.add(rank, "MPI_Send", 100, 1 << 20, 0.3, site=1)
        made.add(rank, "MPI_Recv", 100, 1 << 20, 0.3, site=2)
        made.peers.append((rank, (rank + 1) % 4, SENT, 100, 100 << 20))
    return made


def with_late_rank() -> MadeProfile:
    made = calm()
    for rank in range(4):
        made.add(rank, "MPI_Allreduce", 500, 800, 0.001 if rank == 3 else 2.0, site=3)
    return made


def with_small_messages() -> MadeProfile:
    made = calm()
    made.add(0, "MPI_Isend", 200_000, 64, 0.1, site=4, waited_s=1.0, in_flight_s=2.0)
    made.add(1, "MPI_Recv", 200_000, 64, 1.5, site=5)
    made.peers.append((0, 2, SENT, 200_000, 64 * 200_000))
    return made


def with_small_reductions() -> MadeProfile:
    made = calm()
    for rank in range(4):
        for site in (6, 7, 8):
            made.add(rank, "MPI_Allreduce", 70_000, 8, 0.4 + 0.01 * rank, site=site)
    return made


def with_messages_above_the_limit() -> MadeProfile:
    made = calm()
    for rank in range(4):
        made.add(rank, "MPI_Send", 10_000, 9000, 1.0, site=9)
    return made


def with_polling() -> MadeProfile:
    made = calm()
    made.add(2, "MPI_Iprobe", 5_000_000, 0, 2.0, site=10)
    return made


PLANTED = {
    "late rank": with_late_rank,
    "small messages": with_small_messages,
    "small reductions": with_small_reductions,
    "eager limit": with_messages_above_the_limit,
    "polling": with_polling,
}


@pytest.mark.parametrize("name", PLANTED)
def test_each_rule_finds_what_was_planted_for_it_and_nothing_else(name: str) -> None:
    of = program(PLANTED[name]())
    found = [one for judge in RULES.values() for one in judge(of).found]
    assert [one.rule for one in found] == [name]
    (one,) = found
    assert one.gain > 0
    assert one.family == name
    assert one.lines
    assert len(re.findall(r"[.;](?= [A-Z])|\.$", one.body)) <= 2, one.body


@pytest.mark.parametrize("name", RULES)
def test_a_calm_program_passes(name: str) -> None:
    result = RULES[name](program(calm()))
    assert not result.found


def counted_only(job: JobProfile) -> JobProfile:
    """Return a job as if calls had been counted without times."""
    calls = job.calls.copy()
    calls["time_s"] = calls["waited_s"] = calls["in_flight_s"] = 0.0
    processes = tuple(replace(one, mpi_s=0.0, flags=("counts only",)) for one in job.processes)
    return replace(job, calls=calls, processes=processes)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("planted", PLANTED)
def test_nothing_is_found_in_counts(name: str, planted: str) -> None:
    job = counted_only(PLANTED[planted]().job(library=LIBRARY))
    of = ProfiledProgram(analyse(job, curve=CURVE), "octant profile report X")
    assert RULES[name](of) == RuleResult()


@pytest.mark.parametrize("name", RULES)
def test_irrelevant_time_is_no_finding(name: str) -> None:
    """The same calls in a program that runs a hundred times as long."""
    made = PLANTED[name]()
    made.elapsed_s *= 100
    assert not RULES[name](program(made)).found


def test_the_late_rank_its_call_and_its_site_are_named() -> None:
    (one,) = late_rank.judge_profile(program(with_late_rank())).found
    assert "rank 3 in MPI_Allreduce at function_3 app.c:3" in one.title
    assert "inferred" in one.details[0]
    assert one.lines == ("octant profile --ranks 4 --repeats 3 -- ./solve -n 4",)


def test_further_launches_say_whether_the_same_rank_is_late() -> None:
    """Random delays between launches name another rank; the command does not repeat what was measured."""
    elsewhere = calm()
    for rank in range(4):
        elsewhere.add(rank, "MPI_Allreduce", 500, 800, 0.001 if rank == 1 else 2.0, site=3)
    others = [with_late_rank().job(), elsewhere.job(), calm().job()]
    analysis = analyse(with_late_rank().job(), others)
    assert (analysis.repeats.launches, analysis.repeats.late) == (4, 2)
    (one,) = late_rank.judge_profile(replace(program(with_late_rank()), analysis=analysis)).found
    assert one.body.startswith("In 2 of 4 launches, the same rank is late.")
    assert one.lines == ("octant profile --ranks 4 -- ./solve -n 4",)
    assert analyse(calm().job(), others).repeats.late is None


def test_a_rank_that_was_late_once_is_reported_as_such() -> None:
    made = MadeProfile(4)
    for rank in range(4):
        made.add(rank, "MPI_Barrier", 1, 0, 1e-5 if rank == 1 else 3.0)
    (one,) = late_rank.judge_profile(program(made)).found
    assert "most of it in one call" in one.body


def test_the_pair_with_most_small_messages_is_named() -> None:
    (one,) = small_messages.judge_profile(program(with_small_messages())).found
    assert one.title == "Rank 0 sends 200,000 messages of 64 B on average to rank 2"
    made = with_small_messages()
    made.peers[-1] = (0, 2, SENT, MANY_MESSAGES - 1, 64 * (MANY_MESSAGES - 1))
    assert not small_messages.judge_profile(program(made)).found


def test_reductions_of_other_numbers_or_sizes_are_not_combined() -> None:
    for calls, size in ((70_000, 16), (60_000, 8), (70_000, 4096)):
        made = calm()
        for rank in range(4):
            made.add(rank, "MPI_Allreduce", 70_000, 8, 0.8, site=6)
            made.add(rank, "MPI_Allreduce", calls, size, 0.8, site=7)
        assert not small_reductions.judge_profile(program(made)).found


def test_reductions_that_some_ranks_make_less_often_are_not_combined() -> None:
    made = calm()
    for rank in range(4):
        for site in (6, 7):
            made.add(rank, "MPI_Allreduce", 70_000 - rank, 8, 0.8, site=site)
    assert not small_reductions.judge_profile(program(made)).found


@pytest.mark.parametrize(
    ("size", "expected"), [(4000, False), (5000, False), (9000, True), (16_000, True), (17_000, False)]
)
def test_only_sizes_above_the_limit_and_near_it_are_found(size: int, expected: bool) -> None:
    made = calm()
    for rank in range(4):
        made.add(rank, "MPI_Send", 10_000, size, 1.0, site=9)
    assert bool(eager_limit.judge_profile(program(made)).found) == expected


def test_the_commands_set_the_limit_of_the_library() -> None:
    (one,) = eager_limit.judge_profile(program(with_messages_above_the_limit())).found
    assert "export OMPI_MCA_btl_vader_eager_limit=16440" in one.lines  # 16 KiB and a header of 56 B
    assert one.lines[-1].startswith("octant profile ")
    for library in ("Intel(R) MPI Library 2021.19 for Linux* OS", "an unknown library"):
        assert not eager_limit.judge_profile(program(with_messages_above_the_limit(), library=library)).found


def test_without_a_curve_there_is_no_eager_limit() -> None:
    assert eager_limit.judge_profile(program(with_messages_above_the_limit(), curve=None)) == RuleResult()


def test_polling_that_costs_recording_proposes_counts() -> None:
    made = with_polling()
    (one,) = polling.judge_profile(program(made)).found
    assert "MPI_Iprobe 500,000 times per second" in one.title
    assert "--counts" not in one.lines[0]
    job = made.job()
    costly = replace(job, processes=tuple(replace(p, own_cost_s=0.5) for p in job.processes))
    of = ProfiledProgram(analyse(costly), "octant profile report X", request_of(("./solve",), ranks=4))
    (one,) = polling.judge_profile(of).found
    assert shlex.split(one.lines[0])[:5] == ["octant", "profile", "--ranks", "4", "--counts"]


def test_a_program_that_cannot_be_typed_is_shown_instead() -> None:
    of = replace(program(calm()), request=None)
    assert of.lines("--counts") == ("octant profile report X",)
