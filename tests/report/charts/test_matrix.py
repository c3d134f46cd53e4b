"""Pairs of ranks as a matrix: which cells make one, what is far from the others, and how it is drawn."""

import dataclasses

import pytest

from fake_run import durations, lane, point, stored
from octant.analysis.summary import Summary, summarise
from octant.machine import Topology
from octant.metric import Metric, per, ranks, rate, steps
from octant.record import Work
from octant.report.charts import draw, terminal
from octant.report.charts.matrix import matrix
from octant.report.charts.picture import Picture
from octant.request import Launch, Request, Shape, Subject
from octant.workload import Matrix, Workload
from pair_times import TWO_SOCKETS, flat, launch
from reports import cells_of

RANKS = 6
WORKLOAD = Workload(
    name="mpi/pairs",
    summary="Pairs that exchange",
    metrics=(
        Metric("time", "s", "lower", per("messages")),
        Metric("pair time", "s", "lower", per("messages", over=(ranks("max"), steps("median")))),
        Metric("bandwidth", "B/s", "higher", rate("bytes_sent")),
    ),
    pictures=(Matrix("pair time"),),
    smoke={},
)
SLOW = (1, 4)


def rounds() -> list[list[tuple[int, int]]]:
    circle = RANKS - 1

    def pair(one: int, other: int) -> tuple[int, int]:
        return min(one, other), max(one, other)

    around = [[pair((k + i) % circle, (k - i) % circle) for i in range(1, RANKS // 2)] for k in range(circle)]
    return [[(k, circle), *pairs] for k, pairs in enumerate(around)]


def summary(slow: float = 1.0) -> Summary:
    """Every pair takes 10 us but one; each round is a cell."""
    names = ",".join(f"round:{number}" for number in range(RANKS - 1))
    launch = Launch(Request(Subject(WORKLOAD.name), {"bytes": "8", "groups": names}, Shape(RANKS)))
    points = []
    for number, pairs in enumerate(rounds()):
        lanes = [
            lane(durations(round(10_000 * (slow if pair == SLOW else 1))), rank=rank, group=group)
            for group, pair in enumerate(pairs)
            for rank in pair
        ]
        points.append(
            point(
                "steps", workload=WORKLOAD.name, launch=launch.key, knobs={"bytes": "8", "groups": f"round:{number}"},
                ranks=RANKS, groups=tuple(pairs), lanes=tuple(lanes),
                work=tuple(Work({"messages": 1, "bytes_sent": 8}, group, lanes=2) for group in range(len(pairs))),
            )
        )  # fmt: skip
    return summarise(stored([launch], points), {WORKLOAD.name: WORKLOAD})


def drawn(found: Summary) -> Picture:
    picture = matrix(cells_of(found, WORKLOAD), Matrix("pair time"))
    assert picture is not None
    return picture


def test_the_rounds_of_a_tournament_are_one_matrix_with_both_halves() -> None:
    picture = drawn(summary())
    (panel,) = picture.panels
    cells = panel.series[0]
    assert set(zip(cells.x, cells.y, strict=True)) == {(a, b) for a in range(RANKS) for b in range(RANKS) if a != b}
    assert len(picture.rows) == RANKS * (RANKS - 1) // 2
    assert len(panel.series) == 1, "no pair is far from the others"


def test_a_pair_that_is_far_from_the_others_is_named() -> None:
    picture = drawn(summary(slow=1.5))
    far = picture.panels[0].series[1]
    assert (far.labels, far.x, far.y) == (("1 and 4",), (1.0,), (4.0,))
    assert ("far from the others", "1 and 4 15.0 µs") in picture.facts
    assert [row for row in picture.rows if row[4]] == [("pair time", "1 and 4", "15.00 µs", "×1.500", "far")]
    cells = picture.panels[0].series[0]
    shade = dict(zip(zip(cells.x, cells.y, strict=True), cells.shades, strict=True))
    assert shade[1, 4] == 0 == min(cells.shades), "the slowest is the palest"


def test_a_small_difference_is_not_far_however_alike_the_others_are() -> None:
    assert len(drawn(summary(slow=1.05)).panels[0].series) == 1


def test_it_is_drawn_for_a_page_a_phone_and_a_terminal() -> None:
    picture = drawn(summary(slow=2))
    for width in draw.widths(picture):
        text = draw.svg(picture, width)
        assert text.count("<rect") >= RANKS * (RANKS - 1)
        assert "ranks 1 and 4: 20.0 µs" in text
    lines = [line.plain for line in terminal.picture_lines(picture, 60)]
    assert sum("██" in line for line in lines) >= RANKS
    assert [line.plain for line in terminal.picture_lines(picture, 12)][3].startswith("30 cells, to")


@pytest.mark.parametrize("groups", [((0, 1, 2), (3, 4, 5)), ((0, 1), (2, 3))])
def test_other_groups_and_two_pairs_make_none(groups: tuple[tuple[int, ...], ...]) -> None:
    found = summary()
    points = tuple(dataclasses.replace(one, groups=groups) for one in found.run.points[:1])
    other = summarise(dataclasses.replace(found.run, points=points), {WORKLOAD.name: WORKLOAD})
    assert matrix(cells_of(other, WORKLOAD), Matrix("pair time")) is None


def of_threads(topology: Topology) -> Picture | None:
    """Return a launch of pairs of hardware threads, on a machine of that topology."""
    asked = Launch(Request(Subject("node/coherence"), {"pattern": "pairs"}))
    run = stored([asked], [launch(launch=asked.key)])
    found = summarise(dataclasses.replace(run, machine=dataclasses.replace(run.machine, topology=topology)))
    of = found.figures[0].workload
    return matrix(cells_of(found, of), Matrix("time"))


def test_reported_groups_of_hardware_threads_have_lines_between_them_and_names() -> None:
    picture = of_threads(TWO_SOCKETS)
    assert picture is not None
    (panel,) = picture.panels
    assert panel.x.title == "hardware thread"
    borders = {one.x[0] for one in panel.series if one.kind == "line" and one.x[0] == one.x[1]}
    thick = {one.x[0] for one in panel.series if one.role == "ink" and one.x[0] == one.x[1]}
    assert thick == {3.5, 7.5, 11.5}, "caches and packages"
    assert borders == {at + 0.5 for at in range(1, 15, 2)}, "between cores; caches and packages end there too"
    facts = dict(picture.facts)
    assert facts["cores"].startswith("0-1; 2-3; 4-5; 6-7 and 4 more: 7.00 ns within, 20.0 ns between")
    assert facts["L3 caches"].startswith("0-3; 4-7; 8-11; 12-15: 20.0 ns within, 90.0 ns between")
    assert {row[1]: row[4] for row in picture.rows if row[1] in ("0 and 1", "0 and 3", "3 and 4", "0 and 8")} == {
        "0 and 1": "core", "0 and 3": "L3 cache", "3 and 4": "package", "0 and 8": "",
    }  # fmt: skip
    lines = [line.plain for line in terminal.picture_lines(picture, 100)]
    assert sum("│" in line for line in lines) == 16, "a line for each hardware thread"
    assert sum("─" in line for line in lines) == 7, "between cores"
    assert [line.split()[0] for line in lines if "│" in line] == [str(cpu) for cpu in range(15, -1, -1)]


def test_unreported_groups_are_named_as_such() -> None:
    picture = of_threads(flat())
    assert picture is not None
    assert {name for name, _ in picture.facts} == {"all pairs", "groups that are not reported"}
    assert not any(one.kind == "line" for one in picture.panels[0].series)
