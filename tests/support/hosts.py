"""Emulated hosts: network namespaces joined by a veth pair with a delay, and an agent that replaces ssh."""

import contextlib
import os
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from slurm_cluster import free_ports


class NoHosts(Exception):  # noqa: N818 - a reason to skip, not a fault
    """Why there can be no such hosts here."""


@dataclass(frozen=True)
class Hosts:
    """Two namespaces, the addresses that ranks use, and the program that replaces `ssh`."""

    names: tuple[str, str]
    addresses: tuple[str, str]
    interfaces: tuple[str, str]
    agent: Path  # AGENT [options] ADDRESS COMMAND…: runs the command's words in that address's namespace
    delay_ms: float  # each way; 0 where the kernel has no netem
    python: Path = Path(sys.executable)  # of the environment whose MPI is used


AGENT = """\
#!/bin/sh
# Called as ssh is: options, the host, then the command's words, which a shell on that host would read.
while :; do case "$1" in -x|-q) shift;; *) break;; esac; done
case "$1" in {cases} *) echo "agent: no host $1" >&2; exit 255;; esac
shift
exec ip netns exec "$name" unshare --uts sh -c "hostname $name; $*"
"""


def received_bytes(namespace: str, interface: str) -> int:
    """What has come in at an interface so far."""
    path = f"/sys/class/net/{interface}/statistics/rx_bytes"
    found = subprocess.run(["ip", "netns", "exec", namespace, "cat", path], capture_output=True, text=True, check=True)
    return int(found.stdout)


def _ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NoHosts(f"`ip {' '.join(words)}` is refused here ({done.stderr.strip()})")


@contextlib.contextmanager
def hosts(folder: Path, delay_ms: float) -> Iterator[Hosts]:
    """Two hosts, `delay_ms` apart each way if the kernel can; gone afterwards, whatever happened.

    Raises:
        NoHosts: not root, no iproute2, or namespaces are not allowed here.
    """
    if os.geteuid() != 0 or shutil.which("ip") is None or shutil.which("tc") is None:
        raise NoHosts("needs root, and ip and tc of iproute2")
    mark, net = secrets.token_hex(2), secrets.randbelow(200) + 20
    names, interfaces = (f"octant-{mark}a", f"octant-{mark}b"), (f"o{mark}a", f"o{mark}b")
    addresses = (f"10.231.{net}.1", f"10.231.{net}.2")
    with contextlib.ExitStack() as stack:
        for name in names:
            _ip("netns", "add", name)
            stack.callback(_remove, name)
        _ip(
            "link",
            "add",
            interfaces[0],
            "netns",
            names[0],
            "type",
            "veth",
            "peer",
            "name",
            interfaces[1],
            "netns",
            names[1],
        )
        for name, interface, address in zip(names, interfaces, addresses, strict=True):
            _ip("-n", name, "addr", "add", f"{address}/24", "dev", interface)
            _ip("-n", name, "link", "set", interface, "up")
            _ip("-n", name, "link", "set", "lo", "up")
            netem = ["tc", "-n", name, "qdisc", "add", "dev", interface, "root", "netem", "delay", f"{delay_ms}ms"]
            if subprocess.run(netem, capture_output=True, check=False).returncode != 0:
                delay_ms = 0.0  # this kernel has no netem: hosts as near as the machine makes them
        for name, interface in zip(names, interfaces, strict=True):
            _wait_for_carrier(name, interface)
        agent = folder / "agent"
        cases = " ".join(f"{a}) name={n};;" for a, n in zip(addresses, names, strict=True))
        agent.write_text(AGENT.format(cases=cases))
        agent.chmod(0o755)
        yield Hosts(names, addresses, interfaces, agent, delay_ms)


SSHD = """\
ListenAddress {address}
Port {port}
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
"""
SSH = """\
#!/bin/sh
exec ssh -F none -p {port} -i {folder}/user -o IdentitiesOnly=yes -o IdentityAgent=none -o BatchMode=yes \\
  -o ConnectTimeout=5 -o StrictHostKeyChecking=no -o UserKnownHostsFile={folder}/known -o LogLevel=ERROR "$@"
"""
_SSH_PORT = 2222  # each namespace has ports of its own


