"""Patterns of the MPI benchmarks as asks: process counts 2, 4, … N or groups that work at once, by message length."""

from collections.abc import Mapping, Sequence

from octant.ask import Ask, Presentation, Shape, Subject
from octant.build.describe import describe
from octant.catalogue.mpi_patterns import Pattern, find, patterns
from octant.failure import Exit, Refusal
from octant.launch.link import read_link
from octant.network.inputs import read_byte_sizes
from octant.runs.requests import Where, host_names, read_knobs
from octant.runs.rounds import usual_launches

POINT_S = "0.01"
"""Seconds of a point where nobody says: with what surrounds them, all lengths of a pattern take half a second."""


def chosen(names: Sequence[str]) -> tuple[Pattern, ...]:
    """The patterns of these names, each once; without names the usual ones.

    Raises:
        Refusal: a name that no pattern has.
    """
    found = map(find, names) if names else (one for one in patterns() if one.usual)
    return tuple({one.name: one for one in found}.values())


def lengths(text: str) -> list[int]:
    """Message lengths from `8,1KiB` or `0:4MiB` (0, then powers of two).

    Raises:
        Refusal: no such list.
    """
    first, colon, last = text.partition(":")
    from_zero = first.strip() in ("0", "0B") and colon
    return [0, *read_byte_sizes(f"1:{last}")] if from_zero else read_byte_sizes(text)


def process_counts(ranks: int) -> list[int]:
    """2, 4, 8 … and all, as IMB takes them; 1 where there is one rank."""
    counts = [2**power for power in range(1, ranks.bit_length()) if 2**power < ranks]
    return [*counts, ranks]


def asks(
    names: Sequence[str],
    ranks: int,
    sizes: str = "",
    multi: bool = False,
    repeats: int | None = None,
    words: Sequence[str] = (),
    where: Where | None = None,
    mpi: Mapping[str, str] | None = None,
) -> tuple[Ask, ...]:
    """What `octant mpi` asks: an ask for each pattern, with a cell for each process count and length.

    Args:
        names: of patterns; none: the usual ones.
        ranks: of each launch.
        sizes: message lengths; "": those of each pattern.
        multi: all ranks work, in as many groups of each process count as fit; else one group, and the others are idle.
        repeats: launches; `None`: as many as `runs.rounds` has for such knobs.
        words: further knobs, `buffers=rotating`.
        where: launcher, and hosts or an emulated link with one rank on each of its hosts.
        mpi: settings of the MPI library, under its own names.

    Raises:
        Refusal: a name, size, knob or number of ranks that cannot be.
    """
    if ranks < 2:
        why = "a pattern needs two ranks, and here is one hardware thread"
        raise Refusal(f"cannot measure MPI patterns with {ranks} rank ({why}); try --ranks 2", Exit.NOT_SUPPORTED)
    place = where or Where()
    link = read_link(place.link) if place.link else None
    if link and link.hosts != ranks:
        why = "its rows are of the first 2, 4, … ranks, which are on different hosts only if each host has one"
        raise Refusal(f"cannot measure {ranks} ranks on {link.hosts} hosts ({why}); try hosts={ranks}", Exit.WRONG_WORD)
    hosts = host_names(place.hosts)
    shape = Shape(ranks, launcher=place.launcher, hosts=hosts, link=str(link) if link else "")
    made = []
    for pattern in chosen(names):
        knobs = {**_knobs(pattern, ranks, sizes, multi), **_given(pattern, words)}
        describe(pattern.workload, knobs, ranks)  # a value that cannot be read is refused before anything starts
        launches = usual_launches(knobs) if repeats is None else repeats
        subject, show = Subject(pattern.workload), Presentation(pattern.name)
        made.append(Ask(subject, knobs, shape, dict(mpi or {}), show, launches))
    return tuple(made)


def _knobs(pattern: Pattern, ranks: int, sizes: str, multi: bool) -> dict[str, str]:
    counts = [2] if pattern.ranks == "pair" else process_counts(ranks)
    groups = ",".join(str(count) if multi else f"first:{count}" for count in counts)
    knobs = {**pattern.knobs, "groups": groups, "seconds": POINT_S}
    if pattern.sizes:
        every = lengths(sizes or pattern.sizes)
        knobs["bytes"] = ",".join(str(size) for size in every if size % pattern.multiple == 0)
        if not knobs["bytes"]:
            why = f"its elements have {pattern.multiple} B"
            raise Refusal(f"cannot measure {pattern.name} with --sizes {sizes} ({why}); try 0:1MiB", Exit.WRONG_WORD)
    return knobs


def _given(pattern: Pattern, words: Sequence[str]) -> dict[str, str]:
    given = read_knobs(pattern.workload, words)
    if taken := sorted({*given} & {*pattern.knobs}):
        why = f"the pattern {pattern.name} sets it"
        raise Refusal(f"cannot set {taken[0]} ({why}); try octant run {pattern.workload}", Exit.WRONG_WORD)
    return given
