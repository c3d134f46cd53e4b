"""Requests of workloads, read from command-line arguments."""

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast, get_args

from octant import launchers, renamed, workloads
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
from octant.runs.knobs import check_knobs, evaluate_level_sizes
from octant.runs.modes import Mode, ranks_and_knobs
from octant.runs.rounds import usual_launches
from octant.store import open_store
from octant.units import bytes_text
from octant.untrusted import read_text
from octant.workload import Workload

MAX_REPEATS = 10_000
MAX_BYTES = 1 << 20
"""Maximum size of a host file."""


@dataclass(frozen=True)
class LaunchTarget:
    """Placement, launcher and hosts of the ranks, as the user wrote them."""

    place: str = ""
    launcher: str = ""
    hosts: str = ""  # comma-separated names, or @FILE with one name per line
    link: str = ""  # emulated link between hosts: 100Mbit/s,delay=1ms


LOCAL_TARGET = LaunchTarget()


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
    """Return `octant run` with these arguments as a batch job.

    The placement is parsed here and mapped to CPUs on the node where the job runs.

    Raises:
        Refusal: the workload is unknown, the placement is invalid, or the ranks do not fill its nodes.
    """
    workload = find_workload(workload).name
    check_directives(directives)
    try:
        request = parse_place(place, discover().topology) if place else PlacementRequest(ranks=ranks or 1)
    except ValueError as error:
        raise Refusal(str(error), Exit.WRONG_WORD) from error
    total = ranks or request.ranks
    check_full_nodes(total, request)
    # Report a typo before the job is queued. Without ranks or a placement, the node of the job determines their number.
    described = describe(workload)
    sizes = evaluate_level_sizes(_split(workload, words, described), described, None, {})
    check_knobs(workload, sizes.knobs, described)
    describe(workload, sizes.knobs, total if ranks or place else 0)
    # The job uses the Python environment of this process.
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
    """Raise `Refusal` if a directive has more than one line."""
    if any("\n" in text for text in directives):
        raise Refusal(
            "cannot use a --directive with a line break (the shell would execute the next lines); "
            "repeat --directive for each line",
            Exit.WRONG_WORD,
        )


def request_workload(
    workload: str,
    words: Sequence[str],
    ranks: int | None,
    mode: str,
    repeats: int | None,
    where: LaunchTarget = LOCAL_TARGET,
    mpi: Mapping[str, str] | None = None,
) -> tuple[Request, Machine]:
    """Return the request of `octant run` and this machine. Knobs are checked before any process starts.

    Args:
        mode: a mode of `runs.modes`; "": one rank, or as many as the workload needs.
        repeats: number of launches; `None`: the default of `runs.rounds` for these knobs.
        mpi: settings of the MPI library, under the names of the library.

    Raises:
        Refusal: the workload, the mode, a knob or the launcher is unknown, or the placement does not fit this machine.
    """
    found = find_workload(workload)
    workload = found.name
    if where.launcher in launchers.names("job") and where.launcher not in launchers.names("start"):
        raise Refusal(batch_system_text(where.launcher), Exit.WRONG_WORD)
    if where.launcher:
        launchers.launcher(where.launcher)
    check_options(ranks, mode, repeats)
    described = describe(workload)
    knobs = _split(workload, words, described)
    machine = discover()
    hosts = host_names(where.hosts)
    request = resolve_placement(where.place, machine).request if where.place else None
    link = read_link(where.link) if where.link else None
    if link and ranks is None:
        ranks = link.hosts
    if request:
        ranks = ranks or request.ranks * max(1, len(hosts))
    chosen = cast("Mode", mode or ("all" if found.messages or described.least_ranks > 1 else "one"))
    if (ranks or 1) > 1 and chosen in ("one", "threads"):
        chosen = "all"
    default_ranks, sets = ranks_and_knobs(
        chosen, len(usable_cores(machine)), described.raw.get("pace", "chunks") == "chunks"
    )
    knobs = _with(knobs, sets, f"--mode {chosen}")
    shape = Shape(ranks or default_ranks, launcher=where.launcher, hosts=hosts, link=str(link) if link else "")
    if request:
        knobs, shape = _with_placement(knobs, shape, request)
    threads = knobs.get("threads", "1")
    counts = {"ranks": shape.ranks, **({"threads": int(threads)} if threads.isdecimal() else {})}
    sizes = evaluate_level_sizes(knobs, described, machine, counts)
    knobs = dict(sizes.knobs)
    check_knobs(workload, knobs, described)
    describe(workload, knobs, shape.ranks)  # refuses invalid values before any process starts
    show = Presentation(workload.rpartition("/")[2], expressions=sizes.expressions)
    repeats = usual_launches(knobs) if repeats is None else repeats
    return Request(Subject(workload), knobs, shape, dict(mpi or {}), show, repeats), machine


