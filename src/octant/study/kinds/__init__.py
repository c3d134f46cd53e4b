"""Kinds of tests, one file each: the keys in a study file, their validation, and the judgement."""

from octant.registry import Entries
from octant.study.question import KindOfTest, kinds_of_test


def kinds() -> dict[str, type[KindOfTest]]:
    """Return all kinds of tests by name: the file `ratio.py` declares the class `RatioTest`."""
    return dict(entries().working)


def entries() -> Entries[type[KindOfTest]]:
    """Return the usable kinds of tests, and the unusable ones with their errors."""
    return kinds_of_test()
