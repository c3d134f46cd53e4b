"""Nothing is left behind: whoever is killed, launchers, ranks and shared memory are gone soon after."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
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


def test_only_segments_that_are_young_and_nobody_holds_are_removed(tmp_path: Path) -> None:
    mine = tmp_path / "mpich_shm_1_0"
    window = tmp_path / "mpich_shar_tmpAbCdEf"
    held = (tmp_path / "mpich_shm_2_0").open("w")
    other = tmp_path / "somebody_elses"
    for path in (mine, window, other):
        path.touch()
    assert leftovers.remove(time.time() + 60, tmp_path) == ()
    assert leftovers.remove(time.time() - 60, tmp_path) == (window.name, mine.name)
    held.close()
    assert other.exists()
    assert not mine.exists()
    assert leftovers.remove(0, tmp_path / "none") == ()


def test_older_segments_go_where_every_process_can_be_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mpich_shm_1_0").touch()
    monkeypatch.setattr(leftovers, "_FIRST_PID_NAMESPACE", "pid:[1]")
    assert leftovers.remove(folder=tmp_path) == (), "whoever holds it may be in another container"
    monkeypatch.setattr(leftovers, "_FIRST_PID_NAMESPACE", str(Path("/proc/self/ns/pid").readlink()))
    monkeypatch.setattr(leftovers, "_names_in_use", lambda _: None)
    assert leftovers.remove(folder=tmp_path) == (), "a process of ours that does not show what it holds"
    monkeypatch.undo()
    monkeypatch.setattr(leftovers, "_FIRST_PID_NAMESPACE", str(Path("/proc/self/ns/pid").readlink()))
    assert leftovers.remove(folder=tmp_path) == ("mpich_shm_1_0",)


@two_cpus
def test_the_next_run_clears_away_what_a_killed_octant_left(environment: Mapping[str, str], tmp_path: Path) -> None:
    if not leftovers.all_seen():
        pytest.skip("in a container, where not every process can be seen")
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
    assert list(chosen.iterdir()), "nobody was left to remove it"
    again = [sys.executable, "-m", "octant.cli", *words[:2], "pattern=open-close", *words[4:], "seconds=0.1"]
    subprocess.run(again, env=environment, check=True, capture_output=True)
    assert not list(chosen.iterdir())
