"""Workloads are found by their folders, and named by family."""

import pytest

from octant import registry, workloads
from octant.cli import _complete
from octant.runs import command_line
from octant.workloads import full_name


def test_modules_are_those_without_a_leading_underscore_in_order() -> None:
    found = registry.names("octant.cli")
    assert list(found) == sorted(found)
    assert "run" in found
    assert not [name for name in found if name.startswith("_")]
    known = registry.entries("octant.cli", lambda module: module.__name__)
    assert known.working == {name: f"octant.cli.{name}" for name in found}
    assert not known.broken


def test_a_workload_is_named_by_where_its_folder_lies() -> None:
    found = workloads.workloads()
    assert [name for name, workload in found.items() if workload.name != name] == []
    assert {name.split("/")[0] for name in found} == set(workloads.families())
    assert all(title.endswith(".") for title in workloads.families().values())


def test_a_bare_name_serves_where_one_family_has_it() -> None:
    known = ("npb/stream", "hpcc/stream", "mpi/pingpong")
    assert full_name("pingpong", known) == full_name("mpi/pingpong", known) == "mpi/pingpong"
    assert full_name("hpcc/stream", known) == "hpcc/stream"
    with pytest.raises(LookupError, match="several workloads are called 'stream'; try npb/stream or hpcc/stream"):
        full_name("stream", known)
    with pytest.raises(LookupError, match="no workload 'strem'; did you mean"):
        full_name("strem", known)


def test_a_bare_name_of_several_families_means_that_of_the_node() -> None:
    known = ("hpcc/fft", "node/fft", "hpcc/hpl")
    assert full_name("fft", known) == "node/fft"
    assert full_name("hpcc/fft", known) == "hpcc/fft"
    assert full_name("fft", ("hpcc/fft", "hpcc/hpl")) == "hpcc/fft", "of a run that measured no other"


def test_every_bare_name_of_a_workload_means_one_and_is_completed() -> None:
    for name in workloads.workloads():
        bare = name.rpartition("/")[2]
        found = workloads.workload(bare).name
        assert found in (name, f"node/{bare}")
        assert bare in _complete.workloads(bare)


def test_what_else_has_the_name_is_known() -> None:
    assert command_line.namesakes("fft") == ["hpcc/fft"]
    assert (
        command_line.namesakes("hpcc/fft")
        == command_line.namesakes("stream")
        == command_line.namesakes("no such")
        == []
    )
