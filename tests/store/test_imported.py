"""Outputs of other benchmarks as runs of the store: listed with measured runs, and never mistaken for them."""

import dataclasses
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fake_run import fake_run, lane, point, write_run
from foreign_outputs import FILES, FOLDER, figures, read, tool_of
from octant import foreign
from octant.analysis.compare import compare
from octant.analysis.names import short_name
from octant.analysis.summary import Summary, summarise
from octant.cli import application
from octant.failure import Exit, Refusal
from octant.foreign import ImportedRow, ImportedValue, Output, Table
from octant.machine import Cpu
from octant.record.writer import seal
from octant.report.export import tidy
from octant.store import Store, StoredRun
from octant.store.imported import create
from reports import report_of


def imported(store: Store, *names: str, ranks: int | None = 4) -> StoredRun:
    tool = tool_of(Path(names[0]))
    return create(store, tool, [(FOLDER / name, read(name)) for name in names], "elsewhere", ranks)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_output_becomes_a_whole_run(path: Path, store: Store) -> None:
    run = imported(store, path.name)
    found = foreign.read_file(tool_of(path), path)
    assert not run.unread
    assert run.complete, "nothing of it is ever asked again"
    assert len(run.points) + len(run.failures) == sum(len(table.rows) for table in found.tables)
    assert sum(len(point.results) for point in run.points) == len(figures(found))
    assert all(not point.heads and point.notes["imported"].startswith(f"of {found.name}") for point in run.points)
    summary = summarise(run, all_metrics=True)
    cells = {(point.workload, point.ranks, point.threads, *sorted(point.knobs.items())) for point in run.points}
    assert len(summary.figures) == len(cells) or tool_of(path) not in ("imb", "osu")
    assert len(summary.figures) <= len(run.points)
    assert not summary.unknown
    for figure in summary.figures:
        assert (figure.value is None) == bool(figure.wrong)
        assert figure.wrong or "imported result" in {one.kind for one in figure.caveats}
        assert figure.limit is None
    assert not summary.known.by_name
    lines = list(tidy.figure_lines(summary))
    assert {line.source.partition(", read from")[0] for line in lines} <= {f"of {found.name}"}
    json.loads(tidy.as_json(report_of(summary)))


NO_FIGURES = "# Benchmarking PingPong\n# #processes = 2\n#bytes #repetitions\n0 1000\n4 1000\n"


def test_rows_without_a_figure_are_not_imported(tmp_path: Path) -> None:
    path = tmp_path / "output.txt"
    path.write_text(NO_FIGURES)
    with pytest.raises(Refusal, match="which has no figures of imb: the most similar line is line 1"):
        foreign.read_file("imb", path)
    path.write_text(f"{NO_FIGURES}#bytes #repetitions t[usec]\n")
    assert not foreign.read("imb", path.read_text()).tables


def test_a_stored_point_without_results_hides_no_other(store: Store) -> None:
    run = imported(store, "osu-5.8.txt")
    lines = [json.loads(line.rpartition(',"crc":')[0] + "}") for line in run.records.read_text().splitlines()]
    emptied = next(line for line in lines if line["kind"] == "point")
    emptied["results"] = []
    run.records.write_text("".join(f"{seal(line)}\n" for line in lines))
    found = summarise(store.read(run.id), all_metrics=True)
    assert len(found.figures) == len(run.points) - 1


def figure_of(summary: Summary, workload: str, mode: str = "", **knobs: str) -> float:
    named = [one for one in summary.figures if one.workload.name == workload and mode in ("", one.mode)]
    found = [one for one in named if knobs.items() <= one.knobs.items()]
    assert len(found) == 1
    assert found[0].value is not None
    return found[0].value.middle


def test_figures_are_found_under_our_names(store: Store) -> None:
    messages = summarise(imported(store, "imb-2021.11-mpi1.txt"))
    assert figure_of(messages, "mpi/p2p", pattern="exchange", bytes="4096") == pytest.approx(1.6e-6)
    assert figure_of(messages, "mpi/p2p", pattern="uniband", bytes="1024") == 619.52e6, (
        "no time: the first that is there"
    )
    assert figure_of(
        messages, "mpi/collective", pattern="allreduce", bytes="64", type="float", op="sum"
    ) == pytest.approx(0.57e-6)
    overlapped = summarise(imported(store, "imb-2021.11-nbc.txt"), all_metrics=True)
    assert figure_of(
        overlapped, "mpi/collective", pattern="allreduce", call="nonblocking", bytes="256"
    ) == pytest.approx(0.78e-6)
    assert {one.metric.name for one in overlapped.others.values()} >= {"overlap_imb", "t_ovrl"}
    kernels = summarise(imported(store, "hpcc-1.5.0.txt"))
    assert figure_of(kernels, "mpi/ring", order="random", bytes="8") == pytest.approx(0.208677e-6)
    assert figure_of(kernels, "node/stream", "one", kernel="triad") == pytest.approx(62.762e9)
    assert figure_of(kernels, "node/stream", "star", kernel="triad") == pytest.approx(61.1839e9)


