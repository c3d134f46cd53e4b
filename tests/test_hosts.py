"""Several hosts, launched as over ssh: ranks land on both, talk over the wire between, and leave nothing behind."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from hosts import Hosts, NoHosts, hosts, received_bytes
from octant.store import Store

pytestmark = [pytest.mark.root, pytest.mark.mpi, pytest.mark.slow]


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Hosts]:
    try:
        with hosts(tmp_path, delay_ms=2.0) as made:
            yield made
    except NoHosts as reason:
        pytest.skip(str(reason))


def run(pair: Hosts, environment: Mapping[str, str], *words: str) -> "subprocess.CompletedProcess[str]":
    over_ssh = {"HYDRA_LAUNCHER": "ssh", "HYDRA_LAUNCHER_EXEC": str(pair.agent)}
    # Both hosts are one kernel, whose shared memory UCX and libfabric find and prefer to the wire.
    over_ssh |= {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": ",".join(pair.interfaces), "FI_PROVIDER": "tcp"}
    named = ["unshare", "--uts", "sh", "-c", f'hostname {pair.names[0]}; exec "$@"', "sh"]
    command = ["ip", "netns", "exec", pair.names[0], *named, sys.executable, "-m", "octant.cli", "run"]
    return subprocess.run(
        [*command, *words], env={**environment, **over_ssh}, capture_output=True, text=True, check=False, timeout=100
    )


def test_ping_pong_crosses_the_wire_between_two_hosts(pair: Hosts, environment: Mapping[str, str]) -> None:
    before = received_bytes(pair.names[1], pair.interfaces[1])
    words = ("pingpong", "bytes=64KiB", "seconds=0.2", "pin=none", "--ranks", "2")
    done = run(pair, environment, *words, "--hosts", ",".join(pair.addresses))
    (found,) = Store(Path(environment["OCTANT_STORE"])).runs()
    assert found.points, done.stderr
    (point,) = found.points
    assert [given.host for given in point.given] == list(pair.names)
    messages = len(point.lanes[0].duration_ns) * point.batch
    assert received_bytes(pair.names[1], pair.interfaces[1]) - before > messages * 64 * 1024
    if pair.delay_ms:
        assert min(point.lanes[0].duration_ns) / point.batch > 2 * pair.delay_ms * 1e6, "there and back again"


def test_a_placement_is_given_on_each_host(pair: Hosts, environment: Mapping[str, str]) -> None:
    cpu = min(os.sched_getaffinity(0))
    words = ("stream", "bytes=1MiB", "seconds=0.1", "--place", f"1x1,cpus={cpu}")
    done = run(pair, environment, *words, "--hosts", ",".join(pair.addresses))
    (found,) = Store(Path(environment["OCTANT_STORE"])).runs()
    assert found.points, done.stderr
    (point,) = found.points
    assert [(given.host, given.thread_masks) for given in point.given] == [(name, ((cpu,),)) for name in pair.names]
    assert point.mismatches == ()


def test_a_host_that_is_not_there_is_a_failure_with_its_reason(pair: Hosts, environment: Mapping[str, str]) -> None:
    words = ("stream", "bytes=1MiB", "seconds=0.1", "--ranks", "2", "--hosts", f"{pair.addresses[0]},10.231.5.5")
    done = run(pair, environment, *words)
    assert done.returncode == 1
    assert f"on {pair.addresses[0]}, 10.231.5.5: " in done.stderr


def test_nothing_is_left_even_where_a_test_fails(tmp_path: Path) -> None:
    def listed() -> str:
        return subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=False).stdout

    before = listed()
    try:
        with hosts(tmp_path, 0.5) as made:
            assert made.names[0] in listed()
            sleeper = subprocess.Popen(["ip", "netns", "exec", made.names[1], "sleep", "60"])
            raise RuntimeError
    except NoHosts as reason:
        pytest.skip(str(reason))
    except RuntimeError:
        pass
    assert sleeper.wait(10) == -9
    assert listed() == before
