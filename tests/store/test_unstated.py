"""Numbers of ranks and threads that an imported file does not state: nowhere do they become a number."""

import dataclasses
import io
import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fake_run import fake_run, lane, point
from octant.analysis.compare import Comparisons, compare
from octant.analysis.summary import Summary, summarise
from octant.benchmarks import BenchmarkArguments, benchmarks
from octant.cli import application
from octant.foreign import ImportedRow, ImportedValue, Output, Table
from octant.record import RecordError
from octant.record.lines import read_line
from octant.record.writer import point_line, seal
from octant.report.export import tidy
from octant.report.page import run_page as page
from octant.report.tables import benchmark as benchmark_table
from octant.report.tables import table as figure_table
from octant.report.tables import text
from octant.store import Store
from octant.store.imported import create
from reports import report_of

TRIAD = {"kernel": "triad", "bytes": "1000000000"}
STAR, BARRIER, PINGPONG = "StarSTREAM_Triad", "MPI Barrier Latency Test", "PingPong"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def loop(ranks: int | None, threads: int | None, rate: float = 5e9, line: int = 1) -> Table:
    row = ImportedRow(line, {"bytes": TRIAD["bytes"]}, (ImportedValue("bandwidth", rate, "B/s", line),))
    return Table("stream", line, (row,), {"kernel": "triad"}, ranks, threads)


def message(ranks: int | None, seconds: float = 1e-6) -> Table:
    return Table(
        BARRIER,
        1,
        (ImportedRow(1, {}, (ImportedValue("t_avg", seconds, "s", 1), ImportedValue("time", seconds, "s", 1))),),
        {},
        ranks,
    )


def run_of(
    store: Store, *tables: Table, tool: str = "stream", ranks: int | None = None, file: str = "a.txt"
) -> Summary:
    return summarise(
        create(store, tool, [(Path(file), Output(tool, "1", file, tables))], "far", ranks), all_metrics=True
    )


def everything(summary: Summary) -> dict[str, str]:
    """Return the texts of all views of a run."""
    shown, report = io.StringIO(), report_of(summary)
    text.show(report, shown, notes=True)
    csv = "\n".join(",".join(map(str, dataclasses.astuple(line))) for line in tidy.figure_lines(summary))
    return {"text": shown.getvalue(), "page": page.render(report), "json": tidy.as_json(report), "csv": csv}


@pytest.mark.parametrize(
    ("ranks", "threads", "words"),
    [(None, None, "ranks and threads not stated"), (None, 1, "ranks not stated"), (1, None, "threads not stated")],
)
def test_no_view_prints_a_number_that_is_not_stated(
    ranks: int | None, threads: int | None, words: str, store: Store
) -> None:
    summary = run_of(store, loop(ranks, threads))
    shown = everything(summary)
    for view, of in shown.items():
        plain = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", of))
        assert not re.search(r"\b1 (?:core|rank|thread|copy)\b", plain.replace("\u202f", " ")), view
        assert words in plain, view
    (figure,) = json.loads(shown["json"])["figures"]
    assert (figure["ranks"], figure["threads"]) == (ranks, threads)
    assert figure["mode"] == "not stated"
    (point,) = Store(store.root).read(summary.run.id).points
    assert (point.ranks, point.threads) == (ranks, threads)
    (request,) = json.loads((store.root / "runs" / summary.run.id / "asked.json").read_text())["asks"]
    assert request["shape"]["unstated"] == [
        name for name, one in (("ranks", ranks), ("threads", threads)) if one is None
    ]


def test_ranks_that_are_given_are_those_of_tables_without_them(store: Store) -> None:
    summary = run_of(store, message(None), message(4), tool="osu", ranks=8)
    assert sorted(point.ranks or 0 for point in summary.run.points) == [4, 8]
    (file,) = run_of(store, message(None), message(4), tool="osu").run.imported
    assert file.remarks == (f"the number of ranks of {BARRIER} is not stated; give --ranks N if you know it",)


def test_other_numbers_of_threads_are_other_cells(store: Store) -> None:
    summary = run_of(store, loop(1, 1, 1e9, 1), loop(1, 2, 2e9, 2), loop(1, None, 3e9, 3), loop(None, 2, 4e9, 4))
    found = {(f.point.ranks, f.point.threads): f.value.middle for f in summary.figures if f.value}
    assert found == {(1, 1): 1e9, (1, 2): 2e9, (1, None): 3e9, (None, 2): 4e9}
    assert len({request.key for request in summary.run.requests}) == 4


def compared(first: Summary, second: Summary) -> Comparisons:
    return compare(first, second, defaults=lambda _: {"pattern": "contiguous"})


def measured(threads: int = 1) -> Summary:
    lanes = tuple(lane([4_000_000] * 40, thread=thread) for thread in range(threads))
    one = point(
        "chunks", workload="node/stream", knobs={**TRIAD, "threads": str(threads)}, threads=threads, lanes=lanes,
        counts={"bytes_read": 16_000_000, "bytes_written": 8_000_000, "bytes_allocated": 0},
    )  # fmt: skip
    return summarise(dataclasses.replace(fake_run(), points=(one,)), all_metrics=True)


def test_results_of_an_unknown_number_of_ranks_are_compared_with_each_other_alone(store: Store) -> None:
    unknown, other = (run_of(store, message(None, s), tool="osu", file=f) for s, f in ((1e-6, "a"), (2e-6, "b")))
    (both,) = compared(unknown, other).figures
    assert both.speed == pytest.approx(0.5)
    assert any("ranks not stated in the imported file" in why for why in both.why), "with a remark"
    against = compared(unknown, run_of(store, message(4), tool="osu"))
    assert [one.verdict for one in against.figures] == [None, None]
    assert ("ranks × threads of mpi/collective", "ranks not stated × 1 thread", "4 ranks × 1 thread together") in (
        against.differences
    )


