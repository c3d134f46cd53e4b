"""A Slurm of our own on this machine: munge, controller and node daemons in a folder, on loopback, all ended again.

Its nodes are this machine, or a machine that does not exist (`Pretended`).
"""

import contextlib
import os
import random
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sbatch", "sinfo")

CONF = """\
ClusterName=octant
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdPidFile={folder}/%n.pid
SlurmdLogFile={folder}/%n.log
SlurmdSpoolDir={folder}/%n.spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SelectType=select/cons_tres
SelectTypeParameters={select}
MpiDefault=none
ReturnToService=2
KillWait=5
# Whose patience must outlast a busy machine.
MessageTimeout=60
TCPTimeout=30
BatchStartTimeout=60
UnkillableStepTimeout=300
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=10 State=UP OverSubscribe=YES:8
{more}
"""


@dataclass(frozen=True)
class Pretended:
    """A machine that the node daemons believe in; `shim` is the library made of pretended_node.c."""

    xml: Path  # the topology as hwloc XML
    cpus: Path  # a line "CPU NODE" for each CPU
    masks: Path  # folder for the masks of the tasks
    shim: Path
    node: str  # its numbers as slurm.conf states them: "Sockets=2 CoresPerSocket=4 ThreadsPerCore=2"

    def environment(self) -> dict[str, str]:
        """Return the variables under which slurmd and its steps believe in the machine."""
        hwloc = {"HWLOC_XMLFILE": str(self.xml), "HWLOC_THISSYSTEM": "1", "LD_PRELOAD": str(self.shim)}
        return {**hwloc, "OCTANT_PRETENDED": str(self.cpus), "OCTANT_MASKS": str(self.masks)}


class NoCluster(Exception):  # noqa: N818 - a reason to skip, not a fault
    """Why there can be no Slurm here."""


def free_ports(count: int) -> list[int]:
    """Ports below those that the system assigns automatically, so that no other process gets them meanwhile."""
    first = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    found: list[int] = []
    for port in random.sample(range(first - 4096, first), 200):
        with contextlib.suppress(OSError), socket.socket() as one:
            one.bind(("127.0.0.1", port))
            found.append(port)
        if len(found) == count:
            return found
    raise NoCluster("no free ports")


@contextlib.contextmanager
def slurm(
    folder: Path, nodes: int, pretended: Pretended | None = None, select: str = "CR_Core", more: str = ""
) -> Iterator[Mapping[str, str]]:
    """Variables under which `srun` and `sbatch` speak to a cluster of `nodes` nodes, each of which is this machine.

    Args:
        folder: for everything that the daemons write.
        nodes: number of nodes.
        pretended: the machine that each node is instead of this one.
        select: SelectTypeParameters of slurm.conf.
        more: further lines of slurm.conf.

    Raises:
        NoCluster: not root, Slurm is not installed, or its daemons do not come up.
    """
    if os.geteuid() != 0:
        raise NoCluster("needs root: Slurm's daemons change users")
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing:
        raise NoCluster(f"{', '.join(missing)} not installed; try `make slurm`")
    folder.chmod(0o755)
    (folder / "munge.key").write_bytes(secrets.token_bytes(128))
    (folder / "munge.key").chmod(0o400)
    controller, *ports = free_ports(nodes + 1)
    host, cpus = socket.gethostname().split(".")[0], len(os.sched_getaffinity(0))
    described = pretended.node if pretended else f"CPUs={cpus}"
    more += "\nSlurmdParameters=config_overrides" if pretended else ""
    lines = [
        f"NodeName=n{i} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} {described} State=UNKNOWN"
        for i, port in enumerate(ports)
    ]
    conf = folder / "slurm.conf"
    conf.write_text(
        CONF.format(host=host, port=controller, folder=folder, nodes="\n".join(lines), select=select, more=more)
    )
    munge = ["munged", "-F", "--force", f"--socket={folder}/munge.socket", f"--key-file={folder}/munge.key"]
    munge += [f"--{what}={folder}/munge.{what}" for what in ("pid-file", "log-file", "seed-file")]
    commands = [munge, ["slurmctld", "-D", "-i", "-f", str(conf)]]
    commands += [["slurmd", "-D", "-N", f"n{i}", "-f", str(conf)] for i in range(nodes)]
    environment = {**os.environ, "SLURM_CONF": str(conf)}
    with contextlib.ExitStack() as stack:
        for words in commands:
            own = pretended.environment() if pretended and words[0] == "slurmd" else {}
            stack.enter_context(_daemon(words, environment | own))
            if words is munge:  # the others end at once where it does not answer yet
                _wait_for(folder / "munge.socket")
        _wait_until_idle(environment, nodes, folder)
        yield {"SLURM_CONF": str(conf)}
        subprocess.run(["scancel", "--user=root"], env=environment, check=False, timeout=20)


@contextlib.contextmanager
def _daemon(words: list[str], environment: Mapping[str, str]) -> Iterator[None]:
    process = subprocess.Popen(
        words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        yield
    finally:
        for sign in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, sign)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)


def _wait_for(path: Path) -> None:
    end = time.monotonic() + 30
    while not path.exists():
        if time.monotonic() > end:
            raise NoCluster(f"munged made no {path}")
        time.sleep(0.05)


def _wait_until_idle(environment: Mapping[str, str], nodes: int, folder: Path) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        shown = subprocess.run(
            ["sinfo", "-h", "-N", "-o", "%T"], env=environment, capture_output=True, text=True, check=False, timeout=20
        )
        if shown.stdout.split() == ["idle"] * nodes:
            return
        time.sleep(0.5)
    log = (folder / "n0.log").read_text().splitlines() if (folder / "n0.log").exists() else []
    said = (shown.stdout + shown.stderr).strip().replace("\n", ", ")
    raise NoCluster(f"Slurm's nodes did not come up ({said}; {log[-1] if log else 'no log'})")
