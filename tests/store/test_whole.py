"""Every member of what a run asked and started is read back into its own place: here each has a value of its own."""

import dataclasses
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from fake_kernel import request
from fake_run import fake_run, machine, write_run
from octant.failure import Exit, Refusal
from octant.launch import Planned
from octant.limit import StoredLimit
from octant.machine import codec
from octant.placement import RankPlacement
from octant.record import RecordError
from octant.record.writer import seal, unseal
from octant.request import Launch, Presentation, Request, Shape, Subject
from octant.store import Pair, Store, StudyRequest, files, format1, new_ids, open_store
from octant.store.index import Listed
from octant.store.progress import path_of, progress_of, remove_leftovers
from octant.store.run_request import (
    ImportedFile,
    ProvenSetting,
    RunRequest,
    read_decided,
    read_run_request,
    run_request_text,
    start_line,
)
from octant.tile import DeclaredScreen
from screen_run import SCREEN

REQUEST = Request(
    Subject("mpi/p2p"), {"bytes": "1KiB"},
    Shape(2, "2x1", ("n1", "n2"), "mpiexec", "1Gbit/s,delay=1ms", ("threads",)),
    {"UCX_TLS": "tcp"}, Presentation("a curve", False, "curve", "PTRANS", {"bytes": {"1048576": "L2"}}, "limit"), 3,
)  # fmt: skip
OTHER = Request(Subject("", ("sleep", "1")), repeats=2)
STUDY = StudyRequest(
    "page-size", 7, "question = '?'", "mpich", {"A": "why"}, {"m a": "key"}, {"m b": "absent"}, {"m": {"1": "1KiB"}}
)
ASKED = RunRequest(
    "study page-size", "a question", "2026-11-22T07:35:00+00:00", machine(), {"OMP_NUM_THREADS": "2"}, (REQUEST, OTHER),
    ((1, 1), (0, 2), (0, 0)), 5, STUDY,
    settings=(ProvenSetting("eager-limit=1KiB", {"X": "1024"}, {"X": ("1024", "1K")}, "effect", "seen", "doubted"),),
    pair=Pair("20261122-073500-1111", "20261121-073500-2222", 6, "any time"), screen=SCREEN,
    imported=(
        ImportedFile("IMB 2021.11", "MPI Benchmarks 2021.11", "a", ("line 7 was not read",), (9, 2, 1), ("line 8",)),
    ),
    benchmark="hpcc",
    limits=(StoredLimit("fma double", 1e11, (0, 2), "20261121-0735", "2026-11-22T05:35:00+00:00", "huge pages"),),
)  # fmt: skip
PLANNED = Planned(
    Launch(REQUEST, 2, {"bytes": "2KiB"}), ("mpiexec", "-n", "2"), {"OMP_PLACES": "cores"}, "mpiexec",
    (RankPlacement.of_threads(0, ({0}, {1}), (0,)),
     RankPlacement.of_threads(1, ({2, 3},), (1, 2))),
    11.5, 22.5, "0123456789abcdef",
)  # fmt: skip


def test_no_member_here_has_its_default() -> None:
    """A member with its default would be read back even if nothing wrote or read it."""
    assert ASKED.pair is not None
    examples = (
        REQUEST, REQUEST.shape, REQUEST.show, ASKED, STUDY, ASKED.settings[0], ASKED.pair, ASKED.imported[0],
        ASKED.limits[0],
    )  # fmt: skip
    for example in examples:
        for member in dataclasses.fields(example):
            default = member.default_factory() if callable(member.default_factory) else member.default
            left = member.name == "keys"  # which only a run with renamed workloads has
            assert left or getattr(example, member.name) != default, (type(example), member.name)


def test_every_member_of_a_description_is_read_back() -> None:
    assert read_run_request(run_request_text(ASKED).encode()) == ASKED
    least = dataclasses.replace(
        ASKED, study=None, settings=(), pair=None, screen=DeclaredScreen(), order=(), imported=(), limits=()
    )
    assert read_run_request(run_request_text(least).encode()) == least
    assert not json.loads(run_request_text(least)).keys() & {
        "study",
        "settings",
        "pair",
        "screen",
        "imported",
        "limits",
    }


@pytest.mark.parametrize("order", [[[0, 3]], [[1, 2]], [[2, 0]]])
def test_an_order_names_launches_that_were_asked(order: list[list[int]]) -> None:
    members = json.loads(run_request_text(ASKED))
    assert read_run_request(json.dumps({**members, "order": [[0, 2], [1, 1]]}).encode()).order == ((0, 2), (1, 1))
    with pytest.raises(ValueError, match=r"its order names launch \d of request \d, which does not exist"):
        read_run_request(json.dumps({**members, "order": order}).encode())


