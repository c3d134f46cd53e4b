"""Records what Open MPI 4.1 does with our words: `python tests/support/record_openmpi41.py /path/to/mpirun`, needs gcc.

4.1 computes bindings only when it launches, and cannot print them for a topology file. So it launches, on slots as
many as the pretended machine has, and a preloaded `hwloc_set_cpubind` writes down each mask in place of binding.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from octant.launchers import to_syntax
from octant.machine.hwloc import read_synthetic
from octant.placement.expressions import parse_place
from octant.placement.planner import DoesNotFit, plan
from paths import DATA
from record_launchers import LINUX, POWER, REFERENCE
from topology_xml import write_xml

PLACES = [
    "4x2",
    "4x2,order=scatter:numa",
    "4x2,unit=hwthread,smt=2",
    "4x2,unit=numa",
    "4x2,order=scatter:package",
    "2x1,cpus=0+2/4+6",
    "2x1,cpus=0/5",
    "4x1",
    "4x3",
    "2x1,unit=l3",
    "6x1,order=scatter:package,unit=hwthread",
    "18x1,unit=hwthread,smt=2",
    "3x5,order=scatter:package,smt=2",
    "5x2,order=scatter,share=yes",
]
SPY = """
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int hwloc_bitmap_list_asprintf(char **, const void *);
int hwloc_set_cpubind(void *topology, const void *set, int flags) {
    char *text = 0;
    FILE *file = fopen(getenv("SPY_FILE"), "a");
    (void)topology, (void)flags;
    hwloc_bitmap_list_asprintf(&text, set);
    fprintf(file, "bind %d %s\\n", getpid(), text);
    return fclose(file);
}
"""


def masks(mpirun: str, description: str, options: str, folder: Path) -> list[str]:
    """The mask of each rank as Open MPI 4.1 would set it; empty where it refuses."""
    topology = read_synthetic(description)
    (folder / "topology.xml").write_text(write_xml(topology))
    (folder / "spy.c").write_text(SPY)
    subprocess.run(["gcc", "-shared", "-fPIC", "spy.c", "-o", "spy.so"], cwd=folder, check=True)
    log = folder / "spy.txt"
    log.write_text("")
    environment = {**os.environ, "SPY_FILE": str(log), "LD_PRELOAD": str(folder / "spy.so")}
    slots = len(topology.cpus if "--use-hwthread-cpus" in options else topology.groups("core"))
    words = [mpirun, "--allow-run-as-root", "--mca", "hwloc_base_topo_file", "topology.xml"]
    words += ["--host", f"localhost:{slots}", *options.split(), "sh", "-c", "echo rank $OMPI_COMM_WORLD_RANK $$"]
    done = subprocess.run(
        words, capture_output=True, text=True, env=environment, cwd=folder, timeout=60, check=False
    ).stdout
    held = dict(re.findall(r"bind (\d+) (\S+)", log.read_text()))
    ranks = sorted((int(rank), pid) for rank, pid in re.findall(r"rank (\d+) (\d+)", done))
    return [held.get(pid, "unbound") for _rank, pid in ranks]


def main(mpirun: str) -> None:
    """Records every place on every topology that holds it."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        for description in (REFERENCE, LINUX, POWER):
            for place in PLACES:
                topology = read_synthetic(description)
                request = parse_place(place, topology)
                try:
                    placement = plan(topology, request)
                except DoesNotFit:
                    continue
                answer = to_syntax("openmpi41", placement, request, topology)
                for file, content in answer.files:
                    (Path(name) / file).write_text(content)
                options = answer.lines[-1].removeprefix("mpirun ").removesuffix(" PROGRAM")
                seen = masks(mpirun, description, options, Path(name))
                rows.append({"topology": description, "place": place, "options": options, "masks": seen})
    said = subprocess.run([mpirun, "--version"], capture_output=True, text=True, check=True).stdout.split()
    text = ",\n".join("  " + json.dumps(row) for row in rows)
    (DATA / "openmpi41.json").write_text(f'{{"version": {json.dumps(said[2])}, "runs": [\n{text}\n]}}\n')


if __name__ == "__main__":
    main(sys.argv[1])
