"""A store of somebody else's: what it asks for is data, and nothing of it is loaded, started, reached or set."""

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fake_kernel import planned, request
from fake_run import machine
from octant.cli import application
from octant.failure import Exit
from octant.request import Launch, Request, Shape, Subject
from octant.store import Store, StoredRun
from octant.store.run_request import start_line

TRAP = """
#include <fcntl.h>
#include <unistd.h>
__attribute__((constructor)) static void sprung(void) { close(open(MARKER, O_CREAT | O_WRONLY, 0600)); }
"""
BIND = """#!/bin/sh
while [ "$1" != -- ]; do shift; done
shift
exec "$@"
"""


@pytest.fixture
def trap(tmp_path: Path, needs: Callable[[str], str]) -> tuple[Path, Path]:
    """Return a library, and the file that appears as soon as it is loaded."""
    source, library, marker = tmp_path / "trap.c", tmp_path / "trap.so", tmp_path / "sprung"
    source.write_text(TRAP.replace("MARKER", json.dumps(str(marker))))
    subprocess.run([needs("cc"), "-shared", "-fPIC", "-o", library, source], check=True)
    subprocess.run(["/bin/true"], env={"LD_PRELOAD": str(library)}, check=True)
    assert marker.exists(), "the trap works"
    marker.unlink()
    return library, marker


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """Programs in the place of ours: the binder starts what it is given, and the kernel does nothing."""
    folder = tmp_path / "kernels"
    folder.mkdir()
    for name, text in (("octant-bind", BIND), ("octant-node-stream", "#!/bin/sh\n")):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return folder


def resume(store: Path, programs: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "octant.cli", "resume", "last", "--store", store, *words],
        env={**os.environ, "OCTANT_KERNELS": str(programs), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("where", ["asked.json", "plan.jsonl"])
def test_a_library_of_a_foreign_store_is_not_loaded(
    tmp_path: Path, trap: tuple[Path, Path], programs: Path, where: str
) -> None:
    library, marker = trap
    planted = dataclasses.replace(request(), mpi={"LD_PRELOAD": str(library)})
    if where == "asked.json":
        run = Store(tmp_path / "store").create("q", machine(), [planted])
    else:  # of a run whose launches are decided one by one
        run = Store(tmp_path / "store").create("q", machine(), [request()], [])
        run.plan.write_text(start_line(planned(Launch(planted), run.records), was_asked=False) + "\n")
    done = resume(tmp_path / "store", programs)
    assert (done.returncode, done.stdout) == (Exit.NOT_SUPPORTED, "")
    assert "cannot set 'LD_PRELOAD'" in done.stderr
    assert not marker.exists()


def test_a_library_that_the_user_allows_is_given_to_the_kernel(tmp_path: Path, programs: Path) -> None:
    seen = tmp_path / "seen"
    (programs / "octant-node-stream").write_text(f'#!/bin/sh\necho "$@" >> {seen}\n')
    Store(tmp_path / "store").create("q", machine(), [request(library="/opt/libblas.so")])
    refused = resume(tmp_path / "store", programs)
    assert refused.returncode == Exit.NOT_SUPPORTED
    assert "add --allow /opt/libblas.so" in refused.stderr
    assert not seen.exists()
    resume(tmp_path / "store", programs, "--allow", "/opt/libblas.so")
    assert "library=/opt/libblas.so" in seen.read_text()


@pytest.mark.parametrize(
    ("planted", "why"),
    [
        (dataclasses.replace(request(), mpi={"UCX_NET_DEVICES": "/srv/x"}), "cannot use /srv/x"),
        (dataclasses.replace(request(), shape=Shape(2, hosts=("their-host",))), "cannot use their-host"),
        (dataclasses.replace(request(), shape=Shape(2, place="2x1, torus=1x2, map=/dev/zero")), "cannot use /dev/zero"),
        (dataclasses.replace(request(), shape=Shape(2, launcher="/srv/launcher")), "no such launcher"),
        (Request(Subject(command=("touch", "x"))), "cannot resume 'touch x'"),
    ],
    ids=["setting", "host", "map", "launcher", "command"],
)
def test_nothing_else_of_it_is_started_reached_or_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, programs: Path, planted: Request, why: str
) -> None:
    monkeypatch.setenv("OCTANT_KERNELS", str(programs))
    run = Store(tmp_path / "store").create("q", machine(), [planted])
    done = CliRunner().invoke(application(), ["resume", "last", "--store", str(tmp_path / "store")])
    assert done.exit_code != 0
    assert why in f"{done.exception} {done.stderr}"
    assert not (run.plan.exists() and run.plan.read_text()), "nothing was started"


@pytest.mark.parametrize("name", ["records.jsonl", "plan.jsonl"])
def test_a_link_in_it_is_not_written_through(tmp_path: Path, programs: Path, name: str) -> None:
    run = Store(tmp_path / "store").create("q", machine(), [request()])
    mine = tmp_path / "mine"
    mine.write_text("mine\n")
    (run.folder / name).unlink(missing_ok=True)
    (run.folder / name).symlink_to(mine)
    done = resume(tmp_path / "store", programs)
    assert done.returncode == Exit.CANNOT_RUN
    assert "cannot write to" in done.stderr
    assert mine.read_text() == "mine\n"


def with_asked(run: StoredRun, old: str, new: str) -> None:
    path = run.folder / "asked.json"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_the_program_is_ours_whatever_the_store_says(tmp_path: Path, programs: Path) -> None:
    run = Store(tmp_path / "store").create("q", machine(), [request()])
    start = planned(Launch(run.requests[0]), run.records)
    evil = dataclasses.replace(start, words=("/bin/touch", str(tmp_path / "evil")), environment={"A": "B"})
    run.plan.write_text(start_line(evil, was_asked=True) + "\n")
    resume(tmp_path / "store", programs)
    assert not (tmp_path / "evil").exists()
    with_asked(run, '"workload": "node/stream"', '"workload": "../../../bin/touch"')
    done = resume(tmp_path / "store", programs)
    assert "cannot read" in done.stderr
