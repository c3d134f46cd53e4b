"""Patterns of the MPI benchmarks under the names of IMB and OSU: requests and columns of tables."""

import functools
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Annotated, Literal

from msgspec import Meta
from msgspec.structs import replace

from octant.benchmarks.table import plain_name
from octant.failure import Exit, Refusal, suggestion
from octant.untrusted import InputTable, convert


class MessagePattern(InputTable, frozen=True, kw_only=True):
    """A pattern; `tests.toml` explains the fields."""

    name: str
    osu: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    title: str = ""
    workload: str
    knobs: Mapping[str, str] = {}
    ranks: Literal["pair", "any"] = "any"
    sizes: str = ""
    multiple: Annotated[int, Meta(ge=1)] = 1
    modes: str = ""
    multi: bool = False
    times: Literal["one", "range", "mean", "overlap", "passive"] = "range"
    factor: Annotated[int, Meta(ge=0)] = 0
    each: Literal["", "all", "other", "pair"] = ""
    messages: Annotated[int, Meta(ge=0)] = 0
    osu_shows: Literal["latency", "bandwidth", "rate", "overlap"] = "latency"
    differs: str = ""
    holds_with: Mapping[str, str] = {}
    usual: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """All names that users may give."""
        return (self.name, *self.osu, *(name.removeprefix("osu_") for name in self.osu), *self.aliases)

    @property
    def has_length(self) -> bool:
        """Whether its rows have a message length."""
        return bool(self.sizes) or "bytes" in self.knobs

    def called(self, name: str) -> str:
        """Return a name in its usual spelling; the pattern's own name if it does not have this one."""
        return next((one for one in self.names if one.lower() == name.lower()), self.name)

    def times_of(self, processes: int) -> int:
        """Return the number of processes or pairs whose rates are added, of this number of processes."""
        return {"": 1, "all": processes, "other": processes - 1, "pair": processes // 2}[self.each]

    @property
    def factor_text(self) -> str:
        """IMB's factor as text."""
        return (
            str(self.factor)
            + {"": "", "all": " x #processes", "other": " x (#processes - 1)", "pair": " x pairs"}[self.each]
        )

    def is_of(self, workload: str, knobs: Mapping[str, str]) -> bool:
        """Return whether a cell of a workload belongs to this pattern."""
        return workload == self.workload and all(knobs.get(name, "") == value for name, value in self.knobs.items())


@functools.cache
def patterns() -> tuple[MessagePattern, ...]:
    """Return all patterns in the order of the file."""
    table = tomllib.loads((files(__package__) / "tests.toml").read_text(encoding="utf-8"))
    found = convert(table["pattern"], tuple[MessagePattern, ...])
    overlapped = [one for one in found if one.knobs.get("call") == "nonblocking"]
    pure = {"osu": (), "aliases": (), "title": "", "times": "range", "osu_shows": "latency"}
    return (*found, *(replace(one, name=f"{one.name}_pure", **pure) for one in overlapped))


def find(name: str) -> MessagePattern:
    """Return the pattern with this name, in any case; IMB's names are preferred.

    Raises:
        Refusal: there is none.
    """
    known = _by_name(patterns())
    if found := known.get(name.lower()):
        return found
    names = [one.name for one in patterns()]
    others = (other for one in patterns() for other in one.names)
    every = {other.lower(): other for other in [*others, *names]}  # names that differ only in case are one name
    hint = suggestion(name, list(every.values()), "octant mpi --list")
    raise Refusal(f"cannot measure {name!r} (unknown pattern); {hint}", Exit.WRONG_WORD)


def pattern_of(
    workload: str, knobs: Mapping[str, str], asked: str = "", imported: bool = False
) -> MessagePattern | None:
    """Return the pattern of a cell: that with the requested name, or the first matching one with the most knobs.

    Args:
        workload: name of the workload.
        knobs: knobs of the cell.
        asked: requested name of a pattern, or any other text.
        imported: the cell has only some of the knobs.
    """
    known = patterns()
    if imported:
        title = plain_name(asked)
        titled = (one for one in known if one.title and plain_name(one.title) == title)
        alike = (one for one in known if one.is_of(workload, {**one.knobs, **knobs}))
        return _by_name(known).get(asked.lower()) or next(titled, None) or next(alike, None)
    named = _by_name(known).get(asked.lower())
    if named and named.is_of(workload, knobs):
        return named
    fitting = [one for one in known if one.is_of(workload, knobs)]
    return max(fitting, key=lambda one: len(one.knobs), default=None)


def _by_name(known: tuple[MessagePattern, ...]) -> dict[str, MessagePattern]:
    found = {other.lower(): one for one in reversed(known) for other in one.names}
    return found | {one.name.lower(): one for one in known}
