"""Workloads: one folder per workload in the folder of its family; its identity is `family/name`."""

import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import ModuleType

from octant import registry, renamed
from octant.failure import suggestion
from octant.machine import Machine
from octant.registry import Broken, Entries, UndeclaredError
from octant.workload import Workload

FIRST_FAMILY = "node"
"""Family whose workloads have precedence if a short name exists in several families."""
NOT_INSTALLED = "this installation has no workload {}"


class BrokenWorkloadError(LookupError):
    """A workload's folder cannot be used; the message names the file and the error."""


@functools.cache
def entries() -> Entries[Workload]:
    """Return every workload by `family/name`, and the folders that cannot be used."""
    made: list[tuple[str, Workload | Broken]] = []
    for family in families():
        package = f"{__name__}.{family}"
        for name in registry.names(package):
            full = f"{family}/{name}"
            one = registry.entry(package, name, _declared)
            made.append((full, dataclasses.replace(one, name=full)))
    return registry.collect(made)


def _declared(module: ModuleType) -> Workload:
    """Return the workload that a folder declares.

    Raises:
        UndeclaredError: it declares none.
    """
    found = registry.declared(module, "WORKLOAD").WORKLOAD
    if not isinstance(found, Workload):
        raise UndeclaredError(f"its WORKLOAD is of type {type(found).__name__}, not Workload")
    renamed.check(Path(str(module.__file__)).parent)
    return found.answering_every_point()


def workloads() -> Mapping[str, Workload]:
    """Return every workload that can be used, by `family/name`."""
    return entries().working


def broken() -> dict[str, Broken]:
    """Return the families and workloads that cannot be used, by name."""
    return {**_families().broken, **entries().broken}


def why_absent(name: str) -> str:
    """Return why this installation cannot use a workload, by `family/name`; "" where it can."""
    known = broken()
    if one := known.get(name) or known.get(name.partition("/")[0]):
        return f"{name} cannot be used here ({one.reason})"
    return "" if name in workloads() else NOT_INSTALLED.format(name)


def families() -> dict[str, str]:
    """Return the title of every family by its name."""
    return dict(_families().working)


def _families() -> Entries[str]:
    return registry.entries(__name__, lambda package: (package.__doc__ or "").strip())


def workload(name: str) -> Workload:
    """Return a workload by its full, short or former name (see `full_name`).

    Raises:
        LookupError: no such folder, or several; the message lists what there is.
        BrokenWorkloadError: the folder cannot be used.
    """
    try:
        meant = full_name(name, [*workloads(), *entries().broken])
    except LookupError:
        for family in _families().broken.values():
            said = f"no workload {name!r}, and the family {family.name} cannot be used here ({family.reason})"
            raise BrokenWorkloadError(f"{said}; correct or remove that file") from None
        raise
    if meant in workloads():
        renamed.warn(renamed.workload_changes(name, meant))
        return workloads()[meant]
    raise BrokenWorkloadError(f"{why_absent(meant)}; correct or remove that file")


def resolve(name: str) -> str:
    """Return the `family/name` that a full, short or former name refers to; the name itself if it is unknown."""
    try:
        return full_name(name, [*workloads(), *entries().broken])
    except LookupError:
        return name


def alone_knobs(name: str) -> tuple[str, ...]:
    """Return the knobs whose values are started separately with a tight time limit; none for an unknown workload."""
    known = workloads().get(name)
    return known.alone if known else ()


def apart_knobs(name: str) -> tuple[str, ...]:
    """Return the knobs whose values are started separately without a special time limit."""
    known = workloads().get(name)
    return known.apart if known else ()


def sizes(name: str) -> Mapping[str, Callable[[Machine, str], str]]:
    """Return how sizes of a workload are compared with other tools, by knob (`Workload.sizes`)."""
    known = workloads().get(name)
    return known.sizes if known else {}


def is_ours(name: str, values: Iterable[str]) -> bool:
    """Return whether one of the values of such knobs is built-in code rather than a library."""
    known = workloads().get(name)
    return known is not None and not set(values).isdisjoint(known.ours)


@dataclasses.dataclass(frozen=True)
class Alias:
    """A name of another benchmark, as a workload with knobs."""

    name: str
    workload: str  # family/name
    knobs: Mapping[str, str]

    def __str__(self) -> str:
        knobs = (f"{knob}={value}" for knob, value in self.knobs.items())
        return " ".join((self.workload.rpartition("/")[2], *knobs))


def aliases() -> dict[str, list[Alias]]:
    """Return the aliases by their lower-case names; a name with two or more aliases is ambiguous."""
    found: dict[str, list[Alias]] = {}
    for one in workloads().values():
        for name, knobs in one.aliases.items():
            found.setdefault(name.lower(), []).append(Alias(name, one.name, knobs))
    return found


def find_alias(name: str) -> Alias | None:
    """Return the workload and the knobs of an alias; `None` if the name is none, or a current or former name.

    Raises:
        LookupError: several workloads have this alias.
    """
    found = aliases().get(name.lower(), [])
    if len(found) > 1:
        raise LookupError(f"several workloads are called {name!r}; try {' or '.join(map(str, found))}")
    known = [*workloads(), *entries().broken]
    return found[0] if found and not called(name, known) and not renamed.find_workload(name, known) else None


def called(name: str, known: Iterable[str]) -> list[str]:
    """Return the `known` workloads with this full or short name."""
    return [one for one in known if name in (one, one.rpartition("/")[2])]


def full_name(name: str, known: Iterable[str]) -> str:
    """Return which of the `known` workloads a full, short or former name refers to.

    A short name that exists in several families refers to the workload of the family `node`; the others are variants of
    it, as HPC Challenge defines them.

    Raises:
        LookupError: none, or several of other families; the message lists what there is.
    """
    names = list(known)
    meant = called(name, names)
    if len(meant) > 1 and (first := f"{FIRST_FAMILY}/{name}") in meant:
        return first
    if not meant and (current := renamed.find_workload(name, names)):
        return current
    if len(meant) != 1:
        if meant:
            raise LookupError(f"several workloads are called {name!r}; try {' or '.join(meant)}")
        offered = names if "/" in name else sorted({one.rpartition("/")[2] for one in names})
        hint = suggestion(name, offered, "octant workloads")
        if (alias := find_alias(name)) and alias.workload in names:
            hint = f"did you mean {alias}?"
        raise LookupError(f"no workload {name!r}; {hint}")
    return meant[0]
