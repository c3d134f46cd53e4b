"""Synthetic descriptions: what is ours in them, and that nothing in them is ignored."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octant.machine.cpusets import parse_mask
from octant.machine.hwloc import source
from octant.machine.hwloc.description import mask_text, parse_description
from octant.machine.hwloc.xml import parse_document


def objects(text: str) -> list[tuple[str | None, ...]]:
    keys = ("type", "os_index", "cpuset", "cache_size", "local_memory")
    return [tuple(item.get(key) for key in keys) for item in parse_document(source.from_synthetic(text)).iter("object")]


@pytest.mark.parametrize(
    ("ours", "same"),
    [
        ("socket:2 node:1 thread:2", "package:2 numa:1 pu:2"),
        ("PACK:2 L3Cache:1 NUMANode:1 Core:2 PU:1", "package:2 l3:1 numa:1 core:2 pu:1"),
        ("machine:1 core:2 pu:1", "core:2 pu:1"),
        ("machine pack:2 core pu", "pack:2 core:1 pu:1"),
        ("pack:2\n  core:2 # a comment: pu:7\npu:1 # another", "pack:2 core:2 pu:1"),
        ("l1:2 l2:1 pu:1", "l1:2(size=32KiB) l2:1(size=256KiB) pu:1"),
        ("l3:2 l1i:1 pu:1", "l3:2(size=16777216) l1i:1(size=32768) pu:1"),
        ("l3:2(size=1.5MiB) pu:1", "l3:2(size=1572864) pu:1"),
        ("numa:2(memory=1.5GiB) pu:2", "numa:2(memory=1610612736) pu:2"),
        ("pack:2 [numa:2(memory=2GiB)] pu:1", "pack:2 [numa(memory=2GiB)] [numa(memory=2GiB)] pu:1"),
        ("core:4 pu:2(indexes=core)", "core:4 pu:2(indexes=1*4:4*2)".replace("1*4:4*2", "2*4:1*2")),
        ("core:2 pu:2(indexes=0,2,1,3)", "core:2 pu:2(indexes=core)"),
    ],
)
def test_other_words_mean_the_same(ours: str, same: str) -> None:
    assert objects(ours) == objects(same)


levels = st.lists(
    st.tuples(st.sampled_from(["pack", "die", "numa", "l3", "l2", "core"]), st.integers(1, 3)), max_size=4,
    unique_by=lambda level: level[0],
)  # fmt: skip


@settings(max_examples=40)
@given(levels, st.integers(1, 2), st.data())
def test_each_level_has_as_many_objects_as_its_counts_say(
    tree: list[tuple[str, int]], threads: int, data: st.DataObject
) -> None:
    order = data.draw(st.sampled_from(["", *(kind for kind, _ in tree)]))
    last = f"pu:{threads}{f'(indexes={order})' if order else ''}"
    found = objects(" ".join([*(f"{kind}:{count}" for kind, count in tree), last]))
    names = {"pack": "Package", "die": "Die", "numa": "NUMANode", "l3": "L3Cache", "l2": "L2Cache", "core": "Core"}
    for position, (kind, _) in enumerate(tree):
        expected = math.prod(count for _, count in tree[: position + 1])
        assert sum(item[0] == names[kind] for item in found) == expected
    total = threads * math.prod(count for _, count in tree)
    assert sorted(int(item[1] or -1) for item in found if item[0] == "PU") == list(range(total))


def test_what_may_be_used_and_the_kinds_of_cores_are_in_the_xml() -> None:
    root = parse_document(
        source.from_synthetic("core:40 pu:1\nallowed: 2-5,33\nkinds: performance=0-7 efficiency=8-39")
    )
    machine = next(root.iter("object"))
    assert parse_mask(machine.get("allowed_cpuset", "")) == {2, 3, 4, 5, 33}
    assert len(parse_mask(machine.get("complete_cpuset", ""))) == 40
    kinds = [(parse_mask(kind.get("cpuset", "")), kind[0].get("value")) for kind in root.iter("cpukind")]
    assert kinds == [(frozenset(range(8, 40)), "IntelAtom"), (frozenset(range(8)), "IntelCore")]
    again = parse_document(source.from_xml(source.from_synthetic("core:2 pu:1\nallowed: 1")))  # hwloc reads it, too
    assert parse_mask(next(again.iter("object")).get("allowed_cpuset", "")) == {1}


@given(st.frozensets(st.integers(0, 300)))
def test_masks_read_back(cpus: frozenset[int]) -> None:
    assert parse_mask(mask_text(cpus)) == cpus
    assert all(len(word) == 10 for word in mask_text(cpus).split(","))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the last level must be pu"),
        ("pack:2 core:4", "the last level must be pu"),
        ("pack:2 cor:4 pu:2", "'cor:4'.*did you mean core"),
        ("core:0 pu:1", "number of core must be at least 1"),
        ("[numa core:2 pu:1", r"'\[numa'"),
        ("core:2(fast) pu:1", "'fast' is not an attribute of core"),
        ("l2:2(size=much) pu:1", "'much' as a size"),
        ("core:4(colour=red) pu:1", "unknown attribute at 'colour=red"),
        ("core:2 core:2 pu:1", "several core levels"),
        ("pu:2 core:2 pu:1", "several PU levels"),
        ("pack:2 [core] pu:1", "attached object type at 'core"),
        ("numa:2 [numa] core:2 pu:1", "both as a level and attached"),
        ("machine:2 core:2 pu:1", "machine:2"),
        ("core:4 pu:2(indexes=0,1,2)", "indexes=0,1,2 does not number 8 hardware threads"),
        ("core:2 pu:1(indexes=0,0)", "does not number"),
        ("core:2 pu:1(indexes=0,65536)", "does not number"),
        ("core:4 pu:2(indexes=numa)", "'numa', but the description has no such level"),
        ("core:4 pu:2(indexes=2*3)", "does not number"),
        ("core:4 pu:1(indexes=2*2:2*2)", "duplicate index"),
        ("core:4 pu:1(indexes=core:core)", "duplicate interleaving"),
        ("core:99999 pu:9", "hardware threads"),
        ("core:4 pu:1\nallowed: 2-9", "threads 4-9: the topology does not have them"),
        ("core:4 pu:1\nallowed: x", "use the form 0-3,8"),
        ("core:4 pu:1\nkinds: fast=0-1", "kind of cores 'fast'.*performance"),
        ("core:4 pu:1\nkinds: performance=z", "use the form 0-3,8"),
        ("core:1 " * 80 + "pu:1", "81 levels"),
        ("x" * 70_000, "70000 characters"),
    ],
)
def test_the_part_that_is_wrong_is_named(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        source.from_synthetic(text)


def test_a_wrong_description_needs_no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "export_xml", lambda _: pytest.fail("hwloc was asked"))
    with pytest.raises(ValueError, match="cor:4"):
        source.from_synthetic("cor:4 pu:2")
    assert parse_description("core:2 pu:1").levels == "core:2 pu:1 "