@pytest.mark.parametrize("was_asked", [True, False])
def test_every_member_of_a_start_is_read_back(was_asked: bool) -> None:
    line = start_line(PLANNED, was_asked).encode()
    assert read_decided(line, {REQUEST.key: REQUEST} if was_asked else {}, {}) == PLANNED
    members = json.loads(line)
    assert (members["format"], members["kind"]) == (2, "start")
    assert ("ask" in members) != was_asked


def test_a_start_without_a_request_is_no_start() -> None:
    line = start_line(PLANNED, True).encode()
    with pytest.raises(RecordError, match=f"the launch {PLANNED.launch.key} was not requested"):
        read_decided(line, {}, {})
    members = json.loads(unseal(line))
    members.pop("crc")
    with pytest.raises(RecordError, match="was not requested"):
        read_decided(seal({**members, "repeat": 1}).encode(), {REQUEST.key: REQUEST}, {})
    with pytest.raises(RecordError, match="a field is missing or wrong"):
        read_decided(seal({**members, "repeat": "x"}).encode(), {REQUEST.key: REQUEST}, {})


def test_a_start_that_cannot_be_read_is_named_with_its_reason(tmp_path: Path) -> None:
    run = Store(tmp_path).create("q", machine(), [request()])
    planned = dataclasses.replace(PLANNED, launch=dataclasses.replace(run.launches[0], knobs={"bytes": "1KiB"}))
    run.plan.write_text(f"{start_line(planned, True)}\n{start_line(PLANNED, True)}\n")
    read = Store(tmp_path).read(run.id)
    assert read.plans == {planned.launch.key: planned}
    assert read.damaged == (f"plan.jsonl, line 2: the launch {PLANNED.launch.key} was not requested",)


def test_progress_is_that_of_the_launch(tmp_path: Path) -> None:
    records = tmp_path / "records.jsonl"
    assert progress_of(records, "halo-0") is None
    path_of(records).write_text('{"launch": "halo-0", "share": 0.25, "phase": "fill"}')
    found = progress_of(records, "halo-0")
    assert found is not None
    assert (found.share, found.phase) == (0.25, "fill")
    assert progress_of(records, "halo-1") is None
    path_of(records).write_text('{"launch": "halo-0", "sha')
    assert progress_of(records, "halo-0") is None


def test_a_run_that_is_not_there_is_refused_with_the_five_newest(tmp_path: Path) -> None:
    store = Store(tmp_path)
    ids = sorted(store.create("q", machine(), [request()]).id for _ in range(7))
    with pytest.raises(Refusal) as refusal:
        store.find("nothing")
    assert refusal.value.code == Exit.WRONG_WORD
    assert [one for one in ids if one in str(refusal.value)] == ids[-5:]
    assert "last" in str(refusal.value)


def test_a_line_is_torn_where_its_end_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    for text, torn in (("", False), ("a\n", False), ("a\nb", True), ("\n", False), ("a", True)):
        path.write_text(text)
        descriptor = files.open_for_append(path)
        assert files.is_torn(descriptor) == torn, repr(text)
        files.append_line(descriptor, "next")
        os.close(descriptor)
        assert path.read_text() == text + "\n" * torn + "next\n"


