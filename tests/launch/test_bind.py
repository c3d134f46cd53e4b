"""octant-bind gives a process its place and becomes the program; what it cannot give it refuses."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_run import machine
from octant.failure import worst
from octant.launch.bind import LOCAL_RANK_VARIABLES as KNOWN_VARIABLES
from octant.launch.bind import refusal_path, take_refusal
from octant.launch.bind import words as bind_words
from octant.launch.pages import parse_smaps, segments
from octant.placement import planner
from octant.placement.request import parse_request
from paths import ROOT

Bind = Callable[..., "subprocess.CompletedProcess[str]"]
SHOW = ("-c", "import os, json; print(sorted(os.sched_getaffinity(0)))")
CPUS = sorted(os.sched_getaffinity(0))
LOCAL_RANK_VARIABLES = (
    "MPI_LOCALRANKID",
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "MV2_COMM_WORLD_LOCAL_RANK",
    "PALS_LOCAL_RANKID",
    "PMI_LOCAL_RANK",
    "PMIX_LOCAL_RANK",
    "JSM_NAMESPACE_LOCAL_RANK",
    "FLUX_TASK_LOCAL_ID",
    "SLURM_LOCALID",
)


def start(
    program: Path, words: Sequence[str], then: Sequence[str], env: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "KMP_", "GOMP_", "GLIBC_"))}
    return subprocess.run(
        [str(program), *words, "--", *then],
        env={**{k: v for k, v in clean.items() if k not in LOCAL_RANK_VARIABLES}, **(env or {})},
        capture_output=True,
        text=True,
        check=False,
        timeout=20,
    )


@pytest.fixture(scope="session")
def program(kernels: Path) -> Path:
    return kernels / "octant-bind"


@pytest.fixture
def bind(program: Path) -> Bind:
    return lambda *words, then=(sys.executable, *SHOW), env=None: start(program, words, then, env)


def status(done: "subprocess.CompletedProcess[str]", name: str) -> str:
    return next(line.split(":")[1].strip() for line in done.stdout.splitlines() if line.startswith(name))


def test_the_program_gets_its_hardware_threads(bind: Bind) -> None:
    done = bind("--rank", "0", f"cpus={CPUS[-1]}")
    assert done.stdout == f"[{CPUS[-1]}]\n"
    assert done.returncode == 0


@pytest.mark.parametrize("variable", LOCAL_RANK_VARIABLES)
def test_every_launcher_says_which_rank_this_is(bind: Bind, variable: str) -> None:
    words = ("--rank", "0", f"cpus={CPUS[0]}", "--rank", "1", f"cpus={CPUS[-1]}")
    assert bind(*words, env={variable: "1"}).stdout == f"[{CPUS[-1]}]\n"


def test_the_launcher_nearest_to_the_rank_is_believed(bind: Bind) -> None:
    words = ("--rank", "0", f"cpus={CPUS[0]}", "--rank", "1", f"cpus={CPUS[-1]}")
    done = bind(*words, env={"SLURM_LOCALID": "0", "MPI_LOCALRANKID": "1"})
    assert done.stdout == f"[{CPUS[-1]}]\n"
    assert bind(*words, "--local-rank", "0", env={"MPI_LOCALRANKID": "1"}).stdout == f"[{CPUS[0]}]\n"


def test_hardware_threads_that_do_not_exist_are_refused_with_those_that_are_allowed(bind: Bind) -> None:
    done = bind("--rank", "0", f"cpus={CPUS[0]},4095")
    assert done.returncode == 3
    assert f"cannot bind to hardware threads {CPUS[0]},4095 (allowed: " in done.stderr


def test_a_mask_of_which_the_system_takes_a_part_is_refused_with_that_part(bind: Bind) -> None:
    done = bind("--widen", "--rank", "0", f"cpus={CPUS[0]},4095")
    assert done.returncode == 3
    assert f"cannot bind to hardware threads {CPUS[0]},4095 (given: {CPUS[0]})" in done.stderr


@pytest.mark.skipif(len(CPUS) < 2, reason="needs two hardware threads")
def test_a_mask_set_before_is_not_left_unless_asked(program: Path, needs: Callable[[str], str]) -> None:
    narrow = [needs("taskset"), "-c", str(CPUS[0]), str(program)]
    place = ["--rank", "0", f"cpus={CPUS[1]}", "--", sys.executable, *SHOW]
    refused = subprocess.run([*narrow, *place], capture_output=True, text=True, check=False)
    assert refused.returncode == 3
    assert f"allowed: {CPUS[0]};" in refused.stderr
    widened = subprocess.run([*narrow, "--widen", *place], capture_output=True, text=True, check=False)
    assert widened.stdout == f"[{CPUS[1]}]\n"


def test_openmp_gets_a_place_a_thread_and_nothing_that_conflicts(bind: Bind) -> None:
    first, last = CPUS[0], CPUS[-1]
    old = {"KMP_AFFINITY": "compact", "GOMP_CPU_AFFINITY": "0", "OMP_PLACES": "cores", "OMP_PROC_BIND": "spread"}
    done = bind("--rank", "0", f"cpus={first},{last}", f"threads={first}/{last}", then=("env",), env=old)
    found = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    if first != last:
        assert found["OMP_PLACES"] == f"{{{first}}},{{{last}}}"
        assert found["OMP_PROC_BIND"] == "close"
    assert found["OMP_NUM_THREADS"] == "2"
    assert not {"KMP_AFFINITY", "GOMP_CPU_AFFINITY"} & set(found)


def test_threads_that_may_move_within_their_rank_are_not_bound_one_by_one(bind: Bind) -> None:
    whole = f"{CPUS[0]},{CPUS[-1]}"
    done = bind("--rank", "0", f"cpus={whole}", f"threads={whole}/{whole}/{whole}", then=("env",))
    assert "OMP_NUM_THREADS=3" in done.stdout
    assert "OMP_PROC_BIND=false" in done.stdout
    assert "OMP_PLACES" not in done.stdout


def test_memory_policies_show_in_numa_maps(bind: Bind) -> None:
    if not Path("/proc/self/numa_maps").exists():
        pytest.skip("this kernel has no NUMA support")
    done = bind("--rank", "0", "mem=bind:0", then=("cat", "/proc/self/numa_maps"))
    assert " bind:0 " in done.stdout
    done = bind("--rank", "0", "mem=interleave:0", then=("cat", "/proc/self/numa_maps"))
    assert " interleave:0 " in done.stdout


@pytest.mark.parametrize("policy", ["bind:900", "interleave:0+900", "preferred:900"])
def test_memory_nodes_that_are_not_there_are_refused(bind: Bind, policy: str) -> None:
    done = bind("--rank", "0", f"mem={policy}")
    assert done.returncode == 3
    assert f"cannot set the memory policy '{policy}'" in done.stderr


def test_transparent_pages_are_switched_off(bind: Bind) -> None:
    done = bind("--no-thp", then=("cat", "/proc/self/status"))
    assert status(done, "THP_enabled") == "0"


def test_the_heap_tunable_is_added_to_those_that_are_there(bind: Bind) -> None:
    done = bind("--heap", "thp", then=("env",), env={"GLIBC_TUNABLES": "glibc.malloc.check=0"})
    if done.returncode == 3:
        pytest.skip(done.stderr.strip())
    assert "GLIBC_TUNABLES=glibc.malloc.check=0:glibc.malloc.hugetlb=1\n" in done.stdout


def test_a_heap_on_an_empty_or_unknown_pool_is_refused(bind: Bind) -> None:
    done = bind("--heap", str(3 << 20))
    assert done.returncode == 3
    assert "no such pool" in done.stderr


def test_stack_and_text_of_an_unmodified_program_are_asked_for_and_read_back(bind: Bind, program: Path) -> None:
    """A stack of 8 MiB has whole large pages. What smaps says of them, the library said, or had nothing to say."""
    show = "import sys; sys.stdout.write(open('/proc/self/smaps').read())"
    words = ("--segments", "text+stack", "--preload", str(program.parent / "octant-pages"))
    done = bind(*words, then=(sys.executable, "-c", show), env={"LD_PRELOAD": ""})
    if done.returncode == 3:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0
    ranges = parse_smaps(done.stdout)
    large = {"text": 0, "stack": 0}
    for segment, one in segments(ranges, str(Path(sys.executable).resolve())):
        if segment in large:
            large[segment] += one.kib.get("AnonHugePages", 0) + one.kib.get("FilePmdMapped", 0)
    assert large["stack"] >= 2048 or "octant-pages: stack of process" in done.stderr
    assert large["text"] >= 2048 or "octant-pages: text of process" in done.stderr


@pytest.mark.parametrize(("tell", "lines"), [({}, 4), ({"OCTANT_PAGES_TELL": "1"}, 1)])
def test_of_many_processes_the_first_alone_says_what_it_got_if_that_is_asked(
    bind: Bind, program: Path, tell: dict[str, str], lines: int
) -> None:
    """A shell and the three programs that it starts: none has a large page of data."""
    words = ("--segments", "data", "--preload", str(program.parent / "octant-pages"))
    script = "/bin/true; /bin/true; /bin/true; :"
    done = bind(*words, then=("/bin/sh", "-c", script), env={"LD_PRELOAD": "", **tell})
    if done.returncode == 3:
        pytest.skip(done.stderr.strip())
    said = [line for line in done.stderr.splitlines() if line.startswith("octant-pages: data of process")]
    assert len(said) == lines, done.stderr


def test_a_large_environment_leaves_room_for_a_stack_of_large_pages(bind: Bind, program: Path) -> None:
    """It lies above the stack and counts in its limit: here 1.2 MB of the usual 8 MiB."""
    words = ("--segments", "stack", "--preload", str(program.parent / "octant-pages"))
    large = {f"OCTANT_TEST_{i}": "x" * 100_000 for i in range(12)}
    done = bind(*words, then=("/bin/true",), env={"LD_PRELOAD": "", **large})
    if done.returncode == 3:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0


def test_a_library_that_is_not_there_is_refused(bind: Bind, tmp_path: Path) -> None:
    done = bind("--segments", "stack", "--preload", str(tmp_path / "none"))
    assert done.returncode == 3
    assert "(No such file or directory); try `make setup`" in done.stderr or "switched off" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--rank", "1"), "ranks come in order"),
        (("--segments", "stack+heap", "--preload", "x"), "not a list of text, data, stack"),
        (("--segments", "stack"), "cannot use --segments without --preload"),
        (("--no-thp", "--segments", "stack", "--preload", "x"), "drop one of them"),
        (("cpus=0",), "unexpected argument before --rank"),
        (("--rank", "0", "cpu=0"), "not cpus=, threads= or mem="),
        (("--rank", "0", "cpus=3-1"), "not a list"),
        (("--rank", "0", "cpus=0,,1"), "not a list"),
        (("--rank", "0", "mem=bind"), "this policy needs memory nodes"),
        (("--rank", "0", "mem=local:0"), "this policy takes no nodes"),
        (("--rank", "0", "mem=near"), "no such memory policy"),
        (("--rank", "0", "cpus=0", "threads=1"), "its rank has 0"),
        (("--rank", "0", "--rank", "1"), "cannot determine the local rank"),
        (("--rank", "0", "--local-rank", "1"), "the placement has 1 ranks per node"),
        (("--ranks",), "no such option"),
        (("--die-with", "me"), "not a process ID"),
        (("--no-thp", "--heap", "thp"), "drop one of them"),
    ],
)
def test_words_it_cannot_read_are_refused(bind: Bind, words: tuple[str, ...], said: str) -> None:
    done = bind(*words)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.startswith("octant-bind: cannot ")
    assert "try " in done.stderr or "drop " in done.stderr or "; " in done.stderr


def test_a_refusal_is_recorded_with_its_code_for_each_rank(bind: Bind, tmp_path: Path) -> None:
    """`execute_run` reads it: launchers change exit statuses, and need not pass on what is said on standard error."""
    records = tmp_path / "records.jsonl"
    recording = ("--refusal", str(refusal_path(records)))
    absent = bind(*recording, "--rank", "0", f"cpus={CPUS[0]},4095")
    unplaced = bind(*recording, "--rank", "0", "--local-rank", "1")
    refusal = take_refusal(records)
    assert refusal
    assert str(refusal) == absent.stderr.strip()
    assert (absent.returncode, unplaced.returncode, refusal.code) == (3, 2, worst([3, 2]))
    assert take_refusal(records) is None, "it was taken"
    assert bind(*recording, "--rank", "0", then=("sh", "-c", "exit 3")).returncode == 3
    assert list(tmp_path.iterdir()) == [], "the status of the program is no refusal"
    mine = tmp_path / "mine"
    mine.touch()
    refusal_path(records).symlink_to(mine)
    assert bind(*recording, "--rank", "0", "cpus=4095").returncode == 3
    assert mine.read_text() == "", "a link is not followed"


def test_it_starts_nothing_for_a_parent_that_has_ended(bind: Bind) -> None:
    assert bind("--die-with", str(os.getpid())).returncode == 0
    orphan = bind("--die-with", str(os.getpid() + 1))
    assert (orphan.returncode, orphan.stdout) == (1, "")
    assert "the parent process has ended" in orphan.stderr


def test_the_program_gets_its_own_words_and_its_own_end(bind: Bind) -> None:
    done = bind("--rank", "0", then=("sh", "-c", 'printf "%s|" "$@"; exit 7', "sh", "a b", "--", "ü", ""))
    assert (done.stdout, done.returncode) == ("a b|--|ü||", 7)
    assert bind("--rank", "0", then=("no-such-program",)).returncode == 127
    assert bind("--rank", "0", then=("/",)).returncode == 126


def test_it_ends_as_a_shell_does_if_the_program_cannot_be_started(
    program: Path, tmp_path: Path, needs: Callable[[str], str], ordinary: Sequence[str]
) -> None:
    """126: a file was found that cannot be executed. 127: none was found, even if a directory cannot be searched."""
    script, closed, folder = tmp_path / "script" / "prog", tmp_path / "closed", tmp_path / "folder"
    for made in (script.parent, closed, folder / "prog"):
        made.mkdir(parents=True)
    script.write_text("#!/bin/sh\n")
    closed.chmod(0)
    bash = needs("bash")
    cases = {
        str(closed): (127, f"(No such file or directory; '{closed}' in PATH cannot be searched)"),
        str(folder): (127, "(No such file or directory)"),
        str(script): (127, "(No such file or directory)"),  # a file in PATH
        f"{closed}:{script.parent}": (126, "(Permission denied)"),
    }
    try:
        for path, expected in cases.items():
            done = subprocess.run(
                [*ordinary, program, "--", "prog"], env={"PATH": path}, capture_output=True, text=True, check=False
            )
            shell = subprocess.run([*ordinary, bash, "-c", "prog"], env={"PATH": path}, check=False)
            assert done.returncode == shell.returncode == expected[0], path
            assert done.stderr == f"octant-bind: cannot start 'prog' {expected[1]}; try its full path\n"
    finally:
        closed.chmod(0o755)  # pytest removes it


@given(st.lists(st.sets(st.sampled_from(CPUS), min_size=1), min_size=1, max_size=4), st.data())
def test_any_plan_gives_exactly_its_masks(program: Path, plan: list[set[int]], data: st.DataObject) -> None:
    words = [w for r, cpus in enumerate(plan) for w in ("--rank", str(r), "cpus=" + "+".join(map(str, sorted(cpus))))]
    rank = data.draw(st.integers(0, len(plan) - 1))
    done = start(program, words, ("grep", "Cpus_allowed_list", "/proc/self/status"), {"MPI_LOCALRANKID": str(rank)})
    listed = status(done, "Cpus_allowed_list")
    found = {
        n for part in listed.split(",") for a, _, b in [part.partition("-")] for n in range(int(a), int(b or a) + 1)
    }
    assert found == plan[rank]


@pytest.mark.root("starts a program as another user")
def test_it_refuses_rights_that_the_caller_does_not_have(program: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:  # below a folder that everyone may enter
        Path(folder).chmod(0o755)
        raised = Path(shutil.copy(program, folder))
        unprivileged = {"user": 65534, "group": 65534, "extra_groups": []}
        for mode, code in ((0o755, 0), (0o4755, 3), (0o2755, 3)):
            raised.chmod(mode)
            words = [str(raised), "--", "/usr/bin/id", "-u"]
            done = subprocess.run(words, capture_output=True, text=True, check=False, **unprivileged)  # type: ignore[call-overload]
            assert done.returncode == code, done.stderr
            assert done.stdout == ("" if code else "65534\n")
            assert ("cannot run with privileges" in done.stderr) == bool(code)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("1x1", "--rank 0 cpus=0 threads=0"),
        ("2x2,memory=local", "--rank 0 cpus=0-1 threads=0/1 mem=local --rank 1 cpus=2-3 threads=2/3 mem=local"),
        (
            "2x2,unit=numa,order=scatter,memory=bind",
            "--rank 0 cpus=0-3 threads=0-3/0-3 mem=bind:0 --rank 1 cpus=4-7 threads=4-7/4-7 mem=bind:1",
        ),
        ("1x1,memory=interleave", "--rank 0 cpus=0 threads=0 mem=interleave:0-1"),
        ("1x1,memory=preferred:1", "--rank 0 cpus=0 threads=0 mem=preferred:1"),
        ("1x2,cpus=0+4", "--rank 0 cpus=0+4 threads=0/4"),
        ("1x1,pages=4k", "--rank 0 cpus=0 threads=0 --no-thp"),
        ("1x1,heap=huge", "--rank 0 cpus=0 threads=0 --heap thp"),
        ("1x1,heap=huge,pages=2m", "--rank 0 cpus=0 threads=0 --heap 2097152"),
        ("1x1,pages=2m", "--rank 0 cpus=0 threads=0"),
    ],
)
def test_octant_bind_gets_arguments_that_no_shell_changes(asked: str, words: str) -> None:
    request = parse_request(asked)
    found = bind_words(planner.plan(machine(nodes=2, cores=4).topology, request), request)
    assert found == words.split()
    assert not set("".join(found)) & set(" ;|&$`'\"(){}<>*?~#,")


def test_octant_bind_gets_the_parts_for_huge_pages(kernels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OCTANT_KERNELS", str(kernels))
    request = parse_request("1x1,stack=huge,text=huge")
    found = bind_words(planner.plan(machine().topology, request), request)
    assert found[-4:] == ["--segments", "text+stack", "--preload", str(kernels / "octant-pages")]


def test_both_sides_know_the_same_local_rank_variables() -> None:
    header = ROOT / "native" / "bind" / "local_rank.hpp"
    assert tuple(re.findall(r'RankVariable\{"(\w+)"', header.read_text())) == KNOWN_VARIABLES
