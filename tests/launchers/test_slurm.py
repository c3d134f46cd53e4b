"""Slurm for real: steps inside and outside an allocation, jobs, masks, and a launcher that binds first."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from octant.analysis.mismatches import all_mismatches
from octant.launchers import to_syntax
from octant.machine import Topology
from octant.machine.cpusets import parse_cpus
from octant.machine.hwloc import load
from octant.placement.expressions import parse_place
from octant.placement.planner import plan
from octant.store import Store, StoredRun
from paths import MACHINES, Octant
from slurm_cluster import NoCluster, slurm

pytestmark = [pytest.mark.root("starts Slurm's daemons, which change users"), pytest.mark.mpi, pytest.mark.slow]
CPUS = sorted(os.sched_getaffinity(0))
QUICK = ("stream", "bytes=1MiB", "seconds=0.1", "--repeats", "1")
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, str]]:
    if len(CPUS) < 2:
        pytest.skip("needs two hardware threads")
    try:
        with slurm(tmp_path_factory.mktemp("slurm"), 2) as variables:
            yield variables
    except NoCluster as reason:
        pytest.skip(str(reason))


@pytest.fixture
def run(cluster: Mapping[str, str], environment: Mapping[str, str]) -> Run:
    def call(*words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            words, env={**environment, **cluster}, capture_output=True, text=True, check=False, timeout=110
        )

    return call


def stored(environment: Mapping[str, str]) -> StoredRun:
    (found,) = Store(Path(environment["OCTANT_STORE"])).runs()
    assert isinstance(found, StoredRun)
    return found


def masks(run: StoredRun) -> list[tuple[tuple[int, ...], ...]]:
    (point,) = run.points
    assert all_mismatches(run) == []
    return [given.thread_masks for given in point.given]


@pytest.mark.parametrize("allocation", [(), ("salloc", "-Q", "--exclusive", "-N1")])
def test_ranks_are_where_they_were_asked_to_be(
    run: Run, environment: Mapping[str, str], allocation: tuple[str, ...]
) -> None:
    """Outside an allocation srun is named; inside, it is found at hand."""
    named = () if allocation else ("--launcher", "srun")
    cpus = f"2x1,cpus={CPUS[1]}/{CPUS[0]}"
    done = run(*allocation, sys.executable, "-m", "octant.cli", "run", *QUICK, "--place", cpus, *named)
    assert done.returncode == 0, done.stderr
    assert masks(stored(environment)) == [((CPUS[1],),), ((CPUS[0],),)]


def test_two_threads_of_one_rank_on_each_of_two_nodes(run: Run, environment: Mapping[str, str]) -> None:
    words = ("--place", "1x2", "--ranks", "2", "--launcher", "srun")
    done = run(sys.executable, "-m", "octant.cli", "run", *QUICK, *words)
    found = stored(environment)
    assert done.returncode == 0, done.stderr
    (point,) = found.points
    assert (point.ranks, point.threads) == (2, 2)
    # Both nodes are this machine and have its name, so the second rank looks like one too many on it, and only so.
    assert [given.thread_masks for given in point.given] == [((CPUS[0],), (CPUS[1],))] * 2
    (text,) = all_mismatches(found)
    assert "has more ranks than the plan" in text


def test_a_job_script_is_submitted_and_its_result_comes_into_the_store(
    octant: Octant, cluster: Mapping[str, str], environment: Mapping[str, str], tmp_path: Path
) -> None:
    words = ("--place", "2x1", "--launcher", "sbatch", "--script", "job.sh", "--submit", "--minutes", "2", "--json")
    done = octant("run", *QUICK, *words, env=cluster, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"\d+", json.loads(done.stdout)["submitted"])
    end = time.monotonic() + 60
    store = Store(Path(environment["OCTANT_STORE"]))
    while not any(found.points for found in store.runs()):
        said = [log.read_text() for log in tmp_path.glob("slurm-*.out")]
        assert time.monotonic() < end, f"no result; the job said {said}"
        time.sleep(0.3)
    assert masks(stored(environment)) == [((CPUS[0],),), ((CPUS[1],),)]


def test_a_launcher_that_binds_first_is_found_out(run: Run, kernels: Path) -> None:
    bind = (str(kernels / "octant-bind"), "--rank", "0", f"cpus={CPUS[0]}-{CPUS[1]}", "--")
    bound = run("srun", "-n1", "-c1", "--cpu-bind=map_cpu:0", *bind, "true")
    assert bound.returncode == 3
    assert "a cpuset, taskset or the launcher's own binding" in bound.stderr
    free = run("srun", "-n1", "-c2", "--cpu-bind=none", *bind, "grep", "Cpus_allowed_list", "/proc/self/status")
    assert free.stdout.split()[1] == f"{CPUS[0]}-{CPUS[1]}"


def test_a_rank_that_fails_ends_the_step(run: Run) -> None:
    step = 'if [ "$SLURM_PROCID" = 1 ]; then exit 9; fi; sleep 300'
    from octant.launchers import JobSize
    from octant.launchers import slurm as launcher

    done = run("srun", *launcher.options(JobSize(2, 2)), "sh", "-c", step)
    assert done.returncode != 0


def here() -> Topology:
    """Two cores without SMT, as the node of the cluster says of itself."""
    if CPUS != [0, 1] or os.cpu_count() != 2:
        pytest.skip("the words' masks are compared on a machine of two cores without SMT")
    return load(MACHINES / "vm-2core.xml")


@pytest.mark.parametrize("text", ["2x1", "2x1,cpus=1/0", "2x1,cpus=0+1/1,share=yes", "1x1,cpus=1"])
def test_our_words_for_srun_give_the_planned_masks(cluster: Mapping[str, str], text: str) -> None:
    topology = here()
    request = parse_place(text, topology)
    placement = plan(topology, request)
    lines = to_syntax("slurm", placement, request, topology).lines
    show = "echo $SLURM_PROCID $(grep Cpus_allowed_list /proc/self/status)"
    compared = 0
    for line in lines:
        if "srun " not in line:
            continue
        options = line[line.index("srun ") :].removesuffix(" PROGRAM").split()
        words = ["salloc", "-Q", "--exclusive", "-N1", options[0], *options[1:], "sh", "-c", show]
        done = subprocess.run(
            words, env={**os.environ, **cluster}, capture_output=True, text=True, check=False, timeout=110
        )
        assert done.returncode == 0, f"{line}: {done.stderr}"
        rows = sorted(row.split() for row in done.stdout.splitlines())
        assert [parse_cpus(row[2]) for row in rows] == [place.cpus for place in placement.ranks], line
        compared += 1
    assert compared > 0
