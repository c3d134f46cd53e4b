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
  <object type="Machine" os_index="0" cpuset="0x00000003"
   complete_cpuset="0x00000003" allowed_cpuset="0x00000003" nodeset="0x00000001"
   complete_nodeset="0x00000001" allowed_nodeset="0x00000001">
    <info name="Backend" value="Synthetic"/>
    <info name="SyntheticDescription" value="numa:1 l2:1 core:2 pu:1"/>
    <info name="hwlocVersion" value="2.11.2"/>
    <info name="ProcessName" value="lstopo-no-graphics"/>
    <object type="NUMANode" os_index="0" cpuset="0x00000003"
   complete_cpuset="0x00000003" allowed_cpuset="0x00000003" nodeset="0x00000001"
   complete_nodeset="0x00000001" allowed_nodeset="0x00000001" local_memory="1073741824">
      <page_type size="4096" count="262144"/>
      <object type="Cache" cpuset="0x00000003"
   complete_cpuset="0x00000003" allowed_cpuset="0x00000003" nodeset="0x00000001"
   complete_nodeset="0x00000001" allowed_nodeset="0x00000001"
   cache_size="4194304" depth="2" cache_linesize="64" cache_associativity="0" cache_type="0">
        <object type="Core" os_index="0" cpuset="0x00000001"
   complete_cpuset="0x00000001" allowed_cpuset="0x00000001" nodeset="0x00000001"
   complete_nodeset="0x00000001" allowed_nodeset="0x00000001">
          <object type="PU" os_index="0" cpuset="0x00000001"
   complete_cpuset="0x00000001" allowed_cpuset="0x00000001" nodeset="0x00000001"
   complete_nodeset="0x00000001" allowed_nodeset="0x00000001"/>
        </object>
        <object type="Core" os_index="1" cpuset="0x00000002"
   complete_cpuset="0x00000002" allowed_cpuset="0x00000002" nodeset="0x00000001"
   complete_nodeset="0x00000001" allowed_nodeset="0x00000001">
          <object type="PU" os_index="1" cpuset="0x00000002"
   complete_cpuset="0x00000002" allowed_cpuset="0x00000002" nodeset="0x00000001"
   complete_nodeset="0x00000001" allowed_nodeset="0x00000001"/>
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
