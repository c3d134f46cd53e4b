"""One launch of a user's program: input, working directory, commands before and after, output and resource usage."""

from __future__ import annotations

import contextlib
import fnmatch
import os
import shlex
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from octant.failure import Refusal, remedy_for_writing
from octant.launch import Planned, ProgramStart, guard, leftovers, profiles
from octant.launch.capture import Captures
from octant.launch.copies import copy_directory
from octant.launch.execute import Observer, ProcessOutcome, Streams, execute, new_mark, run, waited_text
from octant.launch.guard import GuardReport
from octant.launch.profiles import ProfileFiles
from octant.program import STDERR, STDOUT

VARIABLE = "OCTANT_LAUNCH"
"""Names the folder of a launch, with the files stdout and stderr, to the commands after it and to check commands."""
_EARLY_POLL_S, _EARLY_S, _POLL_S = 0.1, 2.0, 0.5
"""Polling intervals of the timeout. The end of the program is noticed without polling, which would use its CPUs."""
_ERRORS_BYTES = 4000
_CHECK_BYTES = 1 << 20  # of the output of a check command that are kept: its end
_MAX_NAMED = 8
"""Ranks or processes that one sentence lists."""
_MAX_CHECKED = 1000
"""Number of files that are checked individually; further files are only counted."""
_Starter = Callable[..., ProcessOutcome]


@dataclass(frozen=True)
class MatchedFile:
    """A file that a pattern of the user matches after a launch."""

    place: str  # relative to the folder in which the program worked
    path: Path  # of the file itself, if the match is a link to it
    left_out: str = ""  # why it cannot be stored


@dataclass(frozen=True)
class ProgramEnd:
    """How a launch of a user's program ended, and what it left."""

    outcome: ProcessOutcome
    folder: Path  # in which it worked: the user's, or a fresh copy of it
    outputs: Mapping[str, Path] = field(default_factory=dict)  # "stdout" and "stderr": their beginnings and ends
    cut: tuple[str, ...] = ()  # what of these was left out, a sentence each
    problems: tuple[str, ...] = ()  # what else is to be said of the launch, a sentence each
    whole: GuardReport | None = None  # of the whole command line, its launcher included
    ranks: tuple[GuardReport, ...] = ()  # by rank
    reason: str = ""  # why the launch failed, a sentence without its end; "": it did not
    found: tuple[MatchedFile, ...] = ()  # files that the user asked for
    failed_after: tuple[str, ...] = ()  # commands after the launch that failed, a sentence each
    profile: ProfileFiles | None = None  # of the MPI calls; `None`: they were not recorded
    interrupted: bool = False  # stopped by Ctrl-C while its MPI calls were recorded

    @property
    def failed(self) -> bool:
        """Whether the program did not end as it should."""
        return bool(self.reason)


@dataclass(frozen=True)
class Attached:
    """How programs are connected to this process."""

    output: bool = False  # their standard output and error are passed through while they run
    input: bool = False  # they read the standard input of this process, unless the request names a file
    on_end: Callable[[Planned, ProgramEnd], None] = lambda _planned, _end: None  # called when a program has ended


DETACHED = Attached()


def run_program(
    planned: Planned,
    scratch: Path,
    observe: Observer,
    start: _Starter = execute,
    attached: Attached = DETACHED,
    store: Path | None = None,
) -> ProgramEnd:
    """Run one launch of a user's program to its end.

    The commands before it run first, and those after it if these succeeded, also if the program failed. A launch whose
    input, folder or command before it cannot be had has failed, and the program was not started.

    Args:
        planned: with a `ProgramStart`.
        scratch: a folder, which the caller removes: of what is captured, and of `copy`, that of the directory.
        observe: called a few times a second with the seconds since the start.
        start: what starts a command (tests pass one that answers without starting anything).
        attached: which standard streams are those of this process.
        store: is left out of a copy of the directory.

    Raises:
        KeyboardInterrupt: passed on, after the program was ended, unless it was profiled.
    """
    program_start = planned.program or ProgramStart()
    directory = Path(program_start.directory or Path.cwd())
    if start is not execute:
        outcome = start(planned.words, planned.environment, planned.timeout_s, observe)
        return _judged(planned, ProgramEnd(outcome, directory))
    try:
        folder = directory
        if program_start.fresh:
            folder = scratch / "copy"
            copy_directory(directory, folder, store)
        with contextlib.ExitStack() as stack:
            if program_start.input or not attached.input:
                source = _input(program_start.input, folder, stack)
            else:
                source = sys.__stdin__.fileno() if sys.__stdin__ else subprocess.DEVNULL
            return _Launch(planned, program_start, folder, scratch, attached.output).run(source, observe)
    except Refusal as refusal:
        return ProgramEnd(_not_started(str(refusal)), directory, reason=str(refusal))


