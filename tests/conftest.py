"""Fixtures: the development build of the kernels, and the command run as a user runs it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes says how busy the machine is, and nothing about the code. CI draws the same examples each
# time: what it says is about the change; new examples are drawn at home.
settings.register_profile(
    "octant", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize="CI" in os.environ
)
settings.load_profile("octant")

ROOT = Path(__file__).resolve().parent.parent
Octant = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def kernels() -> Path:
    """Folder of the development build, whose kernels have the fault-injection switch."""
    folder = ROOT / "build" / "dev" / "bin"
    ninja = Path(sys.executable).parent / "ninja"
    fresh = (
        [str(ninja), "-C", str(ROOT / "build/dev")] if (ROOT / "build/dev/build.ninja").exists() else ["make", "dev"]
    )
    done = subprocess.run(fresh, cwd=ROOT, check=False, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout[-3000:]
    return folder


@pytest.fixture
def environment(kernels: Path, tmp_path: Path) -> Mapping[str, str]:
    """The environment in which tests start the command: development kernels, a store of their own."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("OCTANT_", "OMP_"))}
    return {**inherited, "OCTANT_KERNELS": str(kernels), "OCTANT_STORE": str(tmp_path / "store"), "COLUMNS": "100"}


@pytest.fixture
def octant(environment: Mapping[str, str]) -> Octant:
    """Runs `octant WORDS…` to its end; `env` adds to the environment, `cwd` and `timeout` are passed on."""

    def call(
        *words: str, env: Mapping[str, str] | None = None, cwd: Path | None = None, timeout: float = 60
    ) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "octant.cli", *words]
        return subprocess.run(
            command,
            env={**environment, **(env or {})},
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


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rewrite", action="store_true", help="write the examples' transcripts anew")
