"""`--mpi NAME=VALUE`: settings of the MPI library, converted to variables of the library in use."""

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from octant.catalogue.lookup import similar
from octant.failure import Exit, Refusal
from octant.mpi import neutral
from octant.mpi.inventory import Inventory, linked
from octant.mpi.knobs import (
    OTHER_LIBRARY,
    TITLES,
    Problem,
    belongs_to,
    check_names,
    check_values,
    find,
    is_mpi_variable,
    knobs,
    select_mpi_variables,
)
from octant.mpi.neutral import CannotExpressError, Library, NeutralSetting, SettingValue, VariableValue


@dataclass(frozen=True)
class LaunchSetting:
    """One neutral setting of a launch."""

    asked: str  # "eager-limit=65536", in the unit of the setting
    setting: NeutralSetting
    value: SettingValue
    variables: Mapping[str, str]  # variables that it sets; empty: the value is the default of the library


@dataclass(frozen=True)
class MpiSettings:
    """Variables for the environment of the ranks, and requested settings without effect."""

    variables: Mapping[str, str]
    without_effect: tuple[str, ...]
    settings: tuple[LaunchSetting, ...] = ()  # the neutral ones


def read(
    words: Sequence[str],
    inventory: Inventory,
    environment: Mapping[str, str] | None = None,
    devices: Sequence[str] | None = None,
) -> MpiSettings:
    """Return the settings for the library in use. Names are neutral (`eager-limit`) or those of any library.

    Settings that the library would ignore are omitted, so that no run is attributed to them.

    Args:
        environment: environment of the ranks; `None`: that of this process.
        devices: available network devices; `None`: those of this system.

    Raises:
        Refusal: not NAME=VALUE; a name that no MPI library reads; an invalid value; a setting that the library does
            not support; or two settings that contradict each other.
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
    """Return the names of the network devices of this system."""
    return sorted(path.name for folder in ("net", "infiniband") for path in Path("/sys/class", folder).glob("*"))


def _check_devices(setting: NeutralSetting, value: SettingValue, devices: Sequence[str]) -> None:
    """Refuse unknown devices, for which a library may silently use another; networks (`10.0.0.0/8`) are not checked."""
    names = value.text.split(",") if setting.kind == "names" else ()
    for name in names:
        if name.partition(":")[0] not in devices and "/" not in name:
            why = f"this system has no network device {name}"
            raise Refusal(
                f"cannot set {setting.name}={value.text}: {why}; use {', '.join(devices)}", Exit.NOT_SUPPORTED
            )


def _off_path(names: Iterable[str], library: Library) -> list[Problem]:
    """Return problems of variables that only another transport uses; they are read back without effect."""
    found = []
    for name in names:
        wanted = next((path for pattern, path in _OF_PATHS if re.match(pattern, name)), library.path)
        if library.path and wanted != library.path:
            text = f"{name} has no effect: messages use {library.path}, not {wanted}; set transport={wanted}"
            found.append(Problem(name, text, False))
    return found


_OF_PATHS = ((r"MPIR_CVAR_(CH4_)?OFI_|FI_", "ofi"), (r"MPIR_CVAR_(CH4_)?UCX_|UCX_", "ucx"))


def library_of(inventory: Inventory, variables: Mapping[str, str], infiniband: bool | None = None) -> Library:
    """Return the properties of the library on which settings depend.

    Args:
        variables: environment of the ranks, which may select the transport.
        infiniband: whether the system has an InfiniBand adapter; `None`: detect it.
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
    """Return each setting with its variables, in the order: transport, others, numbers of cells."""
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
    """Return the variables of libraries, and the neutral settings with their values."""
    plain: dict[str, str] = {}
    asked: dict[str, tuple[NeutralSetting, SettingValue]] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if word in TITLES:
            raise Refusal(f"cannot select the MPI library {word} with --mpi; {OTHER_LIBRARY}", Exit.WRONG_WORD)
        if not equals or not name or not value:
            raise Refusal(f"{word!r} is not of the form NAME=VALUE; example: eager-limit=64KiB", Exit.WRONG_WORD)
        setting = neutral.find(name)
        key = setting.name if setting else _variable(name, inventory)
        if setting and setting.kind == "algorithm":
            key += f":{value.partition(':')[0]}"
        if key in plain or key in asked:
            raise Refusal(f"{key} is set twice; omit one of them", Exit.WRONG_WORD)
        try:
            if setting:
                asked[key] = (setting, neutral.read_value(setting, value))
            else:
                plain[key] = value
        except ValueError as error:
            raise Refusal(str(error), Exit.WRONG_WORD) from error
    return plain, list(asked.values())


