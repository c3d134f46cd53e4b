"""Declared memory and duration of a cell, and the check that it fits into memory."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from octant import launchers, units, workloads
from octant.build.describe import default_knobs, pace
from octant.failure import Exit, Refusal
from octant.machine import Machine
from octant.request import Request
from octant.step import NOT_KNOWN, Step, StepError, checked

SLOWEST = {"flops": 2e8, "bytes": 1e7, "filled": 1e7, "": 1e6}
"""Counts per second, far below those of any machine: operations of a hardware thread; bytes of a node in memory, files
and messages; bytes of memory initialisation; anything else."""
USUAL = {"flops": 2e10, "bytes": 1e10, "filled": 1e9, "": 1e8}
"""Counts per second of a typical server, in the same order."""
STEPS = {"chunks": 3, "steps": 7, "whole": 1}
"""Number of steps that a kernel makes if one step exceeds the time budget: calibration and one burst."""
SPARE = 3
"""Upper limit of the number of steps, relative to `STEPS`: a burst without phase marks, and the verification."""
_SIZES = ("n", "bytes", "count")
"""Knobs that may determine the memory size of a workload."""
_ALLOCATED = ("PBS_NODEFILE", "LSB_DJOB_HOSTFILE")
"""Variables of an allocation whose nodes mpiexec uses without an option."""
_SYSTEM_PAGES = frozenset({"default", "base", "thp", "try-thp"})
"""Values of `pages` that do not use a pool of huge pages."""


@dataclass(frozen=True)
class CellCost:
    """The declared step of a cell, and how often it is executed."""

    step: Step  # of one group
    groups: int  # that run at the same time
    workers: int  # threads of all working ranks
    steps: int  # that the kernel makes if one exceeds its budget

    @property
    def bytes_held(self) -> int:
        """Memory of all groups, in bytes."""
        return self.step.bytes_held * self.groups

    def beyond_s(self, budget_s: float, rates: Mapping[str, float] = USUAL, hardware_threads: int = 0) -> float:
        """Estimate the time for memory initialisation and for steps beyond their budget, in seconds.

        Args:
            budget_s: time budget of the steps.
            rates: counts per second, as `USUAL`.
            hardware_threads: number that all ranks may use together; 0: one per thread.
        """
        each = min(self.workers, hardware_threads or self.workers)
        counts = {"messages": self.step.messages, "bytes_sent": self.step.bytes_sent, **self.step.counts}
        step_s = 0.0
        for name, count in counts.items():
            kind = next((kind for kind in ("flops", "bytes") if kind in name), "")
            step_s += self.groups * count / (rates[kind] * (each if kind == "flops" else 1))
        return self.bytes_held / rates["filled"] + max(0.0, self.steps * step_s - budget_s)

    def longest_s(self, hardware_threads: int = 0) -> float:
        """Return an upper limit of the same time, on a machine far slower than any."""
        return SPARE * self.beyond_s(0.0, SLOWEST, hardware_threads)


def declared_cost(request: Request, cell: Mapping[str, str]) -> CellCost | None:
    """Return the declared cost of a cell; `None`: the workload declares no step, or its kernel is not available."""
    try:
        return _declared_cost(request, cell)
    except NOT_KNOWN:  # a value that only the kernel can read, or an unusable step: see `list_step_errors`
        return None


def list_step_errors(requests: Sequence[Request]) -> tuple[str, ...]:
    """Return one message per workload whose step is unusable, so that its memory is not checked."""
    found: dict[str, None] = {}
    for request in {one.subject.name: one for one in reversed(requests)}.values():
        try:
            _declared_cost(request, next(iter(request.cells())))
        except StepError as error:
            name = request.subject.name
            found[f"{name}: memory check and time estimate are not available (its step.py is unusable: {error})"] = None
        except NOT_KNOWN:
            pass
    return tuple(found)


def _declared_cost(request: Request, cell: Mapping[str, str]) -> CellCost | None:
    """Return the declared cost of a cell.

    Raises:
        StepError: the step is unusable; LookupError, ValueError, ArithmeticError: it is not known for this cell.
    """
    found = workloads.workloads().get(request.subject.workload)
    if found is None or found.step is None:
        return None
    defaults = default_knobs(found.name)
    if not defaults:
        return None
    knobs = {**defaults, **cell}
    ranks, groups = _groups(knobs["groups"], request.shape.ranks)
    threads = int(knobs["threads"])
    steps = STEPS.get(pace(found.name, knobs), STEPS["steps"]) + int(knobs.get("warmup", "0"))
    return CellCost(checked(found.step)(knobs, ranks, threads), groups, ranks * groups * threads, steps)


def _groups(text: str, ranks: int) -> tuple[int, int]:
    """Return the number of ranks per group and of groups; for pairs, whose number depends on the pattern, one group."""
    if text == "all":
        return ranks, 1
    if text.startswith("first:"):
        return int(text[6:]), 1
    if text.isdecimal():
        return int(text), ranks // int(text)
    if ":" in text or text == "mirror":
        return 2, 1
    lists = text.split("/")
    return max(one.count("+") + 1 for one in lists), len(lists)


def check_memory(request: Request, machine: Machine) -> None:
    """Check that every cell of a request fits into the available memory.

    Kernels check again when they allocate (native/harness/available_memory.cpp), each on its own node.

    Raises:
        Refusal: a cell needs more; the message states the required and the available bytes.
    """
    for cell in request.cells():
        if why := memory_shortfall(request, cell, machine):
            raise Refusal(f"cannot run {request.subject.name}{why}", Exit.NOT_SUPPORTED)


def explain_no_fit(request: Request, machine: Machine) -> str:
    """Return why no cell of a request fits into memory; "" if one fits or nothing is known."""
    reasons = [memory_shortfall(request, cell, machine) for cell in request.cells()]
    return f"not enough memory{reasons[0]}" if all(reasons) else ""


def memory_shortfall(request: Request, cell: Mapping[str, str], machine: Machine) -> str:
    """Return why a cell does not fit into memory, and what to do; "" if it fits or nothing is known."""
    available = _available_bytes(request, cell, machine)
    found = declared_cost(request, cell) if available is not None else None
    if found is None or available is None or found.bytes_held <= available:
        return ""
    text = " ".join(f"{name}={value}" for name, value in cell.items() if "," in request.knobs[name])
    ranks = units.counted(request.shape.ranks, "rank")
    knobs = {**default_knobs(request.subject.workload), **cell}
    size = next((f"a smaller {name}" for name in _SIZES if _halved(request, knobs, name) < found.bytes_held), "")
    fewer = " or ".join(filter(None, [size, "fewer ranks" * (request.shape.ranks > 1)])) or "smaller knobs"
    held, left = units.counted_bytes_text(found.bytes_held), units.counted_bytes_text(available)
    where = f" with {text}" if text else ""
    return f"{where} ({ranks} would need {held}, and {left} are available); try {fewer}"


def _halved(request: Request, knobs: Mapping[str, str], name: str) -> float:
    """Return the memory of a cell with half of a knob: infinite without the knob, 0 if it is not known."""
    if name not in knobs:
        return math.inf
    try:
        found = declared_cost(request, {**knobs, name: str(units.parse_bytes(knobs[name]) // 2)})
    except ValueError:
        return 0
    return found.bytes_held if found else 0


def _available_bytes(request: Request, cell: Mapping[str, str], machine: Machine) -> int | None:
    """Return the memory that is available to a launch; `None`: unknown nodes, or memory of a page pool."""
    shape = request.shape
    if cell.get("pages", "default") not in _SYSTEM_PAGES:
        return None
    name = launchers.chosen(shape.launcher, launchers.JobSize(shape.ranks, hosts=shape.hosts))
    if not shape.hosts and (name not in ("direct", "mpiexec") or any(map(os.environ.get, _ALLOCATED))):
        return None
    left = machine.system.get("available_memory_bytes", "")
    available = int(left) if left.isdecimal() else machine.memory_bytes
    policy, _, nodes = cell.get("memory", "").partition(":")
    if policy == "bind":
        bound = {int(node) for node in nodes.split("+") if node.isdecimal()}
        sizes = [one.memory_bytes for one in machine.topology.numa if one.os in bound]
        known = [size for size in [available, sum(size or 0 for size in sizes)] if size is not None]
        available = available if None in sizes else min(known)
    return None if available is None else available * max(1, len(shape.hosts))
