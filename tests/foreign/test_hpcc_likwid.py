"""HPC Challenge and likwid-bench: recorded outputs are read completely, and every run of a file counts."""

import functools
import re
import tarfile
from pathlib import Path

import pytest

from foreign_outputs import FOLDER, figures, text_of
from octant import foreign
from octant.analysis.summary import summarise
from octant.foreign import Output
from octant.store import Store
from octant.store.imported import create

TABLES = {
    "hpcc-1-rank": 21, "hpcc-2-ranks": 31, "hpcc-4-ranks": 31, "hpcc-aborted-appended": 31, "hpcc-aborted": 0,
    "hpcc-appended": 114, "hpcc-crashed": 0, "hpcc-failed": 31, "hpcc-grids": 31, "hpcc-lists": 31, "hpcc-ptrans": 31,
    "hpcc-unchecked": 31, "hpcc-variants": 31, "hpcc-wrong-grid": 21,
}  # fmt: skip
WITHOUT_FIGURES = ("likwid-a", "likwid-l_copy", "likwid-p", "likwid-t_stream_w_C0_30kB_1_w_C1_30kB_1_i_100")


@functools.cache
def corpus() -> dict[str, str]:
    """Return the texts by the names of their option sets."""
    with tarfile.open(FOLDER / "hpcc-and-likwid.tar.xz") as archive:
        files = [(one.name.removesuffix(".txt"), archive.extractfile(one)) for one in archive.getmembers()]
        return {name: file.read().decode() for name, file in files if file}


def read(name: str) -> Output:
    return foreign.read(name.partition("-")[0], corpus()[name])


def checks(output: Output, benchmark: str) -> list[tuple[str, float]]:
    return [
        (one.name, one.value)
        for table in output.tables
        if table.benchmark == benchmark
        for one in table.rows[0].values
        if one.bound is not None
    ]


def test_every_line_of_every_option_set_is_accounted_for() -> None:
    names = [name for name in corpus() if name.startswith(("hpcc", "likwid"))]
    assert sum(name.startswith("hpcc") for name in names) >= 10
    assert sum(name.startswith("likwid-t") for name in names) >= 10
    for name in names:
        found = read(name)
        expected = TABLES.get(name, 0 if name in WITHOUT_FIGURES else 1)
        assert len(found.tables) == expected, name
        errors = 2 if name == WITHOUT_FIGURES[-1] else 0  # it names a domain that does not exist
        assert found.account.unrecognised == errors, (name, found.account.quoted)
        assert found.account.interpreted + found.account.irrelevant + errors == len(corpus()[name].splitlines())


def test_every_run_of_a_file_is_a_launch_of_its_cells(tmp_path: Path) -> None:
    run = create(Store(tmp_path), "hpcc", [(Path("a.txt"), read("hpcc-appended"))])
    hpl = {(f.point.ranks, len(f.points)) for f in summarise(run).figures if f.workload.name == "hpcc/hpl"}
    assert hpl == {(1, 1), (2, 2), (4, 1)}, "four runs, of three shapes"
    begun = {point.process.started for point in run.points if point.workload == "hpcc/hpl"}
    assert len(begun) >= 2, "each run has its own time"


H4 = """This is the DARPA/DOE HPC Challenge Benchmark version 1.5.0 October 2012
Begin of Summary section.
Success=1
CommWorldProcs=4
HPL_Tflops=0.5
HPL_time=10
HPL_N=20000
SingleRandomAccess_LCG_GUPs=2.36541e-310
StarRandomAccess_LCG_GUPs=0
MPIFFT_Gflops=-1
End of Summary section.
"""
SECOND = "".join(H4.splitlines(keepends=True)[1:])


def test_twenty_appended_summaries_are_twenty_launches(tmp_path: Path) -> None:
    others = [SECOND.replace("0.5", f"0.{5000 + number}") for number in range(19)]
    found = foreign.read("hpcc", H4 + "".join(others))
    assert {table.benchmark for table in found.tables} == {"hpl"}, "the others were not measured"
    (figure,) = summarise(create(Store(tmp_path), "hpcc", [(Path("a.txt"), found)])).figures
    assert figure.value
    assert (figure.value.number, figure.point.ranks, figure.point.threads) == (20, 4, None)
    eight = foreign.read("hpcc", H4 + SECOND.replace("Procs=4", "Procs=8"))
    assert [table.ranks for table in eight.tables] == [4, 8], "another shape is another cell"


def test_uninitialised_numbers_are_not_measured_and_listed() -> None:
    (remark,) = foreign.read("hpcc", H4).remarks
    assert remark.startswith("3 values not imported (zero or implausible): ")
    assert "SingleRandomAccess_LCG_GUPs=2.36541e-310 (line 8)" in remark, "by the name that the file has"
    assert "(line 9)" in remark


def test_runs_without_a_whole_summary_are_named() -> None:
    (remark,) = read("hpcc-aborted-appended").remarks
    assert remark == "runs without a complete summary are not imported: 1 of 2, beginning at line 2"
    assert read("hpcc-aborted").remarks == ("there is no summary: the run was aborted",)
    cut = H4.replace("End of Summary section.\n", "")
    assert [one.tables for one in (foreign.read("hpcc", cut),)] == [()]
    both = foreign.read("hpcc", cut + SECOND)
    assert len(both.tables) == 1


def test_ranks_of_a_solution_are_those_of_its_grid() -> None:
    found = {table.benchmark: table for table in read("hpcc-grids").tables}
    assert (found["hpl"].ranks, found["hpl"].knobs["grid"]) == (2, "1x2"), "the fastest of 1x2, 2x2 and 4x1"
    assert (found["ptrans"].ranks, found["ptrans"].knobs["grid"]) == (4, "2x2")
    assert (found["mpi_fft"].ranks, found["Single_fft"].ranks, found["Star_fft"].ranks) == (4, 1, 4)


