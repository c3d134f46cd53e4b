"""hwloc's synthetic descriptions, with lines of our own."""

from forked_hwloc import forked_hwloc
from fuzz_targets import one_in
from octant.launchers import translate
from octant.machine.hwloc import read_synthetic
from octant.report.placement.text import as_text
from paths import MACHINES

FORMAT = "text"
REFUSES = (ValueError,)
SEEDS = [
    *(path.read_bytes() for path in sorted(MACHINES.glob("*.synthetic"))),
    b"pack:2 numa:2 core:4 pu:2",
    b"pack:2 [numa(memory=1GB)] l3:2(size=1048576) core:2 pu:2(indexes=2*8:1*2)",
    b"pack:2 l3:2 core:2 pu:2(indexes=core:pack)\nallowed: 2-5,8\nkinds: performance=0-7 efficiency=8-15",
    b"core:4 pu:1(indexes=3,2,1,0)  # backwards",
]


def read(data: bytes) -> None:
    """A topology, in use."""
    with forked_hwloc():
        topology = read_synthetic(data.decode("utf-8", "surrogateescape"))
    answer = translate("1x1,memory=local", topology)
    if one_in(8, data):
        as_text(answer)
