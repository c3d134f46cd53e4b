"""Published machines, results, findings and settings, stored as files in this folder and validated when read."""

import csv
import functools
import re
import tomllib
from collections.abc import Iterable, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypeVar

from msgspec import Meta, to_builtins

from octant.failure import suggestion
from octant.untrusted import InputTable, MistakesError, convert, read_with

Kind = Literal["measured", "stated_approximate", "stated_bound"]
Relation = Literal["eq", "approx", "gt", "ge", "lt", "le"]
Basis = Literal["stated", "table", "suggested"]
SettingRelation = Literal["identical", "same-purpose", "obsolete", "platform-only"]
Evidence = Literal["effect", "read-back", "launch", "ran", "documentation"]
Way = Literal[
    "environment", "octant", "launcher", "wrapper", "compiler", "linker", "program", "report", "administrator"
]

_COMMON = ("machine", "metric", "value", "unit", "kind", "relation", "claim", "note")


if TYPE_CHECKING:
    Number: TypeAlias = float
else:
    Number = read_with(float, float, str)


class CatalogueError(ValueError):
    """Error of a catalogue file that cannot be read; the text names the file, the key and the reason."""


class Document(InputTable, frozen=True):
    """Document from which published facts were taken."""

    file: str
    title: str
    date: str


class Source(InputTable, frozen=True):
    """Fields of a machine that a document states, and their location in it."""

    document: str
    where: str
    fields: tuple[str, ...] = ()


class PublishedMachine(InputTable, frozen=True, kw_only=True):
    """System as described by its documents: stated fields, and those for which `derived` contains a formula.

    Fields that only some systems have (`interconnect`, `links`, `tlb_entries`, …) are in `others`, as written.
    """

    id: str
    name: str
    vendor: str
    year: int | None = None
    processor: str | None = None
    clock_ghz: float | None = None
    cores_per_chip: int | None = None
    chips_per_node: int | None = None
    cores_per_node: int | None = None
    smt: int | None = None
    flops_per_cycle_per_core: int | None = None
    peak_gflops_per_core: float | None = None
    peak_gflops_per_node: float | None = None
    nodes: int | None = None
    cores: int | None = None
    memory_gb_per_node: float | None = None
    derived: tuple[str, ...]
    notes: tuple[str, ...]
    source: Annotated[tuple[Source, ...], Meta(min_length=1)]
    others: Mapping[str, Any] = {}


class Observation(InputTable, frozen=True):
    """Published value. `value` is `None` if the source reports that no run was possible."""

    machine: str
    configuration: Mapping[str, str]  # the table's own columns
    metric: str
    value: Number | None
    unit: str
    kind: Kind
    relation: Relation  # how the true value relates to `value`
    claim: str  # the sentence that contains a value given in text
    note: str


class MetricNote(InputTable, frozen=True):
    """Meaning of a column of a table."""

    unit: str
    definition: str


class PublishedResult(InputTable, frozen=True, kw_only=True):
    """Published table or list."""

    id: str
    title: str
    study: str
    document: str
    where: str
    lines: tuple[tuple[int, int], ...]
    machines: tuple[str, ...]
    machine_attribution: str
    configuration_columns: tuple[str, ...]
    rows: int
    notes: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = {}
    metrics: Mapping[str, MetricNote]
    observations: tuple[Observation, ...]

    def find(self, metric: str, where: Mapping[str, str]) -> tuple[Observation, ...]:
        """Return the observations of a metric whose columns (including `machine`) have these values.

        Raises:
            KeyError: no such metric or column; the message lists the known ones.
        """
        if metric not in self.metrics:
            raise KeyError(f"no metric {metric!r} in {self.id}; {suggestion(metric, self.metrics)}")
        for column in where:
            if column not in ("machine", *self.configuration_columns):
                raise KeyError(f"no column {column!r} in {self.id}; {suggestion(column, self.configuration_columns)}")
        return tuple(
            o
            for o in self.observations
            if o.metric == metric and where.items() <= {"machine": o.machine, **o.configuration}.items()
        )


class Finding(InputTable, frozen=True):
    """Published statement as a testable claim. `test` and `expected` were written for any machine."""

    id: str
    document: str
    where: str
    study: str
    basis: Basis
    statement: str
    test: str
    expected: str
    evidence: tuple[str, ...]  # ids of results


class Counterpart(InputTable, frozen=True, kw_only=True):
    """Current equivalent of published settings."""

    id: str
    system: str
    name: str  # multiple names are separated by commas
    values: Mapping[str, str] = {}  # old value -> new value
    note: str = ""
    line: Annotated[str, Meta(min_length=1)]  # to type, to write into a file, or to put into the program, by `apply`
    apply: Way
    verified: Evidence

    def __post_init__(self) -> None:
        if self.apply == "environment" and not re.match(r"[A-Za-z_]\w*=", self.line):
            raise ValueError("a line for the environment begins with NAME=value")


class Setting(InputTable, frozen=True, kw_only=True):
    """Flag, variable, keyword or tool named in a document, and its current equivalents."""

    name: str
    value: str
    layer: str
    system: str
    effect: str
    when: str
    document: str
    where: str
    effect_stated: bool  # False: the document only lists it; the effect is general knowledge
    note: str = ""
    relation: SettingRelation  # of current systems to it
    reason: str  # reason for the relation, in a sentence
    neutral: str = ""  # the equivalent MPI setting of Octant; NAME=VALUE if its value has a current meaning
    aliases: tuple[str, ...] = ()  # further words that find it
    counterparts: tuple[Counterpart, ...] = ()


