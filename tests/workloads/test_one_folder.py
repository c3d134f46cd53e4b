"""One folder is all that a workload needs: with a new count, phases, a reading, roles, groups, pictures, results."""

import csv
import io
import json
import shutil
from pathlib import Path

import pytest

from extra_workload import build_kernel, call, run_tests
from octant import units
from octant.failure import Exit
from octant.store import Store
from octant.store.kept import read_kept
from octant.workloads import _template
from pages import row_details
from paths import ROOT

RING = ROOT / "tests/workloads/throwaway/relay"


@pytest.fixture(scope="module")
def ring(kernels: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The folder `node/relay` outside the tree, and the folder with its program."""
    folder = tmp_path_factory.mktemp("extra") / "node" / "relay"
    shutil.copytree(RING, folder)
    return folder, build_kernel(kernels, folder, tmp_path_factory.mktemp("bin"))


@pytest.mark.mpi
def test_every_command_handles_a_workload_that_is_one_folder(ring: tuple[Path, Path], tmp_path: Path) -> None:
    folder, programs = ring
    store = tmp_path / "store"

    def octant(*words: str) -> str:
        return call(folder, programs, store, *words).stdout

    assert "node/relay" in octant("workloads")
    page = octant("workloads", "relay")
    for word in ("handovers", "pass/sum", "first", "total", "steps"):
        assert word in page
    quick = ("seconds=0.05", "samples=200", "least=5", "--repeats", "1")
    shown = octant("run", "relay", "--ranks", "2", "groups=all,1", "bytes=64,4KiB", *quick)
    assert "node/relay" in shown
    assert "groups 1" in shown
    _points_are_right(store)
    octant("run", "relay", "--ranks", "2", "groups=all,1", "bytes=64,4KiB", *quick)
    assert "4 figures" in octant("compare", "previous", "last") or "relay" in octant("compare", "previous", "last")
    assert octant("runs").count("relay") == 2
    report = Path(octant("report", "last").splitlines()[-1])
    text = report.read_text(encoding="utf-8")
    text += "".join(row_details(text).values())
    for word in ("handovers", "fill", "pass", "ring", "elements that differ"):
        assert word in text
    rows = list(csv.DictReader(io.StringIO(octant("export", "last"))))
    assert {row["metric"] for row in rows} >= {"handovers", "pass share", "worst step", "total", "ring"}
    series = {row["series"] for row in csv.DictReader(io.StringIO(octant("export", "last", "--samples")))}
    assert series == {"step", "phase/fill", "phase/pass", "phase/pass/sum", "reading/total"}


@pytest.mark.mpi
def test_a_kernel_keeps_a_file_of_each_rank_that_reports_list_and_shared_ones_leave_out(
    ring: tuple[Path, Path], tmp_path: Path
) -> None:
    folder, programs = ring
    store = tmp_path / "store"
    words = ("run", "relay", "--ranks", "2", "bytes=64,4KiB", "seconds=0.05", "samples=50", "--repeats", "1")
    call(folder, programs, store, *words)
    run = Store(store).find("last")
    for point in run.points:
        size = int(units.parse_bytes(point.knobs["bytes"]))
        assert [(file.name, file.kind, file.rank, file.bytes) for file in point.files] == [
            ("block.bin", "block", rank, size) for rank in (0, 1)
        ]
        blocks = [read_kept(run.folder, file) for file in point.files]
        first = [int.from_bytes(block[:8], "little") for block in blocks]
        assert first[0] - first[1] == 1000, "each rank has the block of the other"
    shown = call(folder, programs, store, "report", "last").stdout
    assert "block.bin (block, 64 B, rank 0)" in " ".join(shown.split()), "in lines as wide as the terminal"
    listed = json.loads(call(folder, programs, store, "report", "last", "--json").stdout)["files"]
    assert {(one["name"], one["rank"]) for one in listed} == {("block.bin", 0), ("block.bin", 1)}
    for shared in (("report", "last", "--share", "--json"), ("export", "last", "--share", "--json")):
        assert json.loads(call(folder, programs, store, *shared).stdout)["files"] == []
    call(folder, programs, store, "report", "last", "--share", "-o", str(tmp_path / "shared.html"))
    assert "block.bin" not in (tmp_path / "shared.html").read_text()
    assert "block.bin" in (run.folder / "report.html").read_text()


def _points_are_right(store: Path) -> None:
    """Two groups of one rank hand to themselves; one group of two hands on. All say so, in the units of their own."""
    run = Store(store).find("last")
    assert len(run.points) == 4
    for point in run.points:
        alone = point.knobs["groups"] == "1"
        assert point.groups == (((0,), (1,)) if alone else ((0, 1),))
        assert point.count("handovers") == 2
        assert {result.value for result in point.results if result.name == "ring"} == {1 if alone else 2}
        names = {head.name for head in point.heads}
        assert names == {"step", "phase/fill", "phase/pass", "phase/pass/sum", "reading/total"}
        ranks = {head.rank for head in point.heads}
        assert ranks == ({0, 1} if alone else {0}), "the other rank of a pair is not timed"
        for series in point.read().series:
            if series.head.name == "reading/total":
                n = 64 // 8 if point.knobs["bytes"] == "64" else 4096 // 8
                assert (series.values >= n * (n - 1) / 2).all()


@pytest.mark.mpi
def test_the_tests_of_the_registry_and_its_own_run_over_it(ring: tuple[Path, Path]) -> None:
    folder, programs = ring
    own, every = str(folder / "test_relay.py"), "tests/workloads/test_every_workload.py"
    done = run_tests(folder, programs, "-q", "-p", "no:cacheprovider", "-k", "relay", own, every)
    assert done.returncode == 0, done.stdout
    assert "7 passed" in done.stdout


@pytest.mark.parametrize("check", [0, 1])
def test_each_of_its_checks_is_seen_to_fail(ring: tuple[Path, Path], tmp_path: Path, check: int) -> None:
    folder, programs = ring
    words = ("run", "relay", "bytes=64", "seconds=0.05", "samples=50", "--repeats", "1")
    done = call(folder, programs, tmp_path / "store", *words, fault=f"wrong:{check}", code=Exit.WRONG_ANSWER)
    assert "WRONG" in done.stdout
    point = Store(tmp_path / "store").find("last").points[0]
    assert [result.name for result in point.failed_checks] == [point.checks[check].name]


def test_what_the_template_writes_builds_runs_and_is_right(kernels: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    folder = _template.write("node/my_kernel", tmp_path)[0].parent
    programs = build_kernel(kernels, folder, tmp_path / "bin")
    words = ("run", "my_kernel", "bytes=4KiB,64KiB", "--repeats=1", "--json")
    figures = json.loads(call(folder, programs, tmp_path / "store", *words).stdout)["figures"]
    assert [figure["metric"] for figure in figures] == ["additions", "additions"]
    assert all(figure["limit"] > 0 for figure in figures)  # on a busy machine its share may not be measurable
