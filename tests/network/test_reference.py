"""The reference in docs/network-model.md names every key, routing and policy that there is, and no other."""

from pathlib import Path
from typing import Any, get_args

import pytest
from msgspec import structs

from networks import network
from octant.failure import Refusal
from octant.network import files
from octant.network.solve import engine
from octant.network.topologies import KINDS
from octant.untrusted import InputTable

PAGE = (Path(__file__).parents[2] / "docs" / "network-model.md").read_text(encoding="utf-8")
TABLES: dict[str, type[InputTable]] = {
    "(top)": files.NetworkFile,
    "links.*": files.LinkClass,
    "endpoint": files.Endpoint,
    "packet": files.Packet,
    "messages": files.MessagesTable,
    "messages.*": files.LengthLine,
    "routing": files.RoutingWords,
    "residual.*": files.Residual,
    "offload.*": files.Offload,
    "published.*": files.PublishedRates,
    "unexplained": files.Unexplained,
    **KINDS,
}
SMALL: dict[str, dict[str, Any]] = {
    "two-level-direct": {"supernodes": 3, "drawers": 2, "octants": 2},
    "torus": {"sizes": [3, 2]},
    "fat-tree": {"down": [2, 2], "up": [2]},
    "dragonfly": {"groups": 3, "routers": 2, "nodes_per_router": 1, "global_links": 1},
    "hyperx": {"sizes": [2, 2], "nodes_per_router": 1},
    "graph": {"edges": "n1 n2\nn2 n3\n"},
}


def rows(header: str) -> list[list[str]]:
    """Cells of the table with that header, without back quotes."""
    lines = PAGE[PAGE.index(header) :].split("\n\n", 1)[0].splitlines()[2:]
    return [[cell.strip().replace("`", "") for cell in line.strip("|").split(" | ")] for line in lines]


def test_every_key_of_a_network_file_is_documented() -> None:
    said = {(row[0], row[1]): row[3].strip() for row in rows("| table | key |")}
    extends = {("(top)", "extends")}  # read before the others
    keys = {
        (table, field.name): field.required for table, declared in TABLES.items() for field in structs.fields(declared)
    }
    assert said.keys() == keys.keys() | extends
    for place, required in keys.items():
        assert required == (said[place] == "required"), place


def test_every_routing_and_policy_is_documented() -> None:
    table = {kind: (routings.split(", "), policies.split(", ")) for kind, routings, policies in rows("| shape | rout")}
    assert table.keys() == KINDS.keys()
    every_routing = {name for routings, _ in table.values() for name in routings}
    for kind, (routings, policies) in table.items():
        for routing in every_routing:
            for policy in get_args(files.Policy):
                net = network(kind, routing, policy, **SMALL[kind])
                if routing in routings and policy in policies:
                    engine(net, net.build())
                else:
                    with pytest.raises(Refusal, match=r"; (try|did you mean) "):
                        engine(net, net.build())
