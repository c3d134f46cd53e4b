"""Validation of requested knobs before a run is created: names, choices, numbers and their ranges."""

import contextlib
import math
from collections.abc import Iterable, Mapping

from octant import build, units
from octant.build.describe import Described, DescribedKnob, describe
from octant.failure import Exit, Refusal, suggestion
from octant.mpi.knobs import OTHER_LIBRARY
from octant.request import Request

MAX_VALUES = 1000
"""Maximum number of values of one knob."""
MAX_CELLS = 10_000
"""Maximum number of configurations of one request."""
LONGEST = 100_000
"""Maximum number of characters of all values of one knob; the system accepts arguments of 128 KiB."""


def check_knobs(workload: str, knobs: Mapping[str, str], described: Described) -> None:
    """Check every value of every knob without starting a process.

    Raises:
        Refusal: the kernel has no such knob, does not accept a value, or there are too many values.
    """
    known = {knob.name: knob for knob in described.knobs}
    for name, values in knobs.items():
        if name not in known:
            of_mpi = name in ("library", "mpi") and workload.startswith("mpi/")
            hint = OTHER_LIBRARY if of_mpi else suggestion(name, known, f"octant workloads {workload}")
            raise Refusal(f"{workload} has no knob {name[:60]!r}; {hint}", Exit.WRONG_WORD)
        count = values.count(",") + 1
        if count > MAX_VALUES or len(values) > LONGEST:
            why = f"{count} values in {len(values)} characters; the maximum is {MAX_VALUES} in {LONGEST} characters"
            raise Refusal(f"too many values of {name} ({why}); use fewer values", Exit.WRONG_WORD)
        for value in values.split(","):
            _check_value(known[name], value)
    cells = math.prod(values.count(",") + 1 for values in knobs.values())
    if cells > MAX_CELLS:
        why = f"one launch can measure at most {MAX_CELLS}"
        raise Refusal(f"{', '.join(knobs)} have {cells} combinations ({why}); use shorter lists", Exit.WRONG_WORD)


def check_requests(requests: Iterable[Request]) -> None:
    """Check the knobs of requests, so that invalid ones are refused before a run is created.

    A kernel that cannot be built is not an error here: its launches fail, and the others are measured. The same holds
    for an unsupported cell.

    Raises:
        Refusal: as `check_knobs`, or the kernel itself refuses groups, pages, memory or a shape.
    """
    requests = list(requests)
    with contextlib.suppress(Refusal):  # launches of a kernel that cannot be built fail later
        build.prepare(
            [*{request.subject.workload: 0 for request in requests if request.subject.workload}, "bind", "pages"]
        )
    kernels: dict[str, Described | None] = {}
    seen = set()
    for request in requests:
        name = request.subject.workload
        if not name:
            continue
        if name not in kernels:
            kernels[name] = _described(name)
        if (described := kernels[name]) is None:
            continue
        check_knobs(name, request.knobs, described)
        open_words = {knob.name for knob in described.knobs if knob.kind == "word" and not knob.choices}
        judged = {*request.knobs} if described.raw.get("takes") else {*open_words, "layout"}
        words = {knob: values for knob, values in request.knobs.items() if knob in judged}
        one = (name, request.shape.ranks, *sorted(words.items()))
        if one not in seen:
            seen.add(one)
            check_shape(name, words, request.shape.ranks)


def check_shape(workload: str, knobs: Mapping[str, str], ranks: int) -> None:
    """Check whether the kernel accepts these knobs and ranks.

    Raises:
        Refusal: as `describe`. An unsupported configuration is not an error here; its launch records it.
    """
    try:
        describe(workload, knobs, ranks)
    except Refusal as refusal:
        if refusal.code != Exit.NOT_SUPPORTED:
            raise


def _described(workload: str) -> Described | None:
    try:
        return describe(workload)
    except Refusal:
        return None


def _check_value(knob: DescribedKnob, value: str) -> None:
    setting = f"{knob.name}={value[:60]}"
    if knob.kind == "word":
        if knob.choices and value not in knob.choices:
            raise Refusal(f"invalid value {setting}; {suggestion(value, knob.choices)}", Exit.WRONG_WORD)
        return
    readers = {
        "bytes": units.parse_bytes,
        "seconds": units.parse_seconds,
        "real": units.parse_real,
        "integer": units.parse_whole,
    }
    try:
        number = readers[knob.kind](value)
    except ValueError as error:
        raise Refusal(f"cannot set {knob.name} ({error})", Exit.WRONG_WORD) from None
    if not knob.least <= number <= knob.most:
        bound, word = (knob.least, "minimum") if number < knob.least else (knob.most, "maximum")
        text = units.exact_bytes_text(int(bound)).replace(" ", "") if knob.kind == "bytes" else str(bound)
        raise Refusal(f"{setting} is out of range (the {word} is {text}); try {knob.name}={text}", Exit.WRONG_WORD)
