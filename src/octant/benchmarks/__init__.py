"""Published benchmarks under their own names. A folder is a benchmark and, by its name, a command.

A folder declares a `BENCHMARK` in its `__init__.py`, and its tests in `tests.toml` (`table.py`). It may have further
modules, which replace what is general:

- `sizes.py`: the sizes of the tests (`requests.py`);
- `summary.py`: the text format of the benchmark, which `octant export NAME` writes;
- `requests.py` and `tables.py`: requests and tables of another kind than tests × sizes and a row for each key;
- `lists.py`: what options print that measure nothing.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from octant import registry
from octant.benchmarks.table import BenchmarkError, file_of, read_tests
from octant.failure import Refusal
from octant.registry import Broken, Entries, UndeclaredError

if TYPE_CHECKING:
    from types import ModuleType

    from octant.request import Request


@dataclass(frozen=True)
class BenchmarkOption:
    """An option of a benchmark's command, or its argument, that other benchmarks do not have."""

    name: str  # "--sizes"; without a dash the name of the argument, of any number of words
    help: str
    default: str | bool = ""  # a truth value: it is a switch
    choices: tuple[str, ...] = ()
    measures: bool = True  # it says what is measured
    instead: bool = False  # a switch that prints a list of `lists.py` and measures nothing

    @property
    def is_option(self) -> bool:
        """Whether it is an option; else it is the argument."""
        return self.name.startswith("-")

    @property
    def key(self) -> str:
        """By which `Chosen.own` has its value: `sizes`, `quick` of `--quick/--full`."""
        return self.name.partition("/")[0].strip("-").replace("-", "_") if self.is_option else "words"


@dataclass(frozen=True)
class Benchmark:
    """A published benchmark, and its command."""

    title: str  # in full
    help: str  # of the command
    short: str = ""  # in headings and notes; "": the title
    command: str = ""  # "": the name
    options: tuple[BenchmarkOption | str, ...] = (
        "ranks",
        "repeats",
        "launcher",
        "hosts",
    )  # a word: one of `cli.benchmark`
    launches: int | None = 3  # of each test, the least that an interval knows; `None`: see `runs.rounds`
    timeouts_s: tuple[float, float] | None = None  # of a launch of a quick and of a full run
    notes: tuple[str, ...] = ()  # sentences below its table
    examples: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)  # by command, for its help
    predicted: bool = False  # `octant model` has a command for it
    name: str = ""  # of the folder

    @property
    def short_name(self) -> str:
        """The short name."""
        return self.short or self.title

    def unusable(self, error: str) -> Broken:
        """Return the entry of the folder where its declaration cannot be used."""
        return Broken(self.name, str(registry.file_of(__name__, self.name)), error)

    def part(self, name: str) -> ModuleType | None:
        """Return a module of its folder; `None` if it has none of that name.

        Raises:
            Refusal: it cannot be imported.
        """
        package = f"{__name__}.{self.name}"
        if name not in registry.names(package):
            return None
        found = registry.entry(package, name, lambda module: module)
        if isinstance(found, registry.Broken):
            raise found.refusal(f"benchmark {self.command}:")
        return found


@dataclass(frozen=True)
class BenchmarkArguments:
    """What a user chose of a benchmark, in their words."""

    words: tuple[str, ...] = ()  # of the argument
    ranks: int | None = None
    repeats: int | None = None
    launcher: str = ""
    hosts: str = ""
    link: str = ""
    mpi: tuple[str, ...] = ()
    own: Mapping[str, str | bool] = field(default_factory=dict)  # values of the benchmark's own options, by key

    @property
    def names(self) -> list[str]:
        """The words that name tests."""
        return [word for word in self.words if "=" not in word]

    @property
    def knobs(self) -> list[str]:
        """The words `knob=value`."""
        return [word for word in self.words if "=" in word]

    def text(self, key: str) -> str:
        """Return the value of an own option; "" if it was not given, or if there is none."""
        return str(self.own.get(key, ""))


@dataclass(frozen=True)
class BenchmarkRequests:
    """What a benchmark asks."""

    requests: tuple[Request, ...]
    title: str  # the command that asks the same
    remarks: tuple[str, ...] = ()  # what is left out or changed, and why, before anything starts
    below: tuple[str, ...] = ()  # sentences that stand below the tables of the run


@functools.cache
def entries() -> Entries[Benchmark]:
    """Every benchmark by the name of its folder, and the folders that cannot be used."""
    names = registry.names(__name__, folders=True)
    made: dict[str, Benchmark | Broken] = {}
    commands: dict[str, str] = {}
    for name in names:
        found = registry.entry(__name__, name, _declared)
        if isinstance(found, Benchmark) and (other := commands.setdefault(found.command, name)) != name:
            found = found.unusable(f"the command {found.command} is that of the benchmark {other}, too")
        made[name] = found
    return registry.collect(made.items())


def _declared(module: ModuleType) -> Benchmark | Broken:
    """Return the benchmark that a folder declares, or the mistake in its `tests.toml`.

    Raises:
        UndeclaredError: it declares none.
    """
    found = registry.declared(module, "BENCHMARK").BENCHMARK
    if not isinstance(found, Benchmark):
        raise UndeclaredError(f"its BENCHMARK is of type {type(found).__name__}, not Benchmark")
    name = module.__name__.rpartition(".")[2]
    try:
        read_tests(name)
    except BenchmarkError as error:
        return Broken(name, str(error.file), error.reason.replace("; ", ", "), error.line)
    except Refusal as refusal:  # no such file, or no TOML
        return Broken(name, str(file_of(name)), str(refusal).replace("; ", ", "))
    return dataclasses.replace(found, name=name, command=found.command or name)


def benchmarks() -> dict[str, Benchmark]:
    """Every benchmark that can be used, by its command."""
    return {one.command: one for one in entries().working.values()}
