"""Lines of records: what is read, what is refused, and that nothing wrong is believed."""

import json
import math
import zlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from octant.record import Failure, KeptFile, Point, RankTimes, RecordError
from octant.record.lines import Reader, read_line
from octant.record.sketch import Sketch, middle_of, sketch_of_array
from octant.record.writer import failure_line, kept_member, seal
from sketches import bin_of, sketch_of

POINT: dict[str, Any] = {
    "format": 2, "kind": "point", "workload": "mpi/halo", "launch": "halo-0", "knobs": {"n": "64"},
    "shape": {"ranks": 4, "threads": 1, "groups": [[0, 1], [2, 3]]}, "pace": "steps", "warmup": 1,
    "work": [{"group": 0, "lanes": 2, "batch": 2, "counts": {"bytes_sent": 100}},
             {"group": 1, "counts": {"bytes_sent": 50}}],
    "marks": {"off": [[0, 2], [1, 3, 1]]},
    "series": [
        {"name": "step", "rank": 0, "gap_ns": 5, "ns": [10, 11, 12], "preempted": [2], "clock_hz": [3000, 5000]},
        {"name": "phase/pack", "rank": 0, "ns": [1, 2, 3], "entries": 6},
        {"name": "reading/residual", "unit": "1", "values": [0.1, -1e-9]},
    ],
    "results": [{"name": "wrong", "value": 0, "bound": 0}, {"name": "iterations", "value": 42}],
}  # fmt: skip


def line(**changes: Any) -> bytes:
    return seal({**POINT, **changes}).encode()


def read_point(text: bytes) -> Point:
    found = read_line(text)
    assert isinstance(found, Point)
    return found


def test_a_point_holds_facts_and_reads_its_samples_when_asked() -> None:
    reads = []
    text = line()
    found = Reader().read(text, lambda: reads.append(1) or text)  # type: ignore[func-returns-value]
    assert isinstance(found, Point)
    assert (found.workload, found.ranks, found.groups, found.batch) == ("mpi/halo", 4, ((0, 1), (2, 3)), 2)
    assert found.count("bytes_sent") == 150
    assert found.marks_off == ((0, 2, 0), (1, 3, 1))
    assert found.clock_hz == 4000
    assert found.passed
    assert not reads
    step, pack, residual = found.read().series
    assert len(reads) == 1
    assert step.values.tolist() == [10, 11, 12]
    assert step.gap_ns is not None
    assert step.gap_ns.tolist() == [5, 5, 5]  # one number represents equal ones
    assert step.begin_ns is not None
    assert step.begin_ns.tolist() == [5, 20, 36]
    assert step.preempted == {2}
    assert pack.entries is not None
    assert pack.entries.tolist() == [6, 6, 6]
    assert residual.values.tolist() == [0.1, -1e-9]


def test_what_a_launch_line_says_holds_for_the_points_after_it() -> None:
    reader = Reader()
    launch = {
        "format": 2,
        "kind": "launch",
        "launch": "halo-0",
        "mpi": "MPICH",
        "clock": {"mark_ns": 66},
        "init_s": 0.1,
    }
    assert reader.read(seal(launch).encode()) is None
    mine, other = reader.read(line()), reader.read(line(launch="halo-1"))
    assert isinstance(mine, Point)
    assert isinstance(other, Point)
    assert (mine.process.mpi, mine.process.clock.mark_ns, mine.process.init_s) == ("MPICH", 66, 0.1)
    assert other.process.mpi == ""


def test_what_the_system_took_and_how_it_schedules() -> None:
    lost = {
        "rank": 1,
        "wall_ns": [900],
        "cpu_ns": [500],
        "wait_ns": [300],
        "throttled_ns": 250,
        "throttled_group": "/a",
    }
    scheduling = {"policy": "fifo", "priority": 3, "nice": -5, "shares": 1024, "quota_cores": 0.5, "quota_group": "/a"}
    given = [{"host": "n", "cpus": [0], "thread_masks": [[0]], "scheduling": scheduling}]
    found = read_point(line(lost=[{**lost, "tomorrow": 1}], given=given))
    assert found.taken == (RankTimes(1, (900,), (500,), (300,), 250, "/a"),)
    how = found.given[0].scheduling
    assert how is not None
    assert how.text == "fifo 3, nice -5, 1024 shares, a quota of 0.5 cores (/a)"
    assert read_point(line()).taken == ()