@contextlib.contextmanager
def real_ssh(made: Hosts, folder: Path) -> Iterator[Path]:
    """An sshd on both hosts with keys of its own, and the program that reaches them; gone afterwards.

    Raises:
        NoHosts: OpenSSH is not installed, or its daemon does not start here.
    """
    with contextlib.ExitStack() as stack:
        agent = _ssh(folder, _SSH_PORT)
        for name, address in zip(made.names, made.addresses, strict=True):
            named = ["unshare", "--uts", "sh", "-c", f'hostname {name}; exec "$@"', "sh"]
            stack.enter_context(_sshd(folder, address, _SSH_PORT, ["ip", "netns", "exec", name, *named]))
        yield agent


@contextlib.contextmanager
def loopback_ssh(folder: Path) -> Iterator[Path]:
    """An sshd at 127.0.0.2, which needs no root, and the program that reaches it; gone afterwards.

    Raises:
        NoHosts: OpenSSH is not installed, or does not let us in here.
    """
    (port,) = free_ports(1)
    agent = _ssh(folder, port)
    with _sshd(folder, "127.0.0.2", port, ["unshare", "--mount"] if os.geteuid() == 0 else []):
        tried = subprocess.run([agent, "127.0.0.2", "true"], capture_output=True, text=True, check=False, timeout=60)
        if tried.returncode != 0:
            raise NoHosts(f"sshd does not let us in ({tried.stderr.strip()})")
        yield agent


def _ssh(folder: Path, port: int) -> Path:
    if shutil.which("ssh") is None:
        raise NoHosts("no ssh; try `make sshd` (Debian's openssh-client; root)")
    for name in ("host", "user"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(folder / name)]
        subprocess.run(words, check=True, stdin=subprocess.DEVNULL)
    agent = folder / "ssh"
    agent.write_text(SSH.format(port=port, folder=folder))
    agent.chmod(0o755)
    return agent


@contextlib.contextmanager
def _sshd(folder: Path, address: str, port: int, within: list[str]) -> Iterator[None]:
    """A daemon, started by the words `within`; root's has mounts of its own there."""
    daemon = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:" + os.environ["PATH"])
    if daemon is None:
        raise NoHosts("no sshd; try `make sshd` (Debian's openssh-server; root)")
    config, log = folder / f"{address}.conf", folder / f"{address}.log"
    config.write_text(SSHD.format(address=address, port=port, folder=folder))
    # Root's daemon insists on a folder of its own, which is made where no other process sees it.
    made = "mount -t tmpfs tmpfs /run && mkdir /run/sshd && " if os.geteuid() == 0 else ""
    words = [*within, "sh", "-c", f"{made}exec {daemon} -D -f '{config}' -E '{log}'"]
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as process:
        try:
            end = time.monotonic() + 30
            while not (log.exists() and "Server listening" in log.read_text()):
                if process.poll() is not None or time.monotonic() > end:
                    said = log.read_text().strip().splitlines() if log.exists() else []
                    raise NoHosts(f"sshd does not start here ({said[-1] if said else 'it said nothing'})")
                time.sleep(0.05)
            yield
        finally:
            process.kill()


def _wait_for_carrier(name: str, interface: str) -> None:
    """The kernel says up to a second late that a link carries; until then transports leave it out."""
    end = time.monotonic() + 5
    while time.monotonic() < end:
        words = ["ip", "-n", name, "-o", "link", "show", interface]
        if "state UP" in subprocess.run(words, capture_output=True, text=True, check=False).stdout:
            return
        time.sleep(0.05)
    raise NoHosts(f"{interface} never came up")


def _remove(name: str) -> None:
    pids = subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True, check=False).stdout.split()
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(pid), 9)
    subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)
