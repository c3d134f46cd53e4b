"""Checks before the first launch: the announced number of launches allows a verdict, and a smaller one does not."""

import dataclasses
import random
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TypeAlias

import pytest
from msgspec.structs import replace

from fake_run import machine
from octant import facts
from octant.failure import Exit, Refusal
from octant.machine import Machine
from octant.machine.hwloc import read_synthetic
from octant.stats import Interval
from octant.study import file, kinds
from octant.study.cells import axis_values, with_axis_values
from octant.study.design import MpiInUse, design
from octant.study.parts import Cell
from octant.study.prechecks import COMPARISONS, check_decidable, find_obstacles
from octant.study.question import FindingTest, Study, quantities
from octant.study.testable import PlannedStudy
from octant.study.values import CannotTest, LaunchValue, StudyValue, StudyValues
from pair_times import distance_ns, values

NOW = datetime(2026, 11, 22, 7, 35, tzinfo=UTC)
MANY = 12
FEW_TRIES = 25
PAIRS = values(range(16), distance_ns)
Axes: TypeAlias = Mapping[str, Mapping[str, str]]
FLAT, UNREPORTED = read_synthetic("pack:1 core:16 pu:1"), read_synthetic("pack:2 l3:2 core:4 pu:1")
FURTHER_KINDS = """
question = "?"
[baseline]
which = "a"
[measures.m]
workload = "node/latency"
axis = { knob = "bytes", values = ["1KiB", "2KiB", "4KiB", "8KiB", "16KiB", "32KiB", "64KiB"] }
[measures.pairs]
workload = "node/coherence"
[factors.which]
a = {}
b = { knobs = { pages = "thp" } }
[[findings]]
id = "one"
statement = "The latency rises at 4 KiB."
test = { kind = "knee", measure = "m", bar = { within = [4096, 8192] } }
[[findings]]
id = "two"
statement = "The latency rises later with b."
test = { kind = "step", measure = "m", of = { which = "b" }, to = { which = "a" }, level = 1, bar = { above = 1.5 } }
[[findings]]
id = "three"
statement = "The latency is flat."
test = { kind = "spread", measure = "m", bar = { below = 1.5 } }
[[findings]]
id = "four"
statement = "All shared caches are reported."
test = { kind = "topology", measure = "pairs" }
[[findings]]
id = "five"
statement = "The latency never exceeds 100 ns."
test = { kind = "value", measure = "m", at = "4KiB", largest = true, bar = { below = 1e-7 } }
"""


class Drawn(StudyValues):
    """Values of almost noiseless launches, drawn when read: curves are level, have a step, or are random."""

    def value(self, cell: Cell, at: str) -> StudyValue:
        return self.by_cell[cell][self.written.get(cell.measure, {}).get(at, at)]


class Curve(dict[str, StudyValue]):
    """Values of a cell along its axis; those of one seed have the same levels with any number of launches."""

    def __init__(self, at: tuple[str, ...], launches: int, edges: list[float], draw: random.Random) -> None:
        self.at, self.launches, self.seed = at, launches, draw.random()
        self.level = draw.choice(edges) * 10 ** draw.uniform(-0.7, 0.7)
        self.step, self.factor = draw.randrange(len(at) + 1), draw.choice([0.3, 1.0, 3.0])
        self.is_even = draw.random() < 0.8

    def __missing__(self, at: str) -> StudyValue:
        level = self.level * (self.factor if self.at.index(at) >= self.step else 1.0)
        level *= 1.0 if self.is_even else random.Random(f"{self.seed} {at}").uniform(1, 3)
        values = [level * (1 + 1e-6 * (number % 3)) for number in range(self.launches)]
        launches = [LaunchValue(Interval(x, x, x), number, NOW) for number, x in enumerate(values)]
        return StudyValue(tuple(launches), pairs=PAIRS)


class Curves(dict[Cell, Curve]):
    """Curves of a study by cell; their levels are near the bars of the tests."""

    def __init__(self, study: Study, launches: int, seed: int) -> None:
        bars = [bar for one in study.findings if (bar := getattr(one.test, "bar", None))]
        edges = [edge for bar in bars for edge in (bar.above, bar.below, *(bar.within or ())) if edge and edge > 0]
        self.study, self.launches, self.seed, self.edges = study, launches, seed, edges or [1.0]

    def __missing__(self, cell: Cell) -> Curve:
        axis = self.study.measures[cell.measure].axis
        draw = random.Random(f"{self.seed} {cell}")
        self[cell] = Curve(axis.values if axis else ("",), self.launches, self.edges, draw)
        return self[cell]


def verdicts_of(
    study: Study, test: FindingTest, axes: Axes, launches: int, until: int = 2, tries: int = 100
) -> set[str]:
    """The verdicts that this number of launches gives over many drawn values; up to so many different ones."""
    found: set[str] = set()
    known = quantities(study)
    for seed in range(tries):
        topology = (FLAT, UNREPORTED)[seed % 2]
        drawn = Drawn(known, Curves(study, launches, seed), {}, {}, topology=topology, written=axes)
        try:
            found |= {test.test.judge(study, drawn).status} - {"undecided"}
        except CannotTest:
            continue
        if len(found) == until:
            break
    return found


