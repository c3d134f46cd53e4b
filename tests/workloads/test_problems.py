"""Every undefined name in a declaration is reported: each name of each workload is misspelt once."""

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import pytest

from fake_run import lane, point
from octant import metric, workloads
from octant.build.describe import describe
from octant.limit import Provides
from octant.metric import Metric, rate, reading, seconds
from octant.record import Point, Result
from octant.record.lines import Reader
from octant.record.writer import seal
from octant.report.tables import workloads as page
from octant.step import Declared, Scaling, Step
from octant.workload import Curve, Picture, Probe, Stacked, Workload
from paths import DATA

RECORDED = [json.loads(line) for line in (DATA / "smoke-points.jsonl").read_text(encoding="utf-8").splitlines()]
LIMITS = [one.name for workload in workloads.workloads().values() for one in workload.provides]
NAMING: Mapping[type, tuple[str, ...]] = {
    Workload: ("bounded_by", "duplex", "alone", "apart", "smoke"),
    Provides: ("metric",),
    Probe: ("metric", "kind", "knobs"),
    Scaling: ("size", "apart", "only"),
    metric.Seconds: ("of", "per", "role"),
    metric.Rate: ("of", "counts", "role"),
    metric.Share: ("of", "to", "role"),
    metric.Reading: ("of", "role"),
    metric.NamedResult: ("name",),
    metric.OfPairs: ("readings",),
}
"""The members that hold names of something else."""
TEXTS = ("along", "title", "marks")


def misspelt(one: Any) -> Iterator[tuple[str, Any]]:
    """Each name in a part of a declaration, and the part with that name misspelt."""
    if isinstance(one, tuple):
        for n, item in enumerate(one):
            yield from ((name, (*one[:n], changed, *one[n + 1 :])) for name, changed in misspelt(item))
    elif isinstance(one, str):
        if one:
            yield one, f"{one}x"
    elif isinstance(one, Mapping):
        yield from ((key, {f"{name}x" if name == key else name: value for name, value in one.items()}) for key in one)
    elif dataclasses.is_dataclass(one):
        for member in dataclasses.fields(one):
            value = getattr(one, member.name)
            parts = value if isinstance(value, tuple) else (value,)
            if member.name in naming(one) or any(map(dataclasses.is_dataclass, parts)):
                yield from (
                    (f"{type(one).__name__}.{member.name}: {name}", dataclasses.replace(one, **{member.name: changed}))  # type: ignore[type-var]
                    for name, changed in misspelt(value)
                )


def naming(one: object) -> tuple[str, ...]:
    """The members of a part of a declaration that hold names; of pictures all but their texts do."""
    if isinstance(one, get_args(Picture)):
        return tuple(member.name for member in dataclasses.fields(one) if member.name not in TEXTS)
    return NAMING.get(type(one), ())


def recorded(name: str) -> list[Point]:
    """A few points of a workload's smoke run."""
    lines = [line for line in RECORDED if line["kind"] == "point" and line["workload"] == name]
    points = [Reader("2026-11-21T21:45:31Z").read(seal(line).encode()) for line in lines]
    return [one for one in points if isinstance(one, Point)]


@pytest.mark.parametrize("name", workloads.workloads())
def test_each_misspelt_name_of_each_workload_is_reported(kernels: Path, name: str) -> None:
    workload, described, points = workloads.workload(name), describe(name).raw, recorded(name)
    assert points
    usual = set(workload.problems(described, points, LIMITS))  # the few points lack some series
    roles = {None, *(head.role for one in points for head in one.heads)}
    needs = [need for one in workload.metrics for need in metric.needed_names(one.value)]
    unseen = {f"counts: {need.name}" for need in needs if need.role not in roles}  # of roles without a point
    tried = 0
    others = {
        name: dataclasses.replace(workload, results={name: f"{text}x"}) for name, text in workload.results.items()
    }
    for where, changed in (*misspelt(workload), *others.items()):
        if any(where.endswith(text) for text in unseen):
            continue
        tried += 1
        assert set(changed.problems(described, points, LIMITS)) - usual, where
    assert tried >= 5


