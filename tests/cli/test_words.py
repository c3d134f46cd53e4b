"""A word outside a closed list is refused before anything starts, with a suggestion, exit code 2 and no run."""

import shlex
from collections.abc import Mapping
from pathlib import Path

import pytest
import typer.testing

from octant.cli import application
from octant.failure import Exit, Refusal
from octant.store import Store
from paths import Octant

MISSPELT = {
    "rnu stream": "'run'",
    "model slove bgp": "'solve'",
    "run stream --rnaks 2": "--ranks",
    "run straem": "stream",
    "run node/straem": "node/stream",
    "run stream kernel=traid": "triad",
    "run stream bytes=1MiB,2MiB kernel=copy,traid": "triad",
    "run stream byets=1MiB": "bytes",
    "run stream --mode stra": "star",
    "run stream --launcher mpiexc": "mpiexec",
    "run stream --launcher slrum --submit": "try one of",
    "run stream --place 2x1,oder=compact": "order",
    "run p2p --on-model bgp byets=8": "bytes",
    "run p2p --on-model bpg": "bgp",
    "run hpl N=2000": "did you mean n?",
    "run dgem": "did you mean gemm?",
    "run triad kernel=copy": "try octant run stream kernel=copy",
    "run IMB-MPI1": "octant mpi",
    "run osu_mbw_mr": "octant mpi",
    "run perf ./app": "octant run -- ./app",
    "run mpirun -n 2 ./app": "octant run -- mpirun -n 2 ./app",
    "run srun ./app": "octant run -- srun ./app",
    "linpack": "octant run linpack",
    "imb": "octant mpi",
    "time ./app": "octant run -- ./app",
    "mpirun -n 4 ./app": "octant run -- mpiexec -n 4 ./app",
    "check": "octant doctor",
    "topo": "octant machine",
    "lstopo": "octant machine",
    "bench": "octant evaluate",
    "benchmark": "octant evaluate",
    "diff previous last": "octant compare previous last",
    "pin --place 2x1": "octant bind --place 2x1",
    "noise": "octant run noise",
    "mpi/p2p": "octant run mpi/p2p",
    "trace ./app": "octant where -- ./app",
    "./a.out": "octant run -- ./a.out",
    "rm last": "delete its directory",
    "mpi PingPong --place 2x1": "octant run p2p",
    "mpi library=openmpi": "own installation of Octant",
    "run p2p library=openmpi": "own installation of Octant",
    "run p2p --mpi openmpi": "own installation of Octant",
    "run latency bytes=16KiB:4MiB": "give a list, such as 16KiB,64KiB",
    "run latency bytes=L4": "its levels are L1",
    "run stream --on torus.toml": "--on-model NETWORK",
    "study run page-size --dry-run": "octant study show",
    "study list nowhere": "`octant study list` lists all",
    "study list hugee pages": "did you mean huge instead of hugee?",
    "workloads hugee": "did you mean huge?",
    "runs nothing --store nowhere": "octant runs",
    "model list dragonfy": "did you mean dragonfly?",
    "evaluate --suite quik": "quick",
    "evaluate --only straem": "stream",
    "workloads straem": "stream",
    "catalogue findngs": "findings",
    "catalogue machines powr755": "power755",
    "study show page-sise": "page-size",
    "study show stream": "stream-affinity-pages",
    "study run p7-l3-scales-with-cores": "octant study show l3-locality",
    "catalogue findings l3 nowhere": "`octant catalogue findings` lists all",
    "catalogue findings l3 bgp": "use fewer words",
    "doctor --explain governer": "governor",
    "place --place 1x1 --for slrum": "slurm",
    "place --place 2x1,unit=croe": "core",
    "place --place 2x1,pages=2mb": "2m",
    "place --place 2x1,memory=lokal": "local",
    "place --place 2x1,order=scater": "scatter",
    "place --place nmua:0": "numa",
    "place --on pakc:2 --place 1x1": "pack",
    "settings --library mpic": "mpich",
    "settings --check eagr-limit": "eager-limit",
    "model solve power777": "power775",
    "model solve bgp -t shfit": "shift",
    "model collective dragonfly-example alltoall -n 4096": "the number of groups",
    "model scale dragonfly-example --sizes 4096": "octant model show dragonfly-example",
    "model solve bgp --solver clas": "class",
    "model fail bgp -c lnk": "link",
    "model fail power775 -c D --policy sprad": "spread",
    "model export bgp --to egdes": "edges",
    "model check bgp --with simgird": "simgrid",
}


@pytest.mark.parametrize("line", MISSPELT)
def test_a_misspelt_word_gets_the_right_one(
    line: str, kernels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OCTANT_KERNELS", str(kernels))
    monkeypatch.setenv("OCTANT_STORE", str(tmp_path / "store"))
    monkeypatch.chdir(tmp_path)
    result = typer.testing.CliRunner().invoke(application(), shlex.split(line))
    refusal = result.exception
    said, code = (str(refusal), refusal.code) if isinstance(refusal, Refusal) else (result.output, result.exit_code)
    assert code == Exit.WRONG_WORD, said
    assert MISSPELT[line] in said.partition("; " if isinstance(refusal, Refusal) else "No such")[2]
    assert list(tmp_path.iterdir()) == [], "nothing was begun"


SUITE = "title = 'x'\n[[requests]]\nworkload = 'stream'\nknobs = { KNOB }\n"
QUESTION = """question = "Is b faster?"
[baseline]
which = "a"
[measures.m]
workload = "stream"
[factors.which]
a = {}
b = { knobs = { KNOB } }
"""


@pytest.mark.parametrize(
    ("knob", "said"),
    [
        ("kernel = 'traid'", "invalid value kernel=traid; did you mean triad?"),
        ("byets = '1MiB'", "node/stream has no knob 'byets'; did you mean bytes?"),
        ("bytes = '1e30'", "not an integer number of bytes"),
        ("bytes = '1KiB'", "bytes=1KiB is out of range (the minimum is 3KiB)"),
        ("threads = '5000'", "(the maximum is 4096)"),
        ("pages = '3KiB'", "pages"),
        ("groups = '9'", "groups"),
    ],
)
@pytest.mark.parametrize("command", ["evaluate --suite", "study run"])
def test_a_knob_of_a_file_is_checked_before_there_is_a_run(
    command: str, knob: str, said: str, kernels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OCTANT_KERNELS", str(kernels))
    monkeypatch.setenv("OCTANT_STORE", str(tmp_path / "store"))
    file = tmp_path / "mine.toml"
    file.write_text((SUITE if "evaluate" in command else QUESTION).replace("KNOB", knob), encoding="utf-8")
    result = typer.testing.CliRunner().invoke(application(), [*command.split(), str(file)])
    assert isinstance(result.exception, Refusal), result.output
    assert said in str(result.exception)
    assert result.exception.code == Exit.WRONG_WORD
    assert not (tmp_path / "store").exists()


def test_a_stored_run_with_a_knob_that_no_kernel_takes_starts_nothing(
    octant: Octant, environment: Mapping[str, str]
) -> None:
    assert octant("run", "stream", "bytes=1MiB", "seconds=0.01", "--repeats=1").returncode == 0
    (run,) = Store(Path(environment["OCTANT_STORE"])).runs()
    asked = run.folder / "asked.json"
    asked.write_text(asked.read_text().replace('"1MiB"', '"1e30"'))
    run.records.write_text("")
    done = octant("resume")
    assert done.returncode == Exit.WRONG_WORD
    assert "cannot set bytes" in done.stderr
    assert not run.records.read_text()
