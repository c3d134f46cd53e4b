"""Expressions over facts of the machine, by hand."""

import dataclasses
import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_run import GIB, KIB, MIB, machine
from octant import facts
from octant.machine import Machine

KNOWN = facts.numbers(machine(cores=4))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4*llc", str(128 * MIB)),
        ("4*llc/cores", str(32 * MIB)),
        ("llc/3*3", str(32 * MIB // 3 * 3)),
        ("1000*llc", str(2 * GIB)),  # an eighth of 16 GiB
        ("cores at least 8", "8"),
        ("llc at most 1MiB", str(MIB)),
        ("2*llc/cores at least 1MiB at most 8MiB", str(8 * MIB)),
        ("64KiB", "64KiB"),
        ("128", "128"),
        ("triad", "triad"),
        ("thp", "thp"),
        ("core", "core"),
    ],
)
def test_a_value(text: str, value: str) -> None:
    assert facts.value(text, KNOWN) == value


def test_ladders() -> None:
    assert facts.values("16KiB to 128KiB by 2", KNOWN) == "16384,32768,65536,131072"
    assert facts.values("8KiB to 20KiB by 2, 12KiB to 24KiB by 2", KNOWN) == "8192,12288,16384,24576"
    assert facts.values("scalar, 128 to vector_bits by 2", KNOWN) == "scalar,128,256,512"
    assert facts.values("base,thp", KNOWN) == "base,thp"
    for wrong in ("1 to 8 by 1", "0 to 8 by 2", "8 to 4 by 2"):
        with pytest.raises(ValueError, match=r"does not ascend|has 0 steps"):
            facts.values(wrong, KNOWN)


@given(st.integers(1, 10**6), st.integers(1, 10**9), st.integers(2, 10))
def test_a_ladder_climbs_by_its_factor_and_stays_below_its_end(first: int, last: int, factor: int) -> None:
    if last < first:
        return
    steps = [int(step) for step in facts.values(f"{first} to {last} by {factor}", KNOWN).split(",")]
    assert steps[0] == first
    assert all(b == a * factor for a, b in itertools.pairwise(steps))
    assert steps[-1] <= last < steps[-1] * factor


def test_what_is_not_known_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'ranks' in .* is not known on this machine"):
        facts.value("4*llc/ranks", KNOWN)
    with pytest.raises(ValueError, match="divides by zero"):
        facts.value("4*llc/0", KNOWN)


def test_facts_of_a_machine() -> None:
    assert (KNOWN["cores"], KNOWN["l1"], KNOWN["cached"], KNOWN["vector_bits"]) == (4, 48 * KIB, 32 * MIB, 512)


def test_a_footprint_never_exceeds_an_eighth_of_memory() -> None:
    known = {"llc": 2**35, "memory": 2**35}
    assert facts.value("4*llc", known) == str(2**32)


@given(st.sampled_from(sorted(facts.FACTS)), st.integers(1, 9))
def test_a_word_is_worked_out_or_refused(word: str, factor: int) -> None:
    known = facts.numbers(machine())
    if word in known:
        assert int(facts.value(f"{factor}*{word}", known)) > 0
    else:
        with pytest.raises(ValueError, match=f"'{word}' in .* is not known on this machine"):
            facts.value(f"{factor}*{word}", known)


NOT_HERE = {  # need: what is said of it on a machine with 2 cores, 1 NUMA domain, an empty pool and ext4
    "cores>=4": "needs 4 usable cores; this machine has 2",
    "cores<=1": "needs at most 1 usable core; this machine has 2",
    "smt>=2": "needs 2 hardware threads per core; this machine has 1",
    "numa>=2": "needs 2 NUMA domains; this machine has 1",
    "packages>=2": "needs 2 packages; this machine has 1",
    "nodes>=2": "needs 2 nodes; this is one node",
    "pages=2MiB": "needs 2 MiB pages; 0 of 0 reserved pages are free",
    "pages=16MiB": "needs 16 MiB pages; this system supports 4 KiB, 2 MiB",
    "thp": "needs transparent huge pages; they are disabled (never)",
    "processor=POWER6": "needs a POWER6 processor; this processor is Fake CPU 9000",
    "processor=POWER": "needs a POWER processor; this processor is Fake CPU 9000",
    "mounted=local": "needs local file systems mounted; mounted types: tmpfs (required: one of ext2, ext3, ext4, "
    "xfs, btrfs, f2fs, zfs, overlay)",
    "mounted=nfs": "needs NFS mounted; mounted types: tmpfs (required: one of nfs, nfs4)",
    "mounted=parallel": "needs parallel file systems mounted; mounted types: tmpfs (required: one of lustre, gpfs, "
    "beegfs, ceph)",
    "hwprefetch": "needs a hardware prefetcher that this process may disable; there is no /dev/cpu/0/msr",
    "mpi-io": "needs an MPI library with MPI-IO; no library of mpich, openmpi, intelmpi was found",
    "two-nodes": "needs two nodes with a network between them; this is one node",
    "collective-network": "needs a machine whose network carries collectives in its hardware; this is one node",
    "rdma-adapter": "needs two nodes with adapters that read and write each other's memory (RDMA); this is one node",
    "lossy-network": "needs nodes whose network may lose packets and counts them; this is one node",
    "second-machine": "needs a second machine of another generation; this is one machine",
}  # fmt: skip
HERE = {
    "thp": "madvise", "smt": "notsupported", "file_systems": "ext4 nfs4 lustre tmpfs", "hwprefetch": "msr",
}  # fmt: skip


