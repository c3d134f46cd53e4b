"""Histories of figures: which points are one series, what changed, and which runs count, on three recorded machines."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import trees
from fake_run import machine
from made_history import night, triad_run, values_of
from octant.analysis.history import FigureHistory, SeriesOfPoints, collect_series, read_history, words_of
from octant.analysis.history_names import select
from octant.analysis.previous import kind_of, kind_text, previous_run
from octant.failure import Refusal
from octant.machine import Machine
from octant.store import Store, StoredRun
from octant.store.run_request import StudyRequest
from octant.tile import DeclaredScreen, DeclaredTile, NamedFigure
from program_run import Seen, launches, request_of, stored_program

MACHINES = ("altra-1s", "laptop-6p8e", "kvm-xeon-2cpu")


def series_of(runs: Sequence[StoredRun], defaults: Mapping[str, str] | None = None) -> list[SeriesOfPoints]:
    return collect_series(runs, lambda _workload: defaults or {})


def history_of(runs: Sequence[StoredRun], words: Sequence[str] = ("triad",)) -> FigureHistory:
    series = series_of(runs)
    one, metric = select(words, series)
    return read_history(one, {run.id: run for run in runs}, words_of(one, series, metric), metric)


def nights(on: Machine, number: int, slower_from: int | None = None) -> list[StoredRun]:
    """A run a night, 7 % slower with another kernel from one night on."""
    made = []
    for n in range(number):
        is_slow = slower_from is not None and n >= slower_from
        rate, kernel = (27.9e9, "6.12") if is_slow else (30e9, "6.1")
        made.append(triad_run(values_of(rate, seed=n), night(n), on, {"kernel": kernel}))
    return made


@pytest.mark.parametrize("name", MACHINES)
def test_a_planted_step_is_found_on_recorded_machines_with_what_changed(name: str, tmp_path: Path) -> None:
    found = history_of(nights(trees.machine(name), 16, slower_from=10))
    (step,) = found.search.steps
    row = found.sessions[step.first]
    assert (step.first, step.direction, row.begun) == (10, "slower", night(10))
    assert row.changes == (("kernel", "6.1", "6.12"),)
    assert all(not other.changes for other in found.rows if other is not row)
    assert step.shift.middle == pytest.approx(-0.0726, abs=0.01)


@pytest.mark.parametrize("name", MACHINES)
def test_a_quiet_history_reports_nothing(name: str, tmp_path: Path) -> None:
    found = history_of(nights(trees.machine(name), 16))
    assert (found.search.steps, found.search.suspicion, found.search.sessions) == ((), None, 16)


def test_three_runs_are_too_few_for_a_step(tmp_path: Path) -> None:
    found = history_of(nights(machine(), 3, slower_from=2))
    assert not found.search.is_enough


def test_runs_within_an_hour_are_one_session(tmp_path: Path) -> None:
    minutes = [0, 59, 61, 119, 122]
    runs = [triad_run(values_of(30e9, seed=n), night(n_minutes / 1440)) for n, n_minutes in enumerate(minutes)]
    found = history_of(runs)
    assert [row.session for row in found.rows] == [0, None, 1, None, 2]
    assert found.rows[1].why_not == "within an hour of the session before"
    assert found.search.sessions == 3


def test_wrong_and_invalid_values_are_shown_and_not_counted(tmp_path: Path) -> None:
    runs = nights(machine(), 4)
    wide = triad_run([30e9, 3e9, 60e9], night(5))
    found = history_of([*runs, wide])
    assert [row.run.id for row in found.rows][-1] == wide.id
    assert found.search.sessions == 5, "a wide interval is a value, like in a comparison"


def test_knobs_and_placements_are_series_of_their_own_and_builds_are_not(tmp_path: Path) -> None:
    plain = triad_run(values_of(30e9), night(0))
    pages = triad_run(values_of(40e9), night(1), knobs={"kernel": "triad", "bytes": "1GiB", "pages": "thp"})
    respelled = triad_run(values_of(30e9), night(2), knobs={"kernel": "triad", "bytes": "1024MiB"})
    assert sorted(len(one.points) for one in series_of([plain, pages, respelled])) == [1, 2]


def test_a_new_knob_with_its_default_continues_the_series(tmp_path: Path) -> None:
    old = triad_run(values_of(30e9), night(0))
    new = triad_run(values_of(30e9), night(1), knobs={"kernel": "triad", "bytes": "1GiB", "stride": "1"})
    (one,) = series_of([old, new], {"stride": "1"})
    assert len(one.points) == 2
    assert len(series_of([old, new], {"stride": "2"})) == 2


def test_a_changed_definition_begins_another_series(tmp_path: Path) -> None:
    old = triad_run(values_of(30e9), night(0))
    new = triad_run(values_of(30e9), night(1), counted=4_000_000)
    series = series_of([old, new])
    assert [len(one.points) for one in series] == [1, 1]
    assert len({one.id for one in series}) == 2
    with pytest.raises(Refusal, match="fits 2 figures") as refused:
        select(["triad"], series)
    lines = [line.split()[2:] for line in str(refused.value).splitlines()[1:]]
    assert sorted(map(len, lines)) == [2, 2], "nothing but the id distinguishes them"
    assert {select(line, series)[0].id for line in lines} == {one.id for one in series}


def test_every_figure_is_selected_by_the_words_that_are_listed(tmp_path: Path) -> None:
    runs = [
        triad_run(values_of(30e9), night(n), knobs=knobs, label=label)
        for n, (label, knobs) in enumerate(
            (label, {"kernel": kernel, "bytes": size, "pages": pages})
            for label, kernel in (("Triad", "triad"), ("Copy", "copy"))
            for size in ("1GiB", "32KiB,64KiB")
            for pages in ("base", "thp")
        )
    ]
    series = series_of(runs)
    for one in series:
        for metric in one.workload.metrics:
            assert select(shlex.split(words_of(one, series, metric.name)), series) in (
                (one, metric.name), (one, "") if metric is one.workload.metrics[0] else None,
            )  # fmt: skip


def test_figures_are_selected_by_tile_title_workload_and_metric(tmp_path: Path) -> None:
    screen = DeclaredScreen(
        tiles=(DeclaredTile("Memory", "bandwidth", (NamedFigure("Triad", {"pages": "thp"}, "traffic"),)),)
    )
    knobs = {"kernel": "triad", "bytes": "1GiB"}
    runs = [
        triad_run(values_of(30e9), night(0), knobs={**knobs, "pages": "base"}),
        triad_run(values_of(40e9), night(1), knobs={**knobs, "pages": "thp"}, screen=screen),
        triad_run(values_of(50e9), night(2), knobs={**knobs, "kernel": "copy"}, label="Copy"),
    ]
    series = series_of(runs)
    by_pages = {one.attributes.get("pages", ""): one for one in series}
    assert select(["memory"], series) == (by_pages["thp"], "traffic")
    assert select(["Copy"], series) == (by_pages[""], "")
    assert select(["node/stream", "pages=base"], series) == (by_pages["base"], "")
    assert select(["triad", "pages=thp", "traffic"], series) == (by_pages["thp"], "traffic")
    with pytest.raises(Refusal, match="fits 3 figures"):
        select(["stream"], series)
    with pytest.raises(Refusal, match="cannot find the figure 'tirad'"):
        select(["tirad"], series)


def test_a_program_has_a_history_across_its_builds(tmp_path: Path) -> None:
    for n in range(13):
        wall = (1.2 if n >= 8 else 1.0) * (1 + 0.002 * (n * 7 % 5 - 2))
        seen = launches(Seen(wall=wall, build={"./solve": f"build {n >= 8}"}))
        stored_program(tmp_path, request_of(("./solve", "input")), [seen], night(n))
    runs = Store(tmp_path).runs()
    found = history_of(runs, ("solve",))
    (step,) = found.search.steps
    assert (step.first, step.direction) == (8, "slower")
    assert [what for what, _, _ in found.sessions[8].changes] == ["build of the program"]


def found_previous(runs: Sequence[StoredRun]) -> str:
    """The title of the run that the last of these is compared with."""
    *others, last = runs
    found = previous_run(last, reversed(others), lambda _workload: {})
    return found.run.title if found else ""


STUDY = StudyRequest("page-size", 1, "")
KINDS: dict[str, dict[str, Any]] = {
    "evaluate": {"who": "evaluate", "benchmark": "evaluate"},
    "hpcc": {"who": "hpcc", "benchmark": "hpcc"},
    "suite": {"who": "suite ours"},
    "study": {"who": "study page-size", "study": STUDY},
    "run": {"who": "run"},
}


@pytest.mark.parametrize("kind", KINDS)
def test_previous_is_the_last_run_of_the_same_kind(kind: str, tmp_path: Path) -> None:
    def made(name: str, number: int) -> StoredRun:
        return triad_run([30e9], night(number), **{**KINDS[name], "title": f"{name} {number}"})

    older = [made(kind, 0), made(kind, 1)]
    others = [made(name, 2 + number) for number, name in enumerate(KINDS) if name != kind]
    last = made(kind, 9)
    assert found_previous([*older, *others, last]) == f"{kind} 1"
    assert kind_text(last) in ("evaluate", "hpcc", "suite ours", "study page-size", "run of node/stream")


def test_runs_of_other_workloads_are_of_another_kind(tmp_path: Path) -> None:
    own = triad_run([30e9], night(0))
    program = stored_program(tmp_path, request_of(), [launches(Seen())])
    assert kind_of(own) != kind_of(program)
    assert kind_of(own) == kind_of(triad_run([30e9], night(1), knobs={"kernel": "copy"}))


def test_a_study_with_one_common_figure_is_not_previous_of_another_kind(tmp_path: Path) -> None:
    study = triad_run([30e9], night(0), **{**KINDS["study"], "title": "study"})
    last = triad_run([30e9], night(1), **{**KINDS["evaluate"], "title": "last"})
    assert not found_previous([study, last])
    run = triad_run([30e9], night(0.5), title="run")
    assert found_previous([study, run, last]) == "run"


def test_a_stopped_run_with_few_figures_is_passed_over(tmp_path: Path) -> None:
    def made(number: int, sizes: int, title: str) -> StoredRun:
        knobs = {"kernel": "triad", "bytes": ",".join(f"{1 << n}KiB" for n in range(sizes))}
        return triad_run([30e9], night(number), knobs=knobs, title=title)

    whole, stopped, last = made(0, 4, "whole"), made(1, 1, "stopped"), made(2, 4, "last")
    assert found_previous([whole, stopped, last]) == "whole"
    assert found_previous([stopped, last]) == "stopped", "if there is no better one"
