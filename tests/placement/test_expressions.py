"""LIKWID's and hwloc's expressions as forms of a request."""

import shutil
import subprocess

import pytest

import record_launchers as runs
from launcher_syntax import REFERENCE
from octant.machine import Topology
from octant.machine.cpusets import parse_cpus
from octant.machine.hwloc import read_synthetic
from octant.placement import numbers_text
from octant.placement.expressions import parse_place

LIKWID = {  # as likwid-pin 5.2.2 -p prints them, given a topology file of the reference node with an L3 a package
    "N:0-3": "0,2,4,6",
    "L:N:0-3": "0,2,4,6",
    "N:0,2-4": "0,4,6,8",
    "E:S0:8:1:2": "0,2,4,6,8,10,12,14",
    "E:S0:4:2:4": "0,1,4,5",
    "E:S0:8:4:8": "0,1,2,3,8,9,10,11",
    "E:S0:3:2:1": "0,1,1",
    "E:S0:20:1:2": "0,2,4,6,8,10,12,14,0,2,4,6,8,10,12,14,0,2,4,6",
    "E:N:2": "0,1",
    "E:N:8:2:4": "0,1,4,5,8,9,12,13",
    "E:N:16:1:2:1": "1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31",
    "E:M3:4": "24,25,26,27",
    "E:N:2:1:2@S1:0": "0,2,16",
    "S0:0-15": "0,2,4,6,8,10,12,14,1,3,5,7,9,11,13,15",
    "S0:3-1": "6,4,2",
    "S0:0-1@S1:0-1": "0,2,16,18",
    "M1:0-3": "8,10,12,14",
    "D0:0-1": "0,2",
    "C0:0-3": "0,2,4,6",
    "S:scatter:4": "0,16,2,18",
    "S:scatter": "0,16,2,18,4,20,6,22,8,24,10,26,12,28,14,30,1,17,3,19,5,21,7,23,9,25,11,27,13,29,15,31",
    "C:scatter:4": "0,16,2,18",
    "M:scatter:6": "0,8,16,24,2,10",
    "N:scatter:4": "0,2,4,6",
    "S1:scatter": "16,18,20,22,24,26,28,30,17,19,21,23,25,27,29,31",
    "N:balanced:4": "0,1,2,3",
    "S:balanced:4": "0,1,16,17",
    "M:balanced:6": "0,1,8,9,16,24",
    "S:cbalanced:4": "0,2,16,18",
    "S:cbalanced:6": "0,2,4,16,18,20",
    "0,4,8": "0,4,8",
    "3,1": "3,1",
}
CACHED = read_synthetic("pack:2 l3:1 numa:2 core:4 pu:2")


@pytest.mark.parametrize(("text", "expected"), LIKWID.items())
def test_likwid_expressions(text: str, expected: str) -> None:
    assert ",".join(str(cpu) for cpu in parse_place(text, CACHED).cpus[0]) == expected


def test_likwid_expressions_on_other_numberings() -> None:
    def cpus(text: str, on: Topology) -> tuple[int, ...]:
        return parse_place(text, on).cpus[0]

    assert parse_place("S0:0-1_S1:0-1", REFERENCE).ranks == 2
    linux = read_synthetic("pack:2 core:4 pu:2(indexes=core)")
    assert cpus("S0:0-7", linux) == (0, 1, 2, 3, 8, 9, 10, 11)
    assert cpus("E:S1:4", linux) == (4, 12, 5, 13)


@pytest.mark.parametrize(
    ("text", "said"),
    [  # likwid-pin crashes, repeats one thread, or silently takes fewer
        ("E:S0:8:1", "E:DOMAIN:COUNT:CHUNK:STRIDE"),
        ("E:S0:8:1:0", "must be at least 1"),
        ("E:S0:8:0:2", "must be at least 1"),
        ("E:N:40", "the domain has 32"),
        ("E:N:99999999999:1:1", "the domain has 32"),
        ("S:scatter:40", "the domain has 32"),
        ("S0:16", "it has 16"),
        ("S7:0", "unknown domain 'S7'"),
        ("S7:scatter", "unknown domain 'S7'"),
        ("L:0-3", "use the form S0:0-3"),
        ("E:", "unknown domain ''"),
        ("S0:", "are not numbers|is not a list of numbers"),
        ("0,99", "hardware thread 99"),
    ],
)
def test_likwid_expressions_that_are_refused(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_place(text, CACHED)


HWLOC = {  # as hwloc-calc 2.9.0 prints them for the reference topology
    "numa:1.core:0-1": "8-11",
    "core:0 core:3": "0-1,6-7",
    "core:2:3": "4-9",
    "pu:even ~numa:0": "8,10,12,14,16,18,20,22,24,26,28,30",
    "pack:1.pu:odd": "17,19,21,23,25,27,29,31",
    "numa:0-1.core:0": "0-1,8-9",
    "pack:all.core:1": "2-3,18-19",
    "pack:1.numa:1.core:0.pu:1": "25",
    "numa:odd.core:1:2.pu:1": "11,13,27,29",
    "core:14:4": "0-3,28-31",
    "pack:1:3.core:0.pu:1": "1,17",
    "all ~pack:0 xpu:even": "16,18,20,22,24,26,28,30",
}


@pytest.mark.parametrize(("text", "expected"), HWLOC.items())
def test_hwloc_expressions(text: str, expected: str) -> None:
    request = parse_place(text, REFERENCE)
    assert numbers_text(frozenset(request.cpus[0])) == expected
    if shutil.which("hwloc-calc"):
        command = ["hwloc-calc", "-i", runs.REFERENCE, "--li", "--po", "-I", "pu", *text.split()]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert parse_cpus(output.strip()) == frozenset(request.cpus[0])
