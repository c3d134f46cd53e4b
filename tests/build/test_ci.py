"""`.ci/run`: as root it tests as an ordinary account in a copy, of which nothing is left; else it runs as it is."""

import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from paths import ROOT

PROGRAMS = [
    "bash", "cat", "chown", "cut", "dirname", "env", "find", "git", "grep", "id", "kill", "make", "mktemp", "python3",
    "rm", "sh", "sleep", "stat", "tar", "touch",
]  # fmt: skip
FOR_ACCOUNTS = ["runuser", "useradd", "userdel"]
AS_ROOT = pytest.mark.root("makes an account")

FIRST = ("check", "dev", "dev-openmpi", "fuzz", "hwloc-suite", "intel")
"""Targets that are made two at a time, so that they end in any order."""
MAKEFILE = f"""\
{" ".join(FIRST)} test test-root:
	@echo "$@ by $$(id -un) in $$(stat -c %U .)'s folder: $${{PIP_CERT-}} $${{SECRET-}}$(N)"
	@cat *.txt
	@if [ $@ = test ]; then . ./test.sh; fi
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return a checkout with a committed, a new and an ignored file, readable by everyone."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name)
        path.chmod(0o755)
        (path / "programs").mkdir()
        (path / "checkout/.ci").mkdir(parents=True)
        shutil.copy(ROOT / ".ci/run", path / "checkout/.ci")
        (path / "checkout/Makefile").write_text(MAKEFILE)
        (path / "checkout/test.sh").touch()
        (path / "checkout/.gitignore").write_text("ignored.txt\n")
        for file in ("committed", "new", "ignored"):
            (path / "checkout" / f"{file}.txt").write_text(f"{file}\n")
        git = ["git", "-C", str(path / "checkout"), "-c", "user.name=x", "-c", "user.email=x@example.org"]
        for words in (
            ["init", "-q"],
            ["add", ".ci", "Makefile", ".gitignore", "committed.txt"],
            ["commit", "-qm", "x"],
        ):
            subprocess.run([*git, *words], check=True)
        yield path


def ci(folder: Path, programs: Sequence[str], test: str = "") -> "subprocess.Popen[str]":
    """`.ci/run` where there are no programs but these, so no apt-get; `test` is what `make test` does."""
    for program in programs:
        found = shutil.which(program, path="/usr/bin:/bin:/usr/sbin:/sbin")
        if found is None:
            pytest.skip(f"{program} is not installed")
        (folder / "programs" / program).symlink_to(found)
    (folder / "checkout/test.sh").write_text(test)
    environment = {"PATH": f"{folder}/programs:/nowhere", "PIP_CERT": "cert", "SECRET": "secret"}
    command = [str(folder / "checkout/.ci/run")]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def ended(process: "subprocess.Popen[str]") -> tuple[int, list[str]]:
    said, _ = process.communicate(timeout=60)
    if "no python3 in " in said:
        pytest.skip(said)
    return process.returncode, said.splitlines()


def targets(said: Sequence[str]) -> list[list[str]]:
    """Return the output of each target; those of `FIRST` are sorted by name."""
    starts = [at for at, line in enumerate(said) if " by " in line]
    each = [list(said[a:b]) for a, b in itertools.pairwise([*starts, len(said)])]
    return sorted(each[: len(FIRST)]) + each[len(FIRST) :]


def me() -> str:
    return pwd.getpwuid(os.geteuid()).pw_name


def accounts() -> set[str]:
    return {entry.pw_name for entry in pwd.getpwall()}


def left(uid: int) -> list[Path]:
    """Files and processes of an account."""
    places = [path for name in ("/tmp", "/dev/shm") for path in Path(name).iterdir()]  # noqa: S108 - only looked at
    found = []
    for path in (*places, *Path("/proc").glob("[0-9]*")):
        try:
            if path.lstat().st_uid == uid:
                found.append(path)
        except FileNotFoundError:
            continue
    return found


@pytest.mark.skipif(os.geteuid() == 0, reason="root runs it as another account")
def test_an_ordinary_account_runs_everything_as_it_is(folder: Path) -> None:
    code, said = ended(ci(folder, PROGRAMS))
    assert code == 0
    files = ["committed", "ignored", "new"]
    assert targets(said) == [
        *([f"{target} by {me()} in {me()}'s folder: cert secret100", *files] for target in FIRST),
        [f"test by {me()} in {me()}'s folder: cert secret", *files],
    ]


def test_root_runs_everything_where_it_can_make_no_account_and_says_so(folder: Path) -> None:
    (folder / "programs/id").write_text('#!/bin/sh\n[ "$1" = -u ] && echo 0 || exec /usr/bin/id "$@"\n')
    (folder / "programs/id").chmod(0o755)
    code, said = ended(ci(folder, [name for name in PROGRAMS if name != "id"]))
    assert code == 0
    assert said[0] == "CI: root runs everything, because there is no ordinary account (no useradd)"
    assert [lines[0] for lines in targets(said)] == [
        *(f"{target} by {me()} in {me()}'s folder: cert secret100" for target in FIRST),
        f"test by {me()} in {me()}'s folder: cert secret",
    ]


@AS_ROOT
@pytest.mark.parametrize(("test", "code"), [("", 0), ("false", 2)])
def test_root_tests_as_an_ordinary_account_of_which_nothing_is_left(folder: Path, test: str, code: int) -> None:
    before, shown = accounts(), folder / "uid"
    shown.touch()
    shown.chmod(0o666)
    scattered = "mktemp >/dev/null; mktemp -p /dev/shm >/dev/null"
    daemon = f"sleep 300 >/dev/null 2>&1 & id -u >{shown}; {scattered}\n{test}\n"
    ended_with, said = ended(ci(folder, [*PROGRAMS, *FOR_ACCOUNTS], daemon))
    name = said[0].split()[3]
    assert name.startswith("octant-ci-")
    files = ["committed", "new"]
    as_test = [f"test by {name} in {name}'s folder: cert ", *files]
    as_root = ["test-root by root in " + name + "'s folder: cert secret", *files]
    assert targets(said) == [
        *([f"{target} by {name} in {name}'s folder: cert 100", *files] for target in FIRST),
        *([as_test, as_root] if code == 0 else [[*as_test, "make: *** [Makefile:4: test] Error 1"]]),
    ]
    assert ended_with == code
    assert accounts() == before
    assert left(int(shown.read_text())) == []
    assert not Path(said[0].split(" in ")[1].split(";")[0]).exists()


@AS_ROOT
def test_nothing_is_left_of_an_account_whose_tests_are_ended_from_outside(folder: Path) -> None:
    before, shown = accounts(), folder / "uid"
    shown.touch()
    shown.chmod(0o666)
    process = ci(folder, [*PROGRAMS, *FOR_ACCOUNTS], f"mktemp; id -u >{shown}; sleep 300")
    while process.poll() is None and not shown.read_text():
        time.sleep(0.05)
    assert len(left(int(shown.read_text()))) > 2, "it has processes, a file and its folder"
    process.send_signal(signal.SIGTERM)
    code, _ = ended(process)
    assert code == 143
    assert accounts() == before
    assert left(int(shown.read_text())) == []
