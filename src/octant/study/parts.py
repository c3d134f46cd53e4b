"""Parts of a study file, as models; `checks` validates references."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from msgspec import Meta

from octant import facts, units, workloads
from octant.facts import Need
from octant.failure import suggestion
from octant.launch.link import parse_link
from octant.runs.programs.table import ProgramTable
from octant.untrusted import InputTable, read_with

Levels: TypeAlias = Mapping[str, str]  # factor -> level; factors left out are at the baseline
BASELINE: Levels = {}
Argument: TypeAlias = str | int | float | bool
Finite = Annotated[float, Meta(ge=-1e300, le=1e300)]
Positive = Annotated[float, Meta(gt=0, le=1e300)]
Fraction = Annotated[float, Meta(gt=0, le=1)]
Problem: TypeAlias = tuple[str, str]  # (key, what is wrong with it)
MAX_POINTS = 1000  # along an axis
_PART = re.compile(r"[{](\w+)[}]")
OF_A_LAUNCH = ("ranks", "threads", "fill")
"""Facts that differ from launch to launch."""
_SAMPLE = dict.fromkeys(facts.FACTS, 2**40) | {"memory": 2**60}
_SAMPLE_OF_MACHINE = {fact: value for fact, value in _SAMPLE.items() if fact not in OF_A_LAUNCH}


def _canonical_link(text: str) -> str:
    return str(parse_link(text)) if text else ""


if TYPE_CHECKING:
    LinkText: TypeAlias = str
    WorkloadName: TypeAlias = str
else:
    LinkText = read_with(_canonical_link, str)
    WorkloadName = read_with(workloads.resolve, str)


class MeasureAxis(InputTable, frozen=True):
    """Knob (for a model: argument) that each launch varies, value by value.

    Values may be expressions of the machine (`4*llc`) and ladders (`64KiB to 4*llc by 4`), but not for a model.
    """

    knob: str
    values: Annotated[tuple[str, ...], Meta(min_length=1, max_length=MAX_POINTS)]
    unit: str = ""

    def label(self, value: str) -> str:
        """Return a value as text: `2 MiB`, or `1800 B` if no prefix is exact; other values unchanged."""
        try:
            return units.exact_bytes_text(units.parse_bytes(value)) if self.unit == "B" else value
        except ValueError:  # an expression of the machine
            return value

    @property
    def has_numbers(self) -> bool:
        """Return whether every value is a count or a size, so that a curve can be drawn."""
        try:
            return bool([number(part) for value in self.values for part in sample_values(value)])
        except ValueError:
            return False


class Measure(ProgramTable, frozen=True):
    """Quantity that is measured or modelled in every combination of levels, by a workload, model or program.

    `{knob}` in the command line of a program is replaced by the value of that knob.
    """

    workload: WorkloadName = ""
    metric: str = ""  # "": the headline; of a program one of its values, of its profile, or what is measured of every
    # program; `{factor}` is replaced by the level of a factor of `parts`
    model: str = ""  # one that `octant.simulate.study_functions` offers, for source = "model"
    kind: Literal["rate", "time"] = "rate"  # of a model's value: of a rate more is better, of a time less
    unit: str = ""  # of a model's value; a workload's metric declares its own, and what is better
    knobs: Mapping[str, str] = {}
    arguments: Mapping[str, Argument] = {}
    ranks: str = "1"  # counts may be expressions: cores, hwthreads, "2*cores"
    threads: str = "1"
    link: LinkText = ""  # that joins emulated hosts: 100Mbit/s
    mode: Literal["one", "star", "threads", "all"] | None = None  # of old files; ranks and threads say how many work
    axis: MeasureAxis | None = None
    least_ranks: Annotated[int, Meta(ge=1, le=2**20)] = 1  # with fewer there is nothing to measure
    predicted: bool = False  # by the step of its workload; see `octant.study.predicted`

    def metric_for(self, levels: Levels) -> str:
        """Return the metric in a combination, with the levels of factors in braces: `call:{routine}:calls`."""
        return _PART.sub(lambda found: levels.get(found[1], found[0]), self.metric)

    @property
    def parts(self) -> frozenset[str]:
        """Return the factors in braces in the metric."""
        return frozenset(_PART.findall(self.metric))


class Level(InputTable, frozen=True):
    """Level of a factor: all settings that it changes."""

    knobs: Mapping[str, str] = {}
    measures: Mapping[str, Mapping[str, str]] = {}  # further knobs, by measure
    arguments: Mapping[str, Argument] = {}
    ranks: str | None = None
    threads: str | None = None
    link: LinkText | None = None  # "": none, where the measure has one
    profile: bool | None = None  # record the MPI calls of a program; `None`: as the measure says
    place: str = ""  # a placement request; {ranks}, {threads} and {fill} (threads per core) stand for the numbers
    mpi: Mapping[Literal["mpich", "openmpi", "intelmpi"], Mapping[str, str]] = {}  # library -> environment
    needs: tuple[Need, ...] = ()
    about: str = ""
    year: Annotated[int, Meta(ge=1900, le=2200)] | None = None  # for a picture along years


class Larger(InputTable, frozen=True):
    """Numbers of nodes for which the network model predicts values."""

    nodes: Annotated[
        tuple[Annotated[int, Meta(ge=2, le=2**20)], ...], Meta(min_length=1, max_length=8)
    ]  # like this one
    networks: tuple[str, ...] = ()  # described machines, with the greatest of these numbers


class PublishedTable(InputTable, frozen=True):
    """Published table of a measure, and the columns for each level."""

    table: str
    metric: str
    measure: str
    where: Mapping[str, str] = {}  # columns that all rows share
    columns: Mapping[str, Mapping[str, Mapping[str, str]]] = {}  # factor -> level -> column -> value
    axis: str = ""  # the column that holds the axis
    scale: Positive = 1.0  # base units in one of the table's


class PublishedRange(InputTable, frozen=True):
    """Published values of the tested quantity; several rows give a range."""

    table: str
    metric: str
    where: Mapping[str, str] = {}
    means: Literal["gain", "percent", "share"] = "gain"  # of 15: 15 times as good; by a factor of 1.15; 0.15 of it
    to: Mapping[str, str] = {}  # of times: columns of the one that takes so many times as long as that of `where`


class Bar(InputTable, frozen=True):
    """Criterion for a value: exactly one of the three."""

    above: Finite | None = None
    below: Finite | None = None
    within: tuple[Finite, Finite] | None = None

    @property
    def text(self) -> str:
        """Return the bar as text: `above 2`."""
        return self._text(lambda edge: f"{edge:g}")

    def text_in(self, unit: str) -> str:
        """Return the bar with a unit as text: `above 2 µs`."""
        return self._text(lambda edge: units.si_text(edge, unit))

    def _text(self, words: Callable[[float], str]) -> str:
        if self.within is not None:
            return f"within {words(self.within[0])} to {words(self.within[1])}"
        side, edge = ("above", self.above) if self.above is not None else ("below", self.below)
        return f"{side} {words(edge or 0.0)}"


@dataclass(frozen=True)
class Cell:
    """One measure in one combination of levels."""

    measure: str
    levels: tuple[str, ...]  # one per factor, in the file's order

    def __str__(self) -> str:
        return f"{self.measure}: {', '.join(self.levels)}"


def place_text(template: str, numbers: Mapping[str, int]) -> str:
    """Return a placement request with the numbers of a launch inserted: `{ranks}x{threads}`.

    Raises:
        ValueError: a name in braces that is not in `OF_A_LAUNCH`, or other text in braces.
    """

    def value(name: re.Match[str]) -> str:
        if name[1] not in OF_A_LAUNCH:
            raise ValueError(f"no such number {name[0][:60]!r}; {suggestion(name[1], OF_A_LAUNCH)}")
        return str(numbers[name[1]])

    return re.sub(r"[{]([^{}]*)[}]", value, template)


def number(text: str) -> float:
    """Return an axis value as a number: a count or a size.

    Raises:
        ValueError: neither.
    """
    try:
        return units.parse_real(text)
    except ValueError:
        return float(units.parse_bytes(text))


def sample_values(text: str, of_a_launch: bool = False) -> list[str]:
    """Return the values of an expression on a fictitious machine, to validate it.

    Args:
        of_a_launch: facts that differ between launches are defined, too.

    Raises:
        ValueError: a ladder that does not ascend, or an unknown fact.
    """
    return facts.values(text, _SAMPLE if of_a_launch else _SAMPLE_OF_MACHINE).split(",")
