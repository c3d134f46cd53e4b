"""Values of a profile by name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from octant.profile.job import CALLS, REGION_TIMES, Communicator, JobProfile, ProcessProfile, Region, Site
from octant.profile.named_values import read_name, value_of

REGIONS = (("app", -1), ("step", 0), ("solve", 1), ("solve", 0), ("step", 2), ("open", 0))


def _process(rank: int) -> ProcessProfile:
    return ProcessProfile(rank, "host", 100 + rank, "finalized", 2.0, 1, 0.5, 0.0, 0.0)


def _job() -> JobProfile:
    """Two ranks: Isend from two sites, Barrier, and nested regions with one name at two places."""
    rows = [  # rank, thread, call, site, communicator, region, bucket, calls, bytes, times
        (0, 0, 0, 0, 0, 1, 4, 10, 80, 0.1, 0, 0, 0, 0),
        (0, 0, 0, 1, 0, 0, 5, 2, 32, 0.1, 0, 0, 0, 0),
        (1, 0, 0, 0, 0, 1, 4, 8, 64, 0.2, 0, 0, 0, 0),
        (1, 0, 1, 1, 0, 0, 0, 4, 0, 0.6, 0, 0, 0, 0),
    ]
    times = [(0, 1, 3, 1.0, 0.1), (1, 1, 3, 1.5, 0.1), (1, 2, 1, 0.25, 0.0), (0, 3, 1, 0.5, 0.0), (1, 5, 0, 0.0, 0.0)]
    return JobProfile(
        ranks=2,
        processes=(_process(0), _process(1)),
        call_names=("MPI_Isend", "MPI_Barrier"),
        sites=(Site("app", 16), Site("app", 32)),
        communicators=(Communicator("MPI_COMM_WORLD", 2),),
        regions=tuple(Region(*one) for one in REGIONS),
        calls=np.array(rows, CALLS),
        region_times=np.array(times, REGION_TIMES),
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("call:MPI_Isend:calls", 20),
        ("call:MPI_Isend:calls:1", 8),
        ("call:MPI_Isend:bytes", 176),
        ("call:MPI_Isend:bytes per call", 8.8),
        ("call:MPI_Isend:time", 0.4),
        ("call:MPI_Isend:share", 0.4),
        ("call:MPI_Isend:share:1", 0.25),
        ("call:MPI_Send:calls", 0),
        ("call:MPI_Barrier:bytes per call", 0),
        ("region:step", 1.5),  # of the slowest rank; the nested visit is in it
        ("region:solve", 0.5),  # at both places: 0.5 s on rank 0, 0.25 s on rank 1
        ("region:step/solve", 0.25),
    ],
)
def test_a_name_selects_calls_or_visits(name: str, value: float) -> None:
    assert value_of(_job(), name) == pytest.approx(value)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("region:slove", "no region 'slove'; did you mean solve?"),
        ("region:open", "no region 'open'"),  # no visit has ended
        ("region:step/solve/step", "no region 'step/solve/step'"),
        ("call:MPI_Recv:bytes per call", "does not call MPI_Recv"),
        ("call:MPI_Isend:calls:2", "no table of rank 2"),
    ],
)
def test_what_a_profile_does_not_contain_has_a_reason(name: str, why: str) -> None:
    with pytest.raises(LookupError, match=why.replace("?", "[?]")):
        value_of(_job(), name)


def test_times_need_more_than_counts() -> None:
    job = replace(_job(), processes=tuple(replace(one, flags=("counts only",)) for one in _job().processes))
    assert value_of(job, "call:MPI_Isend:calls") == 20
    for name in ("call:MPI_Isend:time", "call:MPI_Isend:share", "region:step"):
        with pytest.raises(LookupError, match="omit --counts"):
            value_of(job, name)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("wall time", "try region:solve or call:MPI_Allreduce:time"),
        ("region:", "try region:solve"),
        ("call:MPI_Isend:cals", "did you mean calls?"),
        ("call:Isend:calls", "'Isend' is not a function of MPI; try call:MPI_Allreduce:calls"),
        ("call:MPI_Isend:calls:x", "not a value of a profile"),
    ],
)
def test_invalid_names_are_refused(name: str, why: str) -> None:
    with pytest.raises(ValueError, match=why.replace("?", "[?]")):
        read_name(name)


def test_units_follow_the_quantity() -> None:
    units = [read_name(name).unit for name in ("region:a/b", "call:MPI_Put:bytes per call", "call:{routine}:calls")]
    assert units == ["s", "B", "1"]
