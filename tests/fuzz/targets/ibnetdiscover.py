"""What `ibnetdiscover` prints, and plain edge lists, as networks."""

import tempfile
from pathlib import Path

from octant.network import make, solve
from octant.network.files import parse

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
SEEDS = [_DUMP, _CABLES]
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
        if network.topology.nodes() <= 256:
            solve(network, make(network, "shift"))
