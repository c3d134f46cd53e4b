"""MPI settings by purpose: names in older documents, current names, and whether the library in use has them."""

import functools
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal

from octant.catalogue import Setting
from octant.catalogue import settings as published
from octant.catalogue.current_settings import entry, instead_text, libraries, removal_text, removed_values, renamed
from octant.catalogue.lookup import similar
from octant.mpi import neutral
from octant.mpi.inventory import Inventory
from octant.untrusted import InputTable, convert

TITLES = neutral.TITLES
OTHER_LIBRARY = (
    "each MPI library needs its own installation of Octant (docs/installing.md): "
    "measure with both into one --store, then octant compare"
)
"""What to do instead of the selection of an MPI library by an option."""
_OLD_PREFIXES = {"MP_": "poe", "LAPI_": "poe", "DCMF_": "poe", "XLSMPOPTS": "poe"}
_OF_MPI = {*TITLES, "mvapich", "pamid"}  # tables of MPI libraries and of their transports
_TRANSPORTS = ("ucx", "libfabric")


class Original(InputTable, frozen=True):
    """A setting in an older document."""

    name: str
    system: str
    default: str


class Equivalent(InputTable, frozen=True):
    """A setting of one library, with the versions that have it (`since` inclusive, `until` exclusive)."""

    library: Literal["mpich", "openmpi", "intelmpi", "ucx", "libfabric"]
    name: str
    since: str = ""
    until: str = ""
    default: str = ""
    note: str = ""
    inert: bool = False
    checked: bool = True  # found in an inventory or in the output of the library

    def within(self, version: str) -> bool:
        """Return whether a version of the library should have the setting."""
        return neutral.within(version, self.since, self.until)


class MpiKnob(InputTable, frozen=True, kw_only=True):
    """A setting of MPI libraries under a neutral name."""

    name: str
    meaning: str
    matters: str
    unit: str = ""
    originals: tuple[Original, ...]
    equivalents: tuple[Equivalent, ...]

    def names(self) -> tuple[str, ...]:
        """Return all names of the setting."""
        return (self.name, *(o.name for o in self.originals), *(e.name for e in self.equivalents))


@dataclass(frozen=True)
class Problem:
    """Reason why a setting has no effect. `refused`: the name does not exist and is probably misspelt."""

    name: str
    text: str
    refused: bool


@functools.cache
def knobs() -> tuple[MpiKnob, ...]:
    """Return all settings, in the order of the file."""
    table = tomllib.loads((files("octant.mpi") / "knobs.toml").read_text(encoding="utf-8"))
    return convert(table["knob"], tuple[MpiKnob, ...])


def find(name: str) -> tuple[tuple[MpiKnob, ...], tuple[Setting, ...]]:
    """Return the knobs and the published settings of a name.

    The name is that of any library or the neutral one, with blanks, `-` or `_`.

    Raises:
        ValueError: the name is not known; the message suggests similar names.
    """
    wanted = name.removeprefix("OMPI_MCA_").lower()
    found = tuple(k for k in knobs() if wanted in (n.lower() for n in k.names()) or is_neutral(name, k))
    names = {o.name for knob in found for o in knob.originals} | {name}
    documented = tuple(s for s in published() if s.name in names)
    if not found and not documented:
        known = sorted({n for k in knobs() for n in k.names()} | {s.name for s in published()})
        raise ValueError(f"unknown setting {name!r}{_nearest(name, known) or '; `octant settings` lists them'}")
    return found, documented


def is_neutral(name: str, knob: MpiKnob) -> bool:
    """Return whether this is the neutral name of the knob: `eager limit`, `eager-limit`."""
    return re.sub("[ _-]", " ", name.lower()) == re.sub("[ _-]", " ", knob.name)


@functools.cache
def _prefixes() -> Mapping[str, str]:
    """Return the library of each prefix of variables, longer prefixes first."""
    tabled = {prefix: key for key, held in libraries().items() if key in _OF_MPI for prefix in held.prefixes}
    every = _OLD_PREFIXES | tabled
    return {prefix: every[prefix] for prefix in sorted(every, key=len, reverse=True)}


def _owner(name: str) -> str | None:
    return next((key for prefix, key in _prefixes().items() if name.startswith(prefix)), None)


def belongs_to(name: str, library: str) -> bool:
    """Return whether a variable has a prefix of a library."""
    return _owner(name) == library


def is_mpi_variable(name: str) -> bool:
    """Return whether the tables of MPI libraries have this variable, also under a former prefix."""
    return any(entry(key, renamed(key, name)) for key in _OF_MPI)


def select_mpi_variables(names: Iterable[str]) -> list[str]:
    """Return the environment variables with a prefix of an MPI library, a transport or IBM's MPI."""
    return [name for name in names if _owner(name)]


def presence(equivalent: Equivalent, inventory: Inventory | None) -> str:
    """Return as text whether the library in use has the setting; "" for settings of other libraries."""
    if inventory is None or equivalent.library != inventory.library:
        return ""
    name = inventory.aliases.get(equivalent.name, equivalent.name)
    if name not in inventory.values:
        return f"not in {TITLES[inventory.library]} {inventory.version}"
    if equivalent.inert:
        return "present, without effect"
    return f"present, current value {inventory.values[name]}" if inventory.values[name] else "present"


def check_names(settings: Mapping[str, str], inventory: Inventory) -> tuple[Problem, ...]:
    """Return problems of settings for the library in use: misspelt names, settings of other libraries, known traps.

    Names are environment variables (`MPIR_CVAR_…`, `OMPI_MCA_…`, `MP_…`) or MCA parameters; others are ignored.
    """
    found = [p for name in settings for p in (_check_name(name, inventory),) if p is not None]
    return (*found, *_tuned_trap(settings, inventory))


