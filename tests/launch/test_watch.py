"""Location of threads and memory: the kernel's files are read, programs are watched, differences are reported."""

import dataclasses
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fake_run import machine
from octant.launch import watch
from octant.launch.compare import differences
from octant.launch.pages import PageSizes
from octant.placement import planner
from octant.placement.request import parse_request
from octant.report.placement.where import as_json, as_text
from octant.units import bytes_text
from paths import Octant

pytestmark = pytest.mark.alone

STAT = "4242 (a b) c) S 1 4242 4242 0 -1 4194304 99 0 0 0 150 50 0 0 20 0 2 0 1000 0 0 " + "0 " * 14 + "7 0 0 0 0 0"
NUMA_MAPS = """\
55a0 default file=/usr/bin/prog mapped=3 active=2 N0=3 kernelpagesize_kB=4
7f00 bind:0-1 anon=512 dirty=512 active=0 N0=128 N1=384 kernelpagesize_kB=4
7f80 default file=/anon_hugepage\\040(deleted) huge anon=2 dirty=2 N1=2 kernelpagesize_kB=2048
7fff default stack anon=3 dirty=3 N0=3 kernelpagesize_kB=4
"""
CPUS = sorted(os.sched_getaffinity(0))
SPIN = (
    "import os, time\nend = time.monotonic() + 0.6\nwhile time.monotonic() < end: pass\n"
    "os.write(1, b'said\\n'); raise SystemExit(5)"  # one write: lines of two ranks cannot mix
)


def test_a_stat_line_is_read_whatever_the_name() -> None:
    assert watch.parse_stat(STAT) == ("a b) c", 7, 200 / os.sysconf("SC_CLK_TCK"))
    with pytest.raises(ValueError, match="not a line of /proc/PID/stat"):
        watch.parse_stat("4242 gone")


def test_our_own_stat_line_says_where_we_are() -> None:
    name, cpu, _ = watch.parse_stat(Path("/proc/thread-self/stat").read_text())
    assert name
    assert cpu in CPUS


def test_private_memory_is_counted_by_node_and_page_size() -> None:
    assert watch.parse_numa_maps(NUMA_MAPS) == {0: (128 + 3) * 4096, 1: 384 * 4096 + 2 * (2 << 20)}


def test_masks_and_huge_pages_are_read() -> None:
    assert watch.parse_mask("Name:\tx\nCpus_allowed:\t3\nCpus_allowed_list:\t0-2,8\n") == {0, 1, 2, 8}
    assert watch.parse_huge("Rss: 9 kB\nAnonHugePages:   2048 kB\nPrivate_Hugetlb: 4096 kB\n") == 6144 * 1024


def test_a_process_is_followed_until_it_ends() -> None:
    child = subprocess.Popen([sys.executable, "-c", f"print(flush=True)\n{SPIN}"], stdout=subprocess.PIPE)
    assert child.stdout
    child.stdout.readline()  # the first look, which is at its memory too, finds the whole interpreter
    looks: list[int] = []
    found = watch.follow(child.pid, pages=True, seen=lambda so_far: looks.append(so_far.looks))
    child.communicate()
    (process,) = found.processes
    assert process.pid == child.pid
    assert found.looks >= 2
    assert looks == list(range(1, len(looks) + 1))
    assert process.threads[child.pid].seen_on.total() >= 2
    assert process.pages
    assert process.pages.total() > 1 << 20


def seen(masks: list[set[int]], node_bytes: dict[int, int], huge: int = 0) -> watch.Watched:
    threads = {10 + i: watch.Thread(10 + i, "t", frozenset(m), Counter({min(m): 5}), 1.0) for i, m in enumerate(masks)}
    process = watch.WatchedProcess(10, 0, 0, "prog", threads, node_bytes, huge)
    return watch.Watched("host", (process,), 0, 1.0, 10)


PLACED = planner.plan(machine(nodes=2, cores=4).topology, parse_request("1x2"))


def test_a_program_that_is_where_it_should_be_is_not_remarked_on() -> None:
    assert differences(PLACED, seen([{0}, {1}], {0: 1 << 30})) == ()
    assert differences(PLACED, seen([{0}, {1}, {0}], {0: 1 << 30, 1: 1 << 10})) == (), "a helper thread, a stray page"


