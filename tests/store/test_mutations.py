"""A run whose files were changed at random is read, or refused with its reason: no other exception, and no hang."""

import contextlib
import copy
import io
import json
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fake_run import fake_run, stored, write_run
from octant.analysis.summary import summarise
from octant.failure import Refusal
from octant.record.writer import seal
from octant.report.export import tidy
from octant.report.page import run_page
from octant.request import Launch
from octant.store import Pair, ProvenSetting, Store, StoredRun, StudyRequest
from paths import DATA
from reports import report_of

Json: TypeAlias = Any
EXTREMES: list[Json] = [
    None, True, False, "", "x", "\0", "\u2028", "-oX", "../../x", "NaN", "0-99999999999", "f" * 10_000, "9" * 5000,
    "1," * 10_000, 0, -1, 1, 2**31, 2**63, 2**64, 10**30, -(10**30), 1.5, 1e308, -1e308, float("inf"), float("nan"),
    [], {}, [[]], [None], ["x"], [1], {"a": 1}, "0001-01-01T00:00:00+14:00", "2026-11-22",
]  # fmt: skip


@pytest.fixture(scope="module")
def run() -> Iterator[StoredRun]:
    """Return a run with a value in every member of asked.json."""
    with tempfile.TemporaryDirectory() as folder:
        whole = fake_run()
        requests = (whole.requests[0], whole.requests[-2])  # lanes that work alone, and steps of ranks together
        points = [
            point for point in whole.points if point.launch.rpartition("-")[0] in {request.key for request in requests}
        ]
        small = stored([Launch(request) for request in requests], points, whole.failures, title="evaluate")
        study = StudyRequest(
            "page-size", 7, "question = '?'", "mpich", {"A": "why"}, {"a": requests[0].key}, {}, {"m": {}}
        )
        proven = (ProvenSetting("eager-limit=1", {"A": "1"}, {"A": ("1", "2")}, "effect"),)
        whole = replace(small, study=study, settings=proven, pair=Pair("x", "y", 4))
        yield write_run(whole, Path(folder))


def places(value: Json, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where the members of a JSON value are, of long lists those at the beginning."""
    children = value.items() if isinstance(value, dict) else enumerate(value[:3]) if isinstance(value, list) else ()
    for key, child in children:
        yield (*here, key)
        yield from places(child, (*here, key))


def mutated(data: st.DataObject, value: Json) -> Json:
    """Return the value with a member deleted, renamed, repeated, retyped, or replaced by an extreme one."""
    value = copy.deepcopy(value)
    *path, last = data.draw(st.sampled_from(list(places(value))))
    at = value
    for key in path:
        at = at[key]
    how = data.draw(st.sampled_from(["delete", "rename", "repeat", "text", "extreme", "extreme", "extreme"]))
    if how == "delete":
        del at[last]
    elif how == "rename" and isinstance(at, dict):
        at[data.draw(st.sampled_from(["", "x", "self", "__class__"]))] = at.pop(last)
    elif how == "repeat" and isinstance(at, list):
        at.append(copy.deepcopy(at[last]))
    else:
        at[last] = str(at[last]) if how == "text" else copy.deepcopy(data.draw(st.sampled_from(EXTREMES)))
    return value


def check(run: StoredRun) -> None:
    """Read, list and show a run, and write its samples."""
    store = Store(run.folder.parent.parent)
    (row,) = store.list_runs()
    if row.refused:
        assert str(run.folder) in row.refused
        assert "\n" not in row.refused
        with pytest.raises(Refusal):
            store.read(run.id)
        return
    found = store.read(run.id)
    with contextlib.suppress(Refusal):
        summary = summarise(found, all_metrics=True)
        tidy.write(summary, "csv", "samples", io.BytesIO())
        assert "</html>" in run_page.render(report_of(summary))


def put(path: Path, value: str) -> None:
    path.write_text(value, encoding="utf-8", errors="surrogatepass")


@settings(max_examples=100)
@given(data=st.data())
def test_any_asked_json_is_a_run_or_refused(run: StoredRun, data: st.DataObject) -> None:
    path = run.folder / "asked.json"
    whole = path.read_text()
    try:
        put(path, json.dumps(mutated(data, json.loads(whole))))
        check(run)
    finally:
        put(path, whole)


@settings(max_examples=100)
@given(data=st.data())
def test_any_records_are_points_or_named_lines(run: StoredRun, data: st.DataObject) -> None:
    lines = run.records.read_text().splitlines()
    number = data.draw(st.integers(0, len(lines) - 1))
    record = mutated(data, {name: value for name, value in json.loads(lines[number]).items() if name != "crc"})
    try:
        text = seal(record)
    except ValueError:  # NaN
        text = json.dumps(record)
    try:
        put(run.records, "\n".join([*lines[:number], text, *lines[number + 1 :], ""]))
        check(run)
        found = Store(run.folder.parent.parent).read(run.id)
        reports = [one for one in found.damaged if f"line {number + 1}:" in one]
        assert len(found.damaged) == len(reports) <= 1
        assert len(found.points) + len(found.failures) + len(reports) >= len(run.points) + len(run.failures)
    finally:
        put(run.records, "\n".join([*lines, ""]))


@settings(max_examples=60)
@given(data=st.data())
def test_any_run_of_format_1_is_read_or_refused(data: st.DataObject, first: StoredRun) -> None:
    name = data.draw(st.sampled_from(["asked.json", "records.jsonl"]))
    path = first.folder / name
    whole = path.read_text()
    lines = [whole] if name == "asked.json" else whole.splitlines()
    number = data.draw(st.integers(0, len(lines) - 1))
    try:
        put(
            path,
            "\n".join([*lines[:number], json.dumps(mutated(data, json.loads(lines[number]))), *lines[number + 1 :]]),
        )
        check(first)
    finally:
        put(path, whole)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> StoredRun:
    source = Store(DATA / "store-format-1")
    run = min((source.read(name) for name in source.ids()), key=lambda run: run.records.stat().st_size)
    folder = tmp_path_factory.mktemp("first") / "runs" / run.id
    folder.mkdir(parents=True)
    for name in ("asked.json", "records.jsonl"):
        (folder / name).write_bytes((run.folder / name).read_bytes())
    return Store(folder.parent.parent).read(run.id)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        '{"format":2,"machine":' + "[" * 200_000,
        '{"schema":1,"machine":' + "[" * 200_000,
        "",
        "null",
        '{"format":2,"title":"\\ud800"}',
        "\udcff",
    ],
    ids=["nested", "nested machine", "nested format 1", "empty", "null", "half a letter", "no UTF-8"],
)
def test_what_is_no_object_of_ours_is_refused(run: StoredRun, text: str) -> None:
    path = run.folder / "asked.json"
    whole = path.read_text()
    try:
        put(path, text)
        check(run)
        with pytest.raises(Refusal, match="cannot read"):
            Store(run.folder.parent.parent).read(run.id)
    finally:
        put(path, whole)


def test_lists_of_values_do_not_multiply_without_end(run: StoredRun) -> None:
    path = run.folder / "asked.json"
    whole = path.read_text()
    asked = json.loads(whole)
    asked["asks"][0]["knobs"] = {f"k{i}": ",".join(map(str, range(50))) for i in range(6)}
    try:
        put(path, json.dumps(asked))
        with pytest.raises(Refusal, match="more than 300000 configurations"):
            Store(run.folder.parent.parent).read(run.id)
    finally:
        put(path, whole)
