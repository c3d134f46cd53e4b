"""Files that go with a network: pairs of ranks, the nodes of ranks, measured points. The first line says which."""

import tempfile
from pathlib import Path

from octant.network.calibrate import calibrate
from octant.network.files import load
from octant.network.inputs import pairs_of_file, read_points
from octant.network.solve import solve

FORMAT = "text"
SEEDS = [
    b"pairs\n0 1 1e6\n1 0 4096 # back\n2 3 0\n",
    b"map\n0\n1 # second\n0\n3\n",
    b"points\n2 1e9\n4 2e9 0.1\n8 3e9 0.05 at_least\n16 1e10 at_most\n",
]
_NETWORK = load("bgp").at_size(64)


def read(data: bytes) -> None:
    """Traffic or points, in use."""
    kind, _, text = data.partition(b"\n")
    with tempfile.TemporaryDirectory() as folder:
        path, other = Path(folder) / "file", Path(folder) / "pairs"
        path.write_bytes(text)
        other.write_text("0 1 1e6\n1 2 1e6\n")
        if kind == b"pairs":
            solve(_NETWORK, pairs_of_file(_NETWORK, path, "block", 1))
        elif kind == b"map":
            solve(_NETWORK, pairs_of_file(_NETWORK, other, str(path), 1))
        elif kind == b"points":
            calibrate(_NETWORK, "shift", read_points(_NETWORK, "shift", path, 0.05), ["link", "endpoint"])