@pytest.mark.parametrize(
    ("masks", "memory", "said"),
    [
        ([{0}, {0}], {0: 1}, "1 of its threads were placed on 1, 0 are bound there"),
        ([{0}, {5}], {0: 1}, "thread 11 may use 5, but its rank was placed on 0-1"),
        ([{0}, {1}], {0: 90, 1: 10}, "10 % of its memory is on NUMA node 1 instead of 0"),
    ],
)
def test_threads_and_memory_elsewhere_are_reported(masks: list[set[int]], memory: dict[int, int], said: str) -> None:
    assert any(said in text for text in differences(PLACED, seen(masks, memory)))


def test_parts_without_huge_pages_are_reported() -> None:
    found = seen([{0}, {1}], {0: 1 << 20})
    pages = PageSizes(4096, {"stack": {4096: 1 << 20, 2 << 20: 6 << 20}, "text": {4096: 4 << 20}})
    found.processes[0].pages = pages
    assert differences(PLACED, found, huge_segments=("stack",)) == ()
    (text,) = differences(PLACED, found, huge_segments=("text", "stack"))
    assert text.endswith("huge pages were requested for its text; 0 % of 4 MiB is on huge pages")
    (nothing,) = differences(PLACED, found, huge_segments=("data",))
    assert nothing.endswith("the segment was not found")


def test_equal_processes_of_one_name_are_reported_once() -> None:
    """A script starts 35 of them."""
    first = seen([{0}, {1}], {0: 1 << 20})
    children = tuple(
        watch.WatchedProcess(
            100 + n, 0, 0, "cc1", first.processes[0].threads, {0: 1}, pages=PageSizes(4096, {"data": {4096: size}})
        )
        for n, size in enumerate((57_344, 61_440, 57_344))
    )
    first.processes[0].pages = PageSizes(4096, {"data": {4096: 4 << 20}})
    found = dataclasses.replace(first, processes=(*first.processes, *children))
    away = seen([{5}, {6}], {0: 1})
    assert len(differences(PLACED, away)) == 4, "each thread of one process is reported"
    assert differences(PLACED, found, huge_segments=("data",)) == (
        "rank 0 (prog 10): huge pages were requested for its data; 0 % of 4 MiB is on huge pages",
        "rank 0 (cc1 100 and 2 more of this name): huge pages were requested for its data; "
        "0 % of 56 KiB is on huge pages",
    )


def test_a_heap_without_huge_pages_is_reported() -> None:
    small = seen([{0}, {1}], {0: 1 << 30}, huge=0)
    assert "0 % of its memory is" in differences(PLACED, small, huge_heap=True)[0]
    assert differences(PLACED, seen([{0}, {1}], {0: 1 << 30}, huge=1 << 30), huge_heap=True) == ()


def test_a_missing_rank_is_reported() -> None:
    placed = planner.plan(machine(nodes=2, cores=4).topology, parse_request("2x2"))
    assert differences(placed, seen([{0}, {1}], {0: 1})) == ("ranks 1 of this node: not found",)


