"""Sessions: execute the launches of one or more runs, one at a time, and record the results."""

import contextlib
import datetime
import functools
import itertools
import os
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from octant import build, store, workloads
from octant.build import on_demand
from octant.failure import Exit, Refusal, remedy_for_writing
from octant.launch import Planned, bind, leftovers, link, profiles, program
from octant.launch.execute import ProcessOutcome, execute
from octant.launch.program import DETACHED, Attached
from octant.mpi import faults
from octant.record import Failure, Point, RecordError
from octant.record.writer import failure_line, link_line
from octant.request import Launch, cells_of
from octant.runs.programs import records
from octant.runs.programs.answers import Judging
from octant.runs.programs.launch_profile import LaunchProfile, read_launch_profile
from octant.runs.programs.reference import baseline_of, find_reference, is_launch_of
from octant.runs.starts import list_starts
from octant.store import Store, StoredRun, files, finished_cells, kept, progress, separate_repeated
from octant.store.lines import Records
from octant.store.run_request import start_line


@dataclass(frozen=True)
class Batch:
    """The records of a launch: a point or a failure for each cell, unless the launch itself failed."""

    launch: Launch
    points: tuple[Point, ...]
    failures: tuple[Failure, ...]


MAX_TIMEOUTS = 2
"""After this many timeouts the remaining launches of the request are skipped; `octant resume` repeats them."""

LaunchSchedule = Generator[Launch, Batch, None]
"""A generator that yields the next launch and receives its records. Launches that the store already has are not
started again, so that resuming a run repeats the same decisions."""


@dataclass(frozen=True)
class LaunchStart:
    """A launch that is being started, for progress displays."""

    planned: Planned
    number: int  # of the starts so far, from 0
    records: Path

    def share(self) -> progress.Reached | None:
        """Return the progress of the launch; `None`: its kernel reports none."""
        return progress.progress_of(self.records, self.planned.launch.key)


Observe = Callable[[LaunchStart, float], None]
"""Called a few times per second with the elapsed seconds of the launch."""

Report = Callable[[str], None]
"""Called with a warning for the user."""


def run_all(launches: Iterable[Launch]) -> LaunchSchedule:
    """Yield every launch; failures are recorded and do not end the run."""
    for launch in launches:  # noqa: UP028 - `yield from` would send the records to the iterator of a tuple
        yield launch


def execute_run(
    where: Store,
    run: StoredRun,
    schedule: LaunchSchedule,
    plan: Callable[[Launch], Planned],
    observe: Observe = lambda _step, _elapsed_s: None,
    start: Callable[..., ProcessOutcome] = execute,
    report: Report = lambda _text: None,
    attached: Attached = DETACHED,
) -> StoredRun:
    """Execute the launches that `schedule` yields and that have no result yet. Failed launches are recorded.

    Args:
        plan: resolves a launch (`runs.plan.planner_of`).
        observe: shows progress.
        start: starts a command (tests pass a function that starts no process).
        report: receives warnings, each once.
        attached: how programs are connected to this process.

    Raises:
        Refusal: the store cannot be written, or another process is executing this run.
        KeyboardInterrupt: passed on after the current launch has been ended; all records are kept.
    """
    execute_runs([SessionRun(run, plan)], _as_side_schedule(schedule), observe, start, report, attached)
    return where.read(run.id)


@dataclass(frozen=True)
class SessionRun:
    """One of the runs of a session."""

    run: StoredRun
    plan: Callable[[Launch], Planned]


SideSchedule = Generator[tuple[int, Launch], Batch, None]
"""As `LaunchSchedule`, for several runs: yields the number of the run with each launch."""


