"""Outputs of vendors' variants and of parallel variants: columns by name, ranks and threads as the file states them."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from foreign_outputs import read, text_of, value
from octant import foreign
from octant.cli import application
from octant.failure import Refusal

NVIDIA = """HPLinpack 2.1  --  High-Performance Linpack benchmark  --   October 26, 2012
T/V                N    NB     P     Q         Time          Gflops (   per GPU)
WC0           100000  1024     2     4        20.00       3.333e+04 ( 4.167e+03)
||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=   0.000550841189 ...... PASSED
"""


def test_the_rate_of_a_vendor_is_that_of_its_column() -> None:
    found = foreign.read("hpl", NVIDIA)
    assert value(found, "hpl", "rate") == 3.333e13
    assert value(found, "hpl", "rate per GPU") == 4.167e12
    moved = NVIDIA.replace("Time          Gflops (   per GPU)", "Gflops (   per GPU)   Time").replace(
        "20.00       3.333e+04 ( 4.167e+03)", "3.333e+04 ( 4.167e+03)  20.00"
    )
    assert [one.rows[0].values for one in foreign.read("hpl", moved).tables] == [found.tables[0].rows[0].values]


def test_a_column_that_is_not_known_is_reported_and_changes_no_other() -> None:
    more = NVIDIA.replace("per GPU)", "per GPU)  Watts").replace("4.167e+03)", "4.167e+03)  700.0")
    found = foreign.read("hpl", more)
    assert found.tables[0].rows == foreign.read("hpl", NVIDIA).tables[0].rows
    assert found.remarks[0].endswith("is not recognised: unknown columns (Watts) are not imported")
    torn = foreign.read("hpl", NVIDIA.replace("( 4.167e+03)", ""))
    assert torn.tables == ()
    assert "the values do not match the columns" in torn.remarks[0]


def test_mixed_precision_is_another_benchmark() -> None:
    (table,) = read("hpl-mxp-21.4.txt").tables
    assert table.benchmark == "hpl_mxp"
    assert foreign.find_octant_name("hpl", "hpl_mxp").workload == "imported/hpl_hpl_mxp"
    assert [one.name for one in table.rows[0].values] == ["rate", "rate_factor", "t_factor", "t_refine", "residual"]
    titled = foreign.read("hpl", NVIDIA.replace("HPLinpack 2.1", "HPL-MxP-NVIDIA 25.4.0"))
    assert [one.benchmark for one in titled.tables] == ["hpl_mxp"]
    unknown = foreign.read("hpl", NVIDIA.replace("HPLinpack 2.1", "HPL-FOO 3"))
    assert len(unknown.tables) == 0, "what it measures is not known"


def test_results_of_hpl_mxp_without_a_table_are_read() -> None:
    first, second, wrong = read("hpl-mxp-nvidia-24.3.txt").tables
    assert (first.benchmark, first.ranks, first.knobs["n"], first.knobs["precision"]) == (
        "hpl_mxp",
        8,
        "258048",
        "FP16",
    )
    got = {one.name: one.value for one in first.rows[0].values}
    assert got == {
        "rate": 4.3468e14, "rate_factor": 2.494e15, "rate per GPU": 5.433558e13, "rate_factor per GPU": 3.1174898e14,
        "residual": 5.599413e-4,
    }  # fmt: skip
    assert second.rows[0].values[0].value == 4.4e14
    assert (wrong.knobs["precision"], wrong.rows[0].values[-1].value) == ("FP8", 5.599413e4), "it failed its check"
    cut = foreign.read("hpl", text_of("hpl-mxp-nvidia-24.3.txt").partition("    GFLOPS =")[0])
    assert cut.tables == ()
    assert "have no GFLOPS and are not imported" in cut.remarks[0]


def test_emulated_double_precision_is_another_cell() -> None:
    def double(setting: str) -> list[str | None]:
        text = text_of("hpl-nvidia-24.3.txt").replace(" ... Testing", setting + "\n ... Testing")
        return [table.knobs.get("double") for table in foreign.read("hpl", text).tables]

    assert double("HPL_EMULATE_DOUBLE_PRECISION=1") == ["emulated"]
    assert foreign.find_octant_name("hpl", "hpl", {"double": "emulated"}).workload == "imported/hpl_hpl", (
        "compared with none of ours"
    )
    single = NVIDIA.replace("T/V", "- The relative machine precision (eps) is taken to be 5.960464e-08\nT/V")
    (table,) = foreign.read("hpl", single).tables
    assert foreign.find_octant_name("hpl", table.benchmark, table.knobs).workload == "imported/hpl_hpl"
    assert foreign.find_octant_name("hpl", "hpl", {"n": "5"}).workload == "hpcc/hpl"
    assert double("HPL_EMULATE_DOUBLE_PRECISION=0") == double("") == [None]


def test_rows_with_amds_variants_and_column_are_read() -> None:
    (table,) = read("hpl-amd-zen-2024.txt").tables
    assert (table.ranks, table.knobs["variant"], table.knobs["swap"]) == (2, "WRC07R8C48c", "211")
    assert table.knobs["build"] == "AMD_Zen_HPL_2024_10_08"
    assert table.rows[0].values[0].value == 7.4578e12


def test_lines_of_a_job_below_the_results_are_no_rows() -> None:
    found = foreign.read(
        "hpl", NVIDIA + "CPU Utilized: 00:16:10\nCores per node: 4\nCPU Efficiency: 99.10% of 00:16:15\n"
    )
    assert (len(found.tables), found.remarks) == (1, ())


def test_a_run_that_ended_early_is_named() -> None:
    head = text_of("hpl-2.3.txt").partition("T/V  ")[0] + "slurmstepd: error: CANCELLED DUE TO TIME LIMIT\n"
    assert foreign.read("hpl", head).remarks == ("the run that begins at line 2 has no results",)
    assert len(foreign.read("hpl", head + NVIDIA).remarks) == 1
    hpcc = foreign.read("hpl", text_of("hpcc-1.5.0.txt"))
    assert (len(hpcc.tables), hpcc.remarks) == (1, ()), "HPC Challenge prints the title above its first section, too"


def test_ranks_and_threads_are_those_that_the_file_states() -> None:
    shapes = {
        "stream-mpi-1.8": (2, 9), "stream-mpi-1.8-pure": (16, None), "stream-5.10-serial": (1, None),
        "stream-5.10-openmp": (1, 8), "stream-fortran-5.6-openmp": (1, 4), "hpl-2.3": (8, None),
        "npb-3.4-mz-bt": (36, 2), "npb-3.3-mz-sp": (3, None), "npb-3.3-omp-bt": (1, 8), "npb-3.3-ser-lu": (1, 1),
        "npb-3.4-mpi-ft-idle": (4, 1), "npb-3.3-cuda-sp": (None, None), "npb-4.1-cpp-serial-is": (1, 1),
    }  # fmt: skip
    for name, shape in shapes.items():
        assert {(table.ranks, table.threads) for table in read(f"{name}.txt").tables} == {shape}, name
    silent = foreign.read(
        "stream", text_of("stream-mpi-1.8.txt").replace("Data is distributed across 2 MPI ranks\n", "")
    )
    assert {table.ranks for table in silent.tables} == {None}, "a version of MPI"


def test_runs_of_a_file_have_their_own_heads() -> None:
    found = read("stream-5.10-appended.txt")
    assert [table.threads for table in found.tables] == [1] * 4 + [4] * 4 + [8] * 4
    both = foreign.read("hpl", text_of("hpl-2.3.txt") + NVIDIA)
    assert [table.ranks for table in both.tables] == [8, 8, 8]
    assert [table.started for table in both.tables] == ["2024-06-04T10:02:11", "2024-06-04T10:02:20", ""]
    cut = text_of("stream-5.10-openmp.txt").partition("Solution")[0] + text_of("stream-5.10-serial.txt")
    assert [table.threads for table in foreign.read("stream", cut).tables] == [None] * 4, "not those of the run before"


JOB = """+ export OMP_NUM_THREADS=8
OMP_NUM_THREADS=8
OMP_PROC_BIND = 'TRUE'
Loading requirement: zlib/1.2.13
Number of nodes = 2
Number of threads: 4
THREADS : 4
Size : 400
Model name: Intel(R) Xeon(R) Platinum 8358 CPU @ 2.60GHz
- Currently Loaded Modulefiles:
HOSTNAME=node001
Elapsed time = 130 s
CPU Utilized: 00:16:10
"""
"""What job scripts print around programs: traced commands, variables, modules, the machine, the use of resources."""


@pytest.mark.parametrize("name", [
    "stream-5.10-openmp.txt", "stream-5.10-appended.txt", "stream-fortran-5.6-openmp.txt", "stream-mpi-1.8.txt",
    "npb-3.4-mpi-cg.txt", "hpl-2.3.txt", "hpl-mxp-nvidia-24.3.txt", "hpcc-1.5.0.txt", "likwid-bench-5.2.2.txt",
])  # fmt: skip
def test_what_a_job_script_prints_around_programs_refuses_no_figure(name: str) -> None:
    tool, text = name.partition("-")[0], text_of(name)
    whole = foreign.read(tool, text)
    found = foreign.read(tool, f"{JOB}{text}{JOB}{text}{JOB}")
    assert [table.rows[0].values[0].value for table in found.tables] == [
        table.rows[0].values[0].value for table in whole.tables
    ] * 2
    assert found.remarks == whole.remarks
    assert found.account.interpreted == 2 * whole.account.interpreted


def test_stream_reads_the_other_rows_if_a_kernel_was_too_short_for_the_clock() -> None:
    short = text_of("stream-5.10-openmp.txt").replace(
        "74418.6     0.017544     0.017200", "inf     0.017544     0.000000"
    )
    tables = foreign.read("stream", short).tables
    assert [table.rows[0].values[0].name for table in tables] == ["t_avg"] + ["bandwidth"] * 3
    listed = "Copy: Best Rate MB/s=inf (line 27), Copy: Min time=0.000000 (line 27)"
    assert foreign.read("stream", short).remarks[0] == f"2 values not imported (zero or implausible): {listed}"


def test_a_kernel_of_stream_without_a_row_is_named() -> None:
    joined = text_of("stream-5.10-openmp.txt").replace("Copy: ", "OMP: Info #155 Copy: ")
    found = foreign.read("stream", joined)
    assert (len(found.tables), found.remarks) == (3, ("the table that ends at line 30 has no row of Copy",))


def test_the_version_of_likwid_bench_may_have_a_commit() -> None:
    text = "likwid-bench -- Version 5.4.1 (commit: 0e4c5f2)\n" + text_of("likwid-bench-5.2.2.txt")
    found = foreign.read("likwid", text)
    assert (found.version, found.account.unrecognised) == ("5.4.1", 0)


def test_streams_own_warning_on_a_macro_refuses_no_figure() -> None:
    text = text_of("stream-5.10-openmp.txt")
    warned = text.replace("Array size", """*****  WARNING: ******
      It appears that you set the preprocessor variable N when compiling this code.
      This version of the code uses the preprocesor variable STREAM_ARRAY_SIZE to control the array size
      Reverting to default value of STREAM_ARRAY_SIZE=80000000
