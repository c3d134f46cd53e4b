"""What can be measured: the workloads by family, and the page, metrics, limits and knobs of each."""

import json
import textwrap
from collections.abc import Iterable, Sequence
from importlib.resources import files

from rich.markdown import Markdown
from rich.text import Text

from octant import workloads
from octant.build.describe import describe
from octant.failure import Refusal, near
from octant.metric import SLOWEST, Derived, FirstOf, Metric, NamedResult, Rate, Reading, Reduce, Seconds, Share, Value
from octant.report.tables.layout import fill, text_table
from octant.report.tables.word_filter import select_entries
from octant.report.terminal import render, text_width
from octant.runs.command_line import find_workload
from octant.workload import Workload


def find_workloads(words: Sequence[str]) -> list[Workload]:
    """Return the workloads whose family, name, aliases, metrics, summary or page contain all words.

    Raises:
        Refusal: there is none; the message names the nearest words.
    """
    families = workloads.families()

    def searched(one: Workload) -> str:
        metrics = (text for metric in one.metrics for text in (metric.name, metric.note))
        return " ".join((one.name, families[one.family], one.summary, *one.aliases, *metrics))

    return select_entries(workloads.workloads().values(), words, searched, "workload", "octant workloads")


def workloads_text(words: Sequence[str] = ()) -> str:
    """Return a table of the workloads by family: of all, or of those that contain all words."""
    found = find_workloads(words)
    rows: list[tuple[object, ...]] = []
    for family, title in workloads.families().items():
        members = [one for one in found if one.family == family]
        rows += [(Text(family, style="bold"), "", title)] if members or not words else []
        for workload in members:
            metric = workload.metrics[0]
            rows.append((f"  {workload.name}", f"{metric.name}, {metric.unit}", workload.summary))
    broken = {} if words else workloads.broken()
    rows += [(name, "", f"cannot be used here ({one.reason})") for name, one in broken.items()]
    table = text_table(("workload", "headline", "what it measures"), rows)
    names = ", ".join(sorted(alias for one in found for alias in one.aliases))
    said = f"Names in other benchmarks are accepted, too: {names}." if names else ""
    return f"{table}\n\n{textwrap.fill(said, text_width())}".rstrip()


def workloads_json(words: Sequence[str] = ()) -> str:
    """Return the workloads as JSON; one that cannot be used has `name`, `file`, `line` and `error`.

    Args:
        words: only the workloads that contain all words.
    """
    known = [_facts(workload) for workload in find_workloads(words)]
    broken = {} if words else workloads.broken()
    return json.dumps([*known, *(one.as_data() for one in broken.values())], indent=2)


def is_one_workload(name: str) -> bool:
    """Return whether a word is the name or alias of a workload, or a misspelt name that is in no text of the list."""
    known = [*workloads.workloads(), *workloads.broken()]
    if workloads.called(name, known) or workloads.find_alias(name) or workloads.resolve(name) in known:
        return True
    try:
        find_workloads([name])
    except Refusal:
        return bool(near(name, [*known, *(one.rpartition("/")[2] for one in known)]))
    return False


def workload_text(name: str) -> str:
    """Return the page of a workload, its declaration, and its knobs if the kernel is built.

    Raises:
        Refusal: no such workload.
    """
    workload, kernel, refusal = find_workload(name), None, None
    try:
        kernel = describe(workload.name)
    except Refusal as found:
        refusal = found
    return fill(
        "tables/workload", "page", workload=workload, about=_page(workload), define=definition_text,
        counts=_counts(workload.metrics), kernel=kernel, refusal=refusal,
        problems=workload.problems(kernel.raw if kernel else None, limits=_limits()),
    )  # fmt: skip


def _page(workload: Workload) -> str:
    """Return the README.md of a workload's folder, or that there is none."""
    file = files(f"octant.workloads.{workload.name.replace('/', '.')}").joinpath("README.md")
    try:
        return render(Markdown(file.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return f"There is no page of {workload.name}: {file} does not exist."


def _limits() -> list[str]:
    """Return the limits that the installed workloads provide."""
    return [one.name for workload in workloads.workloads().values() for one in workload.provides]


def workload_json(name: str) -> str:
    """Return the declaration of a workload and the description by its kernel.

    Raises:
        Refusal: no such workload, or its kernel is not built.
    """
    workload = find_workload(name)
    raw = describe(workload.name).raw
    problems = workload.problems(raw, limits=_limits())
    return json.dumps({**_facts(workload), **raw, "problems": problems}, indent=2)


def definition_text(value: Value) -> str:
    """Return the definition of a metric: `bytes_sent per second; ranks max, groups sum, steps median`."""
    if isinstance(value, Seconds):
        of = f"{value.of} time" + (f" per {' + '.join(value.per)}" if value.per else "")
        return of + _over_text(value.over)
    if isinstance(value, Rate):
        inside = "" if value.of == "step" else f" of {value.of}"
        return f"{' + '.join(value.counts)} per second{inside}{_over_text(value.over)}"
    if isinstance(value, Share):
        return f"sum of {value.of} over sum of {value.to}"
    if isinstance(value, Reading):
        return f"reading {value.of}{_over_text(value.over)}"
    if isinstance(value, NamedResult):
        return f"result {value.name}"
    if isinstance(value, Derived):
        return f"computed from: {'; '.join(map(definition_text, value.values))}"
    if isinstance(value, FirstOf):
        return ", else ".join(map(definition_text, value.values))
    return "a function of the workload"


def _over_text(over: Iterable[Reduce] | None) -> str:
    """Return the reductions in their order; nothing for the usual ones."""
    if over is None or tuple(over) == SLOWEST:
        return ""
    return f"; {', '.join(f'{part.axis} {part.how}' for part in over)}"


def _counts(metrics: Iterable[Metric]) -> list[str]:
    names: list[str] = []
    for metric in metrics:
        value = metric.value.values[-1] if isinstance(metric.value, FirstOf) else metric.value
        names += value.counts if isinstance(value, Rate) else value.per if isinstance(value, Seconds) else ()
    return list(dict.fromkeys(names))


def _facts(workload: Workload) -> dict[str, object]:
    metrics = [
        {
            **{name: getattr(metric, name) for name in ("name", "unit", "better")},
            "definition": definition_text(metric.value),
            "note": metric.note,
        }
        for metric in workload.metrics
    ]
    return {
        **{name: getattr(workload, name) for name in ("name", "family", "summary")},
        "aliases": workload.aliases,
        "metrics": metrics,
        "counts": _counts(workload.metrics),
        "bounded_by": workload.bounded_by,
        "provides": [{"limit": one.name, "metric": one.metric} for one in workload.provides],
        "messages": workload.messages,
    }
