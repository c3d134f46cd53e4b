"""Programs are built when they are first needed: once, whatever is killed meanwhile, and with a clear error."""

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import build_tree
from octant import build
from octant.build import compiler, folders, on_demand
from octant.failure import Refusal

pytestmark = pytest.mark.slow

FIRST, SECOND = "first 40\n", "second 40\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return build_tree.write(tmp_path / "tree")


@pytest.fixture
def counted(tree: Path) -> dict[str, str]:
    """Return an environment whose compiler records each file that it compiles in `compiled`."""
    wrapper = tree / "c++"
    wrapper.write_text(f'#!/bin/sh\ncase "$*" in *" -c "*native/*) echo "$*" >>{tree}/compiled;; esac\nexec c++ "$@"\n')
    wrapper.chmod(0o755)
    return build_tree.environment(tree, CXX=str(wrapper))


def compiled(tree: Path) -> list[str]:
    """Return the names of the compiled files, in order."""
    log = tree / "compiled"
    return [line.split()[-1].rpartition("/")[2] for line in log.read_text().splitlines()] if log.exists() else []


def printed(program: str) -> str:
    return subprocess.run([program.strip()], capture_output=True, text=True, check=True).stdout


def processes_of(tree: Path) -> list[str]:
    """Command lines that name the tree: builders and compilers."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if str(tree) in words:
            found.append(words)
    return found


def test_a_program_is_built_once_and_alone(tree: Path, counted: dict[str, str]) -> None:
    done = build_tree.run(tree, "node/first", env=counted)
    assert done.returncode == 0, done.stderr
    assert printed(done.stdout) == FIRST
    assert sorted(compiled(tree)) == ["first.cpp", *(f"part_{i}.cpp" for i in range(build_tree.PARTS))]
    again = build_tree.run(tree, "node/first", env=counted)
    assert (again.stdout, again.stderr, len(compiled(tree))) == (done.stdout, "", build_tree.PARTS + 1)
    second = build_tree.run(tree, "node/second", env=counted)
    assert printed(second.stdout) == SECOND
    assert compiled(tree)[build_tree.PARTS + 1 :] == ["second.cpp"]


def test_what_has_changed_is_built_again_and_nothing_else(tree: Path, counted: dict[str, str]) -> None:
    build_tree.run(tree, "node/first", "node/second", env=counted)
    before = len(compiled(tree))
    source = tree / "native" / "part_0.cpp"
    source.write_text(source.read_text().replace("10", "12"))
    done = build_tree.run(tree, "node/first", "node/second", env=counted)
    assert [printed(line) for line in done.stdout.splitlines()] == ["first 42\n", "second 42\n"]
    assert compiled(tree)[before:] == ["part_0.cpp"]


def test_processes_that_need_the_same_program_build_it_once(tree: Path, counted: dict[str, str]) -> None:
    started = [build_tree.start(tree, "node/first", env=counted) for _ in range(4)]
    ended = [process.communicate(timeout=100) for process in started]
    assert [process.returncode for process in started] == [0] * 4, ended
    assert len({out for out, _ in ended}) == 1
    assert len(compiled(tree)) == build_tree.PARTS + 1
    assert any("another Octant process is building" in errors for _, errors in ended)


def test_a_waiting_process_does_not_disturb_the_builder(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The builder empties its folder while others test whether they can write in it."""
    settings = {"mpi": "", "key": "1"}
    monkeypatch.setattr(on_demand, "tree", lambda: on_demand.SourceTree(tree, "state", settings))
    folder = on_demand._writable_folder()
    with on_demand._locked(folder) as lock, ThreadPoolExecutor(2) as pool:
        (folder / "current").mkdir()
        builder = on_demand._Builder(folder, lock)
        others = [pool.submit(lambda: [on_demand._writable_folder() for _ in range(1000)]) for _ in range(2)]
        while not all(other.done() for other in others):
            builder._forget()
        assert {found for other in others for found in other.result()} == {folder}


