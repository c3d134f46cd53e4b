"""Expressions over facts of the machine, by hand."""

import dataclasses
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_run import GIB, KIB, MIB, machine
from octant.machine import facts

KNOWN = facts.facts(machine(cores=4))


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
    with pytest.raises(ValueError, match="'ranks' is not known here"):
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
    known = facts.facts(machine())
    if word in known:
        assert int(facts.value(f"{factor}*{word}", known)) > 0
    else:
        with pytest.raises(ValueError, match=f"'{word}' is not known here"):
            facts.value(f"{factor}*{word}", known)


def test_needs_say_what_is_missing() -> None:
    here = machine()
    assert facts.missing("numa>=2", here) == "one NUMA domain"
    assert facts.missing("cores>=4", here) == "2 usable cores, at least 4 needed"
    assert facts.missing("cores<=1", here) == "2 usable cores, at most 1 needed"
    assert facts.missing("pages=2MiB", here) == "no 2 MiB pages (the pool has no free pages)"
    assert facts.missing("pages=16MiB", here) == "no 16 MiB pages (this system has no pages of that size)"
    assert facts.missing(facts.check_need("two-nodes"), here) == "one node"
    assert facts.wanted("collective-network") == "a machine whose network carries collectives in its hardware"
    assert facts.missing(facts.check_need("processor=POWER6"), here) == "no POWER6 processor"
    assert not facts.missing(facts.check_need("processor=fake 9000"), here)
    assert facts.wanted("processor=POWER5+") == "a node with a POWER5+ processor"
    assert not facts.missing("thp", here)
    assert not facts.missing("cores>=2", here)


def test_a_file_system_that_is_not_mounted_is_told_with_what_was_looked_for_and_found() -> None:
    need = facts.check_need("mounted=nfs")
    here = dataclasses.replace(machine(), system={"file_systems": "ext4 tmpfs"})
    assert facts.missing(need, here) == "no NFS (looked for mounts of nfs, nfs4; found ext4, tmpfs)"
    assert facts.missing(need, machine()).endswith("found no record of mounts)")
    assert not facts.missing("mounted=local", here)
    assert not facts.missing(need, dataclasses.replace(here, system={"file_systems": "ext4 nfs4"}))
    assert facts.wanted("mounted=parallel") == "a node with parallel file systems mounted"
