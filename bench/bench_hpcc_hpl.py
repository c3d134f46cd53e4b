"""hpcc/hpl against HPL with the same BLAS library, interleaved, and against its own DGEMM.

python bench/bench_hpcc_hpl.py [--n 3000] [--block 128] [--rounds 3] [--ranks 1,2] [--real-time] [--xhpl PATH]

The peer is Debian's `hpcc` (`apt-get install hpcc libopenblas0-pthread`), whose other tests cannot be omitted. It
takes minutes, its HPL seconds. `--xhpl` names a build of HPL alone with the same MPI library, linked to
libblas.so.3. All call that library, with the kernels that OPENBLAS_CORETYPE names. The better of two factorisations in
a launch is used, on both sides. With --real-time (root) both have real-time priority, hpcc only for its HPL.
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _hpcc import ROOT, hasten, settings
from _kernel import points
from octant.software.blas import libraries, named

_REST_S = 1.0  # real-time priority is taken away from who has it for 0.95 s of a second


def peer(ranks: int, asked: argparse.Namespace, environment: dict[str, str]) -> float:
    """flop/s of the better of two factorisations in one start of the peer."""
    with tempfile.TemporaryDirectory() as folder:
        text = settings(asked.n, asked.block, 1, ranks, times=2)
        for name in ("hpccinf.txt", "HPL.dat"):
            (Path(folder) / name).write_text(text)
        if asked.xhpl:
            time.sleep(_REST_S)
            command = [*_launcher(ranks, asked.real_time, "-bind-to", "core"), asked.xhpl]
        else:
            command = ["mpirun.openmpi", "--bind-to", "core", "-n", str(ranks), "hpcc"]
        printed, report = Path(folder) / "printed", Path(folder) / "hpccoutf.txt"
        with (
            printed.open("w") as out,
            subprocess.Popen(command, cwd=folder, env={**environment, **ROOT}, stdout=out) as running,
        ):
            while running.poll() is None:
                if asked.real_time and report.exists() and "Begin of HPL section" in report.read_text():
                    hasten(running.pid)
                    running.wait()
                time.sleep(0.01)
        text = printed.read_text() + (report.read_text() if report.exists() else "")
    found = re.findall(r"^W\S+ +\d+ +\d+ +\d+ +\d+ +\S+ +(\S+)$", text, re.MULTILINE)
    if not found:
        raise SystemExit("the peer reported no HPL; run it by itself")
    return 1e9 * max(map(float, found))


def _launcher(ranks: int, real_time: bool, *bound: str) -> list[str]:
    mpiexec = [str(Path(sys.executable).parent / "mpiexec"), *bound, "-n", str(ranks)]
    return [*(["chrt", "-f", "1"] if real_time else []), *(mpiexec if ranks > 1 else [])]


def ours(ranks: int, library: str, asked: argparse.Namespace, environment: dict[str, str]) -> float:
    """flop/s of the better of two factorisations in one start."""
    words = [f"n={asked.n}", f"block={asked.block}", f"library={library}", f"grid=1x{ranks}"]
    words.append("pin=each" if ranks > 1 else "pin=none")  # as the peer: one rank alone is not bound
    launcher = _launcher(ranks, asked.real_time)
    time.sleep(_REST_S)
    done = points("hpcc/hpl", [*words, "warmup=1", "seconds=0.5", "samples=5"], launcher, environment)[0].read()
    steps = zip(*(one.values for one in done.series if one.head.name == "step"), strict=True)
    best_ns = min([max(step) for step in steps][1:3])
    return float((2 / 3 * asked.n**3 + 3 / 2 * asked.n**2) / (best_ns * 1e-9))


def gemm(ranks: int, library: str, asked: argparse.Namespace, environment: dict[str, str]) -> float:
    """flop/s of products in as many ranks at once, with n of half the order."""
    n = asked.n // 2
    words = [f"n={n}", f"library={library}", "seconds=0.2", "samples=5", "least=5"]
    done = points("node/gemm", words, _launcher(ranks, asked.real_time), environment)[0].read()
    rates = [2 * n**3 / (min(one.values) * 1e-9) for one in done.series if one.head.name in ("chunk", "step")]
    return float(sum(rates))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=int, default=3000)
    parser.add_argument("--block", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--ranks", default="1,2")
    parser.add_argument("--real-time", action="store_true")
    parser.add_argument("--xhpl", default="")
    asked = parser.parse_args()
    known = libraries()
    system = known.get("system") or known.get("openblas")
    if system is None or not (asked.xhpl or shutil.which("hpcc")):
        raise SystemExit("cannot compare (hpcc or BLAS is absent); try apt-get install hpcc libopenblas0-pthread")
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "OCTANT_BLAS": named(known)}
    for ranks in map(int, asked.ranks.split(",")):
        print(f"{ranks} ranks, n = {asked.n}, block = {asked.block}, {system}, load {os.getloadavg()[0]:.0f}")
        ratios, shares, quickest = [], [], []
        for _ in range(asked.rounds):
            theirs, mine = peer(ranks, asked, environment), ours(ranks, str(system), asked, environment)
            best = ours(ranks, "auto", asked, environment)
            product = gemm(ranks, str(system), asked, environment)
            ratios.append(mine / theirs)
            shares.append(mine / product)
            quickest.append(best / theirs)
            rates = f"ours {mine / 1e9:.1f}, with the quickest library {best / 1e9:.1f}, its {theirs / 1e9:.1f}"
            print(f"  {rates}, gemm {product / 1e9:.1f} Gflop/s")
        middle = [statistics.median(one) for one in (ratios, quickest, shares)]
        print(f"  ratio {middle[0]:.2f}, with the quickest library {middle[1]:.2f}; to gemm {middle[2]:.2f}")


if __name__ == "__main__":
    main()
