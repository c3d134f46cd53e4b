"""Files of the profiler that are generated at development time."""

import subprocess
import sys
from pathlib import Path

import pytest

from paths import ROOT


def test_files_are_those_that_the_generator_writes() -> None:
    pytest.importorskip("pympistandard", reason="pympistandard is not installed; pip install pympistandard==0.2.0")
    command: list[str | Path] = [sys.executable, ROOT / "native" / "profiler" / "generate.py", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
