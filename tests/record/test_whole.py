"""Every member of a record is read into its own place: here each has a value of its own."""

import json
from typing import Any

import numpy as np
import pytest

from octant.record import (
    Buffer,
    Clock,
    Failure,
    Head,
    KeptFile,
    Point,
    Process,
    RankResources,
    RankTimes,
    RankTotal,
    RecordError,
    Result,
    Scheduling,
    Work,
)
from octant.record.lines import Reader
from octant.record.sketch import Sketch, from_runs
from octant.record.writer import seal
from sketches import bin_of

LAUNCH: dict[str, Any] = {
    "format": 2, "kind": "launch", "launch": "halo-0", "mpi": "MPICH 5", "build": {"compiler": "g++"},
    "clock": {"source": "TSC", "cost_ns": 1.5, "resolution_ns": 2.5, "mark_ns": 3.5, "empty_ns": 4.5},
    "hosts": ["n1", "n2"], "started": "2026-11-22T07:35:00Z", "init_s": 0.25, "settings": {"eager": ["64KiB", "65536"]},
    "waits": "polls",
}  # fmt: skip
POINT: dict[str, Any] = {
    "format": 2, "kind": "point", "workload": "mpi/halo", "launch": "halo-0", "knobs": {"n": "64"},
    "shape": {"ranks": 4, "threads": 3, "groups": [[0, 1], [2, 3]]}, "pace": "steps", "warmup": 6, "coalesced": 2,
    "stopped_by": "budget",
    "work": [{"group": 1, "role": "caller", "lanes": 2, "batch": 5, "counts": {"messages": 7},
              "by_rank": {"messages": [3, 4]}}],
    "marks": {"off": [[0, 2], [1, 3, 1]]},
    "sync": {"method": "barrier", "exit_skew_ns": [8, -9]}, "share_cores": True, "blocks": True,
    "noise": {"before": {"lost": 0.125}}, "notes": {"why": "because"}, "files": [
        {"name": "x.bin", "kind": "field", "bytes": 7, "rank": 2, "crc": "0123abcd", "stored": "halo-0.1/0.2.x.bin"}
    ],
    "series": [{"name": "phase/pack", "rank": 1, "thread": 2, "group": 1, "role": "caller", "unit": "ns",
                "ns": [10, 11], "gap_ns": [3, 4], "entries": [5, 6], "preempted": [1],
                "bursts": [[0, 15], [1, 16]], "clock_hz": [3000]}],
    "reduced": [{"name": "step", "group": 1, "role": "caller", "ranks": [[2, 3, 60, 10, 30]],
                 "sketch": {"count": 3, "zero": 1, "bins": [[2560, [1, 1]]]}, "slowest_ns": [10, 30],
                 "slowest": {"count": 1, "bins": [[2561, [1]]]}, "blocks_ns": [40], "worst": [[7, 2, 30], [1]],
                 "gaps": {"count": 2, "bins": [[2562, [2]]]}}],
    "results": [{"name": "error", "value": 0.5, "unit": "m", "bound": 0.75, "group": 1}],
    "given": [{"host": "n1", "cpus": [4, 5], "thread_masks": [[4], [5, 6]],
               "buffers": [{"bytes": 1, "resident_bytes": 2, "huge_bytes": 3, "page_bytes": 4,
                            "pages_on_node": {"0": 5}}],
               "scheduling": {"policy": "fifo", "priority": 3, "nice": -5, "autogroup": "a", "group": "g",
                              "shares": 10, "weight": 11, "quota_cores": 0.5, "quota_group": "q", "cpuset": "0-3"}}],
    "lost": [{"rank": 3, "wall_ns": [90], "cpu_ns": [50], "wait_ns": [30], "throttled_ns": 20, "throttled_group": "t",
              "elapsed_ns": 99, "stolen_ns": 6}],
}  # fmt: skip


def test_every_member_of_a_point_is_read() -> None:
    reader = Reader("2026-01-01T00:00:00Z")
    assert reader.read(seal(LAUNCH).encode()) is None
    found = reader.read(seal(POINT).encode())
    assert found == Point(
        workload="mpi/halo", launch="halo-0", knobs={"n": "64"}, ranks=4, threads=3, pace="steps",
        work=(Work({"messages": 7}, 1, "caller", 2, 5, {"messages": (3, 4)}),),
        results=(Result("error", 0.5, "m", 0.75, 1),), read=lambda: None,  # type: ignore[arg-type, return-value]
        heads=(Head("phase/pack", 1, 2, 1, "caller", "ns", (3000,)),), groups=((0, 1), (2, 3)), warmup=3,
        stopped_by="budget", coalesced=2, marks_off=((0, 2, 0), (1, 3, 1)),
        process=Process(
            "MPICH 5", {"compiler": "g++"}, Clock("TSC", 1.5, 2.5, 3.5, 4.5), ("n1", "n2"), "2026-11-22T07:35:00Z",
            0.25, {"eager": ("64KiB", "65536")}, waits="polls",
        ),
        sync="barrier", exit_skew_ns=(8, -9), share_cores=True, blocks=True, noise={"before": {"lost": 0.125}},
        notes={"why": "because"},
        given=(
            RankResources("n1", (4, 5), ((4,), (5, 6)), (Buffer(1, 2, 3, 4, {"0": 5}),),
                  Scheduling("fifo", 3, -5, "a", "g", 10, 11, 0.5, "q", "0-3")),
        ),
        taken=(RankTimes(3, (90,), (50,), (30,), 20, "t", 99, 6),),
        files=(KeptFile("x.bin", "field", 7, 2, "0123abcd", "halo-0.1/0.2.x.bin"),),
    )  # fmt: skip


