"""A workload that lies outside the tree: its kernel is built as CMake builds the others, and every command finds it."""

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from octant.build import program_name
from paths import ROOT

_BUILT = "node/noise"  # whose commands are taken
_SCRIPT = """
import sys
import octant.workloads.{family} as family
family.__path__.append(sys.argv.pop(1))
"""
_COMMAND = """
from octant.cli import main
main()
"""
_TESTS = """
import pytest
sys.exit(pytest.main(sys.argv[1:]))
"""


def build_kernel(kernels: Path, folder: Path, into: Path) -> Path:
    """Compiles and links `family/name/kernel.cpp`; the folder that also has every other program of the build."""
    name = f"{folder.parent.name}/{folder.name}"
    build, example = kernels.parent, program_name(_BUILT)
    ninja = Path(sys.executable).parent / "ninja"
    shown = subprocess.run([ninja, "-C", build, "-t", "commands", example], capture_output=True, text=True, check=True)
    lines = [line for line in shown.stdout.splitlines() if f"{example}.dir/" in line]
    for program in kernels.iterdir():
        (into / program.name).symlink_to(program)
    objects = into / "objects"
    objects.mkdir()
    for line in lines:
        text = line.replace(_BUILT, name).replace(f"CMakeFiles/{example}.dir/", f"{objects}/")
        text = text.replace(f"bin/{example}", f"{into}/{program_name(name)}")
        words = [word for word in shlex.split(text) if word not in (":", "&&")]
        source = str(ROOT / "src/octant/workloads" / name / "kernel.cpp")
        words = [str(folder / "kernel.cpp") if word == source else word for word in words]
        for word in words:
            if word.startswith(f"{objects}/"):
                Path(word).parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(words, cwd=build, check=True, capture_output=True, text=True)
    return into


def call(
    folder: Path, kernels: Path, store: Path, *words: str, fault: str = "", code: int = 0
) -> "subprocess.CompletedProcess[str]":
    """Runs `octant WORDS…` in an installation that has this folder's workload too, and expects this exit code."""
    environment = {"OCTANT_STORE": str(store), **({"OCTANT_FAULT": fault} if fault else {})}
    done = _python(_COMMAND, folder, kernels, words, environment)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def run_tests(folder: Path, kernels: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Runs pytest with these words in such an installation."""
    return _python(_TESTS, folder, kernels, words, {})


def _python(
    then: str, folder: Path, kernels: Path, words: Sequence[str], further: Mapping[str, str]
) -> "subprocess.CompletedProcess[str]":
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("OCTANT_", "OMP_"))}
    environment = {**inherited, "OCTANT_KERNELS": str(kernels), "COLUMNS": "120", **further}
    script = _SCRIPT.format(family=folder.parent.name) + then
    return subprocess.run(
        [sys.executable, "-c", script, str(folder.parent), *words],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
