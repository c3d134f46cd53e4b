"""Which launches a question needs: a pure function of what was asked and of the machine."""

import dataclasses
from collections.abc import Iterable, Mapping

from octant.ask import Ask, Launch
from octant.failure import Refusal
from octant.machine import Machine
from octant.machine.facts import usable_cores
from octant.placement.request import PAGE_BYTES, Request
from octant.units import bytes_text
from octant.workload import Workload


def evaluate(workloads: Iterable[Workload], machine: Machine, quick: bool) -> tuple[Launch, ...]:
    """The launches of `octant evaluate`: what sets ceilings first.

    On one core, `star` and `threads` would repeat `one` and are left out.
    """
    cores = len(usable_cores(machine))
    launches = []
    for workload in sorted(workloads, key=lambda w: (w.order, w.name)):
        for ask in workload.evaluate(machine, quick):
            if cores == 1 and ask.mode in ("star", "threads"):
                continue
            launches.append(launch_of(workload.name, ask, cores))
    return tuple(launches)


def launch_of(workload: str, ask: Ask, cores: int) -> Launch:
    """The launch that answers one ask on a machine with that many usable cores."""
    ranks = {"one": 1, "threads": 1, "star": cores, "all": max(2, cores)}[ask.mode]
    threads = {"threads": str(cores)}.get(ask.mode)
    knobs = {**ask.knobs, **({"threads": threads} if threads else {})}
    return Launch(workload, knobs, ask.mode, ranks, ask.title, table=ask.table)


def run(
    workload: str, knobs: Mapping[str, str], ranks: int | None, mode: str, repeats: int, machine: Machine
) -> tuple[Launch, ...]:
    """The launches of `octant run`: one workload, asked `repeats` times.

    Raises:
        Refusal: no repeats, no ranks, or a rank count that the mode sets itself.
    """
    if not 1 <= repeats <= 10_000 or (ranks is not None and ranks < 1):
        asked = "less than once, more than 10000 times or on less than one rank"
        raise Refusal(f"cannot run {asked}; try --repeats 1 --ranks 1")
    if ranks is not None and ranks > 1 and mode in ("one", "threads"):
        mode = "all"
    if "threads" in knobs and mode == "threads":
        raise Refusal("cannot use --mode threads with threads=… (the mode sets it); drop one of the two")
    launch = launch_of(workload, Ask(mode, knobs, workload), len(usable_cores(machine)))
    launch = dataclasses.replace(launch, ranks=launch.ranks if ranks is None else ranks)
    return tuple(dataclasses.replace(launch, repeat=repeat) for repeat in range(repeats))


def placed(
    launches: Iterable[Launch], request: Request, ranks: int | None, launcher: str, hosts: tuple[str, ...]
) -> tuple[Launch, ...]:
    """The launches as one node's placement says it, on every host.

    Raises:
        Refusal: a knob, or the number of ranks, that the placement sets otherwise.
    """
    total = ranks or request.ranks * max(1, len(hosts))
    if total % request.ranks:
        raise Refusal(
            f"cannot deal {total} ranks to nodes of {request.ranks} (what is placed is one node); see --ranks"
        )
    pages = {"default": {}, "4k": {"pages": "base"}, "thp": {"pages": "thp"}}.get(
        request.pages, {"pages": bytes_text(PAGE_BYTES.get(request.pages, 0)).replace(" ", "")}
    )
    sets = {"threads": str(request.threads), "pin": "none", **pages}
    found = []
    for launch in launches:
        for name, value in sets.items():
            if launch.knobs.get(name, value) != value:
                raise Refusal(
                    f"cannot set {name}={launch.knobs[name]} (the placement says {value}); drop one of the two"
                )
        mode: str = ("threads" if request.threads > 1 else "one") if total == 1 else launch.mode
        knobs = {**launch.knobs, **sets}
        found.append(
            dataclasses.replace(
                launch, knobs=knobs, mode=mode, ranks=total, place=str(request), launcher=launcher, hosts=hosts
            )
        )
    return tuple(found)
