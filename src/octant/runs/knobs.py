"""Validation of requested knobs before a run is created: names, choices, numbers and their ranges."""

import contextlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from octant import build, facts, units
from octant.build.describe import Described, DescribedKnob, describe
from octant.failure import Exit, Refusal, suggestion
from octant.machine import Machine
from octant.machine.cache_levels import CACHE_NAMES, explain_no_size
from octant.mpi.knobs import OTHER_LIBRARY
from octant.request import Request, each_once

MAX_VALUES = 1000
"""Maximum number of values of one knob."""
MAX_CELLS = 10_000
"""Maximum number of configurations of one request."""
LONGEST = 100_000
"""Maximum number of characters of all values of one knob; the system accepts arguments of 128 KiB."""

SIZE_FORMS = "L2, L2/4, 2*L3, memory/8, or a range in quotes: 'bytes=L1/2 to 4*L3 by 2'"
"""Forms of a size by memory level."""
_OF_SUITES = {"l1": "L1", "l2": "L2", "llc": "L3"}
"""Facts that suites may assume, and the levels as this machine states them."""
_ANY_SIZE = 2**20
"""Assumed for every size of a machine that is not known yet."""


@dataclass(frozen=True)
class LevelSizes:
    """Knobs whose sizes by memory level are replaced by bytes."""

    knobs: Mapping[str, str]
    expressions: Mapping[str, Mapping[str, str]]  # by knob and bytes: `{"bytes": {"1048576": "L2"}}`


def evaluate_level_sizes(
    knobs: Mapping[str, str], described: Described, machine: Machine | None, counts: Mapping[str, int]
) -> LevelSizes:
    """Replace expressions of memory levels by bytes, in every knob that is a size: `L2/4`, `L1/2 to 4*L3 by 2`.

    Args:
        machine: `None`: that of a job, whose sizes are not known yet, so that expressions are only checked.
        counts: the number of ranks and, if all configurations have the same, of threads.

    Raises:
        Refusal: the machine states no single size of a level, or an expression is invalid.
    """
    stated = facts.facts(machine) if machine else dict.fromkeys(facts.FACTS, _ANY_SIZE)
    known = {name: size for name, size in stated.items() if name not in _OF_SUITES} | {**counts}
    made, expressions = dict(knobs), {}
    for knob in (knob for knob in described.knobs if knob.kind == "bytes" and knob.name in knobs):
        text = knobs[knob.name]
        try:
            made[knob.name] = each_once(facts.values(text, known))
            if found := facts.level_expressions(text, known):
                expressions[knob.name] = found
        except facts.UnknownFactError as error:
            why = _explain_unknown(error.fact, machine)
            raise Refusal(f"cannot set {knob.name}={text[:60]}: {why}", Exit.WRONG_WORD) from error
        except ValueError as error:
            raise Refusal(f"cannot set {knob.name} ({error}); try {SIZE_FORMS}", Exit.WRONG_WORD) from error
    return LevelSizes(made, expressions)


def _explain_unknown(fact: str, machine: Machine | None) -> str:
    if machine and fact in CACHE_NAMES:
        return explain_no_size(machine, fact)
    if fact in _OF_SUITES:
        return f"{fact!r} is a name of suites; try {_OF_SUITES[fact]}"
    return f"{fact!r} is not known here; try {SIZE_FORMS}"


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
        levels = f"; by memory level: {SIZE_FORMS}" if knob.kind == "bytes" and facts.levels_in(value) else ""
        raise Refusal(f"cannot set {knob.name} ({error}{levels})", Exit.WRONG_WORD) from None
    if not knob.least <= number <= knob.most:
        bound, word = (knob.least, "minimum") if number < knob.least else (knob.most, "maximum")
        text = units.exact_bytes_text(int(bound)).replace(" ", "") if knob.kind == "bytes" else str(bound)
        raise Refusal(f"{setting} is out of range (the {word} is {text}); try {knob.name}={text}", Exit.WRONG_WORD)
