"""Patterns of the MPI benchmarks under the names of IMB and OSU: what is asked, and what their tables show of it."""

import functools
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from octant.failure import Exit, Refusal, suggestion


class Pattern(BaseModel):
    """One of them; `mpi_patterns.toml` explains the fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: str
    osu: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    workload: str
    knobs: dict[str, str] = {}
    ranks: Literal["pair", "any"] = "any"
    sizes: str = ""
    multiple: int = Field(default=1, ge=1)
    times: Literal["one", "range", "overlap"] = "range"
    factor: int = Field(default=0, ge=0)
    each: Literal["", "all", "other", "pair"] = ""
    messages: int = Field(default=0, ge=0)
    osu_shows: Literal["latency", "bandwidth"] = "latency"
    differs: str = ""
    usual: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that users may give it."""
        return (self.name, *self.osu, *(name.removeprefix("osu_") for name in self.osu), *self.aliases)

    def times_of(self, processes: int) -> int:
        """How many others, or pairs, a rate adds up where so many processes take part; 1: it is one's."""
        return {"": 1, "all": processes, "other": processes - 1, "pair": processes // 2}[self.each]

    @property
    def factor_text(self) -> str:
        """IMB's factor for people."""
        return (
            str(self.factor)
            + {"": "", "all": " x #processes", "other": " x (#processes - 1)", "pair": " x pairs"}[self.each]
        )

    def is_of(self, workload: str, knobs: Mapping[str, str]) -> bool:
        """Whether a cell of a workload is one of this pattern."""
        return workload == self.workload and all(knobs.get(name, "") == value for name, value in self.knobs.items())


@functools.cache
def patterns() -> tuple[Pattern, ...]:
    """All of them, in the file's order."""
    table = tomllib.loads((files("octant.catalogue") / "mpi_patterns.toml").read_text(encoding="utf-8"))
    return tuple(Pattern.model_validate(entry) for entry in table["pattern"])


def find(name: str) -> Pattern:
    """The pattern of that name, in capitals or not; a name of IMB's is preferred.

    Raises:
        Refusal: there is none.
    """
    known = {other.lower(): one for one in reversed(patterns()) for other in one.names}
    known |= {one.name.lower(): one for one in patterns()}
    if found := known.get(name.lower()):
        return found
    hint = suggestion(name, [one.name for one in patterns()] + sorted(known), "octant mpi --list")
    raise Refusal(f"cannot measure the pattern {name!r} (no such pattern); {hint}", Exit.WRONG_WORD)


def pattern_of(workload: str, knobs: Mapping[str, str]) -> Pattern | None:
    """The pattern that a cell is one of; of several that with the most knobs."""
    fitting = [one for one in patterns() if one.is_of(workload, knobs)]
    return max(fitting, key=lambda one: len(one.knobs), default=None)
