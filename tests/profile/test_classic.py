"""Files with the tables of mpitrace."""

import csv
import re
from pathlib import Path

import pytest

from octant.failure import Refusal
from octant.profile.classic import write_classic
from octant.profile.job import JobProfile
from octant.profile.merge import merge
from paths import ROOT
from profile_files import Call, MadeProcess, exchange, write_files

PUBLISHED = {"MPI_Send": (126, 6868.8), "MPI_Recv": (4073, 364069.5), "MPI_Sendrecv": (11340, 254168.7)}
CATALOGUE = ROOT / "src/octant/catalogue/results"


def written(job: JobProfile, folder: Path, **environ: str) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in write_classic(job, folder, environ)}


def test_the_usual_ranks_have_files(tmp_path: Path) -> None:
    job = merge(write_files(tmp_path, exchange(9)))
    assert list(written(job, tmp_path / "a")) == ["mpi_profile.0", "mpi_profile.4", "mpi_profile.8"]
    assert list(written(job, tmp_path / "b", SAVE_LIST="7, 3")) == ["mpi_profile.3", "mpi_profile.7"]
    assert len(written(job, tmp_path / "c", SAVE_ALL_TASKS="yes")) == 9
    assert sorted(path.name for path in (tmp_path / "b").iterdir()) == ["mpi_profile.3", "mpi_profile.7"]
    with pytest.raises(Refusal, match=r"cannot use SAVE_LIST=0-3 \(it is not a list of ranks\)"):
        written(job, tmp_path / "d", SAVE_LIST="0-3")
    with pytest.raises(Refusal, match="there is no profile of any process"):
        written(merge([], ranks=2), tmp_path / "e")
    (tmp_path / "file").touch()
    with pytest.raises(Refusal, match="cannot write to"):
        written(job, tmp_path / "file")


def test_tables_have_the_published_columns_and_numbers(tmp_path: Path) -> None:
    """The calls of the published example, rank 0 of ENZO, give its tables again."""
    calls: list[Call] = []
    times: dict[str, float] = {}
    with (CATALOGUE / "enzo-mpitrace-sizes.csv").open(encoding="utf-8") as file:
        rows: dict[tuple[str, str], dict[str, float]] = {}
        for one in csv.DictReader(file):
            rows.setdefault((one["routine"], one["bucket"]), {})[one["metric"]] = float(one["value"])
    for number, ((routine, _), row) in enumerate(rows.items()):
        count, size = int(row["calls"]), round(row["average_bytes"])
        calls.append(Call(routine, 0x100 + number, count, size, row["time"]))
        times[routine] = times.get(routine, 0.0) + row["time"]
    calls.append(Call("MPI_Test", 0x900, 4635, 0, 0.023))
    processes = [
        MadeProcess(0, 2, calls, elapsed_s=519.055, user_s=256.401, system_s=0.082, memory_bytes=781664 * 1024)
    ]
    processes += [MadeProcess(1, 2, [Call("MPI_Barrier", seconds=100.0)], pid=2, elapsed_s=519.0)]
    text = written(merge(write_files(tmp_path, processes)), tmp_path / "out")["mpi_profile.0"]
    assert text.startswith("Data for MPI rank 0 of 2:\n")
    head = re.search(r"^MPI Routine +#calls +avg\. bytes +time\(sec\)$", text, re.MULTILINE)
    table = text[head.end() :].split("Message size")[0] if head else ""
    found = re.findall(r"^(MPI_\w+) +(\d+) +([\d.]+) +([\d.]+)$", table, re.MULTILINE)
    assert [name for name, *_ in found] == [
        "MPI_Send", "MPI_Recv", "MPI_Sendrecv", "MPI_Test", "MPI_Allgather", "MPI_Allreduce", "MPI_Allgatherv"
    ]  # fmt: skip
    for name, count, size, time in found:
        if name in PUBLISHED:
            assert int(count) == PUBLISHED[name][0]
            assert float(size) == pytest.approx(PUBLISHED[name][1], rel=1e-3)
        if name in times:
            assert float(time) == pytest.approx(times[name], abs=0.0011)
    assert "MPI task 0 of 2 had the minimum communication time.\n" in text
    assert "total elapsed time       = 519.055 seconds.\nuser cpu time            = 256.401 seconds." in text
    assert "maximum memory size      = 781664 KBytes." in text
    sizes = text.split("Message size distributions:")[1].split("Communication summary")[0]
    assert re.search(r"MPI_Sendrecv +#calls +avg\. bytes +time\(sec\)\n +5760 +0\.0 +13\.930\n", sizes)
    assert "MPI_Test" not in sizes


def test_the_file_of_rank_0_has_all_ranks(tmp_path: Path) -> None:
    processes = exchange(3)
    processes[2].state = "running"
    files = written(merge(write_files(tmp_path, processes)), tmp_path / "out")
    assert [name for name, text in files.items() if "Communication summary" in text] == ["mpi_profile.0"]
    summary = files["mpi_profile.0"].split("Communication summary for all tasks:")[1]
    assert re.findall(r"(\w+) +communication time = ([\d.]+) sec for task (\d)", summary) == [
        ("minimum", "0.270", "2"), ("median", "1.270", "1"), ("maximum", "2.270", "0")
    ]  # fmt: skip
    head, *rows = summary.split("sorted by communication time:\n")[1].splitlines()
    assert head.split() == ["taskid", "comm(s)", "elapsed(s)", "user(s)", "size(KB)", "switches"]
    assert [row.split() for row in rows] == [
        ["2", "0.27", "10.00", "-", "-", "-"],
        ["1", "1.27", "10.00", "9.00", "97656", "7"],
        ["0", "2.27", "10.00", "9.00", "97656", "7"],
    ]
    assert "had the maximum communication time" in files["mpi_profile.0"]
    assert "user cpu time            = not known." in files["mpi_profile.2"]


def test_names_cannot_change_the_layout(tmp_path: Path) -> None:
    job = merge(write_files(tmp_path, [MadeProcess(calls=[Call("MPI_Send")])]))
    names = tuple(f"{name}\n\x1b[31m" for name in job.call_names)
    text = written(JobProfile(**{**vars(job), "call_names": names}), tmp_path / "out")["mpi_profile.0"]
    assert "\x1b" not in text
    assert re.search(r"^MPI_Send\?\?\[31m +1 ", text, re.MULTILINE)
