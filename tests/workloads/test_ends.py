"""How kernels end: each kind has its exit code, and the records say which it was, since launchers change statuses."""

import pytest

from kernel_run import KernelRun, KernelRuns
from octant.failure import Exit

LAUNCH = ("--run", "node-stream-0-0")
QUICK = ("bytes=64KiB,128KiB", "seconds=0.01", "least=5", "samples=20")


def recorded(done: KernelRun) -> list[Exit]:
    """What the records say of ends other than a success, each once."""
    wrong = [Exit.WRONG_ANSWER for point in done.points if not point.passed]
    return list(dict.fromkeys([*(Exit(failure.exit) for failure in done.failures), *wrong]))


@pytest.mark.parametrize(
    ("fault", "words", "code", "points"),
    [
        ("", (), Exit.OK, 2),
        ("wrong", (), Exit.WRONG_ANSWER, 2),
        ("lack", (), Exit.NOT_SUPPORTED, 0),
        ("lack@set-up", (), Exit.NOT_SUPPORTED, 0),
        ("word", (), Exit.WRONG_WORD, 0),
        ("throw", (), Exit.CANNOT_RUN, 0),
        ("throw@verification", (), Exit.CANNOT_RUN, 0),
        ("memory", (), Exit.CANNOT_RUN, 0),
        ("", ("byts=1",), Exit.WRONG_WORD, 0),
        ("", ("threads=many",), Exit.WRONG_WORD, 0),
        ("", ("store=libc", "kernel=copy,triad"), Exit.NOT_SUPPORTED, 2),
        ("wrong", ("store=libc", "kernel=copy,triad"), Exit.WRONG_ANSWER, 2),
    ],
)
def test_each_kind_of_end_has_its_code_and_is_recorded(
    run_kernel: KernelRuns, fault: str, words: tuple[str, ...], code: Exit, points: int
) -> None:
    done = run_kernel("node/stream", *QUICK, *words, *LAUNCH, fault=fault)
    assert (done.code, len(done.points)) == (code, points), done.stderr
    both = [Exit.NOT_SUPPORTED] * (code == Exit.WRONG_ANSWER and bool(words))
    assert recorded(done) == [*both, code] * (code != Exit.OK)


def test_a_kernel_that_is_killed_records_no_end(run_kernel: KernelRuns) -> None:
    done = run_kernel("node/stream", *QUICK, *LAUNCH, fault="kill")
    assert (done.code, recorded(done)) == (-9, [])


@pytest.mark.mpi
@pytest.mark.parametrize(
    ("fault", "words", "code"),
    [
        ("wrong", (), Exit.WRONG_ANSWER),
        ("lack@set-up:1", (), Exit.NOT_SUPPORTED),
        ("word:1", (), Exit.WRONG_WORD),
        ("throw:1", (), Exit.CANNOT_RUN),
        ("", ("bites=8",), Exit.WRONG_WORD),
        ("", ("groups=3",), Exit.WRONG_WORD),
    ],
)
def test_of_several_ranks_the_records_have_one_end(
    run_kernel: KernelRuns, fault: str, words: tuple[str, ...], code: Exit
) -> None:
    """Whatever the launcher returns; what every rank refuses is recorded once."""
    done = run_kernel("mpi/p2p", "bytes=8", "seconds=0.01", *words, *LAUNCH, fault=fault, ranks=2)
    assert done.code != 0
    assert recorded(done) == [code], done.stderr
    assert len(done.failures) == (code != Exit.WRONG_ANSWER)


def test_without_a_launch_of_octants_a_typo_leaves_no_file(run_kernel: KernelRuns) -> None:
    done = run_kernel("node/stream", "byts=1")
    assert (done.code, done.failures) == (Exit.WRONG_WORD, [])
