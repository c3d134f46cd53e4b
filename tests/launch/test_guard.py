"""The guard waits for a program, reports what it used and how it ended, and leaves none of its processes."""

import contextlib
import json
import os
import random
import re
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from octant.launch import guard
from octant.launch.bind import LOCAL_RANK_VARIABLES
from octant.launch.watch import RANK_VARIABLES
from paths import ROOT

CPUS = sorted(os.sched_getaffinity(0))
PATIENCE_S = 30
MIB = 2**20


@pytest.fixture(scope="session")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the program of tests/data/guarded.c."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("cc is not installed")
    program = tmp_path_factory.mktemp("guarded") / "guarded"
    command = [compiler, "-O1", "-static", str(ROOT / "tests/data/guarded.c"), "-o", str(program), "-pthread"]
    subprocess.run(command, check=True)
    return program


class Guarded:
    """Starts programs below a guard, and finds what is alive of them."""

    def __init__(self, kernels: Path, folder: Path, planted: Path) -> None:
        self.bind, self.file, self.planted = kernels / "octant-bind", folder / "report.jsonl", planted
        self.mark = secrets.token_hex(8)

    def words(self, *program: str, options: tuple[str, ...] = (), whole: bool = False) -> list[str]:
        ours = guard.words(self.file, whole)
        return [str(self.bind), *ours, "--mark", self.mark, *options, "--", *program]

    def run(
        self, *program: str, options: tuple[str, ...] = (), whole: bool = False, env: Mapping[str, str] | None = None
    ) -> "subprocess.CompletedProcess[str]":
        clean = {k: v for k, v in os.environ.items() if k not in (*LOCAL_RANK_VARIABLES, *RANK_VARIABLES)}
        return subprocess.run(
            self.words(*program, options=options, whole=whole),
            env={**clean, **(env or {})},
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )

    def do(self, *words: str) -> tuple[guard.GuardReport, "subprocess.CompletedProcess[str]"]:
        """Run the planted program with these arguments, and return its report."""
        done = self.run(str(self.planted), *words)
        return self.only(), done

    def only(self) -> guard.GuardReport:
        found = guard.load(self.file)
        assert found.problems == ()
        (report,) = found.reports
        self.file.unlink()
        return report

    def alive(self) -> list[int]:
        """Return the processes whose environment has our mark."""
        mark, found = f"OCTANT_MARK={self.mark}".encode(), []
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if mark in (folder / "environ").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
        return found

    def wait_for_end(self) -> list[int]:
        """Return the processes that are still alive after a while."""
        end = time.monotonic() + PATIENCE_S
        while self.alive() and time.monotonic() < end:
            time.sleep(0.05)
        return self.alive()


@pytest.fixture
def guarded(kernels: Path, tmp_path: Path, planted: Path) -> Iterator[Guarded]:
    one = Guarded(kernels, tmp_path, planted)
    yield one
    for pid in one.alive():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def test_the_program_gets_its_own_end(guarded: Guarded) -> None:
    for status in (0, 1, 7, 255):
        report, done = guarded.do(f"exit={status}")
        assert (report.code, done.returncode, report.signal) == (status, status, None)
    for number in (signal.SIGSEGV, signal.SIGKILL, signal.SIGTERM, signal.SIGABRT, signal.SIGPIPE, signal.SIGUSR1):
        report, done = guarded.do(f"raise={int(number)}")
        assert (report.code, done.returncode, report.status) == (-number, -number, None)


def test_the_guard_dumps_no_core_where_its_program_does(guarded: Guarded, tmp_path: Path) -> None:
    """Launchers see the same signal; a core of the guard would take the place of the program's."""

    def dumps(*words: str) -> tuple[bool, int]:
        process = subprocess.Popen(["sh", "-c", 'ulimit -c unlimited; exec "$@"', "sh", *words], cwd=tmp_path)
        _, status = os.waitpid(process.pid, 0)
        process.returncode = 0  # it was waited for here, where the whole status shows
        return os.WCOREDUMP(status), os.WTERMSIG(status)

    crash = (str(guarded.planted), f"raise={int(signal.SIGSEGV)}")
    if not dumps(*crash)[0]:
        pytest.skip("this system makes no core dumps")
    assert dumps(*guarded.words(*crash)) == (False, signal.SIGSEGV)


