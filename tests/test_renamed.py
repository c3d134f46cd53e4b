"""Every old name that a workload declares is read from a record, a request, a suite, a study and a command line."""

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from fake_run import lane, machine, point, point_line
from octant import renamed, suites
from octant.build.describe import describe
from octant.failure import RenamedWarning
from octant.launch import Planned
from octant.record import Failure, Head, Point, Result, Work
from octant.record.lines import read_line
from octant.record.writer import failure_line
from octant.renamed import OldNames, old_names
from octant.request import Launch, Presentation, Request, Shape, Subject
from octant.runs import command_line
from octant.store.run_request import RunRequest, read_decided, read_run_request, run_request_text, start_line
from octant.study import file
from octant.study.design import design
from octant.tile import Also, DeclaredScreen, DeclaredTile, NamedFigure, TileComparison
from octant.workloads import workloads
from paths import Octant


@dataclass(frozen=True)
class OldKnobs:
    """A knob of a workload under an old name or with an old value, and the current form."""

    workload: str
    old: Mapping[str, str]
    new: Mapping[str, str]

    def __str__(self) -> str:
        return f"{self.workload} {self.note}"

    @property
    def note(self) -> str:
        """The note that the command prints."""
        ((old, value), (new, current)) = (*self.old.items(), *self.new.items())
        return f"{old}={value} is now {new}={current}"


def _old_knobs() -> Iterator[OldKnobs]:
    for name, names in old_names().items():
        for old, new in names.knobs.items():
            value = next(iter(names.values.get(new, {}).values()), "1")
            yield OldKnobs(name, {old: value}, {new: value})
        for knob, values in names.values.items():
            yield from (OldKnobs(name, {knob: old}, {knob: new}) for old, new in values.items())


KNOBS = list(_old_knobs())
WORKLOADS = old_names().items()
every_knob = pytest.mark.parametrize("case", KNOBS, ids=str)
every_workload = pytest.mark.parametrize(
    ("name", "names"), WORKLOADS, ids=lambda one: one if isinstance(one, str) else ""
)


def test_there_are_old_names_of_every_kind_of_use() -> None:
    assert {case.note for case in KNOBS} >= {
        "pattern=window is now pattern=rob-size", "beside=1 is now overlap=1",
        "pattern=write-beside is now pattern=overlapped-write",
    }  # fmt: skip
    assert renamed.spellings()["2m"] == "2MiB"


