"""What comes of a command line of a user's: records that are read back."""

import datetime
from pathlib import Path

import pytest

from fake_kernel import planned
from fake_run import stored
from kernel_run import read_records
from octant.analysis.given import mismatches_of
from octant.ask import Ask, Subject
from octant.launch.execute import Outcome
from octant.launch.program import ProgramEnd
from octant.runs.programs.records import record_lines

SMALL = "octant-pages: text of process 7: 0 of 4096 KiB on large pages (Invalid argument)\n"


@pytest.mark.parametrize(
    ("errors", "told"), [("", 0), (f"hello\n{SMALL}{SMALL}bye\n", 1), ("not octant-pages: quoted\n", 0)]
)
def test_parts_that_lie_on_small_pages_are_not_as_asked(tmp_path: Path, errors: str, told: int) -> None:
    (launch,) = Ask(Subject(command=("./prog",))).launches()
    outcome = Outcome(0, False, 1.0, errors, 0.9, 0.1, 1 << 20)
    begun = datetime.datetime(2026, 11, 21, tzinfo=datetime.UTC)
    path = tmp_path / "records.jsonl"
    path.write_text(
        "".join(f"{line}\n" for line in record_lines(planned(launch, path), ProgramEnd(outcome, tmp_path), begun))
    )
    (point,), _ = read_records(path)
    found = mismatches_of(stored([launch], [point]), point)
    assert len(found) == told
    assert all(text.startswith("text of process 7: 0 of 4096 KiB") for text in found)
    assert {result.name for result in point.results} == {"wall time", "user time", "system time", "memory"}


def test_what_is_said_of_many_processes_alike_is_recorded_once(tmp_path: Path) -> None:
    (launch,) = Ask(Subject(command=("./script",))).launches()
    none = "octant-pages: data of process {}: 0 of 0 KiB on large pages (it has no whole large page)\n"
    errors = SMALL + "".join(none.format(number) for number in range(100, 135))
    begun = datetime.datetime(2026, 11, 21, tzinfo=datetime.UTC)
    path = tmp_path / "records.jsonl"
    end = ProgramEnd(Outcome(0, False, 1.0, errors, 0.9, 0.1, 1 << 20), tmp_path)
    lines = record_lines(planned(launch, path), end, begun)
    path.write_text("".join(f"{line}\n" for line in lines))
    (point,), _ = read_records(path)
    assert point.notes["small pages"].split("; ") == [
        "text of process 7: 0 of 4096 KiB on large pages (Invalid argument)",
        "data of process 100 and 34 more: 0 of 0 KiB on large pages (it has no whole large page)",
    ]
