"""Where the checkout's files are, and the types of the shared fixtures."""

import subprocess
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"
MACHINES = ROOT / "machines"

Octant = Callable[..., "subprocess.CompletedProcess[str]"]