def _bare() -> Machine:
    bare = {"thp": "never", "file_systems": "tmpfs", "hwprefetch_why": "there is no /dev/cpu/0/msr"}
    return dataclasses.replace(machine(), system=bare, software={})


@pytest.mark.parametrize("need", NOT_HERE)
def test_a_need_that_is_not_met_says_what_was_looked_for_and_what_was_found(need: str) -> None:
    assert facts.missing(facts.check_need(need), _bare()) == NOT_HERE[need]
    assert facts.wanted(need)


def test_every_need_has_a_test() -> None:
    with pytest.raises(ValueError, match="unknown need") as refused:
        facts.check_need("colour")
    named = str(refused.value).partition("try ")[2].split(", ")
    assert {re.split("[<>=]", need)[0] for need in named} == {re.split("[<>=]", need)[0] for need in NOT_HERE}


@pytest.mark.parametrize(
    "need",
    ["cores>=2", "cores<=2", "smt<=1", "numa<=1", "nodes<=1", "thp", "processor=fake 9000", "mounted=local",
     "mounted=nfs", "mounted=parallel", "hwprefetch", "mpi-io", "pages=4KiB"],
)  # fmt: skip
def test_a_need_that_is_met_says_nothing(need: str) -> None:
    here = dataclasses.replace(machine(), system=HERE, software={"openmpi": "5.0"})
    assert not facts.missing(facts.check_need(need), here)


def test_a_name_without_its_number_means_every_number() -> None:
    nine = dataclasses.replace(machine().processor, model="POWER9 (architected), altivec supported")
    here = dataclasses.replace(machine(), processor=nine)
    assert not facts.missing("processor=POWER", here)
    assert facts.missing("processor=POWER6", here)


def test_forbidden_cores_and_switched_off_threads_are_distinguished() -> None:
    of_four = machine(cores=4)
    two = dataclasses.replace(of_four, topology=dataclasses.replace(of_four.topology, allowed=frozenset({0, 1})))
    missing = facts.missing("cores>=3", two)
    assert missing == "needs 3 usable cores; this machine has 2 usable of 4 (this process may not use the others)"
    off = dataclasses.replace(machine(), system={"smt": "off"})
    assert facts.missing("smt>=2", off).endswith("this machine has 1 (SMT is disabled)")


def test_transparent_pages_of_a_kernel_without_them() -> None:
    assert facts.missing("thp", dataclasses.replace(machine(), system={})).endswith(
        "; this kernel does not support them"
    )


def test_the_machine_that_is_wanted() -> None:
    assert facts.wanted("collective-network") == "a machine whose network carries collectives in its hardware"
    assert facts.wanted("processor=POWER5+") == "a node with a POWER5+ processor"
    assert facts.wanted("numa>=2") == "a node with at least 2 NUMA domains"
    assert facts.wanted("nodes>=2") == "at least 2 nodes"
    assert facts.wanted("pages=1GiB") == "a node with 1 GiB pages"
    assert facts.wanted("mounted=parallel") == "a node with parallel file systems mounted"


def test_pages_without_a_pool_may_be_granted_transparently() -> None:
    sizes = {"thp": "madvise", "thp_sizes": "16kB=inherit 64kB=madvise"}
    here = dataclasses.replace(machine(), system=sizes)
    assert facts.missing("pages=64KiB", here) == facts.missing("pages=16KiB", here) == ""
    off = dataclasses.replace(here, system=sizes | {"thp": "never"})
    assert facts.missing("pages=64KiB", off) == ""
    assert facts.missing("pages=16KiB", off) == (
        "needs 16 KiB pages; this system supports 4 KiB, 2 MiB; transparent pages of that size are disabled (never)"
    )


def test_a_default_is_no_fact() -> None:
    """What is not known of a machine is no fact; expressions take an assumption, and results on it say so."""
    here = machine()
    caches, memory = dataclasses.replace(here.topology, caches=None), dataclasses.replace(here, memory_bytes=None)
    blank = dataclasses.replace(
        memory, topology=caches, processor=dataclasses.replace(here.processor, flags=frozenset())
    )
    known = facts.facts(blank)
    assert not {"l1", "l2", "llc", "cached", "memory", "vector_bits"} & known.keys()
    assert facts.assumed(blank) == {"l1": 2**15, "l2": 2**20, "llc": 2**25, "cached": 2**27, "vector_bits": 128}
    assert facts.value("4*llc", facts.numbers(blank)) == str(2**27)
    with pytest.raises(ValueError, match=r"'memory' in .* is not known on this machine"):
        facts.value("memory/2", facts.numbers(blank))
    said = facts.assumption(blank)
    assert "last-level caches of 32 MiB" in said
    assert "data of at least 256 MiB count as in memory" in said
    assert facts.assumption(here) == ""
    assert facts.facts(here) == facts.numbers(here)


def test_domains_that_are_not_known_are_not_counted() -> None:
    here = machine()
    alone = tuple(dataclasses.replace(cpu, numa=None) for cpu in here.topology.cpus)
    blank = dataclasses.replace(here, topology=dataclasses.replace(here.topology, cpus=alone, numa=()))
    assert "numa" not in facts.facts(blank)
    assert facts.missing("numa>=2", blank).endswith("the number on this machine is not known")