def check_values(settings: Mapping[str, str], inventory: Inventory) -> tuple[Problem, ...]:
    """Return problems of values that the library in use does not accept, and of words that were removed.

    MPICH aborts on invalid values without naming the setting; Open MPI uses 0.
    """
    found = []
    for name, value in settings.items():
        plain = name.removeprefix("OMPI_MCA_")
        if current := entry(inventory.library, plain):
            gone = removed_values(current, value, TITLES[inventory.library])
            found += [Problem(name, f"cannot set {name}={value}: {text}", True) for text in gone]
        words = inventory.words.get(plain, ())
        if inventory.kinds.get(plain) != "integer" or value in words or re.fullmatch(_READABLE[name != plain], value):
            continue
        allowed = ", ".join(words) if words else "an integer, yes or no" if name == plain else "an integer"
        found.append(Problem(name, f"cannot set {name}={value}: invalid value; use {allowed}", True))
    return tuple(found)


_READABLE = {False: r"-?\d+|(?i:yes|no|true|false|on|off)", True: r"-?\d+[kKmMgG]?(?:i?[bB])?|(?i:yes|no|true|false)"}
"""Patterns of integers: in MPICH, and in Open MPI, which accepts suffixes."""


def _check_name(name: str, inventory: Inventory) -> Problem | None:
    owner = _owner(name)
    using = f"{TITLES[inventory.library]} {inventory.version}".strip()
    if owner is None and inventory.library == "openmpi" and re.fullmatch(r"[a-z][a-z0-9_]*", name):
        owner = "openmpi"
    if owner is None:
        return None
    plain = renamed(inventory.library, name.removeprefix("OMPI_MCA_"))
    if owner == inventory.library or plain in inventory.values:
        if neutral.is_known_variable(name) and plain == name and not name.startswith("MPIR_CVAR_"):
            return None  # read only from the environment, and not listed by the library
        if plain in inventory.values or plain in inventory.aliases:
            inert = next((e for k in knobs() for e in k.equivalents if e.name == plain and e.inert), None)
            return Problem(name, f"{name} has no effect in {using}: {inert.note}", False) if inert else None
        return Problem(name, _unknown(name, plain, inventory, using), True)
    if owner in _TRANSPORTS:
        return None  # the transport may read it, which only its inventory would show
    other = libraries()[owner].title if owner in libraries() else "IBM's MPI"
    same = [e.name for k in knobs() if name in k.names() for e in k.equivalents]
    idle = {e.name for k in knobs() for e in k.equivalents if e.inert}
    here = [n for n in same if (n in inventory.values or n in inventory.aliases) and n not in idle]
    hint = f"; use {' or '.join(here)}" if here else ""
    current = entry(owner, name.removeprefix("OMPI_MCA_"))
    if current and current.gone():
        hint += f"; {name} is {removal_text(other, current)}"
    return Problem(name, f"{name} has no effect: it belongs to {other}, and the library in use is {using}{hint}", False)


def _unknown(name: str, plain: str, inventory: Inventory, using: str) -> str:
    ignores = "ignores it with a warning" if inventory.library == "intelmpi" else "silently ignores it"
    current = entry(inventory.library, plain)
    if current and not neutral.within(inventory.version, "", current.gone()):
        age = f"removed in {current.until}" if current.until else f"already missing in {current.absent}"
        return f"cannot set {name}: {using} does not have it ({age}) and {ignores}. {instead_text(current)}"
    known = next((e for k in knobs() for e in k.equivalents if e.name == plain), None)
    if known is not None and not known.within(inventory.version):
        age = f"new in {known.since}" if known.since and not known.until else f"removed in {known.until}"
        return f"cannot set {name}: {using} does not have it ({age}) and {ignores}; omit it"
    hint = _nearest(plain, [*inventory.values, *inventory.aliases])
    return f"cannot set {name}: {using} has no such setting and {ignores}{hint}"


def _nearest(name: str, known: list[str]) -> str:
    close = similar(name, known)
    return f"; did you mean {' or '.join(close)}?" if close else ""


def _tuned_trap(settings: Mapping[str, str], inventory: Inventory) -> list[Problem]:
    """Return problems of algorithms of `tuned` in Open MPI 5, where `han` has precedence over `tuned`."""
    plain = {name.removeprefix("OMPI_MCA_"): value for name, value in settings.items()}
    tuned = [name for name in plain if re.fullmatch(r"coll_tuned_\w+_algorithm", name)]
    if inventory.library != "openmpi" or not tuned:
        return []
    found = []
    rules = plain.get("coll_tuned_use_dynamic_rules", inventory.values.get("coll_tuned_use_dynamic_rules", "false"))
    han = _integer(plain.get("coll_han_priority", inventory.values.get("coll_han_priority", "0")))
    other = _integer(plain.get("coll_tuned_priority", inventory.values.get("coll_tuned_priority", "30")))
    chosen = plain.get("coll", "")
    excluded = bool(chosen) and ("han" in re.split("[,^]", chosen)) == chosen.startswith("^")
    for name in tuned:
        if rules.lower() not in ("1", "true", "yes"):
            text = f"{name} has no effect; set coll_tuned_use_dynamic_rules=true"
            found.append(Problem(name, text, False))
        if han > other and not excluded:
            outranked = f"{name} has no effect: the priority of han ({han}) is higher than that of tuned ({other})"
            found.append(Problem(name, f"{outranked}; set coll_han_priority=0 or coll=^han", False))
    return found


def _integer(text: str) -> int:
    return int(text) if re.fullmatch(r"-?\d+", text) else 0
