"""Progress of long operations: a bar with the time left on a terminal, lines elsewhere."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING

from octant.report.plain import clean
from octant.units import counted, duration_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from octant.request import Launch
    from octant.runs.durations import Durations
    from octant.runs.session import LaunchStart, Observe

_REDRAW_S = 0.1
_POLL_S = 0.2
_SILENT_S = 2.0
_LONG_S = 30.0  # longer runs are announced, with the source of the estimate
_PRIOR_S = 10.0  # weight of the estimate, in seconds of launches of other requests


@contextlib.contextmanager
def progress_of(
    left: Sequence[Launch],
    rounds: Mapping[str, int],
    after_s: float = 0.0,
    known: Durations | None = None,
    shows_output: bool = False,
) -> Iterator[Observe]:
    """Yield a callback for `execute_run` that shows the progress of these launches on standard error.

    SIGTERM (the end of a batch job) is handled like Ctrl-C meanwhile.

    Args:
        left: launches that will start.
        rounds: number of the round of each launch, by key.
        after_s: seconds of the work after the last launch.
        known: durations of launches.
        shows_output: programs print to the same terminal, so that a line is printed before each launch starts.
    """
    with progress_by(RemainingTime(left, rounds, after_s, known=known), shows_output) as tick:
        yield tick


@contextlib.contextmanager
def progress_by(clock: RemainingTime, shows_output: bool = False) -> Iterator[Observe]:
    """Yield the callback of `progress_of` for a clock that the caller may change."""
    with ended_like_ctrl_c():
        if sys.stderr.isatty() and not shows_output:
            with _bar(clock) as tick:
                yield tick
        else:
            yield _Lines(clock)


@contextlib.contextmanager
def ended_like_ctrl_c() -> Iterator[None]:
    """Handle SIGTERM like Ctrl-C while the block lasts."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def status_line() -> Iterator[Callable[[str], None]]:
    """Yield a callback that shows the current activity if standard error is a terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True).status("") as status:
        yield status.update


@contextlib.contextmanager
def model_progress() -> Iterator[None]:
    """Print the estimated time of the network engine if it exceeds two seconds; on a terminal also the progress."""
    over = threading.Event()
    watch = threading.Thread(target=_watch_engine, args=(over,), daemon=True)
    watch.start()
    try:
        yield
    finally:
        over.set()
        watch.join()


def _watch_engine(over: threading.Event) -> None:
    from rich.console import Console

    from octant import _network

    console = Console(stderr=True)
    while not over.wait(_POLL_S):
        if _network.progress()[1] <= _SILENT_S:
            continue
        console.print(f"computing, about {_network.progress()[1]:.0f} s (Ctrl-C stops)")
        if not sys.stderr.isatty():
            return
        with console.status("") as status:
            while not over.wait(_POLL_S) and (expected_s := _network.progress()[1]):
                share = _network.progress()[0]
                status.update(f"{share:.0%}, about {expected_s * (1 - share):.0f} s left")


class RemainingTime:
    """Estimates the remaining time from the finished launches of each request.

    Before the first launch of a request, the estimate comes from stored runs or a rule. The load of the machine is
    therefore included only after the first round.
    """

    def __init__(
        self,
        left: Sequence[Launch],
        rounds: Mapping[str, int],
        after_s: float = 0.0,
        now: Callable[[], float] = time.monotonic,
        known: Durations | None = None,
    ) -> None:
        from octant.runs.durations import Durations
        from octant.runs.starts import list_starts

        self.known = known or Durations()
        starts = list_starts(left)
        self.total = len(starts)
        self.after_s = after_s  # after the last launch: figures, report
        self.rounds = rounds  # of launches by key, from 0; empty if there are none
        self.most = 1 + max(self.rounds.values(), default=0)
        self.now, self.begun_s = now, now()
        self.number, self.current, self.current_s, self.since_s = -1, "", 0.0, 0.0
        self.ahead: dict[str, float] = {}  # estimated seconds of launches that have not begun, by request
        self.taken: dict[str, tuple[float, float]] = {}  # actual and estimated seconds of finished launches
        self.programs: set[str] = set()  # keys of requests of programs
        self._expect(starts)

    def replan(self, left: Sequence[Launch]) -> None:
        """Replace the launches that have not started, after their number has been decided."""
        from octant.runs.starts import list_starts

        starts = list_starts(left)
        self.total = self.number + 1 + len(starts)
        self.rounds = {key: number for key, number in self.rounds.items() if key in {start.key for start in starts}}
        self.most = 1 + max(self.rounds.values(), default=0)
        self._expect(starts)

    def _expect(self, starts: Sequence[Launch]) -> None:
        self.ahead = {}
        self.programs |= {start.request.key for start in starts if start.request.subject.command}
        for start in starts:
            self.ahead[start.request.key] = self.ahead.get(start.request.key, 0.0) + self.known.seconds(start)

    def is_new(self, step: LaunchStart) -> bool:
        """Record the launch that is starting; return whether it differs from the last one."""
        if step.number == self.number:
            return False
        now = self.now()
        if self.current:
            took_s, expected_s = self.taken.get(self.current, (0.0, 0.0))
            self.taken[self.current] = took_s + now - self.since_s, expected_s + self.current_s
        self.number, self.current, self.since_s = step.number, step.planned.launch.request.key, now
        self.current_s = self.known.seconds(step.planned.launch)
        self.ahead[self.current] = max(0.0, self.ahead.get(self.current, 0.0) - self.current_s)
        return True

    def count(self, launch: Launch) -> str:
        """Return `round 2/6, 23/108`; without the total if launches are decided one by one."""
        count = f"{self.number + 1}/{self.total}" if self.total else str(self.number + 1)
        number = self.rounds.get(launch.key)
        return count if number is None or self.most == 1 else f"round {number + 1}/{self.most}, {count}"

    @property
    def has_estimate(self) -> bool:
        """Whether the time left can be estimated: not before the first launch of a program."""
        return self.total > 0 and not self.programs - self.taken.keys()

    def left_text(self, share: float | None = None) -> str:
        """Return `about 7 s left`, or "" without an estimate; `share` as in `left_s`."""
        return f"about {self.left_s(share):.0f} s left" if self.has_estimate else ""

    def left_s(self, share: float | None = None) -> float:
        """Estimate the seconds until the end.

        Args:
            share: finished share of the current launch, if its kernel reports progress.
        """
        elapsed_s = self.now() - self.since_s
        present_s = self.current_s * self._slowness(self.current) - elapsed_s if self.current else 0.0
        if share:
            present_s = elapsed_s * (1 - share) / share
        ahead_s = sum(seconds * self._slowness(request) for request, seconds in self.ahead.items())
        return max(0.0, present_s) + ahead_s + self.after_s

    def announcement(self) -> str:
        """Return the number of launches and the estimated time, before the first launch."""
        rounds = f" in {counted(self.most, 'round')}" if self.most > 1 else ""
        if not self.has_estimate:
            return f"{counted(self.total, 'launch')}{rounds}"
        source = f" ({self.known.source})" if self.left_s() >= _LONG_S else ""
        return f"{counted(self.total, 'launch')}{rounds}, about {duration_text(self.left_s())}{source}"

    def done_share(self, left_s: float) -> float:
        """Return the elapsed share of the time, or of the launches if there is no estimate."""
        if not self.has_estimate:
            return max(self.number, 0) / max(self.total, 1)
        over_s = self.now() - self.begun_s
        return over_s / (over_s + left_s) if over_s + left_s > 0 else 0.0

    def _slowness(self, request: str) -> float:
        """Return actual over estimated time of the launches of a request; of all requests if it had none yet."""
        if request in self.taken:
            took_s, expected_s = self.taken[request]
        else:
            took_s, expected_s = (
                _PRIOR_S + sum(column) for column in zip((0.0, 0.0), *self.taken.values(), strict=True)
            )
        return took_s / expected_s if expected_s > 0 else 1.0


def _title(step: LaunchStart) -> str:
    request = step.planned.launch.request
    if request.subject.command:
        return clean(request.show.title or request.subject.name)
    return clean(": ".join(dict.fromkeys([request.subject.name, request.show.title or request.subject.name])))


def _reached_text(step: LaunchStart, phase: str, elapsed_s: float) -> str:
    """Return the phase that the kernel of a launch reports; for a program, the elapsed time."""
    if step.planned.launch.request.subject.command:
        return f", {elapsed_s:.0f} s in this launch"
    return f", {phase}" if phase else ""


class _Lines:
    """Prints the plan, then one line per launch."""

    def __init__(self, clock: RemainingTime) -> None:
        self.clock = clock
        if self.clock.total:
            print(self.clock.announcement(), file=sys.stderr, flush=True)

    def __call__(self, step: LaunchStart, _elapsed_s: float) -> None:
        """Print a line if another launch has started."""
        if self.clock.is_new(step):
            left = f" ({text})" if self.clock.total and (text := self.clock.left_text()) else ""
            count = self.clock.count(step.planned.launch)
            print(f"[{count}] {_title(step)}{left}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def _bar(clock: RemainingTime) -> Iterator[Observe]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    if clock.left_s() >= _LONG_S:
        print(clock.announcement(), file=sys.stderr, flush=True)
    columns = (
        TextColumn("{task.fields[count]}"),
        BarColumn(bar_width=24),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}{task.description}", markup=False),
    )
    drawn_s = 0.0
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=1.0 if clock.total else None, count="", left="")

        def tick(step: LaunchStart, elapsed_s: float) -> None:
            nonlocal drawn_s
            clock.is_new(step)
            if time.monotonic() - drawn_s < _REDRAW_S:  # drawing would take longer than short launches
                return
            drawn_s = time.monotonic()
            reached = step.share()
            share = reached.share if reached else None
            left = clock.left_text(share)
            progress.update(
                task,
                total=1.0 if clock.total else None,
                completed=clock.done_share(clock.left_s(share)),
                count=clock.count(step.planned.launch),
                left=f"{left}  " if left else "",
                description=_title(step) + _reached_text(step, reached.phase if reached else "", elapsed_s),
            )

        yield tick
