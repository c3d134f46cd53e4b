"""Lines of launchers and files that they name, read and written again as `octant place --from LINES` does."""

import json

from fuzz_targets import one_in
from octant.launchers import names, to_syntax, translate
from octant.machine.hwloc import read_synthetic
from octant.placement.expressions import parse_place
from octant.placement.planner import DoesNotFitError, plan
from octant.report.placement.text import as_json, as_text, syntax_text
from paths import DATA

_NODES = (
    read_synthetic("pack:2 numa:2 core:2 pu:2"),
    read_synthetic("pack:1 l3:2 core:2 pu:1\nallowed: 1-3"),
)


def _written() -> list[bytes]:
    """What we write for every launcher."""
    node, found = _NODES[0], []
    for text in ("4x2", "2x2,unit=numa,memory=bind", "2x2,cpus=0+4/8+9"):
        request = parse_place(text, node)
        for name in names("write"):
            syntax = to_syntax(name, plan(node, request), request, node)
            files = (f"# file {name}:\n{content}" for name, content in syntax.files)
            found.append("\n".join([*syntax.lines, *files]).encode())
    return found


def _recorded(name: str) -> list[bytes]:
    runs = json.loads((DATA / name).read_text())["runs"]
    return [f"mpiexec {run['options']} prog".encode() for run in runs]


FORMAT = "text"
REFUSES = (ValueError, DoesNotFitError)
SEEDS = [
    *_written(),
    *_recorded("openmpi.json"),
    *(
        f"mpirun {row[1]} prog".encode()
        for name in ("openmpi", "openmpi41")
        for row in json.loads((DATA / f"{name}-options.json").read_text())["runs"][::25]
        if row[1].startswith("-")
    ),
    *(f"{row[1]} mpiexec {row[2]} prog".encode() for row in json.loads((DATA / "hydra-runs.json").read_text())["runs"]),
    b"mpiexec --map-by rankfile:file=f:HWTCPUS p\n# file f:\nrank 0=a slot=0-1\nrank 1=a slot=1:0,2\nrank 2=a slot=p1",
    b"mpirun --rankfile f prog\n# file f:\nrank 0=a slot=0:*\nrank 1=a",
    b"BG_MAPPING=m mpirun -np 2\n# file m:\n0 0 0 0\n0 0 0 2",
    b"BG_MAPPING=XYZT mpirun -np 4 prog",
    b"I_MPI_PIN_DOMAIN=[f,f0] mpirun -n 2 prog",
    b"I_MPI_PIN_PROCESSOR_LIST=0,2 mpirun -n 3 prog",
    b"KMP_AFFINITY=proclist=[0,{1,2},3-5:2],explicit OMP_NUM_THREADS=2 mpiexec -n 2 -bind-to core p",
    b"KMP_AFFINITY=granularity=fine,compact,1,0 KMP_HW_SUBSET=1s,2c,1t",
    b"GOMP_CPU_AFFINITY='0-6:2 1 3' OMP_NUM_THREADS=4",
    b"OMP_PLACES={0:4}:4:4,!{0} OMP_PROC_BIND=spread,close OMP_NUM_THREADS=4,2",
    b"OMP_PLACES=cores(4) OMP_PROC_BIND=close mpiexec -n 2 -bind-to none prog",
    b"#SBATCH -n 4\n#SBATCH --cpus-per-task=4\nsrun --cpu-bind=mask_cpu:0xf,0xf0 -m block:cyclic prog",
    b"srun -n 2 -c 4 --cpu-bind=map_cpu:0,4 --mem-bind=local prog",
    b"numactl -N 0 --membind=0 p\nnumactl --physcpubind=+0-1 -i all p",
    b"taskset -c 0-14:2 prog\ntaskset 0xff,ff prog",
    b"hwloc-bind --membind numa:0 numa:1.core:0-1 ~pu:0 -- prog",
    b"likwid-mpirun -np 2 -pin S0:0-1_S1:0-1 prog\nlikwid-pin -c E:S0:8:1:2 prog",
    b"#@rset = rset_mcm_affinity\n#@mcm_affinity_options=mcm_distribute mcm_mem_req\n#@task_affinity=core(1)",
    b"export MP_TASK_AFFINITY=CORE MP_PROCS=4",
    b"XLSMPOPTS=parthds=4:startproc=0:stride=2:procs=0,0,1 OMP_NUM_THREADS=2",
]


def read(data: bytes) -> None:
    """A placement, in use: what `octant place` prints of it."""
    text = data.decode("utf-8", "surrogateescape")
    if "# file" not in text:  # the files that the lines name are no part of the input
        text += "\n# file f:\n"
    answer = translate(text, _NODES[len(data) % 2], ("all",) if one_in(16, data) else (), lines=True)
    if one_in(16, data):
        as_text(answer)
        syntax_text(answer)
        as_json(answer)
