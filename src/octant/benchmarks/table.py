"""The tests of HPC Challenge under its own names: what is asked for each, and what its summary shows of it."""

import functools
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Annotated, Literal, TypeAlias

from msgspec import Meta

from octant.untrusted import InputTable, convert

Rule: TypeAlias = Literal["baseline", "optimised"]


class HpccFigure(InputTable, frozen=True, kw_only=True):
    """One key of HPCC's summary; `hpcc_tests.toml` explains the fields."""

    key: str
    knobs: Mapping[str, str] = {}
    metric: str = ""
    unit: Annotated[float, Meta(gt=0)]
    each: bool = False
    over: Literal["", "max", "min", "mean", "best"] = ""
    reference: str = ""
    per_peak: str = ""
    rule: Rule | None = None

    def is_of(self, knobs: Mapping[str, str]) -> bool:
        """Whether a cell with these knobs is one of it."""
        return all(knobs.get(name, "") == value for name, value in self.knobs.items())


class HpccTest(InputTable, frozen=True, kw_only=True):
    """One test, which gives one or several figures."""

    name: str
    workload: str
    mode: Literal["one", "star", "all"]
    ranks: str = ""  # "": those that the mode says
    knobs: Mapping[str, str] = {}
    quick: Mapping[str, str] = {}
    across: Mapping[str, str] = {}
    share: str = "0"
    unshared: Mapping[str, str] = {}
    rule: Rule
    shows: tuple[str, ...] = ()
    least: Annotated[int, Meta(ge=1)] = 1
    figure: tuple[HpccFigure, ...] = ()
    peak: bool = False

    def is_of(self, workload: str, knobs: Mapping[str, str]) -> bool:
        """Whether a cell of a workload is one of it, as far as that does not depend on sizes."""
        plain = {name: value.split(",") for name, value in self.knobs.items() if "{" not in value}
        return workload == self.workload and all(knobs.get(name, "") in values for name, values in plain.items())


@functools.cache
def hpcc_tests() -> tuple[HpccTest, ...]:
    """All of them, in the order of the file."""
    table = tomllib.loads((files("octant.benchmarks.hpcc") / "tests.toml").read_text(encoding="utf-8"))
    return convert(table["test"], tuple[HpccTest, ...])
