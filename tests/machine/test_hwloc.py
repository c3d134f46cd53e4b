"""hwloc's XML and synthetic descriptions, checked on recorded machines and against lstopo."""

import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from octant.machine.cpusets import parse_cpus, parse_mask
from octant.machine.hwloc import load, read_synthetic, read_xml
from octant.machine.load import load as load_machine
from octant.placement import numbers_text
from paths import MACHINES
from topology_xml import write_xml

RECORDED = sorted([*MACHINES.glob("*.xml"), *MACHINES.glob("*.synthetic")])
DESCRIPTIONS = [
    "pack:2 numa:2 core:4 pu:2",
    "pack:2 [numa(memory=1GB)] l3:2(size=1048576) core:2 pu:2(indexes=2*8:1*2)",
    "pack:2 l3:2 core:2 pu:2(indexes=pack:core)",
    "pack:2 l3:2 core:2 pu:2(indexes=core:pack)",
    "pack:1 numa:4 l3:2 core:4 pu:2(indexes=numa:core)",
    "pack:2 [numa(memory=16GB)] [numa(memory=4GB)] core:2 pu:1",
]


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.name)
def test_recorded_machine_reads_as_its_summary_says(path: Path) -> None:
    topology = load(path)
    expected = tomllib.loads(path.with_suffix(".toml").read_text())
    cores = topology.groups("core")
    assert expected == {
        "packages": len(topology.groups("package")),
        "numa": len(topology.numa),
        "l3": len(topology.data_caches(3)),
        "cores": len(cores),
        "threads": len(topology.cpus),
        "smt": topology.smt(),
        "usable_cores": len([core for core in cores if core & topology.allowed]),
        "allowed": numbers_text(topology.allowed),
        "siblings_of_first": numbers_text(next(core for core in cores if 0 in core)),
        "first_numa": numbers_text(topology.numa[0].cpus),
    }


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.name)
def test_writing_and_reading_back_changes_nothing(path: Path) -> None:
    topology = load(path)
    again = read_xml(write_xml(topology))
    assert again.cpus == topology.cpus
    assert set(again.caches or ()) == set(topology.caches or ())
    assert [(n.os, n.cpus) for n in again.numa] == [(n.os, n.cpus) for n in topology.numa]
    assert again.allowed == topology.allowed


@pytest.mark.skipif(shutil.which("lstopo-no-graphics") is None, reason="hwloc's lstopo is not installed")
@pytest.mark.parametrize("description", DESCRIPTIONS)
def test_descriptions_mean_what_hwloc_says(description: str) -> None:
    words = ["lstopo-no-graphics", "-i", description, "--of", "xml", "-"]
    theirs = read_xml(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    ours = read_synthetic(description)
    assert ours.cpus == theirs.cpus
    assert ours.numa == theirs.numa
    assert set(ours.caches or ()) == set(theirs.caches or ())


@pytest.mark.skipif(shutil.which("lstopo-no-graphics") is None, reason="hwloc's lstopo is not installed")
@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.name)
def test_hwloc_reads_what_we_write_without_complaint(path: Path, tmp_path: Path) -> None:
    file = tmp_path / "machine.xml"
    file.write_text(write_xml(load(path)))
    words = ["lstopo-no-graphics", "-i", str(file), "--disallowed", "--of", "xml", "-"]
    result = subprocess.run(words, capture_output=True, text=True, check=True)
    assert result.stderr == ""
    assert read_xml(result.stdout).cpus == load(path).cpus


def test_format_3_reads_like_format_2() -> None:
    text = (MACHINES / "container-2s.xml").read_text()
    newer = text.replace('version="2.0"', 'version="3.0"').replace("hwloc2.dtd", "hwloc3.dtd")
    assert read_xml(newer) == read_xml(text)


def test_memory_without_cores_is_a_node_without_threads() -> None:
    topology = read_synthetic("pack:2 [numa(memory=64GiB)] [numa(memory=16GiB)] core:2 pu:1")
    assert [numbers_text(node.cpus) for node in topology.numa] == ["0-1", "", "2-3", ""]
    assert {cpu.numa for cpu in topology.cpus} == {0, 2}


def test_hybrid_kinds_come_from_core_types_or_from_their_order() -> None:
    topology = load(MACHINES / "hybrid-laptop.xml")
    assert [cpu.kind for cpu in topology.cpus] == ["performance"] * 8 + ["efficiency"] * 8
    same = read_synthetic("core:2 pu:1\nkinds: performance=0 efficiency=1")
    assert [cpu.kind for cpu in same.cpus] == ["performance", "efficiency"]


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE topology [<!ENTITY a "b">]><topology version="2.0"/>',
        '<!DOCTYPE topology SYSTEM "file:///etc/passwd"><topology version="2.0"/>',
        "<topology",
        "<html/>",
        '<topology version="2.0"/>',
        '<topology version="1.0"><object type="Machine"/></topology>',
        '<topology version="2.0"><object type="Machine"/></topology>',
    ],
)
def test_other_xml_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="cannot read"):
        read_xml(text)


