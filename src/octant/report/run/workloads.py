"""What can be measured: the workloads, and the page and knobs of each."""

import json
from importlib.resources import files

from rich.markdown import Markdown
from rich.markup import escape
from rich.table import Table

from octant import workloads
from octant.build.describe import describe
from octant.failure import Refusal
from octant.report.terminal import rendered
from octant.workload import Workload


def workloads_text() -> str:
    """A table of the workloads by family."""
    table = Table(box=None, pad_edge=False)
    for column in ("workload", "headline", "what it measures"):
        table.add_column(column)
    for family, title in workloads.families().items():
        table.add_row(f"[bold]{family}[/bold]", "", escape(title))
        for workload in workloads.workloads().values():
            if workload.name.startswith(f"{family}/"):
                metric = workload.metrics[0]
                table.add_row(f"  {workload.name}", f"{metric.name}, {metric.unit}", workload.summary)
    return rendered(table)


def workloads_json() -> str:
    """The same, for programs."""
    return json.dumps([_facts(workload) for workload in workloads.workloads().values()], indent=2)


def workload_text(name: str) -> str:
    """The page of one workload and its knobs.

    Raises:
        Refusal: no such workload.
    """
    name = _find(name).name
    table = Table(title="Knobs", title_justify="left", box=None, pad_edge=False)
    for column in ("knob", "default", "values", "what it turns"):
        table.add_column(column, overflow="fold")
    for knob in describe(name).knobs:
        table.add_row(knob.name, knob.default, ", ".join(knob.choices) or knob.kind, knob.help)
    page = (files("octant.workloads") / name / "README.md").read_text(encoding="utf-8")
    return rendered(Markdown(page)) + "\n\n" + rendered(table)


def workload_json(name: str) -> str:
    """The facts and knobs of one workload.

    Raises:
        Refusal: no such workload.
    """
    workload = _find(name)
    return json.dumps({**_facts(workload), **describe(workload.name).raw}, indent=2)


def _find(name: str) -> Workload:
    try:
        return workloads.workload(name)
    except LookupError as error:
        raise Refusal(f"cannot show {name!r} ({error.args[0]})", 2) from error


def _facts(workload: Workload) -> dict[str, object]:
    metrics = [{"name": m.name, "unit": m.unit, "kind": m.kind, "note": m.note} for m in workload.metrics]
    return {"name": workload.name, "summary": workload.summary, "metrics": metrics, "axis": workload.axis}
