"""Builds programs from the source tree when a command first needs them, each once, and only what is needed.

A build folder is for one source tree, Python environment with its MPI library, set of flags, compiler and processor. It
is in the tree, or in the user's cache if the tree cannot be written. A program is current if its stamp in the folder
equals the state of the sources; otherwise ninja decides what to compile.
"""

import ctypes
import fcntl
import functools
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from octant.build import compiler, folders, steps
from octant.failure import Exit, Refusal

SOURCES = (".cpp", ".hpp", ".c", ".h", ".inc", ".bin", ".cmake", "CMakeLists.txt")
SECONDS_PER_FILE = 1.0
"""Processor time of compiling one file, for the estimate that is shown before files are counted."""
LEAST_FREE_BYTES = 4 << 20
"""With less free space than this, a failed build is explained by the full disk."""


@dataclass(frozen=True)
class SourceTree:
    """A source tree, and what decides how its programs are built."""

    root: Path
    sources: str  # state of the sources: a digest of their names, sizes and times
    settings: Mapping[str, str]

    def folders(self) -> Iterator[Path]:
        """Where the programs may be, the preferred first: in the tree, in the user's cache."""
        key = _digest(json.dumps(self.settings, sort_keys=True))
        yield self.root / "build" / "programs" / key
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        yield Path(base) / "octant" / "programs" / f"{key}-{self.sources}"


def program(file: str) -> Path:
    """Return the current program of that file name; build it if there is none.

    Raises:
        Refusal: it cannot be built, or a measurement is running (`no_building`).
    """
    return _current_folder(file) / "bin" / file


def module(name: str) -> Path | None:
    """As `program`, for an extension module."""
    return folders.module_in(_current_folder(name) / "bin", name)


def built_module(name: str) -> Path | None:
    """Return the current extension module, if it is built."""
    folder = _folder_of(name)
    return folders.module_in(folder / "bin", name) if folder else None


def prepare(files: Sequence[str]) -> None:
    """Build the programs that are not current, all of them together.

    Raises:
        Refusal: none of them can be built. If only some cannot, `program` refuses these.
    """
    missing = [file for file in dict.fromkeys(files) if file not in _failed and _folder_of(file) is None]
    if missing:
        _build(missing)
        if all(file in _failed for file in missing):
            raise _failed[missing[0]]


@contextmanager
def no_building() -> Iterator[None]:
    """While the block lasts, nothing is built in this process: a compiler would disturb what is measured."""
    global _is_forbidden  # noqa: PLW0603 - of this process
    before, _is_forbidden = _is_forbidden, True
    try:
        yield
    finally:
        _is_forbidden = before


_is_forbidden = False
_failed: dict[str, Refusal] = {}
"""What could not be built in this process; it is not tried again."""


def _current_folder(target: str) -> Path:
    """Return the build folder in which a target is current; build it if there is none."""
    if (folder := _folder_of(target)) is None and target not in _failed:
        _build([target])
        folder = _folder_of(target)
    if folder is None:
        raise _failed.get(target) or Refusal(
            f"cannot use {target} (it was removed after it was built); repeat the command"
        )
    return folder


@functools.cache
def tree() -> SourceTree:
    """Return the source tree of this package; its state is read once per process, so that programs do not change.

    Raises:
        Refusal: the MPI library that OCTANT_MPI names is not there.
    """
    root = folders.source_root()
    assert root is not None  # noqa: S101 - only source trees come here
    return SourceTree(root, _state(root), compiler.settings())


def _state(root: Path) -> str:
    """Return a digest of names, sizes and times of all sources of programs, without native tests."""
    lines = []
    folders = [str(root / name) for name in ("cmake", "native", "src/octant/workloads")]
    while folders:
        if os.path.isdir(folder := folders.pop()):  # noqa: PTH112 - some 400 files, at every start of a command
            for entry in os.scandir(folder):
                if entry.name.endswith(SOURCES) and not entry.name.startswith("test_"):
                    lines.append(_line(entry.path, entry.stat()))
                elif entry.is_dir() and entry.name not in ("tests", "__pycache__"):
                    folders.append(entry.path)
    lines.append(_line(str(root / "CMakeLists.txt"), (root / "CMakeLists.txt").stat()))
    return _digest("\n".join(sorted(lines)))


