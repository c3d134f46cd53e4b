"""Records of a launch of a user's program: its resources, its values, and the results of its checks."""

from __future__ import annotations

import datetime
import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from octant import build
from octant.launch import Planned
from octant.launch.guard import GuardReport
from octant.launch.program import ProgramEnd
from octant.placement import numbers_text
from octant.record import FORMAT, SMALL_PAGES, THREADS_OF_PROCESS, Buffer, KeptFile, Result
from octant.record.writer import kept_member, seal
from octant.runs.programs.answers import Answered, Judging, judge_launch
from octant.runs.programs.builds import builds_of
from octant.runs.programs.launch_profile import NOTE as PROFILE_NOTE
from octant.runs.programs.launch_profile import LaunchProfile

_PAGES_PREFIX = "octant-pages: "  # prefix of messages of the library that requests large pages in the program
_PROCESS = re.compile(r"process \d+")
_SHOWN_THREADS, _SHOWN_RANKS = 8, 64
_AMOUNTS = (
    ("wall time", "s", "wall_s"),
    ("user time", "s", "user_s"),
    ("system time", "s", "system_s"),
    ("memory", "B", "memory_bytes"),
    ("minor page faults", "1", "minor_faults"),
    ("major page faults", "1", "major_faults"),
    ("voluntary context switches", "1", "voluntary_switches"),
    ("involuntary context switches", "1", "involuntary_switches"),
)
"""Name and unit of a result, and the member of the guard's report."""


def record_lines(
    planned: Planned,
    end: ProgramEnd,
    started: datetime.datetime,
    files: Sequence[KeptFile] = (),
    judging: Judging | None = None,
    profile: LaunchProfile | None = None,
) -> list[str]:
    """Return the launch record and the point record of a program that succeeded.

    Args:
        files: files of the program that were stored (`store.kept.store_files`).
        judging: `None`: values and checks are omitted.
        profile: of the MPI calls; its file is among `files`.
    """
    launch = planned.launch
    head = {"workload": launch.request.subject.name, "launch": launch.key}
    threads, ranks = launch.started_knobs.get("threads", "1"), _rank_count(planned, end)
    reports = _reports(end, ranks)
    measured = [*_measured(end), *(profile.results if profile else ())]
    answered = judge_launch(planned, end, started, measured, judging, profile) if judging else Answered()
    notes = {**_notes(planned, end, reports, ranks), **answered.notes}
    notes |= {PROFILE_NOTE: profile.note} if profile and profile.note else {}
    files = (*files, *answered.files)
    point = {
        "knobs": dict(launch.started_knobs),
        "shape": {"ranks": ranks, "threads": int(threads) if threads.isdecimal() else 1},
        "pace": "whole",
        "work": [],
        **({"notes": notes} if notes else {}),
        "results": [_member(one) for one in (*measured, *answered.results)],
        "series": [*_readings(reports), *(profile.series if profile else ())],
        **({"noise": {"during": pressed}} if (pressed := _pressure(reports.values())) else {}),
        "share_cores": _shares_cores(reports.values()),
        "given": _given(reports, ranks),
        "lost": [{**msgspec.to_builtins(report.lost), "rank": rank} for rank, report in reports.items()],
        "spent": {"measure_s": measured[0].value, "check_s": answered.check_s},
        **({"files": [kept_member(one) for one in files]} if files else {}),
    }
    hosts = list(dict.fromkeys(report.host for report in reports.values()))
    return [
        seal(
            {
                "format": FORMAT, "kind": "launch", **head, "started": started.isoformat(timespec="seconds"),
                "hosts": hosts, "build": builds_of(*_program(planned)),
            }
        ),
        seal({"format": FORMAT, "kind": "point", **head, **point}),
    ]  # fmt: skip


def _rank_count(planned: Planned, end: ProgramEnd) -> int:
    """Return the requested number of ranks; if the launcher does not state it, the number of guards that reported."""
    known = planned.ranks or planned.launch.request.shape.ranks
    return known if planned.ranks or known > 1 else max(known, len({one.rank or 0 for one in end.ranks}))


def _reports(end: ProgramEnd, ranks: int) -> dict[int, GuardReport]:
    """Return the report of each rank that has one; without a launcher, that of the whole command line."""
    found: dict[int, GuardReport] = {}
    for report in end.ranks:
        if (report.rank or 0) < ranks:
            found.setdefault(report.rank or 0, report)
    if not found and ranks == 1 and end.whole:
        found[0] = end.whole
    return dict(sorted(found.items()))


def _measured(end: ProgramEnd) -> list[Result]:
    outcome = end.outcome
    if end.whole is None:
        amounts = (outcome.seconds, outcome.user_s, outcome.system_s, outcome.memory_bytes)
        return [Result(name, value, unit) for (name, unit, _), value in zip(_AMOUNTS, amounts, strict=False)]
    found = [Result(name, getattr(end.whole, member), unit) for name, unit, member in _AMOUNTS]
    return found + [Result(f"energy of {one.domain}", one.joules, "J") for one in end.whole.energy]


def _member(result: Result) -> dict[str, object]:
    """Return a result in the form of a record."""
    return {
        "name": result.name,
        "value": result.value if math.isfinite(result.value) else None,
        "unit": result.unit,
        **({} if result.bound is None else {"bound": result.bound}),
        **({"where": result.where} if result.where else {}),
    }