def every_test() -> list[tuple[str, Study, FindingTest, Axes]]:
    """Each test of each study on a large machine."""
    on = machine(packages=4, cores=16, smt=4)
    found: list[tuple[str, Study, FindingTest, Axes]] = []
    studies = {"further kinds": file.parse(FURTHER_KINDS, "further"), **file.entries().working}
    for name, study in studies.items():
        axes = axis_values(study, facts.numbers(on)) if study.source == "measure" else {}
        here = with_axis_values(study, axes)
        found += [(f"{name}, {one.id} ({type(one.test).__name__})", here, one, axes) for one in here.findings]
    return found


def test_each_test_decides_with_its_least_number_of_launches() -> None:
    for where, study, one, axes in every_test():
        assert verdicts_of(study, one, axes, one.test.least_launches, until=1), where


def test_each_kind_decides_nothing_with_fewer_launches() -> None:
    known = set()
    for where, study, one, axes in every_test():
        least, sufficient = one.test.least_launches, one.test.sufficient_launches
        if (key := (type(one.test), least, sufficient)) in known:
            continue
        known.add(key)
        possible = verdicts_of(study, one, axes, MANY)
        assert verdicts_of(study, one, axes, sufficient) == possible, where
        for fewer in range(1, least):
            assert not verdicts_of(study, one, axes, fewer, tries=FEW_TRIES), f"{where}, {fewer} launches"
        for fewer in range(least, sufficient):
            assert verdicts_of(study, one, axes, fewer, tries=FEW_TRIES) < possible, f"{where}, {fewer} launches"
    assert {kind for kind, *_ in known} == set(kinds.kinds().values())


def test_the_usual_number_of_launches_is_sufficient_for_each_study() -> None:
    few = [
        (name, one.id)
        for name, study in file.entries().working.items()
        for one in study.findings
        if study.source == "measure" and study.repeats < one.test.sufficient_launches
    ]
    assert not few


def planned(study: Study, on: Machine, repeats: int) -> PlannedStudy:
    axes = axis_values(study, facts.numbers(on))
    here = replace(with_axis_values(study, axes), repeats=repeats)
    return PlannedStudy(here, on, axes, design(here, on, 0, MpiInUse("mpich")))


def with_repeats(found: PlannedStudy, repeats: int) -> PlannedStudy:
    return dataclasses.replace(found, study=replace(found.study, repeats=repeats))


MIXED = file.parse(FURTHER_KINDS, "further")


def test_too_few_launches_are_named_with_the_number_that_is_sufficient() -> None:
    found = planned(MIXED, machine(cores=4), 5)
    assert [(one.what, one.launches, one.is_partial) for one in find_obstacles(found)] == [
        ("one", 6, False), ("two", 6, False), ("three", 6, False), ("five", 6, True),
    ]  # fmt: skip
    assert check_decidable("further", found, anyway=False) == [
        "cannot be decided (5 launches per configuration, at least 6 are required): one, two, three; use --repeats 6",
        "can be decided in one direction only (5 launches per configuration, at least 6 are required): five; "
        "use --repeats 6",
    ]
    assert find_obstacles(planned(MIXED, machine(cores=4), 6)) == []


def test_a_study_is_refused_if_no_test_can_be_decided() -> None:
    """The announced number of launches is accepted, one less is not."""
    decided = {name: study for name, study in file.entries().working.items() if study.source == "measure"}
    on, refused = machine(packages=2, cores=4, smt=2), 0
    for name, study in decided.items():
        found = planned(study, on, 1)
        if not study.findings or any(one.test.least_launches == 1 or found.why_not(one) for one in study.findings):
            continue
        with pytest.raises(Refusal, match=r"cannot decide any test of .*; use --repeats (\d+), or --anyway") as refusal:
            check_decidable(name, found, anyway=False)
        assert refusal.value.code == Exit.WRONG_WORD
        announced = int(str(refusal.value).partition("--repeats ")[2].partition(",")[0])
        assert announced == max(one.test.sufficient_launches for one in study.findings)
        assert find_obstacles(with_repeats(found, announced)) == []
        assert check_decidable(name, found, anyway=True)
        refused += 1
    assert refused > 20


def test_a_study_without_tests_is_refused_if_no_comparison_is_possible() -> None:
    study = file.load("huge-pages")
    with pytest.raises(Refusal, match=r"make any comparison of huge-pages .3 launches .*; use --repeats 4, or") as few:
        check_decidable("huge-pages", planned(study, machine(), 3), anyway=False)
    assert few.value.code == Exit.WRONG_WORD
    (warning,) = check_decidable("huge-pages", planned(study, machine(), 3), anyway=True)
    assert COMPARISONS in warning
    assert check_decidable("huge-pages", planned(study, machine(), 4), anyway=False) == []
    assert check_decidable("core-parameters", planned(file.load("core-parameters"), machine(), 1), anyway=False) == []


def test_a_study_that_this_machine_cannot_test_is_refused_with_the_reason() -> None:
    study = file.load("smt-kernels")
    why = "on this machine .needs 2 hardware threads per core; this machine has 1.; to measure only values, use"
    with pytest.raises(Refusal, match=why) as refusal:
        check_decidable("smt-kernels", planned(study, machine(), 6), anyway=False)
    assert refusal.value.code == Exit.NOT_SUPPORTED
    (warning,) = check_decidable("smt-kernels", planned(study, machine(), 6), anyway=True)
    assert warning.startswith("cannot be tested on this machine (needs 2 hardware threads per core")
    assert warning.endswith(" and 6 more")
    assert check_decidable("smt-kernels", planned(study, machine(smt=2), 6), anyway=False) == []
