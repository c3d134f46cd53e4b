"""Programs measured from the command line: what is stored and said of one that fails, and what is kept of its files."""

import json
import re
from pathlib import Path

import pytest

from octant.failure import Exit
from octant.store import Store, StoredRun
from octant.store.kept import read_kept
from paths import Octant

WORDS = ("run", "--repeats", "1", "--")


def measured(store: Path) -> StoredRun:
    return Store(store).newest()[0]


def test_a_program_that_fails_shows_its_last_lines_and_keeps_all(octant: Octant, tmp_path: Path) -> None:
    script = r"for i in $(seq 30); do printf 'line %s\033[31m\tx\n' $i >&2; done; kill -SEGV $$"
    done = octant(*WORDS, "sh", "-c", script, cwd=tmp_path)
    assert done.returncode == 1
    run = measured(tmp_path / "store")
    (failure,) = run.failures
    assert failure.reason == "sh killed by SIGSEGV; its output is in the folder 'files' of the run"
    (file,) = failure.files
    lines = read_kept(run.folder, file).decode().splitlines()
    assert len(lines) == 30
    lines = done.stderr.splitlines()
    at = next(n for n, line in enumerate(lines) if "the last 20 of 30 lines of the standard error" in line)
    assert str(run.folder / "files" / file.stored) in lines[at]
    assert lines[at + 1 : at + 21] == [f"  line {number}�[31m    x" for number in range(11, 31)]
    said = f"octant: nothing could be measured ({failure.reason}); correct the cause, then run octant resume {run.id}"
    assert lines[at + 21].startswith(said)
    shown = octant("report", cwd=tmp_path)
    assert re.search(r"Files .*1 launch: stderr", " ".join(shown.stdout.split()))
    shared = json.loads(octant("report", "--share", "--json", cwd=tmp_path).stdout)
    assert shared["files"] == []


def test_what_succeeds_keeps_its_output_and_prints_none_of_it(octant: Octant, tmp_path: Path) -> None:
    (tmp_path / "script").write_text("echo some text\necho more >&2\n")
    done = octant(*WORDS, "sh", "script", cwd=tmp_path)
    assert (done.returncode, "some text" in done.stdout, "more" in done.stderr.split()) == (0, False, False)
    run = measured(tmp_path / "store")
    (point,) = run.points
    assert [(file.name, read_kept(run.folder, file)) for file in point.files] == [
        ("stdout", b"some text\n"),
        ("stderr", b"more\n"),
    ]
    assert not list(run.folder.glob("records.jsonl.*"))


def test_a_failed_command_after_the_launch_is_in_the_caveat_and_printed_last(octant: Octant, tmp_path: Path) -> None:
    done = octant("run", "--repeats", "2", "--after", "false", "--after", "true", "--", "true", cwd=tmp_path)
    assert done.returncode == 0
    reason = "the command `false` after the launch exited with status 1, in 2 of 2 launches"
    assert done.stderr.splitlines()[-1] == f"octant: {reason}"
    assert "Reliability: limited." in done.stdout
    assert f"{reason.replace('the', 'The', 1)}." in " ".join(done.stdout.partition("\n\n")[2].split())


def test_a_program_that_has_gone_when_it_starts_is_a_failed_launch(octant: Octant, tmp_path: Path) -> None:
    (tmp_path / "app").write_text("#!/bin/sh\n")
    (tmp_path / "app").chmod(0o755)
    done = octant("run", "--repeats", "1", "--before", "rm app", "--", "./app", cwd=tmp_path)
    assert done.returncode == 1
    assert "./app cannot be started (No such file or directory); check its path and mode" in done.stderr


@pytest.mark.parametrize("words", [(), ("--gate",)])
@pytest.mark.parametrize("side", ["A", "B"])
@pytest.mark.parametrize(("script", "why"), [("exit 7", "failed: "), ("echo none", "has no value: rate: ")])
def test_a_comparison_with_a_program_that_fails_or_prints_no_value_ends_with_1(
    octant: Octant, tmp_path: Path, words: tuple[str, ...], side: str, script: str, why: str
) -> None:
    both = [("--", "sh", "-c", script), ("--", "sh", "-c", "echo rate=3")]
    first, second = both if side == "A" else reversed(both)
    done = octant("compare", *words, "--rounds", "4", "--value", "rate=rate=(.)", *first, *second, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert f"cannot compare the programs ({side} {why}" in done.stderr
    store = Store(tmp_path / "store")
    runs = [store.read(name) for name in store.ids()]
    assert [len(run.points) + len(run.failures) for run in runs] == [1, 1], "no more rounds"


@pytest.mark.parametrize("word", ["./a.out", "/opt/app", "~/app", "sh"])
def test_a_program_instead_of_a_workload_is_refused_with_the_command_for_programs(
    word: str, octant: Octant, tmp_path: Path
) -> None:
    done = octant("run", word, "n=1", cwd=tmp_path)
    assert done.returncode == Exit.WRONG_WORD
    assert done.stderr.startswith(
        f"octant: cannot measure {word!r} (unknown workload). To measure a program: octant run -- "
    )
