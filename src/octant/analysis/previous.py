"""The previous run: the last run of the same kind, to which a run is compared by default."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from octant.analysis.matching import are_interleaved, common_figures

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from octant.analysis.matching import Defaults
    from octant.store import StoredRun

MAX_READ = 200
"""Number of stored runs, newest first, that are searched."""
ENOUGH = 0.5
"""A run of the same kind with this fraction of the most common figures is chosen before an older one."""


@dataclass(frozen=True)
class PreviousRun:
    """The chosen run, and why it was chosen."""

    run: StoredRun
    common: int  # figures in common
    is_same_kind: bool
    kind: str

    @property
    def why(self) -> str:
        """The reason, for the user."""
        if self.is_same_kind:
            return f"the last earlier run of the same kind ({self.kind})"
        return f"no earlier run is of the same kind ({self.kind}); this one has the most common figures"


def kind_of(run: StoredRun) -> tuple[Hashable, ...]:
    """Return what a run measured: its benchmark, study, suite, or its workloads or commands.

    Runs with the same kind are of the same command, whatever its options. Paired rounds are of their own kind.
    """
    if run.imported:
        return ("import", *sorted({one.tool.partition(" ")[0] for one in run.imported}))
    paired = "compare" if run.pair else ""
    if run.study:
        return "study", run.study.name, paired
    if run.benchmark:
        return "benchmark", run.benchmark, paired
    if run.who.startswith("suite "):
        return "suite", run.who, paired
    subjects = {(one.subject.name, one.subject.command) for one in run.requests}
    return "run", tuple(sorted(subjects)), paired


def kind_text(run: StoredRun) -> str:
    """Return the kind of a run in words: `study page-size`, `evaluate`, `run of node/stream`."""
    first, second, *_ = (*kind_of(run), "")
    if first == "benchmark":
        return str(second)
    if first == "suite":
        return str(second)
    if first in ("study", "import"):
        return f"{first} {second}"
    names = list(dict.fromkeys(one.subject.name for one in run.requests))
    return f"run of {', '.join(names[:3])}{', …' * (len(names) > 3)}"


def previous_run(last: StoredRun, others: Iterable[StoredRun], defaults: Defaults) -> PreviousRun | None:
    """Return the last earlier run of the same kind with common figures; `None`: no run is comparable.

    A run with less than half of the most common figures is passed over, for example one that was stopped early. If no
    run is of the same kind, the run with the most common figures is chosen. A study with a single common figure is
    never chosen for another kind of run.

    Args:
        others: the other runs of the machine, newest first.
        defaults: defaults of the knobs of a workload.
    """
    kind = kind_of(last)
    known: list[tuple[int, StoredRun]] = []
    wanted = common_figures(last, last, defaults)
    for run in islice((one for one in others if one.id < last.id), MAX_READ):
        if are_interleaved(last, run):
            return PreviousRun(run, common_figures(last, run, defaults), True, kind_text(last))
        same = kind_of(run) == kind
        if not (number := common_figures(last, run, defaults)):
            continue
        if same and number >= ENOUGH * wanted:
            return PreviousRun(run, number, True, kind_text(last))
        if same or number > 1 or not run.study:
            known.append((number, run))
    alike = [(number, run) for number, run in known if kind_of(run) == kind]
    most = max(known, key=lambda one: one[0], default=None)  # the newest one of equal numbers
    found = _newest_of_most(alike) or most
    return PreviousRun(found[1], found[0], bool(alike), kind_text(last)) if found else None


def _newest_of_most(known: Iterable[tuple[int, StoredRun]]) -> tuple[int, StoredRun] | None:
    """Return the first run with at least half of the most common figures."""
    runs = list(known)
    most = max((number for number, _ in runs), default=0)
    return next((one for one in runs if one[0] >= ENOUGH * most), None)
