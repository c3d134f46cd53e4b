"""What can be measured: the workloads by family, and the page, metrics, limits and knobs of each."""

import json
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Any

from rich.markdown import Markdown
from rich.markup import escape
from rich.table import Table

from octant import workloads
from octant.build.describe import Described, describe
from octant.failure import Refusal
from octant.metric import SLOWEST, Derived, FirstOf, Metric, NamedResult, Rate, Reading, Reduce, Seconds, Share, Value
from octant.report.terminal import render
from octant.runs.command_line import find_workload
from octant.workload import Workload


def workloads_text() -> str:
    """A table of the workloads by family."""
    table = _table("workload", "headline", "what it measures")
    for family, title in workloads.families().items():
        table.add_row(f"[bold]{family}[/bold]", "", escape(title))
        for workload in workloads.workloads().values():
            if workload.family == family:
                metric = workload.metrics[0]
                table.add_row(f"  {workload.name}", f"{metric.name}, {metric.unit}", escape(workload.summary))
    for name, one in workloads.broken().items():
        table.add_row(name, "", escape(f"cannot be used here ({one.reason})"))
    return render(table)


def workloads_json() -> str:
    """The same, for programs; a workload that cannot be used has `name`, `file`, `line` and `error`."""
    known = [_facts(workload) for workload in workloads.workloads().values()]
    return json.dumps([*known, *(one.as_data() for one in workloads.broken().values())], indent=2)


def workload_text(name: str) -> str:
    """The page of one workload, what it declares, and its knobs where the kernel is built.

    Raises:
        Refusal: no such workload.
    """
    workload = find_workload(name)
    parts = [_page(workload), render(_metrics_table(workload)), render(_declared_table(workload))]
    try:
        described = describe(workload.name)
    except Refusal as refusal:
        said = f"Knobs, phases and roles are not shown: {refusal}"
        return "\n\n".join([*parts, said, *_problems_text(workload.problems(limits=_limits()))])
    parts += [render(_kernel_table(described)), render(_knobs_table(described))]
    return "\n\n".join([*parts, *_problems_text(workload.problems(described.raw, limits=_limits()))])


def _page(workload: Workload) -> str:
    """The README.md of a workload's folder, or that there is none."""
    file = files(f"octant.workloads.{workload.name.replace('/', '.')}").joinpath("README.md")
    try:
        return render(Markdown(file.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return f"There is no page of {workload.name}: {file} does not exist."


def _limits() -> list[str]:
    """The limits that the installed workloads provide."""
    return [one.name for workload in workloads.workloads().values() for one in workload.provides]


def _problems_text(problems: Sequence[str]) -> list[str]:
    """The names in a declaration that lead nowhere; nothing where there are none."""
    return ["\n".join(["Problems of the declaration", *(f"  {text}" for text in problems)])] if problems else []


def workload_json(name: str) -> str:
    """What one workload declares, and what its kernel says of itself.

    Raises:
        Refusal: no such workload, or its kernel is not built.
    """
    workload = find_workload(name)
    raw = describe(workload.name).raw
    problems = workload.problems(raw, limits=_limits())
    return json.dumps({**_facts(workload), **raw, "problems": problems}, indent=2)


def _table(*columns: str, title: str = "") -> Table:
    table = Table(title=title or None, title_justify="left", box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _metrics_table(workload: Workload) -> Table:
    table = _table("metric", "unit", "better", "what it is", "note", title="Metrics")
    for metric in workload.metrics:
        table.add_row(metric.name, metric.unit, metric.better, definition_text(metric.value), escape(metric.note))
    return table


def _declared_table(workload: Workload) -> Table:
    table = Table(title="Limits and counts", title_justify="left", box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("bounded by", ", ".join(workload.bounded_by) or "no figure of other workloads")
    provided = [f"{one.name} (its {one.metric})" for one in workload.provides]
    table.add_row("provides", ", ".join(provided) or "no limit for other workloads")
    table.add_row("counts in metrics", ", ".join(_counts(workload.metrics)) or "none")
    return table


def _kernel_table(described: Described) -> Table:
    raw = described.raw
    table = Table(title="Kernel", title_justify="left", box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("pace", _PACES.get(str(raw.get("pace", "")), "not stated"))
    table.add_row("least ranks", str(described.least_ranks))
    table.add_row("phases", ", ".join(raw.get("phases", ())) or "none")
    table.add_row("roles", ", ".join(map(_role_text, raw.get("roles", ()))))
    readings = [f"{reading['name']}, {reading['unit']}" for reading in raw.get("readings", ())]
    table.add_row("readings", "; ".join(readings) or "none")
    return table


_PACES = {
    "chunks": "chunks: lanes work alone",
    "steps": "steps: the ranks of a group work together",
    "whole": "whole: one repetition takes long and is measured as such",
}


def _role_text(role: dict[str, Any]) -> str:
    name = escape(role["name"]) or "all ranks alike"
    return name if role["timed"] else f"{name} (its samples do not count)"


def _knobs_table(described: Described) -> Table:
    table = _table("knob", "default", "values", "what it sets", title="Knobs")
    for knob in described.knobs:
        table.add_row(knob.name, escape(knob.default), escape(", ".join(knob.choices)) or knob.kind, escape(knob.help))
    return table


def definition_text(value: Value) -> str:
    """A metric's definition in words: `bytes_sent per second; ranks max, groups sum, steps median`."""
    if isinstance(value, Seconds):
        of = f"{value.of} time" + (f" per {' + '.join(value.per)}" if value.per else "")
        return of + _over_text(value.over)
    if isinstance(value, Rate):
        inside = "" if value.of == "step" else f" of {value.of}"
        return f"{' + '.join(value.counts)} per second{inside}{_over_text(value.over)}"
    if isinstance(value, Share):
        return f"{value.of} over {value.to}, sum over sum"
    if isinstance(value, Reading):
        return f"reading {value.of}{_over_text(value.over)}"
    if isinstance(value, NamedResult):
        return f"result {value.name}"
    if isinstance(value, Derived):
        return f"made of: {'; '.join(map(definition_text, value.values))}"
    if isinstance(value, FirstOf):
        return ", else ".join(map(definition_text, value.values))
    return "a function of its own"


def _over_text(over: Iterable[Reduce] | None) -> str:
    """The reductions in their order; the usual ones are not repeated."""
    if over is None or tuple(over) == SLOWEST:
        return ""
    return f"; {', '.join(f'{part.axis} {part.how}' for part in over)}"


def _counts(metrics: Iterable[Metric]) -> list[str]:
    names: dict[str, None] = {}
    for metric in metrics:
        value = metric.value.values[-1] if isinstance(metric.value, FirstOf) else metric.value
        for name in value.counts if isinstance(value, Rate) else value.per if isinstance(value, Seconds) else ():
            names[name] = None
    return list(names)


def _facts(workload: Workload) -> dict[str, object]:
    return {
        "name": workload.name,
        "family": workload.family,
        "summary": workload.summary,
        "metrics": [
            {
                "name": metric.name,
                "unit": metric.unit,
                "better": metric.better,
                "definition": definition_text(metric.value),
                "note": metric.note,
            }
            for metric in workload.metrics
        ],
        "counts": _counts(workload.metrics),
        "bounded_by": list(workload.bounded_by),
        "provides": [{"limit": one.name, "metric": one.metric} for one in workload.provides],
        "messages": workload.messages,
    }
