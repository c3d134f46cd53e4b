"""Sizes of memory levels by name, on recorded machines: one size and no reason, or a reason with the next step."""

import re
from dataclasses import replace

import pytest

import trees
from fake_run import machine
from octant import facts
from octant.analysis.measured_machine import with_measured
from octant.machine.cache_levels import CACHE_NAMES, explain_no_size, level_sizes

RECORDED = [*trees.described(), "kvm-xeon-2cpu"]


@pytest.mark.parametrize("name", RECORDED)
def test_a_level_has_the_size_of_one_cache_or_a_reason_why_not(name: str) -> None:
    found = trees.machine(name)
    sizes, top = level_sizes(found), found.topology
    assert sizes["memory"] == found.memory_bytes
    for level, cache in enumerate(CACHE_NAMES, 1):
        why = explain_no_size(found, cache)
        assert (cache in sizes) == (not why)
        usable = {one.size_bytes for one in top.data_caches(level) if one.cpus & top.allowed}
        if cache in sizes:
            assert usable == {sizes[cache]}
        else:
            assert "; " in why, "the cause, then the next step"


@pytest.mark.parametrize(
    ("name", "level", "why"),
    [
        (
            "altra-1s",
            "L3",
            r"this machine states no L3; its levels are L1 \(64 KiB\), L2 \(1 MiB\), memory \(255",
        ),
        ("laptop-6p8e", "L1", r"the L1 caches of the usable cores have 32 KiB and 48 KiB; give a number of bytes"),
        ("kvm-xeon-2cpu", "L3", r"the size of the L3 is disputed \(/sys/.*480 MiB.*\); give a number of bytes"),
    ],
)
def test_the_reason_names_the_levels_or_the_sizes(name: str, level: str, why: str) -> None:
    assert re.match(why, explain_no_size(trees.machine(name), level))


def test_unknown_caches_and_a_contradicting_measurement_give_no_size() -> None:
    plain = machine()
    unknown = replace(plain, topology=replace(plain.topology, caches=None))
    assert explain_no_size(unknown, "L1") == (
        "the caches of this machine are not known; install hwloc, or give a number of bytes"
    )
    measured = with_measured(plain, 2e9, cache_bytes=4e6)  # 32 MiB are stated
    assert "L3" not in level_sizes(measured)
    assert "measured: 3.815 MiB" in explain_no_size(measured, "L3")
    assert level_sizes(measured)["L2"] == level_sizes(plain)["L2"]


@pytest.mark.parametrize("name", RECORDED)
def test_suites_and_commands_share_the_names(name: str) -> None:
    """Lower-case names may be assumed; if both exist, they differ only where cores differ."""
    found = trees.machine(name)
    known, sizes = facts.numbers(found), level_sizes(found)
    assert {level: known[level] for level in sizes} == sizes
    for level in {"L1", "L2"} & set(sizes):
        assert known[level.lower()] == sizes[level]
