"""`--mpi NAME=VALUE`: settings of the MPI library, as the variables under which the library in use reads them."""

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from octant.catalogue.lookup import similar
from octant.failure import Exit, Refusal
from octant.mpi import neutral
from octant.mpi.inventory import Inventory, linked
from octant.mpi.knobs import Problem, belongs_to, check_names, check_values, find, is_of_mpi, knobs, of_mpi
from octant.mpi.neutral import CannotExpressError, Library, NeutralSetting, SettingValue, VariableValue


@dataclass(frozen=True)
class LaunchSetting:
    """One neutral setting of a launch."""

    asked: str  # "eager-limit=65536", in the setting's own unit
    setting: NeutralSetting
    value: SettingValue
    variables: Mapping[str, str]  # what it sets; empty: it is the library's default


@dataclass(frozen=True)
class MpiSettings:
    """What the ranks find in their environment, and what was asked but would have no effect here."""

    variables: Mapping[str, str]
    without_effect: tuple[str, ...]
    settings: tuple[LaunchSetting, ...] = ()  # the neutral ones


def read(
    words: Sequence[str],
    inventory: Inventory,
    environment: Mapping[str, str] | None = None,
    devices: Sequence[str] | None = None,
) -> MpiSettings:
    """Return the settings for the library in use. Names: neutral (`eager-limit`), or any library's own.

    What the library would ignore is left out, so that it is never measured as if it had an effect.

    Args:
        environment: what the ranks find in theirs anyway; `None`: ours.
        devices: the network devices there are; `None`: this system's.

    Raises:
        Refusal: no NAME=VALUE; a name that no MPI library reads, most likely a typo; a value that cannot be read; a
            setting that the library cannot express; or two that contradict each other.
    """
    plain, asked = _split(words, inventory)
    ours = os.environ if environment is None else environment
    chosen = _settings([one for one in asked if one[0].name == "transport"], inventory, {**ours, **plain})
    path = {name: wanted.text for _setting, own in chosen for name, wanted in own.items()}
    problems = (*check_names(plain, inventory), *_off_path(plain, library_of(inventory, {**ours, **plain, **path})))
    useless = {_variable(problem.name, inventory) for problem in problems}
    kept = {name: value for name, value in plain.items() if name not in useless}
    refused = [p.text for p in (*problems, *check_values(kept, inventory)) if p.refused]
    if refused:
        raise Refusal("; ".join(refused), Exit.WRONG_WORD)
    for setting, value in asked:
        _check_devices(setting, value, known_devices() if devices is None else devices)
    settings = _settings(asked, inventory, {**ours, **kept})
    own = [(f"{name}={value}", {name: VariableValue(value)}) for name, value in kept.items()]
    try:
        together = neutral.combine([*own, *((one.asked, wanted) for one, wanted in settings)])
    except ValueError as error:
        raise Refusal(str(error), Exit.WRONG_WORD) from error
    refused = [p.text for p in (*check_names(together, inventory), *check_values(together, inventory)) if p.refused]
    if refused:
        raise Refusal("; ".join(refused), Exit.WRONG_WORD)
    done = (LaunchSetting(s.asked, s.setting, s.value, {n: together[n] for n in wanted}) for s, wanted in settings)
    return MpiSettings(together, tuple(problem.text for problem in problems), tuple(done))


def known_devices() -> list[str]:
    """Return the network devices of this system, by name."""
    return sorted(path.name for folder in ("net", "infiniband") for path in Path("/sys/class", folder).glob("*"))


def _check_devices(setting: NeutralSetting, value: SettingValue, devices: Sequence[str]) -> None:
    """Return a library may use another device without a message. Networks in numbers (`10.0.0.0/8`) are left to it."""
    names = value.text.split(",") if setting.kind == "names" else ()
    for name in names:
        if name.partition(":")[0] not in devices and "/" not in name:
            why = f"there is no network device {name} here"
            raise Refusal(
                f"cannot set {setting.name}={value.text} ({why}); try {', '.join(devices)}", Exit.NOT_SUPPORTED
            )