def execute_runs(
    sides: Sequence[SessionRun],
    schedule: SideSchedule,
    observe: Observe = lambda _step, _elapsed_s: None,
    start: Callable[..., ProcessOutcome] = execute,
    report: Report = lambda _text: None,
    attached: Attached = DETACHED,
) -> None:
    """Execute interleaved launches of several runs.

    Raises:
        Refusal, KeyboardInterrupt: as `execute_run`.
    """
    leftovers.remove()
    profiles.remove_leftovers()
    build.prepare(_programs(sides))
    with on_demand.no_building(), contextlib.ExitStack() as stack:
        stack.callback(profiles.remove_leftovers)
        stack.callback(leftovers.remove)  # ranks of a killed process may be alive until now
        warnings: list[str] = []
        for side in sides:
            store.sweep(side.run.folder)
            stack.enter_context(store.lock(side.run.folder, warnings.append))
        for text in dict.fromkeys(warnings):
            report(text)
        numbers = itertools.count()
        sessions: list[_Session] = []
        for side in sides:
            sessions.append(_Session(side.run, stack, side.plan, observe, start, numbers, attached, sessions[:1]))
        decided = next(schedule, None)
        while decided is not None:
            number, launch = decided
            try:
                decided = schedule.send(sessions[number].batch_of(launch))
            except StopIteration:
                decided = None


def _programs(sides: Sequence[SessionRun]) -> Iterator[str]:
    """Yield the kernels and tools that the launches need, so that none is built during a measurement."""
    for request in (request for side in sides for request in side.run.requests):
        if request.subject.workload:
            yield request.subject.workload
        if request.shape.link:
            yield "link"
        yield from filter(None, map(build.example_named, request.subject.command))
        if request.subject.profile:
            yield "profiler"
    yield from ("bind", "pages")


def _as_side_schedule(schedule: LaunchSchedule) -> SideSchedule:
    with contextlib.suppress(StopIteration):
        launch = next(schedule)
        while True:
            launch = schedule.send((yield 0, launch))


