"""From the words of a command to what is asked of this machine."""

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast, get_args

from octant import launchers, workloads
from octant.build import program_name
from octant.build.describe import Described, describe
from octant.facts import usable_cores
from octant.failure import Exit, Refusal, suggestion
from octant.launch.link import read_link
from octant.launchers import Job
from octant.machine import Machine
from octant.machine.discover import discover
from octant.placement import Placement, planner
from octant.placement.expressions import parse_place
from octant.placement.request import PAGE_BYTES, PlacementRequest
from octant.request import Presentation, Request, Shape, Subject, canonical, each_once
from octant.runs.knobs import check_knobs
from octant.runs.modes import Mode, ranks_and_knobs
from octant.runs.rounds import usual_launches
from octant.store import open_store
from octant.units import bytes_text
from octant.untrusted import read_text
from octant.workload import Workload

MOST_REPEATS = 10_000
MOST_BYTES = 1 << 20
"""Of a file of hosts."""


@dataclass(frozen=True)
class Where:
    """Where the ranks are to go and who starts them, in the user's words."""

    place: str = ""
    launcher: str = ""
    hosts: str = ""  # names with commas between, or @FILE with one per line
    link: str = ""  # of emulated hosts: 100Mbit/s,delay=1ms


HERE = Where()


def job(
    workload: str,
    words: Sequence[str],
    ranks: int | None,
    place: str,
    store: Path | None,
    minutes: int,
    directives: tuple[str, ...],
    further: Sequence[str] = (),
) -> Job:
    """`octant run` of these words as a job; the placement is read here, and worked out where the job runs.

    Raises:
        Refusal: unknown workload, a placement that cannot be read, or ranks that do not fill nodes of it.
    """
    workload = find_workload(workload).name
    check_directives(directives)
    try:
        request = parse_place(place, discover().topology) if place else PlacementRequest(ranks=ranks or 1)
    except ValueError as error:
        raise Refusal(str(error), Exit.WRONG_WORD) from error
    total = ranks or request.ranks
    check_full_nodes(total, request)
    # A typo should not wait in a queue; without ranks or a placement, the node where the job runs decides how many.
    describe(workload, _knobs(workload, words, describe(workload)), total if ranks or place else 0)
    # The environment that is Octant's own here is Octant's own there.
    line = [
        sys.executable,
        "-m",
        "octant.cli",
        "run",
        workload,
        *words,
        "--store",
        str(open_store(store).root.resolve()),
    ]
    line += ["--ranks", str(total)] if ranks or not place else []
    line += [*(["--place", place] if place else []), *further]
    return Job(
        tuple(line),
        Path.cwd(),
        request.ranks,
        request.threads,
        total // request.ranks,
        minutes,
        program_name(workload),
        directives,
    )


def check_directives(directives: Sequence[str]) -> None:
    """Refuse a directive of several lines.

    Raises:
        Refusal: there is one.
    """
    if any("\n" in text for text in directives):
        raise Refusal(
            "cannot use a --directive of several lines (the shell would read the others); give one a line",
            Exit.WRONG_WORD,
        )


def run(
    workload: str,
    words: Sequence[str],
    ranks: int | None,
    mode: str,
    repeats: int | None,
    where: Where = HERE,
    mpi: Mapping[str, str] | None = None,
) -> tuple[Request, Machine]:
    """What `octant run` asks; unknown knobs are refused before anything starts.

    Args:
        mode: a word of `runs.modes`, or "": one rank, or as many as the workload needs.
        repeats: launches; `None`: as many as `runs.rounds` has for such knobs.
        mpi: settings of the MPI library, under its own names.

    Raises:
        Refusal: unknown workload, mode, knob or launcher, or a placement that does not fit this machine.
    """
    found = find_workload(workload)
    workload = found.name
    if where.launcher in launchers.names("job") and where.launcher not in launchers.names("start"):
        why = "it is a batch system, which starts a job script"
        raise Refusal(f"cannot launch with {where.launcher!r} ({why}); try --script FILE or --submit", Exit.WRONG_WORD)
    if where.launcher:
        launchers.launcher(where.launcher)
    check_options(ranks, mode, repeats)
    described = describe(workload)
    knobs = _knobs(workload, words, described)
    machine = discover()
    hosts = host_names(where.hosts)
    request = requested(where.place, machine).request if where.place else None
    link = read_link(where.link) if where.link else None
    if link and ranks is None:
        ranks = link.hosts
    if request:
        ranks = ranks or request.ranks * max(1, len(hosts))
    chosen = cast("Mode", mode or ("all" if found.messages or described.least_ranks > 1 else "one"))
    if (ranks or 1) > 1 and chosen in ("one", "threads"):
        chosen = "all"
    own, sets = ranks_and_knobs(chosen, len(usable_cores(machine)), described.raw.get("pace", "chunks") == "chunks")
    knobs = _with(knobs, sets, f"--mode {chosen}")
    shape = Shape(ranks or own, launcher=where.launcher, hosts=hosts, link=str(link) if link else "")
    if request:
        knobs, shape = _with_placement(knobs, shape, request)
    describe(workload, knobs, shape.ranks)  # a value that cannot be read is refused before anything starts
    show = Presentation(workload.rpartition("/")[2])
    repeats = usual_launches(knobs) if repeats is None else repeats
    return Request(Subject(workload), knobs, shape, dict(mpi or {}), show, repeats), machine