def _off_path(names: Iterable[str], library: Library) -> list[Problem]:
    """Names that only another path of messages reads: they read back, and change nothing."""
    found = []
    for name in names:
        wanted = next((path for pattern, path in _OF_PATHS if re.match(pattern, name)), library.path)
        if library.path and wanted != library.path:
            text = f"{name} has no effect: messages go through {library.path}, not {wanted} (see transport)"
            found.append(Problem(name, text, False))
    return found


_OF_PATHS = ((r"MPIR_CVAR_(CH4_)?OFI_|FI_", "ofi"), (r"MPIR_CVAR_(CH4_)?UCX_|UCX_", "ucx"))


def library_of(inventory: Inventory, variables: Mapping[str, str], infiniband: bool | None = None) -> Library:
    """Return the library as settings depend on it.

    Args:
        variables: what the ranks will find in their environment; some of it chooses the path of messages.
        infiniband: whether there is such an adapter; `None`: look.
    """
    if infiniband is None:
        infiniband = any(Path("/sys/class/infiniband").glob("*"))
    cell = variables.get(neutral.CELL) or inventory.values.get(neutral.CELL, "")
    path = ""
    if inventory.library == "mpich":
        netmods = re.findall(r"\w+", inventory.device.partition(":")[2])
        path = variables.get("MPIR_CVAR_CH4_NETMOD") or (netmods[0] if netmods else "")
    elif inventory.library == "openmpi":
        named = variables.get("OMPI_MCA_pml", "")
        path = named if named in ("ob1", "ucx", "cm") else "ucx" if infiniband else "ob1"
    size = {"cell_bytes": int(cell)} if cell.isdigit() and int(cell) else {}
    return Library(inventory.library, inventory.version, inventory.device, path, infiniband, **size)


def _settings(
    asked: Sequence[tuple[NeutralSetting, SettingValue]], inventory: Inventory, environment: Mapping[str, str]
) -> list[tuple[LaunchSetting, dict[str, VariableValue]]]:
    """Return each with its variables. What chooses the path comes first, and what counts cells after what sizes them."""
    order = {"transport": 0, "receive-buffer": 2}
    found: list[tuple[LaunchSetting, dict[str, VariableValue]]] = []
    together: dict[str, VariableValue] = {}
    for setting, value in sorted(asked, key=lambda one: order.get(one[0].name, 1)):
        library = library_of(inventory, {**environment, **{name: wanted.text for name, wanted in together.items()}})
        try:
            own = neutral.variables(setting, value, library, neutral.cell_bytes_of(together))
        except CannotExpressError as error:
            raise Refusal(str(error), Exit.NOT_SUPPORTED) from error
        together |= own
        found.append((LaunchSetting(f"{setting.name}={value.text}", setting, value, {}), own))
    return found


def _split(
    words: Sequence[str], inventory: Inventory
) -> tuple[dict[str, str], list[tuple[NeutralSetting, SettingValue]]]:
    """Return the library's own variables, and the neutral settings with their values."""
    plain: dict[str, str] = {}
    asked: dict[str, tuple[NeutralSetting, SettingValue]] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name or not value:
            raise Refusal(f"cannot read {word!r} (not of the form NAME=VALUE); try eager-limit=64KiB", Exit.WRONG_WORD)
        setting = neutral.find(name)
        key = setting.name if setting else _variable(name, inventory)
        if setting and setting.kind == "algorithm":
            key += f":{value.partition(':')[0]}"
        if key in plain or key in asked:
            raise Refusal(f"cannot set {key} twice; leave one of them out", Exit.WRONG_WORD)
        try:
            if setting:
                asked[key] = (setting, neutral.read_value(setting, value))
            else:
                plain[key] = value
        except ValueError as error:
            raise Refusal(str(error), Exit.WRONG_WORD) from error
    return plain, list(asked.values())


