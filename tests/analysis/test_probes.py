"""What looks at the machine say against the figures between them."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from fake_run import lane, machine, point, stored
from octant.analysis.summary import summarise
from octant.machine import Machine
from octant.metric import Metric, rate, result
from octant.record import Point, Result
from octant.request import Presentation, Request, Subject
from octant.store import StoredRun
from octant.workload import Probe, Workload
from octant.workloads.node.core import WORKLOAD as CORE

assert CORE.probe is not None
LOOK = Workload(
    "A look",
    (Metric("window", "1", "higher", result("window")),),
    {},
    "fake/look",
    probe=Probe("the look", {"pattern": "window,misses"}, "window", CORE.probe.caveat, "possible SMT interference"),
)
THING = Workload("A thing", (Metric("rate", "1/s", "higher", rate("things")),), {}, "fake/thing")
KNOWN = {one.name: one for one in (LOOK, THING)}


def run_with(windows: Sequence[float], on: Machine | None = None, passed: bool = True) -> StoredRun:
    """Return a figure measured between probes with these values."""
    look = Request(
        Subject("fake/look"), {"pattern": "window,misses"}, show=Presentation("the look"), repeats=len(windows)
    )
    thing = Request(Subject("fake/thing"))
    points: list[Point] = [
        point(
            workload="fake/look",
            launch=launch.key,
            knobs={"pattern": "window"},
            lanes=(lane([100] * 9),),
            results=(Result("window", window, "1"), Result("right", 0.0 if passed else 1.0, "1", 0.0)),
        )
        for launch, window in zip(look.launches(), windows, strict=True)
    ]
    (measured,) = thing.launches()
    points.append(point(launch=measured.key, lanes=(lane([100] * 9),), counts={"things": 1}))
    return stored([*look.launches(), measured], points, on=on)


def kinds(run: StoredRun) -> list[str]:
    (figure,) = summarise(run, KNOWN).figures  # a look is no figure of the run
    return [one.kind for one in figure.caveats if one.kind == "possible SMT interference"]


@pytest.mark.parametrize(
    ("windows", "disputed"),
    [((448, 448), False), ((448, 430), False), ((448, 224), True), ((215, 456), True), ((224,), False), ((), False)],
)
def test_half_a_window_at_one_end_is_a_doubt_about_what_lies_between(windows: Sequence[float], disputed: bool) -> None:
    assert bool(kinds(run_with(windows))) == disputed


def test_half_of_a_documented_window_is_a_doubt_though_both_looks_agree() -> None:
    known = replace(machine(), processor=replace(machine().processor, vendor="AuthenticAMD"))
    zen5 = replace(known, system={**known.system, "family": "26"})
    assert kinds(run_with((224, 224), zen5))
    assert not kinds(run_with((456, 456), zen5))
    assert not kinds(run_with((224, 224), known))


def test_a_wrong_look_says_nothing() -> None:
    assert not kinds(run_with((448, 224), passed=False))


def test_the_text_says_what_was_seen_and_what_it_means() -> None:
    (figure,) = summarise(run_with((448, 224)), KNOWN).figures
    (text,) = [one.text for one in figure.caveats if one.kind == "possible SMT interference"]
    assert text.startswith("the effective reorder buffer was 224 instructions instead of 448 (measured at another time")
