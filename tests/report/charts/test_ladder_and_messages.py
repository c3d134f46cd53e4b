"""The memory ladder and the messages of runs whose levels and protocols are known."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import pytest

import fake_run
from fake_run import KIB, LADDER, MIB, WORKLOADS, machine, point, stored
from octant.analysis.figures import Figure
from octant.analysis.summary import Summary, summarise
from octant.machine import Disagreement, Machine
from octant.metric import Metric, ranks, rate, seconds, steps
from octant.record import Work
from octant.report.charts.curves import curve
from octant.report.charts.picture import Panel, Picture
from octant.report.charts.pictures import pictures
from octant.request import Launch, Presentation, Request, Shape, Subject
from octant.stats import Caveat, Grade
from octant.workload import Curve, Ladder, Messages, Workload


def picture_of(summary: Summary, name: str) -> Picture:
    return next(picture for picture in pictures(summary) if picture.id == name)


def ladder(on: Machine | None = None) -> Picture:
    return picture_of(summarise(fake_run.fake_run(on=on), WORKLOADS), "ladder")


def messages(repeats: int = 1) -> Picture:
    return picture_of(summarise(fake_run.fake_run(repeats=repeats), WORKLOADS), "mpi-p2p-messages")


def levels(panel: Panel) -> list[str]:
    return [level.label.replace("\N{NARROW NO-BREAK SPACE}", " ") for level in panel.levels]


def facts(picture: Picture) -> dict[str, str]:
    return {what: text.replace("\N{NARROW NO-BREAK SPACE}", " ") for what, text in picture.facts}


def test_workloads_that_declare_a_rung_are_one_picture_with_rates_above_times() -> None:
    picture = ladder()
    above, below = picture.panels
    assert above.x == below.x
    assert (above.y.unit, below.y.unit) == ("B/s", "s")
    assert levels(above) == ["L1 180 GB/s", "L2 70.0 GB/s", "L3–memory 30.0 GB/s"], "too even to tell memory"
    assert levels(below) == ["L1 1.67 ns", "L2 5.20 ns", "L3 24.0 ns", "memory 110 ns"]
    assert [(band.begin, band.end) for band in below.bands] == [
        (32 * KIB, 64 * KIB),
        (2 * MIB, 4 * MIB),
        (32 * MIB, 64 * MIB),
    ]
    assert [mark.label for mark in below.marks] == ["L1 48 KiB", "L2 2 MiB", "L3 32 MiB"]
    assert [series.name for series in below.series if series.kind == "curve"] == ["huge pages", "base pages"]
    assert all(not series.low for panel in picture.panels for series in panel.series), "launches are dots, not bars"


def test_curves_hold_the_numbers_that_were_put_in() -> None:
    alone, line, fitted = messages().panels[0].series
    lengths = (0, *map(int, line.x))
    assert (*alone.y, *line.y) == pytest.approx([fake_run.pingpong_s(n) for n in lengths], rel=1e-4)  # whole ns
    assert fitted.y == pytest.approx([fake_run.pingpong_s(n) for n in fitted.x], rel=0.02)
    bandwidth, latency = (panel.series[0] for panel in ladder().panels)
    assert bandwidth.y[0] == pytest.approx(180e9, rel=1e-3)
    assert latency.y == pytest.approx([fake_run._latency_ns(size) * 1e-9 for size in LADDER], rel=1e-2)
    assert ("100 %", "1.670 ns: 5 cycles at 2.99 GHz (measured)") in {row[-3:-1] for row in ladder().rows}


def test_side_text_lists_plateaus_edges_and_page_sizes() -> None:
    found = facts(ladder())
    assert found["L2"] == "70.0 GB/s, ends between 2 MiB and 4 MiB; 5.20 ns, ends between 2 MiB and 4 MiB"
    assert found["huge pages"] == "× 1.30 as fast as base pages at 256 MiB"
    assert found["reach of the TLB"] == "base pages are slower by more than × 1.10 from 4 MiB on"


def test_the_table_says_what_the_curves_do() -> None:
    picture = ladder()
    assert all(len(row) == len(picture.header) for row in picture.rows)
    assert len(picture.rows) == 3 * len(LADDER)
    names = {row[2]: row[-1] for row in picture.rows if row[0] == "Latency, latency" and row[1] == "huge pages"}
    assert (names["32 KiB"], names["64 KiB"], names["256 MiB"]) == ("L1", "L2", "memory")


def test_a_size_in_doubt_says_so_in_words_and_names_nothing() -> None:
    caveat = Disagreement(
        "last-level cache", (("stated", "32 MiB"), ("kvm", "other cores of the host share the cache")), "neither"
    )
    picture = ladder(dataclasses.replace(machine(), disagreements=(caveat,)))
    assert picture.panels[0].marks[-1].label == "L3 32 MiB (disputed)"
    assert levels(picture.panels[1])[2:] == ["24.0 ns to 32 MiB", "memory 110 ns"]
    assert facts(picture)["L3"] == "stated size 32 MiB (disputed), not assigned to a plateau"


def test_a_level_that_shows_no_plateau_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def steep(size: int) -> float:
        return 5.2 * (size / (2 * MIB)) if 2 * MIB < size <= 32 * MIB else known(size)

    known = fake_run._latency_ns
    monkeypatch.setattr(fake_run, "_latency_ns", steep)
    run = fake_run.fake_run()
    run = dataclasses.replace(run, points=tuple(one for one in run.points if one.workload == "node/latency"))
    summary = summarise(run)
    picture = picture_of(summary, "ladder")
    assert levels(picture.panels[0]) == ["L1 1.67 ns", "L2 5.20 ns", "memory 110 ns"]
    assert facts(picture)["L3"] == "32 MiB stated; no plateau of an L3 detected"


def test_a_level_that_one_ladder_alone_shows_is_told_of_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(size: int) -> float:
        return 110.0 if 2 * MIB < size <= 32 * MIB else known(size)

    known = fake_run._latency_ns
    monkeypatch.setattr(fake_run, "_latency_ns", absent)
    rates = {"node/latency": WORKLOADS["node/latency"], "node/stream": WORKLOADS["node/stream"]}
    picture = picture_of(summarise(fake_run.fake_run(), rates), "ladder")
    assert levels(picture.panels[1]) == ["L1 1.67 ns", "L2 5.20 ns", "L3–memory 110 ns"]
    assert facts(picture)["L3"] == "32 MiB stated; L3 not distinguishable from memory"
    assert facts(picture)["L3–memory"].count("levels not distinguishable") == 2
    assert "A name such as L2–L3" in picture.caption


def test_a_user_s_own_workload_is_a_rung_by_declaring_it() -> None:
    own = dataclasses.replace(WORKLOADS["node/latency"], pictures=(Ladder(along="table"),))
    picture = picture_of(summarise(fake_run.fake_run(), {own.name: own}), "ladder")
    assert len(picture.panels) == 1
    assert picture.panels[0].x.title == "table"
    without = {own.name: dataclasses.replace(own, pictures=())}
    assert "ladder" not in {one.id for one in pictures(summarise(fake_run.fake_run(), without))}


def step(size: float) -> float:
    return 0.5e-6 + size / 4e9 if size <= 4096 else 4e-6 + size / 12e9 if size <= 512 * KIB else 120e-6 + size / 2e9


def test_segments_are_named_listed_and_drawn_inside_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fake_run, "pingpong_s", step)
    picture = messages()
    above, below = picture.panels
    assert above.x == below.x
    begins = [region.label.split("\n")[0] for region in above.regions]
    assert begins == ["A: to 4 KiB", "B: 8 KiB to 512 KiB", "C: from 1 MiB"]
    found = facts(picture)
    assert found["A, to 4 KiB"].startswith("500 ns + n / 4.00 GB/s, error 0")
    assert found["B, 8 KiB to 512 KiB"].startswith("4.00 µs + n / 12.0 GB/s")
    fits = [series for series in above.series if series.name.startswith("line of")]
    assert [(series.x[0], series.x[-1]) for series in fits] == [
        (1, 4096),
        (8 * KIB, pytest.approx(512 * KIB)),
        (MIB, pytest.approx(4 * MIB)),
    ]
    assert [mark.at for mark in above.marks] == [mark.at for mark in below.marks]
    assert 4096 < above.marks[0].at < 8192


def test_a_knee_says_which_cache_ends_and_its_line_goes_on_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fake_run, "pingpong_s", lambda n: 1e-6 + n / 20e9 + max(0, n - MIB) / 2e9)
    picture = messages()
    found = facts(picture)
    assert found["B, from 1 MiB"].endswith("knee (L2)"), "two buffers of 1 MiB fill 2 MiB"
    assert found["B, from 1 MiB"].startswith("53.4 µs at 1 MiB, further at 1.82 GB/s")
    line = next(series for series in picture.panels[0].series if series.name == "line of A")
    assert line.x[-1] == pytest.approx(MIB)
    assert picture.panels[0].marks[0].at == MIB


@pytest.mark.parametrize("disputed", [False, True])
def test_a_cache_of_disputed_size_explains_no_knee(monkeypatch: pytest.MonkeyPatch, disputed: bool) -> None:
    """Two buffers of 2 MiB fill an L3 of 4 MiB, if that is its size."""
    monkeypatch.setattr(fake_run, "pingpong_s", lambda n: 1e-6 + n / 20e9 + max(0, n - 2 * MIB) / 1e9)
    caveats = (Disagreement("last-level cache", (("stated", "4 MiB"),), "neither"),) * disputed
    here, sizes = machine(), {2: 256 * KIB, 3: 4 * MIB}
    caches = tuple(
        dataclasses.replace(one, size_bytes=sizes.get(one.level, one.size_bytes)) for one in here.topology.caches or ()
    )
    on = dataclasses.replace(here, topology=dataclasses.replace(here.topology, caches=caches), disagreements=caveats)
    run = fake_run.fake_run(on=on)
    picture = picture_of(summarise(run, {"mpi/p2p": WORKLOADS["mpi/p2p"]}), "mpi-p2p-messages")
    assert facts(picture)["B, from 2 MiB"].endswith("knee" if disputed else "knee (L3)")


def test_a_segment_that_no_line_fits_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fake_run, "pingpong_s", lambda n: step(n) if n <= 512 * KIB else 40 * step(n) * (n / MIB) ** 3)
    picture = messages()
    assert "C, from 1 MiB" in facts(picture)
    assert facts(picture)["C, from 1 MiB"].startswith("no line fits (error ")
    assert [one.name for one in picture.panels[0].series if one.kind == "line"] == ["line of A", "line of B"]
    assert picture.panels[0].regions[2].label.split("\n")[1].startswith("no line fits")


def test_the_bandwidth_has_its_best_its_half_and_the_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fake_run, "pingpong_s", step)
    panel = messages().panels[1]
    best, half, longest = panel.notes
    assert best.text.replace("\N{NARROW NO-BREAK SPACE}", " ") == "best 11.0 GB/s at 512 KiB"
    assert (half.guides, half.marker) == ("both", "diamond")
    assert half.y == pytest.approx(best.y / 2)
    assert 32 * KIB < half.x < 64 * KIB
    assert longest.x == 4 * MIB
    assert not panel.y.log
    assert panel.y.ticks[0] == (0.0, "0")


def spoiled(summary: Summary, *sizes: int, **knobs: str) -> Summary:
    """Return the same run, of which these sizes are not measurable."""
    bad = Caveat("request not met", Grade.INVALID, "NOT AS ASKED")

    def spoil(one: Figure) -> Figure:
        if int(one.knobs.get("bytes", "-1")) not in sizes or any(one.knobs[name] != knobs[name] for name in knobs):
            return one
        launches = tuple(dataclasses.replace(launch, caveats=(bad,)) for launch in one.launches)
        return dataclasses.replace(one, launches=launches)

    figures = tuple(map(spoil, summary.figures))
    return dataclasses.replace(summary, figures=figures, others={k: spoil(one) for k, one in summary.others.items()})


def test_what_is_not_measurable_is_no_best_rate_and_no_half_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fake_run, "pingpong_s", step)
    good = summarise(fake_run.fake_run(), WORKLOADS)
    monkeypatch.setattr(fake_run, "pingpong_s", lambda n: step(n) / (50 if n == 16 * KIB else 1))
    bad = spoiled(summarise(fake_run.fake_run(), WORKLOADS), 16 * KIB)
    found = [picture_of(one, "mpi-p2p-messages") for one in (good, bad)]
    assert found[1].panels[1].notes == found[0].panels[1].notes
    assert len({one.facts[-1] for one in found}) == 1
    assert len({one.label for one in found}) == 1
    assert [region.label.split("\n")[0] for region in found[1].panels[0].regions] == [
        "A: to 4 KiB",
        "B: 8 KiB to 512 KiB",
        "C: from 1 MiB",
    ]
    every = spoiled(good, *(2**i for i in range(23)), 0)
    assert not picture_of(every, "mpi-p2p-messages").panels[1].notes


def test_levels_and_page_sizes_are_of_measurable_points() -> None:
    run = fake_run.fake_run()
    run = dataclasses.replace(run, points=tuple(one for one in run.points if one.workload == "node/latency"))
    summary = summarise(run)
    longest = 256 * MIB
    picture = picture_of(spoiled(summary, longest, pages="base"), "ladder")
    assert [note.x for note in picture.panels[0].notes] == [longest / 2]
    assert facts(picture)["huge pages"].endswith("as fast as base pages at 128 MiB")
    nothing = picture_of(spoiled(summary, *LADDER), "ladder")
    assert not nothing.panels[0].levels
    assert not nothing.panels[0].notes
    assert not nothing.facts


def test_an_empty_message_stands_left_of_a_gap() -> None:
    panel = messages().panels[0]
    alone, line = (series for series in panel.series if series.kind != "line")
    assert (alone.kind, alone.x, alone.role) == ("points", (0.25,), line.role)
    assert line.x[0] == 1
    assert panel.x.ticks[0] == (0.25, "0")
    assert panel.notes[0].text.startswith("8 B: ")


def test_launches_are_dots_and_one_launch_has_none() -> None:
    assert {x for series in messages().panels[0].series for x, _ in series.dots} == {8}, "asked for twice"
    line = next(series for series in messages(repeats=3).panels[0].series if series.kind == "curve")
    assert [x for x, _ in line.dots if x != 8] == [x for x in line.x if x != 8 for _ in range(3)]


@pytest.mark.parametrize("count", [2, 3])
def test_two_points_are_marks_and_joined_from_three_on(count: int) -> None:
    picture = halo_curve([8 * 2**i for i in range(count)])
    (series,) = picture.panels[0].series
    assert len(series.x) == count, "draw joins three or more"
    assert ("Lines join medians" in picture.caption) == (count > 2)


def test_what_was_measured_at_one_place_is_no_picture() -> None:
    """Nor are lines of one place each that lie apart."""
    every = (Curve("n"), Ladder("n"), Messages("rate", "n"))
    assert halo_pictures([8], extra=[("16", 2)], declared=every) == []
    kinds = [picture.id for picture in halo_pictures([8, 16], declared=every)]
    assert kinds == ["ladder", "mine-own-curve", "mine-own-messages"]


def test_lone_points_are_left_to_the_table_where_others_are_a_curve() -> None:
    picture = halo_curve([8, 16, 32], extra=[("64", 2)])
    assert [len(series.x) for series in picture.panels[0].series] == [3]


def test_lines_of_several_places_are_told_apart_by_them() -> None:
    picture = halo_curve([8, 16], extra=[("8", 2), ("16", 2)])
    assert [series.name for series in picture.panels[0].series] == ["1 core", "2 ranks"]


def test_over_a_thousand_points_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curve, "MAX_MARKS", 3)
    assert "each pixel column has minimum, median and maximum" in halo_curve([1, 2, 4, 8]).caption


def test_groups_of_ranks_are_a_band_of_quartiles() -> None:
    picture = halo_curve([8, 16, 32], groups=4)
    band = next(series for series in picture.panels[0].series if series.kind == "band")
    assert band.name == "the middle half of 4 groups"
    assert band.low == pytest.approx([1.75e-6] * 3)
    assert band.y == pytest.approx([2.5e-6] * 3)
    assert band.high == pytest.approx([3.25e-6] * 3)


def halo_curve(sizes: Sequence[int], extra: Sequence[tuple[str, int]] = (), groups: int = 1) -> Picture:
    """Return a curve over sizes of a workload whose group g needs g µs for a step."""
    return next(one for one in halo_pictures(sizes, extra, groups) if one.id == "mine-own-curve")


def halo_pictures(
    sizes: Sequence[int],
    extra: Sequence[tuple[str, int]] = (),
    groups: int = 1,
    declared: tuple[Curve | Ladder | Messages, ...] = (Curve("n"),),
) -> list[Picture]:
    """Return the picture of such a run; `extra` are further sizes, with the ranks of each."""
    over = (ranks("max"), steps("median"))
    metrics = (Metric("time", "s", "lower", seconds(over=over)), Metric("rate", "B/s", "higher", rate("bytes_sent")))
    own = Workload("Own", metrics, {}, "mine/own", pictures=declared)
    launches, points = [], []
    for number, (n, threads) in enumerate([*((str(size), 1) for size in sizes), *extra]):
        request = Request(Subject("mine/own"), {"n": n}, Shape(groups * threads), show=Presentation(f"own {number}"))
        launches.append(Launch(request))
        changes: dict[str, Any] = {"counts": {"bytes_sent": 1000}}
        if groups > 1:
            changes = {
                "groups": tuple((g,) for g in range(groups)),
                "work": tuple(Work({}, group=g) for g in range(groups)),
            }
        lanes = tuple(fake_run.lane([1000 * (g + 1)] * 11, rank=g, group=g) for g in range(groups))
        points.append(
            point(
                "steps", workload="mine/own", launch=Launch(request).key, knobs={"n": n}, ranks=groups * threads,
                lanes=lanes, **changes,
            )
        )  # fmt: skip
    return pictures(summarise(stored(launches, points), {own.name: own}))


@dataclasses.dataclass(frozen=True)
class LimitedLine:
    """What `limits_of` reads of a line."""

    name: str
    limits: tuple[tuple[float, float], ...]


def test_a_limit_that_is_not_every_line_s_says_whose_it_is() -> None:
    known = ((1.0, 5.0), (2.0, 5.0))
    new, other, hot = LimitedLine("new buffers", known), LimitedLine("old", known), LimitedLine("hot buffers", ())
    assert [one.name for one in curve.limits_of([new, hot])] == ["limit of new buffers"]  # type: ignore[list-item]
    assert [one.name for one in curve.limits_of([new, other])] == ["limit"]  # type: ignore[list-item]
