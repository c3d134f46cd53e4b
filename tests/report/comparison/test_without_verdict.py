"""Ratios without a verdict: single launches, imported results and invalid figures, and what is advised then."""

import dataclasses
import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

import command_lines
from fake_run import fake_run, lane, point, write_run
from foreign_outputs import FOLDER, read
from octant.analysis.compare import Comparisons, compare
from octant.analysis.summary import summarise
from octant.cli import application
from octant.failure import Refusal
from octant.record import Point
from octant.report.comparison import page, statements, text
from octant.request import Presentation, Request, Shape, Subject
from octant.runs import interleaved
from octant.store import Store, StoredRun
from octant.store.imported import create

SIZES = (4096, 0, 64, 1024)
"""Lengths in an order that is neither that of the sizes nor that of the ratios."""
NS = {0: 2_710, 64: 1_015, 1024: 800, 4096: 350}
"""Time of a message; IMB's file has 2.71, 2.03, 0.40 and 0.70 µs: ratios of 1, 2, 0.5 and 2."""
OUTPUT = "imb-2021.11-mpi1.txt"


def request(repeats: int) -> Request:
    knobs = {"pattern": "pingpong", "bytes": ",".join(map(str, SIZES)), "buffers": "hot"}
    return Request(Subject("mpi/p2p"), knobs, Shape(2), show=Presentation("PingPong"), repeats=repeats)


def messages(launch: str, **process: object) -> list[Point]:
    found = []
    for size in SIZES:
        lanes = (lane([NS[size]] * 30), lane([NS[size]] * 30, rank=1))
        knobs = {"pattern": "pingpong", "bytes": str(size), "buffers": "hot"}
        counts = {"turns": 1, "messages": 2, "bytes_passed": 2 * size}
        found.append(
            point("steps", workload="mpi/p2p", launch=launch, ranks=2, counts=counts, knobs=knobs, sync="clock",
                  lanes=lanes, **process)
        )  # fmt: skip
    return found


def measured(
    store: Store, repeats: int, name: str = "29991127-000000-aaaa", system: str = "", **process: object
) -> str:
    """Put a run of messages into the store, with so many launches; return its id."""
    asked, made = request(repeats), fake_run()
    points = [one for launch in asked.launches() for one in messages(launch.key, **process)]
    machine = dataclasses.replace(made.machine, system={**made.machine.system, "kernel": system or "6.18.5"})
    run = dataclasses.replace(
        made, id=name, who="run", title="run p2p", points=tuple(points), failures=(), requests=(asked,),
        order=tuple((0, repeat) for repeat in range(repeats)), machine=machine, benchmark="",
    )  # fmt: skip
    return write_run(run, store.root).id


def imported(store: Store) -> str:
    """Import the output into the store; return the id of the run."""
    return create(store, "imb", [(FOLDER / OUTPUT, read(OUTPUT))], "", None).id


def compared(store: Store, before: str, after: str) -> Comparisons:
    old, new = (summarise(store.read(name), all_metrics=True) for name in (before, after))
    return compare(old, new, defaults=_defaults)


def _defaults(_workload: str) -> dict[str, str]:
    return {"buffers": "hot"}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def ratios_shown(found: Comparisons) -> list[float]:
    shown = "\n".join(line.plain for line in text.lines(found, width=120))
    return [float(ratio) for ratio in re.findall(r"×(\d+\.\d{3})", shown)]


def test_one_launch_against_an_import_gives_ratios_by_size_and_the_reason(store: Store) -> None:
    found = compared(store, imported(store), measured(store, 1))
    by_size = [1.0, 2.0, 0.5, 2.0]
    both = [one for one in statements.ordered(found) if one.before and one.after]
    assert [one.figure.knobs["bytes"] for one in both] == ["0", "64", "1024", "4096"]
    assert [one.speed for one in both] == pytest.approx(by_size)
    assert ratios_shown(found) == pytest.approx(by_size)
    listed = [one["speed"] for one in json.loads(text.as_json(found))["figures"] if one["speed"]]
    assert listed == pytest.approx(by_size)
    drawn = statements.picture(found)
    assert drawn is not None
    assert [float(cells[1]) for cells in drawn.rows] == pytest.approx(by_size)
    reason = "one launch of each; a verdict needs at least 4 on each side"
    assert statements.answer(found).startswith(
        f"None of the 4 figures has a verdict: {reason}. The speed of B over A is"
    )
    shown = [line.plain.strip() for line in text.lines(found)]
    assert shown.count(reason) == 1, "the reason that all figures have is printed once"
    assert {one.word for one in both} == {"insufficient data"}
    assert reason in page.render(found).replace("\u202f", " ")


