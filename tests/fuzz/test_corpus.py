"""What the fuzzer once found stays mended: each input is read or refused, in two seconds, without a traceback."""

from pathlib import Path

import pytest

from fuzz_targets import FOLDER, attempt, kept, targets

TARGETS = targets()
INPUTS = [pytest.param(name, path, id=f"{name}-{path.name}") for name in TARGETS for path in kept(name)]


@pytest.mark.parametrize(("name", "path"), INPUTS)
def test_an_input_that_once_failed(name: str, path: Path) -> None:
    assert attempt(TARGETS[name], path.read_bytes()).fault == ""


@pytest.mark.parametrize("name", TARGETS)
def test_seeds_are_read(name: str) -> None:
    for seed in TARGETS[name].seeds:
        assert attempt(TARGETS[name], seed).fault == ""


def test_every_input_has_a_target() -> None:
    assert {path.name for path in (FOLDER / "corpus").iterdir()} <= TARGETS.keys()
