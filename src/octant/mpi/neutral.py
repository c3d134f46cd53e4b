"""Neutral MPI settings: meaning, values, and variables in each library.

Values are parsed and checked before they are converted to variables of a library.
"""

import functools
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal

from octant.failure import suggestion
from octant.units import bytes_text, parse_bytes, parse_seconds
from octant.untrusted import InputTable, convert

LibraryName = Literal["mpich", "openmpi", "intelmpi", "mvapich2", "cray-mpich"]
Proof = Literal["effect", "read-back", "launch", "documentation"]
TITLES = {
    "mpich": "MPICH", "openmpi": "Open MPI", "intelmpi": "Intel MPI", "mvapich2": "MVAPICH2",
    "cray-mpich": "Cray MPICH", "ucx": "UCX", "libfabric": "libfabric",
}  # fmt: skip
_FORMULA = re.compile(
    r"(?:(\d+)\*)?value(?: / (cell))?(?: ([+-]) (\d+))?(?: in steps of (\d+))?(?: at least (\d+))?( or more)?"
)
_MAX_CELLS = 8192  # 65536 abort MPICH 5.0.2
_DEFAULT_CELL_BYTES = 8192
CELL = "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE"
_NOT_SUPPORTED = " is not supported: "
_OMIT = "; omit it"
_LISTS = {"UCX_TLS", "OMPI_MCA_btl", "OMPI_MCA_coll", "OMPI_MCA_smsc"}  # `a,b`: only these; `^a,b`: all others
_TRUTHS = {"1": "yes", "true": "yes", "on": "yes", "0": "no", "false": "no", "off": "no"}


class CannotExpressError(ValueError):
    """The library does not support a setting or a value; the message states the reason."""


@dataclass(frozen=True)
class Library:
    """Properties of an MPI library on which the variables of settings depend."""

    name: str  # a key of `TITLES`
    version: str
    device: str = ""  # of MPICH: "ch4:ucx ofi", with all netmods of the build
    path: str = ""  # the netmod (MPICH) or pml (Open MPI) in use
    infiniband: bool = False  # whether the system has an InfiniBand adapter
    cell_bytes: int = _DEFAULT_CELL_BYTES  # of MPICH's shared memory

    @property
    def title(self) -> str:
        """Name and version as text."""
        return f"{TITLES.get(self.name, self.name)} {self.version}".strip()


class LibraryMapping(InputTable, frozen=True, omit_defaults=True):
    """Variables of a setting in one library, version and path; `neutral.toml` explains the fields."""

    library: LibraryName
    proof: Proof
    since: str = ""
    until: str = ""
    path: str = ""
    device: str = ""
    needs: Literal["", "infiniband"] = ""
    least: int | None = None
    most: int | None = None
    set: Mapping[str, str] = {}
    words: Mapping[str, dict[str, str]] = {}
    helpers: tuple[str, ...] = ()
    cannot: str = ""
    cannot_words: Mapping[str, str] = {}
    note: str = ""

    def holds(self, library: Library) -> bool:
        """Return whether the row applies to this library."""
        return (
            self.library == library.name
            and within(library.version, self.since, self.until)
            and self.path in ("", library.path)
            and (not self.device or self.device in re.findall(r"\w+", library.device))
        )

    @property
    def where(self) -> str:
        """Library, versions and path as text: `MPICH from 4.0 over ucx`."""
        versions = " ".join(filter(None, [self.since and f"from {self.since}", self.until and f"before {self.until}"]))
        path = (self.path and f"over {self.path}") or (self.device and f"built with {self.device}")
        return " ".join(
            filter(None, [TITLES[self.library], versions, path, self.needs and "with an InfiniBand adapter"])
        )

    def names(self) -> tuple[str, ...]:
        """Return all variables that the row may set."""
        return (*self.set, *(name for own in self.words.values() for name in own))

    def main_names(self) -> tuple[str, ...]:
        """Return the variables that the row may set, each once, without helpers."""
        return tuple(name for name in dict.fromkeys(self.names()) if name not in self.helpers)


