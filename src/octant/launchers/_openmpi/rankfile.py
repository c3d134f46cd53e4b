"""Open MPI's rank files, as 5.0.11 reads them: one line per rank, numbers are logical ones."""

import re
from collections.abc import Iterator, Sequence

from octant.machine import CpuSet, Topology
from octant.machine.cpusets import parse_cpus
from octant.placement import set_text
from octant.placement.expressions import objects
from octant.placement.nonempty import NonEmptySet

MARK = r"^[ \t]*rank[ \t]*\d+[ \t]*="
_LINE = re.compile(r"rank\s*([0-9]{1,9})\s*=\s*(\S+)(?:\s+slots?\s*=\s*(\S+))?")


def write(sets: Sequence[CpuSet], topology: Topology) -> str:
    """Return a rank file with the logical numbers of hardware threads."""
    place = {cpu: n for n, held in enumerate(objects(topology, "thread")) for cpu in held}
    slots = [set_text(NonEmptySet([place[cpu] for cpu in held], "slots of a rank")) for held in sets]
    return "".join(f"rank {rank}=localhost slot={listed}\n" for rank, listed in enumerate(slots))


def read(text: str, topology: Topology, hwthreads: bool, overload: bool) -> list[CpuSet | None]:
    """Return the mask of each rank; `None`: its line has only a host, and the rank is unbound.

    Raises:
        ValueError: what Open MPI refuses or misreads; with the line's number.
    """
    found: dict[int, CpuSet | None] = {}
    hosts: dict[str, int] = {}
    taken: set[int] = set()
    for number, line in _lines(text):
        where = f"line {number} of the rank file ({line!r})"
        match = _LINE.fullmatch(line)
        if match is None:
            raise ValueError(f"cannot read {where}; use 'rank 0=localhost slot=0-1'")
        rank, listed = int(match[1]), match[3]
        if rank in found:
            raise ValueError(f"cannot use {where}: rank {rank} is listed twice; remove one line")
        if not found and rank:
            raise ValueError(f"cannot use {where}: Open MPI 5 refuses a rank file whose first line is not rank 0")
        hosts.setdefault(match[2], number)
        try:
            held = None if listed is None else _slots(listed, topology, "thread" if hwthreads else "core")
        except ValueError as error:
            raise ValueError(f"cannot use {where}: {error}") from None
        if held and held & taken and not overload:
            raise ValueError(
                f"cannot use {where}: Open MPI 5 refuses ranks that share cores; use --bind-to core:overload-allowed"
            )
        taken.update(held or ())
        found[rank] = held
    if len(hosts) > 1:
        raise ValueError(
            f"cannot interpret a rank file for several hosts ({', '.join(hosts)}); give the lines of one host"
        )
    missing = sorted(set(range(len(found))) - set(found))
    if missing:
        raise ValueError(f"cannot use the rank file: Open MPI 5 refuses it without a line for rank {missing[0]}")
    return [found[rank] for rank in range(len(found))]


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines without comments, numbered from the beginning of their file."""
    begin = next((i for i, line in enumerate(text.splitlines()) if re.match(MARK, line)), 0)
    for number, line in enumerate(text.splitlines()[begin:], 1):
        if line.split("#")[0].strip():
            yield number, line.split("#")[0].strip()


def _slots(text: str, topology: Topology, unit: str) -> CpuSet:
    """`0-1,5` in cores (or hardware threads), `1:0,2` in cores of a package, `1:*` and `p1` for a whole package."""
    held: CpuSet = frozenset()
    packages = objects(topology, "package")
    for part in text.split(";"):
        match = re.fullmatch(r"p?(\d+):(.+)|p(\d+)", part)
        if match is None:
            held |= _chosen(part, objects(topology, unit), unit)
            continue
        package = _chosen(match[1] or match[3], packages, "package")
        cores = [core for core in objects(topology, "core") if core <= package]
        listed = match[2] or "*"
        if "," in listed and "-" in listed:
            raise ValueError(
                "Open MPI 5 misreads lists of a package that contain both commas and ranges; use one of the two forms"
            )
        held |= package if listed == "*" else _chosen(listed, cores, f"core of package {match[1]}")
    return held


def _chosen(text: str, among: Sequence[CpuSet], what: str) -> CpuSet:
    numbers = parse_cpus(text)
    if max(numbers) >= len(among):
        raise ValueError(f"there is no {what} {max(numbers)}, the last one is {len(among) - 1}")
    return frozenset().union(*(among[n] for n in numbers))