def test_the_line_of_each_figure_is_kept(store: Store) -> None:
    run = imported(store, "hpcc-1.5.0.txt")
    lines = (FOLDER / "hpcc-1.5.0.txt").read_text(encoding="utf-8").splitlines()
    (point,) = (one for one in run.points if one.workload == "hpcc/hpl")
    number, name = point.notes["lines"].split(", ")[0].split(" ")
    assert name == "(rate)"
    assert lines[int(number) - 1].startswith("HPL_Tflops=")
    assert run.imported[0].version == "HPC Challenge Benchmark version 1.5.0 October 2012"


def test_where_figures_of_one_line_and_of_several_stand(store: Store) -> None:
    (copy, *_) = imported(store, "stream-5.10.txt").points
    assert copy.notes["lines"] == "13 (bandwidth), 13 (t_avg), 13 (t_min), 13 (t_max), 18 (validation)"
    latency = imported(store, "osu-3.6-latency.txt").points[0]
    assert latency.notes["lines"].isdigit()


def test_what_a_file_says_of_itself_is_kept(store: Store) -> None:
    whole = read("npb-3.4.2-mpi.txt")
    marked = dataclasses.replace(whole, architecture="aarch64", remarks=("line 7 was strange",))
    run = create(store, "npb", [(Path("a.txt"), whole), (Path("b.txt"), marked)], "elsewhere")
    assert [(one.file, one.remarks) for one in run.imported] == [
        ("a.txt", whole.remarks),
        ("b.txt", ("line 7 was strange",)),
    ]
    assert run.machine.name == "elsewhere"
    assert run.machine.system["architecture"] == "aarch64"
    assert run.machine.topology.cpus == (Cpu(0, 0, 0, None),)
    assert all("bytes" not in point.knobs for point in run.points), "no size is no empty size"


def test_what_a_tool_did_not_verify_is_marked(store: Store) -> None:
    for name, marked in (("npb-3.4.2-unverified.txt", True), ("npb-3.4.2-mpi.txt", False)):
        said = {one.notes.get("unverified") for one in imported(store, name).points}
        assert said == {"the benchmark does not verify its results" if marked else None}


def test_copies_that_worked_alone_are_no_steps_of_all(store: Store) -> None:
    points = imported(store, "hpcc-1.5.0.txt").points
    assert {point.pace for point in points if "groups" in point.knobs} == {"chunks"}
    assert {point.pace for point in points if point.workload == "hpcc/hpl"} == {"steps"}


def test_several_outputs_are_launches_of_the_same_cells(store: Store) -> None:
    first = read("imb-2021.11-mpi1.txt")
    launches = [dataclasses.replace(first, version_line=f"{first.version_line} {k}") for k in range(3)]
    summary = summarise(create(store, "imb", [(Path(f"imb-{k}.txt"), one) for k, one in enumerate(launches)]))
    assert len(summary.figures) == 67
    assert {len(figure.points) for figure in summary.figures} == {3}
    assert all(figure.value and figure.value.number == 3 for figure in summary.figures)


def test_wrong_results_have_no_speed_and_what_timed_out_no_figure(store: Store) -> None:
    linpack = summarise(imported(store, "hpl-2.3.txt")).figures
    assert [bool(figure.wrong) for figure in linpack] == [False, True]
    assert linpack[1].value is None
    late = imported(store, "imb-2021.11-timeout.txt")
    assert [one.reason for one in late.failures] == [
        "timed out in Sendrecv (imb-2021.11-timeout.txt, line 36)",
        "timed out in Alltoall (imb-2021.11-timeout.txt, line 43)",
    ]
    assert "result not verified" in {
        one.kind for f in summarise(imported(store, "npb-3.4.2-unverified.txt")).figures for one in f.caveats
    }


def test_ranks_that_an_output_does_not_state_can_be_given(store: Store) -> None:
    assert {point.ranks for point in imported(store, "osu-5.8-collective.txt", ranks=None).points} == {4, None}
    assert {point.ranks for point in imported(store, "osu-5.8-collective.txt", ranks=8).points} == {4, 8}


def test_an_imported_run_compares_with_another_and_says_what_it_is(store: Store) -> None:
    runs = [summarise(imported(store, name)) for name in ("imb-2021.11-mpi1.txt", "osu-5.8.txt")]
    found = compare(runs[0], runs[1])
    both = [one for one in found.figures if not one.is_alone]
    assert {(one.figure.knobs["pattern"], one.figure.knobs["bytes"]) for one in both} == {
        ("pingpong", "0"), ("pingpong", "1024"), ("uniband", "1024"),
    }  # fmt: skip
    assert all(one.verdict for one in both)
    assert ("measured", runs[0].run.source, runs[1].run.source) in found.differences
    assert [run.id for run in store.runs_like(runs[0].run)] == [runs[1].run.id], "machines of one name"
    write_run(fake_run(store.root / "runs" / "29991231-000000-aaaa"), store.root)
    assert not list(store.runs_like(store.find("last")))


