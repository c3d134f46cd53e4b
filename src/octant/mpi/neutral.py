"""Neutral MPI settings: what each means, which values it takes, and which variables it becomes in a library.

Values are read, checked and turned into the library's own; nothing that a user writes reaches a variable unread.
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
_MOST_CELLS = 8192  # 65536 abort MPICH 5.0.2
_DEFAULT_CELL_BYTES = 8192
CELL = "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE"
_LISTS = {"UCX_TLS", "OMPI_MCA_btl", "OMPI_MCA_coll", "OMPI_MCA_smsc"}  # `a,b`: these; `^a,b`: all but these
_TRUTHS = {"1": "yes", "true": "yes", "on": "yes", "0": "no", "false": "no", "off": "no"}


class CannotExpressError(ValueError):
    """The library has nothing for a setting, or for this value of it; the message says why."""


@dataclass(frozen=True)
class Library:
    """An MPI library as far as the meaning of settings depends on it."""

    name: str  # a key of `TITLES`
    version: str
    device: str = ""  # of MPICH: "ch4:ucx ofi", all netmods that it was built with
    path: str = ""  # the netmod (MPICH) or pml (Open MPI) in use
    infiniband: bool = False  # there is such an adapter
    cell_bytes: int = _DEFAULT_CELL_BYTES  # of MPICH's shared memory

    @property
    def title(self) -> str:
        """The name and version, for people."""
        return f"{TITLES.get(self.name, self.name)} {self.version}".strip()


class LibraryMapping(InputTable, frozen=True, omit_defaults=True):
    """What a setting becomes in one library, version and path; `neutral.toml` explains the fields."""

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
        """Return whether it is about this library."""
        return (
            self.library == library.name
            and within(library.version, self.since, self.until)
            and self.path in ("", library.path)
            and (not self.device or self.device in re.findall(r"\w+", library.device))
        )

    @property
    def where(self) -> str:
        """The library, versions and path that it is about, for people: `MPICH from 4.0 over ucx`."""
        versions = " ".join(filter(None, [self.since and f"from {self.since}", self.until and f"before {self.until}"]))
        path = (self.path and f"over {self.path}") or (self.device and f"built with {self.device}")
        return " ".join(
            filter(None, [TITLES[self.library], versions, path, self.needs and "with an InfiniBand adapter"])
        )

    def names(self) -> tuple[str, ...]:
        """Return every variable that it may set."""
        return (*self.set, *(name for own in self.words.values() for name in own))

    def main_names(self) -> tuple[str, ...]:
        """Return the variables whose purpose the setting is: each that it may set, once, without helpers."""
        return tuple(name for name in dict.fromkeys(self.names()) if name not in self.helpers)


class NeutralSetting(InputTable, frozen=True, kw_only=True, omit_defaults=True):
    """A setting under a name that belongs to no library."""

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
        """Return the values that it takes, for people."""
        listed = ", ".join(self.values)
        if self.kind in ("words", "names", "algorithm", "seconds") or (self.values and self.values[0].isdigit()):
            forms = {"names": "device names with commas between", "algorithm": "COLLECTIVE:ALGORITHM", "seconds": "1s"}
            return listed or forms[self.kind]
        text = bytes_text if self.kind == "bytes" else str
        return f"{text(self.least)} to {text(self.most)}" + (f", or {listed}" if listed else "")

    def rows(self, library: Library) -> tuple[LibraryMapping, ...]:
        """Return the rows that hold for a library."""
        return tuple(row for row in self.maps if row.holds(library))


@dataclass(frozen=True)
class SettingValue:
    """A value that was read: a number, or a word or text."""

    text: str
    number: int | None = None


@dataclass(frozen=True)
class VariableValue:
    """What one variable is to be."""

    text: str
    or_more: bool = False  # a larger number serves as well


def number(version: str) -> tuple[int, ...]:
    """Return the first three numbers of a version, for comparison."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def within(version: str, since: str, until: str) -> bool:
    """Return whether a version is one of those from `since` to before `until`; the empty text is no bound."""
    return (not since or number(version) >= number(since)) and (not until or number(version) < number(until))


@dataclass(frozen=True)
class LibrarySupport:
    """Which libraries can express a value of a setting."""

    by: tuple[str, ...]  # the libraries, with versions and paths
    refused_by: tuple[str, ...]  # of those that Octant installs, with the reason
    everywhere: bool  # whether all that Octant installs take it


INSTALLED = (Library("mpich", "5.0", "ch4:ucx ofi", "ucx"), Library("openmpi", "5.0", path="ob1"))
"""The MPI libraries that Octant can be installed with, as they are by default: without an InfiniBand adapter."""


