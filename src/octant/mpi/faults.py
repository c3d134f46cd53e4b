"""Known bugs of MPI libraries, and messages about launches that time out, crash or return wrong results."""

import functools
import os
import re
import signal
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Annotated, Literal

from msgspec import Meta

from octant.build.describe import default_knobs
from octant.failure import Exit, Refusal
from octant.launch.execute import ProcessOutcome, waited_text
from octant.mpi.inventory import library_and_version, linked
from octant.mpi.neutral import TITLES, Library, LibraryName, within
from octant.mpi.settings import library_of
from octant.record import Point
from octant.request import Launch, Request, cells_of
from octant.units import counted, parse_bytes
from octant.untrusted import InputTable, convert

Kind = Literal["wrong data", "hang", "crash", "slow"]
Condition = Annotated[str, Meta(pattern=r"^(>=?\d+|[^<>=\s]+)\Z")]
"""A word or size, or `>=N` or `>N` for a number; sizes are in bytes."""
_CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL)
"""Signals caused by the program itself."""


class Fault(InputTable, frozen=True, kw_only=True):
    """A known bug of an MPI library; `faults.toml` explains the fields."""

    name: str
    library: LibraryName
    since: str = ""
    until: str = ""
    seen: Annotated[tuple[str, ...], Meta(min_length=1)]
    workload: str
    knobs: Mapping[str, tuple[Condition, ...]] = {}
    ranks: tuple[Condition, ...] = ()
    kind: Kind
    says: str
    helps: str
    avoided: str = ""

    @property
    def versions(self) -> str:
        """Library and versions as text: `Open MPI 4.1 to before 5.0`."""
        since, until = self.since and f" {self.since}", self.until and f"before {self.until}"
        return TITLES[self.library] + (f"{since} to {until}" if since and until else since + (until and f" {until}"))

    @property
    def text(self) -> str:
        """Description with workaround: `a known bug of Open MPI 5.0: …; try …`."""
        return f"a known bug of {self.versions}: {self.says}; try {self.helps}"

    def holds(self, library: Library) -> bool:
        """Return whether this library has the bug."""
        return self.library == library.name and within(library.version, self.since, self.until)

    def concerns(self, workload: str, knobs: Mapping[str, str], ranks: int) -> bool:
        """Return whether the bug affects a cell; a condition on a missing knob is false."""
        return (
            workload == self.workload
            and (not self.ranks or _holds(self.ranks, str(ranks)))
            and all(_holds(conditions, knobs.get(name, "")) for name, conditions in self.knobs.items())
        )


@functools.cache
def faults() -> tuple[Fault, ...]:
    """Return all known bugs, in the order of the file."""
    table = tomllib.loads((files("octant.mpi") / "faults.toml").read_text(encoding="utf-8"))
    return convert(table["fault"], tuple[Fault, ...])


def of_library(library: Library) -> tuple[Fault, ...]:
    """Return the known bugs of a library."""
    return tuple(fault for fault in faults() if fault.holds(library))


def in_use() -> Library | None:
    """Return the library that Octant's programs are linked with; `None` if it cannot be determined."""
    try:
        return library_of(linked(), os.environ)
    except (Refusal, ValueError):
        return None


def crash_signal(outcome: ProcessOutcome) -> str:
    """Return the name of the signal that ended a program, or "".

    Launchers print the signal N or return -N, 128 + N (as a shell does) or N. If N is an exit code of Octant, only
    printed signals are used.
    """
    found = {number: one for one in _CRASHES for number in (-one, 128 + one, one) if number not in set(Exit)}
    crashed = {int(one): one for one in _CRASHES}.get(outcome.signal_of_rank) or found.get(outcome.code)
    return crashed.name if crashed else ""


def unfinished_text(launch: Launch, outcome: ProcessOutcome) -> str:
    """Return why a launch with a single pattern timed out or crashed, with library and ranks.

    "" if it did neither.
    """
    crash = crash_signal(outcome)
    if not outcome.timed_out and not crash:
        return ""
    library = in_use()
    how = f"timed out after {waited_text(outcome.seconds)}" if outcome.timed_out else crash
    ranks = launch.request.shape.ranks
    where = f"{library.title if library else 'MPI'}, {counted(ranks, 'rank')}"
    text = f"{'hangs' if outcome.timed_out else 'crashes'} on this system ({where}: {how}) and is not repeated"
    kinds: tuple[Kind, ...] = ("hang", "slow") if outcome.timed_out else ("crash",)
    known = _known(library, kinds, launch.request.subject.workload, launch.started_knobs, ranks)
    hint = "if it is only slow, use a longer --timeout" if outcome.timed_out else ""
    return "; ".join(filter(None, [text, known.text if known else hint]))


def known_wrong_results(points: Iterable[Point]) -> dict[str, None]:
    """Return the known bugs that explain wrong results of points, each once, as text with the library."""
    found: dict[str, None] = {}
    for point in points:
        library = None if point.passed or point.ranks is None else library_named(point.process.mpi)
        fault = _known(library, ("wrong data",), point.workload, point.knobs, point.ranks or 0)
        if library and fault:
            found[f"{library.title}: the wrong result of {point.workload} is {fault.text}"] = None
    return found


def library_named(banner: str) -> Library | None:
    """Return the library of a version banner in a record; `None` if it is not known."""
    try:
        return Library(*library_and_version(banner))
    except ValueError:
        return None


def safe_requests(requests: Iterable[Request], library: Library) -> tuple[tuple[Request, ...], tuple[str, ...]]:
    """Return the requests without the cells that a known bug of the library affects, and the reasons, each once.

    Bugs that Octant's programs avoid are not a reason.
    """
    kept: list[Request] = []
    reasons: dict[str, None] = {}
    for request in requests:
        defaults, concerned = default_knobs(request.subject.workload), []
        for cell in request.cells():
            known = [fault for fault in of_library(library) if not fault.avoided]
            if fault := _first(known, request.subject.workload, {**defaults, **cell}, request.shape.ranks):
                concerned.append(cell)
                reasons[f"configurations of {request.subject.workload} are skipped: {fault.text}"] = None
        kept += [replace(request, knobs=launch.started_knobs) for launch in Launch(request).without(concerned)]
    return tuple(kept), tuple(reasons)


def _known(
    library: Library | None, kinds: tuple[Kind, ...], workload: str, knobs: Mapping[str, str], ranks: int
) -> Fault | None:
    if library is None:
        return None
    fitting = [fault for fault in of_library(library) if fault.kind in kinds]
    return _first(fitting, workload, {**default_knobs(workload), **knobs}, ranks)


def _first(known: Sequence[Fault], workload: str, knobs: Mapping[str, str], ranks: int) -> Fault | None:
    """Return the first bug that affects a cell of these knobs, whose values may be lists."""
    cells = cells_of(knobs)
    return next((fault for fault in known if any(fault.concerns(workload, cell, ranks) for cell in cells)), None)


def _holds(conditions: tuple[str, ...], value: str) -> bool:
    return any(_fits(condition, value) for condition in conditions)


def _fits(condition: str, value: str) -> bool:
    bound = re.fullmatch(r"(>=?)(\d+)", condition)
    found, wanted = _number(value), _number(condition)
    if bound and found is not None:
        return found > int(bound[2]) or (bound[1] == ">=" and found == int(bound[2]))
    return value == condition or (found is not None and found == wanted)


def _number(word: str) -> int | None:
    """Return a number or a size in bytes; `None` for other words."""
    try:
        return parse_bytes(word)
    except ValueError:
        return None
