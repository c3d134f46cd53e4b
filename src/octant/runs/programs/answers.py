"""Results of one launch of a program: its values, its checks, and the files of the baseline."""

from __future__ import annotations

import datetime
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from octant.launch import Planned
from octant.launch.program import ProgramEnd, run_command
from octant.program import ProgramCheck, ProgramValue
from octant.record import MISSING, KeptFile, Result
from octant.request import Subject
from octant.runs.programs import checks, values
from octant.runs.programs.checks import Answer
from octant.runs.programs.grammar import implied_value
from octant.runs.programs.launch_profile import LaunchProfile
from octant.runs.programs.placeholders import fill_text, fill_words, start_values
from octant.runs.programs.reference import Reference
from octant.runs.programs.values import MissingValueError, Sources
from octant.store import kept


@dataclass(frozen=True)
class Judging:
    """Reference data for the checks of a launch, and the folders for its files."""

    run: Path  # folder of the run
    scratch: Path  # existing folder that is removed later
    reference: Reference | None = None  # results of the baseline; `None`: not yet available
    is_baseline: bool = False  # the launch is itself one of the baseline
    command: checks.RunCommand = run_command


@dataclass(frozen=True)
class Answered:
    """Values, checks and files of a launch, for its record."""

    results: tuple[Result, ...] = ()  # values, then checks
    notes: Mapping[str, str] = field(default_factory=dict)
    files: tuple[KeptFile, ...] = ()
    check_s: float = 0.0


def judge_launch(
    planned: Planned,
    end: ProgramEnd,
    started: datetime.datetime,
    measured: Sequence[Result],
    judging: Judging,
    profile: LaunchProfile | None = None,
) -> Answered:
    """Read the values of a successful launch, perform its checks, and store the files that later checks need.

    Args:
        measured: results that are measured for every program; checks may refer to them.
        profile: of the MPI calls of the program, with the times of its regions.
    """
    begun_s, subject = time.monotonic(), planned.launch.request.subject
    known = start_values(planned.launch)
    of_profile = (profile.regions, profile.job) if profile else (None, None)
    sources = Sources(end.outputs, end.folder, started.timestamp(), end.cut, *of_profile)
    found = {one.name: one.value for one in measured}
    read, missing = _read(_wanted(subject, known), _implied(subject, found), sources)
    answer = Answer(
        end, sources, {**found, **{one.name: one.value for one in read}}, missing, planned.environment,
        Path(subject.directory or "."), judging.reference, judging.is_baseline, planned.launch.started_knobs,
        judging.command,
        planned.program.commands_timeout_s if planned.program else checks.COMMAND_S,
    )  # fmt: skip
    judged = checks.judge([_filled(check, known) for check in subject.checks], answer)
    notes = {**judged.notes}
    if missing:
        notes[MISSING] = "; ".join(f"{name}: {why}" for name, why in missing.items())
    files = _store(judged.files, planned.launch.key, judging)
    return Answered((*read, *judged.results), notes, files, time.monotonic() - begun_s)


def _wanted(subject: Subject, known: Mapping[str, str]) -> list[ProgramValue]:
    return [replace(one, source=fill_text(one.source, known)) for one in subject.values]


def _implied(subject: Subject, measured: Mapping[str, float]) -> list[ProgramValue]:
    """Return the values that checks use without a description by `--value`."""
    names = {*(one.name for one in subject.values), *measured}
    checked = dict.fromkeys(check.value for check in subject.checks if check.kind == "value")
    return [implied_value(name) for name in checked if name not in names]


def _read(
    wanted: Sequence[ProgramValue], implied: Sequence[ProgramValue], sources: Sources
) -> tuple[list[Result], dict[str, str]]:
    """Return the values of a launch, and the reasons for missing ones."""
    found, missing = [], {}
    for value in (*wanted, *implied):
        try:
            number = values.read_value(value, sources, value in implied)
            found.append(Result(value.name, number, value.unit))
        except MissingValueError as error:
            missing[value.name] = str(error)
    return found, missing


def _filled(check: ProgramCheck, known: Mapping[str, str]) -> ProgramCheck:
    return replace(
        check,
        file=fill_text(check.file, known),
        reference=fill_text(check.reference, known),
        command=tuple(fill_words(check.command, known)),
    )


def _store(contents: Mapping[str, bytes], launch: str, judging: Judging) -> tuple[KeptFile, ...]:
    """Store files with the run, durably, before the record that refers to them."""
    if not contents:
        return ()
    folder = judging.scratch / "judged"
    folder.mkdir()
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return kept.store_files(judging.run, launch, folder)