def problems(words: Sequence[str], inventory: Inventory) -> tuple[Problem, ...]:
    """What is wrong with names, with or without values, for the library in use.

    Raises:
        Refusal: a name that nobody knows.
    """
    names = [word.partition("=")[0] for word in words]
    settings = [setting for name in names if (setting := neutral.find(name))]
    plain = {_variable(name, inventory): "1" for name in names if not neutral.find(name)}
    library = library_of(inventory, os.environ)
    nothing = [
        Problem(s.name, f"{s.name} has no effect: {library.title} has nothing for it", False)
        for s in settings
        if not any(row.names() for row in s.rows(library))
    ]
    pairs = [(name, value) for name, _equals, value in (word.partition("=") for word in words)]
    values = {_variable(name, inventory): value for name, value in pairs if value and not neutral.find(name)}
    return (*nothing, *check_names(plain, inventory), *check_values(values, inventory))


def check_environment(variables: Mapping[str, str], request: Callable[[], Inventory] = linked) -> None:
    """Looks at what the shell gives to every rank: `export MPIR_CVAR_…` and `OMPI_MCA_…` are ignored just as silently.

    Raises:
        Refusal: a name that the library in use does not know, or a value that it cannot read.
    """
    given = {name: value for name, value in variables.items() if name.startswith(("MPIR_CVAR_", "OMPI_MCA_"))}
    if not given or "OMPI_COMM_WORLD_SIZE" in variables:  # Open MPI's launcher sets names that are no parameters
        return
    try:
        known = request()
    except (ValueError, Refusal):
        return
    found = (*check_names(given, known), *check_values(given, known))
    if refused := [problem.text for problem in found if problem.refused]:
        raise Refusal("in the environment: " + "; ".join(refused), Exit.WRONG_WORD)


def check_stored(names: Iterable[str]) -> None:
    """Looks at the settings that a stored run asks for: whoever wrote it may not set just anything here.

    Raises:
        Refusal: a name that our tables of settings do not have.
    """
    for name in names:
        if not is_known(name):
            why = "the run says so, and no setting of that name is known here"
            raise Refusal(f"cannot set {name!r} ({why}); ask again with octant run --mpi", Exit.NOT_SUPPORTED)


def is_known(name: str) -> bool:
    """Return whether our tables of settings have this environment variable, and an MPI library reads it."""
    plain = name.removeprefix("OMPI_MCA_")
    listed = any(plain in knob.names() and (plain != name or not name.islower()) for knob in knobs())
    return bool(of_mpi([name])) and (listed or neutral.is_known_variable(name))


def _variable(name: str, inventory: Inventory) -> str:
    """Return the environment variable of a name; a plain MCA parameter gets its prefix, and what is no name is refused."""
    if re.fullmatch(r"[a-z][a-z0-9_]*", name):
        if inventory.library == "openmpi" or any(
            e.library == "openmpi" and e.name == name for k in knobs() for e in k.equivalents
        ):
            return f"OMPI_MCA_{name}"
    elif re.fullmatch(r"(MPIR_CVAR|OMPI_MCA|MP|LAPI|DCMF)_\w+", name) or is_known(name) or is_of_mpi(name):
        return name
    if belongs_to(name, inventory.library):  # a misspelt one, of which the check says more
        return name
    try:
        find(name)
    except ValueError:
        names = [*(one.name for one in neutral.settings()), *(known for knob in knobs() for known in knob.names())]
        near = similar(name, names)
        hint = f"did you mean {' or '.join(near)}?" if near else "`octant settings` lists them"
        raise Refusal(f"cannot set {name!r} (no such setting); {hint}", Exit.WRONG_WORD) from None
    if not of_mpi([name]):  # a flag, a tool, or a variable of something else
        raise Refusal(f"cannot set {name!r} (no MPI library reads it); try octant settings {name}", Exit.WRONG_WORD)
    return name
