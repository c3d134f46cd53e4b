"""Real deletions of entries, each seen by whole commands."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from fake_run import fake_run, write_run
from paths import ROOT

_COMMANDS = """
import json, sys
from octant.cli import main
for words in json.loads(sys.argv[1]):
    sys.argv[1:] = words
    try:
        main()
    except SystemExit as ended:
        print(f"exit {ended.code or 0}: {' '.join(words)}", flush=True)
    else:
        print(f"exit 0: {' '.join(words)}", flush=True)
"""
OF_LISTS = [
    ["--help"], ["workloads"], ["study", "list"], ["evaluate", "--list"], ["runs"], ["report", "last"],
    ["place", "--place", "2x1", "--for", "all"],
]  # fmt: skip
OF_RUNS = [["export", "last"], ["compare", "previous", "last"], ["hpcc", "--help"]]
"""Commands that need none of what is deleted by its name."""


@pytest.mark.parametrize(
    ("deleted", "refusal"),
    [
        (["workloads/node/stream"], ["run", "stream"]),
        (["study/studies/page-size.toml", "suites/quick.toml"], ["study", "show", "page-size"]),
        (["launchers/mpiexec.py", "advice/rules/smt.py"], ["run", "gemm", "--launcher", "mpiexec"]),
    ],
    ids=["a workload", "a study and a suite", "a launcher and a rule"],
)
def test_what_is_deleted_is_needed_by_no_other_command(deleted: list[str], refusal: list[str], tmp_path: Path) -> None:
    run = fake_run()
    write_run(fake_run(folder=Path("runs/20261121-214529-0000")), tmp_path / "store")
    write_run(run, tmp_path / "store")
    copy = tmp_path / "octant"
    shutil.copytree(ROOT / "src/octant", copy, copy_function=os.symlink)
    for name in deleted:
        place = copy / name
        shutil.rmtree(place) if place.is_dir() else place.unlink()
    words = [*OF_LISTS, *(OF_RUNS if "workloads" in deleted[0] else [])]
    path = os.pathsep.join([str(tmp_path), sysconfig.get_path("purelib")])
    environment = {**os.environ, "PYTHONPATH": path, "OCTANT_STORE": str(tmp_path / "store"), "COLUMNS": "200"}
    done = subprocess.run(  # without `site`, through which an editable installation would take the place of the copy
        [sys.executable, "-S", "-c", _COMMANDS, json.dumps([*words, refusal])],
        env=environment, capture_output=True, text=True, timeout=110, check=False, cwd=tmp_path,
    )  # fmt: skip
    ends = [line for line in done.stdout.splitlines() if line.startswith("exit ")]
    assert ends[:-1] == [f"exit 0: {' '.join(one)}" for one in words], done.stderr
    assert ends[-1].startswith(("exit 1: ", "exit 2: "))
    assert "Traceback" not in done.stderr
    report = done.stdout.partition("exit 0: runs\n")[2].partition("exit 0: report")[0]
    assert "node/stream" in report
    assert ("this installation has no workload node/stream" in report) == (deleted[0] == "workloads/node/stream")
    studies = done.stdout.partition("exit 0: workloads\n")[2].partition("\n\n")[0]  # the table; reasons follow it
    assert ("cannot be read (" in studies) == (deleted[0] == "workloads/node/stream")