def _readings(reports: Mapping[int, GuardReport]) -> Iterable[dict[str, object]]:
    """Yield the resources of each rank, as series of one value."""
    for name, unit, member in (*_AMOUNTS, ("pressure", "s", "pressure_s")):
        for rank, report in reports.items():
            if (value := getattr(report, member)) is not None:
                yield {"name": f"reading/{name}", "rank": rank, "unit": unit, "values": [value]}


def _pressure(reports: Iterable[GuardReport]) -> dict[str, float]:
    """Return the CPU pressure (time in which tasks waited for a CPU) of the rank with the largest share."""
    known = [one for one in reports if one.pressure_s is not None and one.wall_s > 0]
    if not known:
        return {}
    most = max(known, key=lambda one: (one.pressure_s or 0.0) / one.wall_s)
    return {"time_s": most.wall_s, "stalled_cpu_s": most.pressure_s or 0.0}


def _given(reports: Mapping[int, GuardReport], ranks: int) -> list[object]:
    """Return the actual placement of the ranks, in their order, up to the first rank without a report."""
    found = []
    for rank in range(ranks):
        if rank not in reports:
            break
        report = reports[rank]
        given = replace(report.given, buffers=_memory(report)) if report.node_bytes else report.given
        found.append(msgspec.to_builtins(given))
    return found


def _memory(report: GuardReport) -> tuple[Buffer, ...]:
    """Return the private memory of a rank as one buffer."""
    page, total = os.sysconf("SC_PAGE_SIZE"), sum(report.node_bytes.values())
    on_node = {str(node): count // page for node, count in report.node_bytes.items()}
    return (Buffer(total, total, min(report.huge_bytes or 0, total), page, on_node),)


def _shares_cores(reports: Iterable[GuardReport]) -> bool:
    """Return whether a host has more ranks than hardware threads that they may use.

    Threads of one rank are not counted, because they may have run at different times, as processes of a script do.
    """
    ranks: dict[str, int] = {}
    cpus: dict[str, set[int]] = {}
    for report in reports:
        ranks[report.host] = ranks.get(report.host, 0) + 1
        cpus.setdefault(report.host, set()).update(cpu for mask in report.given.thread_masks for cpu in mask)
    return any(ranks[host] > len(cpus[host]) > 0 for host in ranks)


def _notes(planned: Planned, end: ProgramEnd, reports: Mapping[int, GuardReport], ranks: int) -> dict[str, str]:
    """Return the notes of a launch, under the names that the analysis reads."""
    messages = [
        line.removeprefix(_PAGES_PREFIX) for line in end.outcome.errors.splitlines() if line.startswith(_PAGES_PREFIX)
    ]
    outlived = [one for report in (end.whole, *reports.values()) if report for one in report.outlived]
    missing = [rank for rank in range(ranks) if rank not in reports]
    texts = {
        SMALL_PAGES: "; ".join(_together(messages)),
        "cut output": "; ".join(end.cut),
        "outlived": ", ".join(dict.fromkeys(f"{one.name} ({one.pid})" for one in outlived)),
        "binds itself": planned.program.binding if planned.program else "",
        "ranks missing": numbers_text(missing) if end.whole or end.ranks else "",
        "threads": "; ".join(_threads_text(rank, one) for rank, one in list(reports.items())[:_SHOWN_RANKS]),
        "failed after": "; ".join(end.failed_after),
        THREADS_OF_PROCESS: _threads_of_process(reports.values()),
        "problems": "; ".join(end.problems),
    }
    return {name: text for name, text in texts.items() if text}


def _threads_of_process(reports: Iterable[GuardReport]) -> str:
    """Return the largest number of busy threads of one process; "": not known."""
    busy = [
        (rank, one.process)
        for rank, report in enumerate(reports)
        for one in report.threads[: len(report.given.cpus)]
        if one.process
    ]
    return str(max(Counter(busy).values())) if busy else ""


def _threads_text(rank: int, report: GuardReport) -> str:
    """Return the observed threads of a rank: `rank 0: solve 1.24 s on 0 2 of 0-3`."""
    found = []
    for one in report.threads[:_SHOWN_THREADS]:
        seen = " ".join(str(cpu) for cpu, _ in sorted(one.looks_by_cpu.items(), key=lambda pair: -pair[1])[:4])
        allowed = f" of {numbers_text(one.mask)}" if one.mask else ""
        found.append(f"{one.name} {one.cpu_s:.3g} s on {seen}{allowed}")
    more = len(report.threads) - _SHOWN_THREADS
    found += [f"{more} more"] if more > 0 else []
    return f"rank {rank}: {', '.join(found)}" if found else ""


def _program(planned: Planned) -> tuple[Sequence[str], Mapping[str, str], Path]:
    """Return the command line of the program itself, with its variables and its folder."""
    words, environment = list(planned.words), {**os.environ, **planned.environment}
    binder = str(build.find("bind"))
    if binder in words:
        words = words[words.index("--", words.index(binder)) + 1 :]
    return words, environment, Path(planned.program.directory if planned.program else ".")


def _together(messages: Iterable[str]) -> list[str]:
    """Return messages of processes without repetitions: the first of equal ones, with the number of the others."""
    alike: dict[str, list[str]] = {}
    for text in dict.fromkeys(messages):
        alike.setdefault(_PROCESS.sub("process", text), []).append(text)
    return [_counted_text(texts[0], len(texts) - 1) for texts in alike.values()]


def _counted_text(text: str, more: int) -> str:
    return _PROCESS.sub(lambda found: f"{found[0]} and {more} more", text, count=1) if more else text
