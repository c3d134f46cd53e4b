"""Commands to copy, from the requests of a run, quoted for a shell."""

from __future__ import annotations

import math
import re
import shlex
from typing import TYPE_CHECKING

from octant.advice.findings._curves import size_knob, size_of
from octant.advice.findings._program_lines import program_line
from octant.request import effort_knobs
from octant.runs.rounds import usual_launches
from octant.units import bytes_text, parse_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary
    from octant.request import Request
    from octant.store import StoredRun

DOCTOR = "octant doctor"
_EVALUATE = re.compile(r"evaluate( --(quick|full)| --suite [\w./-]+| --only [\w/]+| --allow [\w./=+-]+)*")
_STUDY = re.compile(r"study [\w-]+")
_STEPS = 4  # sizes of `larger_sizes_command`
_NAME = re.compile(r"[a-z][a-z0-9_]*")


def rerun_command(run: StoredRun) -> tuple[str, ...]:
    """Return the command that repeats a run; empty if the run does not store it safely."""
    if run.who == "evaluate" and _EVALUATE.fullmatch(run.title):
        return (f"octant {run.title}",)
    if _STUDY.fullmatch(run.who):
        return (f"octant study run {run.who.partition(' ')[2]}",)
    if run.who == "run" and len(run.requests) == 1:
        request = run.requests[0]
        if request.subject.command:  # without --repeats the first launch decides how many there are
            return program_line(request, request.knobs)
        often = request.repeats if request.repeats != usual_launches(request.knobs) else 0
        return tuple(f"{line} --repeats={often}" if often else line for line in request_command(request, request.knobs))
    return ()


def figure_command(summary: Summary, figure: Figure, **changed: str) -> tuple[str, ...]:
    """Return the command that measures only the cell of a figure, with some knobs at other values.

    It contains only requested knobs; it is empty if a name or value cannot be typed.
    """
    request = summary.run.request_of(figure.point.launch)
    if request is None:
        return ()
    effort = effort_knobs(figure.workload.name)
    knobs = {name: figure.knobs.get(name, value) for name, value in request.knobs.items() if name not in effort}
    return request_command(request, {**knobs, **changed})


def larger_sizes_command(summary: Summary, figure: Figure) -> tuple[str, ...]:
    """Return the command that measures a figure at its size and up to eight times that; empty without a size.

    Bytes are at most an eighth of the memory, as in the suites.
    """
    knob = size_knob(figure)
    size = size_of(figure, knob) if knob else math.nan
    if math.isnan(size) or size < 1:
        return ()
    memory_bytes = summary.run.machine.memory_bytes
    most = memory_bytes // 8 if knob == "bytes" and memory_bytes is not None else math.inf
    sizes = [int(size) << step for step in range(_STEPS) if int(size) << step <= most]
    return figure_command(summary, figure, **{knob: sizes_text(knob, sizes)}) if len(sizes) > 1 else ()


def sizes_text(knob: str, sizes: Sequence[int]) -> str:
    """Return values of a knob for the command line: `512KiB,4MiB` for bytes, if exact."""
    texts = [bytes_text(size).replace(" ", "") if knob == "bytes" else str(size) for size in sizes]
    return ",".join(text if parse_bytes(text) == size else str(size) for text, size in zip(texts, sizes, strict=True))


def page_command(figure: Figure) -> str:
    """Return the command that prints the page of a figure's workload."""
    return f"octant workloads {figure.workload.name}"


def request_command(request: Request, knobs: Mapping[str, str]) -> tuple[str, ...]:
    """Return the command `octant run` of a request with these knobs; empty if it cannot be typed."""
    if request.subject.command:
        return program_line(request, knobs)
    words = ["octant", "run", request.subject.workload, *(f"{name}={value}" for name, value in knobs.items())]
    words += [f"--ranks={request.shape.ranks}"] if request.shape.ranks > 1 else []
    words += [f"--place={request.shape.place}"] if request.shape.place else []
    words += [f"--hosts={','.join(request.shape.hosts)}"] if request.shape.hosts else []
    words += [f"--link={request.shape.link}"] if request.shape.link else []
    typed = request.subject.workload and not request.mpi and all(map(_NAME.fullmatch, knobs))
    return (shlex.join(words),) if typed and all(word.isprintable() for word in words) else ()
