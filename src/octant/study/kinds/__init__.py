"""The kinds of tests, one file each: how a study file writes it, what is checked of it, and how it is judged."""

from octant.registry import Entries
from octant.study.question import KindOfTest, kinds_of_test


def kinds() -> dict[str, type[KindOfTest]]:
    """Every kind of test, by name. The file is the registration; its class is that name with Test behind it."""
    return dict(entries().working)


def entries() -> Entries[type[KindOfTest]]:
    """The kinds of tests that can be used, and those whose file cannot."""
    return kinds_of_test()
