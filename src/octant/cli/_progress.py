"""Progress of anything that takes longer than two seconds: a bar with time left on a terminal, lines elsewhere."""

from __future__ import annotations

import contextlib
import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from octant.runs.carry_out import Step


@contextlib.contextmanager
def shown() -> Iterator[Callable[[Step, float], None]]:
    """A callback for `carry_out`, drawing on standard error as long as the block lasts.

    Meanwhile a batch system that ends the job (SIGTERM) is answered as Ctrl-C is: what was measured is kept, and how to
    go on is said.
    """
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        if sys.stderr.isatty():
            with _bar() as tick:
                yield tick
        else:
            yield _Lines()
    finally:
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def said() -> Iterator[Callable[[str], None]]:
    """A callback that says what is being done, on a terminal's standard error, as long as the block lasts."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True).status("") as status:
        yield status.update


class _Lines:
    """One line a launch."""

    def __init__(self) -> None:
        self.last = -1

    def __call__(self, step: Step, _elapsed_s: float) -> None:
        if step.done != self.last:
            self.last = step.done
            left_s = step.total_s - step.done_s
            title = step.launch.title or step.launch.workload
            print(
                f"[{step.done + 1}/{step.total}] {step.launch.workload}: {title} (about {left_s:.0f} s left)",
                file=sys.stderr,
                flush=True,
            )


@contextlib.contextmanager
def _bar() -> Iterator[Callable[[Step, float], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.fields[count]}"),
        BarColumn(bar_width=24),
        TimeElapsedColumn(),
        TextColumn("about {task.fields[left]} s left  {task.description}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=1.0, count="", left="?")

        def tick(step: Step, elapsed_s: float) -> None:
            from octant.runs.carry_out import expected_seconds

            done_s = step.done_s + min(elapsed_s, expected_seconds(step.launch))
            progress.update(
                task,
                total=step.total_s,
                completed=done_s,
                count=f"{step.done + 1}/{step.total}",
                left=f"{max(0.0, step.total_s - done_s):.0f}",
                description=f"{step.launch.workload}: {step.launch.title or step.launch.mode}",
            )

        yield tick
