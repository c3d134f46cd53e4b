"""Requests for the tests of a benchmark, and the reasons why some tests cannot be measured."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from octant import build, workloads
from octant.benchmarks import BenchmarkRequests
from octant.benchmarks.table import BenchmarkError, check_sizes, read_tests, size_name
from octant.build.describe import describe
from octant.facts import usable_cores
from octant.failure import Refusal, suggestion
from octant.launch import leftovers
from octant.request import Presentation, Request, Shape, Subject
from octant.runs.command_line import host_names
from octant.runs.knobs import check_knobs
from octant.runs.modes import ranks_and_knobs
from octant.runs.rounds import usual_launches
from octant.units import bytes_text, counted
from octant.untrusted import Mistake

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from octant.benchmarks import Benchmark, BenchmarkArguments
    from octant.benchmarks.table import BenchmarkTest
    from octant.machine import Machine


@dataclass(frozen=True)
class Sizes:
    """Sizes of a benchmark's tests, which name its attributes; `sizes.py` of a benchmark adds further ones."""

    ranks: int

    @property
    def label(self) -> str:
        """Value of `--size`; "": there is no such option."""
        return ""


@dataclass(frozen=True)
class RequestedTests:
    """Requests of tests."""

    requests: tuple[Request, ...]
    left_out: Mapping[str, str]  # reason why a test is not measured, by test
    unshared: tuple[str, ...] = ()  # tests for which the shared memory is too small


def make_requests(
    benchmark: Benchmark, arguments: BenchmarkArguments, machine: Machine, _mpi: Mapping[str, str]
) -> BenchmarkRequests:
    """Return a request for each test that can be measured; the remarks name the others.

    Raises:
        Refusal: an invalid size, or a mistake in `tests.toml`.
    """
    hosts = host_names(arguments.hosts)
    count = arguments.ranks or len(usable_cores(machine)) * max(1, len(hosts))
    quick = bool(arguments.own_options.get("quick", True))
    sizes, remarks, free = Sizes(count), [], leftovers.free_bytes()
    if own := benchmark.part("sizes"):
        sizes, remarks = own.choose(arguments.text("size"), quick, count, *_memory(machine, max(1, len(hosts))))
    tests = read_tests(benchmark.name)
    check_sizes(benchmark.name, tests, [one for one in dir(sizes) if not one.startswith("_")])
    found = request_tests(
        tests, sizes, quick, arguments.repeats or benchmark.launches, arguments.launcher, hosts,
        shareable_bytes=free,
    )  # fmt: skip
    for mistake in problems(tests):
        raise BenchmarkError(benchmark.name, mistake)
    why = f"its shared memory would exceed the {bytes_text(int(free))} available in {leftovers.FOLDER}"
    remarks += [f"{name} uses messages within the node: {why}" for name in found.unshared]
    remarks += [f"{name} is skipped: {why}" for name, why in found.left_out.items()]
    words = [benchmark.command, *["--quick" if quick else "--full"] * ("quick" in arguments.own_options)]
    words += [f"--size {sizes.label}"] * bool(sizes.label) + [f"--ranks {count}"]
    words += [f"--launcher {arguments.launcher}"] * bool(arguments.launcher) + [f"--hosts {arguments.hosts}"] * bool(
        arguments.hosts
    )
    return BenchmarkRequests(found.requests, " ".join(words), tuple(remarks))


def problems(tests: Sequence[BenchmarkTest]) -> Iterator[Mistake]:
    """Yield metrics and knobs of figures that no cell of their test can have, as far as this is declared."""
    for n, test in enumerate(tests):
        if workloads.why_absent(test.workload):
            continue
        metrics = [one.name for one in workloads.workload(test.workload).metrics]
        try:
            known = {knob.name: knob for knob in describe(test.workload).knobs}
        except Refusal:  # the kernel is not built
            known = {}
        for m, figure in enumerate(test.figure):
            path = ("test", str(n), "figure", str(m))
            for key, metric in (("metric", figure.metric), ("reference", figure.reference)):
                if metric and metric not in metrics:
                    why = f"{test.workload} has no metric {metric!r}"
                    yield Mistake((*path, key), why, suggestion(metric, metrics))
            for name, value in figure.knobs.items() if known else ():
                place = (*path, "knobs", name)
                if name not in known:
                    hint = suggestion(name, known, f"octant workloads {test.workload}")
                    yield Mistake(place, f"{test.workload} has no such knob", hint)
                    continue
                values = known[name].choices and (_values(test, name) or known[name].choices)
                if values and value not in values:
                    yield Mistake(place, f"the test has no {name}={value}", suggestion(value, values))


