"""From the text of a request, or a launcher's lines, to a placement and its syntax for every launcher."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from octant.failure import Refusal
from octant.launchers._placement import from_syntax, to_every_syntax, to_syntax
from octant.launchers._reading import Syntax
from octant.launchers._roles import having
from octant.machine import PageSize, Topology
from octant.machine.sanity import make_consistent, remark
from octant.placement import Placement
from octant.placement.expressions import parse_place
from octant.placement.planner import plan
from octant.placement.request import LONGEST, PlacementRequest
from octant.registry import Broken
from octant.untrusted import read_text


@dataclass(frozen=True)
class Translation:
    """A request, its placement on a topology, what may be unexpected, and the same in the syntax of launchers."""

    topology: Topology
    request: PlacementRequest
    placement: Placement
    remarks: tuple[str, ...]
    launchers: Mapping[str, Syntax]
    read_as: str = ""  # the launcher whose lines were read
    broken: tuple[Broken, ...] = ()  # launchers that were asked for among all, and cannot be used


def request_text(place: str | None, options: Mapping[str, str | int | None]) -> str:
    """The request's text from `--place` and options of the same names as its keys (`ranks`, `unit`, …).

    Raises:
        ValueError: both were given.
    """
    given = {key: value for key, value in options.items() if value is not None}
    if place is not None:
        if given:
            raise ValueError(f"cannot take --{next(iter(given))} beside --place; put it into --place")
        return place
    if "map" in given:  # its lines are the ranks
        return ",".join(f"{key}={value}" for key, value in given.items())
    head = f"{given.pop('ranks', 1)}x{given.pop('threads', 1)}"
    return ",".join([head, *(f"{key}={value}" for key, value in given.items())])


def with_file(text: str) -> str:
    """A launcher's lines, followed by those of the rank file or map file that they name.

    Raises:
        ValueError: the file cannot be read.
    """
    if re.search(r"^# file ", text, re.MULTILINE):  # as Octant prints them, with the file
        return text
    patterns = (one.FILE for one in having("read").values() if hasattr(one, "FILE"))
    found = next(filter(None, (re.search(pattern, text) for pattern in patterns)), None)
    if found is None:
        return text
    name = found[found.lastindex or 0]
    try:
        return f"{text}\n# file {name}:\n{read_text(Path(name), 'file', LONGEST)}"
    except Refusal as refusal:
        why = str(refusal).partition("; ")[0]
        raise ValueError(
            f"{why}, which the lines name; try a path from the current folder, or its lines after '# file {name}:'"
        ) from None


def translate(
    text: str,
    topology: Topology,
    launchers: Sequence[str] = (),
    *,
    lines: bool = False,
    here: bool = False,
    page_sizes: Sequence[PageSize] | None = None,
) -> Translation:
    """Plans a request's text (or, with `lines`, reads a launcher's lines) and writes it in the syntax of `launchers`.

    `all` means every launcher. `here`: the topology is that of this machine, so that the lines are of its mpiexec.

    Raises:
        ValueError: a text or launcher that is not known.
        DoesNotFit: the topology cannot hold it.
    """
    topology, contradictions = make_consistent(topology)
    if lines:
        read_as, reading = from_syntax(with_file(text), topology, here=here)
        request, placement, remarks = reading.request, reading.placement, reading.remarks
    else:
        read_as = ""
        request = parse_place(text, topology)
        placement = plan(topology, request, page_sizes)
        remarks = placement.remarks
    if "all" in launchers:
        written, broken = to_every_syntax(placement, request, topology)
    else:
        written, broken = {name: to_syntax(name, placement, request, topology) for name in launchers}, ()
    remarks = (*map(remark, contradictions), *dict.fromkeys(remarks))
    return Translation(topology, request, placement, remarks, written, read_as, broken)