def test_output_and_input_are_the_programs(guarded: Guarded) -> None:
    words = guarded.words("sh", "-c", "cat; printf err >&2")
    done = subprocess.run(words, input="in", capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("in", "err")


def test_the_end_of_the_output_is_seen_when_the_program_closes_it(guarded: Guarded) -> None:
    """The guard has no copy of the pipe: a reader in a pipeline ends while the program goes on."""
    with subprocess.Popen(guarded.words("sh", "-c", "echo x; exec >&-; sleep 60"), stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.read() == b"x\n"
        assert process.poll() is None
        process.terminate()


def test_a_program_that_cannot_be_started_is_reported_as_a_shell_does(guarded: Guarded, tmp_path: Path) -> None:
    done = guarded.run("no-such-program")
    report = guarded.only()
    assert (done.returncode, report.status, report.not_started) == (127, 127, "No such file or directory")
    assert done.stderr == "octant-bind: cannot start 'no-such-program' (No such file or directory); try its full path\n"
    done = guarded.run(str(tmp_path))
    report = guarded.only()
    assert (done.returncode, report.status, report.not_started) == (126, 126, "Permission denied")


def test_a_refusal_is_recorded_and_no_program_is_reported(guarded: Guarded, tmp_path: Path) -> None:
    refusal = tmp_path / "refusal"
    done = guarded.run("true", options=("--refusal", str(refusal), "--rank", "0", f"cpus={CPUS[0]},4095"))
    assert done.returncode == 3
    assert refusal.read_text().startswith("3 cannot bind to hardware threads")
    assert guard.load(guarded.file) == guard.GuardFile()


def test_times_contain_what_the_program_measures_itself(guarded: Guarded) -> None:
    before = time.time()
    report, done = guarded.do("spin=30", "cpu=100", "sleep=20")
    assert before <= report.started_s <= time.time()
    assert report.wall_s >= float(done.stdout) * 1e-3 >= 0.15
    assert report.user_s + report.system_s >= 0.1
    assert report.lost.wall_ns[0] == pytest.approx(report.wall_s * 1e9, abs=1e3)
    assert report.lost.elapsed_ns >= report.lost.wall_ns[0]
    assert report.pid > 0
    assert report.started_s * 1e6 % 1000 > 0 or report.wall_s * 1e6 % 1000 > 0, "microseconds are kept"


@pytest.mark.parametrize(("mib", "tolerance_mib"), [(3, 1.0), (30, 1.5), (300, 15)])
def test_the_peak_of_memory_is_the_programs(guarded: Guarded, mib: int, tolerance_mib: float) -> None:
    report, _ = guarded.do(f"memory={mib}")
    assert abs(report.memory_bytes / MIB - mib) <= tolerance_mib
    assert report.minor_faults > 0


def test_the_peak_of_memory_is_not_that_of_a_large_process_that_starts_the_guard(guarded: Guarded) -> None:
    parent = (
        "import subprocess, sys; x = bytearray(200 * 2**20); "
        f"subprocess.run({guarded.words(str(guarded.planted), 'memory=3')!r})"
    )
    subprocess.run([sys.executable, "-c", parent], check=True)
    assert abs(guarded.only().memory_bytes / MIB - 3) <= 1


def test_the_guard_itself_is_small(guarded: Guarded) -> None:
    process = subprocess.Popen(guarded.words("sleep", "20"))
    end = time.monotonic() + 10
    while not guarded.alive() and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(0.3)  # some looks
    status = Path(f"/proc/{process.pid}/status").read_text()
    process.terminate()
    process.wait()
    peak = re.search(r"VmHWM:\s*(\d+) kB", status)
    assert peak
    assert int(peak[1]) < 1500


def test_many_children_are_counted_and_do_not_end_the_program(guarded: Guarded) -> None:
    report, done = guarded.do("children=200")
    assert done.returncode == 0
    assert report.user_s + report.system_s >= 200 * 0.005
    assert report.outlived == ()


def test_orphans_are_counted_and_their_status_is_not_the_programs(guarded: Guarded) -> None:
    orphan = f"({guarded.planted} cpu=100 exit=9 &)"
    done = guarded.run("sh", "-c", f"{orphan}; {orphan}; sleep 0.8; exit 5")
    report = guarded.only()
    assert (done.returncode, report.status, report.outlived) == (5, 5, ())
    assert report.user_s + report.system_s >= 0.2


def test_a_stopped_program_has_not_ended(guarded: Guarded) -> None:
    report, done = guarded.do("stop=200", "exit=4")
    assert (done.returncode, report.status) == (4, 4)
    assert report.wall_s >= 0.2


@pytest.mark.parametrize("word", ["outlive", "daemon"])
def test_what_outlives_the_program_is_named_and_ended(guarded: Guarded, word: str) -> None:
    """Also a daemon: forked twice, in a session of its own, and deaf to SIGTERM."""
    report, done = guarded.do(word, "exit=3")
    assert (done.returncode, report.status) == (3, 3)
    assert [one.name for one in report.outlived] == ["guarded"]
    assert report.left == 0
    assert guarded.alive() == []


def test_a_helper_that_ends_with_the_program_did_not_outlive_it(guarded: Guarded) -> None:
    """A helper that waits for the end of a pipe, as those of Python's multiprocessing do."""
    done = guarded.run(
        "sh", "-c", "mkfifo $0; { cat $0; sleep 0.02; } & exec 3>$0; exit 2", str(guarded.file.parent / "fifo")
    )
    report = guarded.only()
    assert (done.returncode, report.status, report.outlived) == (2, 2, ())


def test_a_folder_is_removed_when_everything_has_ended(guarded: Guarded, tmp_path: Path) -> None:
    """Links are not followed, and what a process below wrote until its end is removed, too."""
    folder, mine = tmp_path / "temporary", tmp_path / "mine"
    for path in (folder / "a" / "b", mine):
        path.mkdir(parents=True)
    (mine / "kept").touch()
    (folder / "link").symlink_to(mine)
    (folder / "a" / "file").touch()
    writer = f"trap '' TERM; while :; do mkdir -p {folder}/later; date > {folder}/later/file; done"
    options = ("--remove", str(folder))
    assert guarded.run("sh", "-c", f"sh -c '{writer}' & exit 1".replace("''", '""'), options=options).returncode == 1
    assert not folder.exists()
    assert (mine / "kept").exists()
    folder.mkdir()
    process = subprocess.Popen(guarded.words("sleep", "20", options=options))
    wait_until_started(guarded)
    process.terminate()
    assert process.wait(PATIENCE_S) == -signal.SIGTERM
    assert not folder.exists()


def wait_until_started(guarded: Guarded, processes: int = 1) -> None:
    end = time.monotonic() + 10
    while len(guarded.alive()) < processes and time.monotonic() < end:
        time.sleep(0.01)
    assert len(guarded.alive()) >= processes


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_is_passed_on_and_ends_the_guard(guarded: Guarded, number: signal.Signals) -> None:
    name = number.name.removeprefix("SIG")
    script = f"trap 'echo got {name}; exit 6' {name}; echo on; while :; do sleep 0.02; done"
    process = subprocess.Popen(
        guarded.words("sh", "-c", script),
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # noqa: PLW1509 (one thread; nohup ignores SIGHUP)
    )
    assert process.stdout
    assert process.stdout.readline() == "on\n"
    process.send_signal(number)
    rest, _ = process.communicate(timeout=PATIENCE_S)
    report = guarded.only()
    assert (rest, process.returncode) == (f"got {name}\n", -number)
    assert (report.status, report.stop_signal) == (6, number)
    assert guarded.alive() == []


def test_a_signal_that_ends_nothing_is_only_passed_on(guarded: Guarded) -> None:
    script = "trap 'echo once' USR1; echo on; n=0; while [ $n -lt 20 ]; do sleep 0.02; n=$((n+1)); done; exit 8"
    process = subprocess.Popen(guarded.words("sh", "-c", script), stdout=subprocess.PIPE, text=True)
    assert process.stdout
    assert process.stdout.readline() == "on\n"
    process.send_signal(signal.SIGUSR1)
    rest, _ = process.communicate(timeout=PATIENCE_S)
    assert (rest, process.returncode) == ("once\n", 8)
    assert guarded.only().stop_signal is None


def test_a_program_that_does_not_listen_is_killed_with_all_that_it_started(guarded: Guarded) -> None:
    script = f"trap '' TERM; {guarded.planted} daemon; echo on; while :; do sleep 0.05; done"
    with subprocess.Popen(guarded.words("sh", "-c", script), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert float(process.stdout.readline()) > 0
        assert process.stdout.readline() == "on\n"
        process.terminate()
        assert process.wait(PATIENCE_S) == -signal.SIGTERM
    report = guarded.only()
    assert (report.code, report.stop_signal) == (-signal.SIGKILL, signal.SIGTERM)
    assert guarded.alive() == []


def test_an_ignored_signal_stays_ignored(guarded: Guarded) -> None:
    """As below nohup."""
    ignoring = ["sh", "-c", 'trap "" HUP; exec "$@"', "sh", *guarded.words("sh", "-c", "echo on; sleep 0.5; exit 3")]
    process = subprocess.Popen(ignoring, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    assert process.stdout.readline() == "on\n"
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 3
    assert guarded.only().stop_signal is None


def test_the_program_finds_its_signals_as_the_guard_found_them(guarded: Guarded) -> None:
    show = ["grep", "-E", "Sig(Blk|Ign|Cgt)", "/proc/self/status"]
    ignoring = ["sh", "-c", 'trap "" CHLD HUP; exec "$@"', "sh"]
    bare = subprocess.run([*ignoring, *show], capture_output=True, text=True, check=True).stdout
    assert subprocess.run([*ignoring, *guarded.words(*show)], capture_output=True, text=True, check=True).stdout == bare


def test_statuses_are_not_lost_where_those_of_children_are_ignored(guarded: Guarded) -> None:
    ignoring = ["sh", "-c", 'trap "" CHLD; exec "$@"', "sh", *guarded.words("sh", "-c", "exit 3")]
    assert subprocess.run(ignoring, check=False).returncode == 3


@pytest.mark.slow
def test_nothing_survives_a_parent_that_is_killed_at_any_moment(guarded: Guarded) -> None:
    """The parent gets no chance to end anything; each trial has a daemon that is deaf to SIGTERM."""
    draw = random.Random(29)
    program = f"{guarded.planted} outlive daemon sleep=60000"
    inner = " ".join(guarded.words("sh", "-c", f"'{program} & wait'", options=("--die-with", "$$"), whole=True))
    for _ in range(25):
        parent = subprocess.Popen(["sh", "-c", f"{inner} & wait"])
        time.sleep(draw.uniform(0, 0.06))
        parent.kill()
        parent.wait()
    assert guarded.wait_for_end() == []
    reports = guard.read(guarded.file)
    assert reports, "at least one parent was killed while the program ran"
    assert {report.stop_signal for report in reports} == {signal.SIGTERM}


def test_a_killed_guard_takes_its_program_along(guarded: Guarded) -> None:
    process = subprocess.Popen(guarded.words("sleep", "60"))
    wait_until_started(guarded)
    process.kill()
    process.wait()
    assert guarded.wait_for_end() == []


def test_a_killed_guard_takes_its_program_along_and_the_outer_one_the_rest(guarded: Guarded) -> None:
    inner = guarded.words(str(guarded.planted), "daemon", "sleep=60000")
    process = subprocess.Popen(guarded.words(*inner, whole=True))
    wait_until_started(guarded, 3)
    (child,) = [pid for pid in guarded.alive() if parent_of(pid) == process.pid]
    os.kill(child, signal.SIGKILL)
    assert process.wait(PATIENCE_S) == -signal.SIGKILL
    assert guarded.alive() == []
    assert "guarded" in [one.name for one in guarded.only().outlived]


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def test_ranks_are_those_of_the_launcher(guarded: Guarded) -> None:
    for own, local in (("PMI_RANK", "MPI_LOCALRANKID"), ("SLURM_PROCID", "SLURM_LOCALID")):
        guarded.run("true", env={own: "5", local: "1"})
        report = guarded.only()
        assert (report.rank, report.local_rank, report.lost.rank) == (5, 1, 5)
    guarded.run("true", env={"PMI_RANK": "5"}, whole=True)
    assert guarded.only().rank is None, "the whole command is no rank, whichever launcher started it"


def test_both_sides_know_the_same_rank_variables() -> None:
    header = (ROOT / "native" / "bind" / "local_rank.hpp").read_text()
    names = header.partition("global_rank_variables{")[2].partition("}")[0]
    assert tuple(re.findall(r'"(\w+)"', names)) == RANK_VARIABLES


def test_the_mask_and_the_memory_policy_are_read_back(guarded: Guarded) -> None:
    guarded.run("true", options=("--rank", "0", f"cpus={CPUS[-1]}", "mem=bind:0"))
    report = guarded.only()
    assert (report.looks, report.given.thread_masks, report.memory_policy) == (0, ((CPUS[-1],),), "bind:0")
    assert report.given.host == report.host == os.uname().nodename
    guarded.run("true")
    report = guarded.only()
    assert (report.given.thread_masks, report.memory_policy) == ((tuple(CPUS),), "default")


def test_looks_see_threads_masks_and_memory(guarded: Guarded) -> None:
    report, _ = guarded.do("memory=30", "threads=4", "sleep=300")
    workers = {one.name: one for one in report.threads if one.name.startswith("worker")}
    assert {one.process for one in workers.values()} == {report.pid}
    assert set(workers) == {f'worker "{i}"' for i in range(4)}
    masks = [frozenset({CPUS[i % len(CPUS)]}) for i in range(4)]
    assert [workers[f'worker "{i}"'].mask for i in range(4)] == masks
    for worker in workers.values():
        assert 0 < worker.cpu_s < 5
        assert sum(worker.looks_by_cpu.values()) <= report.looks
    assert Counter(masks) <= Counter(map(frozenset, report.given.thread_masks))
    assert report.processes == 1
    if report.node_bytes:  # a kernel without NUMA shows none
        assert 30 * MIB <= sum(report.node_bytes.values()) <= 34 * MIB


def test_two_guards_count_the_time_once_each(guarded: Guarded) -> None:
    inner = guarded.words(str(guarded.planted), "cpu=300")
    guarded.run(*inner, whole=True)
    first, second = guard.read(guarded.file)
    assert (first.whole, second.whole) == (False, True)
    for report in (first, second):
        assert 0.3 <= report.user_s + report.system_s < 0.55
    assert second.wall_s >= first.wall_s


def test_lines_of_ranks_below_mpiexec(kernels: Path, tmp_path: Path, guarded: Guarded) -> None:
    mpiexec = Path(sys.executable).parent / "mpiexec"
    if not mpiexec.exists():
        pytest.skip("no mpiexec in the folder of this Python")
    shown = tmp_path / "shown.json"
    inner = guarded.words(str(kernels / "octant-mpi-probe"), "measure", str(shown))
    done = guarded.run(str(mpiexec), "-n", "2", *inner, whole=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(shown.read_text()), "the ranks found each other"
    found = guard.load(guarded.file)
    assert found.problems == ()
    assert [report.whole for report in found.reports] == [False, False, True]
    assert sorted((report.rank, report.local_rank) for report in found.reports[:2]) == [(0, 0), (1, 1)]
    assert all(report.status == 0 and not report.outlived for report in found.reports)
    whole = found.reports[2]
    assert whole.user_s + whole.system_s >= sum(report.user_s + report.system_s for report in found.reports[:2])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--whole",), "cannot use --whole or --remove"),
        (("--remove", "/x"), "cannot use --whole or --remove"),
        (("--report",), "its value is missing"),
        (("--report", ""), "its value is empty"),
        (("--report", "/x", "--remove", "x"), "--remove needs the full path of a folder"),
        (("--report", "/x", "--remove", "/"), "--remove needs the full path of a folder"),
    ],
)
def test_options_that_make_no_sense_are_refused(kernels: Path, words: tuple[str, ...], said: str) -> None:
    command = [str(kernels / "octant-bind"), *words, *(["--", "true"] if words[-1] != "--report" else [])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert said in done.stderr
    assert "; try " in done.stderr


def test_a_report_that_cannot_be_written(guarded: Guarded, tmp_path: Path) -> None:
    """The whole command is not started without it; a rank on another host is, and its line is missing."""
    (tmp_path / "target").touch()
    guarded.file.symlink_to(tmp_path / "target")
    done = guarded.run("echo", "x", whole=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert "cannot write the report" in done.stderr
    assert guarded.run("echo", "x").stdout == "x\n"
    assert (tmp_path / "target").read_text() == "", "a link is not followed"
    guarded.file.unlink()
    os.mkfifo(guarded.file)
    assert guarded.run("echo", "x").stdout == "x\n"


def test_the_report_is_for_its_owner_alone(guarded: Guarded) -> None:
    guarded.run("true")
    assert guarded.file.stat().st_mode & 0o777 == 0o600


def powercap(root: Path, zone: str, name: str, uj: int, range_uj: int = 1000 * 10**6) -> Path:
    folder = root / "class" / "powercap" / zone
    folder.mkdir(parents=True)
    (folder / "name").write_text(f"{name}\n")
    (folder / "energy_uj").write_text(f"{uj}\n")
    (folder / "max_energy_range_uj").write_text(f"{range_uj}\n")
    return folder / "energy_uj"


def test_energy_is_counted_by_domain_across_the_wrap_of_a_counter(guarded: Guarded, tmp_path: Path) -> None:
    root = tmp_path / "sys"
    package = powercap(root, "intel-rapl:0", "package-0", 990 * 10**6)
    memory = powercap(root, "intel-rapl:0:0", "dram", 5 * 10**6)
    powercap(root, "intel-rapl-mmio:0", "package-0", 0)  # the same one again
    broken = powercap(root, "intel-rapl:1", "package-1", 7)
    script = f"echo 15000000 > {package}; echo 7500000 > {memory}; echo nothing > {broken}"
    guarded.run("sh", "-c", script, whole=True, options=("--sysfs", str(root)))
    assert guarded.only().energy == (guard.Energy("package-0", 25.0), guard.Energy("package-0/dram", 2.5))
    guarded.run("true", options=("--sysfs", str(root)))
    assert guarded.only().energy == (), "energy belongs to the node, and is in the line of the whole command"


def test_a_counter_that_wraps_during_a_run_twice_is_read_between(guarded: Guarded, tmp_path: Path) -> None:
    package = powercap(tmp_path / "sys", "intel-rapl:0", "package-0", 900 * 10**6)
    steps = "".join(
        f"echo {uj} > {package}.new; mv {package}.new {package}; sleep 0.7; " for uj in (800000000, 700000000)
    )
    guarded.run("sh", "-c", steps, whole=True, options=("--sysfs", str(tmp_path / "sys")))
    assert guarded.only().energy == (guard.Energy("package-0", 1800.0),)


LINE = {
    "kind": "guard", "whole": False, "host": "n1", "pid": 12, "started": 1795677744.168291, "wall_s": 0.5,
    "user_s": 0.4, "system_s": 0.1, "memory_bytes": 1000, "minor_faults": 1, "major_faults": 0,
    "voluntary_switches": 1, "involuntary_switches": 0, "rank": 3, "status": 0,
    "given": {"host": "n1", "cpus": [1], "thread_masks": [[0, 1]]},
    "lost": {"rank": 3, "wall_ns": [500000000], "elapsed_ns": 500000100, "stolen_ns": 0},
    "looks": 1, "processes": 1,
    "threads": [{"name": "x", "process": 12, "cpu_s": 0.4, "mask": "0-1", "seen_on": {"1": 1}}],
    "nodes": {"0": 900}, "huge_bytes": 0,
}  # fmt: skip


def test_lines_are_read_as_they_are_written(tmp_path: Path) -> None:
    file = tmp_path / "report"
    file.write_text(json.dumps(LINE) + "\n" + json.dumps({**LINE, "status": None, "signal": 9}) + "\n")
    first, second = guard.read(file)
    assert (first.rank, first.code, second.code) == (3, 0, -9)
    assert first.threads == (guard.SeenThread("x", 0.4, frozenset({0, 1}), {1: 1}, 12),)
    assert first.node_bytes == {0: 900}
    assert first.started_s == LINE["started"]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(LINE)[:-40],
        "not ours",
        "[]",
        json.dumps({**LINE, "kind": "point"}),
        json.dumps({**LINE, "wall_s": -1}),
        json.dumps({**LINE, "wall_s": "0.5"}),
        json.dumps({**LINE, "more": 1}),
        json.dumps({**LINE, "signal": 9}),
        json.dumps({**LINE, "status": 256}),
        json.dumps({**LINE, "rank": 4}),
        json.dumps({**LINE, "threads": [{"name": "x", "cpu_s": 0.4, "mask": "0-", "seen_on": {}}]}),
        json.dumps({**LINE, "threads": LINE["threads"] * 257}),  # type: ignore[operator]
        json.dumps({name: value for name, value in LINE.items() if name != "given"}),
        "[" * 100_000,
        "\udcff",
    ],
)
def test_a_torn_or_foreign_line_is_named_and_the_others_are_read(tmp_path: Path, text: str) -> None:
    file = tmp_path / "report"
    file.write_bytes(f"{json.dumps(LINE)}\n{text}\n{json.dumps(LINE)}\n".encode(errors="surrogateescape"))
    found = guard.load(file)
    assert len(found.reports) == 2
    (problem,) = found.problems
    assert problem.startswith("line 2 of report is not a valid guard report (")


def test_files_that_are_none_of_ours_are_named(tmp_path: Path) -> None:
    assert guard.load(tmp_path / "none") == guard.GuardFile()
    assert guard.load(tmp_path).problems == (f"{tmp_path.name} is not a regular file",)
    os.mkfifo(tmp_path / "fifo")
    assert guard.load(tmp_path / "fifo").problems == ("fifo is not a regular file",)
    large = tmp_path / "large"
    large.write_text(json.dumps(LINE) + "\n" + " " * guard.FILE_LIMIT)
    found = guard.load(large)
    assert len(found.reports) == 1
    assert "longer than" in found.problems[0]