def _values(test: BenchmarkTest, knob: str) -> list[str]:
    """Return the values of a knob in a test; none if the test does not set the knob, or sets it by a size."""
    texts = [more[knob] for more in (test.knobs, test.quick, test.across, test.unshared) if knob in more]
    values = [value for text in texts for value in text.split(",")]
    return values if knob in test.knobs and not any(map(size_name, texts)) else []


def _memory(machine: Machine, nodes: int) -> tuple[int, int]:
    """Return the bytes of memory of all nodes, and the available part."""
    limit = machine.system.get("cgroup_memory_bytes", "")
    memory_bytes = machine.memory_bytes or 0
    memory = min(memory_bytes, int(limit) if limit.isdigit() else memory_bytes) * nodes
    return memory, int(machine.system.get("available_memory_bytes", memory)) * nodes


def filled(text: str, sizes: Sizes) -> str:
    """Return a value of `tests.toml`, with `{size}` replaced.

    Raises:
        AttributeError: unknown size.
    """
    return str(getattr(sizes, name)) if (name := size_name(text)) else text


def request_tests(
    tests: Sequence[BenchmarkTest],
    sizes: Sizes,
    quick: bool,
    repeats: int | None,
    launcher: str = "",
    hosts: tuple[str, ...] = (),
    link: str = "",
    shareable_bytes: float = math.inf,
) -> RequestedTests:
    """Return a request for each test that can be measured; equal requests are made once.

    Args:
        quick: add the knobs of a quick run.
        repeats: launches per test; `None`: the default for its knobs.
        shareable_bytes: memory that ranks of this node can share.
    """
    made: dict[str, Request] = {}
    left_out: dict[str, str] = {}
    unshared = []
    build.prepare([*(test.workload for test in tests if not absent(test, sizes.ranks)), "bind", "pages"])
    for test in tests:
        if why := absent(test, sizes.ranks):
            left_out[test.name] = why
            continue
        try:
            more = dict(test.quick) if quick else {}
            if len(hosts) > 1 or link:
                more |= test.across
            elif sizes.ranks > 1 and int(filled(test.share, sizes)) > shareable_bytes:
                more |= test.unshared
                unshared.append(test.name)
            request = _request(test, sizes, more, repeats, Shape(1, "", hosts, launcher, link))
            made.setdefault(request.key, request)  # with one rank tests of one rank, of each and of all may be the same
        except Refusal as refusal:
            left_out[test.name] = str(refusal)
    return RequestedTests(tuple(made.values()), left_out, tuple(unshared))


def absent(test: BenchmarkTest, ranks: int) -> str:
    """Return why a test cannot have a figure: too few ranks, or no workload; "" if it can have one."""
    if ranks < test.least:
        return f"it needs {counted(test.least, 'rank')}"
    return workloads.why_absent(test.workload)


def _request(test: BenchmarkTest, sizes: Sizes, more: Mapping[str, str], repeats: int | None, shape: Shape) -> Request:
    described = describe(test.workload)
    alone = described.raw.get("pace", "chunks") == "chunks"
    ranks, knobs = ranks_and_knobs(test.mode, sizes.ranks, alone)
    if test.mode == "all":
        ranks = int(filled(test.ranks, sizes)) if test.ranks else sizes.ranks
    knobs = {**{name: filled(value, sizes) for name, value in {**test.knobs, **more}.items()}, **knobs}
    check_knobs(test.workload, knobs, described)
    describe(test.workload, knobs, ranks)  # what only the kernel can judge
    shape = Shape(ranks, shape.place, shape.hosts, shape.launcher, shape.link)
    show = Presentation(test.name, short=test.name, test=test.name)
    return Request(Subject(test.workload), knobs, shape, {}, show, repeats or usual_launches(knobs))
