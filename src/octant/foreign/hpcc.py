"""HPC Challenge: `Key=value` between `Begin of Summary section.` and its end; sizes and checks stand beside figures.

Units are those of the keys' names: GB/s, GBytes and GUPs are 10^9, usec 10^-6. A rate of a Star test is the mean of the
processes', each of which ran alone.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from octant.foreign import Output, Row, Table, Value
from octant.foreign._text import Line, Rounded, date_of, first, number_of, ranks_of, word_of

_PAIR = re.compile(r"([A-Za-z_][\w ]{0,60})=(\S+)\s*")
_Pairs: TypeAlias = "dict[str, tuple[int, Rounded]]"
_UPDATES = 0.01  # of all updates may be wrong


@dataclass(frozen=True)
class _Test:
    """A benchmark and the keys of its figures."""

    name: str
    figures: tuple[tuple[str, str, str, int], ...]  # key, our name, unit, power of ten
    knobs: Callable[[_Pairs], dict[str, str]] = lambda _: {}
    single: bool = False  # of one process
    check: tuple[str, str, float] | None = None  # key, our name, bound


def _size(key: str, knob: str = "n", times: int = 1) -> Callable[[_Pairs], dict[str, str]]:
    return lambda pairs: {knob: str(round(pairs[key][1].value) * times)} if _whole(pairs, key) else {}


def _whole(pairs: _Pairs, key: str) -> bool:
    return key in pairs and 0 <= pairs[key][1].value < 1e15


def _loops(star: str) -> tuple[_Test, ...]:
    def knobs(name: str, arrays: int) -> Callable[[_Pairs], dict[str, str]]:
        return lambda pairs: {"kernel": name.lower(), **_size("STREAM_VectorSize", "bytes", 8 * arrays)(pairs)}

    return tuple(
        _Test(
            f"{star}_stream",
            ((f"{star}STREAM_{name}", "bandwidth", "B/s", 9),),
            knobs(name, arrays),
            star == "Single",
        )
        for name, arrays in (("Copy", 2), ("Scale", 2), ("Add", 3), ("Triad", 3))
    )


def _both(name: str, key: str, figure: str, unit: str, knobs: Callable[[_Pairs], dict[str, str]]) -> tuple[_Test, ...]:
    """The test of all processes at once, each alone, and of one."""
    return tuple(
        _Test(f"{how}_{name}", ((f"{how}{key}", figure, unit, 9),), knobs, how == "Single")
        for how in ("Star", "Single")
    )


def _updates(variant: str) -> _Test:
    key = f"MPIRandomAccess{variant}"
    figures = ((f"{key}_GUPs", "updates", "update/s", 9), (f"{key}_time", "time", "s", 0))
    check = (f"{key}_ErrorsFraction", "errors", _UPDATES)
    return _Test(f"mpi_randomaccess{variant.lower()}", figures, _size(f"{key}_N", "bytes", 8), check=check)


def _messages(name: str, what: str, by: str = "") -> tuple[_Test, ...]:
    """Latency and bandwidth; `by` stands before our names of figures that are the least of few, not a median."""
    return (
        _Test(f"{what}_latency", ((f"{name}Latency_usec", f"{by}time", "s", -6),)),
        _Test(f"{what}_bandwidth", ((f"{name}Bandwidth_GBytes", f"{by}bandwidth", "B/s", 9),)),
    )


_TESTS = (
    _Test(
        "hpl", (("HPL_Tflops", "rate", "flop/s", 12), ("HPL_time", "time", "s", 0)),
        lambda pairs: {**_size("HPL_N")(pairs), **_size("HPL_NB", "block")(pairs)},
    ),
    *_both("dgemm", "DGEMM_Gflops", "rate", "flop/s", _size("DGEMM_N")),
    _Test(
        "ptrans", (("PTRANS_GBs", "rate", "B/s", 9), ("PTRANS_time", "time", "s", 0)), _size("PTRANS_n"),
        check=("PTRANS_residual", "residual", 16.0),
    ),
    _updates(""),
    _updates("_LCG"),
    *_both("randomaccess", "RandomAccess_GUPs", "updates", "update/s", _size("RandomAccess_N", "bytes", 8)),
    *_both("randomaccess_lcg", "RandomAccess_LCG_GUPs", "updates", "update/s", _size("RandomAccess_LCG_N", "bytes", 8)),
    *_loops("Star"),
    *_loops("Single"),
    *_both("fft", "FFT_Gflops", "rate", "flop/s", _size("FFT_N")),
    _Test(
        "mpi_fft", (("MPIFFT_Gflops", "rate", "flop/s", 9),), _size("MPIFFT_N"),
        check=("MPIFFT_maxErr", "error", 1e-6),
    ),
    *(
        test
        for end in ("Min", "Avg", "Max")
        for test in _messages(f"{end}PingPong", f"{end}_pingpong")
    ),
    *_messages("NaturallyOrderedRing", "naturally_ordered_ring", "HPCC "),
    *_messages("RandomlyOrderedRing", "randomly_ordered_ring", "HPCC "),
)  # fmt: skip


def read(lines: Sequence[Line]) -> Output:
    """What the output says; the summary has to be whole, since its checks come after figures."""
    pairs, success, ended = _summary(lines)
    title = first(lines, r"HPC Challenge Benchmark version ([0-9][\w.]*).*")
    date = first(lines, r"Current time \([0-9]+\) is (.+)")
    ranks = ranks_of(str(round(pairs["CommWorldProcs"][1].value))) if _whole(pairs, "CommWorldProcs") else None
    tables = [table for test in _TESTS if (table := _table(test, pairs, ranks, success))] if ended else []
    remarks = () if ended else ("the summary has no end: the run was cut short",) if pairs else ()
    return Output(
        "HPCC", word_of(title[1]) if title else "", title[0].strip() if title else "", tuple(tables),
        date_of(date[1]) if date else "", "", remarks,
    )  # fmt: skip


def _summary(lines: Sequence[Line]) -> tuple[_Pairs, tuple[int, bool] | None, bool]:
    """Numbers by key, the line and word of `Success`, and whether the summary has an end."""
    pairs: _Pairs = {}
    success = None
    within = False
    for line in lines:
        if line.text.startswith("Begin of Summary section"):
            within, pairs, success = True, {}, None
        elif line.text.startswith("End of Summary section") and within:
            return pairs, success, True
        elif within and (found := _PAIR.fullmatch(line.text)):
            number = number_of(found[2])
            if number:
                pairs.setdefault(found[1].strip(), (line.number, number))
            if found[1] == "Success":
                success = line.number, found[2] == "1"
    return pairs, success, False


def _scaled(value: float, power: int) -> float:
    """Times ten to a power, as a division where that is exact."""
    return value * float(10**power) if power >= 0 else value / float(10**-power)


def _table(test: _Test, pairs: _Pairs, ranks: int | None, success: tuple[int, bool] | None) -> Table | None:
    values = [
        Value(ours, _scaled(pairs[key][1].value, power), unit, pairs[key][0])
        for key, ours, unit, power in test.figures
        if key in pairs and pairs[key][1].value >= 0  # -1: it was not run
    ]
    if not values:
        return None
    if test.check and test.check[0] in pairs:
        line, number = pairs[test.check[0]]
        values.append(Value(test.check[1], number.value, "1", line, test.check[2]))
    elif success:  # it says whether every test of the run was right
        values.append(Value("success", float(not success[1]), "1", success[0], 0.0))
    line = values[0].line
    return Table(
        test.name, line, (Row(line, {}, tuple(values)),), test.knobs(pairs), 1 if test.single else ranks,
        alone=test.name.startswith("Star"), verified=len(values) > len(test.figures),
    )  # fmt: skip