def run_command(words: Sequence[str], folder: Path, environment: Mapping[str, str], limit_s: float) -> ProcessOutcome:
    """Run a check command of the user to its end, without input and without a shell; no process of it survives.

    Args:
        words: of the command.
        folder: in which it works.
        environment: further variables; OCTANT_LAUNCH is among them.
        limit_s: its time limit.
    """
    with tempfile.TemporaryFile() as output:
        streams = Streams(subprocess.DEVNULL, output.fileno(), output.fileno())
        report = Path(environment[VARIABLE], "check.guard")
        outcome = run(
            words, lambda _elapsed_s: None, new_mark(), environment, limit_s, streams, folder=folder,
            guard=guard.words(report, whole=True),
        )  # fmt: skip
        report.unlink(missing_ok=True)
        output.seek(max(0, output.seek(0, os.SEEK_END) - _CHECK_BYTES))
        return replace(outcome, errors=output.read().decode(errors="replace"))


class _Launch:
    """One launch: the commands before the program, the program, and those after it."""

    def __init__(
        self, planned: Planned, program_start: ProgramStart, folder: Path, launch: Path, shows_output: bool
    ) -> None:
        self._planned, self._program_start, self._folder, self._launch = planned, program_start, folder, launch
        self._shows_output = shows_output
        self._mark = new_mark()
        self._profile = launch / "profile"
        moved = {} if folder == Path.cwd() else {"PWD": str(folder)}
        self._environment = {**planned.environment, **moved}

    def run(self, source: int, observe: Observer) -> ProgramEnd:
        """Run all of it.

        Args:
            source: file descriptor of the standard input of the program.
        """
        known = {place: _state(path) for place, path in self._matches()}
        for words in self._program_start.before:
            end = self._command(words)
            if end.reason:
                return replace(end, reason=f"the command `{shlex.join(words)}` before the launch {end.reason}")
        report = Path(self._program_start.report) if self._program_start.report else self._launch / "guard"
        report.unlink(missing_ok=True)
        try:
            words = self._profiled_words()
            end = self._guarded(words, source, self._planned.timeout_s, observe, report, (STDOUT, STDERR))
        except KeyboardInterrupt:
            if not self._program_start.is_profiled:
                raise
            return self._interrupted(report)
        end = _judged(self._planned, end)
        if self._program_start.is_profiled:
            end = replace(end, profile=self._collected(end))
        failed = []
        self._environment[VARIABLE] = str(self._launch)
        for words in self._program_start.after:
            after = self._command(words)
            if after.reason:
                failed.append(f"the command `{shlex.join(words)}` after the launch {after.reason}")
        return replace(end, failed_after=tuple(failed), found=tuple(self._found(known)))

    def _interrupted(self, report: Path) -> ProgramEnd:
        """Return the end of a profiled launch that was stopped, with its profile."""
        reports = guard.load(report).reports
        report.unlink(missing_ok=True)
        outcome = ProcessOutcome(-signal.SIGINT, False, 0.0, "")
        end = ProgramEnd(
            outcome, self._folder, whole=next((one for one in reports if one.whole), None),
            ranks=tuple(one for one in reports if not one.whole), reason="the launch was stopped", interrupted=True,
        )  # fmt: skip
        return replace(end, profile=self._collected(end))

    def _profiled_words(self) -> tuple[str, ...]:
        """Return the command line of the program, with the folder for its profiles."""
        if not self._program_start.is_profiled:
            return tuple(self._planned.words)
        with _writing(self._launch):
            self._profile.mkdir(0o700)
        return profiles.named(self._planned.words, self._mark, self._profile.absolute())

    def _collected(self, end: ProgramEnd) -> ProfileFiles:
        """Return the profiles of the launch; collect from the nodes what killed guards have left there."""
        folder, planned = self._profile.absolute(), self._planned
        if profiles.local_folders(self._mark, self._environment):
            self._collect(profiles.local_collect_words(self._mark, folder))
        reported = {one.rank or 0 for one in end.ranks}
        is_left = len(reported) < max(1, planned.ranks) and profiles.count_profiles(folder) < max(1, planned.ranks)
        was_started = not (end.whole and end.whole.not_started)
        if is_left and was_started and planned.launcher != "direct":
            self._collect(profiles.collect_words(planned.words, self._mark, folder))
        return profiles.load(folder)

    def _collect(self, words: Sequence[str]) -> None:
        """Run a command that collects profiles. What it cannot collect is missing, and reported as such."""
        streams = Streams(subprocess.DEVNULL, subprocess.DEVNULL, subprocess.DEVNULL)
        with contextlib.suppress(OSError):
            run(words, lambda _elapsed_s: None, new_mark(), self._environment, profiles.COLLECT_S, streams)

    def _command(self, words: Sequence[str]) -> ProgramEnd:
        """Run a command around the launch."""
        report, names = self._launch / "command.guard", (f"command.{STDOUT}", f"command.{STDERR}")
        for path in (report, *(self._launch / name for name in names)):
            path.unlink(missing_ok=True)
        limit_s = self._program_start.commands_timeout_s
        end = self._guarded(words, subprocess.DEVNULL, limit_s, lambda _elapsed_s: None, report, names)
        outcome, whole = end.outcome, end.whole
        if outcome.timed_out:
            return replace(end, reason=f"timed out after {waited_text(limit_s)}; increase --timeout if it needs longer")
        if outcome.code != 0:
            return replace(end, reason=_ended_text(outcome.code, whole))
        return end

    def _guarded(
        self,
        words: Sequence[str],
        source: int,
        timeout_s: float,
        observe: Observer,
        report: Path,
        names: Sequence[str],
    ) -> ProgramEnd:
        """Run one command line; no process of it is left at its end.

        Args:
            names: of the files for standard output and error in the folder of the launch.
        """
        to = [_flushed(stream) if self._shows_output else None for stream in (sys.stdout, sys.stderr)]
        captures = Captures(dict(zip((STDOUT, STDERR), to, strict=True)))

        def watch(elapsed_s: float) -> None:
            captures.begin()  # after the start of the program, which then does not wait for it
            observe(elapsed_s)

        outcome = None
        try:
            streams = Streams(source, *(one.write_end for one in captures.streams))
            outcome = run(
                words, watch, self._mark, self._environment, timeout_s, streams,
                lambda elapsed_s: _EARLY_POLL_S if elapsed_s < _EARLY_S else _POLL_S,
                self._folder, guard.words(report, whole=True),
            )  # fmt: skip
        except OSError as error:
            why = f"cannot start {words[0]} in {self._folder} ({error.strerror}); check the working directory"
            raise Refusal(why) from error
        finally:
            captures.finish()
            if outcome is None or outcome.code != 0:
                leftovers.remove()
        paths = {one.name: self._launch / name for one, name in zip(captures.streams, names, strict=True)}
        with _writing(self._launch):
            cut = [one.write(path) for one, path in zip(captures.streams, paths.values(), strict=True)]
        read = guard.load(report)
        report.unlink(missing_ok=True)
        whole = next((one for one in read.reports if one.whole), None)
        errors = b"".join(one.end_of_it(_ERRORS_BYTES) for one in captures.streams).decode(errors="replace")
        outcome = _measured(replace(outcome, errors=errors), whole)
        ranks = sorted((one for one in read.reports if not one.whole), key=lambda one: one.rank or 0)
        return ProgramEnd(outcome, self._folder, paths, tuple(filter(None, cut)), read.problems, whole, tuple(ranks))

    def _matches(self) -> Iterator[tuple[str, Path]]:
        """Yield the files that the user's patterns match, each once."""
        seen = set[str]()
        for pattern in self._program_start.keep:
            for place in matching(self._folder, pattern):
                if place not in seen:
                    seen.add(place)
                    yield place, self._folder / place

    def _found(self, known: Mapping[str, object]) -> Iterator[MatchedFile]:
        """Yield the files to store, with the reason for each that cannot be stored."""
        for number, (place, path) in enumerate(self._matches()):
            if number >= _MAX_CHECKED:
                yield MatchedFile(place, path)
                continue
            if place in known and known[place] == _state(path):
                yield MatchedFile(place, path, "the launch did not change it")
                continue
            real = path.resolve()
            inside = self._folder.resolve() in real.parents
            yield MatchedFile(place, real, "" if inside else "it is a link to a file outside the working directory")
        for pattern in self._program_start.keep:
            if not any(True for _ in matching(self._folder, pattern)):
                yield MatchedFile(pattern, self._folder / "missing", "no such file after the launch")


