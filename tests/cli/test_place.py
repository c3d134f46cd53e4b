"""`octant place` and its drawings, as a user meets them."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from octant.cli import _run, place
from octant.failure import Refusal
from octant.launchers import names
from octant.machine.hwloc import load
from octant.machine.load import load_machine
from octant.placement.draw import as_svg, as_text, describe
from octant.placement.expressions import parse_place
from octant.placement.planner import plan
from paths import MACHINES

REFERENCE = str(MACHINES / "frameworks-node.synthetic")
EVERY = sorted(path.name for path in MACHINES.iterdir() if path.suffix in (".xml", ".synthetic"))


def run(*words: str) -> tuple[str, str]:
    app = typer.Typer()
    place.register(app)
    result = CliRunner().invoke(app, list(words), catch_exceptions=False)
    return result.stdout, result.stderr


def test_table_5_1_from_the_command_line() -> None:
    output, notes = run("--from", "MP_TASK_AFFINITY=CORE", "--for", "loadleveler")
    assert output == "#@rset = rset_mcm_affinity\n#@task_affinity = core(1)\n"
    assert "accumulates tasks on one MCM" in notes


def test_drawing_and_table() -> None:
    output, _notes = run("--place", "4x2,order=scatter:numa", "--on", REFERENCE)
    assert "package 0\n  NUMA node 0  │0.0 0.0│0.1 0.1│  ·   ·│  ·   ·│\n" in output
    assert re.search(r"^ +3 +24-27 +24-25 / 26-27 +3$", output, re.MULTILINE)


def test_options_say_the_same_as_the_text() -> None:
    options = ["--ranks", "4", "--threads", "2", "--unit", "hwthread", "--smt", "2", "--memory", "bind"]
    assert run(*options, "--on", REFERENCE) == run("--place", "4x2,unit=hwthread,smt=2,memory=bind", "--on", REFERENCE)


def test_all_launchers_with_headings() -> None:
    output, _notes = run("--place", "2x2", "--on", REFERENCE, "--for", "all")
    assert [name for name in names("write") if f"{name}: " not in output] == []
    assert "! PBS does not bind inside the node; use the options of the MPI library as well" in output


def test_json_has_everything() -> None:
    output, _notes = run("--place", "2x2", "--on", REFERENCE, "--for", "mpich", "--for", "openmpi", "--json")
    found = json.loads(output)
    assert found["request"] == "2x2"
    assert found["ranks"][1] == {
        "rank": 1, "cpus": [4, 5, 6, 7], "threads": [[4, 5], [6, 7]], "memory": [0], "coordinates": [],
    }  # fmt: skip
    assert found["launchers"]["mpich"]["lines"][-1] == "mpiexec -n 2 -bind-to core:2 PROGRAM"
    assert found["launchers"]["openmpi"]["exact"] is True


def test_warnings_and_the_better_placement_are_in_text_and_json() -> None:
    line = "mpiexec -n 4 -bind-to core prog"
    _output, notes = run("--from", line, "--on", REFERENCE)
    assert notes.splitlines()[-3:] == [
        "octant: warning: only 1 of 4 NUMA domains is used; the memory controllers of the others are idle",
        "octant: better placement: --place 4x1,order=scatter:numa",
        "octant:   mpiexec -n 4 -bind-to core -map-by numa PROGRAM",
    ]
    found = json.loads(run("--from", line, "--on", REFERENCE, "--json")[0])
    assert [one["kind"] for one in found["warnings"]] == ["idle-domains"]
    assert found["better"] == {
        "request": "4x1,order=scatter:numa", "lines": ["mpiexec -n 4 -bind-to core -map-by numa PROGRAM"]
    }  # fmt: skip
    fine = json.loads(run("--place", "4x1,order=scatter", "--on", REFERENCE, "--json")[0])
    assert (fine["warnings"], fine["better"]) == ([], None)
    assert "warning" not in run("--place", "4x1,order=scatter", "--on", REFERENCE)[1]


@pytest.mark.parametrize(
    ("place", "kinds"),
    [
        ("4x1", ["only 1 of 4"]),
        ("4x1,order=compact", []),
        ("2x1,cpus=0/0", ["no hardware thread of its own", "only 1"]),
    ],
)
def test_a_measured_placement_has_warnings_unless_its_order_is_explicit(
    place: str, kinds: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    _run._warn_about_placement(place, load_machine(REFERENCE))
    said = [line for line in capsys.readouterr().err.splitlines() if "warning" in line]
    assert [kind in line for kind, line in zip(kinds, said, strict=True)] == [True] * len(kinds)


def test_files_are_printed_where_a_line_needs_one() -> None:
    output, _notes = run("--place", "2x1,cpus=0/5", "--on", REFERENCE, "--for", "openmpi")
    assert output.endswith("# file octant.rankfile:\nrank 0=localhost slot=0\nrank 1=localhost slot=5\n")


def test_lines_come_from_standard_input_too() -> None:
    app = typer.Typer()
    place.register(app)
    result = CliRunner().invoke(app, ["--from", "-", "--on", REFERENCE], input="mpiexec -n 18 -bind-to core prog\n")
    assert "read from MPICH" in result.stdout
    assert "starts again with the first mask" in result.stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--place", "99x1", "--on", REFERENCE], 3, "the largest request that fits is 16x1"),
        (["--place", "4x2,unit=kore"], 2, "unknown value in unit=kore; did you mean core?"),
        (["--place", "1x1,memory=bind:9", "--on", REFERENCE], 3, "this machine has 0"),
        (["--place", "4x2", "--ranks", "2"], 2, "cannot use --ranks with --place; add it to the text of --place"),
        (["--place", "1x1", "--on", "/nowhere/x.xml"], 2, "cannot read the machine"),
        (
            ["--place", "1x1", "--on", REFERENCE, "--for", "mvapich"],
            2,
            "cannot write options for 'mvapich' (no such launcher)",
        ),
        (["--from", "hello", "--on", REFERENCE], 2, "cannot recognise the launcher of"),
        (["--place", "1x1", "--on", REFERENCE, "--svg", "/nowhere/x.svg"], 1, "cannot write /nowhere/x.svg"),
    ],
)
def test_refusals_have_their_code(words: list[str], code: int, said: str) -> None:
    with pytest.raises(Refusal, match=re.escape(said)) as refusal:
        run(*words)
    assert refusal.value.code == code


@pytest.mark.parametrize("machine", EVERY)
def test_svg_is_well_formed_and_shows_every_hardware_thread(machine: str, tmp_path: Path) -> None:
    file = tmp_path / "place.svg"
    run("--place", "2x1,order=scatter", "--on", str(MACHINES / machine), "--svg", str(file))
    root = ET.fromstring(file.read_text())  # noqa: S314 (our own file)
    space = {"s": "http://www.w3.org/2000/svg"}
    assert root.find("s:title", space) is not None
    description = root.findtext("s:desc", namespaces=space) or ""
    assert description.startswith("rank 0 on hardware threads")
    cells = root.findall(".//s:rect/s:title", space)
    assert sorted(int((c.text or "").split()[-1]) for c in cells) == [cpu.os for cpu in load(MACHINES / machine).cpus]
    assert root.get("role") == "img"


def test_drawing_distinguishes_shared_idle_and_forbidden() -> None:
    container = load(MACHINES / "container-2s.xml")
    text = as_text(container, plan(container, parse_place("2x1,cpus=16/16+17", container))).plain
    assert "│  × 0-1│  ×   1│" in text
    alone = as_svg(container, plan(container, parse_place("1x1", container)), "a <b> & c")
    assert "a &lt;b&gt; &amp; c" in alone
    assert ">×</text>" in alone


def test_wide_rows_break_evenly() -> None:
    wide = load("core:12 pu:2")
    rows = as_text(wide, plan(wide, parse_place("1x12", wide)), width=63).plain.splitlines()
    assert [row.count("│") - 1 for row in rows[1:-1]] == [4, 4, 4]


def test_description_is_in_words() -> None:
    wide = load("core:2 pu:1")
    assert (
        describe(plan(wide, parse_place("2x1", wide))) == "rank 0 on hardware threads 0; rank 1 on hardware threads 1."
    )


def test_map_files_by_key_and_by_option(tmp_path: Path) -> None:
    file = tmp_path / "octant.map"
    file.write_text("1 0 0 1\n0 0 0 0\n")
    output, _notes = run("--torus", "2x1x1", "--map", str(file), "--on", "core:2 pu:1")
    assert re.findall(r"^ +(\d) +(\d \d \d \d) +(\d)", output, re.MULTILINE) == [
        ("0", "1 0 0 1", "1"),
        ("1", "0 0 0 0", "0"),
    ]
    assert run("--place", f"2x1,torus=2x1x1,map={file}", "--on", "core:2 pu:1")[0] == output
    file.write_text("1 0 0 1\n0 0 3 0\n")
    with pytest.raises(Refusal, match="line 2 of the map file"):
        run("--torus", "2x1x1", "--map", str(file), "--on", "core:2 pu:1")


def test_files_that_lines_name_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine").write_text("rank 0=here slot=0-1\nrank 1=here slot=1:0\n")
    line = "mpiexec -n 2 --map-by rankfile:file=mine prog"
    found = json.loads(run("--from", line, "--on", REFERENCE, "--json")[0])
    assert [place["cpus"] for place in found["ranks"]] == [[0, 1, 2, 3], [16, 17]]
    Path("mine").write_text("rank 0=here slot=0-1\nrank 1=here slot=9:0\n")
    with pytest.raises(Refusal, match=r"line 2 of the rank file.*no package 9"):
        run("--from", line, "--on", REFERENCE)
    Path("places").write_text("0 1 0 0\n0 0 0 0\n")
    found = json.loads(run("--from", "mpirun -env BG_MAPPING=places p", "--on", "core:2 pu:1", "--json")[0])
    assert [place["coordinates"] for place in found["ranks"]] == [[0, 1, 0, 0], [0, 0, 0, 0]]
    Path("binary").write_bytes(b"\xff\xfe\x00")
    for name in ("none", "binary", "."):
        with pytest.raises(Refusal, match=r"cannot read .*which these lines use; give a path"):
            run("--from", f"mpirun -n 2 --rankfile {name} p", "--on", REFERENCE)


@pytest.mark.parametrize("launcher", ["openmpi", "bluegene"])
def test_lines_with_their_file_read_back_as_printed(launcher: str) -> None:
    on = {"openmpi": REFERENCE, "bluegene": "core:2 pu:1"}[launcher]
    place = {"openmpi": "2x2,cpus=0+2/4+6", "bluegene": "4x1,order=TXYZ,torus=2x1x1"}[launcher]
    lines, _notes = run("--place", place, "--on", on, "--for", launcher)
    first, again = (json.loads(run(*way, "--on", on, "--json")[0]) for way in (["--place", place], ["--from", lines]))
    assert [p["cpus"] for p in again["ranks"]] == [p["cpus"] for p in first["ranks"]]
