"""Published benchmarks under their own names. Each folder is a benchmark, and its name is a command.

A folder declares `BENCHMARK` in its `__init__.py` and its tests in `tests.toml` (`table.py`). Further modules replace
the general ones:

- `sizes.py`: the sizes of the tests (`requests.py`);
- `summary.py`: the text format of the benchmark, which `octant export NAME` writes;
- `requests.py` and `tables.py`: requests and tables of another kind than tests × sizes and a row for each key;
- `lists.py`: texts of options that print a list and measure nothing.
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
    """An option or argument that only one benchmark's command has."""

    name: str  # "--sizes"; without a dash: the name of the argument, which takes any number of values
    help: str
    default: str | bool = ""  # bool: the option is a switch
    choices: tuple[str, ...] = ()
    measures: bool = True  # the option affects the measurement
    instead: bool = False  # a switch that prints a list of `lists.py` and measures nothing

    @property
    def is_option(self) -> bool:
        """Whether it is an option; else it is the argument."""
        return self.name.startswith("-")

    @property
    def key(self) -> str:
        """Key of its value in `BenchmarkArguments.own_options`: `sizes`, or `quick` for `--quick/--full`."""
        return self.name.partition("/")[0].strip("-").replace("-", "_") if self.is_option else "words"


@dataclass(frozen=True)
class Benchmark:
    """A published benchmark and its command."""

    title: str  # full name
    help: str  # help text of the command
    short: str = ""  # in headings and notes; "": the title
    command: str = ""  # "": the name
    options: tuple[BenchmarkOption | str, ...] = (
        "ranks",
        "repeats",
        "launcher",
        "hosts",
    )  # a string names a shared option of `cli.benchmark`
    launches: int | None = 3  # per test, the minimum for an interval; `None`: see `runs.rounds`
    timeouts_s: tuple[float, float] | None = None  # per launch, of a quick and of a full run
    notes: tuple[str, ...] = ()  # sentences below its table
    examples: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)  # for help pages, by command
    aliases: tuple[str, ...] = ()  # names of other collections of these tests, for suggestions: `osu_*`
    predicted: bool = False  # `octant model` has a command for it
    name: str = ""  # name of the folder

    @property
    def short_name(self) -> str:
        """Short name, or the title if there is none."""
        return self.short or self.title

    def unusable(self, error: str) -> Broken:
        """Return the registry entry of a folder whose declaration is unusable."""
        return Broken(self.name, str(registry.file_of(__name__, self.name)), error)

    def part(self, name: str) -> ModuleType | None:
        """Return a module of its folder, or `None` if there is no such module.

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
    """Arguments of a benchmark's command, as typed."""

    words: tuple[str, ...] = ()  # values of the argument
    ranks: int | None = None
    repeats: int | None = None
    launcher: str = ""
    hosts: str = ""
    link: str = ""
    mpi: tuple[str, ...] = ()
    own_options: Mapping[str, str | bool] = field(default_factory=dict)  # values of the benchmark's own options, by key

    @property
    def names(self) -> list[str]:
        """Names of tests among the values of the argument."""
        return [word for word in self.words if "=" not in word]

    @property
    def knobs(self) -> list[str]:
        """Values of the form `knob=value`."""
        return [word for word in self.words if "=" in word]

    def text(self, key: str) -> str:
        """Return the value of one of the benchmark's own options; "" if it is absent."""
        return str(self.own_options.get(key, ""))


@dataclass(frozen=True)
class BenchmarkRequests:
    """Requests of a benchmark."""

    requests: tuple[Request, ...]
    title: str  # the equivalent command
    remarks: tuple[str, ...] = ()  # what is skipped or changed and why, printed before the first launch
    below: tuple[str, ...] = ()  # sentences below the tables of the run


@functools.cache
def entries() -> Entries[Benchmark]:
    """Return every benchmark by the name of its folder, and the unusable folders."""
    names = registry.names(__name__, folders=True)
    made: dict[str, Benchmark | Broken] = {}
    commands: dict[str, str] = {}
    for name in names:
        found = registry.entry(__name__, name, _declared)
        if isinstance(found, Benchmark) and (other := commands.setdefault(found.command, name)) != name:
            found = found.unusable(f"the benchmark {other} has the same command {found.command}")
        made[name] = found
    return registry.collect(made.items())


def _declared(module: ModuleType) -> Benchmark | Broken:
    """Return the benchmark that a folder declares, or the mistake in its `tests.toml`.

    Raises:
        UndeclaredError: it declares none.
    """
    found = registry.declared(module, "BENCHMARK").BENCHMARK
    if not isinstance(found, Benchmark):
        raise UndeclaredError(f"BENCHMARK has the type {type(found).__name__}, not Benchmark")
    name = module.__name__.rpartition(".")[2]
    try:
        read_tests(name)
    except BenchmarkError as error:
        return Broken(name, str(error.file), error.reason.replace("; ", ", "), error.line)
    except Refusal as refusal:  # no such file, or no TOML
        return Broken(name, str(file_of(name)), str(refusal).replace("; ", ", "))
    return dataclasses.replace(found, name=name, command=found.command or name)


def benchmarks() -> dict[str, Benchmark]:
    """Return every usable benchmark by its command."""
    return {one.command: one for one in entries().working.values()}
