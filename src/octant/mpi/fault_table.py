"""Known faults of MPI libraries: what a right program gets from them, for whom, and what helps."""

import functools
import re
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Annotated, Literal

from msgspec import Meta

from octant.mpi.neutral import TITLES, Library, number
from octant.units import parse_bytes
from octant.untrusted import InputTable, convert

Kind = Literal["wrong data", "hang", "crash", "slow"]
Condition = Annotated[str, Meta(pattern=r"^(>=?\d+|[^<>=\s]+)\Z")]
"""A word or size, or `>=N` or `>N` of a number; sizes are in bytes."""


class Fault(InputTable, frozen=True, kw_only=True):
    """One of them; `faults.toml` explains the fields."""

    name: str
    library: Literal["mpich", "openmpi", "intelmpi", "mvapich2", "cray-mpich"]
    since: str = ""
    until: str = ""
    seen: Annotated[tuple[str, ...], Meta(min_length=1)]
    workload: str
    knobs: Mapping[str, tuple[Condition, ...]] = {}
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
        """Whether it is about the cell of these knobs; what is asked of a knob that is not there does not hold."""
        return (
            workload == self.workload
            and (not self.ranks or _holds(self.ranks, str(ranks)))
            and all(_holds(conditions, knobs.get(name, "")) for name, conditions in self.knobs.items())
        )


@functools.cache
def faults() -> tuple[Fault, ...]:
    """All of them, in the file's order."""
    table = tomllib.loads((files("octant.mpi") / "faults.toml").read_text(encoding="utf-8"))
    return convert(table["fault"], tuple[Fault, ...])


def of_library(library: Library) -> tuple[Fault, ...]:
    """Those of one library."""
    return tuple(fault for fault in faults() if fault.holds(library))


def _holds(conditions: tuple[str, ...], value: str) -> bool:
    return any(_fits(condition, value) for condition in conditions)


def _fits(condition: str, value: str) -> bool:
    bound = re.fullmatch(r"(>=?)(\d+)", condition)
    found, wanted = _number(value), _number(condition)
    if bound and found is not None:
        return found > int(bound[2]) or (bound[1] == ">=" and found == int(bound[2]))
    return value == condition or (found is not None and found == wanted)


def _number(word: str) -> int | None:
    """A number, or a size in bytes; `None`: another word."""
    try:
        return parse_bytes(word)
    except ValueError:
        return None
