"""Which failures of a run count: not those of launches that were repeated, and old codes with their old meaning."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from fake_kernel import answer, request
from fake_run import launch_line, machine, point_line
from octant.failure import Exit
from octant.record import Failure, RecordError
from octant.record.lines import read_line
from octant.record.writer import failure_line, seal
from octant.store import Store, StoredRun

SWEEP = request(2, bytes="1MiB,2MiB")


@pytest.fixture
def run(tmp_path: Path) -> StoredRun:
    return Store(tmp_path / "store").create("q", machine(), (SWEEP,))


def read(run: StoredRun, *lines: str) -> StoredRun:
    """Return the run after these lines were added to its records."""
    with run.records.open("a", encoding="utf-8") as file:
        file.write("".join(f"{line}\n" for line in lines))
    return Store(run.folder.parent.parent).read(run.id)


def failed(run: StoredRun, launch: int = 0, code: int = Exit.CANNOT_RUN, **knobs: str) -> str:
    return failure_line(Failure("node/stream", run.launches[launch].key, knobs or SWEEP.knobs, 1, "killed", code))


def answered(run: StoredRun, sizes: Sequence[str], launch: int = 0) -> list[str]:
    points = [answer("node/stream", run.launches[launch].key, {"bytes": size}) for size in sizes]
    return [launch_line(points[0]), *map(point_line, points)]


def test_a_launch_that_was_repeated_successfully_has_not_failed(run: StoredRun) -> None:
    first = read(run, failed(run))
    assert [failure.reason for failure in first.failures] == ["killed"]
    again = read(run, *answered(run, ["1MiB", "2MiB"]))
    assert (again.failures, [failure.reason for failure in again.repeated]) == ((), ["killed"])
    assert [launch.key for launch in again.remaining()] == [run.launches[1].key]


def test_what_failed_before_a_point_that_was_kept_is_repeated_too(run: StoredRun) -> None:
    """The kernel was killed at its second point; resume measured that one alone, under another spelling of its size."""
    one = read(run, *answered(run, ["1MiB"]), failed(run))
    assert (len(one.failures), [rest.started_knobs["bytes"] for rest in one.remaining()][:1]) == (1, ["2MiB"])
    assert read(run, *answered(run, ["2048KiB"])).failures == ()


def test_a_failure_counts_until_each_of_its_cells_has_a_point_of_its_own_launch(run: StoredRun) -> None:
    lines = [failed(run), failed(run, 1, bytes="2MiB", pin="each"), failed(run, 1, bytes="4MiB")]
    found = read(run, *lines, *answered(run, ["1MiB"]), *answered(run, ["2MiB"], 1))
    assert [failure.knobs["bytes"] for failure in found.failures] == ["1MiB,2MiB", "4MiB"]
    assert [failure.knobs["bytes"] for failure in found.repeated] == ["2MiB"]


def test_a_killed_launch_of_which_the_rest_is_not_supported_is_not_missing(run: StoredRun) -> None:
    lines = [failed(run), *answered(run, ["1MiB"]), failed(run, 0, Exit.NOT_SUPPORTED, bytes="2MiB", pin="each")]
    found = read(run, *lines)
    assert [failure.exit for failure in found.failures] == [Exit.NOT_SUPPORTED]
    assert [failure.exit for failure in found.repeated] == [Exit.CANNOT_RUN]


@pytest.mark.parametrize("code", [Exit.CANNOT_RUN, Exit.NOT_SUPPORTED])
def test_a_failure_of_more_cells_than_a_run_may_ask_for_is_a_damaged_line(run: StoredRun, code: Exit) -> None:
    many = {f"k{number}": ",".join(map(str, range(1000))) for number in range(10)}
    found = read(run, *answered(run, ["1MiB"]), failed(run, 0, code, **many))
    assert (len(found.points), found.failures) == (1, ())
    assert "contain more than" in " ".join(found.damaged)


def test_a_list_of_runs_counts_what_failed_and_was_not_repeated(run: StoredRun) -> None:
    store = Store(run.folder.parent.parent)
    read(run, failed(run), failed(run, 1))
    assert [row.failures for row in store.list_runs()] == [2]
    read(run, *answered(run, ["1MiB", "2MiB"]))
    assert [row.failures for row in store.list_runs()] == [1]


def old_line(run: StoredRun, code: int) -> str:
    """Return a failure as version 0.2 wrote it."""
    knobs = {"bytes": "1MiB,2MiB"}
    head = {"format": 2, "kind": "failure", "workload": "node/stream", "launch": run.launches[0].key}
    return seal({**head, "knobs": knobs, "ranks": 1, "reason": "why", "exit": code})


def oldest_line(run: StoredRun, code: int) -> str:
    """Return a failure as version 0.1 wrote it."""
    knobs = {"bytes": "1MiB,2MiB"}
    head = {"schema": 1, "kind": "failure", "workload": "stream", "run": run.launches[0].key}
    return json.dumps({**head, "knobs": knobs, "ranks": 1, "reason": "why", "exit": code}, separators=(",", ":"))


@pytest.mark.parametrize("line", [old_line, oldest_line])
@pytest.mark.parametrize(
    ("code", "means", "repeated"),
    [
        (1, Exit.CANNOT_RUN, True),
        (2, Exit.WRONG_WORD, False),
        (3, Exit.NOT_SUPPORTED, False),
        # Statuses of launchers, which had no meaning; today the first four have one.
        *((code, Exit.CANNOT_RUN, True) for code in (4, 5, 6, 7, 130, 139, -9, 0)),
    ],
)
def test_old_codes_are_read_with_their_old_meaning(
    run: StoredRun, line: Callable[[StoredRun, int], str], code: int, means: Exit, repeated: bool
) -> None:
    found = read(run, line(run, code))
    assert [failure.exit for failure in found.failures] == [means]
    assert (run.launches[0] in found.remaining()) == repeated


@pytest.mark.parametrize("code", list(Exit))
def test_todays_failures_say_by_name_how_they_ended(run: StoredRun, code: Exit) -> None:
    line = failed(run, code=code)
    assert f'"exit":{int(code)},"end":"{code.name.lower()}"' in line
    found = read_line(line.encode())
    assert isinstance(found, Failure)
    assert found.exit is code


def test_a_name_that_is_no_end_is_a_damaged_line(run: StoredRun) -> None:
    line = seal({**json.loads(old_line(run, 1)[: -len(',"crc":"01234567"}')] + "}"), "end": "tired"})
    with pytest.raises(RecordError, match="unknown kind of end"):
        read_line(line.encode())
    found = read(run, line, failed(run))
    assert (len(found.failures), len(found.damaged)) == (1, 1)
