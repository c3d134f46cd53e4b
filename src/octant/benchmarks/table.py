"""The tests of a benchmark under its own names: what is asked for each, and which keys its figures have."""

import functools
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Annotated, Literal, TypeAlias

from msgspec import Meta

from octant.untrusted import InputTable, convert

Rule: TypeAlias = Literal["baseline", "optimised"]
"""The benchmark's algorithm, with other libraries and compiler flags, or another one for the same data and check."""


class BenchmarkFigure(InputTable, frozen=True, kw_only=True):
    """One key under which a benchmark publishes a value."""

    key: str
    knobs: Mapping[str, str] = {}  # of the cell, where an ask has several
    metric: str = ""  # "": the headline of the workload
    unit: Annotated[float, Meta(gt=0)]  # 1e9 for a key in Gflops: the value is divided by it
    of: str = ""  # the base unit of the metric, "flop/s": a metric in another one gives no value; "": any
    each: bool = False  # the value is that of a rank, the metric that of all
    over: Literal["", "max", "min", "mean", "best"] = ""  # of the cells that fit; best: greatest rate, least time
    reference: str = ""  # the metric that is reduced as the benchmark does it, where ours is not
    per_peak: str = ""  # what the figure over the peak is called
    rule: Rule | None = None
    imported: str = ""  # its name in outputs of the benchmark, as `octant import` reads them; "": that of its test

    def is_of(self, knobs: Mapping[str, str]) -> bool:
        """Whether a cell with these knobs is one of it."""
        return all(knobs.get(name, "") == value for name, value in self.knobs.items())

    def is_in(self, unit: str) -> bool:
        """Whether a metric in this base unit gives its value."""
        return self.of in ("", unit)

    def may_be(self, knobs: Mapping[str, str]) -> bool:
        """Whether a cell of which some knobs are known may be one of it."""
        return all(knobs.get(name, value) == value for name, value in self.knobs.items())


class BenchmarkTest(InputTable, frozen=True, kw_only=True):
    """One test, which gives one or several figures, or none: then others are held against it.

    A value `{name}` of a knob, of `ranks` or of `share` is a size of the benchmark's `sizes.py`.
    """

    name: str  # the title of its ask
    workload: str  # that does it
    mode: Literal["one", "star", "all"]  # one rank, while others do not run; every rank alone, at once; all together
    ranks: str = ""  # "": those that the mode says
    knobs: Mapping[str, str] = {}  # of the ask; a list makes a cell of each
    quick: Mapping[str, str] = {}  # further knobs of a quick run
    across: Mapping[str, str] = {}  # further knobs where the ranks are on several hosts
    share: str = "0"  # memory that ranks of a node share, bytes
    unshared: Mapping[str, str] = {}  # further knobs where there is not as much
    rule: Rule = "baseline"  # where the record does not say it
    shows: tuple[str, ...] = ()  # knobs that are printed with the figure
    least: Annotated[int, Meta(ge=1)] = 1  # ranks that it needs
    figure: tuple[BenchmarkFigure, ...] = ()
    peak: bool = False  # it is what figures over the peak are over
    imported: str = ""  # its name in outputs of the benchmark, as `octant import` reads them; "": as its own

    def is_of(self, workload: str, knobs: Mapping[str, str]) -> bool:
        """Whether a cell of a workload is one of it, as far as that does not depend on sizes."""
        plain = {name: value.split(",") for name, value in self.knobs.items() if "{" not in value}
        return workload == self.workload and all(knobs.get(name, "") in values for name, values in plain.items())

    def may_be(self, workload: str, knobs: Mapping[str, str]) -> bool:
        """Whether a cell of which some knobs are known may be one of it, as far as that does not depend on sizes."""
        return self.is_of(workload, {**{name: value.partition(",")[0] for name, value in self.knobs.items()}, **knobs})

    def varied(self, figure: BenchmarkFigure) -> str:
        """Return the first knob that tells figures of one key apart; "" if there is one figure."""
        alike = [one for one in self.figure if one.key == figure.key]
        return next((name for name in figure.knobs if len({one.knobs.get(name) for one in alike}) > 1), "")


def plain_name(text: str) -> str:
    """Return a name in small letters without spaces and punctuation: `stardgemm` for `StarDGEMM` and `Star_dgemm`."""
    return "".join(filter(str.isalnum, text.casefold()))


@functools.cache
def read_tests(name: str) -> tuple[BenchmarkTest, ...]:
    """Return the tests of a benchmark's folder, in the order of its file; none if its tests are of another kind."""
    table = tomllib.loads((files(f"{__package__}.{name}") / "tests.toml").read_text(encoding="utf-8"))
    return convert(table.get("test", []), tuple[BenchmarkTest, ...])
