"""Files with hwloc's XML of version 1 or 2, through libhwloc, as `octant place --on FILE` reads them."""

import tempfile
from pathlib import Path

from forked_hwloc import forked_hwloc
from octant.launchers import translate
from octant.machine.hwloc import load
from paths import MACHINES

FORMAT = "xml"
REFUSES = (ValueError,)
VERSION_1 = b"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc.dtd">
<topology>
  <object type="System" os_level="-1" os_index="0" cpuset="0x3"
          complete_cpuset="0x3" online_cpuset="0x3" allowed_cpuset="0x3">
    <object type="Node" os_level="-1" os_index="0" cpuset="0x3" nodeset="0x1" local_memory="1073741824">
      <object type="Cache" os_level="-1" cpuset="0x3" cache_size="4194304" depth="2" cache_linesize="64">
        <object type="Core" os_level="-1" os_index="0" cpuset="0x3">
          <object type="PU" os_level="-1" os_index="0" cpuset="0x1"/>
          <object type="PU" os_level="-1" os_index="1" cpuset="0x2"/>
        </object>
      </object>
    </object>
  </object>
</topology>
"""
SEEDS = [VERSION_1, *sorted((path.read_bytes() for path in MACHINES.glob("*.xml")), key=len)]


def read(data: bytes) -> None:
    """A topology, in use."""
    with tempfile.TemporaryDirectory() as folder, forked_hwloc():
        path = Path(folder) / "machine.xml"
        path.write_bytes(data)
        topology = load(path)
    translate("1x1,memory=local", topology)
