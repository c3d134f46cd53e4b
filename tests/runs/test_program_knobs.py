"""Values of a program's knobs are texts: two spellings of one amount are two cells."""

from collections.abc import Mapping

from fake_run import point
from octant.failure import Exit
from octant.record import Failure, Point
from octant.request import Launch, Request, Subject
from octant.runs.programs.reference import is_launch_of, is_of_cell
from octant.runs.programs.timeouts import NO_LIMIT_S, TimeLimits
from octant.runs.starts import list_starts
from octant.store import separate_repeated

REQUEST = Request(Subject(command=("./app", "{n}")), {"n": "1k,1024,1KiB,prefer:0,preferred:0"})
LAUNCH = Launch(REQUEST)
FIRST, SECOND, THIRD, *_ = LAUNCH.starts()


def answer(knobs: Mapping[str, str]) -> Point:
    """Return the records of a launch of a cell."""
    return point(workload="program/app", launch=LAUNCH.key, knobs=knobs, spent_s={"measure_s": 4.0})


def test_each_spelling_is_started_once_in_the_drawn_order() -> None:
    for seed in range(20):
        forwards, backwards = (
            [start.started_knobs["n"] for start in list_starts([Launch(REQUEST, n)], seed)] for n in (0, 1)
        )
        assert sorted(forwards) == sorted(REQUEST.knobs["n"].split(","))
        assert backwards == forwards[::-1]


def test_another_spelling_is_another_cell_for_limits_and_the_baseline() -> None:
    limits = TimeLimits()
    limits.add([answer(FIRST.started_knobs)])
    assert limits.limit_s(FIRST) < limits.limit_s(SECOND) == NO_LIMIT_S
    assert is_of_cell(answer(FIRST.started_knobs), FIRST)
    assert not is_of_cell(answer(FIRST.started_knobs), SECOND)
    assert not is_launch_of(SECOND, FIRST)


def test_a_failure_of_one_spelling_is_not_answered_by_another() -> None:
    failed = Failure("program/app", LAUNCH.key, THIRD.started_knobs, 1, "it crashed", Exit.CANNOT_RUN)
    assert separate_repeated([answer(FIRST.started_knobs)], [failed]) == ((failed,), ())
    assert separate_repeated([answer(THIRD.started_knobs)], [failed]) == ((), (failed,))
