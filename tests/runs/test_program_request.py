"""What `octant run … -- COMMAND` asks: knobs, ranks, placement, its job and its title, and what is refused."""

import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_run import machine
from octant import launchers
from octant.failure import Exit, Refusal
from octant.program import shell_text
from octant.request import Launch, Request
from octant.runs import plan
from octant.runs.command_line import LOCAL_TARGET, LaunchTarget
from octant.runs.programs import file_checks, launcher_line, program_request
from octant.runs.programs.options import ProgramOptions

APP = ("./app", "{n}")


def asked(
    *knobs: str,
    words: tuple[str, ...] = APP,
    ranks: int | None = None,
    where: LaunchTarget = LOCAL_TARGET,
    **options: Any,
) -> Request:
    return program_request.request_program(words, knobs, ranks, None, where, options=ProgramOptions(**options))[0]


def refused(why: str, code: Exit, *knobs: str, **given: Any) -> str:
    with pytest.raises(Refusal, match=why) as error:
        asked(*knobs, **given)
    assert error.value.code == code
    assert "; " in str(error.value), "it says what to do"
    return str(error.value)


@pytest.fixture(autouse=True)
def four_cores(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Provide a machine and a directory with a program."""
    monkeypatch.setattr(program_request, "discover", lambda: machine(cores=4))
    monkeypatch.chdir(tmp_path_factory.mktemp("work"))
    Path("app").write_text("#!/bin/sh\n")
    Path("app").chmod(0o755)
    Path("data").write_text("no program")


@pytest.fixture
def hydra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Provide an mpiexec on PATH that identifies itself as Hydra."""
    program = tmp_path / "mpiexec"
    program.write_text("#!/bin/sh\necho 'HYDRA build details:'; echo '    Version: 4.0'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")


@pytest.mark.usefixtures("hydra")
def test_each_cell_has_the_ranks_that_its_knob_states(kernels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OCTANT_KERNELS", str(kernels))
    request = asked("n=2,1", words=("mpiexec", "-n", "{n}", "./app"))
    plan.check_startable(request, machine(cores=4))
    starts = [plan.resolve(start, Path(), lambda place: pytest.fail(place), {}) for start in Launch(request).starts()]
    assert [(start.ranks, start.words[2]) for start in starts] == [(2, "2"), (1, "1")]
    job = program_request.job(request.subject.command, ["n=1,2"], None, ProgramOptions(), LOCAL_TARGET, None, 5, ())
    assert job.ranks_per_node * job.nodes == 2
    refused("cannot read -n x", Exit.WRONG_WORD, "n=1,x", words=("mpiexec", "-n", "{n}", "./app"))
    refused("cannot replace {ranks}", Exit.WRONG_WORD, "n=1,2", words=("mpiexec", "-n", "{n}", "./app", "{ranks}"))


def test_an_input_file_that_is_missing_in_some_cell_is_refused_before_there_is_a_run() -> None:
    file_checks.check_files_exist(asked("n=ta", input="da{n}", words=("./app",)))
    file_checks.check_files_exist(asked(input="made", words=("./app",), before=("true",)))  # which may make it
    with pytest.raises(Refusal, match=r"cannot read the input file daxx \(no such file\); correct --input"):
        file_checks.check_files_exist(asked("n=ta,xx", input="da{n}", words=("./app",)))
    with pytest.raises(Refusal, match="it is not a regular file"):
        file_checks.check_files_exist(asked(input=".", words=("./app",)))


@pytest.mark.parametrize("option", ["before", "after"])
def test_a_command_around_the_launch_that_is_not_there_is_refused_before_there_is_a_run(option: str) -> None:
    for word, why in (("no-command", "it is not on PATH"), ("./none", "no such file")):
        options: dict[str, Any] = {option: (f"{word} x",)}
        with pytest.raises(Refusal, match=f"cannot start '{word}' .{why}"):
            file_checks.check_files_exist(asked(words=("./app",), **options))
    file_checks.check_files_exist(asked(words=("./app",), before=("true",), after=("./made",)))


@pytest.mark.parametrize(
    ("words", "env"),
    [
        (("./app",), ("OMP_NUM_THREADS=7",)),
        (("env", "OMP_NUM_THREADS=7", "./app", "{threads}"), ()),
        (("./mpi", "-genv", "OMP_NUM_THREADS", "7", "./app"), ()),
    ],
)
def test_the_knob_threads_is_not_overruled_by_a_variable(words: tuple[str, ...], env: tuple[str, ...]) -> None:
    refused(
        "the knob threads sets OMP_NUM_THREADS, and .*7 also sets it",
        Exit.WRONG_WORD,
        "threads=1,2",
        words=words,
        env=env,
    )
    assert asked("threads=1,2", words=("./app",), env=("OMP_NUM_THREADS={threads}",)).knobs == {"threads": "1,2"}
    assert asked(words=words, env=env).knobs == {}


def test_values_are_passed_as_they_are_written() -> None:
    assert asked("n=1,01,1k,1024,1e3,1000,prefer:0,preferred:0").knobs["n"].count(",") == 7
    request = asked("n=4k,64K,007,prefer:0", "m=1 2", words=("./app", "{n}", "{m}", "{x}", "{ranks}"))
    assert request.knobs == {"n": "4k,64K,007,prefer:0", "m": "1 2"}
    assert request.subject.command == ("./app", "{n}", "{m}", "{x}", "{ranks}"), "braces without a knob stay"


@pytest.mark.parametrize(
    ("knobs", "why"),
    [
        (["n"], "not of the form knob=value"),
        (["n="], "not of the form knob=value"),
        (["1n=1"], "not of the form knob=value"),
        (["n=1", "n=2"], "cannot set n twice.*n=a,b"),
        (["n=1,,2"], "an empty value"),
        (["n=1,"], "an empty value"),
        (["n=1k,1024,1k"], "contains a value twice"),
        (["n=1", "nn=1"], "contains {nn}.*write {nn} where its value belongs"),
        (["m=1"], "contains {m}.*did you mean {n}"),
        (["precision=1"], "another meaning"),
        (["n=1", "threads=x"], "is not a number of threads"),
        ([f"n={','.join(map(str, range(20_000)))}"], "20000 combinations"),
    ],
)
def test_a_mistake_in_a_knob_is_named(knobs: list[str], why: str) -> None:
    with pytest.raises(Refusal, match=why):
        asked(*knobs)


def test_a_knob_may_be_named_in_any_part(tmp_path: Path) -> None:
    parts: dict[str, Any] = {
        "env": ("A={a}",), "input": "{b}.in", "before": ("cp {c} x",), "after": ("rm {d}",), "keep": ("{e}.out",),
        "check": ("command ./verify {f}", "file {g}", "file x = {h}"), "value": ("v[1,lower,{i}.txt]=(.)",),
    }  # fmt: skip
    names = "abcdefghi"
    request = asked(*(f"{name}=1" for name in names), words=("./app",), **parts)
    assert set(request.knobs) == set(names)


def test_the_parts_of_a_subject_come_from_the_options() -> None:
    request = asked("n=1", env=("A=b",), input="in", fresh_dir=True, keep=("*.x",), before=("a b",), after=("c",),
                value=("r=(.)",), check=("exit=1", "r within 1"))  # fmt: skip
    subject = request.subject
    assert (subject.environment, subject.input, subject.fresh, subject.keep) == ({"A": "b"}, "in", True, ("*.x",))
    assert (subject.before, subject.after, subject.statuses) == ((("a", "b"),), (("c",),), (1,))
    assert ([value.name for value in subject.values], len(subject.checks)) == (["r"], 1)
    assert subject.directory == str(Path.cwd())
    assert (subject.program, request.show.title) == ("app", "app")


@pytest.mark.usefixtures("hydra")
@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"ranks": 3}, "cannot use --ranks 3 .the command line of mpiexec starts 2"),
        (
            {"where": LaunchTarget(launcher="srun")},
            "cannot use --launcher srun .the command line already starts its ranks with mpiexec",
        ),
        (
            {"where": LaunchTarget(hosts="a,b")},
            "cannot use --hosts a,b .the command line already starts its ranks with mpiexec",
        ),
        (
            {"where": LaunchTarget(place="1x1,unit=hwthread"), "words": ("mpiexec", "./app")},
            "does not state how many ranks",
        ),
    ],
)
def test_an_option_that_contradicts_a_launcher_is_refused(given: dict[str, object], why: str) -> None:
    refused(why, Exit.WRONG_WORD, **{"words": ("mpiexec", "-n", "2", "./app"), **given})


