"""Kernels one by one: threads, ranks, loops, widths, stores, pages, memory, what is refused and with which words."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kernel_run import QUICK, KernelRuns, read_records, smoke
from namespaces import unshare
from octant.failure import Exit


@pytest.mark.parametrize("name", ["node/stream", "node/latency", "node/peakflops", "node/noise"])
def test_threads_are_lanes_and_each_is_checked(run_kernel: KernelRuns, name: str) -> None:
    done = run_kernel(name, *smoke(name), *QUICK, "threads=2")
    assert done.code == 0, done.stderr
    assert [head.thread for head in done.points[0].heads] == [0, 1]
    assert len(done.points[0].given[0].thread_masks) == 2


@pytest.mark.mpi
def test_two_ranks_are_two_copies(run_kernel: KernelRuns) -> None:
    done = run_kernel("node/stream", *smoke("node/stream"), *QUICK, ranks=2)
    assert done.code == 0, done.stderr
    assert [head.rank for head in done.points[0].heads] == [0, 1]
    assert len(done.points[0].given) == 2


@pytest.mark.mpi
def test_an_unsupported_feature_is_refused_by_all_ranks_and_the_sweep_continues(run_kernel: KernelRuns) -> None:
    done = run_kernel("node/stream", "bytes=384KiB", "pages=16GiB,base", *QUICK, ranks=2)
    assert done.code == 3
    assert [failure.exit for failure in done.failures] == [3]
    assert "pages=16GiB" in done.failures[0].reason
    assert len(done.points) == 1


def test_points_of_a_launch_are_measured_once_each_in_the_order_of_the_seed(run_kernel: KernelRuns) -> None:
    sizes = [f"{3 * size}KiB" for size in (1, 2, 4, 8, 16, 32)]
    words = (f"bytes={','.join(sizes)}", "kernel=copy,triad", "seconds=0.01")
    written = [(size, kernel) for size in sizes for kernel in ("copy", "triad")]
    points = run_kernel("node/stream", *words).points
    for seed in ("7", "8", "7"):
        points += run_kernel("node/stream", *words, "--seed", seed).points[len(points) :]
    measured = [(point.knobs["bytes"], point.knobs["kernel"]) for point in points]
    plain, seven, eight, again = (measured[i : i + 12] for i in range(0, 48, 12))
    assert plain == written
    assert sorted(seven) == sorted(eight) == sorted(written)
    assert seven != written
    assert seven == again != eight
    refused = run_kernel("node/stream", *words, "--seed", "any")
    assert (refused.code, "cannot read 'any' as a non-negative integer" in refused.stderr) == (2, True)


@pytest.mark.mpi
def test_all_ranks_measure_in_the_same_order(run_kernel: KernelRuns) -> None:
    done = run_kernel("mpi/p2p", "bytes=8,64,512,4KiB", *QUICK, "--seed", "3")
    assert done.code == 0, done.stderr
    assert [point.knobs["bytes"] for point in done.points] != ["8", "64", "512", "4KiB"]
    assert sorted(point.count("bytes_sent") for point in done.points) == [16, 128, 1024, 8192]


def test_pages_that_were_not_given_are_seen_in_the_record(run_kernel: KernelRuns) -> None:
    honest = run_kernel("node/stream", "bytes=12MiB", "pages=base", *QUICK)
    buffers = honest.points[0].given[0].buffers
    assert all(0 <= b.resident_bytes - b.bytes // 4096 * 4096 <= 2 * 4096 for b in buffers)  # with pages of guards
    faulty = run_kernel("node/stream", "bytes=12MiB", "pages=base", *QUICK, fault="pages")
    assert {buffer.page_bytes for buffer in faulty.points[-1].given[0].buffers} == {1}


@pytest.mark.parametrize("kernel", ["load", "copy", "scale", "add", "triad"])
def test_every_loop_of_stream_is_right_at_every_width_and_store(run_kernel: KernelRuns, kernel: str) -> None:
    words = (
        f"kernel={kernel}",
        "bytes=3MiB",
        "store=plain,streaming",
        "width=scalar,128,auto",
        "seconds=0.01",
        "least=5",
    )
    done = run_kernel("node/stream", *words)
    assert done.code == 0, done.stderr
    assert {point.notes["width"] for point in done.points} >= {"scalar", "128"}
    written = {point.knobs["store"]: point.count("bytes_allocated") for point in done.points}
    assert written["streaming"] == 0
    assert (written["plain"] > 0) == (kernel != "load")
    spoilt = run_kernel("node/stream", *words, fault="wrong")
    assert spoilt.code == Exit.WRONG_ANSWER
    assert sum(not point.passed for point in spoilt.points) == len(done.points)


def test_the_scalar_loops_of_stream_are_no_vectors(kernels: Path) -> None:
    """An optimising compiler vectorises them unless an option prevents it."""
    if os.uname().machine != "x86_64" or shutil.which("objdump") is None:
        pytest.skip("reads x86-64 instructions with objdump")
    words = ["objdump", "-d", "-C", "--no-show-raw-insn", str(kernels / "octant-node-stream")]
    functions = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split("\n\n")
    wanted = re.compile(r".*stream::Loops<64>::(\w+)<\(stream::Form\)0, false>")
    loops = {match[1]: body for body in functions if (match := wanted.match(body))}
    assert set(loops) == {"load", "copy", "scale", "add", "triad", "write", "update"}
    for name, body in loops.items():
        # `load` stores its first zeroes as a vector.
        packed = r"(add|mul|fm\w+)pd" if name == "load" else r"(add|mul|fm\w+)pd|%[yz]mm"
        assert not re.search(packed, body), name


@pytest.mark.parametrize(("kernel", "arrays"), [("load", 1), ("copy", 2), ("triad", 3)])
@pytest.mark.parametrize("size", [100_000, 4 * 2**20, 5_000_000])
def test_the_arrays_of_stream_fill_what_was_asked_for(
    run_kernel: KernelRuns, kernel: str, arrays: int, size: int
) -> None:
    done = run_kernel("node/stream", f"kernel={kernel}", f"bytes={size}", "threads=2", "seconds=0.01", "pages=base")
    buffers = done.points[0].given[0].buffers
    whole = buffers[0].bytes * arrays
    assert 0.97 * size <= whole <= size + 4096 * arrays, "a thread begins with a page of its own"
    assert {buffer.bytes for buffer in buffers} == {buffers[0].bytes}


@pytest.mark.parametrize(
    ("name", "words", "expected"),
    [
        ("node/latency", ("bytes=1100",), "1100 B to 1088 B"),
        ("node/latency", ("bytes=1088",), None),
        ("node/stream", ("bytes=100000", "threads=2"), "100000 B to 98304 B"),
        ("node/stream", ("bytes=384KiB",), None),
        ("node/randomaccess", ("bytes=3MiB", "threads=2"), "3145728 B to 2097152 B"),
        ("node/randomaccess", ("bytes=64KiB",), None),
    ],
)
def test_a_size_that_is_rounded_is_in_the_record(
    run_kernel: KernelRuns, name: str, words: tuple[str, ...], expected: str | None
) -> None:
    assert run_kernel(name, *words, *QUICK).points[0].notes.get("rounded") == expected


def test_prefetchers_are_switched_or_all_ranks_say_why_not(run_kernel: KernelRuns) -> None:
    may_write = any(os.access(path, os.W_OK) for path in Path("/dev/cpu").glob("*/msr"))
    if may_write and "OCTANT_TEST_MSR" not in os.environ:
        pytest.skip("would write registers of this machine; OCTANT_TEST_MSR=1 allows it")
    done = run_kernel("node/stream", "hwprefetch=off,keep", "bytes=64KiB", *QUICK, ranks=2)
    switched = {point.knobs["hwprefetch"]: point.notes.get("hwprefetch") for point in done.points}
    assert switched.pop("keep") is None
    if done.code == 0:
        assert switched["off"] in ("off, register 0x1a4", "off, register 0xc0000108", "off, DSCR")
        return
    assert done.code == 3
    assert not switched
    (refused,) = (failure.reason for failure in done.failures)
    assert refused is not None
    assert refused.startswith("cannot switch the hardware prefetchers (")
    assert refused.endswith("); try hwprefetch=keep")


def test_pages_of_buffers_within_l2_are_drawn_where_base_pages_are_asked_for(run_kernel: KernelRuns) -> None:
    if not list(Path("/sys/devices/system/cpu/cpu0/cache").glob("index2/size")):
        pytest.skip("this system does not say how large L2 is")

    def layouts(*words: str, name: str = "node/latency") -> list[str | None]:  # of the last two points of all in a file
        return [point.notes.get("layout") for point in run_kernel(name, *words, *QUICK).points[-2:]]

    assert layouts("bytes=32KiB", "pages=base,default", "threads=2") == ["random", None]
    assert layouts("bytes=32KiB", "pages=base,default", "layout=random") == ["random", "random"]
    assert layouts("bytes=32KiB,64MiB", "pages=base", "layout=given") == [None, None]
    assert layouts("bytes=32KiB,64MiB", "pages=base") == ["random", None]
    assert layouts("bytes=32KiB,64MiB", "pages=base", "kernel=copy", name="node/stream") == ["random", None]
    large = run_kernel("node/latency", "bytes=64MiB,16KiB", "layout=random", *QUICK)
    assert (large.code, large.points[-1].knobs["bytes"]) == (3, "16KiB")
    assert "cannot select random pages for 67108864 B per thread (L2 has" in large.failures[0].reason
    huge = run_kernel("node/latency", "bytes=32KiB", "layout=random", "pages=thp")
    assert huge.code == 2
    assert "cannot use layout=random with pages=thp" in huge.stderr


def test_launches_draw_their_hardware_threads(run_kernel: KernelRuns) -> None:
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        pytest.skip("needs two hardware threads")

    def drawn(seed: int, *words: str) -> tuple[int, ...]:
        done = run_kernel("node/noise", "seconds=0.01", "least=5", "--seed", str(seed), *words)
        return done.points[-1].given[0].cpus

    seats = [drawn(seed) for seed in range(12)]
    assert len(set(seats)) > 1
    assert seats[5] == drawn(5)
    two = {frozenset(drawn(seed, "threads=2")) for seed in range(3)}
    assert all(len(pair) == 2 for pair in two)
    assert len(cpus) > 2 or two == {frozenset(cpus)}


def test_more_memory_than_there_is_is_refused_and_the_sweep_goes_on(run_kernel: KernelRuns) -> None:
    done = run_kernel("node/stream", "bytes=100TiB,384KiB", *QUICK)
    assert done.code == 3
    assert "MiB are left of this rank's share" in done.failures[0].reason
    assert [point.knobs["bytes"] for point in done.points] == ["384KiB"]


def test_threads_that_openmp_does_not_give_are_refused(run_kernel: KernelRuns) -> None:
    done = run_kernel("node/noise", "threads=2", *QUICK, environment={"OMP_THREAD_LIMIT": "1"})
    assert (done.code, done.points) == (1, [])
    assert "cannot start threads=2 (OpenMP provides 1)" in done.stderr
    done = run_kernel("node/noise", "threads=2", *QUICK, environment={"OMP_DYNAMIC": "true"})
    assert done.points[0].lanes == 2


@pytest.mark.mpi
@pytest.mark.parametrize("turned", [1, -1])
def test_threads_that_a_launcher_placed_stay_in_their_places(run_kernel: KernelRuns, turned: int) -> None:
    """In this order and in the other one: any order that is drawn differs from one of them."""
    cpus = sorted(os.sched_getaffinity(0))[:2][::turned]
    if len(cpus) < 2:
        pytest.skip("needs two hardware threads")
    placed = {"OMP_PLACES": ",".join(f"{{{cpu}}}" for cpu in cpus), "OMP_PROC_BIND": "close"}
    done = run_kernel("node/noise", "threads=2", "--seed", "1", *QUICK, environment=placed)
    assert done.points[0].given[0].thread_masks == tuple((cpu,) for cpu in cpus)


@pytest.mark.mpi
@pytest.mark.parametrize("own", [0, 1])
def test_ranks_whose_masks_overlap_do_not_share_a_hardware_thread(kernels: Path, tmp_path: Path, own: int) -> None:
    """As where a launcher binds to packages: two ranks with one mask, or one within the other."""
    cpus = sorted(os.sched_getaffinity(0))[:2]
    if len(cpus) < 2:
        pytest.skip("needs two hardware threads")
    program = [str(kernels / "octant-node-noise"), *QUICK, "--output", str(tmp_path / "r")]
    wide, narrow = (["taskset", "-c", mask, *program] for mask in (f"{cpus[0]},{cpus[1]}", f"{cpus[own]}"))
    mpiexec = str(Path(sys.executable).parent / "mpiexec")
    subprocess.run([mpiexec, "-n", "1", *wide, ":", "-n", "1", *narrow], check=True, timeout=60)
    point = read_records(tmp_path / "r")[0][0]
    assert [given.thread_masks for given in point.given] == [((cpus[1 - own],),), ((cpus[own],),)]
    assert not point.share_cores


@pytest.mark.mpi
def test_a_sample_of_messages_lasts_forty_readings_of_the_clock(run_kernel: KernelRuns) -> None:
    """What METHOD.md promises: the reading itself is then 2.5 % of a sample at most. Load may deceive it once."""
    points = [point for _ in range(3) for point in run_kernel("mpi/p2p", "bytes=0,8", *QUICK).points]
    long_enough = [np.median(point.read().series[0].values) >= 36 * point.process.clock.cost_ns for point in points]
    assert sum(long_enough) > len(points) / 2


@pytest.mark.mpi
def test_a_rank_that_waits_for_the_pair_sleeps(kernels: Path, tmp_path: Path) -> None:
    """MPICH spins in collectives: the middle rank would take a core from the two that play."""
    wrapper = "import os,resource,subprocess,sys; subprocess.run(sys.argv[2:], check=True, close_fds=False); "
    wrapper += "cpu = resource.getrusage(resource.RUSAGE_CHILDREN); rank = os.environ['PMI_RANK']; "
    wrapper += "open(sys.argv[1] + rank, 'w').write(str(cpu.ru_utime + cpu.ru_stime))"
    mpiexec = str(Path(sys.executable).parent / "mpiexec")

    def cpu_seconds(seconds: str) -> tuple[float, float]:
        """Of a rank that plays and of the one that waits."""
        words = [str(kernels / "octant-mpi-p2p"), "bytes=4MiB", f"seconds={seconds}", "samples=1000000", "precision=0"]
        command = [sys.executable, "-c", wrapper, str(tmp_path / "cpu"), *words, "--output", str(tmp_path / "records")]
        subprocess.run([mpiexec, "-n", "3", *command], check=True, timeout=60, capture_output=True)
        player_s, waiting_s = (float((tmp_path / f"cpu{rank}").read_text()) for rank in (0, 1))
        return player_s, waiting_s

    # What starting takes is taken off: a busy machine leaves the player little more than that.
    (short_player_s, short_waiting_s), (player_s, waiting_s) = cpu_seconds("0.01"), cpu_seconds("3")
    assert waiting_s - short_waiting_s < 0.5 * (player_s - short_player_s)


@pytest.mark.mpi
def test_lanes_of_hosts_with_clocks_of_their_own_have_one_beginning(kernels: Path, tmp_path: Path) -> None:
    """A time namespace is a host that was started a day earlier; its samples still fit those of the others."""
    away = unshare("--time", "--monotonic", "86400")
    if subprocess.run([*away, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no time namespaces here")
    program = [str(kernels / "octant-node-noise"), *QUICK, "--output", str(tmp_path / "r")]
    mpiexec = str(Path(sys.executable).parent / "mpiexec")
    command = [mpiexec, "-genv", "MPIR_CVAR_NOLOCAL", "1", "-n", "1", *program, ":", "-n", "1", *away, *program]
    subprocess.run(command, check=True, timeout=60)
    point = read_records(tmp_path / "r")[0][0]
    assert point.ranks == 2
    begins = [series.begin_ns for series in point.read().series]
    assert all(begin is not None and 0 <= begin[0] < 10**10 for begin in begins)


def test_an_unknown_name_is_refused_with_the_known_ones(run_kernel: KernelRuns) -> None:
    done = run_kernel("node/stream", "kernle=triad")
    assert done.code == 2
    assert "kernel, bytes, store, width" in done.stderr
    assert "auto, scalar, 128, 256, 512" in run_kernel("node/stream", "width=77").stderr


@pytest.mark.parametrize("element", ["double", "single"])
@pytest.mark.parametrize("threads", [1, 2])
def test_gemm_by_the_tuned_library_is_right_and_a_wrong_element_is_seen(
    run_kernel: KernelRuns, element: str, threads: int
) -> None:
    words = (f"element={element}", f"threads={threads}", "n=1,77,256", *QUICK)
    done = run_kernel("node/gemm", *words)
    assert done.code == 0, done.stderr
    assert all(point.checks[0].value < 0.1 for point in done.points)
    assert "OpenBLAS" in done.points[0].notes["library_version"]
    assert len(done.points[0].given[0].thread_masks[0]) == threads
    spoilt = run_kernel("node/gemm", *words, fault="wrong")
    assert spoilt.code == Exit.WRONG_ANSWER
    assert sum(not point.passed for point in spoilt.points) == 3


def test_gemm_refuses_what_is_no_blas(run_kernel: KernelRuns) -> None:
    assert (
        "(no dgemm, sgemm or dtrsm in it); try library=openblas" in run_kernel("node/gemm", "library=libm.so.6").stderr
    )
    assert "cannot load" in run_kernel("node/gemm", "library=/nowhere/libblas.so").stderr
    assert "no such library was found" in run_kernel("node/gemm", "library=essl").stderr


def test_a_ping_pong_of_one_rank_is_refused(kernels: Path) -> None:
    done = subprocess.run([kernels / "octant-mpi-p2p"], capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 2
    assert "try --ranks 2" in done.stderr
