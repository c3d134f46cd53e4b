"""What data files and documents state about our own implementation is what the source does."""

import re
from collections.abc import Callable, Mapping

import pytest

from octant import catalogue
from octant.analysis import evidence
from octant.analysis.caveats import LEAST_BURSTS, TIME_SLICE_NS
from octant.analysis.figures import BEYOND
from octant.machine.hwloc import read_synthetic
from octant.placement.expressions import parse_place
from octant.runs import program_pair
from octant.stats import changes, gate, launches, paired, samples
from octant.stats.caveats import BOUNDS, GRADES
from octant.stats.verdicts import MARGIN
from paths import ROOT

METHOD = re.sub(r"\s+", " ", (ROOT / "METHOD.md").read_text(encoding="utf-8"))
CLOCK = re.compile(r"(?<!time\.)\bCLOCK_(?:MONOTONIC|REALTIME|BOOTTIME|TAI|PROCESS|THREAD)[A-Z_]*\b")


def test_every_clock_that_is_named_is_the_clock_that_times() -> None:
    native = [path for path in (ROOT / "native").rglob("*") if path.suffix in (".cpp", ".hpp")]
    kernels = list((ROOT / "src/octant/workloads").rglob("*.cpp"))
    calls = re.compile(r"clock_gettime\((CLOCK_[A-Z_]+)")
    read = {name for path in (*native, *kernels) for name in calls.findall(path.read_text(encoding="utf-8"))}
    assert "CLOCK_MONOTONIC" in read
    written = [path for suffix in ("toml", "md", "py", "jinja") for path in (ROOT / "src").rglob(f"*.{suffix}")]
    written += [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]
    named = {
        (path.relative_to(ROOT).as_posix(), name)
        for path in written
        if path.name != "CHANGELOG.md"
        for name in CLOCK.findall(path.read_text(encoding="utf-8"))
    }
    assert named
    assert {place for place in named if place[1] not in read} == set()


OURS = {c.id: c for setting in catalogue.settings() for c in setting.counterparts if c.system == "Octant"}


def test_what_octant_is_said_to_time_with_is_its_clock() -> None:
    text = OURS["octant-clock"].note
    header = (ROOT / "native/harness/octant/clock.hpp").read_text(encoding="utf-8")
    (clock,) = re.findall(r"clock_gettime\((CLOCK_[A-Z_]+)", header)
    assert re.findall(r"uses (\w+)", text) == [clock]
    assert "TSC" not in text


@pytest.mark.parametrize("name", [name for name, one in OURS.items() if one.name.startswith("--place")])
def test_words_of_a_placement_that_a_published_setting_becomes_are_words_of_it(name: str) -> None:
    topology = read_synthetic("pack:2 numa:1 core:4 pu:2")
    found = [
        word
        for text in OURS[name].values.values()
        for word in re.findall(r"\b((?:[a-z]+=)[\w:./-]+(?:,[a-z]+=[\w:./-]+)*)", text)
    ]
    for word in found:
        if word.startswith("map="):
            continue
        ranks = "64x1,torus=4x4x4" if word.startswith("order=") and word[6:].isupper() else "2x1"
        parse_place(f"{ranks},{word.replace('preferred:N', 'preferred:0')}", topology)


def constant(file: str, name: str) -> float:
    """Return a named number of a C++ source."""
    text = (ROOT / "native/harness" / file).read_text(encoding="utf-8")
    (number,) = re.findall(rf"\b{name}(?:{{| = )([\d'.e+-]+)", text)
    return float(number.replace("'", ""))


