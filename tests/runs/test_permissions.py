"""Files of requests are data: nothing that one names is started, or even asked its version, without permission."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from octant.cli import application
from octant.failure import Exit, Refusal
from octant.program import ProgramCheck
from octant.request import Request, Subject
from octant.runs.programs.permissions import check_allowed, command_lines, permissions, quoted

PLANTED = "#!/bin/sh\ntouch {mark}\necho 'HYDRA build details:'\n"


def words(request: Request, *allowed: str) -> list[str]:
    """Return the words that need permission."""
    return [one.word for one in permissions([request], allowed)]


def request(*command: str, **others: object) -> Request:
    """Return a request of a program."""
    subject = Subject(command=command, directory=os.getcwd(), **others)  # type: ignore[arg-type]  # noqa: PTH109
    return Request(subject, {"n": "1,2"})


def test_every_program_that_a_launch_starts_needs_permission() -> None:
    checks = (ProgramCheck("command", command=("./verify", "x")), ProgramCheck("file", file="out"))
    one = request("./app", "{n}", before=(("cp", "a", "b"),), after=(("rm", "b"),), checks=checks)
    assert words(one) == ["./app", "cp", "rm", "./verify"]


def test_a_program_that_a_knob_names_needs_permission_for_each() -> None:
    assert words(request("./app-{n}")) == ["./app-1", "./app-2"]


def test_variables_that_only_choose_threads_need_no_permission() -> None:
    one = request(
        "./app", environment={"OMP_NUM_THREADS": "{n}", "LD_PRELOAD": "./x.so", "OMP_TOOL_LIBRARIES": "./y.so"}
    )
    assert words(one) == ["./app", "LD_PRELOAD=./x.so", "OMP_TOOL_LIBRARIES=./y.so"]


def test_what_a_word_resolves_to_follows_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sleep").write_text("#!/bin/sh\n")
    (tmp_path / "sleep").chmod(0o755)
    (app, _) = permissions([request("sleep", environment={"PATH": str(tmp_path)})])
    assert app.what == str(tmp_path / "sleep")
    assert permissions([request("./app")])[0].what == str(tmp_path / "app")
    assert permissions([request("no-such-program")])[0].what == "not on PATH"


@pytest.mark.mpi
@pytest.mark.usefixtures("mpiexec_on_path")
def test_a_launcher_needs_permission_only_for_more_than_ranks() -> None:
    assert words(request("mpiexec", "-n", "2", "./app")) == ["./app"]
    assert words(request("mpiexec", "-np", "{n}", "./app")) == ["./app"]
    assert words(request("mpiexec", "-n", "2", "-genv", "LD_PRELOAD", "x.so", "./app")) == [
        "mpiexec -n 2 -genv LD_PRELOAD x.so",
        "./app",
    ]
    found = words(request("mpiexec", "-launcher-exec", "./rsh", "-n", "{n}", "./app"))
    assert found == ["mpiexec -launcher-exec ./rsh -n 1", "./app", "mpiexec -launcher-exec ./rsh -n 2"]


@pytest.mark.mpi
@pytest.mark.usefixtures("mpiexec_on_path")
@pytest.mark.parametrize(
    ("behind", "needed"),
    [
        (("env", "LD_PRELOAD=/x.so", "./evil", "{n}"), ["env", "LD_PRELOAD=/x.so", "./evil"]),
        (("timeout", "5", "./evil"), ["timeout", "./evil"]),
        (("env", "./timeout", "5", "./app"), ["env", "./timeout", "./app"]),
        (("env", "-S", "./evil"), ["env -S ./evil"]),
        (("python3", "./evil.py", "{n}"), ["python3", "./evil.py"]),
        (("nice", "sh", "-c", "./evil"), ["nice", "sh -c ./evil"]),
        (("numactl", "-N", "0", "./evil"), ["numactl -N 0 ./evil"]),
    ],
)
def test_a_command_behind_a_launcher_needs_what_it_needs_alone(behind: tuple[str, ...], needed: list[str]) -> None:
    assert words(request(*behind)) == needed
    assert words(request("mpiexec", "-n", "1", *behind)) == needed


def test_an_interpreter_needs_permission_for_what_it_executes() -> None:
    assert words(request("python3", "fft.py", "{n}")) == ["python3", "fft.py"]
    assert words(request("python3", "-m", "mine", "{n}")) == ["python3 -m mine 1", "python3 -m mine 2"]
    assert words(request("bash", input="in.sh")) == ["bash", "in.sh"]
    assert words(request("true", before=(("sh", "-c", "./evil {n}"),))) == [
        "true",
        "sh -c './evil 1'",
        "sh -c './evil 2'",
    ]


def test_another_word_in_front_of_a_launcher_needs_permission() -> None:
    assert words(request("env", "OMP_NUM_THREADS=1", "A=1", "./app")) == ["env", "A=1", "./app"]
    assert words(request("nice", "-n", "5", "./app", "x")) == ["nice", "./app"]
    assert words(request("sh", "-c", "./app")) == ["sh -c ./app"]


@pytest.mark.mpi
@pytest.mark.usefixtures("mpiexec_on_path")
def test_a_launcher_behind_another_command_is_recognised_once_that_is_allowed() -> None:
    one = request("env", "A=1", "mpiexec", "-n", "{n}", "./app")
    assert words(one) == ["env", "A=1", "mpiexec"]
    assert words(one, "env") == ["env", "A=1", "mpiexec", "./app"]


def test_the_refusal_lists_all_words_and_the_line_that_allows_them() -> None:
    requests = [request("./my app", "{n}", "x;y", environment={"A": "{n}"}, input="in.txt", before=(("cp", "a", "b"),))]
    assert command_lines(requests) == ["A={n} './my app' {n} 'x;y' < in.txt  with n=1,2", "cp a b"]
    with pytest.raises(Refusal) as refused:
        check_allowed(requests, ["cp"], "mine", "octant study run mine.toml")
    assert refused.value.code == Exit.NOT_SUPPORTED
    assert str(refused.value).splitlines()[-1] == (
        "If you trust them, run octant study run mine.toml --allow './my app' --allow cp --allow A={n}"
    )
    check_allowed(requests, ["cp", "./my app", "A={n}"], "mine", "octant study run mine.toml")


@pytest.mark.parametrize("word", ["a\x1b[8mb", "a\nb", "a\u202eb", "a'\\\x07", "é\x00"[:1] + "\x7f", "plain", "{n}"])
def test_a_listed_word_steers_no_terminal_and_is_that_word_in_a_shell(word: str) -> None:
    shown = quoted(word)
    assert shown.isprintable()
    printed = subprocess.run(["bash", "-c", f"printf %s {shown}"], capture_output=True, check=True, text=True).stdout
    assert printed == word


STUDY = """
question = "?"
repeats = 1
baseline = {{ f = "a" }}
[measures.m]
{program}
[factors.f]
a = {{}}
b = {{ ranks = "1" }}
"""
SUITE = 'title = "t"\nrepeats = 1\n[[requests]]\ntitle = "a"\n{program}\n'
EVIL = [
    'command = ["./evil"]',
    'command = ["./mpiexec", "-n", "1", "./evil"]',
    'command = ["bin/mpiexec", "-n", "1", "./evil"]',
    'command = ["env", "bin/mpiexec", "-n", "1", "./evil"]',
    'command = ["env", "PATH=bin", "mpiexec", "-n", "1", "./evil"]',
    'command = ["env", "./mpiexec", "-n", "1", "./evil"]',
    'command = ["mpiexec", "-n", "1", "./evil"]',
    'command = ["mpiexec", "-n", "1", "env", "A=1", "./evil", "x"]',
    'command = ["mpiexec", "-n", "1", "timeout", "5", "./evil"]',
    'command = ["mpiexec", "-n", "1", "sh", "-c", "./evil"]',
    'command = ["env", "-S", "./evil"]',
    'command = ["sh", "-c", "./evil"]',
    'command = ["sh", "evil"]',
    'command = ["sh"]\ninput = "evil"',
    'command = ["mpiexec", "-n", "1", "./evil"]\nenvironment = { PATH = "." }',
    'command = ["sleep", "0"]\nenvironment = { PATH = "." }',
    'command = ["true"]\nbefore = [["./evil"]]',
    'command = ["true"]\nafter = [["./evil"]]',
    'command = ["true"]\nchecks = ["command ./evil"]',
]


HARMLESS_TO_ALLOW = [word for name in ("true", "sleep", "env", "timeout", "sh") for word in ("--allow", name)]


@pytest.mark.parametrize(
    ("behind_path", "allowed"),
    [
        ("", ()),
        ("", (*HARMLESS_TO_ALLOW, "--allow", "mpiexec")),
        (":", HARMLESS_TO_ALLOW),  # the working directory is on PATH: mpiexec is the file's, until the user allows it
        (":.", HARMLESS_TO_ALLOW),
    ],
)
@pytest.mark.parametrize("program", EVIL)
def test_nothing_is_started_that_is_not_allowed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kernels: Path,
    program: str,
    allowed: tuple[str, ...],
    behind_path: str,
) -> None:
    mark = tmp_path / "started"
    monkeypatch.setenv("PATH", f"/usr/bin:/bin{behind_path}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OCTANT_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("OCTANT_KERNELS", str(kernels))
    (tmp_path / "bin").mkdir()
    for name in ("evil", "mpiexec", "bin/mpiexec", "sleep"):
        (tmp_path / name).write_text(PLANTED.format(mark=shlex.quote(str(mark))))
        (tmp_path / name).chmod(0o755)
    Path("mine.toml").write_text(STUDY.format(program=program))
    Path("suite.toml").write_text(SUITE.format(program=program))
    for line in (
        ["study", "show", "mine.toml"],
        ["study", "show", "mine.toml", "--json"],
        ["study", "run", "mine.toml", *allowed],
        ["evaluate", "--suite", "suite.toml", *allowed],
    ):
        result = CliRunner().invoke(application(), line)
        if line[1] == "show":
            assert result.exit_code == 0, result.output
        else:
            assert isinstance(result.exception, Refusal), (line, result.output)
            assert result.exception.code == Exit.NOT_SUPPORTED
        assert not mark.exists(), line
    assert not (tmp_path / "store/runs").exists()
