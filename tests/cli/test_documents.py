"""Every command that help and documentation show is one: it is read, can be carried out, and prints what is shown.

What starts programs or measures is carried out up to that; the rest to its end, in a folder with two runs and a study.
"""

import os
import re
import struct
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import documents
import fake_study
from command_lines import is_name, read, words_of
from documents import DOCUMENTS, Shown
from fake_run import fake_run, machine, write_run
from octant import suites
from octant.cli import application
from octant.cli._examples import EXAMPLES, WAYS_IN
from octant.failure import Exit, Refusal
from octant.request import Presentation
from octant.store import Store, StoredRun
from paths import DATA, ROOT

PLACEHOLDERS = {
    "ID": "last",
    "N": "6",
    "RULE": "governor",
    "FOLDER": "recorded",
    "WORKLOAD": "stream",
    "KNOB=VALUE": "bytes=1MiB",
    "NAME=VALUE": "eager-limit=64KiB",
    "NETWORK": "bgp",
    "POINTS": "points.txt",
    "SETTING": "MP_EAGER_LIMIT",
    "STUDY": "gups-scaling",
    "COMMAND": "./app",
    "[RUN]": "last",
    "[A]": "previous",
    "[B]": "last",
    "csv|parquet|json": "csv",
    "…": "",
}
"""Words of the documentation that stand for what a user has."""

EVERY = [one for path in DOCUMENTS for one in documents.shown(path)]
OURS = [one for one in EVERY if one.command.startswith("octant ")]

STARTING = re.compile(
    r"octant (run|profile(?! report)|evaluate|resume|where|bind|study run|workloads \w|model check"
    r"|compare .*(--(rounds|gate)|-- )|settings .*--(library|check)|mpi(?! --(list|faults|run))|hpcc(?! --run))"
)
"""What needs kernels, a launcher or an MPI library."""

MEASURED = re.compile(r"octant (doctor|history|machine|export|report|study report stream|model calibrate bgp --run)")
"""What prints something else on another machine."""

ELSEWHERE = (
    "bytes=2013265920", "my_kernel", "mpi --run last", "export mpi last", "resume last -- ./app", "resume last --from",
    "profile report", "profile:last", "octant history", "octant machine --measured",
)  # fmt: skip
"""What only the run or the tree has that the documentation speaks of."""


def filled(command: str) -> str:
    """Return a command with its placeholders replaced."""
    return " ".join(PLACEHOLDERS.get(word, word) for word in command.split(" "))


def marks(line: str) -> list[pytest.MarkDecorator]:
    """Commands that take seconds are slow."""
    slow = ("octant model bracket", "octant model report power775", "octant model loads power775")
    return [pytest.mark.slow] if line.startswith(slow) else []


COMPARED = [
    one
    for one in OURS
    if one.output
    and not re.match(f"{STARTING.pattern}|{MEASURED.pattern}", one.command)
    and not any(word in one.command for word in ELSEWHERE)
]
COMPLETE = [filled(one.command) for one in OURS if one.output is not None or not is_name(one.command)]
OF_HELP = [one.line for examples in (*(way.examples for way in WAYS_IN), *EXAMPLES.values()) for one in examples]
CARRIED_OUT = [
    line
    for line in dict.fromkeys([*OF_HELP, *COMPLETE])
    if not any(word in line for word in ELSEWHERE) and line not in {one.command for one in COMPARED}
]


class Begun(Exception):  # noqa: N818 - no error
    """A command came to where it measures or starts something."""


def _begin(*_: object, **__: object) -> None:
    raise Begun


