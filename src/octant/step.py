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

    phase: str  # of the kernel; "": none
    messages: int
    bytes: int
    turns: float | None = None
    """Messages whose starts follow one another on each rank; `None`: the average number that a rank sends. In a
    broadcast
    few ranks send and the others wait, so its start counts for all."""
    exact: bool = True  # independent of the data; otherwise a mean or a maximum

    def starts(self, ranks: int) -> float:
        """Return the number of message starts that follow one another on each rank."""
        return self.messages / ranks if self.turns is None else self.turns


@dataclass(frozen=True)
class Step:
    """One step (or one chunk of each lane) of all ranks of a group together.

    Ranks that could share memory within a node are assumed to be on separate nodes, unless the knobs request it.
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
"""Function of a workload: the step of complete knobs, ranks of a group, and threads of each rank.

KeyError and ValueError mean that no step is declared for these knobs. `checked` distinguishes mistakes of the step.
"""


NOT_KNOWN = (LookupError, ValueError, ArithmeticError)
"""Errors of a step for knobs, values or kernels for which nothing is declared."""


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

    The returned step raises `StepError` if it uses a missing knob, returns no `Step`, or raises an error other than
    `NOT_KNOWN`.
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

    The predicted rate is of the counts of the headline or, if it has none, of the bytes that a rank sends.
    """

    name: str
    title: str  # in tables
    size: str  # knob of the problem size
    power: int = 1  # exponent with which memory grows with the size
    read: Callable[[str], float] = float  # the size from the text of its knob
    whole: Callable[[float], int] = round  # nearest size that the kernel accepts
    apart: tuple[Mapping[str, str], ...] = ({},)
    """Knobs of ranks that share no memory. The first of several algorithms is the default of the workload."""
    only: Mapping[str, str] = field(default_factory=dict)  # knobs that identify the problem
    note: str = ""  # assumptions, in words

    def size_of(self, knobs: Mapping[str, str]) -> float:
        """Return the size of a problem.

        Raises:
            KeyError, ValueError: the knobs do not define it.
        """
        return self.read(knobs[self.size])

    def grown(self, knobs: Mapping[str, str], times: float) -> dict[str, str]:
        """Return the knobs of a problem that takes so many times the memory.

        Raises:
            KeyError, ValueError: the knobs do not define its size.
        """
        return {**knobs, self.size: str(self.whole(self.size_of(knobs) * times ** (1 / self.power)))}


def squarest(ranks: int) -> tuple[int, int]:
    """Return the squarest grid of P × Q ranks with P ≤ Q."""
    rows = next(rows for rows in range(math.isqrt(ranks), 0, -1) if ranks % rows == 0)
    return rows, ranks // rows


def grid_of(text: str, ranks: int) -> tuple[int, int]:
    """Return rows and columns of a grid of ranks: `PxQ`, or `auto` for the squarest.

    Raises:
        ValueError: the grid does not have so many ranks.
    """
    if text == "auto":
        return squarest(ranks)
    rows, columns = map(int, text.split("x"))
    if rows * columns != ranks or rows < 1:
        raise ValueError(f"{ranks} ranks do not form a grid of {text}")
    return rows, columns