def problems(words: Sequence[str], inventory: Inventory) -> tuple[Problem, ...]:
    """Return problems of names, with or without values, for the library in use.

    Raises:
        Refusal: an unknown name.
    """
    names = [word.partition("=")[0] for word in words]
    settings = [setting for name in names if (setting := neutral.find(name))]
    plain = {_variable(name, inventory): "1" for name in names if not neutral.find(name)}
    library = library_of(inventory, os.environ)
    nothing = [
        Problem(s.name, f"{s.name} has no effect: {library.title} has no such setting", False)
        for s in settings
        if not any(row.names() for row in s.rows(library))
    ]
    pairs = [(name, value) for name, _equals, value in (word.partition("=") for word in words)]
    values = {_variable(name, inventory): value for name, value in pairs if value and not neutral.find(name)}
    return (*nothing, *check_names(plain, inventory), *check_values(values, inventory))


def check_environment(variables: Mapping[str, str], request: Callable[[], Inventory] = linked) -> None:
    """Check the MPI settings in the environment, which libraries may silently ignore.

    Raises:
        Refusal: a name or value that the library in use does not support.
    """
    given = {name: value for name, value in variables.items() if name.startswith(("MPIR_CVAR_", "OMPI_MCA_"))}
    if not given or "OMPI_COMM_WORLD_SIZE" in variables:  # the launcher of Open MPI sets names that are not parameters
        return
    try:
        known = request()
    except (ValueError, Refusal):
        return
    found = (*check_names(given, known), *check_values(given, known))
    if refused := [problem.text for problem in found if problem.refused]:
        raise Refusal("in the environment: " + "; ".join(refused), Exit.WRONG_WORD)


def check_stored(names: Iterable[str]) -> None:
    """Check the names of settings of a stored run, which may come from another user.

    Raises:
        Refusal: a name that is not in the tables of settings.
    """
    for name in names:
        if not is_known(name):
            why = "the stored run has it, but this version of Octant does not know a setting of that name"
            raise Refusal(f"cannot set {name!r}: {why}; repeat the run with octant run --mpi", Exit.NOT_SUPPORTED)


def is_known(name: str) -> bool:
    """Return whether an environment variable is in the tables of settings and an MPI library reads it."""
    plain = name.removeprefix("OMPI_MCA_")
    listed = any(plain in knob.names() and (plain != name or not name.islower()) for knob in knobs())
    return bool(select_mpi_variables([name])) and (listed or neutral.is_known_variable(name))


def _variable(name: str, inventory: Inventory) -> str:
    """Return the environment variable of a name; MCA parameters get their prefix, and unknown names are refused."""
    if re.fullmatch(r"[a-z][a-z0-9_]*", name):
        if inventory.library == "openmpi" or any(
            e.library == "openmpi" and e.name == name for k in knobs() for e in k.equivalents
        ):
            return f"OMPI_MCA_{name}"
    elif re.fullmatch(r"(MPIR_CVAR|OMPI_MCA|MP|LAPI|DCMF)_\w+", name) or is_known(name) or is_mpi_variable(name):
        return name
    if belongs_to(name, inventory.library):  # a misspelt name, which the check reports
        return name
    try:
        find(name)
    except ValueError:
        names = [*(one.name for one in neutral.settings()), *(known for knob in knobs() for known in knob.names())]
        near = similar(name, names)
        hint = f"did you mean {' or '.join(near)}?" if near else "`octant settings` lists them"
        raise Refusal(f"unknown setting {name!r}; {hint}", Exit.WRONG_WORD) from None
    if not select_mpi_variables([name]):  # a flag, a tool, or a variable of other software
        raise Refusal(f"cannot set {name!r}: no MPI library reads it; see octant settings {name}", Exit.WRONG_WORD)
    return name
