"""hwloc's XML of version 2, as our reader gets it from libhwloc, and drawn as `octant place --on FILE` does."""

from fuzz_targets import one_in
from octant.launchers import translate
from octant.machine.hwloc import read_xml
from octant.report.placement.text import as_text
from paths import MACHINES
from topology_xml import write_xml

FORMAT = "xml"
REFUSES = (ValueError,)
SEEDS = [path.read_bytes() for path in sorted(MACHINES.glob("*.xml"))]


def read(data: bytes) -> None:
    """A topology, in use."""
    topology = read_xml(data.decode("utf-8", "replace"))
    answer = translate("1x1,memory=local", topology)
    if one_in(8, data):
        as_text(answer)
        again = read_xml(write_xml(topology))
        assert again.allowed == topology.allowed
