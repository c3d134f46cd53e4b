"""What can go wrong goes wrong here: each with a clear sentence, the right exit code, and nothing lost."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from namespaces import Mounted, NoMount, tmpfs
from octant.failure import Exit
from octant.store import Store, StoredRun
from paths import Octant

QUICK = ("stream", "bytes=1MiB", "seconds=0.1", "--repeats", "1")


def only_run(environment: Mapping[str, str]) -> StoredRun:
    (run,) = Store(Path(environment["OCTANT_STORE"])).runs()
    return run


def alive(name: str) -> list[int]:
    """Return the processes whose command line contains `name`."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if name in (folder / "cmdline").read_bytes().decode(errors="replace"):
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def gone(name: str, within_s: float = 10) -> bool:
    end = time.monotonic() + within_s
    while alive(name):
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


@pytest.mark.mpi
def test_a_killed_rank_ends_the_launch_and_is_recorded(octant: Octant, environment: Mapping[str, str]) -> None:
    done = octant("run", *QUICK, "--ranks", "2", env={"OCTANT_FAULT": "kill:1"})
    assert done.returncode == 1
    assert "nothing could be measured" in done.stderr
    run = only_run(environment)
    assert len(run.failures) == 1
    assert not run.complete, "a failed launch is asked again on resume"


@pytest.mark.mpi
def test_a_throw_on_one_rank_ends_the_job_with_its_reason(octant: Octant, environment: Mapping[str, str]) -> None:
    done = octant("run", *QUICK, "--ranks", "2", env={"OCTANT_FAULT": "throw:1"})
    assert done.returncode == 1
    assert "fault 'throw' was injected" in done.stderr
    assert len(only_run(environment).failures) == 1, "the rank's own record is not reported twice"
    assert "timed out after" not in done.stderr, "the other rank must not be waited for"


def test_a_kernel_that_hangs_is_stopped_and_the_rest_goes_on(octant: Octant, environment: Mapping[str, str]) -> None:
    done = octant("run", *QUICK, "--timeout", "1", env={"OCTANT_FAULT": "hang"})
    assert done.returncode == 1
    assert "timed out after" in done.stderr
    assert "timed out after" in only_run(environment).failures[0].reason


def test_a_wrong_result_exits_4_and_has_no_speed(octant: Octant) -> None:
    done = octant("run", *QUICK, env={"OCTANT_FAULT": "wrong"})
    assert done.returncode == Exit.WRONG_ANSWER
    assert "WRONG" in done.stdout
    assert "octant: WRONG RESULT: node/stream: " in done.stderr
    assert "GB/s" not in done.stdout


def pausing(kernels: Path, folder: Path, flag: Path) -> dict[str, str]:
    """Kernels of which stream measures one point of 1 MiB, and the words it was given once there is a file `flag`."""
    folder.mkdir()
    for program in kernels.glob("octant-*"):
        (folder / program.name).symlink_to(program)
    stream = folder / "octant-node-stream"
    real = f"'{stream.readlink()}'"
    stream.unlink()
    stream.write_text(
        f'#!/bin/sh\ncase "$1" in --describe) exec {real} "$@";; esac\n'
        f'{real} "$1" "$2" "$3" "$4" bytes=1MiB seconds=0.1\n'
        f"until [ -e '{flag}' ]; do sleep 0.1; done\nexec {real} \"$@\"\n"
    )
    stream.chmod(0o755)
    return {"OCTANT_KERNELS": str(folder)}


