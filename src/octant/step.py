"""Declaration of one step of a workload: what it computes, holds in memory and communicates.

`step.py` in a workload's folder declares it once, as a function of the knobs, the ranks and the threads. Time limits,
memory checks, estimated durations, performance limits and the predictions of the network model all use it.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from octant import registry
from octant.failure import suggestion
from octant.registry import Broken, UndeclaredError


@dataclass(frozen=True)
class Part:
    """Communication of a phase of a step, all ranks of the group together, as the kernel counts it."""

    phase: str  # of the kernel; "": of none
    messages: int
    bytes: int
    turns: float | None = None
    """Messages whose starts follow one another on each rank; `None`: as many as a rank sends on average. Of a broadcast
    few ranks send, and the others wait for it: its start is one of all."""
    exact: bool = True  # the kernel counts as much whatever its data are; else this is a mean, or the most

    def starts(self, ranks: int) -> float:
        """Return the number of message starts that follow one another on each rank."""
        return self.messages / ranks if self.turns is None else self.turns


@dataclass(frozen=True)
class Step:
    """One step (or one chunk of each lane) of all ranks of a group together.

    Ranks that may share memory within a node are taken to be on nodes of their own, unless the knobs ask for it.
    """

    counts: Mapping[str, float]  # under the names of the kernel's own counts; without messages and their bytes
    bytes_held: int  # of memory that the group allocates, all ranks together
    parts: Sequence[Part] = ()

    @property
    def messages(self) -> int:
        """Messages of all ranks, as the kernel counts them."""
        return sum(part.messages for part in self.parts)

    @property
    def bytes_sent(self) -> int:
        """Bytes of these messages."""
        return sum(part.bytes for part in self.parts)


Declared: TypeAlias = Callable[[Mapping[str, str], int, int], Step]
"""Of a workload: the step of these knobs (complete: defaults included), ranks of a group, and threads of each rank.

Raises KeyError or ValueError where the knobs do not say it. `checked` tells mistakes of the step apart from that.
"""


NOT_KNOWN = (LookupError, ValueError, ArithmeticError)
"""Errors with which a step says that these knobs do not tell it: a value or a kernel for which nothing is declared."""


class StepError(ValueError):
    """A step cannot be used, whatever the values of knobs are; the message names the file, the line and the error."""


class UnknownKnobError(KeyError):
    """A step asks for a knob that the kernel does not have."""

    def __str__(self) -> str:
        """Return the message, which `KeyError` would quote."""
        return str(self.args[0])


class _Knobs(dict[str, str]):
    """Complete knobs; a missing one is an error of the step, not of a value."""

    def __missing__(self, name: str) -> str:
        raise UnknownKnobError(f"the kernel has no knob {name!r}; {suggestion(name, self)}")


def checked(step: Declared) -> Declared:
    """Return the step with its mistakes distinguished from knobs for which nothing is declared.

    The step that is returned raises `StepError` if it asks for a knob that is missing, if it returns no `Step`, or if
    it raises another error than `NOT_KNOWN`, which passes.
    """
    if hasattr(step, "is_checked"):
        return step
    code = getattr(inspect.unwrap(step), "__code__", None)
    file, first_line = (Path(code.co_filename), code.co_firstlineno) if code else (Path("step.py"), None)

    def answer(knobs: Mapping[str, str], ranks: int, threads: int) -> Step | Exception:
        try:
            found = step(_Knobs(knobs), ranks, threads)
        except UnknownKnobError:
            raise
        except NOT_KNOWN as error:
            return error
        if not isinstance(found, Step):
            raise UndeclaredError(f"step() returns an object of type {type(found).__name__}, not Step")
        for name, value in {**found.counts, "bytes_held": found.bytes_held}.items():
            if not isinstance(value, int | float):
                raise UndeclaredError(f"{name} of the step is of type {type(value).__name__}, not a number")
        return found

    @functools.wraps(step)
    def certain(knobs: Mapping[str, str], ranks: int, threads: int) -> Step:
        found = registry.attempt("step", file, lambda: answer(knobs, ranks, threads))
        if isinstance(found, Broken):
            raise StepError(replace(found, line=found.line or first_line).reason)
        if isinstance(found, Exception):
            raise found
        return found

    certain.is_checked = True  # type: ignore[attr-defined]
    return certain


@dataclass(frozen=True)
class Scaling:
    """Growth of a workload's problem with memory, and knobs of ranks that share no memory.

    The rate that is predicted is of what the headline counts; where it counts nothing, of the bytes that a rank sends.
    """

    name: str
    title: str  # in tables
    size: str  # the knob of the problem's size
    power: int = 1  # of the size, with which the memory grows
    read: Callable[[str], float] = float  # the size from the text of its knob
    whole: Callable[[float], int] = round  # the nearest size that the kernel takes
    apart: tuple[Mapping[str, str], ...] = ({},)
    """Knobs with which ranks that share no memory work on it. Of several algorithms the first is the workload's own."""
    only: Mapping[str, str] = field(default_factory=dict)  # knobs without which a figure is of another problem
    note: str = ""  # what is assumed, in words

    def size_of(self, knobs: Mapping[str, str]) -> float:
        """Return the size of a problem.

        Raises:
            KeyError, ValueError: the knobs do not say it.
        """
        return self.read(knobs[self.size])

    def grown(self, knobs: Mapping[str, str], times: float) -> dict[str, str]:
        """Return the knobs of a problem that takes so many times the memory.

        Raises:
            KeyError, ValueError: the knobs do not say its size.
        """
        return {**knobs, self.size: str(self.whole(self.size_of(knobs) * times ** (1 / self.power)))}


def squarest(ranks: int) -> tuple[int, int]:
    """Return the squarest grid of P × Q ranks with P ≤ Q."""
    rows = next(rows for rows in range(math.isqrt(ranks), 0, -1) if ranks % rows == 0)
    return rows, ranks // rows


def grid_of(text: str, ranks: int) -> tuple[int, int]:
    """Return rows and columns of a grid of ranks: `PxQ`, or `auto` for the squarest.

    Raises:
        ValueError: it is no grid of so many ranks.
    """
    if text == "auto":
        return squarest(ranks)
    rows, columns = map(int, text.split("x"))
    if rows * columns != ranks or rows < 1:
        raise ValueError(f"{ranks} ranks are no grid of {text}")
    return rows, columns
