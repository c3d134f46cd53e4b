"""Fixtures: the development build of the kernels, and the command run as a user runs it."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

import once
from kernel_run import OPEN_MPI, KernelRun, KernelRuns
from pages import CHROMIUM
from paths import NO_OPENMPI, OPENMPI_KERNELS, ROOT, Octant
from preloaded import Preloaded, reads_at_the_start

# A shell starts what it runs in the background deaf to Ctrl-C, and so would be the programs that the tests send one to.
signal.signal(signal.SIGINT, signal.default_int_handler)

GIVEN_KERNELS = os.environ.get("OCTANT_KERNELS")
# One build serves all tests: the development build, whose kernels have the fault-injection switch.
os.environ.setdefault("OCTANT_KERNELS", str(ROOT / "build" / "dev" / "bin"))

os.environ.pop("COLUMNS", None)  # what tests print is as wide wherever they are started

# How long an example takes says how busy the machine is, and nothing about the code. CI draws the same examples each
# time, and fewer: what it says is about the change; new examples are drawn at home.
CI = "CI" in os.environ
settings.register_profile(
    "octant",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=CI,
    max_examples=50 if CI else 100,
)
settings.register_profile("mutants", settings.get_profile("octant"), derandomize=True, max_examples=15)
settings.load_profile("octant")

collect_ignore_glob = ["tests/workloads/throwaway/*"]  # a workload of `test_one_folder.py`, which runs its test

SLOW_FIXTURES = frozenset({"kernels", "run_over_openmpi", "needs", "browser", "threads_program"})
SLOW_MARKERS = ("mpi", "browser", "simgrid", "slow", "root")
"""What a test asks for that is left out by `--quick`."""
ALONE_FIXTURES = frozenset({"run_over_openmpi"})
ALONE_MARKERS = ("alone", "mpi", "root", "simgrid")
"""What a test asks for that needs the cores, or what the whole machine shows, for itself."""
ALONE_IN_TEXT = re.compile(rf"mark\.({'|'.join(ALONE_MARKERS)})\b|{'|'.join(ALONE_FIXTURES)}")
"""What a file contains that holds such a test."""

WHY_SLOW = {
    "need root": {"root"},
    "start MPI programs": {"mpi", "run_over_openmpi"},
    "need Chromium": {"browser"},
    "need SimGrid": {"simgrid"},
    "start our programs": {"kernels", "threads_program"},
    "take more than five seconds": {"slow"},
}
"""Why `--quick` leaves out a test, by what it asks for; the first of them counts."""
LEFT_OUT = pytest.StashKey[str]()

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="session", autouse=True)
def done_once() -> Iterator[None]:
    """What does not change between two starts of the command inside this process is not done for each of them."""
    with pytest.MonkeyPatch.context() as patch:
        once.read_parameters_once(patch)
        once.ask_programs_once(patch)
        yield


@pytest.fixture(scope="session")
def kernels() -> Path:
    """Folder of the development build, whose kernels have the fault-injection switch; OCTANT_KERNELS names another."""
    folder = Path(os.environ["OCTANT_KERNELS"])
    if GIVEN_KERNELS is None:
        ninja = Path(sys.executable).parent / "ninja"
        configured = (folder.parent / "build.ninja").exists()
        command = [str(ninja), "-C", str(folder.parent)] if configured else ["make", "dev"]
        done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True, timeout=900)
        assert done.returncode == 0, done.stdout[-3000:]
    return folder


@pytest.fixture
def run_kernel(kernels: Path, tmp_path: Path) -> KernelRuns:
    """Runs the program of a workload with `WORDS…`; options are `KernelRun`'s."""
    return lambda name, *words, **options: KernelRun(kernels, tmp_path / "records.jsonl", name, *words, **options)


@pytest.fixture
def mpiexec_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts the mpiexec of the installed MPI library on PATH, as an activated virtual environment does."""
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)


@pytest.fixture
def run_over_openmpi(tmp_path: Path) -> KernelRuns:
    """As `run_kernel`, with Open MPI: for more ranks than cores."""
    if not OPENMPI_KERNELS.exists():
        pytest.skip(NO_OPENMPI)
    mpiexec = (str(ROOT / ".venv-openmpi" / "bin" / "mpiexec"), "--allow-run-as-root", "--oversubscribe")
    records = tmp_path / "records.jsonl"

    def run(name: str, *words: str, environment: Mapping[str, str] | None = None, **options: Any) -> KernelRun:
        settings = OPEN_MPI | dict(environment or {})
        return KernelRun(OPENMPI_KERNELS, records, name, *words, mpiexec=mpiexec, environment=settings, **options)

    return run


@pytest.fixture
def environment(kernels: Path, tmp_path: Path) -> Mapping[str, str]:
    """The environment in which tests start the command: development kernels, a store of their own."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("OCTANT_", "OMP_"))}
    return {**inherited, "OCTANT_KERNELS": str(kernels), "OCTANT_STORE": str(tmp_path / "store"), "COLUMNS": "100"}