class _Session:
    """A run in execution: its records so far, and its open files."""

    def __init__(
        self,
        run: StoredRun,
        stack: contextlib.ExitStack,
        plan: Callable[[Launch], Planned],
        observe: Observe,
        start: Callable[..., ProcessOutcome],
        numbers: Iterator[int],
        attached: Attached = DETACHED,
        baseline: Sequence["_Session"] = (),
    ) -> None:
        self.run, self.plan, self.observe, self.start = run, plan, observe, start
        self.store, self.attached = run.folder.parent.parent, attached
        self.baseline = baseline[0] if baseline else self  # of two sides, the first has the baseline of both
        self.stack = stack
        self.asked = {request.key for request in run.requests}
        self.numbers = numbers  # of starts
        self.hung: Counter[str] = Counter()  # by the key of the request
        self.known: dict[str, tuple[list[Point], list[Failure]]] = {}
        self.unsupported: dict[str, dict[str, Failure]] = {}  # by the key of the request and the knobs
        self.starts = self.records = -1  # opened when something is to be written
        self.tail = Records(run.records, run.keys, run.started)
        self._read_new()

    def batch_of(self, launch: Launch) -> Batch:
        """Return the records of a launch, after measuring the missing cells."""
        left = self._remaining(launch)
        if left and self.records < 0:
            self._open()
            left = self._remaining(launch)
        starts = list_starts(left, self.run.seed)
        while starts:
            for start in self._worth_starting(starts.pop(0)):
                if self.hung[launch.request.key] < MAX_TIMEOUTS and self._measure(start):
                    starts[:0] = (rest for rest in self._remaining(start) if rest != start)
        points, failures = self.known.get(launch.key, ([], []))
        return Batch(launch, tuple(points), separate_repeated(points, failures)[0])

    def _worth_starting(self, launch: Launch) -> tuple[Launch, ...]:
        """Return the launch without cells that an earlier launch of its request found to be unsupported.

        The failure of the earlier launch is recorded for them, so that they are not started again.
        """
        known_failures = self.unsupported.get(launch.request.key, {}).values()
        useless = [
            one
            for one in known_failures
            if one.launch != launch.key and launch.without(cells_of(one.knobs)) != (launch,)
        ]
        left = launch.without(cell for one in useless for cell in cells_of(one.knobs))
        if useless:
            self._append([failure_line(replace(one, launch=launch.key)) for one in useless])
            self._read_new()
        return left

    def _remaining(self, launch: Launch) -> tuple[Launch, ...]:
        return launch.without(finished_cells(*self.known.get(launch.key, ([], []))).get(launch.key, ()))

    def _open(self) -> None:
        """Open the files, and terminate an incomplete last line so that it does not damage the next record."""
        with _writing(self.run):
            self.starts, self.records = (_open_file(path, self.stack) for path in (self.run.plan, self.run.records))
            files.end_torn_line(self.records)
        self.stack.callback(progress.remove_leftovers, self.run.records)
        self._read_new()

    def _measure(self, launch: Launch) -> bool:
        """Start a launch; return whether its remaining cells have to be started again."""
        begun = datetime.datetime.now(datetime.UTC)
        try:
            planned = self.plan(launch)
        except Refusal as refusal:
            self._append([failure_line(_failure(launch, str(refusal), refusal.code))])
            self._read_new()
            return False
        with _writing(self.run):
            files.append_line(self.starts, start_line(planned, launch.request.key in self.asked))
            files.end_torn_line(self.records)
        tick = functools.partial(self.observe, LaunchStart(planned, next(self.numbers), self.run.records))
        progress.remove_leftovers(self.run.records)
        if launch.request.subject.command:
            outcome = self._run_program(planned, tick, begun)
        else:
            outcome = self.start(planned.words, planned.environment, planned.timeout_s, tick)
        self.hung[launch.request.key] += outcome.timed_out and not workloads.alone_knobs(
            launch.request.subject.workload
        )
        if launch.request.shape.link:
            self._append_crossing(launch)
        points, failures = self._read_new()
        if launch.request.subject.command:
            return False
        stopped = {failure.exit for failure in failures} - {Exit.NOT_SUPPORTED}  # kernels continue after such a cell
        refused = stopped == {Exit.WRONG_WORD}  # for one cell; the kernel did not reach the next ones
        if outcome.timed_out and points and workloads.alone_knobs(launch.request.subject.workload):
            return True
        if failure := self._failure_of(launch, outcome, refused or (bool(stopped) and not launch.request.shape.hosts)):
            self._append([failure_line(failure)])
            self._read_new()
        return refused

    def _run_program(self, planned: Planned, tick: Callable[[float], None], begun: datetime.datetime) -> ProcessOutcome:
        """Run a launch of a program to its end, and record the results, since programs record nothing themselves."""
        launch = planned.launch
        with contextlib.ExitStack() as stack:
            with _writing(self.run):
                scratch = stack.enter_context(kept.offered_folder(self.run.records))
                offered = scratch / "keep"
                offered.mkdir()
            environment = {**planned.environment, kept.VARIABLE: str(offered)}
            end = program.run_program(
                replace(planned, environment=environment), scratch, tick, self.start, self.attached, self.store
            )
            refusal = bind.take_refusal(self.run.records)
            with _writing(self.run):
                profile = read_launch_profile(planned, end, scratch)
            if end.failed or refusal:
                self._append_failed(launch, end, refusal, profile)
            else:
                with _writing(self.run):
                    files = kept.store_outputs(
                        self.run.folder, launch.key, end.outputs, end.found, offered, profile.file if profile else None
                    )
                    judging = self._judging(launch, scratch)
                    lines = records.record_lines(planned, end, begun, files, judging, profile)
                self._append(lines)
            self.attached.on_end(planned, end)
        if end.interrupted:
            raise KeyboardInterrupt
        return end.outcome

    def _judging(self, launch: Launch, scratch: Path) -> Judging:
        """Return the reference data with which the checks of a launch are made."""
        of = self.baseline
        request = launch.request if of is self else of.run.requests[self.run.requests.index(launch.request)]
        baseline = baseline_of(
            request, [request] if self.run.pair else of.run.requests
        )  # for two programs: A's launch of the cell
        points = {key: points for key, (points, _) in of.known.items()}
        is_baseline = of is self and is_launch_of(launch, baseline)
        return Judging(self.run.folder, scratch, find_reference(baseline, points, of.run.folder), is_baseline)

    def _append_failed(
        self, launch: Launch, end: program.ProgramEnd, refusal: Refusal | None, profile: LaunchProfile | None = None
    ) -> None:
        """Record a failed launch of a program with its output and its profile.

        Args:
            refusal: the reason if octant-bind did not start the program.
        """
        with _writing(self.run):
            merged = profile.file if profile else None
            files = kept.store_outputs(self.run.folder, launch.key, end.outputs, profile=merged)
        if refusal:
            failure = _failure(launch, str(refusal), refusal.code)
        else:
            printed = any(one.stored for one in files) and not (end.whole and end.whole.not_started)
            where = "; its output is in the folder 'files' of the run" if printed else ""
            failure = _failure(launch, f"{end.reason}{where}", Exit.CANNOT_RUN)
        self._append([failure_line(replace(failure, files=files))])

    def _append_crossing(self, launch: Launch) -> None:
        """Record the traffic of the emulated link. A launch that failed early has no report."""
        with contextlib.suppress(RecordError):
            self._append([link_line(launch.key, launch.request.shape.link, link.take_report(self.run.records))])

    def _read_new(self) -> tuple[list[Point], list[Failure]]:
        """Index new records by launch, and return them."""
        points, failures = self.tail.read_new()
        for point in points:
            self.known.setdefault(point.launch, ([], []))[0].append(point)
        for failure in failures:
            self.known.setdefault(failure.launch, ([], []))[1].append(failure)
            if failure.exit in (Exit.NOT_SUPPORTED, Exit.WRONG_WORD):
                known_failures = self.unsupported.setdefault(failure.launch.rpartition("-")[0], {})
                known_failures.setdefault(repr(failure.knobs), failure)
        return points, failures

    def _append(self, lines: Iterable[str]) -> None:
        with _writing(self.run):
            for line in lines:
                files.append_line(self.records, line)
            os.fsync(self.records)

    def _failure_of(self, launch: Launch, outcome: ProcessOutcome, explained: bool) -> Failure | None:
        """Return the failure of a start that no record states, or `None` if no result is missing.

        Launchers change exit statuses. Therefore kernels and octant-bind record the kind of a failure themselves. A
        failure without such a record is an interruption or a failure of the launcher, and the launch can be repeated.

        Args:
            explained: the kernel recorded why it ended early, and the hosts need not be named.
        """
        refusal = bind.take_refusal(self.run.records)
        ended_well = outcome.code == Exit.OK and not outcome.timed_out
        if refusal is None and (ended_well or not self._remaining(launch)):
            return None
        if refusal is None and explained:
            return None
        alone = workloads.alone_knobs(launch.request.subject.workload)
        if refusal is not None:
            failure = _failure(launch, str(refusal), refusal.code)
        elif text := faults.unfinished_text(launch, outcome) if alone else _crash_text(launch, outcome):
            failure = _failure(launch, text, Exit.NOT_SUPPORTED)
        else:
            failure = _failure(launch, outcome.reason, Exit.CANNOT_RUN)
        reached = progress.progress_of(self.run.records, launch.key)
        return replace(failure, share=reached.share, phase=reached.phase) if reached else failure