def test_every_member_of_its_samples_is_read() -> None:
    found = Reader().read(seal(POINT).encode())
    assert isinstance(found, Point)
    samples = found.read()
    (series,), (reduced,) = samples.series, samples.reduced
    assert series.head == Head("phase/pack", 1, 2, 1, "caller", "ns", (3000,))
    lists = [series.values, series.gap_ns, series.entries, reduced.slowest_ns]
    assert [None if one is None else one.tolist() for one in lists] == [[10, 11], [3, 4], [5, 6], [10, 30]]
    assert series.preempted == {1}
    assert (reduced.name, reduced.group, reduced.role) == ("step", 1, "caller")
    assert reduced.ranks == (RankTotal(2, 3, 60, 10, 30),)
    assert reduced.sketch == Sketch({2560: 1, 2561: 1}, 1)
    assert reduced.slowest == Sketch({2561: 1})
    assert (reduced.blocks_ns, reduced.worst) == ((40,), ((7, 2, 30),))
    assert (series.bursts, reduced.gaps) == (((0, 15), (1, 16)), Sketch({2562: 2}))


def test_points_without_a_launch_line_begin_with_their_run() -> None:
    found = Reader("2026-01-01T00:00:00Z").read(seal(POINT).encode())
    assert isinstance(found, Point)
    assert found.process == Process(started="2026-01-01T00:00:00Z")
    unknown = Reader().read(seal(POINT).encode())
    assert isinstance(unknown, Point)
    assert unknown.process.started == ""


FIRST: dict[str, Any] = {
    "schema": 1, "kind": "point", "workload": "stream", "run": "stream-0", "knobs": {"n": "3"}, "ranks": 4,
    "threads": 2, "sampling": "lanes", "batch": 5, "warmup": 6, "stopped_by": "budget",
    "work": {"flops": 2, "loads": 0}, "verdict": {"check": "plain loop", "error": 0.5, "tolerance": 0.75},
    "clock": {"source": "TSC", "cost_ns": 1.5, "resolution_ns": 2.5},
    "sync": {"method": "barrier", "exit_skew_ns": [8, -9]}, "share_cores": True,
    "noise": {"during": {"time_s": 1}}, "notes": {"why": "because"}, "mpi": "MPICH", "build": {"compiler": "g++"},
    "given": [{"host": "n1", "cpus": [4, 5], "thread_masks": [[4], [5, 6]], "buffers": [
        {"bytes": 1, "resident_bytes": 2, "huge_bytes": 3, "page_bytes": 4, "pages_on_node": {"0": 5}}]}],
    "samples": {"lanes": [{"rank": 1, "thread": 2, "begin_ns": [5, 30], "duration_ns": [20, 21], "preempted": [1],
                           "clock_hz": [7]}]},
}  # fmt: skip


def test_every_member_of_a_point_of_format_1_is_read() -> None:
    found = Reader("2026-01-01T00:00:00Z").read(json.dumps(FIRST).encode())
    assert found == Point(
        workload="node/stream", launch="stream-0", knobs={"n": "3"}, ranks=4, threads=2, pace="chunks",
        work=(Work({"flops": 2}, lanes=1, batch=5),), results=(Result("plain loop", 0.5, "1", 0.75),),
        read=lambda: None,  # type: ignore[arg-type, return-value]
        heads=(Head("step", 1, 2, clock_hz=(7,)),), warmup=6, stopped_by="budget",
        process=Process("MPICH", {"compiler": "g++"}, Clock("TSC", 1.5, 2.5), started="2026-01-01T00:00:00Z"),
        sync="barrier", exit_skew_ns=(8, -9), share_cores=True, noise={"during": {"time_s": 1.0}},
        notes={"why": "because"},
        given=(RankResources("n1", (4, 5), ((4,), (5, 6)), (Buffer(1, 2, 3, 4, {"0": 5}),)),),
    )  # fmt: skip
    assert isinstance(found, Point)
    (series,) = found.read().series
    assert series.gap_ns is not None
    assert (series.head, series.values.tolist()) == (Head("step", 1, 2, clock_hz=(7,)), [20, 21])
    assert series.gap_ns.tolist() == [5, 5]
    assert series.preempted == {1}