@contextlib.contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Refusal(f"cannot write to {folder} ({error.strerror}); {remedy_for_writing(error)}") from error


def matching(folder: Path, pattern: str) -> Iterator[str]:
    """Yield the relative paths of files and links below a folder that match a pattern, in order.

    The parts of a pattern are those of a shell; `**` matches any number of folders. No link to a folder is followed,
    and a part `..` or an absolute path matches nothing.
    """
    parts = pattern.split("/")
    if not pattern.startswith("/") and ".." not in parts:
        yield from dict.fromkeys(_below(folder, "", [part for part in parts if part not in ("", ".")]))


def _below(folder: Path, place: str, parts: Sequence[str]) -> Iterator[str]:
    if not parts:
        return
    part, *rest = parts
    if part == "**":
        yield from _below(folder, place, rest or ["*"])
    try:
        entries = sorted(os.scandir(folder / place), key=lambda one: one.name)
    except OSError:
        return
    for one in entries:
        inside = os.path.join(place, one.name)  # noqa: PTH118 - text
        is_folder = one.is_dir(follow_symlinks=False)
        if part == "**":
            if is_folder and not one.name.startswith("."):
                yield from _below(folder, inside, parts)
        elif fnmatch.fnmatchcase(one.name, part) and (part.startswith(".") or not one.name.startswith(".")):
            if is_folder and rest:
                yield from _below(folder, inside, rest)
            elif not is_folder and not rest:
                yield inside


