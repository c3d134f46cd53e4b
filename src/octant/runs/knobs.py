"""Whether kernels can take the knobs that are asked: names, words, numbers and their ranges, before there is a run."""

import contextlib
import math
from collections.abc import Iterable, Mapping

from octant import build, units
from octant.build.describe import Described, DescribedKnob, describe
from octant.failure import Exit, Refusal, suggestion
from octant.request import Request

MOST_VALUES = 1000
"""Values of one knob."""
MOST_CELLS = 10_000
"""Cells of one request."""
LONGEST = 100_000
"""Characters of all values of one knob: a system takes words of 128 KiB."""


def check_knobs(workload: str, knobs: Mapping[str, str], described: Described) -> None:
    """Looks at every value of every knob, without starting anything.

    Raises:
        Refusal: a knob that the kernel lacks, a value that it cannot read or take, or too many of them.
    """
    known = {knob.name: knob for knob in described.knobs}
    for name, values in knobs.items():
        if name not in known:
            hint = suggestion(name, known, f"octant workloads {workload}")
            raise Refusal(f"cannot set {name[:60]!r} (no such knob of {workload}); {hint}", Exit.WRONG_WORD)
        count = values.count(",") + 1
        if count > MOST_VALUES or len(values) > LONGEST:
            why = f"{count} values in {len(values)} characters, at most {MOST_VALUES} in {LONGEST}"
            raise Refusal(f"cannot set {name} ({why}); try fewer values", Exit.WRONG_WORD)
        for value in values.split(","):
            _check_value(known[name], value)
    cells = math.prod(values.count(",") + 1 for values in knobs.values())
    if cells > MOST_CELLS:
        why = f"{cells} combinations, at most {MOST_CELLS} in one launch"
        raise Refusal(f"cannot measure {', '.join(knobs)} together ({why}); try shorter lists", Exit.WRONG_WORD)


def check_requests(requests: Iterable[Request]) -> None:
    """Looks at the knobs of requests, so that what no kernel can take is refused before there is a run of it.

    A kernel that is not installed is no reason: its launches fail, and the others are measured.

    Raises:
        Refusal: as `check_knobs`; or what only the kernel can judge: groups, pages, memory, and shapes that it does not
            take. A cell that is not supported is none: its launch says so.
    """
    requests = list(requests)
    with contextlib.suppress(Refusal):  # a kernel that cannot be built is none that is installed
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
    """Asks the kernel of one of several requests whether it takes these knobs and ranks.

    Raises:
        Refusal: as `describe`, except where nothing is wrong but no point is supported: the launch records that.
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
            raise Refusal(f"cannot set {setting} (no such choice); {suggestion(value, knob.choices)}", Exit.WRONG_WORD)
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
        bound, word = (knob.least, "least") if number < knob.least else (knob.most, "most")
        text = units.exact_bytes_text(int(bound)).replace(" ", "") if knob.kind == "bytes" else str(bound)
        raise Refusal(f"cannot set {setting} (the {word} is {text}); try {knob.name}={text}", Exit.WRONG_WORD)