@pytest.mark.usefixtures("hydra")
def test_a_placement_has_to_agree_with_the_ranks_of_the_launcher() -> None:
    one = LaunchTarget(place="2x1")
    words = ("mpiexec", "-n", "{r}", "./app")
    assert asked("r=2,4", words=words, where=one).shape.ranks == 2
    refused(
        "cannot place the 3 ranks of mpiexec .--place 2x1 is for 2.*try --place 3x1",
        Exit.WRONG_WORD,
        "r=2,3",
        words=words,
        where=one,
    )
    assert asked("r=2", words=words, ranks=2).shape.ranks == 2


def test_a_placement_sets_the_threads_of_openmp_unless_the_user_does() -> None:
    where = LaunchTarget(place="1x2")
    words = ("./app",)
    assert asked(words=words, where=where).knobs == {"threads": "2"}
    assert asked(words=words, where=where, env=("OMP_NUM_THREADS=4",)).knobs == {}
    assert asked("threads=1", words=words, where=where).knobs == {"threads": "1"}


def test_a_knob_of_ranks_needs_a_launcher_that_takes_it() -> None:
    refused("Octant starts the ranks.*--ranks N", Exit.WRONG_WORD, "ranks=1,2", words=("./app", "{ranks}"))


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("./none", "no such file"),
        ("./data", "the file is not executable"),
        ("app", "it is not on PATH.*did you mean ./app"),
        ("no-such-program", "it is not on PATH.*give its path"),
    ],
)
def test_a_program_that_is_not_there_is_refused_before_there_is_a_run(
    word: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    with pytest.raises(Refusal, match=rf"cannot start '{word}' .{why}") as error:
        file_checks.check_files_exist(asked(words=(word,)))
    assert error.value.code == Exit.CANNOT_RUN
    file_checks.check_files_exist(asked(words=(word,), before=("true x",)))  # which may make it
    file_checks.check_files_exist(asked(words=("./app",)))
    file_checks.check_files_exist(asked("n=p", words=("./ap{n}",)))
    with pytest.raises(Refusal, match=r"cannot start './apx' \(no such file\)"):
        file_checks.check_files_exist(asked("n=p,x", words=("./ap{n}",)))
    file_checks.check_files_exist(asked(words=("app",), env=(f"PATH={Path.cwd()}",)))


def test_a_batch_system_starts_no_ranks() -> None:
    refused(
        "it is a batch system.*--script FILE", Exit.WRONG_WORD, words=("./app",), where=LaunchTarget(launcher="sbatch")
    )


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("./bin/solve-2.1", "x"), "solve-2.1"),
        (("python3", "-u", "tools/run.py"), "run.py"),
        (("python3", "-c", "print()"), "python3"),
        (("sh", "-c", "a b"), "sh"),
        (("bash", "job.sh"), "job.sh"),
    ],
)
def test_a_program_has_the_name_of_its_file_or_script(words: tuple[str, ...], name: str) -> None:
    assert launcher_line.program_name(words) == name


