"""Options and small files of the network model, as the values that they are read into."""

from pathlib import Path

import pytest

from octant.failure import Exit, Refusal
from octant.network import load
from octant.network.calibrate import MeasuredRate
from octant.network.collectives import MessageCosts
from octant.network.inputs import MAX_SIZES, read_costs, read_flow_bytes, read_points, read_sizes
from octant.network.jobs import job_nodes
from octant.network.published_points import published_points
from octant.network.traffic import read_map, read_pairs


def test_points_have_a_tolerance_and_a_relation_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "points"
    path.write_text("# size rate\n2 9e8\n\n3 1.5 0.25  # odd\n4 7 at_least\n5 8 0.5 at_most\n6 1e3 eq\n")
    assert read_points(load("bgp"), "uniform", path, 0.05) == [
        MeasuredRate(2, 9e8, 0.05, "eq"),
        MeasuredRate(3, 1.5, 0.25, "eq"),
        MeasuredRate(4, 7.0, 0.05, "at_least"),
        MeasuredRate(5, 8.0, 0.5, "at_most"),
        MeasuredRate(6, 1e3, 0.05, "eq"),
    ]
    for line in ("2", "2 1 0.1 0.2", "1.5 1", "0 1", "2 -1", "2 1 0", "2 1 2", "2 nan", "2 1e19", "2 1 about", "x 1"):
        path.write_text(f"3 1\n{line}\n")
        with pytest.raises(Refusal, match=f"cannot read {path}, line 2: '{line}' is not .*; try `24") as refused:
            read_points(load("bgp"), "uniform", path, 0.05)
        assert refused.value.code == Exit.WRONG_WORD


@pytest.mark.parametrize("tolerance", [0.0, 1e-10, 1.0, 2.0, float("nan")])
def test_a_tolerance_is_a_part(tolerance: float) -> None:
    with pytest.raises(Refusal, match=r"invalid --tolerance .*; try --tolerance 0\.05") as refused:
        read_points(load("power775"), "ptrans", None, tolerance)
    assert refused.value.code == Exit.WRONG_WORD


def test_published_points_come_in_the_order_of_their_sizes() -> None:
    network = load("power775")
    known = published_points(network, "randomaccess")
    points = read_points(network, "randomaccess", None, 1e-9)
    assert points == [MeasuredRate(size, known[size].value, 1e-9) for size in sorted(known)]
    assert len(points) > 2


def test_sizes_are_lists_and_ranges() -> None:
    assert read_sizes("24,1,2") == [24, 1, 2]
    assert read_sizes("3:5,9:20:4") == [3, 4, 5, 9, 13, 17]
    assert read_sizes("7:7") == [7]
    assert len(read_sizes(f"1:{MAX_SIZES}")) == MAX_SIZES
    for text in (f"1:{MAX_SIZES + 1}", f"1:{MAX_SIZES},1"):
        with pytest.raises(Refusal, match=f"more than {MAX_SIZES} sizes"):
            read_sizes(text)
    assert read_sizes(str(2**20)) == [2**20]
    for text in ("", "0", "2:1", "1:2:0", "1:2:3:4", str(2**20 + 1), "1.5", "a"):
        with pytest.raises(Refusal, match="not a list of sizes; try 1,2,24"):
            read_sizes(text)


def test_costs_and_amounts_are_in_base_units() -> None:
    assert read_costs("2us", "") == MessageCosts(2e-6, None)
    assert read_costs("0s", "3ms") == MessageCosts(0.0, 3e-3)
    assert read_flow_bytes(None) is None
    assert read_flow_bytes("64KiB") == 65536.0


def test_pairs_and_maps_are_rows_of_numbers(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("0 1 2.5  # first\n\n# none\n3 0 0\n")
    assert read_pairs(path) == [(0, 1, 2.5), (3, 0, 0.0)]
    path.write_text("5\n\n0  # here\n5\n")
    assert read_map(path).tolist() == [5, 0, 5]


def test_a_job_has_the_nodes_of_its_parts() -> None:
    bgp, power775 = load("bgp"), load("power775").at_size(4)
    assert job_nodes(bgp, "").tolist() == list(range(64))
    assert job_nodes(bgp, "3").tolist() == [0, 1, 2]
    assert job_nodes(bgp, "5,1:2").tolist() == [1, 2, 5]
    assert job_nodes(bgp, "63:63").tolist() == [63]
    active, each = power775.topology.active(), power775.topology.nodes_per_part()
    assert job_nodes(power775, "1,3").tolist() == [node for node in active.tolist() if node // each in (1, 3)]
    for text in ("0", "65", "64:64", "2:1", "-1", "1:x", ","):
        with pytest.raises(Refusal, match=r"invalid job .*; try --job 2 .the first ones. or --job 0:1"):
            job_nodes(bgp, text)
