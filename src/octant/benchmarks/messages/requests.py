"""Requests of MPI patterns: process counts 2, 4, … N, or groups that work at the same time, by message length."""

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
"""Default seconds per point. The overhead around the samples is longer: see `bench/README.md`."""

MODES = "1,16"
"""Operations per completion in IMB's two modes."""

_TYPE_BYTES = {"byte": 1, "uint8": 1, "int": 4, "int32": 4, "float": 4, "int64": 8, "double": 8}


def make_requests(
    _benchmark: Benchmark, arguments: BenchmarkArguments, machine: Machine, mpi: Mapping[str, str]
) -> BenchmarkRequests:
    """Return a request for each pattern.

    Args:
        mpi: settings of the MPI library, under its own names.

    Raises:
        Refusal: see `requests`.
    """
    where = LaunchTarget("", arguments.launcher, arguments.hosts, arguments.link)
    count = arguments.ranks or (read_link(arguments.link).hosts if arguments.link else len(usable_cores(machine)))
    sizes, multi = arguments.text("sizes"), bool(arguments.own_options.get("multi"))
    made = requests(arguments.names, count, sizes, multi, arguments.repeats, arguments.knobs, where, mpi)
    valued = {
        "--ranks": arguments.ranks,
        "--sizes": sizes,
        "--launcher": arguments.launcher,
        "--hosts": arguments.hosts,
    }
    valued |= {"--link": arguments.link}
    words = [f"{name} {value}" for name, value in valued.items() if value] + ["--multi"] * multi
    title = " ".join(["mpi", *arguments.words, *words, *(f"--mpi {word}" for word in arguments.mpi)])
    return BenchmarkRequests(made, title, below=left_out(arguments.names, sizes, arguments.knobs))


def patterns_of(names: Sequence[str]) -> dict[str, MessagePattern]:
    """Return the patterns with these names, each once by its first name; without names, the default patterns.

    Raises:
        Refusal: an unknown name.
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
    """Read message lengths from `8,1KiB` or `0:4MiB` (0, then powers of two).

    Raises:
        Refusal: neither form.
    """
    hint = "try 8,64KiB or 0:4MiB"
    first, colon, last = (part.strip() for part in text.partition(":"))
    if colon and not last:
        raise Refusal(f"cannot read {text!r} as sizes (the last size is missing); {hint}", Exit.WRONG_WORD)
    with contextlib.suppress(ValueError):
        if colon and parse_bytes(first) == 0:
            return [0, *parse_byte_sizes(f"1:{last}")]
        if colon and "," not in text and parse_bytes(last.partition(":")[0]) < parse_bytes(first):
            why = "the last size is below the first"
            raise Refusal(f"cannot read {text!r} as sizes ({why}); {hint}", Exit.WRONG_WORD)
    try:
        return parse_byte_sizes(text)
    except ValueError:
        raise Refusal(f"cannot read {text!r} as sizes (neither a list nor a range); {hint}", Exit.WRONG_WORD) from None


def process_counts(ranks: int) -> list[int]:
    """Return 2, 4, 8, … and all ranks, as IMB; 1 if there is one rank."""
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
    """Return the requests of `octant mpi`: one per pattern, with a cell for each process count and length.

    Args:
        names: names of patterns; none: the default ones.
        ranks: number of ranks of each launch.
        sizes: message lengths; "": those of each pattern.
        multi: use all ranks, in as many groups of each process count as possible; otherwise one group, others idle.
        repeats: launches; `None`: the default of `runs.rounds`.
        words: further knobs, `buffers=rotating`.
        where: launcher, and hosts or an emulated link with one rank per host.
        mpi: settings of the MPI library, under its own names.

    Raises:
        Refusal: an invalid name, size, knob or number of ranks.
    """
    if ranks < 2:
        why = "patterns need at least two ranks"
        raise Refusal(f"cannot measure MPI patterns with {ranks} rank ({why}); try --ranks 2", Exit.NOT_SUPPORTED)
    place = where or LaunchTarget()
    link = read_link(place.link) if place.link else None
    if link and link.hosts != ranks:
        why = "the first 2, 4, … ranks are on different hosts only with one rank per host"
        raise Refusal(f"cannot measure {ranks} ranks on {link.hosts} hosts ({why}); try hosts={ranks}", Exit.WRONG_WORD)
    hosts = host_names(place.hosts)
    shape = Shape(ranks, launcher=place.launcher, hosts=hosts, link=str(link) if link else "")
    made = []
    patterns_asked = patterns_of(names)
    if sizes and not any(one.sizes for one in patterns_asked.values()):
        why = f"{' and '.join(patterns_asked)}: the message length is fixed"
        raise Refusal(f"cannot use --sizes {sizes} ({why}); try without --sizes", Exit.WRONG_WORD)
    build.prepare([*(one.workload for one in patterns_asked.values()), "bind", "pages", PROBE])
    for name, pattern in patterns_asked.items():
        given = _given(pattern, words)
        if sizes and "bytes" in given:
            why = "both set the message lengths"
            raise Refusal(f"cannot use --sizes with bytes={given['bytes']} ({why}); use one of them", Exit.WRONG_WORD)
        knobs = {**_knobs(pattern, name, ranks, sizes, multi, given), **given}
        check_shape(pattern.workload, knobs, ranks)  # invalid values are refused before the first launch
        launches = usual_launches(knobs) if repeats is None else repeats
        subject, show = Subject(pattern.workload), Presentation(name, test=name)
        made.append(Request(subject, knobs, shape, dict(mpi or {}), show, launches))
    return tuple(made)


def left_out(names: Sequence[str], sizes: str, words: Sequence[str]) -> tuple[str, ...]:
    """Return a sentence for each pattern that skips some of the requested lengths."""
    notes = []
    for name, pattern in patterns_of(names).items() if sizes else ():
        element = _element_bytes(pattern, dict(word.partition("=")[::2] for word in words))
        if pattern.sizes and (odd := [size for size in lengths(sizes) if size % element]):
            which = ", ".join(map(str, odd[:8])) + (", …" if len(odd) > 8 else "")
            notes.append(f"{name}: the lengths {which} B are skipped, because elements have {element} B.")
    return tuple(notes)


def _element_bytes(pattern: MessagePattern, given: Mapping[str, str]) -> int:
    """Return the number of bytes of which message lengths are multiples."""
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
            why = f"elements have {element} B"
            raise Refusal(f"cannot measure {pattern.name} with --sizes {sizes} ({why}); try 0:1MiB", Exit.WRONG_WORD)
    return knobs


def _given(pattern: MessagePattern, words: Sequence[str]) -> dict[str, str]:
    given = read_knobs(pattern.workload, words)
    if taken := sorted({*given} & {*pattern.knobs}):
        why = f"the pattern {pattern.name} sets it"
        raise Refusal(f"cannot set {taken[0]} ({why}); try octant run {pattern.workload}", Exit.WRONG_WORD)
    return given
