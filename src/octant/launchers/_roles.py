"""The roles that a launcher may have: what its file declares for each of them, and which launchers have one."""

import functools
from dataclasses import dataclass
from types import ModuleType

from octant import registry
from octant.failure import Exit, Refusal, suggestion
from octant.registry import Entries, UndeclaredError

PACKAGE = "octant.launchers"


@dataclass(frozen=True)
class Role:
    """What a file declares to have this role, and how a name that no file has in it is refused."""

    needs: tuple[str, ...]
    purpose: str  # the words of "cannot launch with 'srum' (no such launcher)"
    kind: str = "launcher"


ROLES = {
    "write": Role(("to_syntax",), "write options for"),
    "read": Role(("MARK", "from_syntax"), "read command lines of"),
    "start": Role(("at_hand", "command"), "launch with"),
    "mpiexec": Role(("VERSION", "PMI", "SPINS", "unbound"), "start ranks with the mpiexec of", "MPI library"),
    "job": Role(("LAUNCHER", "script", "submission"), "write a job for", "batch system"),
    "recognise": Role(("COMMANDS", "recognise"), "read command lines of"),
}
"""The roles by name."""


def entries() -> Entries[ModuleType]:
    """Return the launchers by the names of their files: those that work, and those that cannot be used."""
    return registry.entries(PACKAGE, _checked)


def _checked(module: ModuleType) -> ModuleType:
    """Return the module if it has a role, and declares all that its roles need.

    Raises:
        UndeclaredError: it does not.
    """
    return _checked_once(module, frozenset(vars(module)), frozenset(getattr(module, "NAMES", {})))


@functools.lru_cache(maxsize=256)  # the launchers are looked up for every command line that is read
def _checked_once(module: ModuleType, declares: frozenset[str], named: frozenset[str]) -> ModuleType:
    """Return the module, as `_checked` does.

    Args:
        module: of a launcher.
        declares: the names in it.
        named: the roles in its NAMES.
    """
    registry.declared(module, "TITLE")
    for role in ROLES.values():
        if not declares.isdisjoint(role.needs):
            registry.declared(module, *role.needs)
    if has(module, "read"):  # nothing is read without accounting for all of it
        registry.declared(module, "OPTIONS", "VARIABLES")
    if not any(has(module, role) for role in ROLES):
        needed = ", ".join(name for role in ROLES.values() for name in role.needs[-1:])
        raise UndeclaredError(f"it declares no role of a launcher: none of {needed}")
    unknown = sorted(named - set(ROLES))
    if unknown:
        raise UndeclaredError(f"its NAMES contains the role {unknown[0]!r}, which does not exist")
    return module


def has(module: ModuleType, role: str) -> bool:
    """Return whether a launcher has a role."""
    return all(hasattr(module, name) for name in ROLES[role].needs)


def file_name(module: ModuleType) -> str:
    """Return the name of a launcher's file: `slurm`."""
    return module.__name__.rpartition(".")[2]


def launchers_with_role(role: str) -> dict[str, ModuleType]:
    """Return the launchers that have a role, in the order of their names in it: `srun` of slurm.py where it starts."""
    found = {
        getattr(one, "NAMES", {}).get(role, file): one for file, one in entries().working.items() if has(one, role)
    }
    return dict(sorted(found.items()))


def names(role: str) -> list[str]:
    """Return the names of the launchers that have a role, in order."""
    return list(launchers_with_role(role))


def find(role: str, name: str) -> ModuleType:
    """Return the launcher that has this name in a role.

    Raises:
        Refusal: no such launcher, or its file cannot be used. A file that cannot be imported is known by its file
            name alone; the refusal of an unknown name therefore lists such files.
    """
    wanted, known = ROLES[role], launchers_with_role(role)
    if name not in known:
        entries().check(name, wanted.kind)
        why = f"no such {wanted.kind}"
        of = [key for key, one in known.items()
              if name in (*getattr(one, "COMMANDS", ()), *getattr(one, "READS", ()))]  # fmt: skip
        hint = f"did you mean {' or '.join(of)}?" if of else suggestion(name, known)
        raise Refusal(f"cannot {wanted.purpose} {name!r} ({why}); {hint}{unusable()}", Exit.WRONG_WORD)
    return known[name]


def unusable() -> str:
    """Return the files that cannot be used, with their errors, as the end of a refusal; "" if there are none."""
    return "".join(f"; {name} cannot be used here ({one.reason})" for name, one in entries().broken.items())