WORDS = st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), min_size=1, max_size=5)
PRINTED = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]))


@given(st.lists(PRINTED, min_size=1, max_size=5))
def test_a_command_is_shown_as_a_shell_reads_it(words: list[str]) -> None:
    assert shlex.split(shell_text(words)) == words


def test_braces_of_a_knob_need_no_quotes_and_no_line_is_broken() -> None:
    assert shell_text(["./app", "--n={n}", "{a,b}", "a b"]) == "./app --n={n} '{a,b}' 'a b'"
    words = ["a\nb'c", "\\n\t", "\x1b[1mé\x85", "$x `y`\n"]
    assert "\n" not in shell_text(words)
    done = subprocess.run(
        ["bash", "-c", f"printf '%s\\0' {shell_text(words)}"],
        capture_output=True,
        check=True,
        env={"LC_ALL": "C.UTF-8"},
    )
    assert done.stdout.decode().split("\0")[:-1] == words


def test_the_title_is_what_is_typed() -> None:
    assert program_request.title(("./app", "a b"), (), ()) == "./app 'a b'"
    assert program_request.title(("./app", "{n}"), ("n=1,2",), ("--env", "A=b c")) == "n=1,2 --env 'A=b c' -- ./app {n}"


@given(
    WORDS.filter(lambda words: words[0] not in ("", "mpiexec")),
    st.text(st.characters(exclude_characters="\0\n")).map("given {}".format),
)
def test_a_job_runs_the_very_command_with_all_its_options(words: list[str], text: str) -> None:
    options = ProgramOptions(
        value=("r[s]=time (.*)",), check=("exit=1",), env=(f"A={text}",), input=text, fresh_dir=True, keep=("*.x",),
        before=(f"cp {shlex.quote(text)} x",), after=("-x",),
    )  # fmt: skip
    further = ["--repeats=2", "--timeout=5"]
    job = program_request.job(words, ["threads=2"], 4, options, LaunchTarget(place="2x2"), None, 30, ("-q a",), further)
    assert (job.ranks_per_node, job.nodes, job.cpus_per_rank, job.directives) == (2, 2, 2, ("-q a",))
    for system in launchers.names("job"):
        script = launchers.batch_system(system).script(job)
        line = shlex.split(script[script.index("\nexec ") + 6 :])
        at = line.index("--")
        assert line[at + 1 :] == words
        own = line[:at]
        assert own[1:4] == ["-m", "octant.cli", "run"]
        assert ["threads=2", *options.words, *further] == [
            word for word in own if word in {"threads=2", *options.words, *further}
        ]
        assert own[-2] == "--launcher"
        assert not {"--submit", "--script"} & set(own)


