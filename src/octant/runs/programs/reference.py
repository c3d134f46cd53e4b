"""The baseline of a run of a program: the launch with whose results the checks compare all others."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from octant.record import Point
from octant.request import Launch, Request, comparable_cell
from octant.runs.programs import values
from octant.store import kept

_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True)
class Reference:
    """Results of the baseline, read from its record."""

    point: Point
    folder: Path  # of the run that contains it

    def value(self, name: str) -> float | None:
        """Return the value with this name; `None`: the baseline has none."""
        return next((one.value for one in self.point.results if one.bound is None and one.name == name), None)

    def file(self, number: int) -> bytes | None:
        """Return the file of the check with this number; `None`: it was too large, and only `digest` is stored.

        Raises:
            RecordError: the stored file is damaged or missing.
        """
        name = stored_name(number)
        found = next((one for one in self.point.files if one.name.partition(".")[0] == name), None)
        return kept.read_kept(self.folder, found) if found and found.stored else None

    def digest(self, number: int) -> str:
        """Return the SHA-256 of the file of the check with this number; "": the baseline has none."""
        return self.point.notes.get(digest_note(number), "")


def stored_name(number: int) -> str:
    """Return the name, without its ending, under which the file of a check is stored with the baseline."""
    return f"baseline-{number}"


def digest_note(number: int) -> str:
    """Return the name of the note that has the SHA-256 of the file of a check."""
    return f"{stored_name(number)} SHA-256"


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file.

    Raises:
        OSError: the file cannot be read.
    """
    digest = hashlib.sha256()
    with values.open_plain(path) as file:
        while block := file.read(_CHUNK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def baseline_of(request: Request, requests: Sequence[Request]) -> Launch:
    """Return the baseline of a request: a launch of the first cell of the first request of the same program.

    Args:
        asks: requests of the run.
    """
    first = next((one for one in requests if one.subject == request.subject), request)
    return Launch(first, 0, first.cells()[0])


def is_of_cell(point: Point, launch: Launch) -> bool:
    """Return whether a point belongs to the cell of this launch, in any repeat."""
    name = launch.request.subject.name
    return comparable_cell(point.knobs, name) == comparable_cell(launch.started_knobs, name)


def is_launch_of(launch: Launch, baseline: Launch) -> bool:
    """Return whether a start of one cell is one of the baseline."""
    name = launch.request.subject.name
    same_cell = comparable_cell(launch.started_knobs, name) == comparable_cell(baseline.started_knobs, name)
    return launch.request.key == baseline.request.key and same_cell


def find_reference(baseline: Launch, known: Mapping[str, Iterable[Point]], folder: Path) -> Reference | None:
    """Return the results of the first successful launch of the baseline; `None`: there is none so far.

    Args:
        baseline: as `baseline_of` returns it.
        known: the points of the run so far, by the key of their launch.
        folder: of the run.
    """
    request = baseline.request
    for repeat in range(max(request.repeats, 2)):
        for point in known.get(Launch(request, repeat).key, ()):
            if is_of_cell(point, baseline):
                return Reference(point, folder)
    return None
