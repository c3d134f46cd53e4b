"""Values of a profile by name: `region:NAME`, and `call:FUNCTION:QUANTITY`, also of one rank: `…:RANK`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from octant.failure import suggestion
from octant.program import ProgramValue

if TYPE_CHECKING:
    from octant.profile.job import JobProfile

QUANTITIES = {"calls": "1", "bytes": "B", "bytes per call": "B", "time": "s", "share": "1"}
"""Quantities of a call, with their units. `time` is the sum over all ranks, `share` the share of all MPI time."""
_REGION = re.compile(r"region:([^\x00-\x1f\x7f=\[\]]{1,120})")
_CALL = re.compile(r"call:([^:=\[\]]*):([^:=\[\]]*)(?::([0-9]{1,9}))?")
_FUNCTION = re.compile(r"MPI_[A-Za-z][A-Za-z0-9_]*|\{\w+\}")


@dataclass(frozen=True)
class ProfileValue:
    """A value of a profile, as named by a user."""

    region: str = ""  # name of a region, or a path such as `step/solve`; "": a value of a call
    function: str = ""  # "MPI_Send"
    quantity: str = ""
    rank: int | None = None  # `None`: of all ranks

    @property
    def unit(self) -> str:
        """The unit of the value."""
        return "s" if self.region else QUANTITIES[self.quantity]


def is_name(text: str) -> bool:
    """Return whether a text is meant as the name of a value of a profile."""
    return text.startswith(("region:", "call:"))


def read_name(text: str) -> ProfileValue:
    """Return the value that a name describes.

    Raises:
        ValueError: the name is invalid; the message states the cause and the next step.
    """
    if found := _REGION.fullmatch(text):
        return ProfileValue(region=found[1].strip())
    call = _CALL.fullmatch(text)
    if not call:
        raise ValueError("it is not a value of a profile; try region:solve or call:MPI_Allreduce:time")
    function, quantity, rank = call.groups()
    if not _FUNCTION.fullmatch(function):
        raise ValueError(f"{function!r} is not a function of MPI; try call:MPI_Allreduce:{quantity or 'time'}")
    if quantity not in QUANTITIES:
        raise ValueError(f"no quantity {quantity!r}; {suggestion(quantity, QUANTITIES)}")
    return ProfileValue(function=function, quantity=quantity, rank=None if rank is None else int(rank))


def program_value(name: str) -> ProgramValue:
    """Return a value of a profile as a value of a program, under its own name.

    Raises:
        ValueError: as `read_name`.
    """
    named = read_name(name)
    return ProgramValue(
        name, named.unit, "lower", region=named.region, call="" if named.region else name.removeprefix("call:")
    )


def value_of(job: JobProfile, name: str) -> float:
    """Return a value of a profile.

    The time of a region is that of its slowest rank, over all visits.

    Raises:
        LookupError: the profile does not contain it; the message states the cause and the next step.
        ValueError: as `read_name`.
    """
    named = read_name(name)
    counts_only = any("counts only" in process.flags for process in job.processes)
    if counts_only and (named.region or named.quantity != "calls"):
        raise LookupError("calls were counted without time; omit --counts")
    return _region_time(job, named.region) if named.region else _call_value(job, named)


def _region_time(job: JobProfile, name: str) -> float:
    found = region_seconds(job)
    if name not in found:
        why = suggestion(name, found) if found else "mark it with octant_begin and octant_end"
        raise LookupError(f"the profile has no region {name!r}; {why}")
    return found[name]


def region_seconds(job: JobProfile) -> dict[str, float]:
    """Return the time of each region, by its name and by the names on its path, joined by `/`.

    It is the time of the rank that spends most time in it, in visits that have ended. A region that occurs at several
    places has their sum; a visit inside another visit of the same name counts once.
    """
    times: dict[str, np.ndarray] = {}
    seconds = np.zeros((max((one.rank for one in job.processes), default=0) + 1, len(job.regions)))
    rows = job.region_times
    np.add.at(seconds, (np.maximum(rows["rank"], 0), rows["region"]), rows["time_s"])
    for number in sorted({*rows["region"][rows["visits"] > 0].tolist()} - {0}):
        path = _path(job, number)
        if path[-1] not in path[:-1]:
            times[path[-1]] = times.get(path[-1], 0.0) + seconds[:, number]
        if len(path) > 1:
            times["/".join(path)] = seconds[:, number]
    return {name: float(one.max()) for name, one in times.items()}


def _path(job: JobProfile, number: int) -> list[str]:
    names: list[str] = []
    while number > 0:
        names.insert(0, job.regions[number].name)
        number = job.regions[number].parent
    return names


def _call_value(job: JobProfile, named: ProfileValue) -> float:
    calls = job.calls
    if named.rank is not None:
        if named.rank >= job.ranks or named.rank in job.missing:
            raise LookupError(f"there is no table of rank {named.rank}; omit the rank, or choose another one")
        calls = calls[calls["rank"] == named.rank]
    numbers = [number for number, name in enumerate(job.call_names) if name == named.function]
    chosen = calls[np.isin(calls["call"], numbers)]
    count, total_bytes, time_s = (chosen[field].sum() for field in ("calls", "bytes", "time_s"))
    if named.quantity == "calls":
        return float(count)
    if named.quantity == "bytes":
        return float(total_bytes)
    if named.quantity == "time":
        return float(time_s)
    whole = calls["time_s"].sum() if named.quantity == "share" else count
    if not whole:
        why = "no call of MPI was timed" if named.quantity == "share" else f"the program does not call {named.function}"
        raise LookupError(f"{why}; choose another quantity")
    return float((time_s if named.quantity == "share" else total_bytes) / whole)