class NeutralSetting(InputTable, frozen=True, kw_only=True, omit_defaults=True):
    """A setting of MPI libraries under a neutral name."""

    name: str
    aliases: tuple[str, ...] = ()
    meaning: str
    kind: Literal["bytes", "count", "seconds", "words", "names", "algorithm"]
    least: int = 0
    most: int = 2**63 - 1
    values: tuple[str, ...] = ()
    same: Mapping[str, str] = {}
    maps: tuple[LibraryMapping, ...]

    def allowed(self) -> str:
        """Return the allowed values as text."""
        listed = ", ".join(self.values)
        if self.kind in ("words", "names", "algorithm", "seconds") or (self.values and self.values[0].isdigit()):
            forms = {"names": "device names separated by commas", "algorithm": "COLLECTIVE:ALGORITHM", "seconds": "1s"}
            return listed or forms[self.kind]
        text = bytes_text if self.kind == "bytes" else str
        return f"{text(self.least)} to {text(self.most)}" + (f", or {listed}" if listed else "")

    def rows(self, library: Library) -> tuple[LibraryMapping, ...]:
        """Return the rows that apply to a library."""
        return tuple(row for row in self.maps if row.holds(library))


@dataclass(frozen=True)
class SettingValue:
    """A parsed value: a number, a word or text."""

    text: str
    number: int | None = None


@dataclass(frozen=True)
class VariableValue:
    """Requested value of a variable."""

    text: str
    or_more: bool = False  # larger numbers are also accepted