@pytest.fixture(scope="session")
def preloaded() -> Iterator[Preloaded]:
    """Starts the command without loading it again."""
    server = Preloaded()
    yield server
    server.end()


@pytest.fixture
def octant(environment: Mapping[str, str], preloaded: Preloaded) -> Octant:
    """Runs `octant WORDS…` to its end, started by the words `within`; `env` adds to the environment."""

    def call(
        *words: str,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        timeout: float = 60,
        within: Sequence[str] = (),
        stdin: int | None = None,
    ) -> "subprocess.CompletedProcess[str]":
        all_of_it = {**environment, **(env or {})}
        if not within and not reads_at_the_start(env or {}):
            return preloaded.run(words, all_of_it, cwd, timeout, stdin)
        return subprocess.run(
            [*within, sys.executable, "-m", "octant.cli", *words],
            env=all_of_it,
            cwd=cwd,
            timeout=timeout,
            capture_output=True,
            text=True,
            check=False,
        )

    return call


@pytest.fixture
def needs() -> Callable[[str], str]:
    """Skips a test, with the reason, where a program is absent; else gives its path."""

    def look(program: str) -> str:
        found = shutil.which(program)
        if found is None:
            pytest.skip(f"{program} is not installed")
        return found

    return look


@pytest.fixture
def ordinary(needs: Callable[[str], str]) -> Sequence[str]:
    """Words that start a program with the rights of an ordinary account, which root gives up for it."""
    return [needs("setpriv"), "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed here; try apt-get install chromium")
    sync_api = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed here")
    with sync_api.sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rewrite", action="store_true", help="write expected outputs (transcripts, readings) anew")
    parser.addoption("--quick", action="store_true", help="only tests that build nothing and start no programs of ours")
    parser.addoption("--together", action="store_true", help="only tests that may run at the same time as others")
    parser.addoption("--alone", action="store_true", help="only the tests that --together leaves out")
    parser.addoption("--root", action="store_true", help="only tests that need root")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leaves files unread that hold no test for `--alone` and `--root`, which are few; `--together` checks the rule."""
    few = config.getoption("--alone") or config.getoption("--root")
    is_test = collection_path.name.startswith("test_") and collection_path.suffix == ".py"
    return True if few and is_test and not _may_hold_one_alone(collection_path) else None


def _may_hold_one_alone(path: Path) -> bool:
    return ALONE_IN_TEXT.search(path.read_text(encoding="utf-8")) is not None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for option, requests, wanted in (
        ("--quick", _asks_for(SLOW_MARKERS, SLOW_FIXTURES), False),
        ("--together", _asks_for(ALONE_MARKERS, ALONE_FIXTURES), False),
        ("--alone", _asks_for(ALONE_MARKERS, ALONE_FIXTURES), True),
        ("--root", _asks_for(("root",), frozenset()), True),
    ):
        if config.getoption(option):
            left_out = [item for item in items if requests(item) != wanted]
            reasons = Counter(map(_why_slow, left_out)) if option == "--quick" else {}
            config.stash[LEFT_OUT] = _left_out(option, len(left_out), reasons)
            if option == "--together" and (
                unread := {str(item.path) for item in left_out if not _may_hold_one_alone(item.path)}
            ):
                raise pytest.UsageError(f"--alone would not find its tests in {', '.join(sorted(unread))}")
            config.hook.pytest_deselected(items=left_out)
            items[:] = [item for item in items if requests(item) == wanted]
    for item in items:
        if marker := item.get_closest_marker("root"):
            if not marker.args:
                raise pytest.UsageError(f"{item.nodeid} does not say what it needs root for; try mark.root('does so')")
            if os.geteuid() != 0:
                item.add_marker(pytest.mark.skip(f"{item.name} needs root: it {marker.args[0]}"))


def _asks_for(markers: Sequence[str], fixtures: Set[str]) -> Callable[[pytest.Item], bool]:
    def requests(item: pytest.Item) -> bool:
        marked = any(item.get_closest_marker(name) for name in markers)
        return marked or not fixtures.isdisjoint(getattr(item, "fixturenames", ()))

    return requests


def _why_slow(item: pytest.Item) -> str:
    """Return the first reason for which `--quick` leaves out a test."""
    names = {marker.name for marker in item.iter_markers()} | set(getattr(item, "fixturenames", ()))
    return next((why for why, signs in WHY_SLOW.items() if names & signs), "need other programs")


def _left_out(option: str, count: int, reasons: Mapping[str, int]) -> str:
    most_first = sorted(reasons.items(), key=lambda reason: -reason[1])
    because = ": " + ", ".join(f"{number:,} {why}" for why, number in most_first) if reasons else ""
    return f"{option} left out {count:,} tests{because}"


def pytest_sessionfinish(session: pytest.Session) -> None:
    output: dict[str, object] | None = getattr(session.config, "workeroutput", None)  # in a worker of xdist
    if output is not None:
        output["left out"] = session.config.stash.get(LEFT_OUT, "")


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Takes from a worker of xdist what it left out; every worker leaves out the same."""
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left out", "")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if text := config.stash.get(LEFT_OUT, ""):
        terminalreporter.write_line(text)
