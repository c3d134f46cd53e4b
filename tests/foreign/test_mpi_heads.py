"""What outputs of OSU and IMB state above their rows: each fact that changes figures is a knob, or they are refused."""

from pathlib import Path

import pytest

from foreign_outputs import FILES, figures, read, text_of, tool_of, value
from octant import foreign
from octant.foreign import Output, Table
from octant.foreign._imb_head import knobs_of, known
from octant.store import Store, imported

OSU = "# OSU {title} Test v{version}\n{facts}# Size      {column}\n1048576                  {value}\n"
MPI_FILES = [path for path in FILES if tool_of(path) in ("osu", "imb")]
EVERY = pytest.mark.parametrize("path", MPI_FILES, ids=lambda path: path.name)


def osu(facts: str = "", title: str = "MPI Bandwidth", column: str = "Bandwidth (MB/s)", value: str = "4000.00") -> str:
    return OSU.format(title=title, version="5.6.3", facts=facts, column=column, value=value)


def buffers(sender: str, receiver: str) -> str:
    return f"# Send Buffer on {sender} and Receive Buffer on {receiver}\n"


def knobs(found: Output) -> list[dict[str, str]]:
    return [dict(table.knobs) for table in found.tables]


def imb(options: str = "", head: str = "", name: str = "Bcast", table: str = "", version: str = "2021.11") -> str:
    """Return a run of IMB with one table."""
    return (
        f"#    Intel(R) MPI Benchmarks {version}, MPI-1 part\n{head}# Calling sequence was:\n\n"
        f"# IMB-MPI1 {name} {options}\n\n"
        f"# List of Benchmarks to run:\n\n# {name}\n\n#-----\n# Benchmarking {name}\n# #processes = 2\n{table}#-----\n"
        "#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]\n8 20 1.00 3.00 2.00\n\n"
    )


NEW = "\n"
AT = imb()[: imb().index("# Benchmarking")].count("\n") + 1
"""Line of the table in a run of `imb`."""


def test_host_and_device_buffers_are_different_cells(tmp_path: Path) -> None:
    text = "".join(
        osu(buffers(*sides), "MPI-CUDA Bandwidth", value=rate)
        for sides, rate in (
            (("HOST (H)", "HOST (H)"), "12000.00"), (("DEVICE (D)", "DEVICE (D)"), "4000.00"),
            (("DEVICE (D)", "HOST (H)"), "6000.00"), (("MANAGED (MD)", "MANAGED (MH)"), "900.00"),
            (("HOST (H)", "HOST (H)"), "12200.00"),
        )
    )  # fmt: skip
    path = tmp_path / "osu.txt"
    path.write_text(text)
    found = foreign.read_file("osu", path)
    assert [one["memory"] for one in knobs(found)] == ["H-H", "D-D", "D-H", "MD-MH", "H-H"]
    run = imported.create(Store(tmp_path), "osu", [(path, found)])
    cells = {(point.knobs["memory"], point.results[0].value) for point in run.points}
    assert cells == {("H-H", 12e9), ("H-H", 12.2e9), ("D-D", 4e9), ("D-H", 6e9), ("MD-MH", 9e8)}
    assert sorted((request.knobs["memory"], request.repeats) for request in run.requests) == [
        ("D-D", 1), ("D-H", 1), ("H-H", 2), ("MD-MH", 1)
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["-CUDA", "-CUDA MANAGED", "-MANAGED", "-ROCM", "-OPENACC", "-SYCL", "-CXL", ""])
@pytest.mark.parametrize("title", ["Latency", "Bandwidth", "Bi-Directional Bandwidth", "Multi-threaded Latency"])
def test_a_test_of_two_ranks_has_two_with_any_accelerator(title: str, kind: str) -> None:
    (table,) = foreign.read("osu", osu(title=f"MPI{kind} {title}")).tables
    assert table.ranks == 2
    assert table.knobs.get("accelerator", "") == kind[1:].lower().replace(" ", "_")
    workload = foreign.find_octant_name("osu", table.benchmark, table.knobs).workload
    assert workload.startswith("imported/") == (bool(kind) or title == "Multi-threaded Latency")


