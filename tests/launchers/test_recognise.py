"""Command lines of users that start ranks: ranks, the launcher's own words, where the program begins, binding."""

import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from octant.failure import Exit, Refusal
from octant.launchers import LaunchCommand, mpich, recognise

HYDRA = Path(sys.executable).parent / "mpiexec"
SAYS = {
    "mpich": "HYDRA build details:",
    "openmpi": "mpiexec (Open MPI) 5.0.8",
    "openmpi41": "mpirun (Open MPI) 4.1.7a1",
    "orterun": "mpiexec.openmpi (OpenRTE) 4.1.4",
    "intelmpi": "Intel(R) MPI Library for Linux* OS, Version 2021.18.1",
    "pals": "mpiexec (PALS) 1.2.3",
    "unknown": "mpiexec 1.0",
}


@pytest.fixture
def mpiexec(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Create an mpiexec on PATH that prints the version text of this library."""
    program = tmp_path / "mpiexec"
    program.write_text(f"#!/bin/sh\necho '{SAYS[getattr(request, 'param', 'mpich')]}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.delenv("HYDRA_BINDING", raising=False)
    return str(program)


@pytest.mark.parametrize(
    ("line", "ranks", "program", "binds"),
    [
        ("mpiexec -n 8 ./app -N 4", 8, "./app -N 4", False),
        ("mpiexec ./app", None, "./app", False),
        ("mpiexec --np=2 --bind-to=core:2 ./app -n 3", 2, "./app -n 3", True),
        ("mpiexec -NP 4 -bind-to none app", 4, "app", False),
        ("mpiexec -map-by core -n 2 app", 2, "app", False),
        ("mpiexec -binding rr -n 2 app", 2, "app", True),
        ("mpiexec -genv A b -genv C=d -env=E=f -n 2 app g=h", 2, "app g=h", False),
        ("mpiexec -l -hosts a,b -ppn 2 -n 4 app : x:", None, "", False),
        ("mpiexec -l -hosts a,b -ppn 2 -n 4 app :x y:", 4, "app :x y:", False),
        ("mpiexec -f -n app", None, "app", False),  # a file of hosts named -n
    ],
)
def test_hydras_command_lines_are_taken_apart(
    line: str, ranks: int | None, program: str, binds: bool, mpiexec: str
) -> None:
    words = line.split()
    if not program:
        with pytest.raises(Refusal, match="several programs, separated by ':'"):
            recognise(words, {})
        return
    at = len(words) - len(program.split())
    bound_by = next(word.partition("=")[0] for word in words if "-bind" in word) if binds else ""
    assert recognise(words, {}) == ("mpich", LaunchCommand(ranks, tuple(words[1:at]), at, binds, bound_by))


def test_a_variable_binds_unless_an_option_says_otherwise(mpiexec: str) -> None:
    for words, binds in ((["mpiexec", "app"], True), (["mpiexec", "-bind-to", "none", "app"], False)):
        found = recognise(words, {"HYDRA_BINDING": "core"})
        assert found is not None
        assert found[1].binds is binds


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("mpiexec -n 2 -oversubscribe app", "-oversubscribe is an unknown option"),
        ("mpiexec -n 2 -l=3 app", "-l=3 is an unknown option"),
        ("mpiexec -n 2 -- app", "-- is an unknown option"),
        ("mpiexec -n 2", "no program given"),
        ("mpiexec", "no program given"),
        ("mpiexec -n", "-n has no value"),
        ("mpiexec -genv A", "-genv has no value"),
        ("mpiexec -genv", "-genv has no value"),
        ("mpiexec -n two app", "cannot read -n two: it is not an integer from 1"),
        ("mpiexec -n 0 app", "cannot read -n 0"),
        ("mpiexec -n 1 a : -n 2 b", "several programs, separated by ':', are not supported"),
        ("mpiexec -configfile jobs", "-configfile: the programs are in a file"),
        ("mpiexec -info", "-info: it prints information and starts no program"),
    ],
)
def test_what_hydra_would_not_run_as_one_program_is_refused_with_the_reason(line: str, why: str, mpiexec: str) -> None:
    with pytest.raises(Refusal) as refused:
        recognise(line.split(), {})
    assert f"cannot interpret the command line of MPICH (Hydra mpiexec) ({why}" in str(refused.value)
    assert refused.value.code == Exit.WRONG_WORD


def test_a_command_without_a_launcher_is_not_refused(mpiexec: str) -> None:
    for words in ([], ["./app", "-n", "2"], ["./mpiexec-like", "x"], ["env", "A=b"], ["env", "-S", "x"],
                  ["numactl", "-i", "all", "mpiexec", "app"]):  # fmt: skip
        assert recognise(words, {}) is None


@pytest.mark.parametrize("mpiexec", ["unknown"], indirect=True)
def test_an_mpiexec_of_an_unknown_library_is_refused(mpiexec: str) -> None:
    with pytest.raises(Refusal, match=r"unknown --version: 'mpiexec 1.0'"):
        recognise(["mpiexec", "-n", "2", "app"], {})


@pytest.mark.parametrize(
    ("mpiexec", "line", "name"),
    [
        ("openmpi", "mpiexec --map-by core app", "openmpi"),
        ("openmpi41", "mpiexec -map-by core app", "openmpi41"),
        ("orterun", "mpiexec -map-by core app", "openmpi41"),
        ("intelmpi", "mpiexec -perhost 2 app", "intelmpi"),
        ("pals", "mpiexec --ppn 2 app", "cray"),
    ],
    indirect=["mpiexec"],
)
def test_the_version_of_an_mpiexec_decides_whose_options_it_has(mpiexec: str, line: str, name: str) -> None:
    found = recognise(line.split(), {})
    assert found is not None
    assert (found[0], found[1].program) == (name, 3)


def test_an_mpiexec_that_is_not_there_is_refused() -> None:
    with pytest.raises(Refusal, match="cannot find the launcher /none/mpiexec"):
        recognise(["/none/mpiexec", "-n", "2", "app"], {})


VALUES = {
    "env": "A=b", "genv": "A=b", "envlist": "HOME", "genvlist": "HOME", "wdir": "/", "ppn": "4", "usize": "8",
    "bind-to": "core", "binding": "none", "map-by": "core", "membind": "none", "launcher": "fork", "bootstrap": "fork",
    "rmk": "user", "topolib": "hwloc", "demux": "poll", "order-nodes": "UP", "output-from": "0",
    "outfile": "/dev/stdout", "outfile-pattern": "/dev/stdout", "errfile": "/dev/stderr",
    "errfile-pattern": "/dev/stderr", "prepend-pattern": "rank", "rankmap": "0", "memory-alloc-kinds": "mpi",
    "hosts": "localhost", "host": "localhost", "hostlist": "localhost", "machine": "localhost",
    "machines": "localhost", "machinelist": "localhost", "localhost": "localhost",
}  # fmt: skip
SHOW = ["-c", 'sleep 0.05; echo "<$#:$*>"', "program"]  # Hydra 5.0 ends by SIGPIPE if a program ends first


@pytest.mark.mpi
def test_the_program_begins_where_hydra_itself_begins_it() -> None:
    """Each option that needs neither another host nor a device, in one of its spellings."""
    chance = random.Random(28)
    elsewhere = ("hybrid-hosts", "profile", "skip-launch-node", "debug", "v", "verbose")  # the last three print a lot
    flags = [name for name, option in mpich.OPTIONS.items()
             if not option.values and option.effect != "refused" and name not in elsewhere]  # fmt: skip
    for option in [*flags, *VALUES]:
        value = VALUES.get(option)
        spelt = chance.choice(["-", "--"]) + chance.choice([option, option.upper()])
        if spelt.lstrip("-") != option and option.endswith(("x", "cleanup", "propagation")):
            spelt = f"-{option}"  # Hydra compares these with their case
        words = [spelt] if value is None else chance.choice([[spelt, value], [f"{spelt}={value}"]])
        own = ["-n", "1"] if chance.random() < 0.5 else []
        program = ["/bin/sh", *SHOW, "-n", chance.choice(["3", "--bind-to=core"])]
        command = [str(HYDRA), *own, *words, *program]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert f"<2:-n {program[-1]}>" in done.stdout, (command, done.stderr)
        found = recognise(command, {})
        assert found is not None
        assert (found[0], list(command[found[1].program :])) == ("mpich", program)
        assert found[1].ranks == (1 if own else None)


@pytest.mark.mpi
@pytest.mark.parametrize("option", ["-wd", "-perhost", "-timeout", "--", "-oversubscribe", "-x"])
def test_what_is_refused_hydra_refuses_too(option: str) -> None:
    command = [str(HYDRA), option, "/bin/true"]
    assert subprocess.run(command, capture_output=True, timeout=60, check=False).returncode != 0
    with pytest.raises(Refusal, match="is an unknown option"):
        recognise(command, {})


@pytest.mark.mpi
def test_each_option_that_hydra_lists_is_known() -> None:
    shown = subprocess.run([str(HYDRA), "-help"], capture_output=True, text=True, timeout=60, check=False).stdout
    listed = {name for line in shown.splitlines() if line.startswith("    -")
              for name in re.findall(r"(?<=-)[a-z][a-z-]*", line[:37].split("{")[0].replace("/", " "))}  # fmt: skip
    assert {"n", "np", "enable-x", "disable-x", "genv", "bind-to", "memory-alloc-kinds"} <= listed
    assert listed <= mpich.OPTIONS.keys()
