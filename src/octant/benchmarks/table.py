"""Tests of a benchmark under its own names: their requests, and the keys of their figures."""

import functools
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from msgspec import Meta

from octant import registry, untrusted
from octant.failure import Exit, Refusal, suggestion
from octant.untrusted import InputTable, Mistake

Rule: TypeAlias = Literal["baseline", "optimised"]
"""baseline: the benchmark's algorithm, with any libraries and compiler flags; optimised: another algorithm for the same
data and check."""


class BenchmarkFigure(InputTable, frozen=True, kw_only=True):
    """One key under which a benchmark publishes a value."""

    key: str
    knobs: Mapping[str, str] = {}  # knobs of the cell, if a request has several
    metric: str = ""  # "": the headline of the workload
    unit: Annotated[float, Meta(gt=0)]  # 1e9 for a key in Gflops: the value is divided by it
    of: str = ""  # required base unit of the metric, "flop/s"; "": any
    each: bool = False  # the value is per rank, the metric for all ranks
    over: Literal["", "max", "min", "mean", "best"] = ""  # over matching cells; best: greatest rate or smallest time
    reference: str = ""  # metric with the benchmark's own reduction, if ours differs
    per_peak: str = ""  # name of the figure divided by the peak
    rule: Rule | None = None
    imported: str = ""  # its name in imported outputs; "": the name of its test

    def is_of(self, knobs: Mapping[str, str]) -> bool:
        """Return whether a cell with these knobs belongs to the figure."""
        return all(knobs.get(name, "") == value for name, value in self.knobs.items())

    def is_in(self, unit: str) -> bool:
        """Return whether a metric in this base unit gives its value."""
        return self.of in ("", unit)

    def may_be(self, knobs: Mapping[str, str]) -> bool:
        """Return whether a cell, of which some knobs are known, may belong to the figure."""
        return all(knobs.get(name, value) == value for name, value in self.knobs.items())


class BenchmarkTest(InputTable, frozen=True, kw_only=True):
    """One test with its figures; a test without figures is a reference for others.

    A value `{name}` of a knob, of `ranks` or of `share` is a size of the benchmark's `sizes.py`.
    """

    name: str  # the title of its request
    workload: str  # that does it
    mode: Literal["one", "star", "all"]  # one rank; all ranks independently at the same time; all ranks together
    ranks: str = ""  # "": as the mode defines
    knobs: Mapping[str, str] = {}  # of the request; a list makes a cell of each
    quick: Mapping[str, str] = {}  # further knobs of a quick run
    across: Mapping[str, str] = {}  # further knobs if the ranks are on several hosts
    share: str = "0"  # bytes of memory that ranks of a node share
    unshared: Mapping[str, str] = {}  # further knobs if that memory is not available
    rule: Rule = "baseline"  # if the record does not state it
    shows: tuple[str, ...] = ()  # knobs that are printed with the figure
    least: Annotated[int, Meta(ge=1)] = 1  # smallest number of ranks
    figure: tuple[BenchmarkFigure, ...] = ()
    arrays: Annotated[int, Meta(ge=0)] = 0  # of STREAM, each at least four times the caches (`run_rules`); 0: no rule
    peak: bool = False  # its figure is the peak by which others are divided
    imported: str = ""  # its name in imported outputs; "": its own name

    def is_of(self, workload: str, knobs: Mapping[str, str]) -> bool:
        """Return whether a cell of a workload belongs to the test, apart from sizes."""
        plain = {name: value.split(",") for name, value in self.knobs.items() if "{" not in value}
        return workload == self.workload and all(knobs.get(name, "") in values for name, values in plain.items())

    def may_be(self, workload: str, knobs: Mapping[str, str]) -> bool:
        """Return whether a cell, of which some knobs are known, may belong to the test, apart from sizes."""
        return self.is_of(workload, {**{name: value.partition(",")[0] for name, value in self.knobs.items()}, **knobs})

    def varied(self, figure: BenchmarkFigure) -> str:
        """Return the first knob that distinguishes figures of one key; "" if there is one figure."""
        alike = [one for one in self.figure if one.key == figure.key]
        return next((name for name in figure.knobs if len({one.knobs.get(name) for one in alike}) > 1), "")