def find_support(setting: NeutralSetting, value: SettingValue) -> LibrarySupport:
    """Return which libraries take a value: those of the table, and of those that Octant installs which do not, and why."""
    refused = []
    for library in INSTALLED:
        try:
            variables(setting, value, library)
        except CannotExpressError as error:
            why = str(error).partition(" cannot be expressed: ")[2].removesuffix("; leave it out")
            why = why.removeprefix(f"{library.title}: ").replace(library.title, "it")
            refused.append(f"{library.title} ({why.replace(' is here', '')})")
    by = list(dict.fromkeys(row.where for row in setting.maps if _takes(row, setting, value)))
    by = [one for one in by if not any(one.startswith(f"{other} over ") for other in by)]
    return LibrarySupport(tuple(by), tuple(refused), not refused)


def _takes(row: LibraryMapping, setting: NeutralSetting, value: SettingValue) -> bool:
    """Return whether a row gives the setting this value."""
    if row.cannot or value.text in row.cannot_words:
        return False
    if not _takes_formula(setting, value):
        return value.text in row.words
    least = setting.least if row.least is None else row.least
    most = setting.most if row.most is None else row.most
    return bool(row.set) and (value.number is None or least <= value.number <= most)


@functools.cache
def settings() -> tuple[NeutralSetting, ...]:
    """Return all of them, in the file's order."""
    table = tomllib.loads((files("octant.mpi") / "neutral.toml").read_text(encoding="utf-8"))
    return convert(table["setting"], tuple[NeutralSetting, ...])


def find(name: str) -> NeutralSetting | None:
    """Return the setting of that name or alias, its hyphens also as blanks or `_`."""
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
    """Return a value as the user wrote it.

    Raises:
        ValueError: it is none of this setting; the message names what is allowed.
    """
    word = setting.same.get(text, text)
    word = _TRUTHS.get(word, word) if "yes" in setting.values else word
    if setting.kind == "words" or (word in setting.values and not word.isdigit()):
        word = setting.same.get(word, word)
        if word not in setting.values:
            raise ValueError(f"cannot set {setting.name}={text} (no such value); {suggestion(word, setting.values)}")
        return SettingValue(word)
    patterns = {"names": r"[\w.:/-]+(,[\w.:/-]+)*", "algorithm": r"[a-z_]+:[a-z0-9_]+"}
    if setting.kind in patterns and not re.fullmatch(patterns[setting.kind], text, re.ASCII):
        raise ValueError(f"cannot set {setting.name}={text} (it cannot be read); try {setting.allowed()}")
    if setting.kind in patterns:
        return SettingValue(text)
    if setting.kind == "seconds":
        return SettingValue(f"{parse_seconds(text):g}s")
    if setting.kind == "count" and not re.fullmatch(r"\d{1,9}", text):
        raise ValueError(f"cannot set {setting.name}={text} (no whole number); try {setting.allowed()}")
    try:
        found = parse_bytes(text) if setting.kind == "bytes" else int(text)
    except ValueError as error:
        raise ValueError(f"cannot set {setting.name} ({error})") from error
    listed = [int(one) for one in setting.values if one.isdigit()]
    if not setting.least <= found <= setting.most or (listed and found not in listed):
        raise ValueError(f"cannot set {setting.name}={text} (out of range); try {setting.allowed()}")
    return SettingValue(str(found), found)


def variables(
    setting: NeutralSetting, value: SettingValue, library: Library, cell_bytes: int = 0
) -> dict[str, VariableValue]:
    """Return the variables that give a setting this value in a library; none where the value is its default.

    Args:
        cell_bytes: size of a cell of MPICH's shared memory, where another setting changes it.

    Raises:
        CannotExpressError: the library has nothing for it, with the reason.
    """
    asked = f"{setting.name}={value.text}"
    rows = setting.rows(library)
    reasons = [reason for row in rows if (reason := row.cannot or row.cannot_words.get(value.text, ""))]
    if reasons:
        reason = reasons[0]
        why = f"{library.title} {reason[3:]}" if reason.startswith("it ") else f"{library.title}: {reason}"
        raise CannotExpressError(f"{asked} cannot be expressed: {why}" + ("" if ";" in reason else "; leave it out"))
    fitting = [row for row in rows if (row.set if _takes_formula(setting, value) else value.text in row.words)]
    if any(row.needs for row in fitting) and not library.infiniband:
        raise CannotExpressError(f"{asked} cannot be expressed: no InfiniBand adapter is here; leave it out")
    if not fitting:
        known = sorted({word for row in rows for word in row.words})
        hint = f"try {', '.join(known)}" if known else "leave it out, or set the library's own variable"
        why = "it has no such value" if known else "no variable of it is known"
        raise CannotExpressError(f"{asked} cannot be expressed: {library.title}: {why}; {hint}")
    if not _takes_formula(setting, value):
        return {name: VariableValue(text) for row in fitting for name, text in row.words[value.text].items()}
    _check_range(setting, value, fitting, library)
    found: dict[str, VariableValue] = {}
    for name, formula in ((n, f) for row in fitting for n, f in row.set.items()):
        what, _, word = value.text.partition(":")
        own = name.replace("{WHAT}", what.upper()).replace("{what}", what)
        if "value" in formula:
            found[own] = _number(formula, value.number or 0, cell_bytes or library.cell_bytes, asked)
        else:
            if formula == "number" and not word.isdigit():
                raise CannotExpressError(f"{asked} cannot be expressed: {library.title} numbers its algorithms; try 1")
            found[own] = VariableValue({"text": value.text, "word": word, "number": word}.get(formula, formula))
    return found