def test_an_imported_figure_compares_with_a_measured_one(store: Store) -> None:
    """Where only the measured one knows a knob, it counts as at its default."""
    times = [1600] * 40
    turn = point(
        "steps", workload="mpi/p2p", ranks=2, counts={"turns": 1, "messages": 4, "bytes_passed": 4 * 4096},
        knobs={"pattern": "exchange", "bytes": "4KiB", "buffers": "hot"}, sync="clock",
        lanes=(lane(times), lane(times, rank=1)),
    )  # fmt: skip
    measured = summarise(dataclasses.replace(fake_run(), points=(turn,)))
    found = compare(
        measured, summarise(imported(store, "imb-2021.11-mpi1.txt")), defaults=lambda _: {"buffers": "hot"}
    )  # fmt: skip
    (both,) = (one for one in found.figures if not one.is_alone)
    assert both.speed == pytest.approx(1.0)
    assert both.verdict, "what another tool does not say is no obstacle"
    assert both.after
    assert any("not measured here: result of IMB 2021.11" in one.text for one in both.after.caveats)


def test_the_command_stores_shows_and_exits_as_results_are(tmp_path: Path) -> None:
    def octant(*words: str) -> tuple[int, str]:
        done = CliRunner().invoke(application(), [*words, "--store", str(tmp_path)])
        refused = done.exception if isinstance(done.exception, Refusal) else None
        return refused.code if refused else done.exit_code, str(refused or done.output)

    assert octant("import", "imb", str(FOLDER / "imb-2021.11-mpi1.txt"))[0] == Exit.OK
    code, text = octant("import", "hpl", str(FOLDER / "hpl-2.3.txt"), "--machine", "cluster")
    assert code == Exit.WRONG_ANSWER
    source = f"imported results of HPL 2.3, read from {FOLDER / 'hpl-2.3.txt'}"
    assert f"{source}; not measured by Octant" in " ".join(text.split())
    assert f"The run contains {source}." in " ".join(text.split())
    assert "WRONG RESULT" in text
    assert [line.split()[3] for line in octant("runs")[1].splitlines()[1:]] == ["imported"] * 2
    assert octant("report", "last")[0] == Exit.OK
    page = next(tmp_path.glob("runs/*/report.html")).read_text(encoding="utf-8")
    assert "imported results of HPL 2.3" in page
    assert 'id="machine"' not in page
    code, text = octant("resume", "last")
    assert (code, "(it was imported: results of HPL 2.3, read from " in text) == (Exit.WRONG_WORD, True)
    first = sorted(path.name for path in (tmp_path / "runs").iterdir())[0]
    code, text = octant("compare", first, first, "--rounds", "6")
    assert (code, "it was imported, not measured with Octant" in text) == (Exit.CANNOT_RUN, True)
    assert octant("import", "osu", str(FOLDER / "pmb-2.2.txt"))[0] == Exit.WRONG_WORD


def test_the_same_output_twice_is_no_second_launch(store: Store, tmp_path: Path) -> None:
    name = "imb-2021.11-mpi1.txt"
    with pytest.raises(Refusal, match="the file is given twice") as refused:
        imported(store, name, name)
    assert refused.value.code == Exit.WRONG_WORD
    copy = tmp_path / "copy.txt"
    copy.write_bytes((FOLDER / name).read_bytes())
    with pytest.raises(Refusal, match="has the same numbers"):
        create(store, "imb", [(FOLDER / name, read(name)), (copy, foreign.read_file("imb", copy))])


def test_short_names_have_the_knobs_that_tell_figures_apart(tmp_path: Path) -> None:
    def names(*knobs: dict[str, str], threads: int | None = 1) -> list[str]:
        rows = (ImportedRow(1, {}, (ImportedValue("rate", 1e9, "flop/s", 1),)),)
        tables = tuple(Table("LU", 1, rows, one, 2 if threads else 1, threads) for one in knobs)
        run = create(Store(tmp_path / str(knobs)), "npb", [(tmp_path / "a.txt", Output("NPB", "1", "", tables))])
        return [short_name(figure) for figure in summarise(run).figures]

    a, b = {"class": "A", "size": "64"}, {"class": "B", "size": "64"}
    assert names(a, b) == ["LU, class A, 2 ranks", "LU, class B, 2 ranks"]
    assert names(a, b, threads=None) == ["LU, class A, threads not stated", "LU, class B, threads not stated"]
    assert names(a) == ["LU, class A, size 64, 2 ranks"], "all of them, if nothing has to be distinguished"
    long = [{"class": "A" * 30}, {"class": "B" * 30}]
    assert all(len(name) <= 32 for name in names(*long))


def test_no_view_shows_other_figures_of_a_wrong_result(tmp_path: Path) -> None:
    path = tmp_path / "hpl.txt"
    path.write_text((FOLDER / "hpl-mxp-nvidia-24.3.txt").read_text())
    done = CliRunner().invoke(application(), ["import", "hpl", str(path), "--store", str(tmp_path / "store")])
    assert done.exit_code == Exit.WRONG_ANSWER
    wrong = done.output.partition("WRONG RESULT: residual: 5.6e+04 > 16")[2]
    assert wrong
    assert "rate_factor" not in wrong
    assert "rate_factor 2.494 Pflop/s" in done.output, "of the solutions that are right"
