"""What `ibnetdiscover` prints, and plain edge lists, as networks."""

import tempfile
from pathlib import Path

from octant.network import make, solve
from octant.network.files import parse
from octant.network.inventory import of_network
from octant.report.network.answers import inventory_text

FORMAT = "text"
_DUMP = b"""#
# Topology file: generated on Fri Nov 20 12:00:00 2026
vendid=0x2c9
switchguid=0x5ad00(5ad00)
Switch\t24 "S-a"\t\t# "leaf one" enhanced port 0 lid 3 lmc 0
[1]\t"H-1"[1](2c901)\t\t# "n1 HCA-1" lid 4 4xDDR
[2]\t"H-2"[1](2c902)\t\t# "n2 HCA-1" lid 5 4xDDR
[24]\t"S-b"[24]\t\t# "leaf two" lid 6 4xQDR

Switch\t24 "S-b"\t\t# "leaf two" enhanced port 0 lid 6 lmc 0
[1]\t"H-3"[2](2c903)\t\t# "n1 HCA-2" lid 7 4xDDR
[24]\t"S-a"[24]\t\t# "leaf one" lid 3 4xQDR

Ca\t2 "H-1"\t\t# "n1 HCA-1"
[1](2c901)\t"S-a"[1]\t\t# lid 4 lmc 0 "leaf one" lid 3 4xDDR
Ca\t2 "H-2"\t\t# "n2 HCA-1"
[1](2c902)\t"S-a"[2]\t\t# lid 5 lmc 0 "leaf one" lid 3 4xDDR
Ca\t2 "H-3"\t\t# "n1 HCA-2"
[2](2c903)\t"S-b"[1]\t\t# lid 7 lmc 0 "leaf two" lid 6 4xDDR
"""
_CABLES = b"# a b class\nca:1 sw:1 4xDDR\nca:2 sw:1\nca:3 sw:2 4xQDR\nsw:1 sw:2\n"
_FABRIC = b"""ibwarn: [77] mad_rpc: _do_madrpc failed
# Topology file: generated on Thu Nov 26 12:00:00 2026
Chassis 1 (guid 0x8c0eb0300000500)

vendid=0x2c9
devid=0xd2f0
sysimgguid=0x8c0eb0300000500\t\t# Chassis 1
switchguid=0x8c0eb0300000500(8c0eb0300000500)\t# spine slot 1
Switch\t41 "S-08c0eb0300000500"\t\t# "MF0;leaf1:MQM8700/U1" enhanced port 0 lid 7 lmc 0
[1][ext 3]\t"H-08c0eb0300000100"[1](8c0eb0300000101) \t\t# "node1 HCA-1" lid 9 4xDDR s=4 w=2 v=4
[2]\t"H-08c0eb0300000200"[1](8c0eb0300000201) \t\t# "localhost HCA-1" lid 9 4xQDR
[3]\t"H-08c0eb0300000300"[1](8c0eb0300000301) \t\t# "Mellanox Technologies Aggregation Node" lid 9 4xQDR
[4]\t"R-08c0eb0300000400"[1](8c0eb0300000401) \t\t# "router" lid 9 4xQDR
[5]\t\t# Down

sysimgguid=0x8c0eb0300000100
caguid=0x8c0eb0300000100
Ca\t2 "H-08c0eb0300000100"\t\t# "node1 HCA-1"
[1](8c0eb0300000101) \t"S-08c0eb0300000500"[1][ext 3]\t\t# lid 12 lmc 0 "MF0;leaf1:MQM8700/U1" lid 9 4xQDR
Ca\t1 "H-08c0eb0300000200"\t\t# "localhost HCA-1"
Ca\t1 "H-08c0eb0300000300"\t\t# "Mellanox Technologies Aggregation Node"
Rt\t1 "R-08c0eb0300000400"\t\t# "router"
"""
SEEDS = [_DUMP, _CABLES, _FABRIC]
_FRAME = """name = "fabric"
[topology]
kind = "graph"
hosts = "ca:"
edges = "fabric.txt"
classes = ["4xDDR", "4xQDR"]
[links.4xDDR]
bytes_per_s = "2 GB/s"
[links.4xQDR]
bytes_per_s = "4 GB/s"
[routing]
name = "ecmp"
"""


def read(data: bytes) -> None:
    """A network, in use."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "fabric.txt").write_bytes(data)
        network = parse(_FRAME, "fuzz.toml", Path(folder))
        network.build()
        inventory_text(of_network(network))
        if network.topology.nodes() <= 256:
            solve(network, make(network, "shift"))
