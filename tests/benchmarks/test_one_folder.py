"""One folder is all that a benchmark needs: command, tables, page, export, estimate, imports and model."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fake_run import lane, point, stored, there_and_back, write_run
from octant import benchmarks, registry
from octant.benchmarks import requests
from octant.benchmarks.table import read_tests
from octant.cli import application
from octant.failure import Exit
from octant.request import Launch, Request, Shape, Subject
from paths import DATA, ROOT
from registries import added

DEMO = ROOT / "tests/benchmarks/demo"
OUTPUT = str(DATA / "foreign" / "hpcc-1.5.0.txt")
SCRIPT = """
import sys
import octant.benchmarks
octant.benchmarks.__path__.append(sys.argv.pop(1))
from octant.cli import main
main()
"""
ROOMS = ("benchmarks", "catalogue", "cli", "report", "runs")
Call = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def octant(kernels: Path, tmp_path: Path) -> Call:
    """Run `octant WORDS…` in an installation that also has the folder `demo`."""
    shutil.copytree(DEMO, tmp_path / "folders" / "demo", ignore=shutil.ignore_patterns("__pycache__"))
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("OCTANT_", "OMP_"))}
    environment = {**inherited, "OCTANT_KERNELS": str(kernels), "OCTANT_STORE": str(tmp_path / "store")}

    def call(*words: str, code: int = 0) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-c", SCRIPT, str(tmp_path / "folders"), *words]
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=110, check=False
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done

    return call


@pytest.mark.slow
def test_a_benchmark_that_is_one_folder_has_a_command_a_page_an_export_and_an_estimate(octant: Call) -> None:
    assert "Measure the demonstration." in octant("--help").stdout
    done = octant("demo", "--ranks", "1", "--repeats", "2")
    assert done.stdout.startswith("Demonstration: octant demo --ranks 1, run ")
    assert re.search(r"Triad_GBs +[0-9.]+ .*right +baseline", done.stdout)
    assert "Single DGEMM, 1 rank" in done.stdout
    assert "as Demo" in done.stdout
    assert "(estimate: " in done.stderr
    rows = {row["key"]: row for row in json.loads(octant("demo", "--run", "last", "--json").stdout)["figures"]}
    assert rows.keys() == {"Triad_GBs", "Matrix_Gflops"}
    lines = octant("export", "demo", "last").stdout.splitlines()
    found = dict(line.split("=") for line in lines)
    assert {key: float(value) for key, value in found.items()} == pytest.approx(
        {key: row["value"] for key, row in rows.items()}
    )
    page = Path(octant("report", "last").stdout.splitlines()[-1]).read_text(encoding="utf-8")
    assert "Results under the names of Demo" in page
    assert re.search(r"Triad_GBs +[0-9.]+ .*right +baseline", page)
    assert "cannot use --ranks with --run" in octant("demo", "--run", "last", "-n", "2", code=Exit.WRONG_WORD).stderr
    assert "on larger systems" in " ".join(octant("model", "demo", "--help").stdout.split())


def transposed_with_messages(store: Path) -> str:
    """Store a run of two ranks with messages and a transposition; return its id."""
    knobs = {"n": "1024", "transport": "messages", "block": "192", "grid": "auto", "message": "256KiB", "tile": "192"}
    parts = [("hpcc/ptrans", knobs, 10**6, {"bytes_transposed": 8 * 1024**2})]
    for length in (8, 512, 4096, 32768, 262144, 2097152):
        of_message = {"bytes": str(length), "buffers": "hot", "pattern": "pingpong"}
        parts.append(("mpi/p2p", of_message, 2 * (1000 + length), there_and_back(length)))
    launches, points = [], []
    for workload, known, ns, counts in parts:
        launches.append(Launch(Request(Subject(workload), known, Shape(2))))
        lanes = tuple(lane([ns] * 8, rank=rank) for rank in range(2))
        given = {"workload": workload, "launch": launches[-1].key, "ranks": 2, "knobs": known}
        points.append(point("steps", **given, counts=counts, lanes=lanes))
    return write_run(stored(launches, points, folder=Path("runs", "29991231-000000-aaaa")), store).id


def test_the_network_model_predicts_the_tests_of_a_benchmark_that_is_one_folder(octant: Call, tmp_path: Path) -> None:
    pytest.importorskip("octant._network")
    with (tmp_path / "folders" / "demo" / "tests.toml").open("a", encoding="utf-8") as file:
        file.write('[[test]]\nname = "Transposition"\nworkload = "hpcc/ptrans"\nmode = "all"\nknobs = { n = "1024" }\n')
    run = transposed_with_messages(tmp_path / "store")
    found = json.loads(octant("model", "demo", "--run", run, "--nodes", "8,64", "--json").stdout)
    assert [(one["test"], one["nodes"]) for one in found["answers"]] == [("ptrans", 8), ("ptrans", 64)]
    rate = found["answers"][0]["rate"]["per_s"]
    assert 0 < rate["low"] <= rate["high"]
    refused = octant("model", "demo", "power775", code=Exit.WRONG_WORD)
    assert "Demo has no prediction for networks of the catalogue or of a file" in refused.stderr, (
        "the answers of another benchmark are not its own"
    )


def test_imported_results_are_rows_of_a_benchmark_that_is_one_folder(octant: Call) -> None:
    octant("import", "hpcc", OUTPUT)
    rows = {row["key"]: row for row in json.loads(octant("demo", "--run", "last", "--json").stdout)["figures"]}
    assert rows["Triad_GBs"]["value"] == pytest.approx(61.1839), "of a rank, as it is there"
    assert (rows["Triad_GBs"]["ranks"], rows["Triad_GBs"]["shown"]) == (2, ["kernel=triad"])
    assert rows["Matrix_Gflops"]["value"] == pytest.approx(4.66962), "by the name of the test"
    assert "Triad_GBs=61.1839" in octant("export", "demo", "last").stdout


def test_a_folder_that_cannot_be_used_is_a_row_and_stops_no_other(octant: Call, tmp_path: Path) -> None:
    (tmp_path / "folders" / "demo" / "__init__.py").write_text("raise KeyError('planted')\n")
    page = octant("--help").stdout
    assert "planted" in page
    assert "  hpcc " in page
    assert "planted" in octant("demo", code=1).stderr


TRID = 'figure = [{ key = "Triad_GBs", knobs = { kernel = "trid"'
TRIAD = '{ key = "Triad_GBs", knobs = { kernel = "triad" }, unit = 1e9, each = true }'


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ('name = "Single', 'nam = "Single', 11, "test.1.nam: unknown key, did you mean name?"),
        ('name = "Single DGEMM"\n', "", 10, "test.1.name: this key is missing, add it"),
        ('mode = "one"', 'mode = "single"', 13, "test.1.mode: unknown value 'single', try one of one, star, all"),
        ("1e9 }]", "1e9 }", None, "cannot read the benchmark demo (Unclosed array"),
        ("1e9 }]", '"ns" }]', 15, "test.1.figure.0.unit: expected number, got 'ns', correct the value"),
        ('n = "64"', 'n = "{cache}"', 14, "test.1.knobs.n: sizes.py declares no size 'cache', try one of ranks"),
        (
            'key = "Matrix_Gflops"',
            'key = "Triad_GBs"',
            15,
            "the key 'Triad_GBs' already exists in the test 'Star triad'",
        ),
        (
            f"[{TRIAD}]",
            f"[{TRIAD}, {TRIAD}]",
            8,
            "test.0.figure.1.key: the key 'Triad_GBs' already exists with the same knobs in this test",
        ),
        ("Single DGEMM", "Star triad", 11, "test.1.name: another test has the same name 'Star triad'"),
        ("[[test]]", "[[tests]]", 1, "tests: unknown key, did you mean test?"),
    ],
)
def test_a_mistake_in_the_tests_is_a_row_with_file_line_and_correction(
    tmp_path: Path, old: str, new: str, line: int | None, said: str
) -> None:
    folder = tmp_path / "demo"
    shutil.copytree(DEMO, folder, ignore=shutil.ignore_patterns("__pycache__"))
    text = (folder / "tests.toml").read_text()
    assert old in text
    (folder / "tests.toml").write_text(text.replace(old, new))
    with added("octant.benchmarks", tmp_path):
        found = benchmarks.entries().broken["demo"]
        assert (found.file, found.line) == (str(folder / "tests.toml"), line)
        assert said in found.error
        assert "hpcc" in benchmarks.entries().working


def test_a_mistake_in_the_tests_is_shown_by_help_and_by_the_command(octant: Call, tmp_path: Path) -> None:
    file = tmp_path / "folders" / "demo" / "tests.toml"
    file.write_text(file.read_text().replace('name = "Single', 'nam = "Single'))
    said = f"{file}, line 11: test.1.nam: unknown key, did you mean name?"
    assert unspaced(said) in unspaced(octant("--help").stdout)
    assert (
        octant("demo", code=1).stderr == f"octant: cannot use the command demo ({said}); correct or remove that file\n"
    )
    for words in (("demo", "last"), ("demo",), ("--to", "demo")):
        assert octant("export", *words, code=1).stderr.startswith(f"octant: cannot use the benchmark demo ({said}); ")
    file.unlink()
    assert f"({file}: cannot read the benchmark" in octant("demo", code=1).stderr


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("run", "the command run exists already; give the benchmark another name"),
        ("model", "the command model exists already; give the benchmark another name"),
        ("mpi", "the benchmark messages has the same command mpi"),
    ],
)
def test_a_benchmark_whose_command_exists_is_a_row(tmp_path: Path, command: str, said: str) -> None:
    folder = tmp_path / "zz"
    shutil.copytree(DEMO, folder, ignore=shutil.ignore_patterns("__pycache__"))
    file = folder / "__init__.py"
    file.write_text(file.read_text().replace("predicted=True", f'command="{command}"'))
    with added("octant.benchmarks", tmp_path):
        shown = CliRunner().invoke(application(), ["--help"]).output
        assert unspaced(f"zz{file}: {said}") in unspaced(shown)
        assert "demonstration" not in CliRunner().invoke(application(), [command, "--help"]).output


def test_a_figure_of_no_cell_is_refused_before_there_is_a_run(octant: Call, tmp_path: Path) -> None:
    file = tmp_path / "folders" / "demo" / "tests.toml"
    file.write_text(file.read_text().replace('figure = [{ key = "Triad_GBs", knobs = { kernel = "triad"', TRID))
    said = octant("demo", "--ranks", "1", code=Exit.WRONG_WORD).stderr
    assert f"cannot read the benchmark demo, {file}, line 8 (test.0.figure.0.knobs.kernel: " in said
    assert not (tmp_path / "store").exists()


def test_a_format_that_does_not_exist_is_refused_by_its_name(octant: Call) -> None:
    said = octant("export", "dem", "last", code=Exit.WRONG_WORD).stderr
    assert said == "octant: cannot export 'dem' (no such benchmark or run); did you mean demo?\n"


def unspaced(text: str) -> str:
    return "".join(text.split())


def test_the_tests_that_the_instructions_show_can_be_used(tmp_path: Path, kernels: Path) -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    folder = tmp_path / "demo"
    shutil.copytree(DEMO, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "tests.toml").write_text(shown)
    with added("octant.benchmarks", tmp_path), pytest.MonkeyPatch.context() as patch:
        patch.setenv("OCTANT_KERNELS", str(kernels))
        assert "no size 'triad_bytes'" in benchmarks.entries().broken["demo"].error
        (folder / "sizes.py").touch()
        registry.names.cache_clear()
        (test,) = read_tests("demo")
        assert not list(requests.problems([test]))


def test_no_file_outside_its_folder_names_a_benchmark() -> None:
    """Except documentation, studies, and what reads formats and old stores."""
    found = []
    paths = [path for room in ROOMS for path in (ROOT / "src/octant" / room).rglob("*.py")]
    assert len(paths) > 150
    for name, one in benchmarks.entries().working.items():
        called = rf"(benchmarks\(\)|read_tests)[\[(]['\"]({name}|{one.command})\b"
        words = re.compile(rf"benchmarks[./]{name}\b|octant {one.command}\b|{called}|\b{one.short_name}\b")
        texts = ((path, path.read_text(encoding="utf-8")) for path in paths if path.parent.name != name)
        found += [(str(path), match[0]) for path, text in texts if (match := words.search(text))]
    assert not found
