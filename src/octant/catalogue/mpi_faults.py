"""Known faults of MPI libraries: what a right program gets from them, for whom, and what helps."""

import functools
import re
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from octant.ask import cells_of, comparable
from octant.catalogue.neutral import TITLES, Library, number

Kind = Literal["wrong data", "hang", "crash", "slow"]
Condition = Annotated[str, Field(pattern=r"^(>=?\d+|[^<>=\s]+)$")]
"""A word or size, or `>=N` or `>N` of a number; sizes are in bytes."""


class Fault(BaseModel):
    """One of them; `mpi_faults.toml` explains the fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: str
    library: Literal["mpich", "openmpi", "intelmpi", "mvapich2", "cray-mpich"]
    since: str = ""
    until: str = ""
    seen: tuple[str, ...] = Field(min_length=1)
    workload: str
    knobs: dict[str, tuple[Condition, ...]] = {}
    ranks: tuple[Condition, ...] = ()
    kind: Kind
    says: str
    helps: str
    avoided: str = ""

    @property
    def versions(self) -> str:
        """The library and its versions, for people: `Open MPI 4.1 to before 5.0`."""
        since, until = self.since and f" {self.since}", self.until and f"before {self.until}"
        return TITLES[self.library] + (f"{since} to {until}" if since and until else since + (until and f" {until}"))

    @property
    def text(self) -> str:
        """`a known fault of Open MPI 5.0: …; try …`."""
        return f"a known fault of {self.versions}: {self.says}; try {self.helps}"

    def holds(self, library: Library) -> bool:
        """Whether this library has it."""
        version = number(library.version)
        return (
            self.library == library.name
            and (not self.since or version >= number(self.since))
            and (not self.until or version < number(self.until))
        )

    def concerns(self, workload: str, knobs: Mapping[str, str], ranks: int) -> bool:
        """Whether it is about some cell of these knobs; values may be lists, and knobs that are not there have none."""
        return (
            workload == self.workload
            and (not self.ranks or _holds(self.ranks, str(ranks)))
            and any(
                all(_holds(conditions, cell.get(name, "")) for name, conditions in self.knobs.items())
                for cell in cells_of({name: knobs[name] for name in self.knobs if name in knobs})
            )
        )


@functools.cache
def faults() -> tuple[Fault, ...]:
    """All of them, in the file's order."""
    table = tomllib.loads((files("octant.catalogue") / "mpi_faults.toml").read_text(encoding="utf-8"))
    return tuple(Fault.model_validate(entry) for entry in table["fault"])


def of_library(library: Library) -> tuple[Fault, ...]:
    """Those of one library."""
    return tuple(fault for fault in faults() if fault.holds(library))


def _holds(conditions: tuple[str, ...], value: str) -> bool:
    return any(_fits(condition, comparable(value)) for condition in conditions)


def _fits(condition: str, value: str) -> bool:
    found = re.fullmatch(r"(>=?)(\d+)", condition)
    if not found:
        return comparable(condition) == value
    return value.isdigit() and (int(value) > int(found[2]) or (found[1] == ">=" and int(value) == int(found[2])))
