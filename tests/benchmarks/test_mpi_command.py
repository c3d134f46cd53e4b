"""`octant mpi`: names of other benchmarks, their tables, and what is said of patterns that do not work here."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from octant.benchmarks.messages.patterns import patterns
from octant.build.describe import describe
from octant.cli import application
from octant.failure import Exit
from octant.mpi.faults import faults
from octant.runs.knobs import check_knobs
from paths import Octant

SHORT = ("--sizes", "8,64", "seconds=0.01", "--repeats", "1", "-n", "2")


def printed(*words: str) -> str:
    return CliRunner().invoke(application(), ["mpi", *words]).output


def test_every_pattern_is_listed_with_its_names() -> None:
    text = printed("--list")
    assert "osu_latency" in text
    assert all(one.name in text for one in patterns())
    assert [one["name"] for one in json.loads(printed("--list", "--json"))] == [one.name for one in patterns()]


def test_every_known_fault_is_listed_with_what_helps() -> None:
    text = printed("--faults")
    assert all(fault.says in text and fault.helps in text for fault in faults())
    assert len(json.loads(printed("--faults", "--json"))) == len(faults())


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("--list --faults", "cannot use --faults with --list"),
        ("--list --run last", "cannot use --run with --list"),
        ("PingPong --list", "cannot use PingPong with --list"),
        ("--run last -n 4", "cannot use --ranks with --run"),
        ("--run last --sizes 8", "cannot use --sizes with --run"),
        ("--run last PingPong seconds=1", "cannot use seconds=1 with --run"),
        ("--faults --timeout 3", "cannot use --timeout with --faults"),
    ],
)
def test_what_contradicts_is_refused(words: str, why: str, capfd: pytest.CaptureFixture[str]) -> None:
    done = CliRunner().invoke(application(), ["mpi", *words.split()])
    said = f"{done.output}{done.exception}{capfd.readouterr().err}"
    assert why in said
    assert done.exit_code != 0


def test_every_pattern_is_one_that_its_kernel_can_take(kernels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OCTANT_KERNELS", str(kernels))
    for pattern in patterns():
        check_knobs(pattern.workload, pattern.knobs, describe(pattern.workload))


@pytest.mark.mpi
def test_a_run_prints_tables_keeps_the_run_and_prints_it_again(octant: Octant) -> None:
    done = octant("mpi", "pingpong", "sendrecv", *SHORT)
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines() if line and not line.startswith("#")]
    assert [row[0] for row in rows] == ["#bytes", "8", "64", "#bytes", "8", "64"]
    assert "# Benchmarking PingPong" in done.stdout
    assert "# Benchmarking Sendrecv" in done.stdout
    again = octant("mpi", "--run", "last", "--json")
    assert {table["pattern"] for table in json.loads(again.stdout)["tables"]} == {"PingPong", "Sendrecv"}
    assert "osu_latency" in octant("mpi", "--run", "last", "--as", "osu").stdout
    assert "Sendrecv" not in octant("mpi", "--run", "last", "PingPong").stdout
    missing = octant("mpi", "--run", "last", "Gather")
    assert missing.returncode == 2
    assert "cannot show Gather (the run has PingPong, Sendrecv)" in missing.stderr.replace("pingpong", "PingPong")


@pytest.mark.mpi
def test_lengths_that_are_no_elements_are_named_below_the_table(octant: Octant) -> None:
    done = octant("mpi", "Allreduce", "--sizes", "0,2,4,6,8", "seconds=0.01", "--repeats", "1", "-n", "2")
    assert "# Allreduce: the lengths 2, 6 B are skipped, because elements have 4 B." in done.stdout
    assert "without" not in octant("mpi", "--run", "last").stdout


@pytest.mark.mpi
def test_a_run_without_patterns_is_named_with_what_shows_it(octant: Octant) -> None:
    octant("run", "stream", "bytes=64KiB", "seconds=0.01", "--repeats", "1")
    shown = octant("mpi", "--run", "last")
    assert shown.returncode == 2
    assert "its title is `stream bytes=64KiB" in shown.stderr
    assert "try octant report" in shown.stderr


@pytest.mark.mpi
def test_wrong_data_exits_4_and_a_hang_3_with_the_library_named(octant: Octant) -> None:
    wrong = octant("mpi", "pingpong", *SHORT, env={"OCTANT_FAULT": "wrong"})
    assert wrong.returncode == Exit.WRONG_ANSWER
    assert wrong.stdout.count("WRONG RESULT") == 2
    hung = octant("mpi", "pingpong", "sendrecv", *SHORT, "--timeout", "2", env={"OCTANT_FAULT": "hang"})
    assert hung.returncode == 3
    assert hung.stdout.count("hangs on this system (MPICH ") == 2
    assert octant("resume").returncode == 3, "it is not started again"


@pytest.mark.mpi
def test_what_cannot_be_asked_is_refused_before_there_is_a_run(octant: Octant) -> None:
    assert octant("mpi", "pingpongpong").returncode == 2
    assert octant("mpi", "pingpong", "pattern=exchange").returncode == 2
    assert octant("mpi", "pingpong", "--sizes", "many").returncode == 2
    assert "does not exist" in octant("resume").stderr
