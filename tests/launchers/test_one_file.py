"""A launcher is one file: with it in the folder, each of its roles is available, and no other file is edited."""

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from octant import launchers
from octant.cli import application
from octant.failure import Refusal
from octant.launchers import LaunchCommand
from octant.store import Store
from registries import added

DEMO = '''
"""The launcher of a site: `demorun -r RANKS -b CPUS/CPUS PROGRAM`, and its batch system `demosub`."""
from octant.launchers import (
    Job, LaunchCommand, LauncherReading, Submission, Syntax, _reading, _tables, _words, _writing, render_job_script,
)
from octant.machine.cpusets import parse_cpus
from octant.placement import set_text

TITLE = "Demo"
NAMES = {"start": "demorun", "job": "demosub"}
MARK = r"\\bdemorun\\b"
LAUNCHER = "demorun"
FILE = r"-m (\\S+)"
COMMANDS = ("demorun",)
OPTIONS = _tables.table(_tables.interpreted("r b m", 1), _tables.irrelevant("it concerns output", "q"))
VARIABLES = _tables.table(_tables.irrelevant("it names a job", "DEMO_JOB"))

def parse(words):
    return _words.getopt(words, OPTIONS)

def to_syntax(placement, request, topology):
    sets = "/".join(set_text(held) for held in _writing.rank_sets(placement))
    return Syntax((f"demorun -r {len(placement.ranks)} -b {sets} {_writing.PROGRAM}",), True)

def from_syntax(command, topology):
    sets = [parse_cpus(part) for part in command.last("b").split("/")]
    return _reading.reading_of_masks(sets, topology, None)

def at_hand(environment):
    return "DEMO_JOB" in environment

def command(program, size):
    return ["/bin/sh", "-c", 'echo "$0 $1" > "$DEMO_LOG"; shift; exec "$@"', "demorun", str(size.ranks), *program]

def script(job):
    return render_job_script("#DEMO", [f"nodes={job.nodes}"], job, LAUNCHER)

def submission(path):
    return Submission(("demosub", str(path)))

def recognise(words, environment):
    given = parse(words)
    return LaunchCommand(int(given.last("r")), tuple(words[1:given.end]), given.end, False)
'''
RUN = CliRunner()


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[None]:
    folder = tmp_path / "added"
    folder.mkdir()
    (folder / "demo.py").write_text(DEMO)
    with added("octant.launchers", folder):
        yield


def invoke(*words: str) -> str:
    done = RUN.invoke(application(), list(words), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_it_writes_a_placement_and_reads_it_back(demo: None, tmp_path: Path) -> None:
    node = tmp_path / "node.synthetic"
    node.write_text("package:1 core:4 pu:1")
    line = invoke("place", "--place", "2x2", "--for", "demo", "--on", str(node)).strip()
    assert line == "demorun -r 2 -b 0-1/2-3 PROGRAM"
    assert "demo: Demo" in invoke("place", "--place", "2x2", "--for", "all", "--on", str(node))
    read = invoke("place", "--from", line, "--on", str(node))
    assert read.splitlines()[0].endswith("(read from Demo)")
    quiet = RUN.invoke(
        application(), ["place", "--from", f"DEMO_JOB=1 {line.replace(' -b', ' -q -b')}", "--on", str(node)]
    )
    for remark in ("not used for the placement: -q (it concerns output)", "not used for the placement: DEMO_JOB"):
        assert remark in quiet.stderr
    (tmp_path / "masks").write_text("0,1\n")
    assert launchers.append_named_file(f"demorun -m {tmp_path}/masks").endswith("/masks:\n0,1\n")
    assert [line.split()[:2] for line in read.splitlines()[-2:]] == [["0", "0-1"], ["1", "2-3"]]


def test_it_starts_ranks(demo: None, kernels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OCTANT_KERNELS", str(kernels))
    monkeypatch.setenv("DEMO_LOG", str(tmp_path / "log"))
    store = tmp_path / "store"
    invoke(
        "run", "stream", "bytes=1MiB", "seconds=0.05", "--repeats", "1", "--launcher", "demorun", "--store", str(store)
    )
    assert (tmp_path / "log").read_text() == "demorun 1\n"
    (run,) = Store(store).runs()
    assert run.requests[0].shape.launcher == "demorun"
    assert launchers.chosen("", launchers.JobSize(2), {"DEMO_JOB": "1"}) == "demorun"


def test_it_submits_a_job(demo: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = tmp_path / "demosub"
    batch.write_text('#!/bin/sh\necho "queued $(basename "$1")"\n')
    batch.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    script = tmp_path / "job.sh"
    said = invoke("run", "stream", "bytes=1MiB", "--launcher", "demosub", "--script", str(script), "--submit")
    assert "queued job.sh" in said
    assert script.read_text().splitlines()[1] == "#DEMO nodes=1"
    assert shlex.split(script.read_text().splitlines()[-1])[-2:] == ["--launcher", "demorun"]


def test_it_recognises_its_command_line(demo: None) -> None:
    words = ["/opt/demo/demorun", "-r", "4", "./app", "-r", "9"]
    assert launchers.recognise(words) == ("demo", LaunchCommand(4, ("-r", "4"), 3, False))
    with pytest.raises(Refusal, match=r"cannot interpret the command line of Demo \(-x is an unknown option"):
        launchers.recognise(["demorun", "-x", "4", "./app"])


def test_it_is_gone_with_its_file() -> None:
    assert "demo" not in launchers.names("write")
    assert launchers.recognise(["demorun", "-r", "4", "./app"]) is None


def test_one_name_is_one_launcher_in_each_role() -> None:
    """A second file with the same name in a role would replace the first one."""
    for role in launchers.ROLES:
        files = [one for one in launchers.entries().working.values() if launchers.has(one, role)]
        assert len(files) == len(launchers.names(role)) > 0, role


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('TITLE = "T"', "it declares no role of a launcher"),
        ("def to_syntax(p, r, t): ...", "it does not declare TITLE"),
        ('TITLE = "T"\nMARK = "x"', "it does not declare from_syntax"),
        ('TITLE = "T"\nMARK = "x"\ndef from_syntax(c, t): ...', "it does not declare OPTIONS"),
        ('TITLE = "T"\ndef script(job): ...', "it does not declare LAUNCHER"),
        ('TITLE = "T"\nNAMES = {"begin": "t"}\ndef to_syntax(p, r, t): ...', "the role 'begin', which does not exist"),
    ],
)
def test_a_file_that_declares_half_a_role_is_a_row(text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "half.py").write_text(text)
    with added("octant.launchers", tmp_path):
        assert why in launchers.entries().broken["half"].error
        with pytest.raises(Refusal, match="half cannot be used here"):
            launchers.launcher("srum")
        assert launchers.launcher("srun")