def test_the_reason_counts_the_launches_of_both_sides(store: Store) -> None:
    found = compared(store, imported(store), measured(store, 6))
    assert "1 launch of A and 6 of B; a verdict needs at least 4 on each side" in statements.answer(found)


def lines_of(found: Comparisons) -> list[str]:
    return [line for step in statements.steps(found) for line in step.lines]


def test_an_imported_run_is_never_advised_to_be_measured_again(store: Store) -> None:
    name = imported(store)
    found = compared(store, name, measured(store, 1))
    (step,) = statements.steps(found)
    assert "A was imported: give all output files of the benchmark to one octant import" in step.body
    again, compare_line = step.lines
    assert again.startswith("octant run mpi/p2p pattern=pingpong bytes=4096,0,64,1024 buffers=hot --ranks=2")
    assert again.endswith(" --repeats 6")
    assert compare_line == f"octant compare {name} last"
    enough = compared(store, name, measured(store, 6, "29991127-000001-aaaa"))
    assert lines_of(enough) == [], "more launches of the measured side alone give no verdict"
    assert statements.steps(enough)


@pytest.mark.parametrize(
    ("is_imported", "systems"),
    [
        ((True, False), ("", "")),
        ((False, True), ("", "")),
        ((True, True), ("", "")),
        ((False, False), ("", "")),
        ((False, False), ("", "6.20")),
    ],
)
def test_each_advised_command_is_one_and_is_not_refused_for_the_reason_at_hand(
    store: Store, is_imported: Sequence[bool], systems: Sequence[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [
        imported(store) if one else measured(store, 1, f"29991127-00000{number}-aaaa", systems[number])
        for number, one in enumerate(is_imported)
    ]
    found = compared(store, *names)
    for line in lines_of(found):
        command_lines.read(line)
        words = command_lines.words_of(line)
        if "--rounds" in words:
            check_rounds_repeatable(store.read(names[0]), store.read(names[1]), monkeypatch)
        elif words[0] == "compare":
            done = CliRunner().invoke(application(), [*words, "--store", str(store.root)])
            assert done.exit_code == 0, done.exception
    rounds_work = not any(is_imported) and systems[0] == systems[1]
    assert any("--rounds" in line for line in lines_of(found)) == rounds_work


def check_rounds_repeatable(before: StoredRun, after: StoredRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that neither side is refused on a machine with the conditions of A."""
    monkeypatch.setattr(interleaved, "recorded_environment", lambda: dict(before.environment))
    monkeypatch.setattr(interleaved, "check_startable", lambda *_: None)
    monkeypatch.setattr(interleaved, "check_requests", lambda _: None)
    for name, run in (("A", before), ("B", after)):
        interleaved.check_repeatable(name, run, run.requests, before.machine)


def test_rounds_of_runs_under_different_conditions_are_refused(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [
        measured(store, 1, f"29991127-00000{number}-aaaa", kernel) for number, kernel in enumerate(("6.18", "6.20"))
    ]
    found = compared(store, *names)
    (step,) = statements.steps(found)
    assert "A and B differ in kernel, so they cannot be interleaved" in step.body
    with pytest.raises(Refusal, match=r"cannot measure B again .*kernel was 6\.20 and is 6\.18"):
        check_rounds_repeatable(store.read(names[0]), store.read(names[1]), monkeypatch)


def test_figures_that_are_not_measurable_have_a_ratio_and_no_verdict(store: Store) -> None:
    build = {"compiler": "g++ 12.2.0", "optimised": True, "faults_compiled": True}
    names = [measured(store, 4, f"29991127-00000{number}-aaaa", build=build) for number in range(2)]
    found = compared(store, *names)
    assert {(one.word, one.verdict) for one in found.figures} == {("not measurable", None)}
    assert ratios_shown(found) == pytest.approx([1.0] * 4)
    assert (found.compared, len(found.undecided)) == (0, 4), "a gate does not pass"
    shown = "\n".join(line.plain for line in text.lines(found))
    assert "Not measurable: ratios without a verdict (4)" in shown
    assert "so there is no verdict" in statements.answer(found)
    rendered = page.render(found)
    assert "fault-injection build" in rendered
    one_sided = compared(store, names[0], measured(store, 4, "29991127-000002-aaaa"))
    assert {one.word for one in one_sided.figures} == {"not comparable"}, "they do not do the same"
    assert ratios_shown(one_sided) == []
