"""What comes of a command line of a user's: records that are read back."""

import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_kernel import planned
from fake_run import stored
from kernel_run import read_records
from octant.analysis.mismatches import mismatches_of
from octant.launch.execute import ProcessOutcome
from octant.launch.guard import Energy, GuardReport, Outlived, SeenThread
from octant.launch.program import ProgramEnd
from octant.placement import numbers_text
from octant.record import Point, RankResources, RankTimes
from octant.request import Request, Shape, Subject
from octant.runs.programs.records import record_lines

SMALL = "octant-pages: text of process 7: 0 of 4096 KiB on large pages (Invalid argument)\n"


@pytest.mark.parametrize(
    ("errors", "number"), [("", 0), (f"hello\n{SMALL}{SMALL}bye\n", 1), ("not octant-pages: quoted\n", 0)]
)
def test_parts_on_small_pages_are_reported_as_mismatches(tmp_path: Path, errors: str, number: int) -> None:
    (launch,) = Request(Subject(command=("./prog",))).launches()
    outcome = ProcessOutcome(0, False, 1.0, errors, 0.9, 0.1, 1 << 20)
    begun = datetime.datetime(2026, 11, 21, tzinfo=datetime.UTC)
    path = tmp_path / "records.jsonl"
    path.write_text(
        "".join(f"{line}\n" for line in record_lines(planned(launch, path), ProgramEnd(outcome, tmp_path), begun))
    )
    (point,), _ = read_records(path)
    found = mismatches_of(stored([launch], [point]), point)
    assert len(found) == number
    assert all(text.startswith("text of process 7: 0 of 4096 KiB") for text in found)
    assert {result.name for result in point.results} == {"wall time", "user time", "system time", "memory"}


def test_what_is_said_of_many_processes_alike_is_recorded_once(tmp_path: Path) -> None:
    (launch,) = Request(Subject(command=("./script",))).launches()
    none = "octant-pages: data of process {}: 0 of 0 KiB on large pages (segment is smaller than a huge page)\n"
    errors = SMALL + "".join(none.format(number) for number in range(100, 135))
    begun = datetime.datetime(2026, 11, 21, tzinfo=datetime.UTC)
    path = tmp_path / "records.jsonl"
    end = ProgramEnd(ProcessOutcome(0, False, 1.0, errors, 0.9, 0.1, 1 << 20), tmp_path)
    lines = record_lines(planned(launch, path), end, begun)
    path.write_text("".join(f"{line}\n" for line in lines))
    (point,), _ = read_records(path)
    assert point.notes["small pages"].split("; ") == [
        "text of process 7: 0 of 4096 KiB on large pages (Invalid argument)",
        "data of process 100 and 34 more: 0 of 0 KiB on large pages (segment is smaller than a huge page)",
    ]


def report(rank: int | None, host: str = "node", **more: Any) -> GuardReport:
    """Return the guard's report of a rank with two threads on separate hardware threads."""
    first = 2 * (rank or 0)
    members: dict[str, Any] = {
        "whole": False, "host": host, "pid": 7, "started_s": 1e9, "wall_s": 1.5, "user_s": 2.0, "system_s": 0.5,
        "memory_bytes": 3 << 20, "minor_faults": 11, "major_faults": 12, "voluntary_switches": 13,
        "involuntary_switches": 14, "rank": rank, "status": 0,
        "given": RankResources(host, (first, first + 1), ((first,), (first + 1,))),
        "lost": RankTimes(rank or 0, (1_500_000_000,), elapsed_ns=1_500_000_000, stolen_ns=5),
    }  # fmt: skip
    return GuardReport(**{**members, **more})


def read_back(tmp_path: Path, end: ProgramEnd, ranks: int) -> Point:
    (launch,) = Request(Subject(command=("./prog",)), shape=Shape(ranks)).launches()
    path = tmp_path / "records.jsonl"
    begun = datetime.datetime(2026, 11, 21, tzinfo=datetime.UTC)
    path.write_text("".join(f"{line}\n" for line in record_lines(planned(launch, path), end, begun)))
    (point,), failures = read_records(path)
    assert not failures
    return point


OUTCOME = ProcessOutcome(0, False, 9.0, "", 9.0, 9.0, 9)