def test_memory_is_looked_at_when_a_process_is_first_seen() -> None:
    words = [sys.executable, "-c", "print(flush=True); input()"]
    own = {**os.environ, "OCTANT_MARK": "first seen"}
    with subprocess.Popen(words, env=own, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        program.stdout.readline()
        looker = watch._Looker(b"OCTANT_MARK=first seen")
        looker.looks = 1  # the next is one of those that usually leave memory out
        looker.look()
        program.communicate(b"\n")
    assert sum(looker.found[program.pid].node_bytes.values()) > 0


class Phases:
    """A process that changes its memory by so many MiB at each command, and is observed in between."""

    WORDS = """
import mmap, sys
blocks = []
print("ready", flush=True)
for line in sys.stdin:
    word, _, mib = line.strip().partition(" ")
    if word == "free":
        blocks.pop().close()
    elif word == "exec":
        import os
        os.execvp("sh", ["sh", "-c", "echo done; read line"])
    else:
        blocks.append(mmap.mmap(-1, int(mib) << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
        for at in range(0, int(mib) << 20, 4096):
            blocks[-1][at] = 1
        if word == "spike":
            blocks.pop().close()
    print("done", flush=True)
"""

    def __init__(self, program: "subprocess.Popen[str]", mark: str) -> None:
        self.program, self.looker = program, watch._Looker(f"OCTANT_MARK={mark}".encode(), pages=True)

    def __call__(self, command: str) -> watch.WatchedProcess:
        """The process as it is known after this command and a look."""
        assert self.program.stdin is not None
        assert self.program.stdout is not None
        self.program.stdin.write(f"{command}\n")
        self.program.stdin.flush()
        assert self.program.stdout.readline() == "done\n"
        self.looker.look()
        return self.looker.found[self.program.pid]


@pytest.fixture
def phases(request: pytest.FixtureRequest) -> Iterator[Phases]:
    mark = f"phases of {request.node.name} {os.getpid()}"
    words, own = [sys.executable, "-c", Phases.WORDS], {**os.environ, "OCTANT_MARK": mark}
    with subprocess.Popen(words, env=own, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        program.stdout.readline()
        yield Phases(program, mark)
        program.kill()


def totals_mib(process: watch.WatchedProcess) -> list[float]:
    """Resident, of the pages, private by node."""
    assert process.pages
    totals = (process.resident_bytes, process.pages.total(), sum(process.node_bytes.values()))
    return [total / 2**20 for total in totals]


def test_page_sizes_and_memory_are_those_of_the_largest_sample(phases: Phases, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each total has the memory that the program had then; what it frees later does not change them."""
    monkeypatch.setattr(watch, "MEMORY_SHARE", 1e9)
    phases.looker.look()
    small = totals_mib(phases.looker.found[phases.program.pid])
    assert max(small) < 30
    for command, mib in (("fill 40", 40), ("fill 80", 120), ("free", 120)):
        assert totals_mib(phases(command)) == pytest.approx([base + mib for base in small], abs=2), command


def test_a_peak_between_two_samples_is_stated(phases: Phases) -> None:
    found = phases("fill 20")
    assert "between two samples" not in as_text(seen_by(found), None)
    found = phases("spike 60")
    assert found.peak_bytes >= 80 << 20
    text = as_text(seen_by(found), None)
    assert f"had up to {bytes_text(found.peak_bytes)} resident between two samples" in text
    assert f"the sample shown has {bytes_text(found.resident_bytes)}" in text
    assert f"s: {bytes_text(found.resident_bytes)} resident\nMiB on pages of" in text
    (of_json,) = json.loads(as_json(seen_by(found), None))["processes"]
    assert (of_json["resident_bytes"], of_json["peak_resident_bytes"]) == (found.resident_bytes, found.peak_bytes)


def seen_by(process: watch.WatchedProcess) -> watch.Watched:
    return watch.Watched("host", (process,), 0, 1.0, 2)


@pytest.mark.parametrize(("share", "grown"), [(1e9, 44), (-1.0, 40)])
def test_small_growth_is_read_within_a_share_of_the_time(
    phases: Phases, monkeypatch: pytest.MonkeyPatch, share: float, grown: int
) -> None:
    phases.looker.look()
    small = totals_mib(phases.looker.found[phases.program.pid])
    monkeypatch.setattr(watch, "MEMORY_SHARE", share)
    phases("fill 40")
    assert totals_mib(phases("fill 4")) == pytest.approx([base + grown for base in small], abs=2)


def test_an_unchanged_process_is_read_again_later(phases: Phases, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "MEMORY_SHARE", 1e9)
    first = phases("fill 40").sampled_s
    phases.looker.look()
    assert phases.looker.found[phases.program.pid].sampled_s > first


def test_memory_of_the_program_before_is_not_that_of_the_next_one(phases: Phases) -> None:
    assert totals_mib(phases("fill 40"))[0] > 40
    found = phases("exec")
    assert found.name == "sh"
    assert max(totals_mib(found)) < 8
    assert found.peak_bytes < 8 << 20


def test_resident_memory_is_read_with_pages_of_a_pool() -> None:
    status = "Name:\tx\nVmPeak:\t 90 kB\nVmHWM:\t 50 kB\nVmRSS:\t 40 kB\nHugetlbPages:\t 2048 kB\n"
    assert watch.parse_resident(status) == (2088 << 10, 50 << 10)
    assert watch.parse_resident("Name:\tx\nState:\tZ (zombie)\n") == (0, 0)


def test_threads_that_were_never_started_are_reported() -> None:
    """A program that starts fewer threads than requested is not placed as requested."""
    assert differences(PLACED, seen([{0, 1}], {0: 1})) == ("rank 0: 2 threads requested, 1 found",)


def test_a_table_that_cannot_be_written_is_reported_before_the_program_runs(octant: Octant, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    done = octant("where", "--to", str(tmp_path / "none" / "x"), "--", "touch", str(mark))
    assert (done.returncode, mark.exists()) == (1, False)
    assert "try another --to FILE" in done.stderr


@pytest.mark.parametrize(
    ("program", "code", "said"),
    [
        (["true"], 0, ""),
        (["sh", "-c", "exit 7"], 7, ""),
        (["no such program"], 127, "cannot start 'no such program' (No such file or directory)"),
        (["/"], 126, "cannot start '/' (Permission denied)"),
        (["sh", "-c", "exec sleep 0.2"], 0, "sleep"),
        (["sh", "-c", "sleep 0.2 & sleep 0.2; wait; exit 3"], 3, "sleep"),
    ],
)
def test_programs_that_end_at_once_fork_or_become_others(
    octant: Octant, program: list[str], code: int, said: str
) -> None:
    done = octant("where", "--", *program)
    assert done.returncode == code
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_threads_that_start_late_are_seen(octant: Octant) -> None:
    late = (
        "import threading as t, time; time.sleep(0.3); x = [t.Thread(target=time.sleep, args=(0.3,)) for _ in (1, 2)];"
        "[y.start() for y in x]"
    )
    found = json.loads(octant("where", "--json", "--", sys.executable, "-c", late).stderr)
    assert len(found["processes"][0]["threads"]) == 3


def test_the_programs_output_and_end_pass_through(octant: Octant) -> None:
    done = octant("where", "--place", f"1x1,cpus={CPUS[-1]}", "--json", "--", sys.executable, "-c", SPIN)
    assert (done.stdout, done.returncode) == ("said\n", 5)
    found = json.loads(done.stderr)
    (process,) = found["processes"]
    assert process["threads"][0]["may_use"] == [CPUS[-1]]
    assert process["threads"][0]["seen_on"].keys() == {str(CPUS[-1])}
    assert process["bytes_on_node"]
    assert found["not_as_asked"] == []


@pytest.mark.mpi
@pytest.mark.skipif(len(CPUS) < 2, reason="needs two hardware threads")
def test_ranks_are_distinguished(octant: Octant, tmp_path: Path) -> None:
    table = tmp_path / "where.json"
    words = ("where", "--place", "2x1", "--json", "--to", str(table), "--", sys.executable, "-c", SPIN)
    assert octant(*words).stdout == "said\nsaid\n"
    found = json.loads(table.read_text())
    assert [p["rank"] for p in found["processes"]] == [0, 1]
    assert [p["threads"][0]["may_use"] for p in found["processes"]] == [[cpu] for cpu in CPUS[:2]]


@pytest.mark.skipif(len(CPUS) < 2, reason="needs two hardware threads")
def test_a_program_that_binds_itself_elsewhere_is_reported(octant: Octant, needs: Callable[[str], str]) -> None:
    program = (needs("taskset"), "-c", str(CPUS[1]), sys.executable, "-c", SPIN)
    done = octant("where", "--place", f"1x1,cpus={CPUS[0]}", "--", *program)
    assert f"may use {CPUS[1]}, but its rank was placed on {CPUS[0]}" in done.stderr


def test_a_program_that_is_killed_says_so(octant: Octant) -> None:
    assert octant("where", "--", "sh", "-c", "sleep 0.2; kill -9 $$").returncode == 137


def test_the_words_for_ones_own_launcher_are_printed(octant: Octant) -> None:
    done = octant("bind", "--place", f"1x1,cpus={CPUS[0]}", "--json")
    line = json.loads(done.stdout)
    assert line[0].endswith("octant-bind")
    assert line[1:] == ["--rank", "0", f"cpus={CPUS[0]}", f"threads={CPUS[0]}", "--"]


def test_words_that_cannot_be_read_exit_2_and_what_does_not_fit_exits_3(octant: Octant) -> None:
    assert octant("bind", "--place", "2y1").returncode == 2
    done = octant("bind", "--place", "4096x1")
    assert done.returncode == 3
    assert "the largest request that fits" in done.stderr
