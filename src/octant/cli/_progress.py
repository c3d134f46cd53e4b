"""Progress of anything that takes longer than two seconds: a bar with time left on a terminal, lines elsewhere."""

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
_LOOK_S = 0.2
_SILENT_S = 2.0
_LONG_S = 30.0  # what takes longer is announced, and says what that rests on
_CAVEAT_S = 10.0  # of launches of other requests, until they say more about a request than what is expected of it


@contextlib.contextmanager
def progress_of(
    left: Sequence[Launch],
    rounds: Mapping[str, int],
    after_s: float = 0.0,
    known: Durations | None = None,
    shown: bool = False,
) -> Iterator[Observe]:
    """A callback for `execute_run` of these launches, drawing on standard error while the block lasts.

    `rounds` are those of launches by their keys, `after_s` the seconds of what follows them and `known` what is
    known of the times of launches, as in `Clock`. `shown`: programs print to the same terminal, so that only lines are
    printed, each before its launch starts.

    Meanwhile a batch system that ends the job (SIGTERM) is answered as Ctrl-C is: what was measured is kept, and how to
    go on is shown.
    """
    with progress_by(RemainingTime(left, rounds, after_s, known=known), shown) as tick:
        yield tick


@contextlib.contextmanager
def progress_by(clock: RemainingTime, shown: bool = False) -> Iterator[Observe]:
    """As `progress_of`, with a clock of the caller, who may plan it anew."""
    with ended_like_ctrl_c():
        if sys.stderr.isatty() and not shown:
            with _bar(clock) as tick:
                yield tick
        else:
            yield _Lines(clock)


@contextlib.contextmanager
def ended_like_ctrl_c() -> Iterator[None]:
    """While the block lasts, SIGTERM is answered as Ctrl-C is: what was begun is cleared away."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def status_line() -> Iterator[Callable[[str], None]]:
    """A callback that shows the current activity on a terminal's standard error while the block lasts."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True).status("") as status:
        yield status.update


@contextlib.contextmanager
def model_progress() -> Iterator[None]:
    """Shows how long the network engine takes, if more than two seconds; on a terminal also how far it is."""
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
    while not over.wait(_LOOK_S):
        if _network.progress()[1] <= _SILENT_S:
            continue
        console.print(f"about {_network.progress()[1]:.0f} s of computing; Ctrl-C ends it")
        if not sys.stderr.isatty():
            return
        with console.status("") as status:
            while not over.wait(_LOOK_S) and (expected_s := _network.progress()[1]):
                share = _network.progress()[0]
                status.update(f"{share:.0%}, about {expected_s * (1 - share):.0f} s left")


class RemainingTime:
    """How many launches are left, and how long they will take: as those before them, ask by ask.

    What is expected is what stored runs took, or a rule; a busy machine shows only in what launches take, hence
    after the first round.
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
        self.after_s = after_s  # of what follows the last launch: figures, the report
        self.rounds = rounds  # of launches by their keys, from 0; empty where there are none
        self.most = 1 + max(self.rounds.values(), default=0)
        self.now, self.begun_s = now, now()
        self.number, self.current, self.current_s, self.since_s = -1, "", 0.0, 0.0
        self.ahead: dict[str, float] = {}  # expected seconds of what has not begun, by the key of the request
        self.taken: dict[str, tuple[float, float]] = {}  # seconds of what has ended, and those expected
        self.programs: set[str] = set()  # keys of requests of programs
        self._expect(starts)

    def replan(self, left: Sequence[Launch]) -> None:
        """Count other launches than before after those that were started: their number has been decided."""
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
        """Notes which launch is being started; whether it is another than before."""
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
        """`round 2/6, 23/108`; without the whole where launches are decided one by one."""
        count = f"{self.number + 1}/{self.total}" if self.total else str(self.number + 1)
        number = self.rounds.get(launch.key)
        return count if number is None or self.most == 1 else f"round {number + 1}/{self.most}, {count}"

    @property
    def can_tell(self) -> bool:
        """Whether the time left is known: of a user's program nothing is, before it has run once."""
        return self.total > 0 and not self.programs - self.taken.keys()

    def left_text(self, share: float | None = None) -> str:
        """`about 7 s left`, or nothing where nobody knows; `share` as in `left_s`."""
        return f"about {self.left_s(share):.0f} s left" if self.can_tell else ""

    def left_s(self, share: float | None = None) -> float:
        """Seconds until all is done.

        Args:
            share: of the present launch, where its kernel says how far it is.
        """
        elapsed_s = self.now() - self.since_s
        present_s = self.current_s * self._slowness(self.current) - elapsed_s if self.current else 0.0
        if share:
            present_s = elapsed_s * (1 - share) / share
        ahead_s = sum(seconds * self._slowness(request) for request, seconds in self.ahead.items())
        return max(0.0, present_s) + ahead_s + self.after_s

    def promise(self) -> str:
        """How many launches there are and how long they will take, before the first of them begins."""
        rounds = f" in {counted(self.most, 'round')}" if self.most > 1 else ""
        if not self.can_tell:
            return f"{counted(self.total, 'launch')}{rounds}"
        source = f" ({self.known.source})" if self.left_s() >= _LONG_S else ""
        return f"{counted(self.total, 'launch')}{rounds}, about {duration_text(self.left_s())}{source}"

    def done_share(self, left_s: float) -> float:
        """The share of the time that is over, or of the launches where nobody knows how long they take."""
        if not self.can_tell:
            return max(self.number, 0) / max(self.total, 1)
        over_s = self.now() - self.begun_s
        return over_s / (over_s + left_s) if over_s + left_s > 0 else 0.0

    def _slowness(self, request: str) -> float:
        """What launches of a request took over what was expected; of all requests, where it has had none."""
        if request in self.taken:
            took_s, expected_s = self.taken[request]
        else:
            took_s, expected_s = (
                _CAVEAT_S + sum(column) for column in zip((0.0, 0.0), *self.taken.values(), strict=True)
            )
        return took_s / expected_s if expected_s > 0 else 1.0


def _title(step: LaunchStart) -> str:
    request = step.planned.launch.request
    if request.subject.command:
        return clean(request.show.title or request.subject.name)
    return clean(": ".join(dict.fromkeys([request.subject.name, request.show.title or request.subject.name])))


def _reached_text(step: LaunchStart, phase: str, elapsed_s: float) -> str:
    """How far a launch is: the phase that its kernel reports; for a program, which reports nothing, its time."""
    if step.planned.launch.request.subject.command:
        return f", {elapsed_s:.0f} s in this launch"
    return f", {phase}" if phase else ""


class _Lines:
    """What is planned, and one line per launch."""

    def __init__(self, clock: RemainingTime) -> None:
        self.clock = clock
        if self.clock.total:
            print(self.clock.promise(), file=sys.stderr, flush=True)

    def __call__(self, step: LaunchStart, _elapsed_s: float) -> None:
        if self.clock.is_new(step):
            told = self.clock.left_text() if self.clock.total else ""
            left = f" ({told})" if told else ""
            count = self.clock.count(step.planned.launch)
            print(f"[{count}] {_title(step)}{left}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def _bar(clock: RemainingTime) -> Iterator[Observe]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    if clock.left_s() >= _LONG_S:
        print(clock.promise(), file=sys.stderr, flush=True)
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
