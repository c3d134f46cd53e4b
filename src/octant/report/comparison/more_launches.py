"""Measurements that would give ratios without a verdict one, for two runs that cannot be interleaved."""

from octant.advice.findings import RunFinding
from octant.advice.findings._lines import rerun_command
from octant.analysis.compare import Comparison, Comparisons
from octant.report.sentences import Sentences
from octant.runs.interleaved import differing_conditions
from octant.stats.occasions import LEAST_LAUNCHES
from octant.store import StoredRun
from octant.units import counted

LAUNCHES = 6
"""Launches that are proposed."""
_TEXTS = Sentences("octant.report.comparison", "comparison")


def launch_counts(one: Comparison) -> tuple[int, int]:
    """Return the number of launches of A and B that a verdict can use."""
    before, after = (0 if row is None else row.valid_count for row in (one.before, one.after))
    return before, after


def shortage(one: Comparison) -> str:
    """Return the reason why two runs have too few launches for a verdict: `one launch of each; …`; empty if enough."""
    before, after = launch_counts(one)
    if min(before, after) >= LEAST_LAUNCHES:
        return ""
    sides = f"{counted(before, 'launch')} of A and {after} of B"
    if before == after:
        sides = "one launch of each" if before == 1 else f"{before} launches of each"
    return f"{sides}; a verdict needs at least {LEAST_LAUNCHES} on each side"


def can_be_interleaved(found: Comparisons) -> bool:
    """Return whether nothing recorded forbids `octant compare --rounds`: both measured, under equal conditions."""
    return not any(run.imported for run in found.runs) and not differing_conditions(*found.runs)


def more_launches(found: Comparisons) -> tuple[RunFinding, ...]:
    """Return how to measure or import more launches of the sides with too few; empty if both have enough."""
    common = [one for one in found.figures if one.speed is not None]
    least = [min(counts) for counts in zip(*map(launch_counts, common), strict=True)]
    short = [run for run, number in zip(found.runs, least, strict=False) if number < LEAST_LAUNCHES]
    if not short:
        return ()
    imported, measured = ([run for run in short if bool(run.imported) == is_imported] for is_imported in (True, False))
    lines = tuple(dict.fromkeys(line for run in measured for line in _repeated_command(run)))
    differing = () if any(run.imported for run in found.runs) else differing_conditions(*found.runs)
    sides = {id(run): side for side, run in zip("AB", found.runs, strict=True)}
    body = _TEXTS.line(
        "more_launches", LEAST_LAUNCHES, [sides[id(run)] for run in imported], [sides[id(run)] for run in measured],
        LAUNCHES if lines else 0, differing,
    )  # fmt: skip
    if lines and len(measured) == 1:  # the new run is the last one
        lines += (" ".join(["octant compare", *("last" if run is measured[0] else run.id for run in found.runs)]),)
    return (RunFinding("launches", "More launches for a verdict", body, lines),)


def _repeated_command(run: StoredRun) -> tuple[str, ...]:
    """Return the command that measures a run again with enough launches; empty if the run does not store it safely."""
    return tuple(f"{line.partition(' --repeats')[0]} --repeats {LAUNCHES}" for line in rerun_command(run))
