"""`octant hpcc`: what is refused before there is a run, and a tiny run with its table, its summary and its import."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from octant.benchmarks.table import read_tests
from octant.store import Store
from paths import Octant

TINY = ("hpcc", "--size", "hpl:256", "--repeats", "1", "-n", "2")


@pytest.mark.mpi
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_run_prints_a_row_for_each_key_and_its_summary_is_read_back(
    octant: Octant, environment: Mapping[str, str], tmp_path: Path
) -> None:
    done = octant(*TINY, timeout=300)
    assert done.returncode == 0, done.stderr
    (run,) = Store(Path(environment["OCTANT_STORE"])).runs()
    assert (run.benchmark, run.requests[0].show.test) == ("hpcc", read_tests("hpcc")[0].name)
    keys = {one.key for test in read_tests("hpcc") for one in test.figure}
    measured = {key for key in keys if f"  {key} " in done.stdout}
    left_out = {test.name for test in read_tests("hpcc") if f"octant: {test.name} is left out" in done.stderr}
    assert measured == {one.key for test in read_tests("hpcc") if test.name not in left_out for one in test.figure}
    assert done.stdout.count("right") >= len(measured)
    rows = {row["key"]: row for row in json.loads(octant("hpcc", "--run", "last", "--json").stdout)["figures"]}
    assert {key for key, row in rows.items() if row["value"]} == measured
    summary = octant("export", "hpcc", "last", "-o", str(tmp_path / "summary.txt"))
    assert summary.returncode == 0, summary.stderr
    read = octant("import", "hpcc", str(tmp_path / "summary.txt"))
    assert read.returncode == 0, read.stderr


@pytest.mark.mpi
def test_what_cannot_be_is_refused_before_there_is_a_run(octant: Octant) -> None:
    large = octant("hpcc", "--size", "hpl:99999999")
    assert large.returncode == 3
    assert "the matrix needs 7.276e+04 TiB" in large.stderr
    assert octant("hpcc", "--size", "8192").returncode == 2
    assert octant("export", "hpcc", "last", "--samples").returncode == 2
    assert octant("export", "last", "previous").returncode == 2
    assert "does not exist" in octant("resume").stderr
