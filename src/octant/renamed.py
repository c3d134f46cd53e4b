"""Old names: of workloads, their knobs, values, metrics, counts and series; and old spellings of values.

A workload declares its old names in the file `renamed.toml` of its folder. Stored runs, suites, studies and command
lines may contain them; all other code sees the current names only.
"""

from __future__ import annotations

import functools
import tomllib
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from octant.failure import RenamedWarning

_FOLDER = Path(__file__).parent / "workloads"
FILE = "renamed.toml"
"""In the folder of a workload: its old names. In the folder of all workloads: old spellings of values of every knob."""


class FormerWorkload(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A former name of a workload, and what records under that name do not state."""

    name: str  # family/name
    knobs: Mapping[str, str] = {}  # added later, each with the value that old records imply
    counts: Mapping[str, str] = {}  # added later, each with the old count that it equals


class OldNames(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The old names of one workload, each with the current name."""

    workload: tuple[FormerWorkload, ...] = ()
    knobs: Mapping[str, str] = {}
    values: Mapping[str, Mapping[str, str]] = {}  # by the current name of the knob
    metrics: Mapping[str, str] = {}
    phases: Mapping[str, str] = {}  # `whole` also renames `whole/wait`
    readings: Mapping[str, str] = {}
    results: Mapping[str, str] = {}
    counts: Mapping[str, str] = {}
    roles: Mapping[str, str] = {}

    def knob(self, name: str) -> str:
        """Return the current name of a knob."""
        return self.knobs.get(name, name)

    def value(self, knob: str, values: str) -> str:
        """Return a value, or a list of values, of a knob by its current name, with the current names of values."""
        known = self.values.get(knob)
        return ",".join(known.get(one, one) for one in values.split(",")) if known else values

    def series(self, name: str) -> str:
        """Return the current name of a series: `phase/transfer`, `reading/residual`, `step`."""
        kind, slash, rest = name.partition("/")
        if kind == "phase" and self.phases:
            rest = "/".join(self.phases.get(part, part) for part in rest.split("/"))
        elif kind == "reading":
            rest = self.readings.get(rest, rest)
        return f"{kind}{slash}{rest}"


class _Spellings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    spellings: Mapping[str, str]


NO_NAMES = OldNames()


@functools.cache
def old_names() -> Mapping[str, OldNames]:
    """Return the old names of every workload that has some, by `family/name`.

    A file that cannot be read is left out; `check` reports it.
    """
    found = {}
    for path in sorted(_FOLDER.glob(f"*/*/{FILE}")):
        name = f"{path.parts[-3]}/{path.parts[-2]}"
        try:
            found[name] = _read(path)
        except ValueError:  # tomllib, msgspec and UTF-8 raise subclasses
            continue
    return found


def check(folder: Path) -> None:
    """Read the old names of the workload in a folder.

    Raises:
        ValueError: the file is not TOML, or a key is unknown or of the wrong type.
    """
    path = folder / FILE
    if path.exists():
        _read(path)


def _read(path: Path) -> OldNames:
    return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), OldNames)


@functools.cache
def spellings() -> Mapping[str, str]:
    """Return old spellings of values of every knob, each with the current one: `2m` is `2MiB`.

    They are equivalent to the current spelling, and accepted without a note.
    """
    text = (_FOLDER / FILE).read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), _Spellings).spellings


@functools.cache
def _former() -> Mapping[str, tuple[str, FormerWorkload]]:
    """Return the current name and the declaration of every former name of a workload."""
    return {one.name: (name, one) for name, names in old_names().items() for one in names.workload}


def names_of(workload: str) -> OldNames:
    """Return the old names of a workload by its current or a former `family/name`."""
    return old_names().get(current_workload(workload), NO_NAMES)


def current_workload(name: str) -> str:
    """Return the current name of a workload by its current or a former `family/name`."""
    return _former()[name][0] if name in _former() else name


def former_workload(name: str) -> FormerWorkload | None:
    """Return what records under a former name of a workload do not state; `None` for a current name."""
    return _former()[name][1] if name in _former() else None


def find_workload(name: str, known: Sequence[str]) -> str:
    """Return which of the known workloads a former `family/name`, or its second part, refers to; "" if none."""
    for old, (current, _) in _former().items():
        if name in (old, old.rpartition("/")[2]) and current in known:
            return current
    return ""


def current_metric(workload: str, name: str) -> str:
    """Return the current name of a metric of a workload."""
    return names_of(workload).metrics.get(name, name)


def current_knobs(workload: str, knobs: Mapping[str, str]) -> dict[str, str]:
    """Return knobs of a workload under their current names, with current values. A value may be a list."""
    names = names_of(workload)
    return {names.knob(knob): names.value(names.knob(knob), values) for knob, values in knobs.items()}


@dataclass(frozen=True)
class Replacement:
    """An old name in a text, and the current one."""

    old: str  # "pattern=window"
    new: str  # "pattern=rob-size"

    def __str__(self) -> str:
        return f"{self.old} is now {self.new}"


def knob_changes(workload: str, knobs: Mapping[str, str]) -> Iterator[Replacement]:
    """Yield the old names and values among knobs of a workload."""
    names = names_of(workload)
    for old, values in knobs.items():
        knob = names.knob(old)
        if knob != old:
            yield Replacement(f"{old}={values}", f"{knob}={names.value(knob, values)}")
            continue
        for value in values.split(","):
            if (current := names.value(knob, value)) != value:
                yield Replacement(f"{knob}={value}", f"{knob}={current}")


def replace_metric(workload: str, table: MutableMapping[str, Any]) -> list[Replacement]:
    """Replace an old name under the key `metric` of a table."""
    old = table.get("metric")
    if not isinstance(old, str) or (new := current_metric(workload, old)) == old:
        return []
    table["metric"] = new
    return [Replacement(f"metric {old}", new)]


def replace_knobs(workloads: Iterable[str], table: MutableMapping[str, Any], key: str = "knobs") -> list[Replacement]:
    """Replace old names of knobs and values in the table under a key.

    Args:
        workloads: that receive the knobs.
        table: from a TOML file, not yet checked; a wrong type is left for the reader of the file to report.
        key: of the knobs.
    """
    changes: list[Replacement] = []
    for workload in workloads:
        knobs = table.get(key)
        if isinstance(knobs, dict) and all(isinstance(value, str) for value in knobs.values()):
            changes += knob_changes(workload, knobs)
            table[key] = current_knobs(workload, knobs)
    return changes


def replace_workload(table: MutableMapping[str, Any], resolve: Callable[[str], str]) -> list[Replacement]:
    """Replace the name under the key `workload` of a table by the current `family/name`.

    Args:
        table: from a TOML file, not yet checked.
        resolve: returns the current `family/name` of a full, short or former name.
    """
    old = table.get("workload")
    if not isinstance(old, str):
        return []
    table["workload"] = new = resolve(old)
    return workload_changes(old, new)


def workload_changes(old: str, new: str) -> list[Replacement]:
    """Return the change of a name that resolved to a `family/name`; none if it was the full or the short name."""
    return [] if old in (new, new.rpartition("/")[2]) else [Replacement(f"workload {old}", new)]


def warn(changes: Iterable[object]) -> None:
    """Warn once about each old name; the command prints a note."""
    for change in dict.fromkeys(map(str, changes)):
        warnings.warn(change, RenamedWarning, stacklevel=2)
