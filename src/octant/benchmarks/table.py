"""The tests of a benchmark under its own names: what is asked for each, and which keys its figures have."""

import functools
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from msgspec import Meta

from octant import registry, untrusted
from octant.failure import Exit, Refusal, suggestion
from octant.untrusted import InputTable, Mistake

Rule: TypeAlias = Literal["baseline", "optimised"]
"""The benchmark's algorithm, with other libraries and compiler flags, or another one for the same data and check."""


class BenchmarkFigure(InputTable, frozen=True, kw_only=True):
    """One key under which a benchmark publishes a value."""

    key: str
    knobs: Mapping[str, str] = {}  # of the cell, where a request has several
    metric: str = ""  # "": the headline of the workload
    unit: Annotated[float, Meta(gt=0)]  # 1e9 for a key in Gflops: the value is divided by it
    of: str = ""  # the base unit of the metric, "flop/s": a metric in another one gives no value; "": any
    each: bool = False  # the value is that of a rank, the metric that of all
    over: Literal["", "max", "min", "mean", "best"] = ""  # of the cells that fit; best: greatest rate, least time
    reference: str = ""  # the metric that is reduced as the benchmark does it, where ours is not
    per_peak: str = ""  # what the figure over the peak is called
    rule: Rule | None = None
    imported: str = ""  # its name in outputs of the benchmark, as `octant import` reads them; "": that of its test

    def is_of(self, knobs: Mapping[str, str]) -> bool:
        """Whether a cell with these knobs is one of it."""
        return all(knobs.get(name, "") == value for name, value in self.knobs.items())

    def is_in(self, unit: str) -> bool:
        """Whether a metric in this base unit gives its value."""
        return self.of in ("", unit)

    def may_be(self, knobs: Mapping[str, str]) -> bool:
        """Whether a cell of which some knobs are known may be one of it."""
        return all(knobs.get(name, value) == value for name, value in self.knobs.items())


class BenchmarkTest(InputTable, frozen=True, kw_only=True):
    """One test, which gives one or several figures, or none: then others are held against it.

    A value `{name}` of a knob, of `ranks` or of `share` is a size of the benchmark's `sizes.py`.
    """

    name: str  # the title of its request
    workload: str  # that does it
    mode: Literal["one", "star", "all"]  # one rank, while others do not run; every rank alone, at once; all together
    ranks: str = ""  # "": those that the mode says
    knobs: Mapping[str, str] = {}  # of the request; a list makes a cell of each
    quick: Mapping[str, str] = {}  # further knobs of a quick run
    across: Mapping[str, str] = {}  # further knobs where the ranks are on several hosts
    share: str = "0"  # memory that ranks of a node share, bytes
    unshared: Mapping[str, str] = {}  # further knobs where there is not as much
    rule: Rule = "baseline"  # where the record does not say it
    shows: tuple[str, ...] = ()  # knobs that are printed with the figure
    least: Annotated[int, Meta(ge=1)] = 1  # ranks that it needs
    figure: tuple[BenchmarkFigure, ...] = ()
    peak: bool = False  # it is what figures over the peak are over
    imported: str = ""  # its name in outputs of the benchmark, as `octant import` reads them; "": as its own

    def is_of(self, workload: str, knobs: Mapping[str, str]) -> bool:
        """Whether a cell of a workload is one of it, as far as that does not depend on sizes."""
        plain = {name: value.split(",") for name, value in self.knobs.items() if "{" not in value}
        return workload == self.workload and all(knobs.get(name, "") in values for name, values in plain.items())

    def may_be(self, workload: str, knobs: Mapping[str, str]) -> bool:
        """Whether a cell of which some knobs are known may be one of it, as far as that does not depend on sizes."""
        return self.is_of(workload, {**{name: value.partition(",")[0] for name, value in self.knobs.items()}, **knobs})

    def varied(self, figure: BenchmarkFigure) -> str:
        """Return the first knob that tells figures of one key apart; "" if there is one figure."""
        alike = [one for one in self.figure if one.key == figure.key]
        return next((name for name in figure.knobs if len({one.knobs.get(name) for one in alike}) > 1), "")


