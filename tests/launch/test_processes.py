"""What the system says of the processes of a launch: whose they are, and whether they are exiting."""

import os
from pathlib import Path

import pytest

from octant.launch import processes

PF_EXITING, PF_KTHREAD = 0x4, 0x200000
SINCE = 5000


def process(proc: Path, number: int, environ: bytes, *tasks: tuple[str, int, int]) -> None:
    """Write what proc(5) says of a process: of each task its state, flags and start time (ticks)."""
    folder = proc / str(number)
    folder.mkdir()
    (folder / "environ").write_bytes(environ)
    for thread, (state, flags, started) in enumerate(tasks, number):
        task = folder / "task" / str(thread)
        task.mkdir(parents=True)
        (task / "environ").write_bytes(environ)
        (task / "stat").write_text(f"{thread} (a ) (b) {state} 1 1 1 0 -1 {flags} " + "0 " * 12 + f"{started} 0 0\n")


@pytest.mark.parametrize(
    ("environ", "tasks", "expected"),
    [
        (b"", [("R", PF_EXITING, SINCE)], True),
        (b"", [("D", PF_EXITING | 0x400000, SINCE + 1)], True),
        (b"", [("Z", PF_EXITING, SINCE), ("D", PF_EXITING, SINCE)], True),  # the first thread has ended
        (b"", [("Z", PF_EXITING, SINCE)], False),
        (b"", [("X", PF_EXITING, SINCE)], False),
        (b"", [("R", 0, SINCE)], False),  # started without an environment
        (b"", [("I", PF_KTHREAD, SINCE)], False),
        (b"", [("R", PF_KTHREAD | PF_EXITING, SINCE)], False),
        (b"", [("R", PF_EXITING, SINCE - 1)], False),  # before the launch
        (b"A=1\0", [("R", PF_EXITING, SINCE)], False),  # its environment says whose it is
        (b"A=1\0", [("Z", PF_EXITING, SINCE), ("S", 0, SINCE)], False),
    ],
)
def test_a_process_counts_as_exiting_from_the_loss_of_its_memory_until_it_is_a_zombie(
    tmp_path: Path, environ: bytes, tasks: list[tuple[str, int, int]], expected: bool
) -> None:
    process(tmp_path, 77, environ, *tasks)
    (tmp_path / "78").mkdir()  # ended meanwhile
    (tmp_path / "self").mkdir()
    assert processes.exiting(SINCE, tmp_path) == ([77] if expected else [])


def test_processes_of_other_users_do_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    process(tmp_path, 77, b"", ("R", PF_EXITING, SINCE))
    monkeypatch.setattr("os.geteuid", lambda: tmp_path.stat().st_uid + 1)
    assert processes.exiting(SINCE, tmp_path) == []


def test_the_time_of_a_start_compares_with_start_times_of_the_system() -> None:
    before = processes.now_ticks()
    if not (child := os.fork()):
        os._exit(0)
    started = int(Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[19])
    os.waitpid(child, 0)
    assert before <= started <= processes.now_ticks()


def test_the_environment_of_a_process_is_read_from_a_thread_that_has_it(tmp_path: Path) -> None:
    process(tmp_path, 77, b"", ("Z", PF_EXITING, SINCE), ("S", 0, SINCE))
    (tmp_path / "77/task/78/environ").write_bytes(b"OCTANT_MARK=1\0B=2\0")
    assert processes.environment_of(tmp_path / "77") == [b"OCTANT_MARK=1", b"B=2"]
    assert processes.exiting(SINCE, tmp_path) == []
