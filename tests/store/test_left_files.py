"""Files of killed kernels: removed in every marked folder by the next measurement, and only if they are ours."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from fake_kernel import request
from fake_run import machine
from octant import store as stores
from octant.store import Store, StoredRun
from octant.store.progress import remove_leftovers

NAME = "octant-0123456789abcdef"


def leave(run: StoredRun, chosen: Path) -> None:
    """Create the files that `mpi/mpiio` leaves if it is killed with all its parents."""
    chosen.mkdir(exist_ok=True)
    (chosen / f"{NAME}.0").touch()
    (chosen / f".{NAME}.0.shfp.4711").touch()
    (chosen / "mine").touch()
    scratch = run.folder / "records.jsonl.scratch-4711"
    scratch.mkdir()
    (scratch / f"elsewhere-{NAME}").write_text(f"{chosen}\n")


@pytest.fixture
def make(tmp_path: Path) -> Callable[[], StoredRun]:
    return lambda: Store(tmp_path / "store").create("q", machine(), [request(bytes="8")])


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_who_measures_next_removes_the_files_of_an_octant_that_was_killed(
    make: Callable[[], StoredRun], tmp_path: Path
) -> None:
    killed, following = make(), make()
    leave(killed, tmp_path / "chosen")
    stores.sweep(following.folder)
    assert names(tmp_path / "chosen") == ["mine"]
    assert not list(killed.folder.glob("records.jsonl.*"))


def test_files_of_a_run_that_somebody_measures_stay(make: Callable[[], StoredRun], tmp_path: Path) -> None:
    measured, following = make(), make()
    leave(measured, tmp_path / "chosen")
    with stores.lock(measured.folder, lambda _: None):
        stores.sweep(following.folder)
    assert len(names(tmp_path / "chosen")) == 3
    (measured.folder.parent.parent / "locks" / measured.id).touch()  # as if that process had been killed
    stores.sweep(following.folder)
    assert names(tmp_path / "chosen") == ["mine"]


@pytest.mark.parametrize("whose", ["marker", "files"])
def test_files_of_others_stay(
    make: Callable[[], StoredRun], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whose: str
) -> None:
    run = make()
    leave(run, tmp_path / "chosen")
    seen = Path.lstat

    def lstat(path: Path) -> os.stat_result:
        found = seen(path)
        of_others = path.name.startswith("elsewhere-") == (whose == "marker")
        return os.stat_result([*found[:4], found.st_uid + of_others, *found[5:10]])

    monkeypatch.setattr(Path, "lstat", lstat)
    remove_leftovers(run.records)
    assert len(names(tmp_path / "chosen")) == 3