@pytest.mark.parametrize(
    "lost",
    [
        {"rank": 0, "wall_ns": [-1]},
        {"rank": 4, "wall_ns": [1]},
        {"rank": 0, "wall_ns": [1, 1], "cpu_ns": [1]},
        {"rank": 0, "wall_ns": [1], "wait_ns": [0.5]},
        {"wall_ns": [1]},
    ],
)
def test_lost_time_that_cannot_be_is_refused(lost: dict[str, Any]) -> None:
    with pytest.raises(RecordError):
        read_line(line(lost=[lost]))


def test_unknown_keys_are_ignored_and_missing_ones_have_defaults() -> None:
    least = {name: POINT[name] for name in ("format", "kind", "workload", "launch", "knobs", "pace", "work", "results")}
    found = read_point(seal({**least, "shape": {"ranks": 1}, "tomorrow": [1]}).encode())
    assert (found.threads, found.warmup, found.coalesced, found.sync, found.groups) == (1, 0, 1, "none", ())


def test_the_warmup_of_samples_that_were_added_up_is_counted_in_their_sums() -> None:
    assert [read_point(line(warmup=9, coalesced=k)).warmup for k in (1, 2, 4)] == [9, 5, 3]


@pytest.mark.parametrize(
    "wrong",
    [
        {"format": 3},
        {"kind": "picture"},
        {"pace": "slowly"},
        {"warmup": -1},
        {"warmup": 1.5},
        {"warmup": "1"},
        {"shape": {"ranks": 0}},
        {"shape": {"ranks": 2, "groups": [[0], [0]]}},
        {"shape": {"ranks": 2, "groups": [[0, 2]]}},
        {"work": [{"counts": {"flops": -1}}]},
        {"work": [{"counts": {"flops": 1.5}}]},
        {"work": [{"counts": {}, "batch": 0}]},
        {"results": [{"name": "wrong", "value": "0", "bound": 0}]},
        {"given": [{"host": 1, "cpus": [], "thread_masks": []}]},
        {"knobs": {"n": 64}},
        {"noise": {"during": {"time_s": "long"}}},
        {"work": [{"counts": {"messages": 2**63}}]},
        {"shape": {"ranks": 10**9}},
        {"results": [{"name": "wrong", "value": True, "bound": 0}]},
        {"reduced": [{"name": "step", "ranks": [], "sketch": {"count": 5, "bins": [[0, [1]]]}}]},
    ],
)
def test_types_and_ranges_are_strict(wrong: dict[str, Any]) -> None:
    with pytest.raises(RecordError):
        read_line(line(**wrong))


@pytest.mark.parametrize(
    "series",
    [
        {"name": "step", "ns": [10, -1]},
        {"name": "step", "ns": [10, 1.5]},
        {"name": "step", "ns": [10, None]},
        {"name": "step", "ns": [10, 10**19]},
        {"name": "step", "ns": ["10"]},
        {"name": "step", "ns": [[10]]},
        {"name": "step", "ns": 10},
        {"name": "step", "ns": {"a": 1}},
        {"name": "step"},
        {"name": "step", "ns": []},
        {"name": "step", "ns": [10, 0]},
        {"name": "step", "ns": [10, 10**18]},
        {"name": "step", "values": [-5.0]},
        {"name": "step", "ns": [1, 2], "preempted": [2]},
        {"name": "phase/x", "ns": 1},
        {"name": "reading/x", "values": [1, None]},
        {"name": "reading/x", "values": 1},
        {"name": "step", "ns": [1, 2], "gap_ns": [1]},
        {"name": "step", "ns": [1, 2], "gap_ns": -3},
        {"name": "phase/x", "ns": [1, 2], "entries": [1, 2, 3]},
    ],
)
def test_samples_are_checked_before_anybody_asks_for_them(series: dict[str, Any]) -> None:
    with pytest.raises(RecordError):
        read_line(line(series=[series]))