*****  WARNING: ******
Array size""")  # fmt: skip
    found = foreign.read("stream", warned)
    assert (len(found.tables), found.account.unrecognised) == (4, 0)


def test_an_import_prints_what_became_of_the_lines(tmp_path: Path) -> None:
    path = tmp_path / "hpl.txt"
    path.write_text(text_of("hpl-nvidia-noise.txt"))
    done = CliRunner().invoke(application(), ["import", "hpl", str(path), "--store", str(tmp_path / "store")])
    assert done.exit_code == 0
    assert "8 lines interpreted, " in done.stderr
    assert 'unrecognised: line 51 ("WARNING: GPU 2 runs' in done.stderr
    done = CliRunner().invoke(application(), ["import", "hpl", str(path), "--store", str(tmp_path / "other"), "--json"])
    assert '"lines": [' in done.stdout


@pytest.mark.parametrize(
    ("tool", "text", "why"),
    [
        ("hpl", text_of("stream-5.10.txt"), "use octant import stream"),
        ("hpl", "Date: today\nHPL_dgemm speed test\nGflops 5\n", 'the most similar line is line 3 ("Gflops 5")'),
        ("npb", "\n \n", "the file has no lines"),
        ("stream", text_of("hpl-2.3.txt"), "supported tools: hpcc, hpl, imb, likwid, npb, osu, stream"),
    ],
)
def test_a_file_of_which_nothing_is_recognised(tool: str, text: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "output.txt"
    path.write_text(text)
    with pytest.raises(Refusal) as refused:
        foreign.read_file(tool, path)
    assert why in str(refused.value)


def test_bt_with_io_is_another_cell_than_bt() -> None:
    text = text_of("npb-3.4-mpi-cg.txt").replace("CG Benchmark", "BT Benchmark")
    writes = text.replace(
        "   iteration  ",
        """ BTIO -- FULL MPI-IO write interval:   5

 Writing data set, time step   5

 BTIO -- statistics:
   I/O timing in seconds   :           2.10
   I/O timing percentage   :           5.10
   Total data written (MB) :        1697.93
   I/O data rate  (MB/sec) :         808.54

   iteration  """,
    )
    (plain,), found = foreign.read("npb", text).tables, foreign.read("npb", writes)
    assert found.tables[0].knobs == {**plain.knobs, "io": "FULL_MPI-IO"}
    assert found.account.unrecognised == 0


def test_results_of_npb_for_accelerators_are_read() -> None:
    text = text_of("npb-3.3-cuda-sp.txt").replace("SP Benchmark Completed", "SP NPB-GPU Benchmark Completed")
    more = text.replace("05 Jun 2024\n", "05 Jun 2024\n NVCC version    = 12.2\n CUDA version    = 12.2\n")
    found = foreign.read("npb", more)
    assert kept_values(found) == kept_values(read("npb-3.3-cuda-sp.txt"))
    assert (len(found.tables), found.account.unrecognised) == (1, 0)


def kept_values(found: foreign.Output) -> list[tuple[dict[str, str], list[float]]]:
    return [(dict(one.knobs), [value.value for value in one.rows[0].values]) for one in found.tables]


def refusal(tool: str, text: str, folder: Path) -> str:
    path = folder / "output.txt"
    path.write_text(text)
    with pytest.raises(Refusal) as refused:
        foreign.read_file(tool, path)
    return str(refused.value)


def test_a_refusal_names_one_next_step(tmp_path: Path) -> None:
    text = text_of("stream-5.10-openmp.txt")
    unknown = text.replace("Number of Threads requested", "Number of devices = 2\nNumber of Threads requested")
    said = refusal("stream", unknown, tmp_path)
    assert 'line 13 ("Number of devices = 2") is not recognised' in said
    assert said.endswith("remove this line from a copy of the file and import the copy")
    twice = unknown.replace("Number of devices = 2\n", "Number of devices = 2\nNumber of tiles = 4\n")
    assert refusal("stream", twice, tmp_path).endswith("import the copy; 1 more line like this")
    hosts = "".join(f"node{number}: {line}\n" for number in (1, 2) for line in text.splitlines())
    said = refusal("stream", hosts, tmp_path)
    assert ": hosts node1, node2 each printed figures of stream" in said
    assert said.endswith("import the lines of one copy, for example those of host node1")


def test_a_refusal_says_what_is_missing(tmp_path: Path) -> None:
    head = text_of("stream-5.10-openmp.txt").partition("Function")[0]
    assert "the run that begins at line 2 has no results" in refusal("stream", head, tmp_path)
    keys = "".join(line + "\n" for line in text_of("hpcc-1.5.0.txt").splitlines() if line.startswith(("HPL_", "Comm")))
    assert 'is not in a summary: no "Begin of Summary section." precedes it' in refusal("hpcc", keys, tmp_path)
    untitled = "Function    MBytes/sec  Min (sec)\nCopy        103215.1  0.00520\n"
    assert "no title of STREAM precedes it" in refusal("stream", untitled, tmp_path)


@pytest.mark.parametrize(
    ("tool", "line", "program"),
    [
        ("stream", "BabelStream", "BabelStream"),
        ("hpl", "Intel(R) Optimized LINPACK Benchmark data", "Intel's LINPACK for shared memory"),
        ("hpl", "HPCG-Benchmark version=3.1", "HPCG"),
    ],
)
def test_a_refusal_names_a_program_that_is_not_read(tool: str, line: str, program: str, tmp_path: Path) -> None:
    said = refusal(tool, f"{line}\nFunction    MBytes/sec  Min (sec)\nCopy        103215.1  0.00520\n", tmp_path)
    assert f'line 1 ("{line}") is a line of {program}, which is not supported; supported tools: ' in said