def test_a_build_that_is_killed_at_any_moment_is_completed_by_the_next(tree: Path) -> None:
    begin = time.monotonic()
    build_tree.run(tree, "node/first")
    whole_s = time.monotonic() - begin
    moments = random.Random(25)
    for number in range(8 if "CI" in os.environ else 20):
        source = tree / "native" / f"part_{number % build_tree.PARTS}.cpp"
        source.write_text(source.read_text() + "\n")
        if number % 4 == 0:  # and the configuration is made anew
            (next((tree / "build" / "programs").iterdir()) / "compiler.json").unlink(missing_ok=True)
        with build_tree.start(tree, "node/first") as process:
            time.sleep(moments.uniform(0, whole_s))
            process.kill()
        if number % 5 == 4:
            done = build_tree.run(tree, "node/first")
            assert done.returncode == 0, done.stderr
            assert printed(done.stdout) == FIRST
    deadline = time.monotonic() + 20
    while (left := processes_of(tree)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left == []


def test_a_tree_that_cannot_be_written_is_built_in_the_cache(tree: Path) -> None:
    (tree / "build").write_text("a file in the place of the folder")
    done = build_tree.run(tree, "node/first")
    assert done.stdout.startswith(str(tree / "cache" / "octant" / "programs")), done.stderr
    assert printed(done.stdout) == FIRST
    (tree / "native" / "part_0.cpp").write_text("int part_0() { return 12; }\n")
    changed = build_tree.run(tree, "node/first")
    assert printed(changed.stdout) == "first 42\n"
    assert len(list((tree / "cache" / "octant" / "programs").iterdir())) == 1, (
        "an older state of the sources is removed"
    )


def test_without_a_place_to_write_the_error_names_both(tree: Path) -> None:
    (tree / "build").write_text("")
    (tree / "cache").write_text("")
    done = build_tree.run(tree, "node/first")
    assert done.returncode == 1
    assert "cannot write a build folder" in done.stderr
    assert "XDG_CACHE_HOME" in done.stderr


def test_a_kernel_that_cannot_be_compiled_leaves_the_others_usable(tree: Path) -> None:
    (tree / "native" / "second.cpp").write_text("int main() { return missing; }\n")
    done = build_tree.run(tree, "node/first", "node/second")
    assert done.returncode == 1
    assert printed(done.stdout) == FIRST
    error = done.stderr.splitlines()[-1]
    assert "cannot build octant-node-second (native/second.cpp:1:" in error
    assert "missing" in error
    log = Path(error.rpartition("; see ")[2].removesuffix(" for the whole output"))
    assert "error:" in log.read_text()


@pytest.mark.parametrize(
    ("name", "body", "words"),
    [
        ("missing", "", "is not a program; install g++ 12 or newer"),
        ("broken", "exit 1", "it cannot compile a test program"),
        ("old", 'exec c++ -U__GNUC__ -D__GNUC__=9 "$@"', "gcc is older than 12"),
    ],
)
def test_a_compiler_that_cannot_be_used_is_named_at_once(tree: Path, name: str, body: str, words: str) -> None:
    wrapper = tree / name
    if body:
        wrapper.write_text(f"#!/bin/sh\n{body}\n")
        wrapper.chmod(0o755)
    done = build_tree.run(tree, "node/first", env=build_tree.environment(tree, CXX=str(wrapper)))
    assert done.returncode == 1
    assert words.partition(";")[0] in done.stderr
    assert str(wrapper) in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_compiler_that_is_updated_builds_everything_again(tree: Path, counted: dict[str, str]) -> None:
    build_tree.run(tree, "node/first", env=counted)
    before = len(compiled(tree))
    wrapper = Path(counted["CXX"])
    wrapper.write_text(wrapper.read_text() + "# another version\n")
    build_tree.run(tree, "node/first", env=counted)
    assert len(compiled(tree)) == 2 * before
    wrapper.unlink()  # one that is gone changes nothing
    assert build_tree.run(tree, "node/first", env=counted).stderr == ""


def test_a_full_disk_is_named_and_the_next_command_completes_the_build(tree: Path) -> None:
    """In a user namespace, with a file system of 64 KiB in the place of the build folder."""
    (tree / "build").mkdir()
    mounted = f'mount -t tmpfs -o size=64k none {tree}/build && exec "$@"'
    command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mounted, "sh"]
    try:
        tried = subprocess.run([*command, "true"], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("unshare is not installed")
    if tried.returncode != 0:
        pytest.skip(f"no user namespace with a mount of its own here ({tried.stderr.strip()})")
    words = [*command, sys.executable, build_tree.__file__, str(tree), "node/first"]
    done = subprocess.run(
        words, env=build_tree.environment(tree), capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 1
    assert "is full" in done.stderr or "No space left on device" in done.stderr
    assert "free some space" in done.stderr.splitlines()[-1]
    assert printed(build_tree.run(tree, "node/first").stdout) == FIRST


@pytest.fixture
def own_process(tree: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """As in a process that uses the tree, in this one."""
    monkeypatch.delenv("OCTANT_KERNELS")
    monkeypatch.setattr(folders, "source_root", lambda: tree)
    on_demand.tree.cache_clear()
    yield tree
    on_demand.tree.cache_clear()


def test_nothing_is_built_while_a_measurement_runs(own_process: Path) -> None:
    with on_demand.no_building(), pytest.raises(Refusal, match="a measurement is running"):
        build.find("node/first")
    assert not (own_process / "build").exists()


def test_an_installation_without_sources_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OCTANT_KERNELS")
    monkeypatch.setattr(folders, "source_root", lambda: None)
    build.prepare(["node/first"])
    with pytest.raises(Refusal, match=r"no sources\); reinstall octant-hpc"):
        build.find("node/first")


def test_named_folders_are_used_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OCTANT_KERNELS", str(tmp_path))
    with pytest.raises(Refusal, match=f"OCTANT_KERNELS is {tmp_path}"):
        build.find("node/first")
    (tmp_path / "octant-node-first").touch(0o755)
    assert build.find("node/first") == tmp_path / "octant-node-first"


def test_a_processor_is_its_kind_and_its_instruction_sets(tmp_path: Path) -> None:
    info = tmp_path / "cpuinfo"
    info.write_text("processor\t: 0\nmodel name\t: EPYC\nflags\t\t: fpu avx2\ncpu MHz\t\t: 2400.1\n\nprocessor\t: 1\n")
    assert compiler.processor(info) == "model name=EPYC\nflags=fpu avx2"
    assert compiler.processor(tmp_path / "absent") == ""


def test_other_settings_have_another_folder(own_process: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = {next(iter(on_demand.tree().folders()))}
    for name, value in (
        ("OCTANT_ARCH", "x86-64-v3"),
        ("CXXFLAGS", "-g"),
        ("OCTANT_MPI", "openmpi"),
        ("CXX", "clang++"),
    ):
        monkeypatch.setenv(name, value)
        on_demand.tree.cache_clear()
        folders.add(next(iter(on_demand.tree().folders())))
    assert len(folders) == 5