def check_options(ranks: int | None, mode: str, repeats: int | None) -> None:
    """Raise `Refusal` if the mode is unknown, or a number of ranks or launches is out of range."""
    if mode and mode not in get_args(Mode):
        raise Refusal(f"cannot use --mode {mode} (no such mode); {suggestion(mode, get_args(Mode))}", Exit.WRONG_WORD)
    if repeats is not None and not 1 <= repeats <= MAX_REPEATS:
        why = f"the number of launches is 1 to {MAX_REPEATS}"
        raise Refusal(f"cannot use --repeats {repeats} ({why}); try --repeats 1", Exit.WRONG_WORD)
    if ranks is not None and ranks < 1:
        raise Refusal(f"cannot use --ranks {ranks} (at least 1 rank is needed); try --ranks 1", Exit.WRONG_WORD)


def batch_system_text(name: str) -> str:
    """Return the error message for a batch system that is given as a launcher."""
    return (
        f"cannot launch with {name!r} (it is a batch system, which starts job scripts); try --script FILE or --submit"
    )


def read_knobs(workload: str, words: Sequence[str]) -> dict[str, str]:
    """Return the knobs of `knob=value` arguments, checked against the description of the kernel.

    Raises:
        Refusal: the workload or a knob is unknown, or the kernel does not accept a value.
    """
    workload = find_workload(workload).name
    described = describe(workload)
    knobs = _split(workload, words, described)
    check_knobs(workload, knobs, described)
    return knobs


def _split(workload: str, words: Sequence[str], described: Described) -> dict[str, str]:
    """Return the values of `knob=value` arguments under current names; they are not checked."""
    knobs: dict[str, str] = {}
    names = renamed.names_of(workload)
    for word in words:
        written, equals, value = word.partition("=")
        name = names.knob(written)
        renamed.warn(renamed.knob_changes(workload, {written: value}))
        value = names.value(name, value)
        values = canonical(value).split(",")
        why = ""
        if not equals or not name or not value:
            form = "a range is one argument in quotes: 'bytes=L1/2 to 4*L3 by 2'" if word in ("to", "by") else ""
            why = f"{word[:60]!r} is not of the form knob=value; {form or f'try {described.knobs[0].name}=…'}"
        elif name in knobs:
            why = f"cannot set {name} twice; give several values as {name}=a,b"
        elif len(set(values)) < len(values):
            why = f"{word[:60]!r} contains a value twice; remove it, or use --repeats 2 to measure each value twice"
        if why:
            raise Refusal(why, Exit.WRONG_WORD)
        knobs[name] = each_once(canonical(value))
    return knobs


def _with(knobs: Mapping[str, str], sets: Mapping[str, str], who: str) -> dict[str, str]:
    for name, value in sets.items():
        if knobs.get(name, value) != value:
            why = f"cannot set {name}={knobs[name]} ({who} sets {name}={value}); remove one of the two"
            raise Refusal(why, Exit.WRONG_WORD)
    return {**knobs, **sets}


def _with_placement(knobs: Mapping[str, str], shape: Shape, request: PlacementRequest) -> tuple[dict[str, str], Shape]:
    """Return knobs and shape with the placement of one node applied to every host."""
    check_full_nodes(shape.ranks, request)
    pages = {"default": {}, "4k": {"pages": "base"}, "thp": {"pages": "thp"}}.get(
        request.pages, {"pages": bytes_text(PAGE_BYTES.get(request.pages, 0)).replace(" ", "")}
    )
    sets = {"threads": str(request.threads), "pin": "none", **pages}
    return _with(knobs, sets, "the placement"), replace(shape, place=str(request))