def named(**changes: Any) -> Workload:
    """A workload with a metric of each sort, as its kernel describes itself below."""
    metrics = (
        Metric("rate", "1/s", "higher", rate("turns", role="driver")),
        Metric("pack", "s", "lower", seconds("phase/pack")),
    )
    return dataclasses.replace(Workload("made up", metrics, {"bytes": "8"}, "node/made-up"), **changes)


DESCRIBED: Mapping[str, Any] = {
    "knobs": [{"name": "bytes", "choices": []}, {"name": "how", "choices": ["now", "later"]}],
    "phases": ["pack"],
    "readings": [{"name": "residual", "unit": "1"}],
    "roles": [{"name": "driver", "timed": True}, {"name": "helper", "timed": False}],
}


def said(*, points: Sequence[Point] = (), described: Mapping[str, Any] | None = DESCRIBED, **changes: Any) -> list[str]:
    return named(**changes).problems(described, points)


def test_a_declaration_without_mistakes_has_no_problems() -> None:
    assert said() == []
    assert named().problems() == []
    assert said(pictures=(Curve("bytes", "pack", each=("how",)), Stacked("how", ("pack",)))) == []


@pytest.mark.parametrize(
    ("changes", "texts"),
    [
        ({"pictures": (Curve("bytes", "rates"),)}, ["picture Curve of bytes: no metric 'rates'; did you mean rate?"]),
        ({"pictures": (Curve("byte"),)}, ["picture Curve of byte: no knob or metric 'byte'; did you mean bytes?"]),
        ({"pictures": (Stacked("how", ("pakc",)),)}, ["picture Stacked of how: no phase 'pakc'; did you mean pack?"]),
        (
            {"metrics": (Metric("a", "1", "lower", reading("residual", role="helper")),)},
            ["metric 'a': role 'helper' is not timed, so it has no series; name a timed role"],
        ),
        ({"metrics": (Metric("a", "1", "lower", reading("residul")),)}, [
            "metric 'a': no series 'reading/residul'; did you mean reading/residual?"
        ]),
        ({"metrics": (Metric("a", "s", "lower", seconds()),) * 2}, ["metric 'a' is declared 2 times; rename one"]),
        ({"smoke": {"how": "soon"}}, ["smoke, knob 'how': no value 'soon'; try one of now, later"]),
        ({"aliases": {"later": {"how": "soon"}}}, [
            "alias 'later', knob 'how': no value 'soon'; try one of now, later"
        ]),
        ({"alone": ("bits",)}, ["alone: no knob 'bits'; try one of bytes, how"]),
        ({"alone": ("how",), "ours": ("never",)}, ["ours: no value 'never'; try one of now, later"]),
    ],
)  # fmt: skip
def test_what_is_misspelt_is_named_with_what_may_be_meant(changes: dict[str, Any], texts: list[str]) -> None:
    assert said(**changes) == texts


def test_points_show_counts_that_are_misspelt_and_series_that_only_an_untimed_role_would_record() -> None:
    measured = point(
        "steps",
        counts={"turns": 1},
        lanes=(lane([5] * 8, role="driver"), lane([5] * 8, name="phase/pack", role="driver")),
    )
    measured = dataclasses.replace(
        measured, work=tuple(dataclasses.replace(one, role="driver") for one in measured.work)
    )
    (lost,) = said(points=[measured])
    assert (
        lost
        == "kernel: no point has the series 'reading/residual' that it declares; a role that is timed must record it"
    )
    wrong = (Metric("rate", "1/s", "higher", rate("turn", role="driver")),)
    assert said(points=[measured], metrics=wrong)[0].startswith("metric 'rate': no point has the count 'turn' of role")