OF_THE_HARNESS: Mapping[str, tuple[Callable[[], float], float]] = {
    "A sample lasts at least twenty readings of the clock": (lambda: constant("pace.hpp", "min_clock_costs"), 20),
    "forty readings is a sample": (lambda: constant("pace_steps.cpp", "single_clock_costs"), 40),
    "are batched to two hundred readings": (lambda: constant("pace_steps.cpp", "batch_clock_costs"), 200),
    "last at least 20 µs, last at least 1 µs and half of the typical time longer": (
        lambda: constant("pace_steps.cpp", "cheap_reading_ns") + constant("pace_steps.cpp", "switch_ns"),
        21_000,
    ),
    "After bursts of 50 ms": (lambda: constant("pace.hpp", "burst_s"), 0.05),
    "of eight samples where these are longer": (lambda: constant("pace_chunks.cpp", "burst_samples"), 8),
    "and four bursts": (lambda: constant("stopping.cpp", "min_bursts"), 4),
    "Where marks take more than 1 % of a step": (lambda: constant("measure.cpp", "costly_marks"), 0.01),
    "the exit skew is measured a hundred times": (lambda: constant("measure.cpp", "trials"), 100),
    "sixteen times as many pages are therefore touched": (lambda: constant("octant/memory.hpp", "pool_factor"), 16),
}
OF_THE_ANALYSIS: Mapping[str, tuple[object, object]] = {
    "the median sample lasts over 3 ms": (TIME_SLICE_NS, 3e6),
    "fewer than four in a launch": (LEAST_BURSTS, 4),
    "beyond 105 % the figure is flagged": (BEYOND, 1.05),
    "half of the interval is over 3 % of the value: a note; over 10 %: limited; over 30 %": (
        BOUNDS["wide interval"],
        (0.03, 0.1, 0.3),
    ),
    "| to 1 % | none | | to 5 % | a note | | to 50 % | limited": (
        BOUNDS["lost time"],
        (0.01, 0.05, 0.5),
    ),
    "(correlation over 0.3)": (launches.RESEMBLING, 0.3),
    "Where two of them differ by more than 3 %": (launches.EQUAL, 0.03),
    "Where eight or more launches": (launches.LEAST_FOR_NEIGHBOURS, 8),
    "| 6 or more | interpolated order statistics": (samples.FEW_LAUNCHES, 6),
    "(`--threshold`, 3 %)": (MARGIN, 0.03),
    "Student's test on the logarithms of the ratios serves to 11 rounds": (paired.RANKED_ROUNDS, 12),
    "Fewer than four launches or rounds on a side give no verdict": (paired.LEAST_ROUNDS, 4),
    "It tests after 4, 6, 8 and 12 rounds with thresholds of 0.00042, 0.00401, 0.0127 and 0.0419": (
        gate.OBRIEN_FLEMING_THRESHOLDS,
        {4: 0.00042, 6: 0.00401, 8: 0.0127, 12: 0.0419},
    ),
    "it tests after 4, 6, 8, 12, 24, 48 and 96 rounds with thresholds of 0.00041, 0.00124, 0.00383, 0.0122, 0.0150, "
    "0.0157 and 0.0160": (
        gate.EXTENDED_THRESHOLDS,
        {4: 0.00041, 6: 0.00124, 8: 0.00383, 12: 0.0122, 24: 0.0150, 48: 0.0157, 96: 0.0160},
    ),
    "up to 12 if they take at most 10 minutes, more if all take at most a minute": (
        (program_pair.SENSIBLE_S, program_pair.SHORT_S),
        (600.0, 60.0),
    ),
    "so a gate on several figures needs eight rounds": (gate.LEAST_ROUNDS_OF_MANY, 8),
    "began at least an hour from A": (evidence.APART.total_seconds(), 3600),
    "at most twelve are read": (evidence.ENOUGH, 12),
    "within a factor of 1.3 of their median": (changes.LEAST_RATIO, 1.3),
}
"""What METHOD states, the constant that it is of, and its value."""


@pytest.mark.parametrize("statement", OF_THE_HARNESS)
def test_method_states_the_numbers_of_the_harness(statement: str) -> None:
    assert statement in METHOD, "METHOD says it otherwise: correct this table too"
    found, stated = OF_THE_HARNESS[statement]
    assert found() == stated


@pytest.mark.parametrize("statement", OF_THE_ANALYSIS)
def test_method_states_the_numbers_of_the_analysis(statement: str) -> None:
    assert statement in METHOD, "METHOD says it otherwise: correct this table too"
    found, stated = OF_THE_ANALYSIS[statement]
    assert found == stated


@pytest.mark.parametrize("kind", [*GRADES, *BOUNDS])
def test_kinds_of_caveats_fit_into_a_row_and_are_listed_in_the_method(kind: str) -> None:
    """A row of a table shows only the kind, so it has at most eight words."""
    assert len(kind.split()) <= 8
    table = METHOD.partition("| caveat | grade | condition |")[2].partition("A wide interval is graded")[0]
    listed = [name.strip() for row in table.split(" | | ") for name in row.strip("| ").partition(" | ")[0].split(",")]
    assert kind in listed