def number(version: str) -> tuple[int, ...]:
    """Return the first three numbers of a version for comparisons."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def within(version: str, since: str, until: str) -> bool:
    """Return whether a version is in the range from `since` to before `until`; "" means no limit."""
    return (not since or number(version) >= number(since)) and (not until or number(version) < number(until))


@dataclass(frozen=True)
class LibrarySupport:
    """Libraries that support a value of a setting."""

    by: tuple[str, ...]  # the libraries, with versions and paths
    refused_by: tuple[str, ...]  # libraries that Octant installs and that do not support it, with the reason
    everywhere: bool  # whether all libraries that Octant installs support it


INSTALLED = (Library("mpich", "5.0", "ch4:ucx ofi", "ucx"), Library("openmpi", "5.0", path="ob1"))
"""MPI libraries that Octant installs, with their defaults on a system without InfiniBand."""


def find_support(setting: NeutralSetting, value: SettingValue) -> LibrarySupport:
    """Return which libraries support a value, and why libraries that Octant installs do not."""
    refused = []
    for library in INSTALLED:
        try:
            variables(setting, value, library)
        except CannotExpressError as error:
            why = str(error).partition(_NOT_SUPPORTED)[2].removesuffix(_OMIT)
            why = why.removeprefix(f"{library.title}: ").replace(library.title, "it")
            refused.append(f"{library.title} ({why})")
    by = list(dict.fromkeys(row.where for row in setting.maps if _takes(row, setting, value)))
    by = [one for one in by if not any(one.startswith(f"{other} over ") for other in by)]
    return LibrarySupport(tuple(by), tuple(refused), not refused)


def _takes(row: LibraryMapping, setting: NeutralSetting, value: SettingValue) -> bool:
    """Return whether a row supports this value of the setting."""
    if row.cannot or value.text in row.cannot_words:
        return False
    if not _takes_formula(setting, value):
        return value.text in row.words
    least = setting.least if row.least is None else row.least
    most = setting.most if row.most is None else row.most
    return bool(row.set) and (value.number is None or least <= value.number <= most)


@functools.cache
def settings() -> tuple[NeutralSetting, ...]:
    """Return all settings, in the order of the file."""
    table = tomllib.loads((files("octant.mpi") / "neutral.toml").read_text(encoding="utf-8"))
    return convert(table["setting"], tuple[NeutralSetting, ...])


def find(name: str) -> NeutralSetting | None:
    """Return the setting of a name or alias, with hyphens, blanks or `_`; `None` if there is none."""
    plain = re.sub("[ _]", "-", name.lower())
    return next((s for s in settings() if plain in (re.sub(" ", "-", n) for n in (s.name, *s.aliases))), None)


def is_known_variable(name: str) -> bool:
    """Return whether some setting may set this environment variable."""
    return name in _variables()[0] or any(pattern.fullmatch(name) for pattern in _variables()[1])


@functools.cache
def _variables() -> tuple[frozenset[str], tuple[re.Pattern[str], ...]]:
    every = {name for one in settings() for row in one.maps for name in row.names()}
    plain = frozenset(name for name in every if "{" not in name)
    return plain, tuple(re.compile(re.sub(r"\{\w+\}", "[A-Za-z_]+", name)) for name in every - plain)


def read_value(setting: NeutralSetting, text: str) -> SettingValue:
    """Parse and check a value of a setting.

    Raises:
        ValueError: invalid value; the message lists the allowed values.
    """
    word = setting.same.get(text, text)
    word = _TRUTHS.get(word, word) if "yes" in setting.values else word
    if setting.kind == "words" or (word in setting.values and not word.isdigit()):
        word = setting.same.get(word, word)
        if word not in setting.values:
            raise ValueError(f"cannot set {setting.name}={text}: unknown value; {suggestion(word, setting.values)}")
        return SettingValue(word)
    patterns = {"names": r"[\w.:/-]+(,[\w.:/-]+)*", "algorithm": r"[a-z_]+:[a-z0-9_]+"}
    if setting.kind in patterns and not re.fullmatch(patterns[setting.kind], text, re.ASCII):
        raise ValueError(f"cannot set {setting.name}={text}: invalid value; use {setting.allowed()}")
    if setting.kind in patterns:
        return SettingValue(text)
    if setting.kind == "seconds":
        return SettingValue(f"{parse_seconds(text):g}s")
    if setting.kind == "count" and not re.fullmatch(r"\d{1,9}", text):
        raise ValueError(f"cannot set {setting.name}={text}: not an integer; use {setting.allowed()}")
    try:
        found = parse_bytes(text) if setting.kind == "bytes" else int(text)
    except ValueError as error:
        raise ValueError(f"cannot set {setting.name}: {error}") from error
    listed = [int(one) for one in setting.values if one.isdigit()]
    if not setting.least <= found <= setting.most or (listed and found not in listed):
        raise ValueError(f"cannot set {setting.name}={text}: out of range; use {setting.allowed()}")
    return SettingValue(str(found), found)


def variables(
    setting: NeutralSetting, value: SettingValue, library: Library, cell_bytes: int = 0
) -> dict[str, VariableValue]:
    """Return the variables for a value of a setting in a library; empty if the value is the default.

    Args:
        cell_bytes: size of a cell of MPICH's shared memory, if another setting changes it.

    Raises:
        CannotExpressError: the library does not support it; the message states the reason.
    """
    request = f"{setting.name}={value.text}"
    rows = setting.rows(library)
    reasons = [reason for row in rows if (reason := row.cannot or row.cannot_words.get(value.text, ""))]
    if reasons:
        reason = reasons[0]
        why = f"{library.title} {reason[3:]}" if reason.startswith("it ") else f"{library.title}: {reason}"
        raise CannotExpressError(f"{request}{_NOT_SUPPORTED}{why}" + ("" if ";" in reason else _OMIT))
    fitting = [row for row in rows if (row.set if _takes_formula(setting, value) else value.text in row.words)]
    if any(row.needs for row in fitting) and not library.infiniband:
        raise CannotExpressError(f"{request}{_NOT_SUPPORTED}no InfiniBand adapter{_OMIT}")
    if not fitting:
        known = sorted({word for row in rows for word in row.words})
        hint = f"use {', '.join(known)}" if known else "omit it, or set a variable of the library"
        why = "unknown value" if known else "no variable for this setting is known"
        raise CannotExpressError(f"{request}{_NOT_SUPPORTED}{library.title}: {why}; {hint}")
    if not _takes_formula(setting, value):
        return {name: VariableValue(text) for row in fitting for name, text in row.words[value.text].items()}
    _check_range(setting, value, fitting, library)
    found: dict[str, VariableValue] = {}
    for name, formula in ((n, f) for row in fitting for n, f in row.set.items()):
        what, _, word = value.text.partition(":")
        own = name.replace("{WHAT}", what.upper()).replace("{what}", what)
        if "value" in formula:
            found[own] = _number(formula, value.number or 0, cell_bytes or library.cell_bytes, request)
        else:
            if formula == "number" and not word.isdigit():
                why = f"{library.title} selects algorithms by number; use {setting.name}={what}:1"
                raise CannotExpressError(f"{request}{_NOT_SUPPORTED}{why}")
            found[own] = VariableValue({"text": value.text, "word": word, "number": word}.get(formula, formula))
    return found


def acts_between_nodes_only(name: str, library: Library) -> bool:
    """Return whether a variable affects only messages between nodes, since ranks of one node use shared memory.

    MPICH 4.0 of Debian and Open MPI over UCX also use UCX within a node.
    """
    if library.name == "mpich" and number(library.version) >= (5,):
        return bool(re.match(r"UCX_|FI_|MPIR_CVAR_(CH4_)?(OFI|UCX)_|MPIR_CVAR_CH4_NETMOD\Z", name))
    return library.name == "openmpi" and library.path == "ob1" and bool(re.match(r"OMPI_MCA_(btl_tcp|mtl)_", name))


def combine(requests: Sequence[tuple[str, Mapping[str, VariableValue]]]) -> dict[str, str]:
    """Return the combined variables of settings.

    Args:
        requests: each setting as written by the user, with its variables.

    Raises:
        ValueError: two settings require different values of one variable.
    """
    found: dict[str, tuple[str, VariableValue]] = {}
    for words, wanted in requests:
        for name, one in wanted.items():
            before = found.get(name)
            if before is None:
                found[name] = (words, one)
                continue
            both = _both(name, before[1], one)
            if both is None:
                why = f"they require {name}={before[1].text} and {name}={one.text}"
                raise ValueError(f"cannot combine {before[0]} and {words}: {why}; omit one of them")
            found[name] = (words if both == one else before[0], both)
    return {name: one.text for name, (_words, one) in found.items()}


def cell_bytes_of(wanted: Mapping[str, VariableValue]) -> int:
    """Return the size of a cell of MPICH's shared memory that these variables set; 0 if they do not set it."""
    return int(wanted[CELL].text) if CELL in wanted else 0


