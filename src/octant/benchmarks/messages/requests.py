"""Patterns of the MPI benchmarks as asks: process counts 2, 4, … N or groups that work at once, by message length."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from octant import build
from octant.benchmarks import BenchmarkRequests
from octant.benchmarks.messages.patterns import MessagePattern, find, patterns
from octant.facts import usable_cores
from octant.failure import Exit, Refusal
from octant.launch.link import read_link
from octant.mpi.inventory import PROBE
from octant.request import Presentation, Request, Shape, Subject
from octant.runs.command_line import LaunchTarget, host_names, read_knobs
from octant.runs.knobs import check_shape
from octant.runs.rounds import usual_launches
from octant.units import parse_byte_sizes, parse_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octant.benchmarks import Benchmark, BenchmarkArguments
    from octant.machine import Machine

POINT_S = "0.01"
"""Seconds of a point where nobody says. What surrounds the samples takes longer: `bench/README.md` has figures."""

MODES = "1,16"
"""Operations that one completion ends: those of IMB's two modes."""

_TYPE_BYTES = {"byte": 1, "uint8": 1, "int": 4, "int32": 4, "float": 4, "int64": 8, "double": 8}


def resolve_placement(
    _benchmark: Benchmark, chosen: BenchmarkArguments, machine: Machine, mpi: Mapping[str, str]
) -> BenchmarkRequests:
    """Return a request for each pattern.

    Args:
        mpi: settings of the MPI library, under its own names.

    Raises:
        Refusal: see `requests`.
    """
    where = LaunchTarget("", chosen.launcher, chosen.hosts, chosen.link)
    count = chosen.ranks or (read_link(chosen.link).hosts if chosen.link else len(usable_cores(machine)))
    sizes, multi = chosen.text("sizes"), bool(chosen.own.get("multi"))
    made = requests(chosen.names, count, sizes, multi, chosen.repeats, chosen.knobs, where, mpi)
    valued = {"--ranks": chosen.ranks, "--sizes": sizes, "--launcher": chosen.launcher, "--hosts": chosen.hosts}
    valued |= {"--link": chosen.link}
    words = [f"{name} {value}" for name, value in valued.items() if value] + ["--multi"] * multi
    title = " ".join(["mpi", *chosen.words, *words, *(f"--mpi {word}" for word in chosen.mpi)])
    return BenchmarkRequests(made, title, below=left_out(chosen.names, sizes, chosen.knobs))


def patterns_of(names: Sequence[str]) -> dict[str, MessagePattern]:
    """The patterns of these names, each once, by the first name that was given for it; without names the usual ones.

    Raises:
        Refusal: a name that no pattern has.
    """
    if not names:
        return {one.name: one for one in patterns() if one.usual}
    found: dict[str, MessagePattern] = {}
    for name in names:
        pattern = find(name)
        if pattern.name not in {one.name for one in found.values()}:
            found[pattern.called(name)] = pattern
    return found


def lengths(text: str) -> list[int]:
    """Message lengths from `8,1KiB` or `0:4MiB` (0, then powers of two).

    Raises:
        Refusal: no such list.
    """
    hint = "try 8,64KiB or 0:4MiB"
    first, colon, last = (part.strip() for part in text.partition(":"))
    if colon and not last:
        raise Refusal(f"cannot read {text!r} as sizes (after the colon there is no last one); {hint}", Exit.WRONG_WORD)
    with contextlib.suppress(ValueError):
        if colon and parse_bytes(first) == 0:
            return [0, *parse_byte_sizes(f"1:{last}")]
        if colon and "," not in text and parse_bytes(last.partition(":")[0]) < parse_bytes(first):
            raise Refusal(f"cannot read {text!r} as sizes (the last is below the first); {hint}", Exit.WRONG_WORD)
    try:
        return parse_byte_sizes(text)
    except ValueError:
        raise Refusal(f"cannot read {text!r} as sizes; {hint}", Exit.WRONG_WORD) from None


def process_counts(ranks: int) -> list[int]:
    """2, 4, 8 … and all, as IMB takes them; 1 where there is one rank."""
    counts = [2**power for power in range(1, ranks.bit_length()) if 2**power < ranks]
    return [*counts, ranks]