@every_workload
def test_current_names_exist_and_old_ones_do_not(
    name: str, names: OldNames, kernels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OCTANT_KERNELS", str(kernels))
    workload, described = workloads()[name], describe(name)
    metrics = {metric.name for metric in workload.metrics}
    knobs = {knob.name: set(knob.choices) for knob in described.knobs}
    rows = [described.raw, *described.raw.get("rows", {}).values()]
    phases = {part for row in rows for phase in row.get("phases", ()) for part in phase.split("/")}
    readings = {reading["name"] for row in rows for reading in row.get("readings", ())}
    for renames, known in (
        (names.metrics, metrics),
        (names.knobs, set(knobs)),
        (names.phases, phases),
        (names.readings, readings),
    ):
        assert set(renames.values()) <= known
        assert not set(renames) & known
    for knob, values in names.values.items():
        assert not set(values) & knobs[knob]
        assert set(values.values()) <= knobs[knob] or not knobs[knob]
    assert {one.name for one in names.workload}.isdisjoint(workloads())


@every_knob
def test_an_old_knob_of_a_point_and_of_a_failure_is_read_as_the_current_one(case: OldKnobs) -> None:
    measured = point("steps", workload=case.workload, knobs=dict(case.old))
    found = read_line(point_line(measured).encode())
    assert isinstance(found, Point)
    assert dict(found.knobs) == {**found.knobs, **case.new}
    assert not case.old.items() & found.knobs.items()
    current = read_line(point_line(replace(measured, knobs=dict(case.new))).encode())
    assert found == current
    failure = read_line(failure_line(Failure(case.workload, "a-0", case.old, 1, "why", 3)).encode())
    assert failure == Failure(case.workload, "a-0", case.new, 1, "why", 3)


@every_workload
def test_old_series_results_counts_and_roles_of_a_point_are_read_as_current_ones(name: str, names: OldNames) -> None:
    def of(kind: int) -> Point:
        phases, readings, results, counts, roles = (
            [pair[kind] for pair in table.items()]
            for table in (names.phases, names.readings, names.results, names.counts, names.roles)
        )
        role = roles[0] if roles else ""
        heads = [Head("step"), *(Head(f"phase/{one}/{two}") for one, two in zip(phases, reversed(phases), strict=True))]
        heads += [Head(f"phase/{one}", role=role) for one in phases] + [
            Head(f"reading/{one}", unit="1") for one in readings
        ]
        made = point(
            "steps", workload=name, results=tuple(Result(one, 1.0, "1") for one in results),
            lanes=tuple(replace(lane([1, 2, 3]), head=head) for head in heads),
        )  # fmt: skip
        return replace(made, work=(Work(dict.fromkeys(counts, 1), role=role, by_rank=dict.fromkeys(counts, (1,))),))

    old, new = (read_line(point_line(of(kind)).encode()) for kind in (0, 1))
    assert isinstance(old, Point)
    assert isinstance(new, Point)
    assert old == new
    assert [one.head for one in old.read().series] == [one.head for one in new.read().series] == list(old.heads)


@every_knob
def test_an_old_knob_of_a_stored_request_gives_the_current_request_and_the_keys_of_its_launches(case: OldKnobs) -> None:
    old, new = (Request(Subject(case.workload), knobs, Shape(2), repeats=2) for knobs in (case.old, case.new))
    stored = read_run_request(
        run_request_text(RunRequest("run", "", "2026-11-22T07:35:00+00:00", machine(), {}, (old,), ((0, 1),))).encode()
    )
    assert stored.requests == (new,)
    assert stored.requests[0].key == new.key != old.key
    assert stored.keys == {f"{old.key}-{n}": f"{new.key}-{n}" for n in (0, 1)}
    line = start_line(Planned(Launch(old, 1), ("x",), {}, "", (), 1.0, 2.0, ""), was_asked=True)
    decided = read_decided(line.encode(), {request.key: request for request in stored.requests}, stored.keys)
    assert isinstance(decided, Planned)
    assert (decided.launch.key, dict(decided.launch.started_knobs)) == (f"{new.key}-1", dict(case.new))


def test_a_stored_first_screen_names_current_knobs_and_metrics() -> None:
    def screen(pattern: str, metric: str) -> DeclaredScreen:
        figure = NamedFigure("Core", {"pattern": pattern}, metric)
        compared, also = TileComparison("{share}", figure, figure), (Also("value", "", figure), Also("time lost"))
        return DeclaredScreen(tiles=(DeclaredTile("Core", "", (figure,), compared=compared, also=also),))

    request = Request(Subject("node/core"), {"pattern": "rob-size"}, show=Presentation("Core"))
    start = "2026-11-22T07:35:00+00:00"
    stored = RunRequest("run", "", start, machine(), {}, (request,), (), screen=screen("window", "window"))
    assert read_run_request(run_request_text(stored).encode()).screen == screen("rob-size", "rob size")


def _toml(knobs: Mapping[str, str]) -> str:
    return "{ " + ", ".join(f'{name} = "{value}"' for name, value in knobs.items()) + " }"


@every_knob
def test_an_old_knob_in_a_suite_works_with_a_note(case: OldKnobs, tmp_path: Path) -> None:
    def requests(knobs: Mapping[str, str]) -> tuple[Request, ...]:
        suite = tmp_path / "suite.toml"
        suite.write_text(
            f'title = "t"\n[[requests]]\nworkload = "{case.workload}"\ntitle = "a"\nknobs = {_toml(knobs)}\n'
        )
        return suites.requests(suites.load(str(suite)), machine())

    with pytest.warns(RenamedWarning) as notes:
        old = requests(case.old)
    assert [str(note.message) for note in notes] == [case.note]
    assert old == requests(case.new)


@every_knob
@pytest.mark.parametrize("where", ["study", "measure", "level", "level of measure"])
def test_an_old_knob_in_a_study_works_with_a_note(case: OldKnobs, where: str) -> None:
    def text(knobs: Mapping[str, str]) -> str:
        at = {
            place: _toml(knobs if place == where else {}) for place in ("study", "measure", "level", "level of measure")
        }
        return (
            f'question = "?"\nknobs = {at["study"]}\nbaseline = {{ f = "a" }}\n'
            f'[measures.m]\nworkload = "{case.workload}"\nknobs = {at["measure"]}\n'
            f"[factors.f]\na = {{}}\nb = {{ knobs = {at['level']}, measures = {{ m = {at['level of measure']} }} }}\n"
        )

    with pytest.warns(RenamedWarning) as notes:
        old = file.parse(text(case.old), "s")
    assert [str(note.message) for note in notes] == [case.note]
    new = file.parse(text(case.new), "s")
    assert old == new == file.parse(text(case.old), "s", stored=True)
    assert [request.key for request in design(old, machine(), 1).requests] == [
        request.key for request in design(new, machine(), 1).requests
    ]


def test_old_values_along_an_axis_of_a_study_and_in_its_tests_work_with_a_note() -> None:
    def text(first: str, second: str) -> str:
        return f"""question = "?"
baseline = {{ f = "a" }}
[measures.m]
workload = "core"
axis = {{ knob = "pattern", values = ["{first}", "{second}"] }}
[factors.f]
a = {{}}
b = {{ knobs = {{ seed = "2" }} }}
[[findings]]
id = "own"
statement = "b is faster"
test = {{ kind = "ratio", measure = "m", of = {{ f = "b" }}, at = "{second}", bar = {{ above = 1.0 }} }}
"""

    with pytest.warns(RenamedWarning):
        old = file.parse(text("window", "misses"), "s")
    assert old == file.parse(text("rob-size", "mlp"), "s")


@every_workload
def test_old_metrics_and_former_names_in_a_study_work_with_a_note(name: str, names: OldNames) -> None:
    def text(workload: str, metric: str) -> str:
        measure = f'[measures.m]\nworkload = "{workload}"\nmetric = "{metric}"\n'
        factors = '[factors.f]\na = {}\nb = { knobs = { seconds = "1" } }\n'
        return f'question = "?"\nbaseline = {{ f = "a" }}\n{measure}{factors}'

    for old, new in names.metrics.items():
        with pytest.warns(RenamedWarning, match=f"^metric {old} is now {new}$"):
            assert file.parse(text(name, old), "s") == file.parse(text(name, new), "s")
    for former in names.workload:
        for old in (former.name, former.name.rpartition("/")[2]):
            with pytest.warns(RenamedWarning, match=f"^workload {old} is now {name}$"):
                assert file.parse(text(old, ""), "s") == file.parse(text(name, ""), "s")


@every_knob
def test_an_old_knob_on_the_command_line_works_with_a_note(
    case: OldKnobs, kernels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OCTANT_KERNELS", str(kernels))
    ((old_knob, _), (knob, value)) = (*case.old.items(), *case.new.items())
    if old_knob != knob:
        value = next(one.default for one in describe(case.workload).knobs if one.name == knob)
        case = OldKnobs(case.workload, {old_knob: value}, {knob: value})
    with pytest.warns(RenamedWarning) as notes:
        old = command_line.read_knobs(case.workload, [f"{name}={value}" for name, value in case.old.items()])
    assert [str(note.message) for note in notes] == [case.note]
    assert (
        old
        == command_line.read_knobs(case.workload, [f"{name}={value}" for name, value in case.new.items()])
        == case.new
    )


def test_the_command_prints_a_note_once(octant: Octant) -> None:
    done = octant("workloads", "pingpong")
    assert done.returncode == 0
    assert done.stderr.splitlines() == ["octant: note: workload pingpong is now mpi/p2p"]


def test_shipped_suites_and_studies_contain_no_old_names() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", RenamedWarning)
        assert not suites.entries().broken
        assert not file.entries().broken


def test_a_workload_with_unreadable_old_names_is_reported(tmp_path: Path) -> None:
    (tmp_path / renamed.FILE).write_text("[knob]\na = 'b'\n")
    with pytest.raises(ValueError, match="unknown field `knob`"):
        renamed.check(tmp_path)
