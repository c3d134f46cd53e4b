"""JSON of a profile: every number equals that of the analysis, with how it was obtained."""

import json
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import made_jobs
from octant.profile.analysis import analyse
from octant.profile.job import JobProfile
from octant.report.profile.document import FORMAT, report_json
from octant.report.profile.tables import definitions
from random_jobs import random_jobs


def check(found: Any, value: Any, is_counted: bool = False) -> None:
    """Compare a part of the document with the result that it was made of."""
    if is_dataclass(value):
        if hasattr(value, "KIND"):
            assert found["basis"] == value.KIND
        for one in fields(value):
            if is_counted and one.name in ("bytes", "bytes_sent", "mean_bytes"):
                assert found[one.name] is None
            else:
                check(found[one.name], getattr(value, one.name), is_counted)
    elif isinstance(value, list | tuple):
        assert len(found) == len(value)
        for mine, other in zip(found, value, strict=True):
            check(mine, other, is_counted)
    elif isinstance(value, np.ndarray):
        assert found == value.tolist()
    else:
        assert found == value
        assert type(found) is type(value) or isinstance(value, int | float)


@pytest.mark.parametrize(
    "job",
    [made_jobs.made_job(), made_jobs.counts_only(), made_jobs.killed(), made_jobs.empty(), made_jobs.hostile()],
    ids=["usual", "counts", "killed", "empty", "hostile"],
)
def test_every_number_equals_the_analysis(job: JobProfile) -> None:
    one = analyse(job, [job, job, job])
    found = json.loads(report_json(one))
    assert found["format"] == FORMAT
    for part in fields(one):
        if part.name != "job":
            check(found[part.name], getattr(one, part.name), one.is_counts_only)
    assert found["definitions"] == dict(definitions())
    assert (found["program"], found["ranks_of_job"]) == (job.program, job.ranks)


@settings(max_examples=20, deadline=None)
@given(random_jobs())
def test_any_profile_is_valid_json_and_the_same_twice(job: JobProfile) -> None:
    def refuse(text: str) -> None:
        raise AssertionError(text)

    made = report_json(analyse(job))
    json.loads(made, parse_constant=refuse)
    assert report_json(analyse(job)) == made


def test_definitions_state_the_share_of_mpi_as_agreed() -> None:
    text = definitions()["MPI share of a rank"]
    assert "threads that called MPI × time from the end of MPI_Init to the start of MPI_Finalize" in text
    assert {"measured", "inferred", "modelled", "Load balance", "Excess time"} < set(definitions())