def test_an_unknown_number_of_threads_is_a_remark(store: Store) -> None:
    (both,) = (one for one in compared(run_of(store, loop(1, None)), measured()).figures if not one.is_alone)
    assert any("threads not stated in the imported file" in why for why in both.why)
    other = compared(run_of(store, loop(1, 2)), measured())
    assert all(one.verdict is None for one in other.figures), "another number is another quantity"


def test_benchmarks_print_what_is_not_stated(store: Store) -> None:
    rows = (ImportedRow(1, {}, (ImportedValue("rate", 2e9, "flop/s", 1),)),)
    summary = run_of(store, Table("hpl", 1, rows, {"n": "100"}, None, None), tool="hpcc")
    shown = benchmark_table.text(summary, benchmarks()["hpcc"])
    assert "HPL, ranks not stated, n=100" in shown
    done = CliRunner().invoke(application(), ["export", "hpcc", summary.run.id, "--store", str(store.root)])
    assert done.exit_code == 0, done.output
    assert "HPL_Tflops=0.002" in done.output
    assert "Procs" not in done.output
    sizes = tuple(ImportedRow(n, {"bytes": str(n)}, (ImportedValue("time", 1e-6, "s", n),)) for n in (1, 2))
    pingpong = run_of(store, Table(PINGPONG, 1, sizes, {}, None), tool="imb")
    for style in ("imb", "osu", "octant"):
        assert "#processes = not stated" in benchmark_table.text(
            pingpong, benchmarks()["mpi"], BenchmarkArguments(own_options={"as": style})
        )
    (table,) = json.loads(benchmark_table.as_json(pingpong, benchmarks()["mpi"], BenchmarkArguments()))["tables"]
    assert (table["processes"], table["factor"]) == (None, None)


def test_a_measured_point_states_its_ranks_and_threads() -> None:
    one = point("steps", workload="mpi/p2p", ranks=2, lanes=())
    plain = dataclasses.replace(one, work=(), ranks=None, threads=None)
    assert read_line(point_line(plain).encode()) is not None
    line = json.loads(point_line(plain))
    del line["crc"]
    for member in ({"spent": {"build_s": 1.0}}, {"shape": {"ranks": None, "groups": [[0]]}}):
        with pytest.raises(RecordError, match=r"the measured point|beyond its 0 ranks"):
            read_line(seal({**line, **member}).encode())


def cells_of(summary: Summary) -> list[tuple[str, int]]:
    """Return the knob that distinguishes tables, and the number of launches."""
    return [
        (figure.knobs.get("table", figure.knobs.get("memory", "")), len(figure.points)) for figure in summary.figures
    ]


def test_tables_without_their_number_of_ranks_are_no_launches_of_each_other(store: Store) -> None:
    """A series over numbers of ranks in one file, of a tool that does not state them."""
    tables = [dataclasses.replace(message(None, seconds), line=line) for line, seconds in ((1, 1e-6), (9, 4e-6))]
    apart = run_of(store, *tables, tool="osu")
    assert cells_of(apart) == [("1", 1), ("2", 1)]
    assert apart.run.imported[0].remarks[1].startswith(f"several tables of {BARRIER} may have different numbers of")
    assert "table 1 (ranks not stated) 1.00 µs" in everything(apart)["text"].replace("\u202f", " ")
    given = run_of(store, *tables, tool="osu", ranks=4)
    assert cells_of(given) == [("", 2)]
    assert given.run.imported[0].remarks == (
        f"2 tables of {BARRIER} (lines 1, 9) are launches of the same configurations; if they ran under "
        "different conditions, such as other placements, import each of them separately",
    )
    files = create(
        store, "osu", [(Path(f"{n}.txt"), Output("osu", "1", f"{n}", (one,))) for n, one in enumerate(tables)]
    )
    assert cells_of(summarise(files, all_metrics=True)) == [("1", 1), ("2", 1)]


def test_tables_of_several_files_without_the_place_of_their_buffers_are_no_launches_of_each_other(store: Store) -> None:
    tables = [dataclasses.replace(message(2), knobs={"memory": name}) for name in ("not-stated", "not-stated", "D-D")]
    files = [(Path(f"{n}.txt"), Output("osu", "1", f"{n}", (one,))) for n, one in enumerate(tables)]
    found = summarise(create(store, "osu", files), all_metrics=True)
    assert cells_of(found) == [("not-stated", 1), ("not-stated-2", 1), ("D-D", 1)]
    assert [file.remarks for file in found.run.imported] == [(), (), ()], "no launches of the same configurations"


def test_views_tell_cells_of_one_short_name_apart(store: Store) -> None:
    tables = [
        dataclasses.replace(message(ranks, seconds), benchmark=f"MPI-CUDA {BARRIER}", knobs={"memory": memory})
        for ranks, memory, seconds in ((2, "H-H", 1e-6), (2, "D-D", 2e-6), (4, "D-D", 3e-6))
    ]
    summary = run_of(store, *tables, tool="osu")
    shown = re.sub(r"\s+", " ", everything(summary)["text"].replace("\u202f", " "))
    for words in ("t_avg, memory H-H, 2 ranks", "memory H-H (2 ranks) 1.00 µs", "memory D-D (2 ranks) 2.00 µs"):
        assert words in shown
    assert "(all)" not in shown
    rows = [
        row.name
        for _, _, group in figure_table.table(summary.figures, dict.fromkeys(map(id, summary.figures), 0)).groups
        for row in group
    ]
    assert len(set(rows)) == len(rows)