def _line(path: str, status: os.stat_result) -> str:
    return f"{path} {status.st_size} {status.st_mtime_ns}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _folder_of(target: str) -> Path | None:
    """Return the build folder in which a program or module is current."""
    return next((folder for folder in tree().folders() if _is_current(folder, target)), None)


def _is_current(folder: Path, target: str) -> bool:
    try:
        stamp = (folder / "current" / target).read_text(encoding="utf-8")
        return stamp == tree().sources and not compiler.was_replaced(folder)
    except OSError:
        return False


def _build(targets: Sequence[str]) -> None:
    """Build targets; what cannot be built is noted in `_failed`.

    Raises:
        Refusal: nothing can be built here, for a reason that has nothing to do with the targets.
    """
    if _is_forbidden:
        raise Refusal(f"cannot build {targets[0]} (a measurement is running); build it first with `make setup`")
    folder = _writable_folder()
    try:
        with _locked(folder) as lock:
            (folder / "current").mkdir(exist_ok=True)
            missing = [one for one in targets if not _is_current(folder, one)]  # another process may have built them
            if missing:
                _Builder(folder, lock).build(missing)
    except OSError as error:
        raise _refused_by_system(folder, error) from error


def _refused_by_system(folder: Path, error: OSError) -> Refusal:
    return Refusal(
        f"cannot build Octant's programs in {folder} ({error.strerror or error}); free some space there, or set "
        "XDG_CACHE_HOME to another folder"
    )


def _writable_folder() -> Path:
    """Return the first folder that this process can create and write.

    Another process may be building in the folder, so nothing but the file of its lock is created here.

    Raises:
        Refusal: there is none.
    """
    errors = []
    for folder in tree().folders():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "lock").open("a").close()
        except OSError as error:
            errors.append(f"{folder}: {error.strerror}")
        else:
            return folder
    raise Refusal(
        f"cannot write a build folder ({'; '.join(errors)}); free some space, or set XDG_CACHE_HOME to a "
        "writable folder"
    )