def acts_between_nodes_only(name: str, library: Library) -> bool:
    """Return whether a variable concerns messages between nodes alone, since those of one node go through memory.

    MPICH 4.0 as Debian builds it, and Open MPI over UCX, send within a node through UCX as well.
    """
    if library.name == "mpich" and number(library.version) >= (5,):
        return bool(re.match(r"UCX_|FI_|MPIR_CVAR_(CH4_)?(OFI|UCX)_|MPIR_CVAR_CH4_NETMOD\Z", name))
    return library.name == "openmpi" and library.path == "ob1" and bool(re.match(r"OMPI_MCA_(btl_tcp|mtl)_", name))


def combine(asked: Sequence[tuple[str, Mapping[str, VariableValue]]]) -> dict[str, str]:
    """Return the variables of several settings together.

    Args:
        asked: each as the user wrote it, with its variables.

    Raises:
        ValueError: two of them want different values of one variable.
    """
    found: dict[str, tuple[str, VariableValue]] = {}
    for words, wanted in asked:
        for name, one in wanted.items():
            before = found.get(name)
            if before is None:
                found[name] = (words, one)
                continue
            both = _both(name, before[1], one)
            if both is None:
                why = f"they want {name}={before[1].text} and {name}={one.text}"
                raise ValueError(f"cannot set {before[0]} and {words} ({why}); leave one of them out")
            found[name] = (words if both == one else before[0], both)
    return {name: one.text for name, (_words, one) in found.items()}


def cell_bytes_of(wanted: Mapping[str, VariableValue]) -> int:
    """Return the size of a cell of MPICH's shared memory that these variables ask for; 0: they do not."""
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
        asked = f"{setting.name}={value.text}"
        raise CannotExpressError(f"{asked} cannot be expressed: {library.title} takes {ends} ({least} to {most})")


def _number(formula: str, value: int, cell_bytes: int, asked: str) -> VariableValue:
    parts = _FORMULA.fullmatch(formula)
    if parts is None:
        raise ValueError(f"cannot read the formula {formula!r} of {asked}")
    found = value * int(parts[1] or 1)
    if parts[2]:
        found = round(found / cell_bytes)
        if not 1 <= found <= _MOST_CELLS:
            limits = f"{bytes_text(cell_bytes)} to {bytes_text(_MOST_CELLS * cell_bytes)}"
            why = f"cells hold {cell_bytes} B each, and there may be 1 to {_MOST_CELLS}"
            raise CannotExpressError(f"{asked} cannot be expressed: {why}; try {limits}, or another eager-limit")
    if parts[4]:
        found += int(parts[4]) if parts[3] == "+" else -int(parts[4])
    step = int(parts[5] or 1)
    found = -(-found // step) * step
    return VariableValue(str(max(found, int(parts[6] or found))), bool(parts[7]))


def _both(name: str, one: VariableValue, other: VariableValue) -> VariableValue | None:
    """What serves two settings; `None` if nothing does."""
    if one.text == other.text:
        return one if other.or_more else other
    if name in _LISTS:
        return _both_lists(one.text, other.text)
    if one.text.isdigit() and other.text.isdigit():
        small, large = sorted((one, other), key=lambda wanted: int(wanted.text))
        return large if small.or_more else None
    return None


def _both_lists(one: str, other: str) -> VariableValue | None:
    """`^a` and `^b` are `^a,b`; `a,b` and `^b` are `a`; two lists of what is to be used contradict each other."""
    if one.startswith("^") and other.startswith("^"):
        return VariableValue("^" + ",".join(dict.fromkeys([*one[1:].split(","), *other[1:].split(",")])))
    kept, left_out = (other, one) if one.startswith("^") else (one, other)
    if not left_out.startswith("^"):
        return None
    away = {"sm", *left_out[1:].split(",")} if "posix" in left_out else set(left_out[1:].split(","))
    rest = [part for part in kept.split(",") if part not in away]
    return VariableValue(",".join(rest)) if rest else None
