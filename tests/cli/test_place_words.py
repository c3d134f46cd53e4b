"""`octant place`: words and options that would have no effect are refused, and the refusal names the right one."""

import pytest
from typer.testing import CliRunner

from octant.cli import application

ON = ["--on", "core:4 pu:1"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["8x1", "--for", "slurm"], "try --place 8x1"),
        (["--place", "2x1", "--from", "taskset -c 0 p"], "cannot use --place with --from"),
        (["--smt", "2", "--from", "taskset -c 0 p"], "cannot use --smt with --from"),
        (["--place", "2x1", "--for", "srun"], "did you mean slurm?"),
    ],
)
def test_what_would_have_no_effect_is_refused(words: list[str], said: str) -> None:
    done = CliRunner().invoke(application(), ["place", *words, *ON])
    assert done.exit_code != 0
    assert said in str(done.exception)


def test_blanks_between_launchers_are_skipped() -> None:
    done = CliRunner().invoke(application(), ["place", "--place", "2x1", "--for", "taskset, mpich", *ON])
    assert done.exit_code == 0
    assert "mpich:" in done.stdout
