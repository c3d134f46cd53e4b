"""Which published findings have a study, and which of them a machine can test: no study is run for it."""

import json
import re

import pytest

from fake_run import machine
from octant import catalogue
from octant.launch.link import explain_missing_link
from octant.machine import Machine
from octant.machine.hwloc import load
from octant.report.study.text import list_json, list_text
from octant.study import file
from octant.study.design import MpiInUse
from octant.study.outcome import library_of
from octant.study.testable import StudiedFinding, count_lines, studied_findings
from paths import ROOT

# Of the chapters on one node: cores, caches, memory, libraries, files, and how programs are placed.
OF_ONE_NODE = (ROOT / "tests" / "data" / "findings-of-one-node.txt").read_text(encoding="utf-8").split()
PARTS = ("-link", "-measured", "-model")
"""A question may also have a measured part, a part of a model, and one of an emulated link, under its name."""


@pytest.fixture(scope="module")
def asked() -> dict[str, StudiedFinding]:
    """On a virtual machine with two cores, as recorded."""
    clean = machine()
    topology = load(ROOT / "machines" / "vm-2core.xml")
    recorded = Machine("vm-2core", topology, clean.processor, 16 * 2**30, clean.page_sizes, {**clean.system}, {})
    return {one.id: one for one in studied_findings(recorded)}


def test_no_finding_loses_its_study(asked: dict[str, StudiedFinding]) -> None:
    assert not set(OF_ONE_NODE) - set(asked)
    assert len(asked) >= 75


def test_a_finding_is_in_one_study_and_its_parts(asked: dict[str, StudiedFinding]) -> None:
    for one in asked.values():
        stems = set()
        for name in one.studies:
            part = next((part for part in PARTS if name.endswith(part)), "")
            stems.add(name.removesuffix(part))
        assert len(stems) == 1, f"{one.id} is in {', '.join(one.studies)}"


def test_a_large_node_has_enough_of_all_parts() -> None:
    """What is left needs another kind of machine, file system, network or library, or fewer domains."""
    node = machine(packages=4, cores=16, smt=4)
    left = [one.why_not for one in studied_findings(node, lambda _: MpiInUse("mpich")) if one.why_not]
    assert not [why for why in left if re.search(r"needs \d+ (usable core|hardware thread|NUMA|package)", why)]
    assert any(why.startswith("needs a second machine") for why in left)
    assert any(why.startswith("needs two nodes") for why in left)


def test_reasons_are_those_of_the_machine(asked: dict[str, StudiedFinding]) -> None:
    assert asked["p7-affinity-doubles-stream"].why_not == "needs 2 NUMA domains; this machine has 1"
    assert asked["p7-smt-no-stream-gain"].why_not == "needs 2 hardware threads per core; this machine has 1"
    assert asked["p7-affinity-not-on-smp"].why_not == ""
    assert asked["p775-gups-sawtooth"].why_not == ""  # a model's
    two = {one.id: one for one in studied_findings(machine(nodes=2, smt=2))}
    assert two["p7-affinity-doubles-stream"].why_not == ""
    assert two["p7-affinity-not-on-smp"].why_not == "needs at most 1 NUMA domain; this machine has 2"


def test_the_list_of_studies_can_be_limited_to_words() -> None:
    listed = [one["name"] for one in json.loads(list_json(machine(), ("Memory", "BANDWIDTH")))]
    assert "stream-affinity-pages" in listed
    assert len(listed) < len(file.names()) / 2
    printed = list_text(machine(), ("Memory", "BANDWIDTH"))
    assert [name for name in file.names() if f"\n{name} " in printed] == listed


def test_the_list_of_studies_ends_with_the_count() -> None:
    printed = " ".join(list_text(machine()).split())
    counted = count_lines(studied_findings(machine(), library_of, explain_missing_link))
    assert printed.endswith(" ".join(" ".join(counted).split()))
    assert f"of {len(catalogue.findings())} findings have a study" in printed
    listed = {one["name"]: one for one in json.loads(list_json(machine()))}
    assert sorted(listed) == file.names()
    assert (
        listed["stream-affinity-pages"]["cannot_be_tested_here"]["p7-affinity-mandatory"]
        == "needs 2 NUMA domains; this machine has 1"
    )
    assert listed["gups-scaling"]["cannot_be_tested_here"] == {}


def test_the_count_says_why_others_cannot_be_tested() -> None:
    every = [
        StudiedFinding("a", ("s",), "one core"),
        StudiedFinding("b", ("s",), ""),
        StudiedFinding("c", ("s",), "no pages"),
    ]
    every += [StudiedFinding("d", ("s",), "one core")]
    assert count_lines(every) == [
        "4 of 220 findings have a study; 1 can be tested here, 3 cannot:",
        "    2  one core",
        "    1  no pages",
    ]
    assert count_lines(every[1:2]) == ["1 of 220 findings have a study; 1 can be tested here."]
