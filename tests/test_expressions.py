"""LIKWID's and hwloc's expressions as forms of a request."""

import shutil
import subprocess

import pytest

import record_launchers as runs
from launcher_words import REFERENCE
from octant.machine import Topology
from octant.machine.synthetic import parse_cpus, read_synthetic
from octant.placement import set_text
from octant.placement.expressions import parse_place


def test_likwid_expressions() -> None:
    def cpus(text: str, on: Topology = REFERENCE) -> tuple[int, ...]:
        return parse_place(text, on).cpus[0]

    assert cpus("E:S0:8:1:2") == tuple(range(0, 16, 2))
    assert cpus("E:N:2") == (0, 1)
    assert cpus("S:scatter:4") == (0, 16, 2, 18)
    assert cpus("S:balanced:4") == (0, 1, 16, 17)
    assert cpus("S:cbalanced:4") == (0, 2, 16, 18)
    assert cpus("M1:0-3") == (8, 10, 12, 14)
    assert cpus("0,4,8") == (0, 4, 8)
    assert cpus("S0:0@S1:0-1") == (0, 16, 18)
    assert cpus("E:S0:4:2:4") == (0, 1, 4, 5)
    assert parse_place("S0:0-1_S1:0-1", REFERENCE).ranks == 2
    linux = read_synthetic("pack:2 core:4 pu:2(indexes=core)")
    assert cpus("S0:0-7", linux) == (0, 1, 2, 3, 8, 9, 10, 11)
    assert cpus("E:S1:4", linux) == (4, 12, 5, 13)


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
    "all ~pack:0 xpu:even": "16,18,20,22,24,26,28,30",
}


@pytest.mark.parametrize(("text", "expected"), HWLOC.items())
def test_hwloc_expressions(text: str, expected: str) -> None:
    request = parse_place(text, REFERENCE)
    assert set_text(frozenset(request.cpus[0])) == expected
    if shutil.which("hwloc-calc"):
        command = ["hwloc-calc", "-i", runs.REFERENCE, "--li", "--po", "-I", "pu", *text.split()]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert parse_cpus(output.strip()) == frozenset(request.cpus[0])