def test_a_failed_launch_is_no_success_even_if_other_points_are_kept(
    octant: Octant, environment: Mapping[str, str], kernels: Path, tmp_path: Path
) -> None:
    hangs = pausing(kernels, tmp_path / "slow", tmp_path / "never")
    done = octant("run", "stream", "bytes=1MiB,2MiB", "seconds=0.1", "--repeats", "1", "--timeout", "4", env=hangs)
    assert done.stderr.startswith("octant: 1 launch per configuration: no 95 % interval"), "before the first launch"
    run = only_run(environment)
    assert len(run.points) == 1
    assert done.returncode == 1
    assert "timed out after" in done.stderr
    assert f"octant resume {run.id}" in done.stderr


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "end of a job"])
def test_a_stop_keeps_what_was_measured_and_resume_finishes(
    octant: Octant, environment: Mapping[str, str], kernels: Path, tmp_path: Path, sign: signal.Signals
) -> None:
    command = [sys.executable, "-m", "octant.cli", "run", "stream", "bytes=1MiB,2MiB,3MiB", "--repeats=1"]
    slow = pausing(kernels, tmp_path / "slow", tmp_path / "never")
    store = Store(Path(environment["OCTANT_STORE"]))
    with subprocess.Popen(command, env={**environment, **slow}, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None and not any(run.points for run in store.runs()):
            time.sleep(0.1)
        process.send_signal(sign)
        _, said = process.communicate(timeout=60)
    run = only_run(environment)
    assert process.returncode == 130
    assert f"octant resume {run.id}" in said
    assert len(run.points) == 1
    assert octant("resume", run.id).returncode == 0
    after = only_run(environment)
    assert after.complete
    assert sorted(p.knobs["bytes"] for p in after.points) == ["1MiB", "2MiB", "3MiB"]


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", ["1", "2"])
def test_nothing_survives_when_octant_is_killed(environment: Mapping[str, str], tmp_path: Path, ranks: str) -> None:
    mark = f"marked-{os.getpid()}-{ranks}"
    kept = {**environment, "OCTANT_FAULT": "hang", "OCTANT_STORE": str(tmp_path / mark)}
    process = subprocess.Popen([sys.executable, "-m", "octant.cli", "run", *QUICK, "--ranks", ranks], env=kept)
    end = time.monotonic() + 30
    while time.monotonic() < end and not any(
        name.partition(" ")[0].endswith("-stream") for name in _names(alive(mark))
    ):
        time.sleep(0.1)
    running = _names(alive(mark))  # a launcher, whose words name the kernel too, may not have started it yet
    assert any(name.partition(" ")[0].endswith("octant-node-stream") for name in running), "octant is killed too early"
    process.kill()
    process.wait(timeout=10)
    assert gone(mark), f"left behind: {_names(alive(mark))}"


def _names(pids: list[int]) -> list[str]:
    names = []
    for pid in pids:
        try:
            names.append(Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").replace("\0", " "))
        except OSError:
            continue
    return names


@pytest.fixture
def small() -> Iterator[Mounted]:
    """Yield a folder on a file system of 1 MiB."""
    try:
        with tmpfs("size=1m") as mounted:
            yield mounted
    except NoMount as reason:
        pytest.skip(str(reason))


def test_a_full_disk_is_said_and_earlier_points_are_kept(
    environment: Mapping[str, str], kernels: Path, tmp_path: Path, small: Mounted
) -> None:
    slow = pausing(kernels, tmp_path / "slow", tmp_path / "full")
    store = Store(small.outside / "store")
    words = ["run", "stream", "bytes=1MiB,2MiB,3MiB,4MiB", "precision=0", "--repeats", "1"]
    command = [*small.within, sys.executable, "-m", "octant.cli", *words, "--store", f"{small.inside}/store"]
    with subprocess.Popen(command, env={**environment, **slow}, stderr=subprocess.PIPE, text=True) as octant:
        while octant.poll() is None and not any(run.points for run in store.runs()):
            time.sleep(0.1)
        with contextlib.suppress(OSError), (small.outside / "filler").open("wb", buffering=0) as filler:
            while filler.write(bytes(4096)):
                pass
        (tmp_path / "full").touch()
        _, said = octant.communicate(timeout=60)
    assert octant.returncode == 1
    assert "No space left on device" in said
    assert "Traceback" not in said
    (run,) = store.runs()
    assert run.points, "what was measured before the disk was full is kept"
    assert not run.complete


def test_a_torn_last_line_is_dropped_and_the_next_record_is_whole(
    octant: Octant, environment: Mapping[str, str]
) -> None:
    assert octant("run", "stream", "bytes=1MiB,2MiB", "seconds=0.1", "--repeats", "1").returncode == 0
    run = only_run(environment)
    whole = run.records.read_text().splitlines()
    run.records.write_text("".join(f"{line}\n" for line in whole[:-1]) + whole[-1][: len(whole[-1]) // 2])
    torn = only_run(environment)
    assert len(torn.torn) == 1
    assert [launch.started_knobs["bytes"] for launch in torn.remaining()] == [run.points[1].knobs["bytes"]]
    assert octant("resume", "last").returncode == 0
    after = only_run(environment)
    assert after.complete
    assert [p.knobs["bytes"] for p in after.points] == [p.knobs["bytes"] for p in run.points]


def test_two_at_once_on_one_store_do_not_disturb_each_other(environment: Mapping[str, str]) -> None:
    command = [sys.executable, "-m", "octant.cli", "run", *QUICK]
    both = [subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [process.wait(timeout=60) for process in both] == [0, 0]
    runs = Store(Path(environment["OCTANT_STORE"])).runs()
    assert [len(run.points) for run in runs] == [1, 1]
    assert all(run.complete for run in runs)


def test_a_store_that_cannot_be_written_is_refused_before_anything_runs(octant: Octant, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    done = octant("run", *QUICK, "--store", str(blocked))
    assert done.returncode == 1
    assert f"cannot write to the store {blocked}" in done.stderr
    assert "try --store" in done.stderr


def test_a_read_only_store_can_still_be_read(octant: Octant, small: Mounted) -> None:
    store = ("--store", small.inside)
    assert octant("run", *QUICK, *store, within=small.within).returncode == 0
    small.make_read_only()
    assert octant("runs", *store, within=small.within).returncode == 0
    refused = octant("run", *QUICK, *store, within=small.within)
    assert refused.returncode == 1
    assert "Read-only file system" in refused.stderr
    resumed = octant("resume", "last", *store, within=small.within)
    assert resumed.returncode == 0, "nothing is left, nothing is written"


def test_no_mpi_is_said_with_the_way_out(octant: Octant) -> None:
    done = octant("run", *QUICK, "--ranks", "2", env={"OCTANT_MPIEXEC": "/nowhere/mpiexec"})
    assert done.returncode == 1
    assert "/nowhere/mpiexec is not a program" in done.stderr
    assert "pip install mpich" in done.stderr


def test_on_one_core_everything_still_runs(
    octant: Octant, needs: Callable[[str], str], environment: Mapping[str, str]
) -> None:
    taskset = needs("taskset")
    done = subprocess.run(
        [taskset, "-c", "0", sys.executable, "-m", "octant.cli", "run", *QUICK, "threads=2", "--notes"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (point,) = only_run(environment).points
    assert point.share_cores
    assert "oversubscribed (2 threads on 1 hardware thread);" in " ".join(done.stdout.split())


def test_a_locale_with_decimal_commas_changes_nothing(octant: Octant, environment: Mapping[str, str]) -> None:
    done = octant("run", *QUICK, "precision=0.5", env={"LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8"})
    assert done.returncode == 0, done.stderr
    assert only_run(environment).points[0].knobs["precision"] == "0.5"


def test_paths_with_spaces_and_letters_of_all_kinds_work(octant: Octant, tmp_path: Path) -> None:
    store = tmp_path / "mit Leerzeichen – größer" / "試験"
    done = octant("run", *QUICK, "--store", str(store), "--json")
    assert done.returncode == 0, done.stderr
    json.loads(done.stdout)
    assert len(Store(store).runs()) == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("run", "strem"), "no workload 'strem'"),
        (("run", "stream", "byts=1"), "node/stream has no knob"),
        (("run", "stream", "bytes"), "not of the form knob=value"),
        (("run", "stream", "bytes=1", "bytes=2"), "bytes=a,b"),
        (("run", "stream", "bytes=many"), "as a"),
        (("run", "stream", "kernel=quad"), "copy, scale, add, triad"),
        (("run", "stream", "--mode", "sideways"), "one, star, threads, all"),
        (("run", "stream", "--repeats", "0"), "1<=x<=10000"),
        (("evaluate", "--only", "strem"), "no workload 'strem'"),
        (("report", "nothing"), "does not exist"),
    ],
)
def test_a_wrong_word_is_refused_with_what_would_be_right(
    octant: Octant, words: tuple[str, ...], sentence: str
) -> None:
    done = octant(*words)
    assert done.returncode in (1, 2)
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("run", "stream", "groups=pairs"), "'pairs' is not an integer); try all"),
        (("run", "stream", "groups=3", "--ranks", "2"), "try groups=2, or --ranks 3"),
        (("run", "p2p", "groups=1", "--ranks", "2"), "try groups=2"),
        (("run", "p2p", "--ranks", "1"), "try --ranks 2"),
        (("run", "stream", "pages=huge"), "not a page size"),
        (("run", "stream", "memory=near"), "try default, local"),
        (("run", "stream", "precision=-1"), "as a non-negative number"),
        (("run", "stream", "bytes=1MiB,1MiB"), "contains a value twice"),
        (("run", "stream", "bytes=1MiB", "--script", "job.sh"), "(no batch system given); use --launcher with one of"),
        (("run", "stream", "bytes=many", "--launcher", "sbatch", "--script", "job.sh"), "as a size"),
        (("run", "stream", "groups=3", "--ranks", "2", "--launcher", "pbs", "--script", "job.sh"), "or --ranks 3"),
        (("run", "stream", "--mode", "sideways", "--launcher", "pbs", "--script", "job.sh"), "no such mode"),
        (("run", "stream", "--launcher", "sbatch", "--script", "job.sh", "--minutes", "0"), "--minutes"),
        (("run", "stream", "--launcher", "sbatch"), "try --script FILE"),
        (("evaluate", "--only", "stream", "--only", "node/randomaccess"), "try octant run node/randomaccess"),
        (("evaluate", "--suite", "mine"), "no suite or file has this name"),
    ],
)
def test_a_wrong_value_exits_2_and_leaves_no_run(
    octant: Octant, environment: Mapping[str, str], words: tuple[str, ...], sentence: str
) -> None:
    done = octant(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert not Store(Path(environment["OCTANT_STORE"])).runs()


def test_what_no_launcher_here_can_start_leaves_no_run(octant: Octant, environment: Mapping[str, str]) -> None:
    done = octant("run", "stream", "--launcher", "srun", env={"PATH": "/nowhere"})
    assert done.returncode == 1
    assert "srun (it is not on PATH)" in done.stderr
    assert not Store(Path(environment["OCTANT_STORE"])).runs()
