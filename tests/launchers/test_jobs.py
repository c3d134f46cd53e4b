"""Job scripts: what each batch system is asked for, and that the job runs the command that was asked for."""

import shlex
import stat
from pathlib import Path

import pytest

from octant import launchers
from octant.failure import Refusal
from octant.launch import submit
from octant.launchers import Job
from paths import Octant

JOB = Job(("octant", "run", "stream", "bytes=1 MiB"), Path("/home/grüße an"), 4, 2, 3, 90, directives=("-q debug",))
HEADS = {
    "sbatch": "--job-name=octant|--nodes=3|--ntasks-per-node=4|--cpus-per-task=2|--time=90|--exclusive",
    "pbs": "-N octant|-l select=3:ncpus=8:mpiprocs=4:ompthreads=2|-l place=scatter:excl|-l walltime=01:30:00|-j oe",
    "lsf": '-J octant|-n 12|-R "span[ptile=4] affinity[thread(2)]"|-W 90|-x|-o octant.%J.out',
    "flux": "--job-name=octant|--nodes=3|--nslots=12|--cores-per-slot=2|--time-limit=90m|--exclusive",
}
MARKS = {"sbatch": "#SBATCH", "pbs": "#PBS", "lsf": "#BSUB", "flux": "#flux:"}
LAUNCHERS = {"sbatch": "srun", "pbs": "mpiexec", "lsf": "mpiexec", "flux": "flux"}


@pytest.mark.parametrize("system", launchers.names("job"))
def test_each_system_is_asked_in_its_own_words(system: str) -> None:
    lines = launchers.batch_system(system).script(JOB).splitlines()
    assert lines[0] == "#!/bin/sh"
    assert lines[1:-3] == [f"{MARKS[system]} {option}" for option in (*HEADS[system].split("|"), "-q debug")]


@pytest.mark.parametrize("system", launchers.names("job"))
def test_the_job_runs_the_very_command(system: str) -> None:
    *_, guard, folder, line = launchers.batch_system(system).script(JOB).splitlines()
    assert guard == "set -eu"
    assert shlex.split(folder) == ["cd", "/home/grüße an"]
    assert shlex.split(line) == ["exec", *JOB.words, "--launcher", LAUNCHERS[system]]


def test_the_launcher_of_each_system_exists() -> None:
    assert {launchers.batch_system(name).LAUNCHER for name in launchers.names("job")} <= set(launchers.names("start"))


@pytest.mark.parametrize(
    ("system", "words", "from_input"),
    [
        ("sbatch", ("sbatch", "--parsable", "job.sh"), False),
        ("pbs", ("qsub", "job.sh"), False),
        ("lsf", ("bsub",), True),
        ("flux", ("flux", "batch", "job.sh"), False),
    ],
)
def test_each_system_is_handed_the_script_its_own_way(system: str, words: tuple[str, ...], from_input: bool) -> None:
    found = launchers.batch_system(system).submission(Path("job.sh"))
    assert (found.words, found.from_input) == (words, from_input)


def test_a_script_is_handed_over_and_the_answer_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bsub = tmp_path / "bsub"
    bsub.write_text('#!/bin/sh\nread first\necho "Job <17> of $first"\n')
    bsub.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    script = tmp_path / "job.sh"
    submit.write("lsf", JOB, script)
    assert script.stat().st_mode & stat.S_IXUSR
    assert submit.submit("lsf", script) == "Job <17> of #!/bin/sh"


@pytest.mark.parametrize(
    ("system", "line"),
    [("sbatch", "sbatch --parsable 'my job.sh'"), ("pbs", "qsub 'my job.sh'"), ("lsf", "bsub < 'my job.sh'")],
)
def test_the_command_that_submits_a_script_is_printed(octant: Octant, tmp_path: Path, system: str, line: str) -> None:
    done = octant("run", "--launcher", system, "--script", "my job.sh", "--", "true", cwd=tmp_path)
    assert done.stdout == "my job.sh\n"
    assert done.stderr.splitlines()[-1] == f"octant: to submit the job: {line}"


def test_what_cannot_be_submitted_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "job.sh"
    submit.write("pbs", JOB, script)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Refusal, match="qsub is not on PATH"):
        submit.submit("pbs", script)
    qsub = tmp_path / "qsub"
    qsub.write_text("#!/bin/sh\necho 'no such queue' >&2\nexit 1\n")
    qsub.chmod(0o755)
    with pytest.raises(Refusal, match="no such queue"):
        submit.submit("pbs", script)
    monkeypatch.setattr(submit, "_PATIENCE_S", 0.1)
    qsub.write_text("#!/bin/sh\nexec /bin/sleep 30\n")
    with pytest.raises(Refusal, match="whether it was queued"):
        submit.submit("pbs", script)
    with pytest.raises(Refusal, match="try one of flux, lsf, pbs, sbatch"):
        submit.write("moab", JOB, script)
    with pytest.raises(Refusal, match=r"cannot write .*job\.sh .*try --script in a folder of yours"):
        submit.write("pbs", JOB, tmp_path / "none" / "job.sh")


def test_a_directive_is_one_line() -> None:
    from octant.runs import command_line

    with pytest.raises(Refusal, match="with a line break"):
        command_line.job("stream", [], 1, "", None, 30, ("--partition=debug\ntouch pwned",))
