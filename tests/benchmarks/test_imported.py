"""Imported results in the tables of the benchmarks: what a tool printed comes out as it printed it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from fake_run import lane, point, stored
from golden_tables import printed
from octant import foreign
from octant.analysis.compare import compare
from octant.analysis.summary import Summary, summarise
from octant.benchmarks import benchmarks
from octant.benchmarks.rows import imported_cells, rows_of
from octant.benchmarks.table import plain_name, read_tests
from octant.request import Presentation, Request, Shape, Subject
from octant.store import Store
from octant.store.imported import create
from paths import DATA

HPCC = DATA / "foreign" / "hpcc-1.5.0.txt"
IMB = ("mpi1", "nbc", "rma", "mt")
COUNTS = ("flops", "nominal_flops", "updates", "bytes_read", "bytes_written", "bytes_sent", "bytes_transposed")
NOT_SAID = "#repetitions"
"""A column that `octant import` does not read."""


def imported(store: Path, tool: str, path: Path) -> str:
    """Import a file; return the id of the run."""
    output = foreign.read_file(tool, path)
    return create(Store(store), tool, [(path, output)], ranks=2).id


def pairs(text: str) -> dict[str, float]:
    """Return the numbers of a summary of HPC Challenge, by key."""
    lines = text.partition("Begin of Summary section.")[2].splitlines()
    found = (line.partition("=")[::2] for line in lines if "=" in line)
    return {key: float(value) for key, value in found if value.replace(".", "").lstrip("-")[:1].isdigit()}


@pytest.fixture
def said() -> dict[str, float]:
    return pairs(HPCC.read_text(encoding="utf-8"))


def test_every_key_of_an_imported_summary_is_a_row_with_its_value(tmp_path: Path, said: dict[str, float]) -> None:
    run = imported(tmp_path, "hpcc", HPCC)
    text = printed(["hpcc", "--run", run, "--store", str(tmp_path)])
    rows = json.loads(printed(["hpcc", "--run", run, "--json", "--store", str(tmp_path)]))["figures"]
    assert len({row["key"] for row in rows}) == len(rows) > 30, "one row for each key"
    for row in rows:
        assert row["value"] == pytest.approx(said[row["key"]]), row["key"]
        assert (row["verdict"], row["rule"], row["reference"]) == ("right", "", None)
        assert f"  {row['key']} " in text
    assert "StarDGEMM, 2 ranks, n=162" in text
    assert "Not measured" not in text
    assert "read from" in text


def test_the_exported_summary_of_an_import_says_what_the_file_said(tmp_path: Path, said: dict[str, float]) -> None:
    run = imported(tmp_path, "hpcc", HPCC)
    text = printed(["export", "hpcc", run, "--store", str(tmp_path)])
    found = pairs(text)
    assert found.keys() <= said.keys()
    assert len(found) > 50
    differing = {key: (value, said[key]) for key, value in found.items() if value != pytest.approx(said[key], rel=1e-4)}
    assert not differing
    again = tmp_path / "again.txt"
    again.write_text(text, encoding="utf-8")
    tables = [(table.benchmark, table.ranks, table.alone) for table in foreign.read_file("hpcc", HPCC).tables]
    assert [(table.benchmark, table.ranks, table.alone) for table in foreign.read_file("hpcc", again).tables] == tables


def test_outputs_of_several_numbers_of_ranks_have_rows_of_their_own(tmp_path: Path) -> None:
    text = HPCC.read_text(encoding="utf-8").replace("HPL_npcol=2", "HPL_npcol=4")
    other = tmp_path / "four.txt"
    other.write_text(text.replace("HPL_Tflops=0.000696224", "HPL_Tflops=0.0012"), encoding="utf-8")
    outputs = [(path, foreign.read_file("hpcc", path)) for path in (HPCC, other)]
    run = create(Store(tmp_path), "hpcc", outputs).id
    rows = json.loads(printed(["hpcc", "--run", run, "--json", "--store", str(tmp_path)]))["figures"]
    assert [(row["ranks"], row["value"]) for row in rows if row["key"] == "HPL_Tflops"] == [
        (2, 0.000696224),
        (4, 0.0012),
    ]
    alone = [(row["ranks"], row["launches"]) for row in rows if row["key"] == "SingleDGEMM_Gflops"]
    assert alone == [(1, "2")], "of one rank in both"


def test_an_output_of_hpl_alone_is_the_row_of_hpl(tmp_path: Path) -> None:
    run = imported(tmp_path, "hpl", DATA / "foreign" / "hpl-2.3.txt")
    text = printed(["hpcc", "--run", run, "--store", str(tmp_path)])
    assert "  HPL_Tflops " in text
    assert "PTRANS: not in the imported output" in text


Row = dict[str, float]


def tables(text: str) -> Iterator[tuple[str, list[Row]]]:
    """Return the tables of IMB: name, and rows by column head, without the unused one; `-` is 0."""
    name, heads, rows = "", list[str](), list[Row]()
    for line in [*text.splitlines(), ""]:
        words = line.split()
        if line.startswith("# Benchmarking"):
            name, heads = words[2], []
        elif NOT_SAID in words:
            heads, rows = words, []
        elif heads and len(words) == len(heads) and words[0][0] in "0123456789-":
            cells = zip(heads, words, strict=True)
            rows.append({head: 0.0 if word == "-" else float(word) for head, word in cells if head != NOT_SAID})
        elif heads and rows:
            yield name, rows
            heads, rows = [], []


@pytest.mark.parametrize("part", IMB)
def test_tables_of_imb_come_out_as_imb_printed_them(tmp_path: Path, part: str) -> None:
    path = DATA / "foreign" / f"imb-2021.11-{part}.txt"
    shown = printed(["mpi", "--run", imported(tmp_path, "imb", path), "--store", str(tmp_path)])
    found = list(tables(shown))
    assert len(found) >= 3
    assert found == list(tables(path.read_text(encoding="utf-8")))
    assert "MODE: NON-AGGREGATE" in shown or part != "rma"
    assert printed(["export", "mpi", "last", "--store", str(tmp_path)]) == shown


def test_tables_of_osu_come_out_with_its_names_and_numbers(tmp_path: Path) -> None:
    run = imported(tmp_path, "osu", DATA / "foreign" / "osu-5.8.txt")
    shown = printed(["mpi", "--run", run, "--as", "osu", "--store", str(tmp_path)])
    heads = [line[2:] for line in shown.splitlines() if line.startswith("# osu_")]
    assert heads == ["osu_latency", "osu_bw", "osu_bibw", "osu_mbw_mr", "osu_put_latency"]
    rows = [line.split() for line in shown.splitlines() if line[:1].isdigit()]
    assert ["1", "7.79", "7790845.03"] in rows
    assert ["1048576", "66.02"] in rows


def test_an_import_without_such_results_is_refused(tmp_path: Path) -> None:
    run = imported(tmp_path, "stream", DATA / "foreign" / "stream-5.10.txt")
    assert "has no pattern of octant mpi" in printed(["mpi", "--run", run, "--store", str(tmp_path)])
    for words in (["export", "hpcc", run], ["hpcc", "--run", run], ["hpcc", "--run", run, "--json"]):
        assert "contains no result of HPC Challenge" in printed([*words, "--store", str(tmp_path)])


@pytest.mark.parametrize("part", IMB)
def test_a_time_of_imb_is_no_least_nor_greatest_of_hpcc(tmp_path: Path, part: str) -> None:
    """A message of 8 bytes between two ranks is not the extreme over many pairs that HPC Challenge publishes."""
    run = imported(tmp_path, "imb", DATA / "foreign" / f"imb-2021.11-{part}.txt")
    for words in (["export", "hpcc", run], ["hpcc", "--run", run]):
        text = printed([*words, "--store", str(tmp_path)])
        assert text.startswith("refused: cannot ")
        assert "; try octant " in text


def measured_as(file: Path) -> Summary:
    """Return a run with a figure for each test of HPC Challenge in the file, at the sizes of the file."""
    launches, points = [], []
    tables = foreign.read_file("hpcc", file).tables
    for test in read_tests("hpcc"):
        if test.name.startswith(("PingPong", "Naturally", "Randomly")):  # of several cells, or of several methods
            continue
        kernels = test.knobs.get("kernel", "").split(",")
        name = plain_name(test.imported or test.name)
        cells = [one for one in tables if plain_name(one.benchmark) == name and one.knobs.get("kernel", "") in kernels]
        ranks, groups = 1 if test.mode == "one" else 2, {"groups": "1"} if test.mode == "star" else {}
        own = {name: value.partition(",")[0] for name, value in test.knobs.items() if "{" not in value}
        for cell in cells:
            knobs = {**own, "library": "own", **cell.knobs, **groups}
            show = Presentation(test.name, test=test.name)
            (launch,) = Request(Subject(test.workload), knobs, Shape(ranks), show=show, repeats=1).launches()
            of_ranks = tuple(lane([1_000_000 + 10_000 * rank] * 20, rank=rank) for rank in range(ranks))
            given = {"workload": test.workload, "launch": launch.key, "ranks": ranks, "lanes": of_ranks}
            counts = dict.fromkeys(COUNTS, 1_000_000)
            points.append(point("steps" if test.mode == "all" else "chunks", knobs=knobs, counts=counts, **given))
            launches.append(launch)
    return summarise(stored(launches, points, title="hpcc --quick"), all_metrics=True)


def test_a_comparison_with_an_import_has_the_values_that_both_tables_print(tmp_path: Path) -> None:
    """What HPC Challenge states of a star test is the mean of a rank; ours is of all ranks together."""
    theirs = summarise(Store(tmp_path).read(imported(tmp_path, "hpcc", HPCC)), all_metrics=True)
    ours = measured_as(HPCC)
    tests = {figure.key: (test, figure) for test in read_tests("hpcc") for figure in test.figure}
    printed_rows = [
        {row.key: row for row in rows_of(side, benchmarks()["hpcc"]) if row.value} for side in (theirs, ours)
    ]
    seen = set()
    for one in (*compare(theirs, ours).figures, *compare(ours, theirs).figures):
        if one.before is None or one.after is None:
            continue
        pair = sorted((one.before, one.after), key=lambda figure: figure.point.notes.get("imported", "") == "")
        assert {figure.metric.name for figure in pair} == {pair[0].metric.name}
        keys = [key for key, (test, figure) in tests.items() if any(
            found.identity == pair[0].identity for found in imported_cells(theirs, test, figure)
        )]  # fmt: skip
        (key,) = keys
        for figure, rows in zip(pair, printed_rows, strict=True):
            value = figure.value.middle / tests[key][1].unit if figure.value else None
            assert value == pytest.approx(rows[key].value if key in rows else None), key
            seen |= {key} if value else set()
    both = printed_rows[0].keys() & printed_rows[1].keys()
    assert seen == both
    assert sum(key.startswith("Star") for key in seen) == 8
