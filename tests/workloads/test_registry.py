"""Workloads are found by their folders, and named by family."""

import dataclasses

import pytest

from octant import registry, workloads
from octant.cli import _complete, _hints
from octant.failure import Refusal
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


def test_every_alias_is_of_one_workload_and_no_name_of_another() -> None:
    known = workloads.aliases()
    assert len(known) >= 40
    assert {name: found for name, found in known.items() if len(found) > 1} == {}
    assert [name for name in known if workloads.called(name, workloads.workloads())] == []
    resolved = {name: workloads.resolve(name) for name in known}
    assert [name for name, found in resolved.items() if found not in (name, known[name][0].workload)] == []
    assert [name for name in known if name in _hints._COMMANDS] == [], "a hint would hide the alias"


@pytest.mark.parametrize(
    ("name", "words", "found"),
    [
        ("linpack", (), ("hpl", ())),
        ("xhpl", ("n=1000",), ("hpl", ("n=1000",))),
        ("Triad", ("bytes=1MiB",), ("stream", ("kernel=triad", "bytes=1MiB"))),
        ("triad", ("kernel=triad",), ("stream", ("kernel=triad",))),
        ("DGEMM", (), ("gemm", ("element=double",))),
        ("alltoall", (), ("collective", ("pattern=alltoall",))),
        ("PingPong", (), ("p2p", ("pattern=pingpong",))),
        ("osu_bw", (), ("p2p", ("pattern=uniband",))),
        ("stream", ("kernel=copy",), ("stream", ("kernel=copy",))),
        ("no such name", (), ("no such name", ())),
    ],
)
def test_an_alias_is_a_workload_with_knobs(name: str, words: tuple[str, ...], found: tuple[str, object]) -> None:
    workload, expanded, note = command_line.expand_alias(name, words)
    assert (workload, expanded) == found
    assert bool(note) == (workload != name)


def test_an_alias_with_another_value_of_its_knob_is_refused_with_the_command() -> None:
    with pytest.raises(Refusal, match=r"triad means stream kernel=triad\); try octant run stream kernel=copy"):
        command_line.expand_alias("triad", ("kernel=copy",))


def test_an_alias_of_two_workloads_is_refused_with_both(monkeypatch: pytest.MonkeyPatch) -> None:
    twice = {
        name: dataclasses.replace(one, aliases={"twin": {}})
        for name, one in workloads.workloads().items()
        if name in ("node/stream", "hpcc/hpl")
    }
    monkeypatch.setattr(workloads, "workloads", lambda: twice)
    with pytest.raises(Refusal, match="several workloads are called 'twin'; try hpl or stream"):
        command_line.expand_alias("twin", ())