@contextmanager
def _locked(folder: Path) -> Iterator[int]:
    """While the block lasts, no other process builds in the folder. A compiler that survives us keeps the lock."""
    with (folder / "lock").open("a", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("another Octant process is building programs; waiting for it", file=sys.stderr, flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield file.fileno()


class _Builder:
    """Configures a build folder and builds targets in it; the caller has its lock."""

    def __init__(self, folder: Path, lock: int) -> None:
        self.folder, self.lock = folder, lock
        self.log = folder / "build.log"
        self.ninja = compiler.tool("ninja")
        # The tools of this environment come first: CMake looks for ninja and for the MPI wrapper there.
        path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))
        self.environment = {**os.environ, "PATH": path, "OCTANT_MPI": tree().settings["mpi"]}
        self.environment.pop("NINJA_STATUS", None)  # its default is what `steps` reads

    def build(self, targets: Sequence[str]) -> None:
        """Build targets, as many as possible; stamp those that are current now, and note the others in `_failed`."""
        self._configure()
        whole = self._ninja(targets) == 0
        if not whole and "ninja: error:" in self._output():  # no compiler's error: the files of the build are damaged
            self._forget()
            self._configure()
            whole = self._ninja(targets) == 0
        for target in targets:
            if whole or self._ninja([target]) == 0:
                _write(self.folder / "current" / target, tree().sources)
            else:
                _failed[target] = self._refusal(target)

    def _configure(self) -> None:
        if compiler.was_replaced(self.folder):
            self._forget()
        if (self.folder / "build.ninja").exists() and compiler.is_configured(self.folder):
            return
        self._forget()  # what a killed CMake left behind
        found = compiler.find()
        _remove_older(self.folder)
        cmake = [str(compiler.tool("cmake")), "-S", str(tree().root), "-B", str(self.folder), "-G", "Ninja"]
        cmake += [f"-DCMAKE_MAKE_PROGRAM={self.ninja}", *compiler.definitions(found)]
        if self._run(cmake, "configuring the build of Octant's programs", 5.0) != 0:
            raise self._refusal("Octant's programs")
        compiler.note(self.folder, found)

    def _forget(self) -> None:
        for path in self.folder.iterdir():
            if path.name not in ("lock", "build.log"):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        (self.folder / "current").mkdir()

    def _ninja(self, targets: Sequence[str]) -> int:
        """Build targets as far as possible; return ninja's exit status."""
        cores = len(os.sched_getaffinity(0))
        what = targets[0] if len(targets) == 1 else f"{len(targets)} programs"
        command = [str(self.ninja), "-C", str(self.folder), "-k", "0", "-j", str(cores), *targets]
        return self._run(command, f"building {what}", 1.0 + self._missing(targets) * SECONDS_PER_FILE / cores)

    def _missing(self, targets: Sequence[str]) -> int:
        """Return the number of object files to compile, estimated from names."""
        command = [str(self.ninja), "-C", str(self.folder), "-t", "commands", *targets]
        listed = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - of this environment
        return sum(not (self.folder / name).exists() for name in re.findall(r" -o (\S+\.o) ", listed.stdout))

    def _run(self, command: list[str], title: str, expected_s: float) -> int:
        line = steps.ProgressLine(title, expected_s, delay_s=1.0)
        options = {"env": self.environment, "pass_fds": (self.lock,), "preexec_fn": _end_with_parent}
        with self.log.open("wb") as log:
            return steps.run(command, line, log.write, **options)

    def _output(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def _refusal(self, what: str) -> Refusal:
        """Why something was not built: the full disk, the first error of the compiler, or of CMake."""
        output = self._output()
        free = os.statvfs(self.folder)
        if "No space left on device" in output or free.f_bavail * free.f_frsize < LEAST_FREE_BYTES:
            return Refusal(
                f"cannot build {what} (the disk of {self.folder} is full); free some space and repeat the command"
            )
        return Refusal(
            f"cannot build {what} ({_first_error(output, what)}); see {self.log} for the whole output", Exit.CANNOT_RUN
        )


_ERROR = re.compile(
    r"^.*(?:\berror: |\bundefined reference |: not found$|Killed signal|CMake Error at |ninja: error: ).*$",
    re.MULTILINE,
)


def _first_error(output: str, target: str) -> str:
    """Return the first error of a target, or else the first error."""
    steps_failed = output.split("FAILED: ")[1:]
    own = [
        one
        for one in steps_failed
        if f"/{target}" in one.partition("\n")[0] or f"{target}.dir" in one.partition("\n")[0]
    ]
    for text in (*own, *steps_failed, output):
        if found := _ERROR.search(text):
            line = found[0].strip()
            if line.startswith("CMake Error"):  # the reason is in the next lines
                rest = text[found.end() :].strip().split("\n\n")[0]
                line = f"{line} {' '.join(rest.split())}"
            return line.removeprefix(f"{tree().root}/")[:300]
    return (output.strip().splitlines() or ["no output"])[-1][:300]


def _remove_older(folder: Path) -> None:
    """Remove the builds of earlier states of the same sources from the user's cache."""
    key, dash, _ = folder.name.partition("-")
    if not dash:
        return
    for other in folder.parent.glob(f"{key}-*"):
        if other != folder:
            with (other / "lock").open("a", encoding="utf-8") as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    continue
                shutil.rmtree(other, ignore_errors=True)


def _write(path: Path, text: str) -> None:
    """Write a file completely or not at all."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)


_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


def _end_with_parent() -> None:
    """In the child: end when the process that started it ends, also if it is killed. ninja ends its compilers then."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
