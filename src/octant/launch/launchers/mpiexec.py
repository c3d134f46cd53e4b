"""`mpiexec` of MPICH, Open MPI or Intel MPI: told apart by what they say they are, not by their name."""

import os
from collections.abc import Mapping, Sequence

from octant.failure import Exit, Refusal
from octant.launch.launchers import JobSize
from octant.launch.launchers._flavour import Flavour, find, flavour


def at_hand(_environment: Mapping[str, str]) -> bool:
    """Never by itself: it is what is used where no allocation is."""
    return False


def command(program: Sequence[str], size: JobSize) -> list[str]:
    """Ranks on this node or on the hosts, bound by Octant itself and not by the launcher.

    Raises:
        Refusal: no mpiexec, or more ranks on this node than an MPI that spins can bear.
    """
    mpiexec = find()
    implementation = flavour(mpiexec)
    if not size.hosts:
        refuse_spinning(implementation, size, len(os.sched_getaffinity(0)))
    return [str(mpiexec), *options(implementation, size, root=os.geteuid() == 0), *program]


def refuse_spinning(implementation: Flavour, size: JobSize, cpus: int) -> None:
    """MPICH's ranks wait by spinning, so with more of them than hardware threads they wait for each other's time slice.

    Raises:
        Refusal: that would happen.
    """
    if implementation != "openmpi" and size.ranks > cpus:
        raise Refusal(
            f"cannot start {size.ranks} ranks on {cpus} hardware threads with {implementation} (its ranks spin while "
            "they wait, and would time the scheduler); try the Open MPI flavour (`make openmpi`), which yields",
            Exit.NOT_SUPPORTED,
        )


YIELD = "OMPI_MCA_mpi_yield_when_idle"


def yielding(size: JobSize) -> dict[str, str]:
    """What lets waiting threads give up their core where there are more of them on this node than hardware threads.

    Open MPI does so by itself where there are more ranks; threads it does not see.

    Raises:
        Refusal: no mpiexec.
    """
    crowded = size.cpus_per_rank > 1 and size.ranks * size.cpus_per_rank > len(os.sched_getaffinity(0))
    if not crowded or size.hosts or YIELD in os.environ or flavour(find()) != "openmpi":
        return {}
    return {YIELD: "1"}


def options(implementation: Flavour, size: JobSize, root: bool = False) -> list[str]:
    """The launcher's words for unbound ranks: on this node, or the same number on each host, filling host by host."""
    ranks = str(size.ranks)
    per_host = -(-size.ranks // len(size.hosts)) if size.hosts else None
    if implementation == "openmpi":
        where = ["--host", ",".join(f"{host}:{per_host}" for host in size.hosts)] if size.hosts else []
        for name in size.exported if size.hosts else ():
            where += ["-x", name]
        allow = ["--allow-run-as-root"] if root else []
        return [*allow, "-n", ranks, *where, "--bind-to", "none", "--map-by", ":OVERSUBSCRIBE"]
    if implementation == "pals":
        where = ["--hosts", ",".join(size.hosts), "--ppn", str(per_host)] if size.hosts else []
        return ["-n", ranks, *where, "--cpu-bind", "none", "--mem-bind", "none"]
    where = ["-hosts", ",".join(size.hosts), "-ppn", str(per_host)] if size.hosts else []
    where += ["-launcher", "ssh", "-launcher-exec", size.ssh] if size.ssh else []
    bind = ["-genv", "I_MPI_PIN", "off"] if implementation == "intelmpi" else ["-bind-to", "none"]
    return ["-n", ranks, *where, *bind]
