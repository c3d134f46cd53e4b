"""Commands that advice gives and that can be tried without root: each in a process of its own. Live only.

A container may refuse what a plain system allows (its filter of system calls, its hard limits), and the effect of a
variable depends on the runtime.
"""

import os
import sys

from octant.software.command import answer

FIXED_ADDRESSES = "setarch --addr-no-randomize"
LARGE_STACK = "ulimit -s unlimited"
BINDING = "OMP_PLACES=cores OMP_PROC_BIND=close"

_FIRST_THREAD = """
import ctypes, os
ctypes.CDLL("libgomp.so.1")  # binds the first thread when it is loaded
print(len(os.sched_getaffinity(0)))
"""


def tried(cores: int) -> dict[str, str]:
    """Commands with what they came to here: the empty text where they had their effect, else the reason.

    Variables that cannot be tried here are skipped.

    Args:
        cores: that this process may use.
    """
    found = {
        FIXED_ADDRESSES: _reason(*FIXED_ADDRESSES.split(), "true"),
        LARGE_STACK: _reason("sh", "-c", LARGE_STACK),
    }
    if cores > 1 and (binding := _binding()) is not None:
        found[BINDING] = binding
    return found


def _reason(*command: str) -> str:
    code, text = answer(command)
    return (text.splitlines() or [f"exit code {code}"])[-1].rpartition(": ")[2] if code else ""


def _binding() -> str | None:
    """Return how the OpenMP runtime of GNU applies the variables; `None` if it is not installed."""
    others = {name: None for name in os.environ if name.startswith(("OMP_", "GOMP_"))}
    asked = dict(pair.split("=") for pair in BINDING.split())
    command = [sys.executable, "-c", _FIRST_THREAD]
    (no, free), (code, bound) = answer(command, others), answer(command, {**others, **asked})
    if no or code:
        return None
    return "" if int(bound) < int(free) else "the OpenMP runtime of GNU does not bind its first thread"
