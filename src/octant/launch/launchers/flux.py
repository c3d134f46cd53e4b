"""Flux: `flux run` inside an instance."""

import shutil
from collections.abc import Mapping, Sequence

from octant.failure import Exit, Refusal
from octant.launch.launchers import JobSize


def at_hand(environment: Mapping[str, str]) -> bool:
    """Inside a Flux instance."""
    return "FLUX_URI" in environment


def command(program: Sequence[str], size: JobSize) -> list[str]:
    """A job of the instance that we are in.

    Raises:
        Refusal: no flux here, or hosts by name, which Flux chooses itself.
    """
    flux = shutil.which("flux")
    if flux is None:
        raise Refusal("cannot launch with flux (it is not on PATH); try --launcher mpiexec")
    if size.hosts:
        raise Refusal("cannot name hosts to flux (it chooses them); drop --hosts", Exit.WRONG_WORD)
    return [flux, *options(size), *program]


def options(size: JobSize) -> list[str]:
    """The words for ranks that Flux does not bind."""
    nodes = [f"--nodes={size.nodes}"] if size.nodes else []
    return [
        "run",
        f"--ntasks={size.ranks}",
        f"--cores-per-task={size.cpus_per_rank}",
        *nodes,
        "--setopt=cpu-affinity=off",
        "--setopt=mpibind=off",
        "--setopt=exit-on-error",
    ]
