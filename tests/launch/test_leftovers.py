"""Nothing remains: after any process is killed, launchers, ranks and shared memory soon disappear."""

import contextlib
import errno
import fcntl
import mmap
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from octant.launch import leftovers
from octant.launch.execute import execute
from paths import NO_OPENMPI, OPENMPI_KERNELS, ROOT
from segments import stray_segments

pytestmark = [pytest.mark.mpi, pytest.mark.slow]
LONG = ("stream", "bytes=1MiB", "--repeats", "1")  # rank 1 hangs at once, so that this lasts until somebody ends it
two_cpus = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two hardware threads")


def command_lines(holding: str) -> dict[int, str]:
    """Live processes that were started with this text among their words or variables."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().decode(errors="replace").replace("\0", " ")
            if holding in words or holding in (folder / "environ").read_bytes().decode(errors="replace"):
                found[int(folder.name)] = words
        except OSError:
            continue
    return {pid: words for pid, words in found.items() if words}


def wait_for(what: str, holding: str, count: int) -> dict[int, str]:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        found = {pid: words for pid, words in command_lines(holding).items() if what in words.split(" ")[0]}
        if len(found) >= count:
            return found
        time.sleep(0.1)
    raise AssertionError(f"{what} did not start: {command_lines(holding)}")


def gone(holding: str) -> dict[int, str]:
    end = time.monotonic() + 15
    while (left := command_lines(holding)) and time.monotonic() < end:
        time.sleep(0.1)
    return left


def no_new_strays(before: set[str]) -> bool:
    end = time.monotonic() + 10
    while not (clean := stray_segments() <= before) and time.monotonic() < end:
        time.sleep(0.3)
    return clean


def start(
    environment: Mapping[str, str], token: str, *words: str, python: str = sys.executable
) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [python, "-m", "octant.cli", *words],
        env={**environment, "OCTANT_TOKEN": token, "OCTANT_FAULT": "hang:1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@two_cpus
@pytest.mark.parametrize("words", [("run", *LONG, "--ranks", "2"), ("run", *LONG, "--place", "2x1")])
def test_octant_is_killed(environment: Mapping[str, str], tmp_path: Path, words: tuple[str, ...]) -> None:
    token = str(tmp_path)
    with start(environment, token, *words) as octant:
        wait_for("octant-node-stream", token, 2)
        octant.kill()
    assert gone(token) == {}


@two_cpus
def test_the_watcher_is_killed(environment: Mapping[str, str], tmp_path: Path) -> None:
    token = str(tmp_path)
    with start(environment, token, "where", "--place", "2x1", "--", "sleep", "60") as octant:
        wait_for("sleep", token, 2)
        octant.kill()
    assert gone(token) == {}


@two_cpus
@pytest.mark.parametrize("victim", ["mpiexec", "hydra_pmi_proxy"])
def test_a_launcher_is_killed(environment: Mapping[str, str], tmp_path: Path, victim: str) -> None:
    token, before = str(tmp_path), stray_segments()
    with start(environment, token, "run", *LONG, "--place", "2x1") as octant:
        wait_for("octant-node-stream", token, 2)
        for pid in wait_for(victim, token, 1):
            os.kill(pid, signal.SIGKILL)
        assert octant.wait(30) == 1
    assert gone(token) == {}
    assert no_new_strays(before)


@two_cpus
def test_octant_is_killed_over_open_mpi(environment: Mapping[str, str], tmp_path: Path) -> None:
    python = ROOT / ".venv-openmpi" / "bin" / "python"
    if not OPENMPI_KERNELS.exists():
        pytest.skip(NO_OPENMPI)
    own = {**environment, "OCTANT_KERNELS": str(OPENMPI_KERNELS)}
    token = str(tmp_path)
    with start(own, token, "where", "--ranks", "4", "--", "sleep", "60", python=str(python)) as octant:
        wait_for("sleep", token, 4)
        octant.kill()
    assert gone(token) == {}


def test_what_left_the_session_and_minds_no_signal_is_gone_when_a_launch_has_ended(
    kernels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OCTANT_KERNELS", str(kernels))
    stubborn = "setsid sh -c 'trap \"\" TERM; sleep 60; sleep 60' & wait"
    ended = execute(["sh", "-c", stubborn], {"OCTANT_TOKEN": str(tmp_path)}, 0.5, lambda _: None)
    assert ended.timed_out
    assert command_lines(str(tmp_path)) == {}


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Create folders for shared memory and temporary files that no other test uses."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with tempfile.TemporaryDirectory(dir=leftovers.FOLDER) as folder:
        yield Path(folder)


def mapped(path: Path) -> mmap.mmap:
    """Create a segment like a rank: mapped, with its descriptor closed."""
    with path.open("w+b") as file:
        file.truncate(4096)
        return mmap.mmap(file.fileno(), 4096)


def test_only_segments_of_mpi_libraries_that_no_process_uses_are_removed(shared: Path) -> None:
    names = "mpich_shm_1a_0", "vader_segment.here.0.1", "osc_rdma.here.1.x.0", "Intel_MPI_zx"
    for name in (*names, "somebody_elses"):
        (shared / name).touch()
    (shared / "mpich_shm_link").symlink_to(shared / "somebody_elses")
    (shared / "mpich_shm_folder").mkdir()
    os.mkfifo(shared / "mpich_shm_pipe")
    assert leftovers.remove(shared) == tuple(sorted(names))
    kept = ["mpich_shm_folder", "mpich_shm_link", "mpich_shm_pipe", "somebody_elses"]
    assert sorted(path.name for path in shared.iterdir()) == kept
    assert leftovers.remove(shared / "none") == ()


def test_a_segment_stays_while_a_process_has_it_open_or_mapped(shared: Path) -> None:
    path = shared / "mpich_shm_2_0"
    ready_read, ready_write = os.pipe()
    if not (rank := os.fork()):
        held = mapped(path)
        os.write(ready_write, b"x")
        time.sleep(60)
        held.close()
        os._exit(0)
    os.read(ready_read, 1)
    try:
        assert leftovers.remove(shared) == ()
        os.kill(rank, signal.SIGSTOP)
        assert leftovers.remove(shared) == (), "a stopped rank may go on"
    finally:
        os.kill(rank, signal.SIGKILL)
        os.waitpid(rank, 0)
    with path.open("r+b"):
        assert leftovers.remove(shared) == ()
    assert leftovers.remove(shared) == (path.name,)


def test_a_segment_of_another_user_stays(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (shared / "mpich_shm_3_0").touch()
    monkeypatch.setattr("os.geteuid", lambda: os.stat(shared).st_uid + 1)  # noqa: PTH116
    assert leftovers.remove(shared) == ()


def test_a_segment_stays_where_the_system_does_not_say_whether_it_is_used(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_descriptor: int, operation: int, _argument: int) -> None:
        if operation == fcntl.F_SETLEASE:
            raise OSError(errno.EINVAL, "Invalid argument")

    (shared / "mpich_shm_4_0").touch()
    monkeypatch.setattr("fcntl.fcntl", refuse)
    assert leftovers.remove(shared) == ()


def test_a_process_that_opens_a_segment_meanwhile_ends_no_process(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, unlink = shared / "mpich_shm_5_0", Path.unlink
    path.touch()
    openers, broken = list["subprocess.Popen[bytes]"](), list[int]()

    def while_the_lease_is_held(one: Path) -> None:
        openers.append(subprocess.Popen(["sh", "-c", f"exec 3<>'{one}'"]))  # waits until the lease is given up
        end = time.monotonic() + 30
        while not broken and time.monotonic() < end:
            time.sleep(0.01)
        assert openers[0].poll() is None
        unlink(one)

    monkeypatch.setattr(Path, "unlink", while_the_lease_is_held)
    before = signal.signal(signal.SIGURG, lambda number, _frame: broken.append(number))
    try:
        assert leftovers.remove(shared) == (path.name,)
    finally:
        signal.signal(signal.SIGURG, before)
    assert broken, "the kernel said that a process wants to open the segment"
    assert openers[0].wait(30) == 0


@pytest.mark.root("makes a process namespace without a user namespace")
def test_a_segment_stays_while_a_process_that_cannot_be_seen_uses_it(shared: Path, needs: Callable[[str], str]) -> None:
    path = shared / "mpich_shm_6_0"
    remove = (
        "import pathlib, sys; from octant.launch import leftovers; print(leftovers.remove(pathlib.Path(sys.argv[1])))"
    )
    unseeing = [needs("unshare"), "--pid", "--fork", "--mount-proc", sys.executable, "-c", remove, str(shared)]
    with contextlib.closing(mapped(path)):
        done = subprocess.run(unseeing, capture_output=True, text=True, check=False)
        if "unshare" in done.stderr:
            pytest.skip("this system allows no other process namespace")
        assert done.stdout == "()\n", done.stderr
    assert subprocess.run(unseeing, capture_output=True, text=True, check=True).stdout == f"('{path.name}',)\n"


@two_cpus
def test_the_next_run_clears_away_what_a_killed_octant_left(environment: Mapping[str, str], tmp_path: Path) -> None:
    with start(environment, str(tmp_path), "run", *LONG, "--ranks", "2") as octant:
        ranks = wait_for("octant-node-stream", str(tmp_path), 2)
        left: set[str] = set()
        end = time.monotonic() + 30
        while not left and time.monotonic() < end:
            maps = "".join(Path(f"/proc/{pid}/maps").read_text() for pid in ranks)
            left = {word for word in maps.split() if word.startswith(f"{leftovers.FOLDER}/mpich")}
        octant.kill()
    assert gone(str(tmp_path)) == {}
    again = [sys.executable, "-m", "octant.cli", "run", *LONG, "seconds=0.1"]
    subprocess.run(again, env=environment, check=True, capture_output=True)
    assert left
    assert not [name for name in left if Path(name).exists()]


@two_cpus
def test_the_next_run_removes_files_of_a_killed_octant_in_a_folder_of_the_user_s(
    environment: Mapping[str, str], tmp_path: Path
) -> None:
    chosen = tmp_path / "chosen"
    chosen.mkdir()
    words = ("run", "mpiio", "pattern=p-write-shared", f"folder={chosen}", "--ranks", "2", "--repeats", "1")
    with start(environment, str(tmp_path), *words) as octant:
        end = time.monotonic() + 30
        while not list(chosen.iterdir()) and time.monotonic() < end:
            time.sleep(0.1)
        octant.kill()
    assert gone(str(tmp_path)) == {}
    assert list(chosen.iterdir()), "no process was left to remove it"
    again = [sys.executable, "-m", "octant.cli", *words[:2], "pattern=open-close", *words[4:], "seconds=0.1"]
    subprocess.run(again, env=environment, check=True, capture_output=True)
    assert not list(chosen.iterdir())


LAUNCHER_OF_A_LARGE_RANK = """
import mmap, os, signal, sys, time
segment, who = sys.argv[1:]
ready, tell = os.pipe()
rank = os.fork()
if rank == 0:
    file = os.open(segment + ".new", os.O_RDWR | os.O_CREAT, 0o600)
    os.truncate(file, 4096)
    shared = mmap.mmap(file, 4096)
    os.close(file)
    large = mmap.mmap(-1, 400 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    large.madvise(mmap.MADV_NOHUGEPAGE)
    for at in range(0, len(large), mmap.PAGESIZE):
        large[at] = 1
    os.rename(segment + ".new", segment)
    os.write(tell, b"x")
    time.sleep(60)
os.read(ready, 1)
if who == "octant":
    time.sleep(60)
os.kill(rank, signal.SIGKILL)
try:
    while open(f"/proc/{rank}/environ", "rb").read():
        pass
except (ProcessLookupError, PermissionError):  # newer answers of Linux, to root and to other users
    pass
os._exit(1)
"""
"""Starts one rank, which maps a segment and 400 MiB, and kills it, or waits until Octant does so.

The launcher ends while the system still frees the memory of the rank.
"""


@pytest.mark.parametrize("end", ["launcher", "time-out", "interrupt"])
def test_a_segment_of_a_rank_that_is_still_exiting_is_removed(
    kernels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    monkeypatch.setenv("OCTANT_KERNELS", str(kernels))
    segment = leftovers.FOLDER / f"mpich_shm_test_{os.getpid()}_0"
    words = [
        sys.executable,
        "-c",
        LAUNCHER_OF_A_LARGE_RANK,
        str(segment),
        "launcher" if end == "launcher" else "octant",
    ]

    def observe(_elapsed_s: float) -> None:
        limit = time.monotonic() + 30
        while end != "launcher" and not segment.exists() and time.monotonic() < limit:
            time.sleep(0.01)
        if end == "interrupt":
            raise KeyboardInterrupt

    try:
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt) if end == "interrupt" else contextlib.nullcontext():
                ended = execute(words, {}, 0.1 if end == "time-out" else 30, observe)
                assert (ended.code, ended.timed_out) == ((1, False) if end == "launcher" else (ended.code, True))
            assert not segment.exists()
    finally:
        segment.unlink(missing_ok=True)


def test_an_exit_that_takes_very_long_does_not_hold_octant_up(kernels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = list[int]()

    def look(since_ticks: int) -> list[int]:
        looks.append(since_ticks)
        return [1]

    monkeypatch.setenv("OCTANT_KERNELS", str(kernels))
    monkeypatch.setattr("octant.launch.execute._EXIT_S", 0.05)
    monkeypatch.setattr("octant.launch.processes.exiting", look)
    assert execute(["false"], {}, 30, lambda _: None).code == 1
    assert looks


def test_a_process_whose_first_thread_has_ended_is_ended_with_the_others(
    kernels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its environment reads as empty, although its other threads run."""
    monkeypatch.setenv("OCTANT_KERNELS", str(kernels))
    number = tmp_path / "number"
    first_ends = (
        "import ctypes, os, threading, time; threading.Thread(target=time.sleep, args=(60,)).start(); "
        f"open({str(number)!r}, 'w').write(str(os.getpid())); "
        "ctypes.CDLL(None).syscall({'x86_64': 60}.get(os.uname().machine, 93), 0)"
    )
    words = ["sh", "-c", 'setsid "$0" -c "$1" & while ! grep -qs Z /proc/$!/stat; do sleep 0.01; done; exit 1']
    ended = execute([*words, sys.executable, first_ends], {}, 30, lambda _: None)
    assert (ended.code, ended.timed_out) == (1, False)
    threads = list(Path("/proc").glob(f"{number.read_text()}/task/*"))
    assert len(threads) <= 1, "a zombie has its first thread only, until somebody waits for it"
