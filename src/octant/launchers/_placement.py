"""The roles `write` and `read`: a placement in the syntax of every launcher, and such lines read back."""

import re
from dataclasses import dataclass, replace
from functools import partial
from types import ModuleType

from octant import registry
from octant.launchers._roles import PACKAGE, entries, file_name, find, having, unusable
from octant.machine import Topology
from octant.placement import Placement
from octant.placement.recognise import recognise
from octant.placement.remarks import remarks as facts
from octant.placement.request import LONGEST, Request
from octant.placement.sanity import check
from octant.registry import Broken


@dataclass(frozen=True)
class Syntax:
    """Lines that request a placement from a launcher. `exact`: they give exactly the masks that Octant planned."""

    lines: tuple[str, ...]
    exact: bool
    cannot: tuple[str, ...] = ()  # plain statements of what this launcher cannot express
    files: tuple[tuple[str, str], ...] = ()  # (name, content) of files that the lines mention


@dataclass(frozen=True)
class Reading:
    """What a launcher's lines would do: the equivalent request, the placement, and what may be unexpected."""

    request: Request
    placement: Placement
    remarks: tuple[str, ...] = ()


def to_syntax(name: str, placement: Placement, request: Request, topology: Topology) -> Syntax:
    """The placement in the syntax of launcher `name`.

    Raises:
        Refusal: no such launcher; the message names the known ones. Or its file cannot be used.
    """
    syntax: Syntax = find("write", name).to_syntax(placement, request, topology)
    return syntax


def to_every_syntax(
    placement: Placement, request: Request, topology: Topology
) -> tuple[dict[str, Syntax], tuple[Broken, ...]]:
    """The placement in the syntax of every launcher, and the launchers that cannot be used."""
    made = registry.collect(
        (name, registry.attempt_of(PACKAGE, file_name(module), partial(module.to_syntax, placement, request, topology)))
        for name, module in having("write").items()
    )
    return dict(made.working), (*entries().broken.values(), *made.broken.values())


def from_syntax(text: str, topology: Topology, name: str | None = None) -> tuple[str, Reading]:
    """Which launcher's lines these are, and what they would do on the topology.

    The launcher that starts the ranks is read first; variables of an OpenMP runtime beside it then place the threads
    inside the mask of each rank.

    Raises:
        ValueError: lines of no launcher that can be read back, or wrong values in them.
        Refusal: no launcher `name` that reads lines, or its file cannot be used; or a rank that is not possible on
            the topology.
    """
    if len(text) > LONGEST:
        raise ValueError(f"cannot read lines of {len(text)} characters (at most {LONGEST}); give those of one launch")
    if name is not None:
        find("read", name)
    readable = having("read")
    marked = [key for key in readable if re.search(readable[key].MARK, text, re.MULTILINE)]
    marked.sort(key=lambda key: _ORDER.index(_binds(readable[key])))
    chosen = name or next(iter(marked), None)
    if chosen is None:
        raise ValueError(f"cannot recognise the launcher of {text!r}; known: {', '.join(readable)}{unusable()}")
    reading: Reading = readable[chosen].from_syntax(text, topology)
    inside = next((readable[key] for key in marked if _binds(readable[key]) == "threads"), None)
    if inside is not None and _binds(readable[chosen]) != "threads":
        reading = _with_threads(reading, inside, text, topology)
    check(reading.placement, topology, frozenset(cpu.os for cpu in topology.cpus), shared=True)
    return chosen, replace(reading, remarks=(*_ignored_tools(text, _binds(readable[chosen])), *reading.remarks))


_ORDER = ("ranks", "process", "threads")


def _binds(module: ModuleType) -> str:
    return getattr(module, "BINDS", "ranks")


def _with_threads(outer: Reading, runtime: ModuleType, text: str, topology: Topology) -> Reading:
    """The reading with the threads of each rank where the runtime puts them inside the mask of the rank."""
    ranks, notes = [], [note for note in outer.remarks if note not in outer.placement.remarks]
    refused: list[ValueError] = []
    for place in outer.placement.ranks:
        own = replace(topology, allowed=place.cpus & topology.allowed or topology.allowed)
        try:
            inner: Reading = runtime.from_syntax(text, own)
        except ValueError as error:  # a list for rank 0 names nothing that the next rank may use
            refused.append(error)
            notes.append(f"rank {place.rank}: {error}")
            ranks.append(place)
            continue
        ranks.append(replace(place, threads=inner.placement.ranks[0].threads))
        notes += [note for note in inner.remarks if note not in (*inner.placement.remarks, *notes)]
    if len(refused) == len(ranks):
        raise refused[0]
    request, threads = outer.request, len(ranks[0].threads)
    if threads != request.threads:
        found = recognise([place.cpus for place in ranks], topology, threads)
        request = replace(found, memory=request.memory)
    remarks = facts(tuple(ranks), topology)
    bound = [frozenset().union(*place.threads) for place in ranks]
    if len(set(bound)) < len(bound) and all(held < place.cpus for held, place in zip(bound, ranks, strict=True)):
        notes.append(
            "every rank's runtime binds its threads to the same hardware threads, since the launcher leaves ranks "
            "unbound or on one mask: bind the ranks first"
        )
    return Reading(request, Placement(tuple(ranks), remarks), (*notes, *remarks))


def _ignored_tools(text: str, binds: str) -> tuple[str, ...]:
    """Remarks on tools around a launcher that change masks; Hydra and Open MPI were seen to bind outside of them."""
    tools = [] if binds != "ranks" else re.findall(r"(?m)(?<![\w./-])(taskset|numactl|hwloc-bind)\s", text)
    return tuple(
        f"{tool} beside a launcher is not drawn: before it, MPICH and Open MPI bind outside its mask nevertheless; "
        "after it, its own mask counts"
        for tool in dict.fromkeys(tools)
    )
