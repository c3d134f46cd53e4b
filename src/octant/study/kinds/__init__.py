"""The kinds of tests, one file each: how a study file writes it, what is checked of it, and how it is judged."""

from octant import registry
from octant.study.parts import KindOfTest


def kinds() -> dict[str, type[KindOfTest]]:
    """Every kind of test, by name. The file is the registration; its class has the file's name."""
    return {name: getattr(module, name.capitalize()) for name, module in registry.modules(__name__).items()}