def _takes_formula(setting: NeutralSetting, value: SettingValue) -> bool:
    return value.number is not None or setting.kind in ("names", "algorithm", "seconds")


def _check_range(
    setting: NeutralSetting, value: SettingValue, rows: Sequence[LibraryMapping], library: Library
) -> None:
    least = max([setting.least, *(row.least for row in rows if row.least is not None)])
    most = min([setting.most, *(row.most for row in rows if row.most is not None)])
    if value.number is not None and not least <= value.number <= most:
        ends = f"{bytes_text(least)} to {bytes_text(most)}" if setting.kind == "bytes" else f"{least} to {most}"
        request = f"{setting.name}={value.text}"
        raise CannotExpressError(f"{request}{_NOT_SUPPORTED}{library.title} accepts {ends} ({least} to {most})")


def _number(formula: str, value: int, cell_bytes: int, request: str) -> VariableValue:
    parts = _FORMULA.fullmatch(formula)
    if parts is None:
        raise ValueError(f"cannot read the formula {formula!r} of {request}")
    found = value * int(parts[1] or 1)
    if parts[2]:
        found = round(found / cell_bytes)
        if not 1 <= found <= _MAX_CELLS:
            limits = f"{bytes_text(cell_bytes)} to {bytes_text(_MAX_CELLS * cell_bytes)}"
            why = f"the buffer must have 1 to {_MAX_CELLS} cells of {cell_bytes} B"
            raise CannotExpressError(f"{request}{_NOT_SUPPORTED}{why}; use {limits}, or another eager-limit")
    if parts[4]:
        found += int(parts[4]) if parts[3] == "+" else -int(parts[4])
    step = int(parts[5] or 1)
    found = -(-found // step) * step
    return VariableValue(str(max(found, int(parts[6] or found))), bool(parts[7]))


def _both(name: str, one: VariableValue, other: VariableValue) -> VariableValue | None:
    """Return the value of a variable that satisfies two settings; `None` if there is none."""
    if one.text == other.text:
        return one if other.or_more else other
    if name in _LISTS:
        return _both_lists(one.text, other.text)
    if one.text.isdigit() and other.text.isdigit():
        small, large = sorted((one, other), key=lambda wanted: int(wanted.text))
        return large if small.or_more else None
    return None


def _both_lists(one: str, other: str) -> VariableValue | None:
    """Combine lists: `^a` and `^b` give `^a,b`; `a,b` and `^b` give `a`; two lists without `^` are a contradiction."""
    if one.startswith("^") and other.startswith("^"):
        return VariableValue("^" + ",".join(dict.fromkeys([*one[1:].split(","), *other[1:].split(",")])))
    kept, left_out = (other, one) if one.startswith("^") else (one, other)
    if not left_out.startswith("^"):
        return None
    away = {"sm", *left_out[1:].split(",")} if "posix" in left_out else set(left_out[1:].split(","))
    rest = [part for part in kept.split(",") if part not in away]
    return VariableValue(",".join(rest)) if rest else None
