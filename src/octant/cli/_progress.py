"""Progress of anything that takes longer than two seconds: a bar with time left on a terminal, lines elsewhere."""

from __future__ import annotations

import contextlib
import signal
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from octant.ask import Launch
    from octant.runs.carry_out import Observe, Step

_REDRAW_S = 0.1


@contextlib.contextmanager
def progress_of(launches: Sequence[Launch]) -> Iterator[Observe]:
    """A callback for `carry_out` of these launches, drawing on standard error while the block lasts.

    Meanwhile a batch system that ends the job (SIGTERM) is answered as Ctrl-C is: what was measured is kept, and how to
    go on is shown.
    """
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        if sys.stderr.isatty():
            with _bar(launches) as tick:
                yield tick
        else:
            yield _Lines(launches)
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


class _Clock:
    """How many launches there are, and how long those before the present one should have taken."""

    def __init__(self, launches: Sequence[Launch]) -> None:
        from octant.runs.plan import expected_seconds

        self.total = sum(len(launch.starts()) for launch in launches)
        self.total_s = sum(map(expected_seconds, launches))
        self.number, self.done_s, self.expected_s = -1, 0.0, 0.0

    def is_new(self, step: Step) -> bool:
        """Notes which launch is being started; whether it is another than before."""
        if step.number == self.number:
            return False
        self.done_s += self.expected_s
        self.number, self.expected_s = step.number, step.planned.expected_s
        return True

    def count(self) -> str:
        """`3/20`; without the whole where launches are decided one by one."""
        return f"{self.number + 1}/{self.total}" if self.total else str(self.number + 1)

    def left_s(self, elapsed_s: float) -> float:
        """Expected seconds until all is done."""
        return max(0.0, self.total_s - self.done_s - min(elapsed_s, self.expected_s))


def _title(step: Step) -> str:
    ask = step.planned.launch.ask
    return ": ".join(dict.fromkeys([ask.subject.name, ask.show.title or ask.subject.name]))


class _Lines:
    """One line per launch."""

    def __init__(self, launches: Sequence[Launch]) -> None:
        self.clock = _Clock(launches)

    def __call__(self, step: Step, _elapsed_s: float) -> None:
        if self.clock.is_new(step):
            left = f" (about {self.clock.left_s(0):.0f} s left)" if self.clock.total else ""
            print(f"[{self.clock.count()}] {_title(step)}{left}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def _bar(launches: Sequence[Launch]) -> Iterator[Observe]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.fields[count]}"),
        BarColumn(bar_width=24),
        TimeElapsedColumn(),
        TextColumn("about {task.fields[left]} s left  {task.description}"),
    )
    clock = _Clock(launches)
    drawn_s = 0.0
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=clock.total_s or None, count="", left="?")

        def tick(step: Step, elapsed_s: float) -> None:
            nonlocal drawn_s
            clock.is_new(step)
            if time.monotonic() - drawn_s < _REDRAW_S:  # drawing would take longer than short launches
                return
            drawn_s = time.monotonic()
            reached = step.share()
            done_s = elapsed_s if reached is None else reached.share * clock.expected_s
            left_s = clock.left_s(done_s)
            if reached is not None and reached.share > 0:  # what a kernel says of itself is no guess
                left_s = clock.left_s(clock.expected_s) + elapsed_s * (1 - reached.share) / reached.share
            progress.update(
                task,
                completed=clock.done_s + min(done_s, clock.expected_s),
                count=clock.count(),
                left=f"{left_s:.0f}",
                description=_title(step) + (f", {reached.phase}" if reached and reached.phase else ""),
            )

        yield tick