def check_options(ranks: int | None, mode: str, repeats: int | None) -> None:
    """Refuses an unknown mode, and fewer than one rank or launch.

    Raises:
        Refusal: one of these.
    """
    if mode and mode not in get_args(Mode):
        raise Refusal(f"cannot use --mode {mode} (no such mode); {suggestion(mode, get_args(Mode))}", Exit.WRONG_WORD)
    if (repeats is not None and not 1 <= repeats <= MOST_REPEATS) or (ranks is not None and ranks < 1):
        asked = f"less than once, more than {MOST_REPEATS} times or on less than one rank"
        raise Refusal(f"cannot run {asked}; try --repeats 1 --ranks 1", Exit.WRONG_WORD)


def read_knobs(workload: str, words: Sequence[str]) -> dict[str, str]:
    """The knobs of `knob=value` words, each checked against what the workload's kernel says of itself.

    Raises:
        Refusal: unknown workload or knob, or a value that the kernel cannot take.
    """
    workload = find_workload(workload).name
    return _knobs(workload, words, describe(workload))


def _knobs(workload: str, words: Sequence[str], described: Described) -> dict[str, str]:
    knobs: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        values = canonical(value).split(",")
        why = ""
        if not equals or not name or not value:
            why = f"cannot read {word[:60]!r} (not of the form knob=value); try {described.knobs[0].name}=…"
        elif name in knobs:
            why = f"cannot set {name} twice; give several values as {name}=a,b"
        elif len(set(values)) < len(values):
            why = f"cannot measure {word[:60]} (a value is repeated); try --repeats 2 to measure each twice"
        if why:
            raise Refusal(why, Exit.WRONG_WORD)
        knobs[name] = each_once(canonical(value))
    check_knobs(workload, knobs, described)
    return knobs


def _with(knobs: Mapping[str, str], sets: Mapping[str, str], who: str) -> dict[str, str]:
    for name, value in sets.items():
        if knobs.get(name, value) != value:
            why = f"cannot set {name}={knobs[name]} ({who} sets {name}={value}); try leaving one of the two out"
            raise Refusal(why, Exit.WRONG_WORD)
    return {**knobs, **sets}


def _with_placement(knobs: Mapping[str, str], shape: Shape, request: PlacementRequest) -> tuple[dict[str, str], Shape]:
    """Knobs and shape as one node's placement says them, on every host."""
    check_full_nodes(shape.ranks, request)
    pages = {"default": {}, "4k": {"pages": "base"}, "thp": {"pages": "thp"}}.get(
        request.pages, {"pages": bytes_text(PAGE_BYTES.get(request.pages, 0)).replace(" ", "")}
    )
    sets = {"threads": str(request.threads), "pin": "none", **pages}
    return _with(knobs, sets, "the placement"), replace(shape, place=str(request))


def check_full_nodes(ranks: int, request: PlacementRequest) -> None:
    """Refuse ranks that do not fill the nodes of a placement.

    Raises:
        Refusal: they do not.
    """
    if ranks % request.ranks:
        raise Refusal(
            f"cannot deal {ranks} ranks to nodes of {request.ranks} (what is placed is one node); see --ranks",
            Exit.WRONG_WORD,
        )


@dataclass(frozen=True)
class PlacementForms:
    """A placement in its three forms."""

    text: str
    request: PlacementRequest
    placement: Placement


def requested(text: str, machine: Machine) -> PlacementForms:
    """What a placement's words mean on a machine.

    Raises:
        Refusal: the words cannot be read (exit 2), or it does not fit (exit 3).
    """
    try:
        request = parse_place(text, machine.topology)
    except ValueError as error:
        raise Refusal(str(error), Exit.WRONG_WORD) from error
    try:
        return PlacementForms(text, request, planner.plan(machine.topology, request, machine.page_sizes))
    except planner.DoesNotFitError as error:
        raise Refusal(str(error), Exit.NOT_SUPPORTED) from error


_HOST = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@-]*")


def host_names(text: str) -> tuple[str, ...]:
    """Hosts from `a,b` or from the lines of `@FILE`; `#` starts a comment.

    Raises:
        Refusal: the file cannot be read or names no host, a host is named twice, or a name is none: launchers read
            `a:2` as a number of ranks, and ssh, to which they hand the name, takes `-o…` for an option.
    """
    listed = text
    if text.startswith("@"):
        listed = read_text(Path(text[1:]), "file of hosts", MOST_BYTES)
    lines = [line.split("#")[0] for line in listed.splitlines()]
    hosts = tuple(name for line in lines for name in line.replace(",", " ").split())
    if text and not hosts:
        raise Refusal(
            f"cannot find a host in {text!r}; try --hosts a,b or --hosts @FILE with one per line", Exit.WRONG_WORD
        )
    for name in hosts:
        if not _HOST.fullmatch(name):
            raise Refusal(
                f"cannot use the host {name!r} (it has letters, digits and . - _ @); see --ranks for ranks per host",
                Exit.WRONG_WORD,
            )
    if len(set(hosts)) < len(hosts):
        raise Refusal(
            f"cannot use a host twice ({text}); each gets the same number of ranks, see --ranks", Exit.WRONG_WORD
        )
    return hosts


def namesakes(name: str) -> list[str]:
    """Workloads of other families that a bare name means less than the one that `find_workload` gives."""
    meant = workloads.called(name, workloads.workloads())
    return [one for one in meant if one != find_workload(name).name] if len(meant) > 1 else []


def find_workload(name: str) -> Workload:
    """The workload of that name.

    Raises:
        Refusal: there is none, there are several, or its folder cannot be used.
    """
    try:
        return workloads.workload(name)
    except LookupError as error:
        why, _, hint = str(error.args[0]).partition("; ")
        code = Exit.CANNOT_RUN if isinstance(error, workloads.BrokenWorkloadError) else Exit.WRONG_WORD
        raise Refusal(f"cannot measure {name!r} ({why}); {hint}", code) from error