_Model = TypeVar("_Model", bound=InputTable)


def _root() -> Traversable:
    return files(__name__)


def read_table(path: Traversable) -> dict[str, Any]:
    """Read a TOML file of the catalogue.

    Raises:
        CatalogueError: the file cannot be read or is not TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise CatalogueError(f"cannot read {path.name} ({error})") from error


def _valid(model: type[_Model], data: Mapping[str, Any], name: str) -> _Model:
    try:
        return convert(data, model)
    except MistakesError as error:
        raise CatalogueError(f"cannot read {name} {error.mistakes[0]}") from error


def _read_list(model: type[_Model], file: str, key: str) -> tuple[_Model, ...]:
    return tuple(
        _valid(model, entry, f"{file}, {key} {n}") for n, entry in enumerate(read_table(_root() / file)[key], 1)
    )


def table_files(folder: str) -> list[Traversable]:
    """Return the TOML files in a folder of the catalogue, sorted by name."""
    return sorted((p for p in (_root() / folder).iterdir() if p.name.endswith(".toml")), key=lambda path: path.name)


@functools.cache
def documents() -> dict[str, Document]:
    """Return the documents by the name that other entries use."""
    return {document.file: document for document in _read_list(Document, "documents.toml", "document")}


@functools.cache
def machines() -> dict[str, PublishedMachine]:
    """Return the published machines by id."""
    found = (_machine(read_table(path), path.name) for path in table_files("machines"))
    return {machine.id: machine for machine in found}


def _machine(table: Mapping[str, Any], name: str) -> PublishedMachine:
    known = {key: value for key, value in table.items() if key in PublishedMachine.__struct_fields__}
    others = {key: value for key, value in table.items() if key not in known}
    return _valid(PublishedMachine, {**known, "others": others}, name)


def members(entry: InputTable) -> dict[str, Any]:
    """Return an entry as values of JSON's types, by key of its file."""
    found: dict[str, Any] = to_builtins(entry)
    others = found.pop("others", {})
    return {**found, **others}


@functools.cache
def results() -> dict[str, PublishedResult]:
    """Return the published tables by id.

    Raises:
        CatalogueError: a table that differs from its description.
    """
    found = (
        read_result(path, _root() / "results" / path.name.replace(".toml", ".csv")) for path in table_files("results")
    )
    return {result.id: result for result in found}


@functools.cache
def findings() -> dict[str, Finding]:
    """Return the published statements by id."""
    return {finding.id: finding for finding in _read_list(Finding, "findings.toml", "claim")}


@functools.cache
def settings() -> tuple[Setting, ...]:
    """Return the published settings with their counterparts; a name may occur with different values."""
    return read_settings(_root() / "settings.toml", table_files("counterparts"))


def read_settings(file: Traversable, counterparts: Iterable[Traversable]) -> tuple[Setting, ...]:
    """Read settings from their file, and the counterparts that they refer to by id.

    Raises:
        CatalogueError: a file is malformed, an id occurs twice, or an id has no counterpart or no setting.
    """
    known: dict[str, Counterpart] = {}
    for path in counterparts:
        for key, entry in read_table(path).items():
            if key in known:
                raise CatalogueError(f"cannot read {path.name} ({key}: another counterpart has this id)")
            known[key] = _valid(Counterpart, {"id": key, **entry}, f"{path.name}, {key}")
    idle = set(known)
    found = []
    for number, entry in enumerate(read_table(file)["setting"], 1):
        place = f"{file.name}, setting {number}"
        named = entry.get("counterparts", [])
        idle -= set(named)
        if missing := [key for key in named if key not in known]:
            raise CatalogueError(f"cannot read {place} (counterparts: no counterpart {missing[0]!r})")
        found.append(_valid(Setting, {**entry, "counterparts": [known[key] for key in named]}, place))
    if idle:
        raise CatalogueError(f"cannot read the counterparts of {file.name} ({min(idle)}: no setting refers to it)")
    return tuple(found)


def read_result(description: Traversable, rows: Traversable) -> PublishedResult:
    """Read one table from its two files.

    Raises:
        CatalogueError: a file is malformed, or the rows differ from the description.
    """
    about = read_table(description)
    lines = list(csv.DictReader(rows.read_text(encoding="utf-8").splitlines()))
    columns = list(about.get("configuration_columns", []))
    expected = {*_COMMON, *columns}
    seen = []
    for number, line in enumerate(lines, 2):
        if line.keys() != expected:
            raise CatalogueError(f"cannot read {rows.name}, line {number} (its columns are not {sorted(expected)})")
        common = {name: line[name] for name in _COMMON}
        configuration = {column: line[column] for column in columns}
        row = {**common, "value": line["value"] or None, "configuration": configuration}
        seen.append(_valid(Observation, row, f"{rows.name}, line {number}"))
    result = _valid(PublishedResult, {**about, "observations": seen}, description.name)
    for observation in result.observations:
        if observation.metric not in result.metrics:
            raise CatalogueError(f"cannot read {rows.name} (its metric {observation.metric!r} has no definition)")
        if observation.machine not in result.machines:
            raise CatalogueError(f"cannot read {rows.name} (its machine {observation.machine!r} is not announced)")
    if len(seen) != result.rows:
        raise CatalogueError(f"cannot read {rows.name} ({len(seen)} rows, {result.rows} announced)")
    return result