def test_a_number_of_ranks_that_is_not_stated_stays_so() -> None:
    for title in ("MPI-CUDA Allreduce Latency", "MPI Allreduce Latency", "MPI Multi Latency", "MPI-ROCM Multi Latency"):
        (table,) = foreign.read("osu", osu(title=title, column="Latency (us)")).tables
        assert table.ranks is None
    collective = foreign.read("osu", osu(title="MPI-CUDA Allreduce Latency") + osu(title="MPI-MANAGED Bcast Latency"))
    assert [one["memory"] for one in knobs(collective)] == ["D", "M"]


def test_tables_that_do_not_state_their_buffers_are_kept_apart() -> None:
    found = foreign.read("osu", osu(title="MPI-CUDA Bandwidth") * 2 + osu(title="MPI Bandwidth") * 2)
    assert [one.get("memory") for one in knobs(found)] == ["not-stated", "not-stated-2", None, None]
    assert "(line 1) does not state whether its buffers are on the host or the device" in found.remarks[0]


def test_a_fact_between_rows_begins_another_table() -> None:
    rows = "# Size  Latency (us)\n4 1.50\n"
    head = "# OSU MPI Latency Test v7.2\n"
    below = f"{head}{rows}# Datatype: MPI_INT.\n8 2.50\n"
    for text in (f"{head}# Datatype: MPI_CHAR.\n{rows}# Datatype: MPI_INT.\n{rows}", below):
        found = foreign.read("osu", text)
        assert [table.knobs.get("type", "-") for table in found.tables] == ["-" if text == below else "char", "int"]
        assert [len(table.rows) for table in found.tables] == [1, 1]


def test_columns_of_window_sizes_are_cells() -> None:
    (table,) = read("osu-5.7-windows.txt").tables
    row = next(row for row in table.rows if row.knobs == {"bytes": "1024", "window": "64"})
    assert [(one.name, one.value, one.line) for one in row.values] == [
        ("bandwidth", 4.9e9, 7), ("message rate", 4785156.25, 12)
    ]  # fmt: skip
    assert (len(table.rows), table.ranks) == (16, 4)


def test_threads_of_both_sides_are_stated_above_or_below_the_title() -> None:
    first, second, third = read("osu-5.6.3-threads.txt").tables
    assert (first.threads, dict(first.knobs)) == (None, {"threads_sender": "1", "threads_receiver": "2"})
    assert (second.threads, dict(second.knobs)) == (4, {})
    assert (third.threads, third.knobs["processes_sender"]) == (1, "2")


def test_checks_layouts_and_percentiles_are_read_by_the_names_of_their_columns() -> None:
    assert [one.get("validation") for one in knobs(read("osu-7.4-validation.txt"))] == ["yes", "yes"]
    assert [row.knobs["transmitted"] for row in read("osu-7.4-layout.txt").tables[0].rows] == ["8", "512"]
    assert value(read("osu-7.4-percentiles.txt"), "MPI Bandwidth Test", "bandwidth_p99", "1") == 4.01e6


@pytest.mark.parametrize("name", ["Window", "Placement", "Pairs (n)"])
def test_a_column_that_may_tell_rows_apart_refuses_the_table(name: str) -> None:
    text = f"# OSU MPI Latency Test v8.0\n# Size      Latency (us)      {name}\n8  1.50  4\n{osu()}"
    found = foreign.read("osu", text)
    assert [table.benchmark for table in found.tables] == ["MPI Bandwidth Test"]
    why = f'MPI Latency Test (line 1) is not imported, since the column "{name}" is unknown'
    assert why in found.remarks[-1]
    changed = imb().replace("t_avg[usec]", f"t_avg[usec] {name.split()[0]}").replace("2.00\n", "2.00 7\n") + imb()
    found = foreign.read("imb", changed)
    assert [table.line for table in found.tables] == [AT + imb().count("\n")]
    why = f'Bcast (line {AT}) is not imported, since the column "{name.split()[0]}" is unknown'
    assert why in found.remarks[-1]