def test_a_declared_result_that_no_point_has_is_reported() -> None:
    measured = point(
        "steps", lanes=(lane([5] * 8),), results=(Result("wrong bytes", 0.0, "1", 0), Result("lost bytes", 7.0, "1"))
    )
    mine = named(metrics=(Metric("time", "s", "lower", seconds()),), results={"lost": "lost bytes"})
    assert mine.problems(points=[measured]) == []
    assert (mine.result("lost", measured), mine.result("wrong bytes", measured)) == (7.0, None)
    (said,) = dataclasses.replace(mine, results={"lost": "lost byte"}).problems(points=[measured])
    assert said == "result 'lost': no point has the result 'lost byte'; see the kernel"


def test_the_page_of_a_workload_prints_its_problems(kernels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = workloads.workload("stream")
    wrong = dataclasses.replace(stream, pictures=(Curve("bytess"), Curve("bytes", "bandwidth-x")))
    monkeypatch.setattr(page, "find_workload", lambda _name: wrong)
    text = page.workload_text("stream")
    assert (
        "Problems of the declaration\n  picture Curve of bytes: no metric 'bandwidth-x'; did you mean bandwidth or"
        in text
    )
    assert "no knob or metric 'bytess'" in text
    assert len(json.loads(page.workload_json("stream"))["problems"]) == 2
    monkeypatch.undo()
    assert "Problems of the declaration" not in page.workload_text("stream")
    assert json.loads(page.workload_json("stream"))["problems"] == []


def stepping(step: Declared, *counts: str, **changes: Any) -> list[str]:
    """The problems of a workload with this step, of whose counts a metric is a rate."""
    metrics = (Metric("rate", "1/s", "higher", rate(*counts, role="driver")),) if counts else ()
    return said(step=step, metrics=metrics, described=COMPLETE, **changes)


COMPLETE = {
    **DESCRIBED,
    "knobs": [{**knob, "default": default} for knob, default in zip(DESCRIBED["knobs"], ("8", "now"), strict=True)],
    "phases": [],
    "readings": [],
}


def of_bytes(knobs: Mapping[str, str], ranks: int, threads: int) -> Step:
    """What no value of `how` but `now` declares."""
    if knobs["how"] != "now":
        raise ValueError("nothing is known of later")
    return Step({"turns": int(knobs["bytes"]) * ranks * threads}, 8)


def test_a_step_that_is_right_is_no_problem() -> None:
    assert stepping(of_bytes, "turns") == []
    assert stepping(of_bytes, "turns", "bytes_sent", smoke={"how": "later,now"}) == []


def misspelling(knobs: Mapping[str, str], _ranks: int, _threads: int) -> Step:
    return Step({"turns": float(knobs["byts"])}, 8)


def dividing(knobs: Mapping[str, str], _ranks: int, _threads: int) -> Step:
    return Step({"turns": 1}, knobs["bytes"] / 8)  # type: ignore[operator, arg-type]


def test_mistakes_of_a_step_are_reported_with_file_and_line() -> None:
    def line(function: Declared, beyond: int = 0) -> str:
        return f"step: {__file__}, line {function.__code__.co_firstlineno + beyond}: "

    assert stepping(misspelling) == [
        f"{line(misspelling, 1)}UnknownKnobError: the kernel has no knob 'byts'; did you mean bytes?".replace(
            "byts'; ", "byts', "
        )
    ]
    assert stepping(dividing) == [f"{line(dividing, 1)}TypeError: unsupported operand type(s) for /: 'str' and 'int'"]
    nothing: Any = lambda _knobs, _ranks, _threads: None  # noqa: E731
    assert stepping(nothing) == [f"{line(nothing)}step() returns an object of type NoneType, not Step"]
    (lost,) = stepping(of_bytes, smoke={"how": "later"})
    assert lost.endswith("not declared for any value of the smoke run (ValueError: nothing is known of later)")


def test_a_count_of_a_metric_that_the_step_does_not_have_is_reported() -> None:
    assert stepping(of_bytes, "turn") == ["metric 'rate': no count 'turn'; did you mean turns?"]
    assert stepping(of_bytes, "loads", not_declared=("loads",)) == []
