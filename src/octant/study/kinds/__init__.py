"""The kinds of tests, one file each: how a study file writes it, what is checked of it, and how it is judged."""

from types import ModuleType

from octant import registry
from octant.registry import Entries, UndeclaredError
from octant.study.parts import KindOfTest


def kinds() -> dict[str, type[KindOfTest]]:
    """Every kind of test, by name. The file is the registration; its class has the file's name."""
    return dict(entries().working)


def entries() -> Entries[type[KindOfTest]]:
    """The kinds of tests that can be used, and those whose file cannot."""
    return registry.entries(__name__, _declared)


def _declared(module: ModuleType) -> type[KindOfTest]:
    """Return the class that a file declares.

    Raises:
        UndeclaredError: it declares none of the file's name.
    """
    name = module.__name__.rpartition(".")[2].capitalize()
    found = getattr(registry.declared(module, name), name)
    if not (isinstance(found, type) and issubclass(found, KindOfTest)):
        raise UndeclaredError(f"its {name} is not a subclass of KindOfTest")
    return found