def test_a_torn_line_is_ended_once(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_text("a\nb")
    descriptor = files.open_for_append(path)
    for _ in range(2):
        files.end_torn_line(descriptor)
        assert path.read_text() == "a\nb\n"
    os.close(descriptor)


FIRST: dict[str, Any] = {
    "schema": 1, "title": "page sizes", "started": "2026-11-22T07:35:00+00:00", "machine": codec.to_json(machine()),
    "environment": {"OMP_NUM_THREADS": "2"},
    "launches": [
        {"workload": "stream", "mode": "one", "ranks": 2, "knobs": {"bytes": "1MiB"}, "title": "a row", "repeat": 1,
         "table": False, "place": "2x1", "launcher": "mpiexec", "hosts": ["n1"], "mpi": {"UCX_TLS": "tcp"}},
        {"workload": "unheard", "mode": "one", "ranks": 2, "knobs": {}},
        {"workload": "stream", "mode": "one", "ranks": 2, "knobs": {"bytes": "1MiB"}, "title": "a row", "repeat": 0,
         "table": False, "place": "2x1", "launcher": "mpiexec", "hosts": ["n1"], "mpi": {"UCX_TLS": "tcp"}},
    ],
    "study": {"name": "page-size", "seed": 7, "text": "question = '?'", "library": "mpich", "lacking": {"A": "why"}},
}  # fmt: skip


def test_every_member_of_a_description_of_format_1_is_read() -> None:
    found = format1.read_run_request(json.dumps(FIRST).encode())
    row = Request(
        Subject("node/stream"), {"bytes": "1MiB"}, Shape(2, "2x1", ("n1",), "mpiexec"), {"UCX_TLS": "tcp"},
        Presentation("a row", False), 2,
    )  # fmt: skip
    plain = Request(Subject("unheard"), {}, Shape(2))
    assert dataclasses.replace(found, keys={}) == RunRequest(
        "study page-size", "page sizes", "2026-11-22T07:35:00+00:00", machine(), {"OMP_NUM_THREADS": "2"},
        (row, plain), ((0, 1), (1, 0), (0, 0)), 7,
        StudyRequest("page-size", 7, "question = '?'", "mpich", {"A": "why"}),
    )  # fmt: skip
    assert sorted(found.keys.values()) == sorted([f"{row.key}-0", f"{row.key}-1", f"{plain.key}-0"])
    assert [old.rpartition("-")[2] for old in found.keys] == ["1", "0", "0"]


@pytest.mark.parametrize(("title", "who"), [("evaluate --quick", "evaluate"), ("stream", "run")])
def test_the_title_of_format_1_states_who_asked(title: str, who: str) -> None:
    members = {**FIRST, "title": title}
    del members["study"]
    found = format1.read_run_request(json.dumps(members).encode())
    assert (found.who, found.study, found.seed) == (who, None, 0)


def test_a_list_has_every_member_of_a_run_and_nothing_of_one_that_cannot_be_read(tmp_path: Path) -> None:
    store = Store(tmp_path)
    run = store.create("a question", machine(name="vm"), [request(2)], who="study page-size", study=STUDY)
    bad = store.create("q", machine(), [request()])
    (bad.folder / "asked.json").write_text("{")
    rows = {row.id: row for row in store.list_runs()}
    assert dataclasses.replace(rows[run.id], fingerprint="") == Listed(
        run.id, str(run.folder), "a question", "study page-size", run.started, "vm", "page-size", 0, 0, 2
    )
    assert rows[run.id].fingerprint == codec.fingerprint(run.machine)
    refused = rows[bad.id]
    assert refused.refused.startswith(f"cannot read {bad.folder / 'asked.json'}")
    assert dataclasses.replace(refused, refused="") == Listed(bad.id, str(bad.folder), "", "", "", "", "", 0, 0, 0)


def test_the_store_is_the_one_named_else_that_of_the_environment_else_one_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OCTANT_STORE", str(tmp_path / "b"))
    assert open_store(tmp_path / "a").root == tmp_path / "a"
    assert open_store().root == tmp_path / "b"
    monkeypatch.delenv("OCTANT_STORE")
    assert open_store().root == Path("octant-store")


def test_ids_of_two_runs_sort_in_their_order() -> None:
    for _ in range(20):
        first, second = new_ids()
        assert first < second
        assert re.fullmatch(r"\d{8}-\d{6}-\d{3}-[0-9a-f]{16}", first)


def test_runs_of_one_millisecond_sort_in_the_order_in_which_they_were_created(tmp_path: Path) -> None:
    store = Store(tmp_path)
    ids = [store.create("q", machine(), [request()]).id for _ in range(100)]
    assert ids == sorted(ids)


def test_samples_of_every_point_can_be_read_again(tmp_path: Path) -> None:
    run = write_run(fake_run(), tmp_path)
    assert len(run.points) > 5
    assert all(point.read().series or point.read().reduced for point in run.points)


def test_what_a_killed_kernel_leaves_is_removed_and_nothing_else(tmp_path: Path) -> None:
    records = tmp_path / "records.jsonl"
    scratch = tmp_path / "records.jsonl.scratch-7"
    (scratch / "deep").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    for name in ("kept", "octant-0123456789abcdef.0", ".octant-0123456789abcdef.1", "octant-ffffffffffffffff.0"):
        (tmp_path / "elsewhere" / name).touch()
    (scratch / "elsewhere-octant-0123456789abcdef").write_text(f"{tmp_path / 'elsewhere'}\n")
    (scratch / "elsewhere-").write_text(f"{tmp_path / 'elsewhere'}\n")  # a name that everything has
    (scratch / "elsewhere-octant-zz").write_text("no folder\0")
    (tmp_path / "records.jsonl.scratch-8").symlink_to(tmp_path / "elsewhere")
    left = ("progress", "progress.new", "link", "refusal")
    for name in ("records.jsonl", "records.jsonl.mine", *(f"records.jsonl.{end}" for end in left)):
        (tmp_path / name).touch()
    remove_leftovers(records)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["elsewhere", "records.jsonl", "records.jsonl.mine"]
    names = sorted(path.name for path in (tmp_path / "elsewhere").iterdir())
    assert names == ["kept", "octant-ffffffffffffffff.0"]
    remove_leftovers(records)