@given(st.integers(2, 6), st.sets(st.integers(0, 7)))
def test_each_rank_has_its_readings_and_those_without_a_report_are_named(
    tmp_path_factory: pytest.TempPathFactory, ranks: int, reporting: set[int]
) -> None:
    whole = report(None, whole=True, wall_s=2.0)
    reports = tuple(report(rank, wall_s=1.0 + rank) for rank in sorted(reporting))
    end = ProgramEnd(OUTCOME, Path(), whole=whole, ranks=reports)
    point = read_back(tmp_path_factory.mktemp("records"), end, ranks)
    there = sorted(rank for rank in reporting if rank < ranks)
    missing = sorted(set(range(ranks)) - set(there))
    assert point.ranks == ranks
    assert point.notes.get("ranks missing", "") == numbers_text(missing)
    assert [one.rank for one in point.taken] == there
    assert len(point.given) == (min(missing) if missing else ranks), "in the order of the ranks, as readers take them"
    series = {(one.head.name, one.head.rank): one.values.tolist() for one in point.read().series}
    assert sorted(rank for name, rank in series if name == "reading/wall time") == there
    for rank in set(there) & reporting:
        assert series["reading/wall time", rank] == [1.0 + rank]
        assert series["reading/memory", rank] == [3 << 20]
        assert series["reading/involuntary context switches", rank] == [14]


def test_a_launcher_that_does_not_say_how_many_ranks_it_starts_has_those_that_report(tmp_path: Path) -> None:
    end = ProgramEnd(OUTCOME, tmp_path, whole=report(None, whole=True), ranks=tuple(map(report, (0, 1, 2))))
    assert read_back(tmp_path, end, 1).ranks == 3
    forged = ProgramEnd(OUTCOME, tmp_path, whole=report(None, whole=True), ranks=(report(0), report(2**62)))
    assert read_back(tmp_path, forged, 1).ranks == 2


def test_the_whole_command_line_is_measured_by_its_guard(tmp_path: Path) -> None:
    whole = report(None, whole=True, energy=(Energy("package-0", 12.5),), outlived=(Outlived(9, "daemon"),))
    end = ProgramEnd(OUTCOME, tmp_path, cut=("3 bytes of stdout were omitted",), problems=("odd",), whole=whole)
    point = read_back(tmp_path, end, 1)
    assert {one.name: (one.value, one.unit) for one in point.results} == {
        "wall time": (1.5, "s"), "user time": (2.0, "s"), "system time": (0.5, "s"), "memory": (3 << 20, "B"),
        "minor page faults": (11, "1"), "major page faults": (12, "1"), "voluntary context switches": (13, "1"),
        "involuntary context switches": (14, "1"), "energy of package-0": (12.5, "J"),
    }  # fmt: skip
    assert point.notes == {
        "cut output": "3 bytes of stdout were omitted", "outlived": "daemon (9)", "problems": "odd",
    }  # fmt: skip
    assert point.spent_s["measure_s"] == 1.5


def test_what_the_guard_saw_of_threads_and_memory_is_in_the_record(tmp_path: Path) -> None:
    threads = (
        SeenThread("solve", 1.25, frozenset({0, 1, 2}), {0: 1, 2: 9}, 40),
        SeenThread("io", 0.5, frozenset(), {1: 1}, 40),
        SeenThread("idle", 0.01, frozenset(), {1: 1}, 40),
    )
    seen = report(0, threads=threads, node_bytes={0: 8 << 20, 1: 4 << 20}, huge_bytes=6 << 20, pressure_s=0.125)
    point = read_back(tmp_path, ProgramEnd(OUTCOME, tmp_path, whole=report(None, whole=True), ranks=(seen,)), 1)
    assert point.notes["threads"] == "rank 0: solve 1.25 s on 2 0 of 0-2, io 0.5 s on 1, idle 0.01 s on 1"
    assert point.notes["busy threads of a process"] == "2"
    (buffer,) = point.given[0].buffers
    assert (buffer.resident_bytes, buffer.huge_share) == (12 << 20, 0.5)
    assert {node: pages * buffer.page_bytes for node, pages in buffer.pages_on_node.items()} == {
        "0": 8 << 20,
        "1": 4 << 20,
    }
    assert [one.values.tolist() for one in point.read().series if one.head.name == "reading/pressure"] == [[0.125]]


@pytest.mark.parametrize(("hosts", "shares"), [(("a", "b"), False), (("a", "a"), True)])
def test_more_ranks_than_hardware_threads_are_recorded(tmp_path: Path, hosts: tuple[str, str], shares: bool) -> None:
    reports = tuple(report(n, host, given=RankResources(host, (0,), ((0,),))) for n, host in enumerate(hosts))
    point = read_back(tmp_path, ProgramEnd(OUTCOME, tmp_path, whole=report(None, whole=True), ranks=reports), 2)
    assert point.share_cores is shares
    assert point.process.hosts == tuple(dict.fromkeys(hosts))
