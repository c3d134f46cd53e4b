"""hwloc's XML, read and drawn as `octant place --on FILE` does."""

import tempfile
from pathlib import Path

from fuzz_targets import one_in
from octant.launchers import translate
from octant.machine.hwloc import load, read_xml, write_xml
from octant.report.placement.text import as_text
from paths import MACHINES

FORMAT = "xml"
REFUSES = (ValueError,)
SEEDS = [path.read_bytes() for path in sorted(MACHINES.glob("*.xml"))]


def read(data: bytes) -> None:
    """A topology, in use."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "machine.xml"
        path.write_bytes(data)
        topology = load(path)
    answer = translate("1x1,memory=local", topology)
    if one_in(8, data):
        as_text(answer)
        load_again = read_xml(write_xml(topology))
        assert load_again.allowed == topology.allowed
