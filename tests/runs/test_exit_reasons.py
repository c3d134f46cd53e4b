"""What of a run counts for the exit code of the command that measured it: a table, alone and together."""

import dataclasses
import itertools
from collections.abc import Sequence
from pathlib import Path

import pytest

from fake_kernel import answer, request
from fake_run import launch_line, machine, point_line
from octant import workloads
from octant.cli._measure import end_command
from octant.failure import Exit, worst
from octant.record import Failure
from octant.record.writer import failure_line
from octant.runs import exit_reasons
from octant.runs.exit_reasons import list_exit_reasons
from octant.store import Pair, Store, StoredRun, StudyRequest

SIZES = ("1MiB", "2MiB", "4MiB", "8MiB", "16MiB")
"""One launch each, of which the tests make what they need."""


def run_of(folder: Path, outcomes: Sequence[str], who: str = "run", pair: Pair | None = None) -> StoredRun:
    """Create a run with a launch for each outcome: right, wrong, killed, killed and repeated, refused, unsupported."""
    requests = [request(bytes=size) for size in SIZES[: len(outcomes)]]
    study = StudyRequest("page-size", 7, "question = '?'") if who.startswith("study") else None
    store = Store(folder)
    run = store.create(
        "q", machine(), requests, who=who, study=study, pair=("20260101-000000-aaaa", pair) if pair else None
    )
    codes = {"killed": Exit.CANNOT_RUN, "repeated": Exit.CANNOT_RUN, "refused": Exit.WRONG_WORD}
    codes |= {"lacking": Exit.NOT_SUPPORTED}
    lines = []
    for launch, outcome in zip(run.decided_launches(), outcomes, strict=True):
        point = answer("node/stream", launch.key, launch.request.knobs)
        if outcome in codes:
            failed = Failure("node/stream", launch.key, launch.request.knobs, 1, f"was {outcome}", codes[outcome])
            lines.append(failure_line(failed))
        if outcome == "wrong":
            results = tuple(dataclasses.replace(one, value=1.0) for one in point.results)
            point = dataclasses.replace(point, results=results)
        if outcome in ("right", "wrong", "repeated"):
            lines += [launch_line(point), point_line(point)]
    run.records.write_text("".join(f"{line}\n" for line in lines))
    return store.read(run.id)


OUTCOMES = {"right": 0, "repeated": 0, "wrong": 4, "killed": 1, "missing": 1, "refused": 2, "lacking": 3}


@pytest.mark.parametrize(("outcome", "code"), OUTCOMES.items())
@pytest.mark.parametrize("other", [[], ["right"]])
def test_each_kind_of_outcome_has_its_code(tmp_path: Path, outcome: str, code: int, other: list[str]) -> None:
    assert worst(end.code for end in list_exit_reasons(run_of(tmp_path, [outcome, *other]))) == code


@pytest.mark.parametrize("outcomes", [*itertools.combinations(OUTCOMES, 3)])
def test_of_several_the_first_in_the_order_is_returned(tmp_path: Path, outcomes: Sequence[str]) -> None:
    order = [4, 1, 2, 3, 0]
    expected = min((OUTCOMES[one] for one in outcomes), key=order.index)
    for run in (run_of(tmp_path / "a", outcomes), run_of(tmp_path / "b", [*reversed(outcomes)])):
        assert worst(end.code for end in list_exit_reasons(run)) == expected


@pytest.mark.parametrize(
    ("who", "outcomes", "code"),
    [
        ("evaluate", ["lacking", "right"], 0),
        ("evaluate", ["lacking"], 3),
        ("evaluate", ["refused", "right"], 2),
        ("study page-size", ["lacking", "right"], 0),
        ("study page-size", ["lacking"], 3),
        ("study page-size", ["killed", "right"], 1),
        ("study page-size", ["wrong", "killed"], 4),
    ],
)
def test_suites_and_studies_may_try_what_is_not_there(tmp_path: Path, who: str, outcomes: list[str], code: int) -> None:
    assert worst(end.code for end in list_exit_reasons(run_of(tmp_path, outcomes, who))) == code


def test_a_pattern_that_does_not_work_counts_in_a_suite_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exit_reasons, "alone_knobs", lambda _name: ("pattern",))
    codes = [
        [end.code for end in list_exit_reasons(run_of(tmp_path / who, ["lacking", "right"], who))]
        for who in ("evaluate", "study x")
    ]
    assert codes == [[Exit.NOT_SUPPORTED], []]
    assert workloads.alone_knobs("node/stream") == ()


def test_everything_is_said_once_and_the_command_ends_with_the_worst(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = run_of(tmp_path, ["killed", "lacking", "right", "wrong", "refused"])
    with pytest.raises(Exception, match=r"^4$"):
        end_command(list_exit_reasons(run) * 2)
    assert capsys.readouterr().err.splitlines() == [
        "octant: WRONG RESULT: node/stream: compared with the plain loop is 1 where at most 1e-12 is allowed",
        f"octant: 1 launch failed (was killed); correct the cause, then run octant resume {run.id}",
        "octant: some configurations could not be measured (was refused)",
        "octant: some configurations could not be measured (was lacking)",
    ]
    end_command(list_exit_reasons(run_of(tmp_path / "right", ["right", "repeated"])))
    assert capsys.readouterr().err == ""


def test_a_side_of_a_pair_is_not_resumed_alone(tmp_path: Path) -> None:
    (end,) = list_exit_reasons(run_of(tmp_path, ["killed", "right"], "compare", Pair("20260101-000000-bbbb", "x", 6)))
    assert (end.code, "resume" in end.text) == (Exit.CANNOT_RUN, False)
