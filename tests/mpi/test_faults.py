"""Known faults of MPI libraries: data that is read strictly, and holds for the cells, ranks and versions it names."""

import pytest

from octant.mpi.faults import Fault, faults, of_library
from octant.mpi.neutral import Library

FAULT = Fault(
    name="x", library="openmpi", since="4.1", until="5.0", seen=("4.1.4",), workload="mpi/a",
    knobs={"pattern": ("cas", "fop"), "bytes": (">2147483648",)}, ranks=("2", ">=5"), kind="crash",
    says="it ends", helps="b",
)  # fmt: skip


def test_every_fault_was_seen_in_a_version_that_it_holds_for() -> None:
    assert len({fault.name for fault in faults()}) == len(faults()) >= 5
    for fault in faults():
        assert all(fault.holds(Library(fault.library, version)) for version in fault.seen), fault.name
        assert not fault.says.endswith("."), fault.name


@pytest.mark.parametrize(
    ("version", "holds"), [("4.0.9", False), ("4.1", True), ("4.1.4", True), ("5.0.0", False), ("5.0.11", False)]
)
def test_versions_are_compared_as_numbers(version: str, holds: bool) -> None:
    assert FAULT.holds(Library("openmpi", version)) is holds
    assert not FAULT.holds(Library("mpich", version))


@pytest.mark.parametrize(
    ("knobs", "ranks", "concerned"),
    [
        ({"pattern": "cas", "bytes": "2147483649"}, 2, True),
        ({"pattern": "fop", "bytes": "3GiB"}, 7, True),
        ({"pattern": "cas", "bytes": "2GiB"}, 2, False),
        ({"pattern": "cas", "bytes": "3GiB"}, 3, False),
        ({"pattern": "put", "bytes": "3GiB"}, 2, False),
        ({"bytes": "3GiB"}, 2, False),
        ({"pattern": "cas"}, 2, False),
    ],
)
def test_a_fault_is_about_listed_values_bounds_and_ranks(knobs: dict[str, str], ranks: int, concerned: bool) -> None:
    assert FAULT.concerns("mpi/a", knobs, ranks) is concerned
    assert not FAULT.concerns("mpi/b", knobs, ranks)


def test_a_fault_in_words_names_versions_and_help() -> None:
    assert FAULT.text == "a known bug of Open MPI 4.1 to before 5.0: it ends; try b"
    assert [one.name for one in of_library(Library("mpich", "5.0.2"))] == ["isendrecv-status"]
    assert of_library(Library("mpich", "4.0.2")) == ()
    assert [one.name for one in of_library(Library("intelmpi", "2021.18.1"))] == [
        "neighbour-slots", "seek-standard-interface", "large-count-allreduce",
    ]  # fmt: skip