@pytest.mark.usefixtures("hydra")
def test_a_job_of_a_command_with_a_launcher_starts_it_as_it_is() -> None:
    words = ("mpiexec", "-n", "8", "./app")
    job = program_request.job(words, [], None, ProgramOptions(), LaunchTarget(), None, 30, ())
    assert (job.ranks_per_node, job.nodes, job.name) == (8, 1, "octant-app")
    line = shlex.split(launchers.batch_system("sbatch").script(job).splitlines()[-1])
    assert "--launcher" not in line
    assert "--ranks" not in line
    assert line[-5:] == ["--", *words]


def test_a_job_of_a_script_that_hides_a_launcher_leaves_the_ranks_to_it() -> None:
    Path("job.sh").write_text("#!/bin/sh\nsrun ./app\n")
    job = program_request.job(
        ("bash", "./job.sh"), [], None, ProgramOptions(), LaunchTarget(launcher="sbatch"), None, 30, ()
    )
    assert "--launcher" not in launchers.batch_system("sbatch").script(job)
    with pytest.raises(Refusal, match=r"cannot use --place .line 2 of job.sh seems to start srun"):
        program_request.job(("bash", "./job.sh"), [], None, ProgramOptions(), LaunchTarget(place="2x1"), None, 30, ())


def test_a_mistake_is_no_matter_for_a_queue() -> None:
    for options, where, why in (
        (ProgramOptions(check=("x",)), LaunchTarget(), "the forms are"),
        (ProgramOptions(), LaunchTarget(hosts="a"), "cannot use --hosts in a job"),
        (ProgramOptions(), LaunchTarget(place="x"), "x"),
    ):
        with pytest.raises(Refusal, match=why):
            program_request.job(("./app",), [], None, options, where, None, 30, ())
    with pytest.raises(Refusal, match="with a line break"):
        program_request.job(("./app",), [], None, ProgramOptions(), LaunchTarget(), None, 30, ("a\nb",))


