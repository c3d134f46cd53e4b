"""The head of a batch script (`#SBATCH --ntasks=8`), which one launcher reads and which others see through the job."""

import re
import shlex
from collections.abc import Sequence

_HEAD = re.compile(r"#(SBATCH|PBS|BSUB|COBALT|PJM|flux:|MSUB|OAR|\$(?=\s+-))\s*(.*)")
"""Comment lines with options of Slurm, PBS, LSF, Cobalt, Fujitsu TCS, Flux, Moab, OAR and Grid Engine."""
_SIZE = re.compile(
    r"-[nNcBlLR]|-(nn|tm|cores|pe|nnodes)|--?(nodes?|n?tasks?|cpus?|cores?|slots|procs?|mpi|hint|sockets?|threads?|"
    r"exclusive|overcommit|distribution|nslots|resources?|use-min)"
)
_NODES = re.compile(r"(?:-N|--nodes|-nnodes|-l\s*(?:select|nodes)|--nodecount|-nn|-n)[ =]*(\d+)")
_WHOSE = {"SBATCH": r"\bslurm$", "flux:": r"\bflux$"}


def account_heads(comments: Sequence[str], module: str, title: str, *, counted: bool | None) -> list[str]:
    """Return the remarks on lines of a batch script's head that the launcher's reader does not read.

    Args:
        comments: comment lines.
        module: the name of the launcher's file.
        title: of the launcher.
        counted: whether the launcher's own options state the number of ranks; `None`: it starts none.

    Raises:
        ValueError: a line may decide how many ranks the launcher starts on a node.
    """
    listed: list[str] = []
    for line in comments:
        found = _HEAD.match(line)
        if found is None or re.search(_WHOSE.get(found[1], "(?!)"), module):
            continue
        options = found[2].split("#")[0].strip()
        if counted is not None and not listed_only(found[1], options, counted=counted):
            raise ValueError(
                f"cannot interpret this line: #{found[1]} {options} may set the number of ranks that {title} "
                "starts on a node; state that number in the launcher's options and remove this line"
            )
        listed.append(f"#{found[1]} {options}")
    return [f"not used for the placement: {', '.join(dict.fromkeys(listed))} (options of the job)"] if listed else []


def listed_only(system: str, options: str, *, counted: bool) -> bool:
    """Return whether options of a batch system leave the number of ranks on a node as the launcher's options say."""
    try:
        words = shlex.split(options)
    except ValueError:
        words = options.split()
    if not any(_SIZE.match(word) for word in words):
        return True
    if not counted:
        return False
    nodes = _NODES.search(options) if system != "SBATCH" else re.search(r"(?:-N|--nodes)[ =]*(\d+)", options)
    return nodes is None or (system == "BSUB" and "-nnodes" not in options) or nodes[1] == "1"
