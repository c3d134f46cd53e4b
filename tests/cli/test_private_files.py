"""Other files that kernels write are readable by the user only."""

import os
import stat
import subprocess
from pathlib import Path

from paths import Octant


def test_a_measured_run_is_its_owners_alone_whatever_the_umask(octant: Octant, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        done = octant("run", "stream", "bytes=1MiB", "seconds=0.1", "--repeats", "1")
    finally:
        os.umask(before)
    assert done.returncode == 0, done.stderr
    found = list((tmp_path / "store").rglob("*"))
    assert {"records.jsonl", "plan.jsonl"} <= {path.name for path in found}
    assert [path for path in found if stat.S_IMODE(path.stat().st_mode) & 0o077] == []


def test_a_kernel_by_itself_writes_for_its_user_alone(kernels: Path, tmp_path: Path) -> None:
    records = tmp_path / "records.jsonl"
    before = os.umask(0)
    try:
        words = ["bytes=1MiB", "seconds=0.1", "--output", str(records)]
        subprocess.run([kernels / "octant-node-stream", *words], check=True)
    finally:
        os.umask(before)
    assert stat.S_IMODE(records.stat().st_mode) == 0o600
