"""Steps of the set-up: seen from the first moment, with what is left, and with their output where they fail."""

import importlib.util
import subprocess
import sys
from types import ModuleType

import pytest

from paths import ROOT
from pseudo_terminal import output_in_terminal

PROGRAM = ROOT / "src" / "octant" / "build" / "steps.py"


@pytest.fixture(scope="module")
def steps() -> ModuleType:
    spec = importlib.util.spec_from_file_location("steps", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def step(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, str(PROGRAM), *words], capture_output=True, text=True, check=False)


def test_a_step_is_announced_before_it_begins_and_its_output_is_kept_back() -> None:
    done = step("building", "60", sys.executable, "-c", "print('[1/2] compiling'); print('[2/2] linking')")
    first, last = done.stderr.splitlines()
    assert first == "building, about 60 s"
    assert last.startswith("building: done in ")
    assert (done.returncode, done.stdout) == (0, "")


def test_a_step_that_fails_shows_what_it_printed_and_gives_its_status() -> None:
    done = step("building", "60", sys.executable, "-c", "import sys; print('no such header'); sys.exit(3)")
    assert done.returncode == 3
    assert "no such header" in done.stderr
    assert "building failed: correct the error above" in done.stderr


@pytest.mark.parametrize(
    ("printed", "sentence"),
    [
        ("WARNING: Retrying: NewConnectionError('…: Connection refused')", "the package index cannot be reached"),
        ("pip._vendor.urllib3.exceptions.ReadTimeoutError: Read timed out.", "the package index cannot be reached"),
        ("OSError: [Errno 28] No space left on device", "the disk is full"),
        ("ensurepip is not available", "install the package python3-venv"),
    ],
)
def test_a_usual_failure_is_one_sentence_in_place_of_the_output(printed: str, sentence: str) -> None:
    done = step("installing", "60", sys.executable, "-c", f"import sys; print({printed!r}); sys.exit(1)")
    assert done.returncode == 1
    assert sentence in done.stderr.splitlines()[-1]
    assert printed not in done.stderr


def test_a_step_with_nothing_to_do_shows_nothing(steps: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]
    line = steps.ProgressLine("building", 60.0, lambda: now[0], delay_s=1.0)
    line.look()
    line.end(0)
    assert capsys.readouterr().err == ""
    now[0] = 1.5
    line.look()
    line.end(0)
    assert capsys.readouterr().err.splitlines() == ["building, about 60 s", "building: done in 2 s"]


def test_a_terminal_has_one_line_that_is_written_over() -> None:
    command = [sys.executable, str(PROGRAM), "building", "60", sys.executable, "-c", "import time; time.sleep(1.3)"]
    seen = output_in_terminal(command)
    assert seen.count("\n") == 1
    assert seen.count("\r\x1b[K") >= 3
    assert "s left" in seen


def test_the_time_left_is_as_what_was_counted_went(steps: ModuleType) -> None:
    now = [0.0]
    line = steps.ProgressLine("building", 60.0, lambda: now[0])
    now[0] = 4.0
    line.read(b"[30/40] Building CXX object x.o")
    assert line.left_s() == pytest.approx(56.0)  # too early to believe the count
    now[0] = 30.0
    assert line.left_s() == pytest.approx(10.0)
    line.read(b"no count here")
    assert (line.done, line.all) == (30, 40)


def test_a_step_that_counts_nothing_never_claims_to_be_over(steps: ModuleType) -> None:
    now = [0.0]
    line = steps.ProgressLine("downloading", 10.0, lambda: now[0])
    now[0] = 25.0
    assert line.left_s() == 1.0