@EVERY
def test_an_unknown_line_of_a_head_is_named_and_its_figures_are_not_imported(path: Path) -> None:
    """Inserted between all lines, one at a time: everything outside of the affected parts is imported."""
    lines = text_of(path.name).splitlines(keepends=True)
    whole = foreign.read(tool_of(path), "".join(lines))
    for place in range(1, len(lines), max(1, len(lines) // 12)):
        found = foreign.read(tool_of(path), "".join([*lines[:place], "# Placement of ranks : far\n", *lines[place:]]))
        left = [contents(table) for table in found.tables]
        for table in whole.tables:
            inside = any(begin <= place < end for begin, end in table.scope)
            at_an_end = any(place in (begin - 1, end) for begin, end in table.scope)
            assert (contents(table) in left) != inside or at_an_end
        assert all(one in map(contents, whole.tables) for one in left)
        assert found.account.unrecognised == whole.account.unrecognised + 1
        refused = len(left) < len(whole.tables)
        assert any("Placement of ranks" in remark for remark in found.remarks) == refused


def contents(table: Table) -> tuple[object, ...]:
    """All that a table says but where it is."""
    values = [(dict(row.knobs), row.failed, [(v.name, v.value, v.group) for v in row.values]) for row in table.rows]
    return table.benchmark, dict(table.knobs), table.ranks, table.threads, values


@EVERY
def test_every_line_of_the_outputs_is_accounted_for(path: Path) -> None:
    account = read(path.name).account
    assert account.interpreted + account.irrelevant == text_of(path.name).count("\n") - account.unrecognised
    assert account.unrecognised == ("noise" in path.name)


@EVERY
def test_prefixes_and_colours_change_no_figure(path: Path) -> None:
    lines = text_of(path.name).splitlines(keepends=True)
    whole = [one[1:] for one in figures(read(path.name))]
    for form in ("0: {}", "[1,0]<stdout>: {}", "    {}", "\x1b[1m{}\x1b[0m"):
        changed = "".join(form.format(line.rstrip("\n")) + "\n" for line in lines)
        assert [one[1:] for one in figures(foreign.read(tool_of(path), changed))] == whole


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("-root_shift on", {"root": "rotating"}), ("-root_shift 0", {}), ("-sync disable", {"sync": "off"}),
        ("-sync yes", {}), ("-imb_barrier enable", {"imb_barrier": "on"}), ("-warm_up no", {"warm_up": "off"}),
        ("-contig_type resize", {"contig_type": "resize"}), ("-contig_type base", {}), ("-map 2x4", {"map": "2x4"}),
        ("-off_cache -1", {"off_cache": "-1", "buffers": "rotating"}), ("-thread_level single", {}),
        ("-thread_level multiple", {"thread_level": "multiple"}), ("-mem_alloc_type host", {"memory": "host"}),
        ("-window_size 16", {}), ("-npmin 2 -multi 1 -iter 10,4,2 -time 0.1 -mem 2 -msglog 3:5 -zero_size off", {}),
        ("-include A,B -exclude C D", {}), ("-pause 7", {"pause": "7"}), ("-msgrd off", {"msgrd": "off"}),
    ],
)  # fmt: skip
def test_options_that_change_what_is_measured_are_knobs(options: str, expected: dict[str, str]) -> None:
    assert knobs(foreign.read("imb", imb(options))) == [expected]


def test_options_of_some_benchmarks_are_knobs_of_these_alone() -> None:
    assert knobs_of({"window_size": "16"}, "UniBandMT") == {"window": "16"}
    assert knobs_of({"window_size": "16"}, "Biband") == {"window": "16"}
    assert knobs_of({"window_size": "16"}, "PingPong") == {}
    assert known().irrelevant.isdisjoint(known().knobs)


def test_an_unknown_option_refuses_the_tables_of_its_run_alone() -> None:
    found = foreign.read("imb", imb("-compress on") + imb("-iter 10"))
    assert [table.line for table in found.tables] == [AT + imb().count("\n")]
    assert 'the option "-compress" may change figures; no table of this run is imported' in found.remarks[0]
    wrapped = foreign.read("imb", imb("-iter 10 \n#         -compress on"))
    assert (wrapped.tables, wrapped.account.unrecognised) == ((), 1)


def test_facts_of_one_run_are_not_those_of_the_next() -> None:
    double = "# MPI_Datatype                   :   MPI_DOUBLE\n"
    gpu = imb(version="2021.11").replace("MPI-1 part", "MPI-1 part (GPU)")
    ended = "# All processes entering MPI_Finalize\n# Benchmarking Reduce\n# #processes = 2\n"
    rows = "#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]\n8 20 1.00 3.00 2.00\n"
    text = imb("-sync off", double) + imb() + gpu + imb("-map 2x2") + ended + rows
    expected = [{"type": "double", "sync": "off"}, {}, {"memory": "device"}, {"map": "2x2"}, {}]
    assert knobs(foreign.read("imb", text)) == expected


