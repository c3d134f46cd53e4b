"""Outputs of OSU from sites: other libraries, torn tables, output of other programs between the rows."""

from pathlib import Path

import pytest

from foreign_outputs import figures
from octant import foreign
from octant.failure import Refusal

LATENCY = "# Size          Latency (us)\n"
RATE = "# Size      Bandwidth (MB/s)\n"


def osu(title: str, rows: str, head: str = LATENCY) -> str:
    return f"# OSU {title} Test v5.8\n{head}{rows}"


def refusal(tmp_path: Path, text: str) -> str:
    path = tmp_path / "osu.txt"
    path.write_text(text)
    with pytest.raises(Refusal) as found:
        foreign.read_file("osu", path)
    return str(found.value)


@pytest.mark.parametrize(
    ("title", "accelerator", "memory", "ranks"),
    [
        ("MPI_Put-CUDA Latency", "cuda", "not-stated", 2),
        ("MPI_Get_accumulate-ROCM latency", "rocm", "not-stated", 2),
        ("MPI_Put-CUDA MANAGED Bi-directional Bandwidth", "cuda_managed", "not-stated", 2),
        ("XCCL-ROCM Latency", "rocm", "not-stated", 2),
        ("RCCL-ROCM Bi-Directional Bandwidth", "rocm", "not-stated", 2),
        ("xCCL-CUDA Allreduce Latency", "cuda", "D", None),
        ("OpenSHMEM-CUDA Put", "cuda", "not-stated", None),
    ],
)
def test_the_accelerator_may_follow_any_library_or_function(
    title: str, accelerator: str, memory: str, ranks: int | None
) -> None:
    (table,) = foreign.read("osu", osu(title, "1 2.00\n")).tables
    assert (dict(table.knobs), table.ranks) == ({"accelerator": accelerator, "memory": memory}, ranks)


def test_one_sided_tables_with_other_buffers_are_other_cells() -> None:
    title = "MPI_Put-CUDA Latency"
    device = "# Rank 0 Memory on DEVICE (D) and Rank 1 Memory on DEVICE (D)\n"
    managed = "# Rank 0 Memory on MANAGED DEVICE (MD) and Rank 1 Memory on HOST (H)\n"
    found = foreign.read("osu", "".join(osu(title, "1 2.00\n", head + LATENCY) for head in (device, managed, "", "")))
    assert [table.knobs["memory"] for table in found.tables] == ["D-D", "MD-H", "not-stated", "not-stated-2"]


def test_rows_of_two_runs_are_not_one_table(tmp_path: Path) -> None:
    """Two programs that wrote to one file at the same time: the owner of a row is unknown."""
    heads = osu("MPI Latency", "", LATENCY) + osu("MPI Bandwidth", "", RATE)
    found = foreign.read("osu", heads + "1 1.10\n1 5.00\n2 1.20\n2 9.00\n" + osu("MPI Broadcast Latency", "4 1.00\n"))
    assert [table.benchmark for table in found.tables] == ["MPI Broadcast Latency Test"]
    assert found.remarks[0] == "no figures read below the title of MPI Latency Test (line 1)"
    why = "MPI Bandwidth Test (line 3) is not imported, since the size does not increase"
    assert f'line 6 ("1 5.00") is not recognised: {why}' in found.remarks[1]
    reason = refusal(tmp_path, osu("MPI Bandwidth", "1 1.10\n1 5.00\n", RATE))
    assert "MPI Bandwidth Test (line 1) is not imported, since the size does not increase" in reason
    assert "; if that line does not change figures, correct or remove it in a copy of the file" in reason


@pytest.mark.parametrize("line", ["10  20", "1         2         4", "1,048,576  12,000.11", "8  13.2srun: launching"])
def test_numbers_that_no_row_of_osu_has_are_no_figures_and_are_reported(line: str) -> None:
    found = foreign.read("osu", osu("MPI Latency", f"1 1.10\n{line}\n16 2.00\n"))
    assert [row.knobs["bytes"] for row in found.tables[0].rows] == ["1", "16"]
    assert found.remarks == (
        f'line 4 ("{line}") is not recognised: a row of MPI Latency Test (line 1) is not imported',
    )


def test_a_table_of_unknown_columns_is_reported() -> None:
    head = "# Operation                 Million ops/s        Latency (us)\n"
    atomics = osu("OpenSHMEM Atomic Operation Rate", "shmem_int_fadd 0.73 1.37\n", head)
    found = foreign.read("osu", atomics + osu("MPI Latency", "1 1.10\n"))
    assert [table.benchmark for table in found.tables] == ["MPI Latency Test"]
    assert found.remarks[0] == "no figures read below the title of OpenSHMEM Atomic Operation Rate Test (line 1)"
    assert "Million ops/s" in found.remarks[1]


def test_pairs_without_a_window_state_the_ranks() -> None:
    text = osu("OpenSHMEM Put Message Rate", "1 1234567.89\n", "# [ pairs: 4 ]\n# Size           Messages/s\n")
    found = foreign.read("osu", text)
    assert [(one[3], one[5]) for one in figures(found)] == [("message rate", 1234567.89)]
    assert (found.tables[0].ranks, found.tables[0].knobs) == (8, {})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("# MPI Latency Test\n# Size [B]  Latency [us]\n0 1.37\n", 'line 3 ("0 1.37") has no title such as "# OSU MPI'),
        (f"<pre># OSU MPI Latency Test v5.8\n{LATENCY}1 1.00\n", 'line 3 ("1 1.00") has no title such as "# OSU MPI'),
        (osu("MPI Latency", ""), "below the title of MPI Latency Test (line 1); import a complete output of osu"),
        (
            osu("MPI Latency", "1 1.00\n", f"# Pool: 4\n{LATENCY}"),
            "MPI Latency Test (line 1). If the line does not change them, remove",
        ),
    ],
)
def test_the_refusal_of_a_file_says_what_is_missing_and_what_to_do(tmp_path: Path, text: str, reason: str) -> None:
    assert reason in refusal(tmp_path, text)
