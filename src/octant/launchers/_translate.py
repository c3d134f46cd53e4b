"""Translation of a request or of a launcher's lines into a placement and into the syntax of launchers."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from octant.failure import Refusal
from octant.launchers._placement import from_syntax, to_every_syntax, to_syntax
from octant.launchers._reading import Syntax
from octant.launchers._roles import launchers_with_role
from octant.machine import PageSize, Topology
from octant.machine.sanity import make_consistent, remark
from octant.placement import Placement
from octant.placement.advice import NO_ADVICE, PlacementAdvice, advise, advise_on_request
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
    advice: PlacementAdvice = NO_ADVICE
    better: PlacementRequest | None = None  # the best of the advice, in the syntax of the user's launcher:
    better_lines: tuple[str, ...] = ()  # empty if the launcher cannot express it, or there is no single launcher


def request_text(place: str | None, options: Mapping[str, str | int | None]) -> str:
    """Return the text of a request from `--place` or from options named like its keys (`ranks`, `unit`, …).

    Raises:
        ValueError: both were given.
    """
    given = {key: value for key, value in options.items() if value is not None}
    if place is not None:
        if given:
            raise ValueError(f"cannot use --{next(iter(given))} with --place; add it to the text of --place")
        return place
    if "map" in given:  # its lines are the ranks
        return ",".join(f"{key}={value}" for key, value in given.items())
    head = f"{given.pop('ranks', 1)}x{given.pop('threads', 1)}"
    return ",".join([head, *(f"{key}={value}" for key, value in given.items())])


def append_named_file(text: str) -> str:
    """Append the rank file or map file that a launcher's lines name.

    Raises:
        ValueError: the file cannot be read.
    """
    if re.search(r"^# file ", text, re.MULTILINE):  # as Octant prints them, with the file
        return text
    patterns = (one.FILE for one in launchers_with_role("read").values() if hasattr(one, "FILE"))
    found = next(filter(None, (re.search(pattern, text) for pattern in patterns)), None)
    if found is None:
        return text
    name = found[found.lastindex or 0]
    try:
        return f"{text}\n# file {name}:\n{read_text(Path(name), 'file', LONGEST)}"
    except Refusal as refusal:
        why = str(refusal).partition("; ")[0]
        raise ValueError(
            f"{why}, which these lines use; give a path relative to the working directory, or append its lines "
            f"after '# file {name}:'"
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
    """Plan the text of a request (with `lines`: read a launcher's lines) and write it in the syntax of `launchers`.

    `all` means every launcher. `here`: the topology is that of this machine, so that the lines are of its mpiexec.

    Raises:
        ValueError: a text or launcher that is not known.
        DoesNotFit: the topology cannot hold it.
    """
    topology, contradictions = make_consistent(topology)
    if lines:
        read_as, reading = from_syntax(append_named_file(text), topology, here=here)
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
    advice = (advise if lines else advise_on_request)(placement, request, topology)
    mine = next(iter(written)) if len(written) == 1 else read_as
    found = [(one, rows) for one in advice.better if mine and (rows := _better_lines(mine, one, topology))]
    shortest = min(found, key=lambda one: sum(map(len, one[1])), default=(next(iter(advice.better), None), ()))
    return Translation(topology, request, placement, remarks, written, read_as, broken, advice, *shortest)


def _better_lines(launcher: str, better: PlacementRequest, topology: Topology) -> tuple[str, ...]:
    """Return the lines of a launcher for the better request, if they read back as a placement without warnings."""
    if launcher not in launchers_with_role("write"):
        return ()
    try:
        syntax = to_syntax(launcher, plan(topology, better), better, topology)
        files = (line for name, content in syntax.files for line in (f"# file {name}:", *content.splitlines()))
        lines = (*syntax.lines, *files)
        reading = from_syntax("\n".join(lines), topology, launcher)[1]
    except (ValueError, Refusal):
        return ()
    wrong = advise(reading.placement, reading.request, topology).warnings
    whole = len(reading.placement.ranks) == better.ranks and reading.request.threads == better.threads
    return lines if whole and not wrong else ()