def plain_name(text: str) -> str:
    """Return a name in small letters without spaces and punctuation: `stardgemm` for `StarDGEMM` and `Star_dgemm`."""
    return "".join(filter(str.isalnum, text.casefold()))


class BenchmarkError(Refusal):
    """A `tests.toml` that cannot be used; the text names the file, the line, the key, the reason and the correction."""

    def __init__(self, name: str, mistake: Mistake) -> None:
        self.file = file_of(name)
        self.line = untrusted.line_of(self.file.read_text(encoding="utf-8"), mistake.path)
        self.reason = f"{'.'.join(mistake.path) or 'the whole'}: {mistake.reason}; {mistake.hint}"
        place = f"{self.file}{f', line {self.line}' if self.line else ''}"
        super().__init__(f"cannot read the benchmark {name}, {place} {mistake}", Exit.WRONG_WORD)


class _File(InputTable, frozen=True):
    """The file of a benchmark whose tests are of this kind."""

    test: tuple[BenchmarkTest, ...] = ()


@functools.cache
def file_of(name: str) -> Path:
    """Return the `tests.toml` of a benchmark's folder, which need not be there."""
    return registry.file_of(__package__, name).parent / "tests.toml"


@functools.cache
def read_tests(name: str) -> tuple[BenchmarkTest, ...]:
    """Return the tests of a benchmark's folder, in the order of its file; none if its tests are of another kind.

    Raises:
        Refusal: there is no such file, it is no TOML, or it has a mistake (`BenchmarkError`).
    """
    file = file_of(name)
    parts = registry.names(f"{__package__}.{name}")
    if "requests" in parts and not file.exists():
        return ()
    table = untrusted.parse_toml(untrusted.read_text(file, "benchmark's tests"), f"benchmark {name}")
    try:
        # a folder with requests of its own reads the other keys itself
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
    """Yield names of tests and keys that are not unique; figures of one key and one test have knobs of their own."""
    names: dict[str, int] = {}
    keys: dict[str, tuple[int, list[Mapping[str, str]]]] = {}
    for n, test in enumerate(tests):
        if names.setdefault(test.name, n) != n:
            yield Mistake(
                ("test", str(n), "name"), f"another test is called {test.name!r}, too", "give it another name"
            )
        for m, figure in enumerate(test.figure):
            of, seen = keys.setdefault(figure.key, (n, []))
            if of != n or figure.knobs in seen:
                where = f"the test {tests[of].name!r}" if of != n else "this test, with the same knobs,"
                why = f"{where} has a figure with the key {figure.key!r}, too"
                yield Mistake(("test", str(n), "figure", str(m), "key"), why, "give it another key")
            seen.append(figure.knobs)


def check_sizes(name: str, tests: Sequence[BenchmarkTest], known: Collection[str]) -> None:
    """Refuse tests that name, as `{name}`, a size that is not known.

    Raises:
        BenchmarkError: the first one.
    """
    for n, test in enumerate(tests):
        groups = {"knobs": test.knobs, "quick": test.quick, "across": test.across, "unshared": test.unshared}
        said: list[tuple[tuple[str, ...], str]] = [
            ((key, knob), value) for key, knobs in groups.items() for knob, value in knobs.items()
        ]
        said += [(("ranks",), test.ranks), (("share",), test.share)]
        for path, value in said:
            size = size_name(value)
            if size and size not in known:
                hint = suggestion(size, known)
                why = f"sizes.py declares no size {size!r}"
                raise BenchmarkError(name, Mistake(("test", str(n), *path), why, hint))


def size_name(text: str) -> str:
    """Return the size that a value `{size}` names; "": it names none."""
    return text[1:-1] if text.startswith("{") and text.endswith("}") else ""