def check_full_nodes(ranks: int, request: PlacementRequest) -> None:
    """Raise `Refusal` if the ranks do not fill the nodes of a placement."""
    if ranks % request.ranks:
        raise Refusal(
            f"cannot distribute {ranks} ranks to nodes with {request.ranks} ranks each (a placement describes one "
            f"node); use a multiple of {request.ranks} for --ranks",
            Exit.WRONG_WORD,
        )


@dataclass(frozen=True)
class PlacementForms:
    """A placement as text, as a request and as CPU lists."""

    text: str
    request: PlacementRequest
    placement: Placement


def resolve_placement(text: str, machine: Machine) -> PlacementForms:
    """Return a placement on a machine.

    Raises:
        Refusal: the text is invalid (exit 2), or the placement does not fit (exit 3).
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
    """Return the hosts of `a,b`, or of the lines of `@FILE`; `#` starts a comment.

    Raises:
        Refusal: the file cannot be read or is empty, a host occurs twice, or a name is invalid. Launchers read `a:2` as
            a number of ranks, and ssh, which receives the name, reads `-o…` as an option.
    """
    listed = text
    if text.startswith("@"):
        listed = read_text(Path(text[1:]), "host file", MAX_BYTES)
    lines = [line.split("#")[0] for line in listed.splitlines()]
    hosts = tuple(name for line in lines for name in line.replace(",", " ").split())
    if text and not hosts:
        raise Refusal(f"no host in {text!r}; try --hosts a,b or --hosts @FILE with one host per line", Exit.WRONG_WORD)
    for name in hosts:
        if not _HOST.fullmatch(name):
            raise Refusal(
                f"invalid host name {name!r}; use letters, digits and . - _ @ (--ranks sets the number of ranks)",
                Exit.WRONG_WORD,
            )
    if len(set(hosts)) < len(hosts):
        raise Refusal(
            f"a host occurs twice in {text!r}; name each host once (each gets the same number of ranks, see --ranks)",
            Exit.WRONG_WORD,
        )
    return hosts


def namesakes(name: str) -> list[str]:
    """Return the workloads of other families with the same short name as the one that `find_workload` returns."""
    meant = workloads.called(name, workloads.workloads())
    return [one for one in meant if one != find_workload(name).name] if len(meant) > 1 else []


def expand_alias(name: str, words: Sequence[str]) -> tuple[str, tuple[str, ...], str]:
    """Return the workload and the words of an alias, and a note that states them; other names are unchanged.

    Raises:
        Refusal: the alias is ambiguous, or a word contradicts a knob of the alias.
    """
    try:
        alias = workloads.find_alias(name)
    except LookupError as error:
        raise Refusal(str(error.args[0]), Exit.WRONG_WORD) from error
    if alias is None:
        return name, tuple(words), ""
    given = {word.partition("=")[0]: word for word in words}
    for knob, value in alias.knobs.items():
        if given.get(knob, f"{knob}={value}") != f"{knob}={value}":
            short = alias.workload.rpartition("/")[2]
            why = f"{name} means {alias}"
            raise Refusal(f"cannot use {given[knob]} ({why}); try octant run {short} {given[knob]}", Exit.WRONG_WORD)
    added = tuple(f"{knob}={value}" for knob, value in alias.knobs.items() if knob not in given)
    return alias.workload.rpartition("/")[2], (*added, *words), f"{name} is measured by {alias}"


def find_workload(name: str) -> Workload:
    """Return the workload with this name or alias.

    Raises:
        Refusal: there is no such workload, the short name is ambiguous, or its folder is unusable.
    """
    try:
        name = alias.workload if (alias := workloads.find_alias(name)) else name
        return workloads.workload(name)
    except LookupError as error:
        why, _, hint = str(error.args[0]).partition("; ")
        code = Exit.CANNOT_RUN if isinstance(error, workloads.BrokenWorkloadError) else Exit.WRONG_WORD
        raise Refusal(f"cannot measure {name!r} ({why}); {hint}", code) from error