def requests(
    names: Sequence[str],
    ranks: int,
    sizes: str = "",
    multi: bool = False,
    repeats: int | None = None,
    words: Sequence[str] = (),
    where: LaunchTarget | None = None,
    mpi: Mapping[str, str] | None = None,
) -> tuple[Request, ...]:
    """What `octant mpi` asks: a request for each pattern, with a cell for each process count and length.

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
        why = "a pattern needs two ranks"
        raise Refusal(f"cannot measure MPI patterns with {ranks} rank ({why}); try --ranks 2", Exit.NOT_SUPPORTED)
    place = where or LaunchTarget()
    link = read_link(place.link) if place.link else None
    if link and link.hosts != ranks:
        why = "its rows are of the first 2, 4, … ranks, which are on different hosts only if each host has one"
        raise Refusal(f"cannot measure {ranks} ranks on {link.hosts} hosts ({why}); try hosts={ranks}", Exit.WRONG_WORD)
    hosts = host_names(place.hosts)
    shape = Shape(ranks, launcher=place.launcher, hosts=hosts, link=str(link) if link else "")
    made = []
    patterns_asked = patterns_of(names)
    if sizes and not any(one.sizes for one in patterns_asked.values()):
        why = f"the length of {' and '.join(patterns_asked)} cannot be chosen"
        raise Refusal(f"cannot use --sizes {sizes} ({why}); try it without --sizes", Exit.WRONG_WORD)
    build.prepare([*(one.workload for one in patterns_asked.values()), "bind", "pages", PROBE])
    for name, pattern in patterns_asked.items():
        given = _given(pattern, words)
        if sizes and "bytes" in given:
            why = "both say which lengths"
            raise Refusal(
                f"cannot use --sizes beside bytes={given['bytes']} ({why}); try --sizes alone", Exit.WRONG_WORD
            )
        knobs = {**_knobs(pattern, name, ranks, sizes, multi, given), **given}
        check_shape(pattern.workload, knobs, ranks)  # a value that cannot be read is refused before anything starts
        launches = usual_launches(knobs) if repeats is None else repeats
        subject, show = Subject(pattern.workload), Presentation(name, test=name)
        made.append(Request(subject, knobs, shape, dict(mpi or {}), show, launches))
    return tuple(made)


def left_out(names: Sequence[str], sizes: str, words: Sequence[str]) -> tuple[str, ...]:
    """Which of the lengths that somebody asked for are not asked, by pattern, and why; a sentence each."""
    said = []
    for name, pattern in patterns_of(names).items() if sizes else ():
        element = _element_bytes(pattern, dict(word.partition("=")[::2] for word in words))
        if pattern.sizes and (odd := [size for size in lengths(sizes) if size % element]):
            which = ", ".join(map(str, odd[:8])) + (", …" if len(odd) > 8 else "")
            said.append(f"{name}: without {which} B, since its elements have {element} B")
    return tuple(said)


def _element_bytes(pattern: MessagePattern, given: Mapping[str, str]) -> int:
    """What lengths are multiples of."""
    types = [_TYPE_BYTES.get(word, pattern.multiple) for word in given.get("type", "").split(",")]
    return pattern.multiple if pattern.multiple == 1 else max(types)


def _knobs(
    pattern: MessagePattern, name: str, ranks: int, sizes: str, multi: bool, given: Mapping[str, str]
) -> dict[str, str]:
    counts = [2] if pattern.ranks == "pair" else process_counts(ranks)
    groups = ",".join(str(count) if multi or pattern.multi else f"first:{count}" for count in counts)
    knobs = {**pattern.knobs, "groups": groups, "seconds": POINT_S}
    if pattern.modes:  # programs of OSU end each operation
        knobs[pattern.modes] = "1" if name in pattern.osu else MODES
    if pattern.sizes and "bytes" not in given:
        element = _element_bytes(pattern, given)
        knobs["bytes"] = ",".join(str(size) for size in lengths(sizes or pattern.sizes) if size % element == 0)
        if not knobs["bytes"]:
            why = f"its elements have {element} B"
            raise Refusal(f"cannot measure {pattern.name} with --sizes {sizes} ({why}); try 0:1MiB", Exit.WRONG_WORD)
    return knobs


def _given(pattern: MessagePattern, words: Sequence[str]) -> dict[str, str]:
    given = read_knobs(pattern.workload, words)
    if taken := sorted({*given} & {*pattern.knobs}):
        why = f"the pattern {pattern.name} sets it"
        raise Refusal(f"cannot set {taken[0]} ({why}); try octant run {pattern.workload}", Exit.WRONG_WORD)
    return given
