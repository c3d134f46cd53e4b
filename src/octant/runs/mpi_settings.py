"""`--mpi NAME=VALUE`: settings of the MPI library, as the variables under which the library in use reads them."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from octant.catalogue.mpi_settings import TITLES, MpiKnob, Problem, check_names, find, is_neutral, knobs, of_mpi
from octant.failure import Exit, Refusal
from octant.machine.mpi_inventory import Inventory
from octant.machine.mpi_inventory import inventory as installed
from octant.units import parse_bytes


@dataclass(frozen=True)
class MpiWords:
    """What the ranks find in their environment, and what was asked but would have no effect here."""

    variables: Mapping[str, str]
    without_effect: tuple[str, ...]


def read(words: Sequence[str], inventory: Inventory) -> MpiWords:
    """The settings for the library in use. Names: neutral (`eager-limit`), or any library's own.

    What the library would ignore is left out, so that it is never measured as if it had an effect.

    Raises:
        Refusal: no NAME=VALUE, or a name that nobody knows: most likely a typo, which the library would not mention.
    """
    asked, idle = _variables_of(words, inventory)
    problems = check_names(asked, inventory)
    refused = [problem.text for problem in problems if problem.refused]
    if refused:
        raise Refusal("; ".join(refused), Exit.WRONG_ANSWER)
    useless = {_variable(problem.name, inventory) for problem in problems}
    kept = {name: value for name, value in asked.items() if name not in useless}
    return MpiWords(kept, (*idle, *(problem.text for problem in problems)))


def problems(words: Sequence[str], inventory: Inventory) -> tuple[Problem, ...]:
    """What is wrong with names, with or without values, for the library in use.

    Raises:
        Refusal: a name that nobody knows.
    """
    asked, idle = _variables_of([word if "=" in word else f"{word}=1" for word in words], inventory)
    return (*(Problem(text.partition(" has ")[0], text, False) for text in idle), *check_names(asked, inventory))


def _variables_of(words: Sequence[str], inventory: Inventory) -> tuple[dict[str, str], list[str]]:
    """The library's own variables, and sentences on knobs for which it has none."""
    asked: dict[str, str] = {}
    idle: list[str] = []
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name or not value:
            raise Refusal(
                f"cannot read {word!r} (not of the form NAME=VALUE); try eager-limit=64KiB", Exit.WRONG_ANSWER
            )
        knob = next((k for k in knobs() if is_neutral(name, k)), None)
        if knob is None:
            asked[_variable(name, inventory)] = value
            continue
        found = _of_knob(knob, value, inventory)
        asked |= found
        if not found:
            idle.append(f"{name} has no effect: {TITLES[inventory.library]} {inventory.version} has nothing for it")
    return asked, idle


def check_environment(variables: Mapping[str, str], ask: Callable[[], Inventory] = installed) -> None:
    """Looks at what the shell gives to every rank: `export MPIR_CVAR_…` and `OMPI_MCA_…` are ignored just as silently.

    Raises:
        Refusal: a name that the library in use does not know.
    """
    given = {name: value for name, value in variables.items() if name.startswith(("MPIR_CVAR_", "OMPI_MCA_"))}
    if not given or "OMPI_COMM_WORLD_SIZE" in variables:  # Open MPI's launcher sets names that are no parameters
        return
    try:
        known = ask()
    except ValueError:
        return
    refused = [problem.text for problem in check_names(given, known) if problem.refused]
    if refused:
        raise Refusal("in the environment: " + "; ".join(refused), Exit.WRONG_ANSWER)


def check_stored(names: Iterable[str]) -> None:
    """Looks at the settings that a stored run asks for: whoever wrote it may not set just anything here.

    Raises:
        Refusal: a name that our table of settings does not have.
    """
    for name in names:
        try:
            known = any(name.removeprefix("OMPI_MCA_") in knob.names() for knob in find(name)[0])
        except ValueError:
            known = False
        if not known or not of_mpi([name]):
            why = "the run says so, and no setting of that name is known here"
            raise Refusal(f"cannot set {name!r} ({why}); ask again with octant run --mpi", Exit.NOT_SUPPORTED)


def _variable(name: str, inventory: Inventory) -> str:
    """The environment variable of a name; a plain MCA parameter gets its prefix, and what is no name is refused."""
    if re.fullmatch(r"[a-z][a-z0-9_]*", name):
        if inventory.library == "openmpi" or any(
            e.library == "openmpi" and e.name == name for k in knobs() for e in k.equivalents
        ):
            return f"OMPI_MCA_{name}"
    elif re.fullmatch(r"(MPIR_CVAR|OMPI_MCA|I_MPI|UCX|FI|MP|LAPI|DCMF)_\w+", name):
        return name
    try:
        find(name)
    except ValueError as error:
        names = ", ".join(k.name.replace(" ", "-") for k in knobs())
        raise Refusal(f"cannot set {name!r} ({error}); try one of {names}", Exit.WRONG_ANSWER) from error
    return name


def _of_knob(knob: MpiKnob, value: str, inventory: Inventory) -> dict[str, str]:
    """Every setting of the library in use that this knob stands for."""
    if knob.unit == "bytes":
        try:
            value = str(parse_bytes(value))
        except ValueError as error:
            raise Refusal(f"cannot set {knob.name} ({error})", Exit.WRONG_ANSWER) from error
    known = {*inventory.values, *inventory.aliases}
    here = [e for e in knob.equivalents if e.library == inventory.library and not e.inert and e.name in known]
    # An alias and its present name are one setting.
    names = {inventory.aliases.get(e.name, e.name) for e in here}
    return {_variable(name, inventory): value for name in sorted(names)}