def test_whether_a_check_passed_is_computed_and_no_number_never_passes() -> None:
    def passed(**result: Any) -> bool:
        return read_point(line(results=[{"name": "x", "passed": True, **result}])).passed

    assert passed(value=1, bound=1)
    assert not passed(value=1.0001, bound=1)
    assert not passed(value=None, bound=1)
    assert passed(value=None)  # no check
    nothing = read_point(line(results=[{"name": "x", "value": None, "bound": 0}])).results[0]
    assert math.isnan(nothing.value)


def test_every_byte_of_a_line_is_under_its_checksum() -> None:
    text = line()
    for place in range(0, len(text), 7):
        for other in (b"0", b"9", b"x"):
            damaged = text[:place] + other + text[place + 1 :]
            if damaged != text:
                with pytest.raises(RecordError):
                    read_line(damaged)


@given(st.integers(0, len(line()) - 1))
def test_a_torn_line_is_no_record(length: int) -> None:
    with pytest.raises(RecordError):
        read_line(line()[:length])


@given(st.binary(max_size=300))
def test_any_bytes_are_refused_with_our_own_error(text: bytes) -> None:
    with pytest.raises(RecordError):
        read_line(text)


def test_a_failure_comes_back_as_it_was_written() -> None:
    failure = Failure("node/stream", "stream-0", {"n": "1"}, 2, 'it said "no"\nand left', 1, 0.4, "update")
    assert read_line(failure_line(failure).encode()) == failure
    plain = Failure("node/stream", "stream-0", {}, 1, "ended", 3)
    assert read_line(failure_line(plain).encode()) == plain
    stored = KeptFile("stderr", "output", 7, crc="0123abcd", stored="a-0.1/0.0.stderr")
    unstored = KeptFile("stdout", "output", 1 << 30, left_out="larger than 16 MiB")
    kept = Failure("program/app", "app-0", {}, 0, "ended", 1, files=(stored, unstored))
    assert read_line(failure_line(kept).encode()) == kept


@pytest.mark.parametrize("file", [{"rank": 2}, {"crc": ""}, {"stored": "../../asked.json"}, {"name": "a/b"}])
def test_a_failure_names_no_file_that_a_point_could_not_name(file: dict[str, Any]) -> None:
    stored = replace(KeptFile("stderr", "output", 7, crc="0123abcd", stored="a-0.1/0.0.stderr"), **file)
    with pytest.raises(RecordError):
        read_line(failure_line(Failure("program/app", "app-0", {}, 2, "ended", 1, files=(stored,))).encode())


FIRST: dict[str, Any] = {
    "schema": 1, "kind": "point", "workload": "stream", "run": "stream-0", "knobs": {"bytes": "1MiB"}, "ranks": 1,
    "threads": 2, "sampling": "lanes", "batch": 4, "warmup": 0, "stopped_by": "interval",
    "work": {"bytes_read": 16, "bytes_written": 8, "bytes_allocated": 8, "flops": 2, "loads": 0},
    "verdict": {"check": "plain loop", "error": 0.5, "tolerance": 0.1, "passed": True},
    "clock": {"source": "CLOCK_MONOTONIC", "cost_ns": 21.5, "resolution_ns": 1},
    "sync": {"method": "none", "exit_skew_ns": []}, "share_cores": False, "noise": {"during": {"time_s": 1}},
    "notes": {}, "mpi": "MPICH", "build": {},
    "given": [{"host": "n1", "cpus": [0, 1], "thread_masks": [[0], [1]], "buffers": []}],
    "samples": {"lanes": [
        {"rank": 0, "thread": 0, "begin_ns": [5, 30], "duration_ns": [20, 20], "preempted": [1], "clock_hz": [7]},
        {"rank": 0, "thread": 1, "begin_ns": [6, 40], "duration_ns": [30, 30], "preempted": []},
    ]},
}  # fmt: skip


