"""From the words of a command to a plan for this machine."""

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from octant import workloads
from octant.ask import Launch
from octant.build.describe import describe
from octant.failure import Exit, Refusal
from octant.launch import launchers
from octant.launch.jobs import Job
from octant.machine import Machine
from octant.machine.discover import discover
from octant.placement import Placement, planner
from octant.placement.expressions import parse_place
from octant.placement.request import Request
from octant.runs import plan
from octant.store import open_store
from octant.workload import Workload


def evaluate(quick: bool, only: Sequence[str]) -> tuple[tuple[Launch, ...], Machine]:
    """The plan of `octant evaluate` and the machine it is for.

    Raises:
        Refusal: `only` names no workload.
    """
    machine = discover()
    chosen = [_workload(name) for name in only] or list(workloads.workloads().values())
    return plan.evaluate(chosen, machine, quick), machine


@dataclass(frozen=True)
class Where:
    """Where the ranks are to go and who starts them, in the user's words."""

    place: str = ""
    launcher: str = ""
    hosts: str = ""  # names with commas between, or @FILE with one a line


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
    _workload(workload)
    if any("\n" in text for text in directives):
        raise Refusal("cannot use a --directive of several lines (the shell would read the others); give one a line")
    try:
        request = parse_place(place, discover().topology) if place else Request(ranks=ranks or 1)
    except ValueError as error:
        raise Refusal(str(error), Exit.WRONG_ANSWER) from error
    total = ranks or request.ranks
    if total % request.ranks:
        raise Refusal(
            f"cannot deal {total} ranks to nodes of {request.ranks} (what is placed is one node); see --ranks"
        )
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
        f"octant-{workload}",
        directives,
    )


def run(
    workload: str, words: Sequence[str], ranks: int | None, mode: str, repeats: int, where: Where = HERE
) -> tuple[tuple[Launch, ...], Machine]:
    """The plan of `octant run`; unknown knobs and values are refused before anything starts.

    Raises:
        Refusal: unknown workload, mode, knob, value or launcher, or a placement that does not fit this machine.
    """
    _workload(workload)
    if where.launcher:
        launchers.launcher(where.launcher)
    if mode and mode not in ("one", "star", "threads", "all"):
        raise Refusal(f"cannot use --mode {mode} (no such mode); try one, star, threads or all")
    described = describe(workload)
    knobs = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name or not value:
            raise Refusal(f"cannot read {word!r} (not of the form knob=value); try {described.knobs[0].name}=…")
        if name in knobs:
            raise Refusal(f"cannot set {name} twice; give several values as {name}=a,b")
        known = [knob.name for knob in described.knobs]
        if name not in known:
            raise Refusal(f"cannot set {name!r} (no such knob of {workload}); it has {', '.join(known)}")
        knobs[name] = value
    default: str = "all" if described.least_ranks > 1 else "one"
    chosen = mode or default
    machine = discover()
    hosts = host_names(where.hosts)
    if not where.place:
        planned = plan.run(workload, knobs, ranks, chosen, repeats, machine)
        return tuple(replace(p, launcher=where.launcher, hosts=hosts) for p in planned), machine
    request = requested(where.place, machine).request
    total = ranks or request.ranks * max(1, len(hosts))
    planned = plan.run(workload, knobs, total, chosen, repeats, machine)
    return plan.placed(planned, request, total, where.launcher, hosts), machine


@dataclass(frozen=True)
class Requested:
    """A placement in its three forms."""

    text: str
    request: Request
    placement: Placement


def requested(text: str, machine: Machine) -> Requested:
    """What a placement's words mean on a machine.

    Raises:
        Refusal: the words cannot be read (exit 2), or it does not fit (exit 3).
    """
    try:
        request = parse_place(text, machine.topology)
    except ValueError as error:
        raise Refusal(str(error), Exit.WRONG_ANSWER) from error
    try:
        return Requested(text, request, planner.plan(machine.topology, request, machine.page_sizes))
    except planner.DoesNotFit as error:
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
        try:
            listed = Path(text[1:]).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise Refusal(f"cannot read the hosts in {text[1:]} ({error}); try --hosts a,b") from error
    lines = [line.split("#")[0] for line in listed.splitlines()]
    hosts = tuple(name for line in lines for name in line.replace(",", " ").split())
    if text and not hosts:
        raise Refusal(f"cannot find a host in {text!r}; try --hosts a,b or --hosts @FILE with one a line")
    for name in hosts:
        if not _HOST.fullmatch(name):
            raise Refusal(
                f"cannot use the host {name!r} (names have letters, digits and . - _ @); see --ranks for ranks a host"
            )
    if len(set(hosts)) < len(hosts):
        raise Refusal(f"cannot use a host twice ({text}); each gets the same number of ranks, see --ranks")
    return hosts


def _workload(name: str) -> Workload:
    try:
        return workloads.workload(name)
    except LookupError as error:
        raise Refusal(f"cannot measure {name!r} ({error.args[0]})", Exit.WRONG_ANSWER) from error