def plain_name(text: str) -> str:
    """Return a name in lower case without spaces and punctuation: `stardgemm` for `StarDGEMM` and `Star_dgemm`."""
    return "".join(filter(str.isalnum, text.casefold()))


class BenchmarkError(Refusal):
    """An unusable `tests.toml`; the text names the file, the line, the key, the reason and the correction."""

    def __init__(self, name: str, mistake: Mistake) -> None:
        self.file = file_of(name)
        self.line = untrusted.line_of(self.file.read_text(encoding="utf-8"), mistake.path)
        self.reason = f"{'.'.join(mistake.path) or 'the file'}: {mistake.reason}; {mistake.hint}"
        place = f"{self.file}{f', line {self.line}' if self.line else ''}"
        super().__init__(f"cannot read the benchmark {name}, {place} {mistake}", Exit.WRONG_WORD)


class _File(InputTable, frozen=True):
    """The file of a benchmark with tests of this kind."""

    test: tuple[BenchmarkTest, ...] = ()


@functools.cache
def file_of(name: str) -> Path:
    """Return the path of `tests.toml` in a benchmark's folder; the file may not exist."""
    return registry.file_of(__package__, name).parent / "tests.toml"


@functools.cache
def read_tests(name: str) -> tuple[BenchmarkTest, ...]:
    """Return the tests of a benchmark's folder, in the order of its file; none if its tests are of another kind.

    Raises:
        Refusal: the file does not exist, is not TOML, or has a mistake (`BenchmarkError`).
    """
    file = file_of(name)
    parts = registry.names(f"{__package__}.{name}")
    if "requests" in parts and not file.exists():
        return ()
    table = untrusted.parse_toml(untrusted.read_text(file, "benchmark's tests"), f"benchmark {name}")
    try:
        # a folder with its own `requests.py` reads the other keys itself
        given = {"test": table.get("test", [])} if "requests" in parts else table
        tests = untrusted.convert(given, _File).test
    except untrusted.MistakesError as error:
        raise BenchmarkError(name, error.mistakes[0]) from error
    for mistake in _repeated(tests):
        raise BenchmarkError(name, mistake)
    if "sizes" not in parts:
        check_sizes(name, tests, ("ranks",))
    return tests


def _repeated(tests: Sequence[BenchmarkTest]) -> Iterator[Mistake]:
    """Yield names of tests and keys that are not unique; figures of one key and test must differ in knobs."""
    names: dict[str, int] = {}
    keys: dict[str, tuple[int, list[Mapping[str, str]]]] = {}
    for n, test in enumerate(tests):
        if names.setdefault(test.name, n) != n:
            yield Mistake(
                ("test", str(n), "name"), f"another test has the same name {test.name!r}", "give it another name"
            )
        for m, figure in enumerate(test.figure):
            of, seen = keys.setdefault(figure.key, (n, []))
            if of != n or figure.knobs in seen:
                where = f"in the test {tests[of].name!r}" if of != n else "with the same knobs in this test"
                why = f"the key {figure.key!r} already exists {where}"
                yield Mistake(("test", str(n), "figure", str(m), "key"), why, "give it another key")
            seen.append(figure.knobs)


def check_sizes(name: str, tests: Sequence[BenchmarkTest], known: Collection[str]) -> None:
    """Check that each `{name}` in tests is a known size.

    Raises:
        BenchmarkError: the first unknown size.
    """
    for n, test in enumerate(tests):
        groups = {"knobs": test.knobs, "quick": test.quick, "across": test.across, "unshared": test.unshared}
        values: list[tuple[tuple[str, ...], str]] = [
            ((key, knob), value) for key, knobs in groups.items() for knob, value in knobs.items()
        ]
        values += [(("ranks",), test.ranks), (("share",), test.share)]
        for path, value in values:
            size = size_name(value)
            if size and size not in known:
                hint = suggestion(size, known)
                why = f"sizes.py declares no size {size!r}"
                raise BenchmarkError(name, Mistake(("test", str(n), *path), why, hint))


def size_name(text: str) -> str:
    """Return the name of the size in a value `{size}`; "": it names none."""
    return text[1:-1] if text.startswith("{") and text.endswith("}") else ""
