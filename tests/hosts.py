"""Hosts of our own: network namespaces joined by a veth pair with a delay, and an agent that stands in for ssh."""

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


class NoHosts(Exception):  # noqa: N818 - a reason to skip, not a fault
    """Why there can be no such hosts here."""


@dataclass(frozen=True)
class Hosts:
    """Two namespaces, the addresses that ranks use, and the program that stands in for `ssh`."""

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
    daemon = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:" + os.environ["PATH"])
    if daemon is None or shutil.which("ssh") is None:
        raise NoHosts("no sshd and ssh; try `make sshd` (Debian's openssh-server; root)")
    for name in ("host", "user"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(folder / name)]
        subprocess.run(words, check=True, stdin=subprocess.DEVNULL)
    with contextlib.ExitStack() as stack:
        for name, address in zip(made.names, made.addresses, strict=True):
            config, log = folder / f"{name}.conf", folder / f"{name}.log"
            config.write_text(SSHD.format(address=address, port=_SSH_PORT, folder=folder))
            # Its mounts are its own here, so that the folder that it insists on is made in nobody's sight.
            start = f"mount -t tmpfs tmpfs /run && mkdir /run/sshd && hostname {name} && exec {daemon} -D -f '{config}'"
            words = ["ip", "netns", "exec", name, "unshare", "--uts", "sh", "-c", f"{start} -E '{log}'"]
            process = stack.enter_context(subprocess.Popen(words, stderr=subprocess.DEVNULL))
            stack.callback(process.kill)
            _wait_for_sshd(name, address, process, log)
        agent = folder / "ssh"
        agent.write_text(SSH.format(port=_SSH_PORT, folder=folder))
        agent.chmod(0o755)
        yield agent


def _wait_for_sshd(name: str, address: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    end = time.monotonic() + 20
    while process.poll() is None and time.monotonic() < end:
        listening = subprocess.run(
            ["ip", "netns", "exec", name, "ss", "-Hltn"], capture_output=True, text=True, check=False
        )
        if f"{address}:{_SSH_PORT}" in listening.stdout:
            return
        time.sleep(0.05)
    said = log.read_text().strip().splitlines() if log.exists() else []
    raise NoHosts(f"sshd does not start here ({said[-1] if said else 'it said nothing'})")


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