def test_format_1_reads_into_the_same_types() -> None:
    found = read_point(json.dumps(FIRST).encode())
    assert (found.workload, found.pace, found.batch, found.lanes) == ("node/stream", "chunks", 4, 2)
    assert found.count("bytes_read") == 32  # two lanes
    assert not found.passed  # whatever the line says
    assert found.hardware_threads == {("n1", 0), ("n1", 1)}
    first, second = found.read().series
    assert first.begin_ns is not None
    assert first.begin_ns.tolist() == [5, 30]
    assert second.values.tolist() == [30, 30]


def test_the_warm_up_of_samples_that_were_added_up_is_counted_in_sums() -> None:
    assert read_point(line(warmup=6)).warmup == 6
    assert read_point(line(warmup=6, coalesced=4)).warmup == 2


def test_steps_of_format_1_are_the_slowest_ranks() -> None:
    steps = {"duration_ns": [5, 6, 7], "slowest_rank": [0, 1, 0], "preempted": [2]}
    work = {"messages": 2, "message_bytes": 64}
    first = {**FIRST, "workload": "pingpong", "sampling": "steps", "samples": steps, "work": work, "ranks": 2}
    found = read_point(json.dumps(first).encode())
    assert (found.workload, found.count("bytes_sent"), found.count("messages")) == ("mpi/p2p", 64, 2)
    assert (found.knobs["pattern"], found.count("bytes_passed"), found.count("turns")) == ("pingpong", 64, 2)
    assert found.read().series[0].values.tolist() == [5, 6, 7]
    updates = {**FIRST, "workload": "randomaccess", "work": {"loads": 9}}
    assert read_point(json.dumps(updates).encode()).count("updates") == 18


@pytest.mark.parametrize(
    "wrong",
    [
        {"ranks": -1}, {"ranks": float("inf")}, {"batch": 0}, {"batch": 1.5}, {"work": {"messages": -3}},
        {"verdict": {}}, {"sampling": "all"}, {"schema": 7}, {"share_cores": "false"},
        {"noise": {"during": {"time_s": float("nan")}}}, {"samples": {"lanes": []}},
        *(
            {"sampling": "steps", "samples": {"duration_ns": durations, "slowest_rank": [], "preempted": []}}
            for durations in ([], [5, 0], [5, -5], [5, float("nan")], [5, "6"])
        ),
    ],
)  # fmt: skip
def test_format_1_is_as_strict(wrong: dict[str, Any]) -> None:
    with pytest.raises(RecordError):
        read_line(json.dumps({**FIRST, **wrong}).encode())


@pytest.mark.parametrize("start", [b'{"format":2,"kind":"launch","launch":"a","build":', b'{"schema":1,"build":'])
def test_a_line_that_is_nested_without_end_is_no_record(start: bytes) -> None:
    text = start + b"[" * 200_000
    for whole in (text, text + b',"crc":"%08x"}' % zlib.crc32(text)):
        with pytest.raises(RecordError):
            read_line(whole)


@given(st.lists(st.integers(0, 2**62), min_size=1, max_size=50), st.lists(st.integers(0, 2**62), max_size=50))
def test_sketches_add_up_and_are_within_a_fifth_of_a_percent(one: list[int], other: list[int]) -> None:
    assert sketch_of(one) + sketch_of(other) == sketch_of(one + other)
    for value in one:
        assert value == 0 or middle_of(bin_of(value)) == pytest.approx(value, rel=1 / 512)
    least, most = sketch_of(one).quantile(0), sketch_of(one).quantile(1)
    assert least == pytest.approx(min(one), rel=1 / 512)
    assert most == pytest.approx(max(one), rel=1 / 512)


@given(st.lists(st.integers(0, 2**50), max_size=200))
def test_a_sketch_of_an_array_is_that_of_its_numbers(values: list[int]) -> None:
    assert sketch_of_array(np.asarray(values, dtype=np.float64)) == sketch_of(values)