def _crash_text(launch: Launch, outcome: ProcessOutcome) -> str:
    """Return which library crashed its process, and how; "": another workload, or another kind of failure."""
    apart = workloads.apart_knobs(launch.request.subject.workload)
    crash = faults.crash_signal(outcome)
    knobs = {name: launch.started_knobs[name] for name in apart if name in launch.started_knobs}
    ours = workloads.is_ours(launch.request.subject.workload, knobs.values())
    if not apart or not crash or outcome.timed_out or ours:
        return ""
    said = ", ".join(f"{name}={value}" for name, value in knobs.items())
    return f"the library crashed ({said + ': ' if said else ''}{crash}) and is not started again; try another library"


def _failure(launch: Launch, reason: str, code: int) -> Failure:
    # The launcher may not forward remote error messages, so the message names the hosts.
    shape = launch.request.shape
    where = f"on {', '.join(shape.hosts)}: {reason}" if shape.hosts else reason
    return Failure(launch.request.subject.name, launch.key, launch.started_knobs, shape.ranks, where, int(code))


def _open_file(path: Path, stack: contextlib.ExitStack) -> int:
    descriptor = files.open_for_append(path)
    stack.callback(os.close, descriptor)
    return descriptor


@contextlib.contextmanager
def _writing(run: StoredRun) -> Generator[None, None, None]:
    try:
        yield
    except OSError as error:
        what = f"cannot write to {run.folder} ({error.strerror})"
        remedy = remedy_for_writing(error)
        raise Refusal(f"{what}; {remedy}, then resume the run, or use your own copy of the store") from error