@pytest.fixture
def open_mpi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Provide an mpirun on PATH that identifies itself as Open MPI 5, which binds by default."""
    program = tmp_path / "mpirun"
    program.write_text("#!/bin/sh\necho 'mpirun (Open MPI) 5.0.8'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")


@pytest.mark.usefixtures("hydra", "open_mpi")
@pytest.mark.parametrize(
    ("words", "reason", "off"),
    [
        (("mpiexec", "-n", "2", "-bind-to", "core", "./app"), "because of -bind-to", "-bind-to none"),
        (("env", "A=1", "mpiexec", "-bind-to", "core", "-n", "2", "./app"), "because of -bind-to", "-bind-to none"),
        (("mpirun", "-n", "2", "./app"), "by default", "--bind-to none"),
        (("mpirun", "-n", "2", "--bind-to", "core", "./app"), "because of --bind-to", "--bind-to none"),
    ],
)
def test_a_launcher_that_binds_is_reported_and_places_nothing_else(
    words: tuple[str, ...], reason: str, off: str
) -> None:
    (remark,) = program_request.remarks(asked(words=words))
    assert f"binds its ranks {reason}; --place needs {off}" in remark
    refused(f"binds its ranks {reason}.*try .*{off}", Exit.WRONG_WORD, words=words, where=LaunchTarget(place="2x1"))


@pytest.mark.usefixtures("hydra", "open_mpi")
@pytest.mark.parametrize(
    "words", [("mpiexec", "-n", "2", "./app"), ("mpirun", "--bind-to", "none", "-n", "2", "./app"), ("./app",)]
)
def test_unbound_ranks_give_no_remark(words: tuple[str, ...]) -> None:
    request = asked(words=words, where=LaunchTarget(place="2x1"))
    assert program_request.remarks(request) == ()
    assert request.shape.ranks == 2


@pytest.mark.usefixtures("hydra")
@pytest.mark.parametrize(
    ("words", "where"),
    [
        (("./job.sh", "x"), "line 3 of job.sh seems to start mpiexec"),
        (("env", "A=1", "./job.sh"), "line 3 of job.sh seems to start mpiexec"),
        (("bash", "job.sh"), "line 3 of job.sh seems to start mpiexec"),
        (("sh", "-c", "mpiexec -n 2 ./app > out"), "the command after -c seems to start mpiexec"),
        (("mpiexec", "-n", "2", "./job.sh"), "line 3 of job.sh seems to start mpiexec"),
    ],
)
def test_a_script_that_hides_a_launcher_runs_unchanged_and_is_not_placed(words: tuple[str, ...], where: str) -> None:
    Path("job.sh").write_text("#!/bin/sh\n# mpirun\nmpiexec -n 2 ./app\n")
    Path("job.sh").chmod(0o755)
    request = asked(words=words)
    assert request.subject.command == words
    assert (
        f"octant: {where}: results are those of the whole script" in f"octant: {program_request.remarks(request)[-1]}"
    )
    refused(f"cannot use --place .{where}.*omit --place", Exit.WRONG_WORD, words=words, where=LaunchTarget(place="2x1"))
    if words[0] != "mpiexec":
        refused(f"cannot use --ranks .{where}.*omit --ranks", Exit.WRONG_WORD, words=words, ranks=2)
        assert asked(words=words, ranks=1).shape.ranks == 1


def test_a_program_behind_env_or_an_interpreter_has_its_own_name() -> None:
    assert asked(words=("env", "-u", "B", "A=1", "nice", "-n", "5", "./app")).subject.program == "app"
    assert asked(words=("timeout", "5", "python3", "-m", "x", "tools/a.py")).subject.name == "program/x"
    assert asked(words=("env",)).subject.program == "env"