def test_a_reduced_record_holds_what_is_left_of_its_samples() -> None:
    sketch = {"bits": 8, "count": 3, "zero": 1, "bins": [[bin_of(1000), [1, 1]]]}
    most = {"name": "step", "ranks": [[0, 3, 2000, 0, 1004]], "sketch": sketch, "slowest_ns": [0, 1000, 1004]}
    least = {"name": "step", "group": 1, "ranks": [[1, 2, 30, 10, 20]]}
    first, second = read_point(line(series=[], reduced=[most, least])).read().reduced
    assert first.sketch.count == 3
    assert first.slowest_ns is not None
    assert first.slowest_ns.tolist() == [0, 1000, 1004]
    assert second.sketch.count == 0
    assert second.ranks[0].greatest_ns == 20
    for wrong in ({"count": 4}, {"bits": 7}, {"bins": [[99999, [2]]]}):
        with pytest.raises(RecordError):
            read_point(line(series=[], reduced=[{**most, "sketch": {**sketch, **wrong}}])).read()


def test_a_sample_of_a_sketch_has_its_distribution() -> None:
    sketch = Sketch({bin_of(1000): 900, bin_of(100_000): 100})
    assert sketch.count == 1000
    sample = sketch.sample(100)
    assert len(sample) == 100
    assert (sample > 50_000).sum() == 10


def test_the_checksum_is_zlibs_of_the_bytes_before_it() -> None:
    text = line()
    body, _, rest = text.rpartition(b',"crc"')
    assert rest == f':"{zlib.crc32(body):08x}"}}'.encode()


FILE = {"name": "field.bin", "kind": "field", "rank": 3, "bytes": 16, "crc": "0123abcd", "stored": "halo-0.12/0.3.f"}
UNSTORED = {"name": "field.bin", "kind": "field", "bytes": 16, "left_out": "larger than 16 MiB"}


def test_files_of_a_launch_are_listed_stored_or_left_out() -> None:
    stored, left_out = read_point(line(files=[FILE, UNSTORED])).files
    assert (stored.name, stored.kind, stored.rank, stored.bytes) == ("field.bin", "field", 3, 16)
    assert (stored.crc, stored.stored, stored.left_out) == ("0123abcd", "halo-0.12/0.3.f", "")
    assert (left_out.rank, left_out.crc, left_out.stored, left_out.left_out) == (0, "", "", "larger than 16 MiB")
    assert read_point(line(files=[kept_member(one) for one in (stored, left_out)])).files == (stored, left_out)


@pytest.mark.parametrize(
    "changes",
    [
        *(
            {"name": name}
            for name in ("", "..", "../x", "/x", "a/b", ".x", "-x", "a b", "a\n", "é", "a\0", "n" * 65, 7)
        ),
        *({"kind": kind} for kind in ("", "../x", "k" * 33, None)),
        *({"stored": path} for path in ("", "../x", "a/..", "a/../b", "/etc/passwd", "a/b/c", "a", "a/b\n", ".a/b")),
        *({"crc": crc} for crc in ("", "0123abc", "0123ABCD", "0123abcd\n", 7)),
        *({"bytes": size} for size in (-1, 1.5, "16", None, 2**63)),
        *({"rank": rank} for rank in (-1, 4, "0")),
        {"left_out": "and stored too"},
    ],
)
def test_a_record_with_a_hostile_or_contradictory_file_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(RecordError):
        read_line(line(files=[{**FILE, **changes}]))


@pytest.mark.parametrize("missing", ["crc", "stored"])
def test_a_stored_file_has_a_path_and_a_checksum(missing: str) -> None:
    with pytest.raises(RecordError, match=r"a checksum without a path|neither stored nor omitted"):
        read_line(line(files=[{name: value for name, value in FILE.items() if name != missing}]))
    with pytest.raises(RecordError, match="a path without a checksum"):
        read_line(line(files=[{**UNSTORED, "stored": FILE["stored"]}]))


def test_a_record_lists_at_most_a_thousand_files() -> None:
    assert len(read_point(line(files=[FILE] * 1000)).files) == 1000
    with pytest.raises(RecordError):
        read_line(line(files=[FILE] * 1001))
