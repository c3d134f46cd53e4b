"""What `octant model show` says of a network."""

import json
from pathlib import Path

import pytest

from fabrics import FatTree
from model_command import run
from octant.failure import Refusal
from octant.network import load
from octant.network.inventory import inventory


def test_a_network_of_the_catalogue_has_its_cables_by_class() -> None:
    shown = inventory("bgp")
    assert (shown.kind, shown.nodes, shown.switches, shown.fabric) == ("torus", 64, 0, None)
    assert [(one.name, one.cables) for one in shown.classes] == [("link", 144)]  # 4 × 4 × 4, a mesh: 3 × 48


def test_a_dump_is_shown_with_a_network_file_that_can_be_used(tmp_path: Path) -> None:
    dump = tmp_path / "our fabric.ibnet"
    dump.write_text("some words\n" + FatTree((2, 2), (1,), planes=2, aggregation=True).make().text())
    shown = inventory(str(dump))
    assert (shown.nodes, shown.switches, shown.vertex_names[0]) == (4, 6, "ca:node1")
    assert [(one.name, one.cables, one.bytes_per_s) for one in shown.classes] == [("4xHDR", 12, 25e9)]
    assert shown.fabric is not None
    assert (shown.fabric.rails, shown.fabric.lines.unrecognised) == ({2: 4}, ("line 1: 'some words'",))
    (tmp_path / "ours.toml").write_text(shown.network_file)
    assert load(str(tmp_path / "ours.toml")).topology.nodes() == 4
    text = run("show", str(dump))
    for words in ("SHARP aggregation node       6", "4 nodes with 2 cables", "1 unrecognised", '[links."4xHDR"]'):
        assert words in text
    found = json.loads(run("show", str(dump), "--json"))
    assert (found["nodes"], found["fabric"]["apart"][0]["count"]) == (4, 6)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("  10   21[  ] ==( 4X  53.125 Gbps Active/ LinkUp)==>  40  1[  ] \"n\" ( )\n", "is output of iblinkinfo"),
        ("n1 s1\n", "neither a network file"),
        ('Switch 36 "S-1" # "x"\n[1] "H-2"[1] # "n" lid 1 4xHDR\n', "not described"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_dump_is_refused(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text(text)
    with pytest.raises(Refusal, match=words):
        inventory(str(tmp_path / "file"))


def test_a_name_that_nothing_has_is_refused() -> None:
    with pytest.raises(Refusal, match="unknown network 'bpg'"):
        inventory("bpg")
