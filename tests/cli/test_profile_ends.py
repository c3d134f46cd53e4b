"""`octant profile`: what remains of a profile if Octant is killed, or if a file cannot be written."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from octant.cli._profile import why_no_profile
from octant.store import Store
from paths import Octant


def test_a_run_without_a_result_says_that_octant_was_ended(octant: Octant, environment: Mapping[str, str]) -> None:
    octant("profile", "--", "true")
    run = Store(Path(environment["OCTANT_STORE"])).newest()[0]
    killed = replace(run, points=(), failures=())
    assert why_no_profile(killed) == "Octant was ended before the program; profile again"
