"""This machine's last run of HPC Challenge, over its own peak."""

from pathlib import Path

from octant.study.own import NO_RUN, OwnRun

_TITLE = "hpcc "


def own_run(store: Path | None) -> OwnRun:
    """The newest run of `octant hpcc` that measured a peak; none where there is none."""
    from octant.analysis.summary import summarise
    from octant.report.run.hpcc_rows import over_peak, with_references
    from octant.stats import Interval
    from octant.store import open_store
    from octant.workloads import workloads

    where = open_store(store)
    for listed in reversed(where.list_runs()):
        if listed.refused or not listed.title.startswith(_TITLE) or not listed.points:
            continue
        run = where.read(listed.id)
        found = over_peak(summarise(run, with_references(workloads()), all_metrics=True))
        if found is None or not found[1]:
            continue
        values = {one.name: one.value * (100 if one.unit == "1" else 1e9) for one in found[1]}
        intervals = {name: Interval(value, value, value) for name, value in values.items()}
        return OwnRun(run.id, run.machine.name, int(listed.started[:4]), intervals)
    return NO_RUN
