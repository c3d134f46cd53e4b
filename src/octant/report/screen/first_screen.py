"""The first screen of a report on a run, made once for the page, the terminal and programs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from octant import units
from octant.advice.findings import Review, RunFinding, first_of, review
from octant.advice.fitness import fitness_of_run
from octant.analysis.summary import Summary
from octant.machine import Machine
from octant.report import claims
from octant.report.charts.picture import Picture
from octant.report.screen.answer import FitnessLine, Reliability, Tile
from octant.report.screen.reliability import reliability
from octant.report.screen.sections import Section
from octant.report.screen.tiles import answer_text, tiles
from octant.runs.programs.command_text import resume_line
from octant.store import StoredRun
from octant.workloads import NOT_INSTALLED, why_absent

FROM_RECORDS = "its figures come from the records alone, without metrics, limits and pictures"
"""What is missing in a report for a workload that is not installed."""


@dataclass(frozen=True)
class FirstScreen:
    """The texts of the first screen, in the order in which they are shown."""

    answer: str  # the headline, one sentence
    reliability: Reliability
    tiles: tuple[Tile, ...]
    findings: tuple[RunFinding, ...] = ()  # what to do first; the first `shown` need no opening
    passed: tuple[str, ...] = ()  # checks of rules that passed
    absent: tuple[str, ...] = ()  # workloads and rules that are missing in this installation, and the consequence
    fitness: FitnessLine | None = None  # `None`: the run has no noise test
    identity: tuple[str, ...] = ()  # machine with its name; command, period and run
    incomplete: str = ""  # how many launches are left, and the command that measures them

    @property
    def shown(self) -> int:
        """The number of findings that need no opening."""
        return first_of(self.findings)

    @property
    def is_reliable(self) -> bool:
        """Whether the run is reliable, so that no finding means that no action is required."""
        return self.reliability.grade in ("reliable", "note")


@dataclass(frozen=True)
class RunReport:
    """The report of a run, made once: the terminal, the page and programs write it."""

    summary: Summary
    first: FirstScreen
    pictures: Sequence[Picture] = ()
    sections: Sequence[Section] = ()  # tables of a profile, after the pictures
    documents: Mapping[str, object] = field(default_factory=dict)  # further members of the JSON of the run


def first_screen(summary: Summary) -> FirstScreen:
    """Return the first screen of a run."""
    run, shown = summary.run, tiles(summary)
    found = Review() if run.imported else review(summary)  # no advice about the machine of somebody else
    rules = [f"the rule {one.name} cannot be used here ({one.reason})" for one in found.broken]
    about = f"imported {run.source}; not measured by Octant" if run.imported else about_text(run.machine)
    left = units.counted(len(run.remaining()), "launch")
    return FirstScreen(
        answer_text(summary, shown),
        reliability(summary, shown),
        shown,
        found.findings,
        found.passed,
        absent=(*absent_workloads(summary), *rules),
        fitness=fitness_line(summary),
        identity=(f"{run.machine.name}: {about}", f"{run.title} · {period_text(run)} · run {run.id}"),
        incomplete="" if run.complete else f"incomplete: {left} left, {resume_line(run)}",
    )


def fitness_line(summary: Summary) -> FitnessLine | None:
    """Return the line about the machine; `None` if the run has no noise test."""
    fitness = fitness_of_run(summary)
    if fitness is None:
        return None
    more = units.counted(len(fitness.reasons) - 1, "more reason")
    texts = [f"{units.capital(reason.text)}." for reason in fitness.reasons[:1]]
    texts += [f"{units.capital(more)}: octant doctor."] * (len(fitness.reasons) > 1)
    return FitnessLine(fitness.verdict, " ".join(texts))


def absent_workloads(*summaries: Summary) -> list[str]:
    """Return a remark on each workload of these runs that this installation cannot use."""
    names = sorted({name for summary in summaries for name in summary.unknown})
    return [f"{why_absent(name) or NOT_INSTALLED.format(name)}; {FROM_RECORDS}" for name in names]


def about_text(machine: Machine) -> str:
    """Return what the machine is: `Intel Xeon, Sapphire Rapids or later, 2 cores, 23.5 GiB, KVM guest`."""
    name = machine.processor.model if machine.processor.model != "unknown" else machine.processor.architecture or ""
    for mark in ("(R)", "(TM)", "(r)", "(tm)"):
        name = name.replace(mark, "")
    name = " ".join(word for word in name.partition("@")[0].split() if word not in ("CPU", "Processor"))
    disputed = next((one for one in machine.disagreements if one.subject == "processor model"), None)
    virtual = machine.system.get("virtualisation", "none")
    parts = (
        name,
        disputed.statements[-1][1].rpartition(": ")[2] if disputed else "",
        units.counted(len(machine.topology.groups("core")), "core"),
        claims.quantity(machine.memory_bytes, "B") if machine.memory_bytes else "",
        f"{virtual.upper() if len(virtual) < 5 else virtual} guest" if virtual != "none" else "",
    )
    return ", ".join(filter(None, parts))


def period_text(*runs: StoredRun) -> str:
    """Return when runs were measured, from the first launch to the last: `22 November 2026, 08:45 – 09:02 UTC`."""
    begun = [begun for run in runs for point in run.points if (begun := point.process.begun)]
    if not begun:
        return runs[0].started.replace("T", " ")
    first, last = min(begun), max(begun)
    day = f"{first.day} {first:%B %Y}"
    if first.date() != last.date():
        return f"{day}, {first:%H:%M} – {last.day} {last:%B %Y}, {last:%H:%M %Z}"
    return f"{day}, {first:%H:%M}" + f" – {last:%H:%M}" * (f"{first:%H:%M}" != f"{last:%H:%M}") + f" {last:%Z}"
