"""SimGrid's `smpirun`: ranks on the hosts of a simulated platform."""

import functools
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from octant.failure import Exit, Refusal

LIKE_FOR_LIKE = {
    "network/model": "CM02",  # plain max-min sharing: no factors by message size from some old cluster
    "network/crosstraffic": "0",  # no acknowledgements on the way back
    "network/TCP-gamma": "1e18",  # no window
    "smpi/simulate-computation": "no",  # what the host computes takes no simulated time
    "smpi/host-speed": "1Gf",
    "surf/precision": "1e-12",
}


def find() -> Path:
    """Return the path of smpirun.

    Raises:
        Refusal: not installed.
    """
    found = shutil.which("smpirun")
    if found is None:
        raise Refusal(
            "cannot run SimGrid (smpirun is not on PATH); run `make simgrid` as root (package libsimgrid-dev "
            "of Debian)",
            Exit.NOT_SUPPORTED,
        )
    return Path(found)


@functools.cache
def version() -> str:
    """Return the version text of SimGrid: `SimGrid version 3.32`."""
    shown = subprocess.run([str(find()), "--version"], capture_output=True, text=True, timeout=20, check=False)  # noqa: S603 - a fixed word
    return (shown.stdout or shown.stderr).strip().splitlines()[0]


def command(program: Sequence[str], ranks: int, platform: Path, hosts: Path) -> list[str]:
    """Return the command line for `ranks` ranks, round-robin on the hosts of a file, without SimGrid's factors."""
    words = [f"--cfg={name}:{value}" for name, value in LIKE_FOR_LIKE.items()]
    places = ["-platform", str(platform), "-hostfile", str(hosts)]
    return [str(find()), "-np", str(ranks), *places, *words, "--log=root.thresh:error", *program]
