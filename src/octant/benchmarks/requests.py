"""The tests of HPC Challenge as asks, and why an installation cannot measure some of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from octant import build, workloads
from octant.ask import Ask, Presentation, Shape, Subject
from octant.benchmarks.table import hpcc_tests
from octant.build.describe import describe
from octant.failure import Refusal
from octant.runs.knobs import check_knobs
from octant.runs.modes import ranks_and_knobs
from octant.units import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from octant.benchmarks.hpcc.sizes import Sizes
    from octant.benchmarks.table import HpccTest

LAUNCHES = 3
"""Of each test: the least that an interval knows."""
QUICK_S, FULL_S = 600.0, 6 * 3600.0
"""After which a launch is ended as hung: what a repetition and its checks take grows with N, not with a budget."""


@dataclass(frozen=True)
class Hpcc:
    """What a run of HPC Challenge asks."""

    asks: tuple[Ask, ...]
    left_out: Mapping[str, str]  # why a test is not measured, by its name
    unshared: tuple[str, ...] = ()  # tests that do not find the memory to share that they would take


def asked(
    sizes: Sizes,
    quick: bool,
    repeats: int | None,
    launcher: str = "",
    hosts: tuple[str, ...] = (),
    link: str = "",
    shareable_bytes: float = math.inf,
) -> Hpcc:
    """An ask for each test that can be measured; of tests that ask the same one.

    Args:
        quick: with the further knobs of a quick run.
        repeats: launches of each; `None`: three.
        shareable_bytes: what ranks of this node can share.
    """
    made: dict[str, Ask] = {}
    left_out: dict[str, str] = {}
    unshared = []
    build.prepare([*(test.workload for test in hpcc_tests() if not absent(test, sizes.ranks)), "bind", "pages"])
    for test in hpcc_tests():
        if why := absent(test, sizes.ranks):
            left_out[test.name] = why
            continue
        try:
            more = dict(test.quick) if quick else {}
            if len(hosts) > 1 or link:
                more |= test.across
            elif sizes.ranks > 1 and int(sizes.filled(test.share)) > shareable_bytes:
                more |= test.unshared
                unshared.append(test.name)
            ask = _ask(test, sizes, more, repeats or LAUNCHES, Shape(1, "", hosts, launcher, link))
            made.setdefault(ask.key, ask)  # with one rank tests of one rank, of each and of all may be the same
        except Refusal as refusal:
            left_out[test.name] = str(refusal)
    return Hpcc(tuple(made.values()), left_out, tuple(unshared))


def absent(test: HpccTest, ranks: int) -> str:
    """Why a test has no figure whatever is asked: too few ranks, or no workload; empty where it may have one."""
    if ranks < test.least:
        return f"it needs {counted(test.least, 'rank')}"
    return workloads.why_absent(test.workload)


def _ask(test: HpccTest, sizes: Sizes, more: Mapping[str, str], repeats: int, shape: Shape) -> Ask:
    described = describe(test.workload)
    alone = described.raw.get("pace", "chunks") == "chunks"
    ranks, knobs = ranks_and_knobs(test.mode, sizes.ranks, alone)
    if test.mode == "all":
        ranks = int(sizes.filled(test.ranks)) if test.ranks else sizes.ranks
    knobs = {**{name: sizes.filled(value) for name, value in {**test.knobs, **more}.items()}, **knobs}
    check_knobs(test.workload, knobs, described)
    describe(test.workload, knobs, ranks)  # what only the kernel can judge
    shape = Shape(ranks, shape.place, shape.hosts, shape.launcher, shape.link)
    return Ask(Subject(test.workload), knobs, shape, {}, Presentation(test.name, short=test.name), repeats)