@pytest.mark.parametrize(
    "declared",
    [
        '<!DOCTYPE topology [<!ENTITY a "b">]>',
        '<!DOCTYPE topology SYSTEM "file:///etc/passwd">',
        '<!DOCTYPE topology SYSTEM "hwloc2.dtd" [<!ENTITY a "b">]>',
    ],
)
def test_a_topology_that_declares_entities_is_refused_though_it_is_whole(declared: str) -> None:
    own = '<!DOCTYPE topology SYSTEM "hwloc2.dtd">'
    text = write_xml(read_synthetic("core:2 pu:1"))
    assert len(read_xml(text).cpus) == 2
    with pytest.raises(ValueError, match="declares a document type or entities"):
        read_xml(text.replace(own, declared))


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("pack:2 core:4", "pu"),
        ("pack:2 cor:4 pu:2", "cor:4"),
        ("core:0 pu:1", "number of core must be at least 1"),
        ("core:4 pu:2(indexes=0,1,2)", "indexes"),
        ("core:4 pu:2(indexes=numa)", "no such level above pu"),
        ("core:4 pu:2(indexes=2*3)", "indexes"),
        ("core:99999 pu:9", "hardware threads"),
        ("core:4 pu:1\nallowed: 2-9", "does not have them"),
        ("core:4 pu:1\nallowed: x", "use the form 0-3,8"),
    ],
)
def test_wrong_descriptions_are_refused_by_their_word(text: str, word: str) -> None:
    with pytest.raises(ValueError, match=word):
        read_synthetic(text)


def test_no_machine_says_what_would_be_one(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="hwloc XML file"):
        load(tmp_path / "nothing.xml")


def test_numbers_with_strides() -> None:
    assert parse_cpus("0-14:2,3") == {0, 2, 3, 4, 6, 8, 10, 12, 14}
    with pytest.raises(ValueError, match="is not a list of numbers"):
        parse_cpus("3-1")


PU = '<object type="PU" os_index="0" cpuset="0x1"/>'


@pytest.mark.parametrize(
    ("inside", "words"),
    [
        ('<object type="PU" os_index="-1"/>', "os_index='-1' of a PU is not a number from 0 to 65535"),
        ('<object type="PU" os_index="10000000000000000000000"/>', "os_index='1000"),
        ('<object type="PU" os_index="²"/>', "os_index"),
        (PU + PU, "two objects of type PU have one os_index"),
        (PU + '<object type="NUMANode" os_index="1"/>' * 2, "two objects of type NUMANode"),
        (PU + '<object type="L2Cache" cache_size="-1"/>', "cache_size='-1' of a L2Cache"),
        (PU + '<object type="NUMANode" os_index="0" local_memory="many"/>', "local_memory='many'"),
        ('<object type="PU" os_index="0" cpuset="0xg"/>', "'0xg' is not an hwloc bitmap"),
        (f'<object type="PU" os_index="0" cpuset="{"f" * 200_000}"/>', "is not an hwloc bitmap"),
        ('<object type="Group">' * 50_000 + PU + "</object>" * 50_000, "nested deeper than 64"),
        ("", "it has 0 hardware threads"),
    ],
)
def test_what_is_no_machine_is_refused(inside: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_xml(f'<topology version="2.0"><object type="Machine">{inside}</object></topology>')


@pytest.mark.parametrize("head", ['<!DOCTYPE topology [<!ENTITY a "b">]>', '<!DOCTYPE topology SYSTEM "/etc/passwd">'])
def test_a_document_type_of_its_own_is_refused(head: str) -> None:
    with pytest.raises(ValueError, match="document type or entities"):
        read_xml(f'{head}<topology version="2.0"><object type="Machine">{PU}</object></topology>')


def test_a_cache_of_no_hardware_thread_here_is_left_out() -> None:
    inside = f'<object type="L3Cache" cpuset="0x4" cache_size="8"/>{PU}'
    topology = read_xml(f'<topology version="2.0"><object type="Machine">{inside}</object></topology>')
    assert topology.caches == ()
    assert topology.groups("l3") == (frozenset({0}),)


@pytest.mark.parametrize("name", ["x" * 300, "x" * 300 + ":y", "none.xml", "a\0b"])
def test_a_machine_that_is_not_there_is_named(name: str) -> None:
    for function in (load, load_machine):
        with pytest.raises(ValueError, match=r"cannot read|is not a level"):
            function(name)


def test_masks_have_a_length() -> None:
    assert parse_mask("0xf0") == {4, 5, 6, 7}
    assert max(parse_mask("0x1" + "0" * 4095)) == 16380
    for text in ("", "0x", "g", "f" * 17_000, "f" * 200_000):
        with pytest.raises(ValueError, match="mask"):
            parse_mask(text)