def _state(path: Path) -> object:
    """Return the attributes of a file that change when it is written to."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _input(name: str, folder: Path, stack: contextlib.ExitStack) -> int:
    """Open the standard input of a program: a file relative to its working directory, or no input.

    Raises:
        Refusal: the file cannot be read.
    """
    if not name:
        return subprocess.DEVNULL
    what = f"cannot read the input file {name}"
    try:
        descriptor = os.open(folder / name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError as error:
        raise Refusal(
            f"{what} ({error.strerror}); check --input, which is relative to the working directory"
        ) from error
    stack.callback(os.close, descriptor)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise Refusal(f"{what} (it is not a regular file); give a regular file")
    os.set_blocking(descriptor, True)
    return descriptor


def _not_started(why: str) -> ProcessOutcome:
    return ProcessOutcome(1, False, 0.0, why)


def _measured(outcome: ProcessOutcome, whole: GuardReport | None) -> ProcessOutcome:
    """Return the outcome with the times of the guard, which are not rounded to our polling interval."""
    if whole is None:
        return outcome
    return replace(
        outcome, seconds=whole.wall_s, user_s=whole.user_s, system_s=whole.system_s, memory_bytes=whole.memory_bytes
    )


def _judged(planned: Planned, end: ProgramEnd) -> ProgramEnd:
    """Add the reason of a failure and the problems of the ranks to the end of a launch."""
    problems = [*end.problems]
    reports = [*([end.whole] if end.whole else []), *end.ranks]
    outlived = list(dict.fromkeys(f"{one.name} ({one.pid})" for report in reports for one in report.outlived))
    if outlived:
        more = f" and {len(outlived) - _MAX_NAMED} more" if len(outlived) > _MAX_NAMED else ""
        named = ", ".join(outlived[:_MAX_NAMED])
        problems.append(f"processes were still running after the program and were killed: {named}{more}")
    if left := sum(report.left for report in reports):
        problems.append(f"{left} processes of the program could not be killed")
    missing = sorted(set(range(planned.ranks)) - {one.rank or 0 for one in end.ranks})
    if end.whole and missing and planned.ranks > 1:
        named = ", ".join(map(str, missing[:_MAX_NAMED])) + ", …" * (len(missing) > _MAX_NAMED)
        problems.append(
            f"no report of {'rank' if len(missing) == 1 else 'ranks'} {named}: their times and placement are missing"
        )
    return replace(end, reason=_reason(planned, end), problems=tuple(problems))


def _reason(planned: Planned, end: ProgramEnd) -> str:
    outcome, subject = end.outcome, planned.launch.request.subject
    name = (planned.program.name if planned.program else "") or subject.command[0]
    if outcome.timed_out:
        return f"{name} timed out after {waited_text(planned.timeout_s)}; increase --timeout if it needs longer"
    if end.whole is None and outcome.errors and outcome.code not in subject.statuses:
        return outcome.reason
    bad = [one for one in end.ranks if one.code not in subject.statuses or one.not_started]
    culprit = min(bad, key=lambda one: (one.stop_signal is not None, one.started_s + one.wall_s), default=None)
    if culprit and (culprit.rank is not None or planned.ranks <= 1):
        who = f"rank {culprit.rank} of {name}" if culprit.rank is not None and planned.ranks > 1 else name
        return f"{who} {_ended_text(culprit.code, culprit)}"
    every_rank = len(end.ranks) >= max(1, planned.ranks)
    if outcome.code in subject.statuses or (every_rank and not bad and tuple(subject.statuses) != (0,)):
        return ""
    launcher = f" (status of {planned.words[0]})" if every_rank and not bad else ""
    return f"{name} {_ended_text(outcome.code, end.whole)}{launcher}"


def _ended_text(code: int | None, report: GuardReport | None) -> str:
    """Return how a program ended, as the end of a sentence."""
    if report and report.not_started:
        return f"cannot be started ({report.not_started}); check its path and mode"
    if code is None:
        return "could not be killed by the system"
    if code >= 0:
        return f"exited with status {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"killed by {name}" + " (possibly out of memory)" * (-code == signal.SIGKILL)


def _flushed(stream: object) -> int | None:
    """Flush a standard stream and return its file descriptor."""
    try:
        stream.flush()  # type: ignore[attr-defined]
        descriptor: int = stream.fileno()  # type: ignore[attr-defined]
    except (AttributeError, OSError, ValueError):  # a test replaced it
        return None
    return descriptor
