"""Exit codes of commands: each kind of outcome from real kernels with faults, and launches that were repeated."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from octant.cli import application
from octant.failure import Exit, Refusal
from octant.store import Store
from study_text import STUDY

SUITE = """
title = "One loop"
[[requests]]
workload = "stream"
title = "a loop"
knobs = { bytes = "64KiB", seconds = "0.01" }
repeats = 2
"""
MINE = STUDY.replace('workload = "stream"', 'workload = "stream"\nknobs = { bytes = "64KiB", seconds = "0.01" }')
COMMANDS = {
    "run": ("run", "p2p", "bytes=8", "seconds=0.01", "--ranks", "2", "--repeats", "4", "--no-limit"),
    "mpi": ("mpi", "pingpong", "--sizes", "8", "seconds=0.01", "--repeats", "2", "-n", "2"),
    "study": ("study", "run", "mine.toml", "--repeats", "2", "--anyway"),
    "evaluate": ("evaluate", "--suite", "suite.toml"),
}


class Command:
    """The command in this process, in a folder with a store and small files of its own."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, kernels: Path) -> None:
        monkeypatch.chdir(folder)
        monkeypatch.setenv("OCTANT_KERNELS", str(kernels))
        monkeypatch.setenv("OCTANT_STORE", str(folder / "store"))
        (folder / "suite.toml").write_text(SUITE)
        (folder / "mine.toml").write_text(MINE)
        self.store, self.monkeypatch = Store(folder / "store"), monkeypatch

    def __call__(self, *words: str, fault: str = "") -> tuple[int, str, str]:
        """Exit code, standard output, standard error."""
        with self.monkeypatch.context() as patch:
            if fault:
                patch.setenv("OCTANT_FAULT", fault)
            done = CliRunner().invoke(application(), list(words))
        if isinstance(done.exception, Refusal):
            return done.exception.code, done.stdout, f"{done.stderr}octant: {done.exception}\n"
        assert isinstance(done.exception, SystemExit | None), done.exception
        return done.exit_code, done.stdout, done.stderr


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kernels: Path) -> Command:
    return Command(tmp_path, monkeypatch, kernels)


LOOP = ("run", "stream", "bytes=64KiB", "seconds=0.01", "--repeats", "1")


@pytest.mark.parametrize(
    ("words", "fault", "code"),
    [
        (LOOP, "", Exit.OK),
        (LOOP, "wrong", Exit.WRONG_ANSWER),
        (LOOP, "throw", Exit.CANNOT_RUN),
        (LOOP, "kill", Exit.CANNOT_RUN),
        (LOOP, "lack", Exit.NOT_SUPPORTED),
        (LOOP, "word", Exit.WRONG_WORD),
        ((*LOOP, "byts=1"), "", Exit.WRONG_WORD),
        ((*LOOP, "kernel=copy,triad", "store=libc"), "", Exit.NOT_SUPPORTED),
        ((*LOOP, "kernel=copy,triad", "store=libc"), "wrong", Exit.WRONG_ANSWER),
        (("export", "none"), "", Exit.CANNOT_RUN),
        (("export", "--samples", "--results"), "", Exit.WRONG_WORD),
        (("settings", "--check", "MPIR_CVAR_NOLOCL=1"), "", Exit.WRONG_WORD),
        (("place", "--place", "4096x1"), "", Exit.NOT_SUPPORTED),
        (("where", "--", "sh", "-c", "exit 5"), "", 5),
        (("where", "--", "sh", "-c", "kill -9 $$"), "", 137),
    ],
)
def test_each_kind_of_outcome_has_its_code(command: Command, words: Sequence[str], fault: str, code: int) -> None:
    found, _, said = command(*words, fault=fault)
    assert found == code, said


@pytest.mark.mpi
@pytest.mark.parametrize("name", COMMANDS)
def test_a_wrong_result_is_returned_by_every_command_that_measures(command: Command, name: str) -> None:
    code, _, said = command(*COMMANDS[name], fault="wrong")
    assert (code, "WRONG RESULT" in said) == (Exit.WRONG_ANSWER, True), said


@pytest.mark.mpi
@pytest.mark.parametrize("name", COMMANDS)
def test_launches_that_were_repeated_have_not_failed(command: Command, name: str) -> None:
    code, shown, said = command(*COMMANDS[name], fault="kill@measuring")
    (killed,) = command.store.runs()
    assert (code, "SIGKILL" in f"{shown}{said}") == (Exit.CANNOT_RUN, True)
    assert f"octant resume {killed.id}" in said
    assert killed.failures
    assert killed.benchmark == (name if name in ("mpi", "evaluate") else "")
    code, shown, said = command("resume")
    assert code == Exit.OK, said
    (run,) = command.store.runs()
    assert (run.complete, run.failures, len(run.repeated)) == (True, (), len(killed.failures))
    stored = command("export", "--to", "json")[1], command("runs")[1], command("report")[1]
    pages = [path.read_text(encoding="utf-8") for path in run.folder.glob("*.html")]
    assert len(pages) == 1 + (name == "study")
    for text in (shown, said, *stored, *pages):
        assert "SIGKILL" not in text
        assert "Failed" not in text
    assert "failed" not in stored[1], "the list of runs"
    assert json.loads(stored[0])


@pytest.mark.mpi
def test_one_launch_of_four_that_was_killed_and_repeated_has_not_failed(
    command: Command, tmp_path: Path, kernels: Path
) -> None:
    """The others were measured at first; the figure is of all four afterwards."""
    folder = tmp_path / "kernels"
    folder.mkdir()
    for path in kernels.glob("octant-*"):
        (folder / path.name).symlink_to(path)
    program, once = folder / "octant-mpi-p2p", tmp_path / "once"
    program.unlink()
    fails = f"mkdir {once}$MPI_LOCALRANKID 2>/dev/null && export OCTANT_FAULT=kill@measuring:1"
    program.write_text(f'#!/bin/sh\ncase "$*" in *-2\\ --seed*) {fails};; esac\nexec {kernels}/{program.name} "$@"\n')
    program.chmod(0o755)
    command.monkeypatch.setenv("OCTANT_KERNELS", str(folder))
    code, shown, said = command(*COMMANDS["run"])
    assert (code, "1 launch failed" in said, "Failed" in shown) == (Exit.CANNOT_RUN, True, True), said
    code, shown, said = command("resume")
    assert (code, said.count("failed"), "Failed" in shown) == (Exit.OK, 0, False), said
    (run,) = command.store.runs()
    assert (len(run.points), len(run.repeated)) == (4, 1)