def test_runs_of_several_versions_have_their_own_megabytes() -> None:
    texts = [text_of("pmb-2.2.txt"), text_of("imb-2021.11-mpi1.txt")]
    each = [one[5] for text in texts for one in figures(foreign.read("imb", text))]
    found = foreign.read("imb", "".join(texts))
    assert [one[5] for one in figures(found)] == each
    assert found.remarks[-1] == f"the file also has runs of IMB 2021.11 from line {texts[0].count(NEW) + 2} on"
    assert found.started == "", "one time would stand for both runs"


def test_groups_and_orders_of_many_ranks_go_on_in_the_next_line() -> None:
    ranks = "".join(f" {rank:4}" for rank in range(16))
    groups = f"# ( 2 groups of 17 processes each running simultaneous )\n# Group  0:{ranks}\n#    16\n# Group  1:"
    more = "".join(f" {rank:4}" for rank in range(17, 33))
    (table,) = foreign.read("imb", imb(table=f"{groups}{more}\n#   33\n#\n")).tables
    assert table.groups == (tuple(range(17)), tuple(range(17, 34)))
    order = imb().replace("# #processes = 2\n", "# #processes = 2; rank order (rowwise):\n#     0    2\n#\n")
    assert knobs(foreign.read("imb", order)) == [{"map": "order_0.2"}]


def test_rows_without_values_are_failures_with_their_reason() -> None:
    rows = (
        '16 out-of-mem.; needed X=   1.001 GB; use flag "-mem X" or MAX_MEM_USAGE>=X (IMB_mem_info.h)\n'
        "32 int-overflow.; The production rank*size caused int overflow for given sample\n64 time-out.; Time limit\n"
    )
    (table,) = foreign.read("imb", imb().rstrip("\n") + "\n" + rows).tables
    assert [row.failed for row in table.rows] == [
        "", "out of memory in Bcast", "message too long for an int in Bcast", "timed out in Bcast"
    ]  # fmt: skip


def test_words_below_the_name_of_a_benchmark_are_facts_or_refuse_it() -> None:
    grid = imb(name="Stencil2D").replace("Benchmarking Stencil2D", "Benchmarking Stencil2D (2 x 4)")
    assert knobs(foreign.read("imb", grid)) == [{"grid": "2x4"}]
    strange = foreign.read("imb", imb().replace("Benchmarking Bcast", "Benchmarking Bcast on devices"))
    assert strange.tables == ()
    assert f"Bcast (line {AT}) is not imported" in strange.remarks[0]
    optional = imb(head="# !! Attention: results have been achieved in\n# !! IMB_OPTIONAL mode.\n")
    assert knobs(foreign.read("imb", optional)) == [{"optional": "yes"}]
    checked = imb().replace("t_avg[usec]", "t_avg[usec] defects").replace("2.00\n", "2.00 0.00\n")
    assert knobs(foreign.read("imb", checked)) == [{"check": "yes"}]


def test_rates_of_messages_are_checked_against_their_number() -> None:
    """The time in the same row may be of another rank: outputs of IMB-P2P and IMB-MT were refused."""
    found = read("imb-2021.11-p2p-default.txt")
    assert value(found, "PingPing", "bandwidth", "32") == 24.52e6
    assert value(read("imb-2019.3-mt.txt"), "UniBandMT", "message rate", "64") > 0


def test_what_is_measured_under_other_conditions_has_no_workload_of_ours() -> None:
    assert foreign.find_octant_name("imb", "Bcast", ["root", "buffers"]).workload == "mpi/collective"
    for knob in ("map", "sync", "check", "memory", "contig_type"):
        assert foreign.find_octant_name("imb", "Bcast", [knob]).workload == "imported/imb_bcast"
    assert foreign.find_octant_name("osu", "MPI Latency Test", ["memory"]) == foreign.find_octant_name(
        "osu", "MPI Latency Test", ["accelerator"]
    )
    assert foreign.find_octant_name("osu", "MPI Latency Test", ["memory"]).ranks == 2


@pytest.mark.parametrize("name", ["Multi-Bcast", "(Multi-)Bcast", "Bcast"])
@pytest.mark.parametrize("version", ["2021.3", "V3.2.4", "V 3.0"])
def test_heads_of_all_versions_list_benchmarks(name: str, version: str) -> None:
    text = imb().replace("2021.11", version).replace("# Bcast\n", f"# {name}\n")
    found = foreign.read("imb", text)
    assert (len(found.tables), found.version, found.remarks) == (1, version.lstrip("V "), ())
