"""Records of every workload, in a store: what each command prints of the run. Inputs are the lines of one launch."""

import functools
import re
import tempfile
import zlib
from pathlib import Path

import typer
from typer.testing import CliRunner

from fake_run import machine
from fuzz_targets import one_in, sealed
from octant import workloads
from octant.benchmarks.table import read_tests
from octant.cli import application
from octant.failure import Refusal
from octant.request import Launch, Presentation, Request, Shape, Subject
from octant.store import Store
from paths import DATA, MACHINES

FORMAT = "json"
_ID = "20261121-214530-3f2a"
_LINES = (DATA / "smoke-points.jsonl").read_bytes().splitlines()
_STARTS = [number for number, line in enumerate(_LINES) if b'"kind":"launch"' in line]
_GROUPS = [_LINES[begin:end] for begin, end in zip(_STARTS, [*_STARTS[1:], len(_LINES)], strict=True)]
_FILES = (
    b',"files":[{"name":"x.bin","kind":"field","rank":0,"bytes":9,"crc":"0123abcd","stored":"a-0.1/0.0.x.bin"},'
    b'{"name":"y","kind":"log","bytes":9,"left_out":"larger than 16 MiB"}]}'
)
SEEDS = [b"\n".join([launch, *chosen]) for launch, *points in _GROUPS for chosen in (points[:1], points)]
SEEDS += [b"\n".join([launch, point.removesuffix(b"}") + _FILES]) for launch, point, *_ in _GROUPS[:3]]
_TREE = next(folder for folder in sorted((MACHINES / "trees").iterdir()) if folder.is_dir())
_NAME = re.compile(rb'"workload":"([a-z0-9_]+/[a-z0-9_]+)"')
_COMMANDS = {  # by words: of how many inputs one goes through them
    "report last": 1,
    "export last --to csv": 4,
    "mpi --run last": 4,
    "mpi --run last --as osu --json": 8,
    "hpcc --run last": 4,
    "export hpcc last": 4,
    "compare last last": 8,
    "model calibrate bgp --run last": 4,
    "model app bgp --ranks 8 --halo 3d:64KiB --run last --kernel WORKLOAD": 8,
    "model hpcc --nodes 8 --run last": 8,
    "machine --from TREE --beside last": 8,
}


@functools.cache
def _application() -> typer.Typer:
    return application()


def read(data: bytes) -> None:
    """A run, in use: what commands print of it."""
    found = _NAME.search(data)
    name = found[1].decode() if found else ""
    if name not in workloads.workloads():
        return
    workload = workloads.workload(name)
    titles = [test.name for test in read_tests("hpcc") if test.workload == name] or [""]
    title = titles[zlib.crc32(data) % len(titles)]  # by which `octant hpcc` knows its tests
    request = Request(Subject(name), workload.smoke, Shape(2 if workload.messages else 1), show=Presentation(title))
    refused: list[Refusal] = []
    with tempfile.TemporaryDirectory() as folder:
        run = Store(Path(folder)).create("run", machine(), [request])
        lines = data.replace(f'"{name}-0"'.encode(), f'"{Launch(request, 0).key}"'.encode()).split(b"\n")
        records = run.folder.rename(run.folder.with_name(_ID)) / run.records.name
        records.write_bytes(b"".join(sealed(line) + b"\n" for line in lines))
        for words, several in _COMMANDS.items():
            if one_in(several, data):
                given = words.replace("WORKLOAD", name).replace("TREE", str(_TREE))
                error = CliRunner().invoke(_application(), [*given.split(), "--store", folder]).exception
                if isinstance(error, Refusal):
                    refused.append(error)
                elif isinstance(error, Exception):
                    raise error
    if refused:
        raise refused[0]