def test_steps_and_failures_of_format_1_have_their_names() -> None:
    steps = {**FIRST, "sampling": "steps", "samples": {"duration_ns": [5, 6], "preempted": [1]}}
    found = Reader().read(json.dumps(steps).encode())
    assert isinstance(found, Point)
    (series,) = found.read().series
    assert (found.heads, series.head) == ((Head("step"),), Head("step"))
    assert series.gap_ns is None
    assert series.preempted == {1}
    failure = {"schema": 1, "kind": "failure", "workload": "stream", "run": "stream-0", "knobs": {"n": "3"}, "ranks": 4,
               "reason": "no memory", "exit": 3}  # fmt: skip
    read = Reader().read(json.dumps(failure).encode())
    assert read == Failure("node/stream", "stream-0", {"n": "3"}, 4, "no memory", 3)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (json.dumps({**FIRST, "schema": 7}), r"a field is missing or invalid \(Invalid enum value 7"),
        (json.dumps({**FIRST, "threads": 0}), r"a field is missing or invalid \(Expected `int` >= 1.*threads"),
        ('{"schema": 1', "incomplete line, or a field is missing or invalid"),
        ("nonsense", "does not end with a checksum"),
        (seal({**POINT, "format": 3}), "this version does not read its format, only 1 and 2"),
        (seal(POINT).replace("halo-0", "halo-1"), "the checksum does not match"),
        (seal({**POINT, "lost": [{"rank": 4, "wall_ns": [1]}]}), "lost time has an invalid rank"),
        (seal({**POINT, "lost": [{"rank": 0, "wall_ns": [1, 2], "cpu_ns": [1]}]}), "or does not cover all lanes"),
        (seal({**POINT, "shape": {"ranks": 3, "groups": [[0, 3]]}}), "or a rank beyond its 3 ranks"),
    ],
)
def test_refusals_say_what_is_wrong(text: str, said: str) -> None:
    with pytest.raises(RecordError, match=said):
        Reader().read(text.encode())


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"series": [{"name": "step"}]}, "the series step has no list of values"),
        ({"series": [{"name": "step", "ns": [1, -2]}]}, "contains an invalid count"),
        ({"series": [{"name": "step", "ns": [1, 2], "gap_ns": [1]}]}, "a list has 1 numbers, not 2"),
        ({"series": [{"name": "step", "ns": []}]}, "the series step has no samples"),
        ({"series": [{"name": "step", "ns": [1, 2], "bursts": [[2, 5]]}]}, "beyond the 2 samples of step"),
        ({"series": [{"name": "step", "ns": [1, 2], "bursts": [[1, 5], [0, 5]]}]}, "or are not in order"),
        ({"reduced": [{**POINT["reduced"][0], "gaps": {"count": 2}}]}, "a sketch of 2 values contains 0"),
        ({"reduced": [{**POINT["reduced"][0], "sketch": {"count": 2}}]}, "a sketch of 2 values contains 0"),
    ],
)
def test_refusals_of_samples_say_what_is_wrong(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(RecordError, match=said):
        Reader().read(seal({**POINT, **changes}).encode())


def test_large_counts_keep_their_values() -> None:
    most = 2**53 - 1
    found = Reader().read(seal({**POINT, "series": [{"name": "step", "ns": [most, 1]}]}).encode())
    assert isinstance(found, Point)
    assert found.read().series[0].values.tolist() == [most, 1]


def test_batches_and_counts_are_those_of_the_group_and_role() -> None:
    work = [{"group": 0, "role": "a", "batch": 3, "counts": {"x": 1}},
            {"group": 1, "role": "b", "batch": 5, "counts": {"y": 10}}]  # fmt: skip
    steps = Reader().read(seal({**POINT, "work": work}).encode())
    lanes = Reader().read(seal({**POINT, "work": work, "pace": "chunks"}).encode())
    assert isinstance(steps, Point)
    assert isinstance(lanes, Point)
    assert [steps.batch_of(*which) for which in ((0, "a"), (1, "b"), (0, "b"))] == [6, 10, 2]
    assert [steps.count("x", "y"), steps.count("x", "y", role="b"), lanes.count("x", "y")] == [11, 10, 1]


def test_quantiles_of_a_sketch_are_its_values() -> None:
    sketch = from_runs(1, [(bin_of(1000), [1]), (bin_of(4000), [2])])
    quantiles = [sketch.quantile(level) for level in (0, 0.34, 0.67, 1)]
    assert quantiles == pytest.approx([0, 1000, 4000, 4000], rel=1 / 256)
    assert sketch.doubled(2).quantile(1) == 4 * sketch.quantile(1)
    with pytest.raises(ValueError, match="an empty sketch has no quantiles"):
        Sketch().quantile(0.5)
    assert np.array_equal(sketch.sample(100), sketch.sample(4))


def test_what_is_no_number_is_not_sealed() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        seal({"value": float("nan")})


@pytest.mark.parametrize("lane", [{"duration_ns": [20]}, {"duration_ns": [20, -1]}, {"duration_ns": [20, 0]}])
def test_samples_of_format_1_that_cannot_be_are_refused(lane: dict[str, Any]) -> None:
    wrong = {**FIRST, "samples": {"lanes": [{**FIRST["samples"]["lanes"][0], **lane}]}}
    with pytest.raises(RecordError):
        Reader().read(json.dumps(wrong).encode())