def test_a_blas_may_have_any_number_of_threads() -> None:
    threads = {table.benchmark: table.threads for table in read("hpcc-2-ranks").tables}
    assert (threads["hpl"], threads["Star_dgemm"], threads["Single_dgemm"]) == (None, None, None)
    assert (threads["Star_stream"], threads["ptrans"], threads["Avg_pingpong_latency"], threads["Star_fft"]) == (1,) * 4
    text = corpus()["hpcc-2-ranks"].replace("M_OPENMP=-1", "M_OPENMP=201511").replace("max_threads=0", "max_threads=8")
    both = {table.benchmark: table.threads for table in foreign.read("hpcc", text).tables}
    assert (both["Star_fft"], both["hpl"], both["Star_stream"]) == (8, None, 1)


def test_a_failed_test_leaves_the_others_right() -> None:
    found = read("hpcc-failed")
    assert checks(found, "hpl") == [("success", 1.0)]
    assert checks(found, "Star_dgemm") == [("success", 0.0)], "its section says that it is right"
    assert checks(found, "ptrans") == [("residual", 0.0)]
    without = foreign.read("hpcc", re.sub(r"(?s)^.*(?=Begin of Summary)", "", corpus()["hpcc-failed"]))
    assert set(checks(without, "Star_dgemm")) == {("success", 1.0)}, "nothing says which test failed"
    unchecked = {table.benchmark: table.verified for table in read("hpcc-unchecked").tables}
    assert (unchecked["hpl"], unchecked["ptrans"], unchecked["Star_dgemm"]) == (False, False, True)


@pytest.mark.parametrize(
    ("lines", "listed"),
    [
        ("HPL_GPUs=4\n", "unknown key, which is not imported"),
        ("HPL_Tflops=0.7\n", "HPL_Tflops occurs twice; dependent figures are not imported"),
        ("Begin of StarGPU section.\n", "unknown section, which is not imported"),
    ],
)
def test_additions_of_a_vendor_to_a_summary_are_listed(lines: str, listed: str) -> None:
    found = foreign.read("hpcc", H4.replace("End of Summary", f"{lines}End of Summary"))
    assert any(listed in remark for remark in found.remarks)
    assert found.account.unrecognised == 1
    figures_left = [value.name for table in found.tables for value in table.rows[0].values]
    assert ("rate" in figures_left) == ("HPL_Tflops" not in lines)


@pytest.mark.parametrize("tool", ["hpcc", "likwid"])
@pytest.mark.parametrize(
    "line", ["Buffers: DEVICE", "BUFFERS : DEVICE", "Foo=7", "Begin of X section.", "| GPU | 5 |", "Using 4 GPUs"]
)
def test_an_unknown_line_is_never_silently_without_effect(tool: str, line: str) -> None:
    text = text_of({"hpcc": "hpcc-1.5.0.txt", "likwid": "likwid-bench-5.2.2.txt"}[tool])
    lines, before = text.splitlines(keepends=True), foreign.read(tool, text)
    for place in range(0, len(lines), max(1, len(lines) // 12)):
        found = foreign.read(tool, "".join([*lines[:place], f"{line}\n", *lines[place:]]))
        assert found.account.unrecognised == before.account.unrecognised + 1, place
        assert any(line in one for one in (*found.account.quoted, *found.remarks))


@pytest.mark.parametrize("prefix", ["0: ", "[1,0]<stdout>:", "    ", "\x1b[32m"])
@pytest.mark.parametrize("name", ["hpcc-2-ranks", "likwid-t_copy_w_S0_100kB_1"])
def test_prefixes_indentation_and_colours_change_nothing(name: str, prefix: str) -> None:
    tool, text = name.partition("-")[0], corpus()[name]
    prefixed = "".join(prefix + line for line in text.splitlines(keepends=True))
    assert figures(foreign.read(tool, prefixed)) == figures(foreign.read(tool, text))


def test_placement_of_threads_and_streams_distinguishes_cells_of_likwid() -> None:
    knobs = {name: read(name).tables[0] for name in corpus() if name.startswith("likwid-t") and read(name).tables}
    twice = knobs["likwid-t_load_w_S0_50kB_1_w_S0_50kB_1_i_200"]
    assert (twice.threads, twice.knobs) == (2, {"cpus": "0", "domain": "S0", "workgroups": "2"}), "both on one CPU"
    each = knobs["likwid-t_daxpy_sp_W_N_500kB_2_i_100"]
    assert each.knobs == {"cpus": "0-1", "domain": "N", "init": "each"}
    first = knobs["likwid-t_stream_mem_avx_fma_w_N_2MB_2_i_50"]
    assert first.knobs == {"cpus": "0-1", "domain": "N", "init": "first"}


def test_a_block_of_likwid_that_is_not_whole_or_unclear_is_left_out() -> None:
    text = text_of("likwid-bench-5.3.0.txt")
    twice = foreign.read("likwid", text.replace("MByte/s:\t\t40000.00", "MByte/s:\t\t40000.00\nMByte/s:\t\t4.00"))
    assert [table.benchmark for table in twice.tables] == ["clcopy"]
    assert any("MByte/s occurs twice; the block is not imported" in remark for remark in twice.remarks)
    cut = foreign.read("likwid", text[: text.index("Data volume")] + text[text.index("LIKWID MICRO", 200) :])
    assert [table.benchmark for table in cut.tables] == ["clcopy"]
    assert cut.remarks
    unknown = foreign.read("likwid", text.replace("Using 4 threads\n", ""))
    assert [table.threads for table in unknown.tables] == [None, 1]
