"""Workloads are found by their folders, and named by family."""

import pytest

from octant import registry, workloads
from octant.workloads import full_name


def test_modules_are_those_without_a_leading_underscore_in_order() -> None:
    found = registry.modules("octant.cli")
    assert list(found) == sorted(found)
    assert "run" in found
    assert not [name for name in found if name.startswith("_")]
    assert registry.module("octant.cli", "run") is found["run"]


def test_a_workload_is_named_by_where_its_folder_lies() -> None:
    found = workloads.workloads()
    assert [name for name, workload in found.items() if workload.name != name] == []
    assert {name.split("/")[0] for name in found} == set(workloads.families())
    assert all(title.endswith(".") for title in workloads.families().values())


def test_a_bare_name_serves_where_one_family_has_it() -> None:
    known = ("node/stream", "hpcc/stream", "mpi/pingpong")
    assert full_name("pingpong", known) == full_name("mpi/pingpong", known) == "mpi/pingpong"
    assert full_name("hpcc/stream", known) == "hpcc/stream"
    with pytest.raises(LookupError, match="several workloads are called 'stream'; try node/stream or hpcc/stream"):
        full_name("stream", known)
    with pytest.raises(LookupError, match="no workload 'strem'; did you mean"):
        full_name("strem", known)