def _with_hpcc(run: StoredRun) -> StoredRun:
    """Return the run with its matrix product on one core as a test of HPC Challenge."""
    single = Presentation("SingleDGEMM", test="SingleDGEMM")
    of_one = {
        request.key for request in run.requests if request.subject.workload == "node/gemm" and request.shape.ranks == 1
    }
    return replace(
        run,
        requests=tuple(replace(request, show=single) if request.key in of_one else request for request in run.requests),
    )


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with everything that commands name: runs, a measured study, a program, files, machines."""
    folder = tmp_path_factory.mktemp("desk")
    for name in ("machines", "examples"):
        (folder / name).symlink_to(ROOT / name)
    for name in ("program", "prog", "app", "old", "new"):
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    for name in ("input.nml", "start.dat", "small.txt", "large.txt"):
        (folder / name).touch()
    for path in (ROOT / "examples/programs").iterdir():
        (folder / path.name).symlink_to(path)
    for name, source in (
        ("imb.txt", "imb-2021.11-mpi1.txt"),
        ("osu.txt", "osu-5.8-collective.txt"),
        ("hpcc.txt", "hpcc-1.5.0.txt"),
    ):
        (folder / name).symlink_to(DATA / "foreign" / source)
    again = (folder / "imb.txt").read_text().replace(" 3.24 ", " 3.25 ", 1)
    (folder / "imb-2.txt").write_text(again)  # another launch
    (folder / "points.txt").write_text("24 1.08e9 0.05\n")
    for name, source in (("mine.toml", "study/studies/page-size.toml"), ("suite.toml", "suites/quick.toml")):
        (folder / name).symlink_to(ROOT / "src/octant" / source)
    for name in ("29991231-000000-aaaa", "29991231-000001-bbbb"):  # later than the study, so `previous` and `last`
        write_run(_with_hpcc(fake_run(Path("runs", name))), folder / "store")
    with pytest.MonkeyPatch.context() as patch:
        workloads = ("node/stream", "node/latency", "node/randomaccess", "bind")
        fake_study.programs(folder / "programs", patch, workloads)
        for study in ("stream-affinity-pages", "page-size"):
            fake_study.run(Store(folder / "store"), study, machine(nodes=2), lambda *_: None, repeats=1)
    return folder


@pytest.fixture
def at_desk(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(desk)
    monkeypatch.setenv("OCTANT_STORE", str(desk / "store"))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)  # of mpiexec
    for name in (
        "cli._stored.measure",
        "cli._rounds.measure_rounds",
        "cli._pair.measure_programs",
        "cli._profile._measure",
        "cli._profile_cost._measure",
        "launch.watch.watch",
        "simulate.simgrid.compare_with_simulator",
        "simulate.simulated_workload.run",
        "mpi.proof.prove",
    ):
        monkeypatch.setattr(f"octant.{name}", _begin)


def carried_out(line: str) -> Result:
    """Return the output of a command, which succeeds or is refused.

    Raises:
        AssertionError: it fails.
    """
    result = CliRunner().invoke(application(), words_of(line))
    assert isinstance(result.exception, Begun | SystemExit | Refusal | None), result.exception
    return result


@pytest.mark.parametrize("one", OURS, ids=str)
def test_the_command_line_reads_what_the_documentation_shows(one: Shown) -> None:
    if one.output is not None or not is_name(one.command):
        read(filled(one.command))


def test_make_has_the_targets_that_the_documentation_names() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE))
    asked = {(str(one), word) for one in EVERY if one.command.startswith("make ") for word in one.command.split()[1:]}
    assert {where for where, word in asked if "=" not in word and word not in targets} == set()


@pytest.mark.parametrize(
    "line", [pytest.param(line, marks=marks(line)) for line in CARRIED_OUT if not STARTING.match(line)]
)
@pytest.mark.usefixtures("at_desk")
def test_what_is_shown_can_be_carried_out(line: str) -> None:
    assert not isinstance(carried_out(line).exception, Refusal)


@pytest.mark.parametrize("line", [line for line in CARRIED_OUT if STARTING.match(line)])
@pytest.mark.usefixtures("at_desk")
def test_what_is_shown_can_be_begun(line: str, kernels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OCTANT_KERNELS", str(kernels))
    refusal = carried_out(line).exception
    assert not isinstance(refusal, Refusal) or refusal.code == Exit.NOT_SUPPORTED, refusal  # by this machine or library


@pytest.mark.parametrize("one", [pytest.param(one, id=str(one), marks=marks(one.command)) for one in COMPARED])
@pytest.mark.usefixtures("at_desk")
def test_a_command_prints_what_the_documentation_shows(one: Shown) -> None:
    result = carried_out(one.command)
    if isinstance(result.exception, Refusal):
        assert one.output == (f"octant: {result.exception}",)
    else:
        assert documents.agrees(one.output or (), result.output) or documents.agrees(one.output or (), result.stdout)


@pytest.mark.parametrize(
    ("shown", "real", "same"),
    [
        (("a", "…", "d"), "a\nb\nc\nd\n", True),
        (("a", "…", "d"), "a\nd\n", True),
        (("a …", "b"), "a 5 µs\nb\n", True),
        (("a", "b"), "a\nb\nc\n", False),
        (("a", "c"), "a\nb\n", False),
    ],
)
def test_dots_stand_for_lines_and_for_characters(shown: tuple[str, ...], real: str, same: bool) -> None:
    assert documents.agrees(shown, real) is same


def test_readme_leads_four_kinds_of_people_to_the_commands_of_help() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for way in WAYS_IN:
        block = text.partition(f"**{way.who}**\n\n```\n")[2].partition("```")[0]
        shown = [tuple(part.strip() for part in line.split(" # ")) for line in block.splitlines()]
        assert shown == [tuple(example) for example in way.examples]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_of_the_documentation_lead_somewhere(path: Path) -> None:
    text = documents.without_blocks(path.read_text(encoding="utf-8"))
    targets = re.findall(r"\]\(([^)\s]+)\)|(?:src|srcset|href)=\"([^\"]+)\"", text)
    inside = [target for pair in targets for target in pair if target and "://" not in target]
    assert [target for target in inside if not (path.parent / target.partition("#")[0]).exists()] == []


@pytest.mark.parametrize("name", ["report-first-screen", "report-first-screen-dark"])
def test_the_picture_of_readme_is_as_wide_as_a_page_and_small(name: str) -> None:
    picture = (ROOT / "docs/pictures" / f"{name}.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert struct.unpack(">II", picture[16:24])[0] == 1400
    assert len(picture) < 256_000
    assert f"docs/pictures/{name}.png" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_example_of_readme_has_the_tiles_of_the_quick_suite() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    example = text.partition("## What an evaluation shows\n\n```\n")[2].partition("```")[0]
    assert re.findall(r"^([A-Z][a-z]+) {2,}\S", example, re.MULTILINE) == [
        tile.name for tile in suites.load("quick").tiles
    ]
