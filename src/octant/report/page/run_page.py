"""The page of a run: the answer first, then pictures, the table, how far it can be believed, machine and settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from octant import __version__, output, units
from octant.report import claims, results
from octant.report.charts.curves.curve import share_text
from octant.report.export import tidy
from octant.report.export.sharing import cleaned, cleaned_markup
from octant.report.machine import drawing
from octant.report.machine import text as machine_text
from octant.report.page import html
from octant.report.page import samples as packing
from octant.report.tables import benchmark as benchmark_table
from octant.report.tables import table
from octant.stats.grades import GRADE_NAMES
from octant.store import files

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary
    from octant.machine import Machine
    from octant.report.charts.picture import Picture
    from octant.report.page.html import Clean
    from octant.report.screen.first_screen import FirstScreen, RunReport
    from octant.store import StoredRun

MOST_FIGURES = 1000
"""Figures with a row and details of their own on a page."""


def write(report: RunReport, path: Path, clean: Clean = str, all_samples: bool = False) -> Path:
    """Writes the report of a run and gives its path.

    Args:
        clean: what every text of the run goes through (`sharing.cleaner`).
        all_samples: the page holds all samples, however many there are.

    Raises:
        Refusal: the file cannot be written.
        RecordError: the samples of a point can no longer be read.
    """
    stored = path.parent == report.summary.run.folder  # a store is its owner's alone
    mode = files.FILE_MODE if stored else output.FILE_MODE
    return html.save(render(report, clean, all_samples), path, mode)


def render(report: RunReport, clean: Clean = str, all_samples: bool = False) -> str:
    """The report as a text."""
    summary = report.summary
    run, machine = summary.run, summary.run.machine
    listed = listed_figures(summary)
    shown = [figure for figure in listed if figure.show.table or figure.wrong] or listed
    further = [figure for figure in listed if not any(figure is one for one in shown)]
    numbers = {id(figure): place for place, figure in enumerate(listed)}
    drawn = [cleaned(picture, clean) for picture in report.pictures]
    held = packing.pack(listed, all_samples)
    said = _row_functions(summary)
    return html.render(
        "report.html.jinja",
        _data(report, drawn, held, clean, _further_rows(further, numbers, said, clean)),
        clean=clean,
        run=run,
        machine=machine,
        about=f"imported {run.source}" if run.imported else about_text(machine),
        period=period_text(summary.run),
        summary=summary,
        first=report.first,
        place=lambda number: numbers.get(id(summary.figures[number])),
        listed=listed,
        shown=table.table(shown, numbers),
        further=len(further),
        benchmark=benchmark_table.section(summary),
        notes=_notes(report.first),
        failures={(f.workload, *sorted(f.knobs.items()), f.reason): f for f in run.failures}.values(),  # each once
        pictures=drawn,
        drawing=Markup(cleaned_markup(drawing.svg(machine), clean)),  # noqa: S704 - drawing.py escapes its texts
        words=drawing.description(machine),
        settings=_machine_settings(summary),
        provenance=_provenance(summary),
        kept=results.kept_file_texts([*run.points, *run.failures]) if clean is str else (),
        samples=held.text,
        has_samples=held.there > 0,
        **said,
    )  # fmt: skip


def listed_figures(summary: Summary) -> list[Figure]:
    """The figures of the page in the order of the run: wrong ones and those of the table before points of curves."""
    first = sorted(enumerate(summary.figures), key=lambda one: (not one[1].wrong, not one[1].show.table))
    return [figure for _, figure in sorted(first[:MOST_FIGURES], key=lambda one: one[0])]


def about_text(machine: Machine) -> str:
    """What the machine is: `Intel Xeon, Sapphire Rapids or later · 2 cores · 23.5 GiB · KVM guest`."""
    name = machine.processor.model if machine.processor.model != "unknown" else machine.processor.architecture or ""
    for mark in ("(R)", "(TM)", "(r)", "(tm)"):
        name = name.replace(mark, "")
    name = " ".join(word for word in name.partition("@")[0].split() if word not in ("CPU", "Processor"))
    disputed = next((one for one in machine.disagreements if one.subject == "processor model"), None)
    generation = disputed.statements[-1][1].rpartition(": ")[2] if disputed else ""
    virtual = machine.system.get("virtualisation", "none")
    cores = len(machine.topology.groups("core"))
    parts = (
        ", ".join(filter(None, (name, generation))),
        units.counted(cores, "core"),
        claims.quantity(machine.memory_bytes, "B") if machine.memory_bytes else "",
        f"{virtual.upper() if len(virtual) < 5 else virtual} guest" if virtual != "none" else "",
    )
    return " · ".join(filter(None, parts))


def period_text(*runs: StoredRun) -> str:
    """When runs were measured, from the first launch to the last: `22 November 2026, 08:45 – 09:02 UTC`."""
    begun = [begun for run in runs for point in run.points if (begun := point.process.begun)]
    if not begun:
        return runs[0].started.replace("T", " ")
    first, last = min(begun), max(begun)
    day = f"{first.day} {first:%B %Y}"
    if first.date() != last.date():
        return f"{day}, {first:%H:%M} – {last.day} {last:%B %Y}, {last:%H:%M %Z}"
    return f"{day}, {first:%H:%M}" + f" – {last:%H:%M}" * (f"{first:%H:%M}" != f"{last:%H:%M}") + f" {last:%Z}"


def _notes(first: FirstScreen) -> list[str]:
    """The notes behind grades of tiles, which show if asked."""
    return [f"{tile.name}: {reason}" for tile in first.tiles if tile.grade == "note" for reason in tile.reasons]


def _row_functions(summary: Summary) -> dict[str, Any]:
    """What rows and their details call."""
    return {
        "values": claims.figure_texts,
        "following": lambda figure: claims.value_texts(figure.next_launch, figure.metric.unit),
        "grades": GRADE_NAMES,
        "share": share_text,
        "further_figures": lambda figure: results.further_figures(summary, figure),
        "results": results.named_results,
        "checks": results.checks,
        "failed": results.failed_texts,
        "quantity": units.si_text,
        "groups_of": results.group_values,
        "quantiles": table.quantile_texts,
        "launch_header": table.LAUNCH_HEADER,
        "launches": table.launch_rows,
        "asked": table.setting_texts,
    }


def _further_rows(figures: Sequence[Figure], numbers: Mapping[int, int], said: Mapping[str, Any], clean: Clean) -> str:
    """The rows of figures outside the table, as HTML that the page unpacks when somebody opens it."""
    if not figures:
        return ""
    template = html.templates(clean).get_template("further.html.jinja")
    return html.deflated(template.render(shown=table.table(figures, numbers), **said))


def _machine_settings(summary: Summary) -> list[tuple[str, str]]:
    machine = summary.run.machine
    processor = machine.processor
    clock = [("Measured clock", summary.clock_text)] if summary.clock_text else []
    return [
        ("Processor", f"{processor.model or 'not stated'} ({processor.vendor}, {processor.architecture})"),
        *clock,
        ("Memory", units.bytes_text(machine.memory_bytes)),
        ("Page sizes", machine_text.pages_text(machine.page_sizes)),
        *machine_text.setting_texts(machine.system),
        *((name.replace("_", " "), value) for name, value in machine.software.items()),
    ]


def _provenance(summary: Summary) -> list[tuple[str, str]]:
    """What measured: Octant, MPI, compiler, clock, and the environment."""
    processes = [point.process for point in summary.run.points]
    found = [("Octant", __version__)]
    if summary.run.imported:
        return found + [
            (f"Imported, {one.tool}", f"{one.file}: {one.version or 'no version'}") for one in summary.run.imported
        ]
    if processes:
        clock = max(processes, key=lambda one: one.clock.cost_ns).clock
        resolution = max(one.clock.resolution_ns for one in processes)
        found += [
            ("MPI", "; ".join(dict.fromkeys(one.mpi for one in processes))),
            ("Compiler", "; ".join(dict.fromkeys(str(one.build.get("compiler", "not recorded")) for one in processes))),
            ("Clock", f"one reading costs {clock.cost_ns:.0f} ns at most, and resolves {resolution:.0f} ns"),
        ]
    return [*found, *summary.run.environment.items()]


def _data(
    report: RunReport,
    drawn: Sequence[Picture],
    held: packing.PackedSamples,
    clean: Clean,
    further: str,
) -> dict[str, Any]:
    run = report.summary.run.id
    return {
        "run": run,
        "document": html.packed(cleaned(tidy.document(report, files=clean is str), clean)),
        "exports": html.exports(drawn, run),
        "figures": [cleaned(one, clean) for one in held.figures],
        "further": further,
    }
