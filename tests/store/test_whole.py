"""Every member of what a run asked and started is read back into its own place: here each has a value of its own."""

import dataclasses
import json
import os
from pathlib import Path

import pytest

from fake_kernel import ask
from fake_run import machine
from octant.ask import Ask, Launch, Presentation, Shape, Subject
from octant.failure import Exit, Refusal
from octant.launch import Planned
from octant.placement import RankPlace
from octant.record import RecordError
from octant.record.lines import seal, unseal
from octant.store import Pair, Store, StudyAsked, files
from octant.store.asked import Asked, ProvenSetting, asked_text, read_asked, read_start, start_line
from octant.store.progress import path_of, progress_of

ASK = Ask(
    Subject("mpi/pingpong"), {"bytes": "1KiB"}, Shape(2, "2x1", ("n1", "n2"), "mpiexec"), {"UCX_TLS": "tcp"},
    Presentation("a curve", False), 3,
)  # fmt: skip
OTHER = Ask(Subject("", ("sleep", "1")), repeats=2)
STUDY = StudyAsked(
    "page-size", 7, "question = '?'", "mpich", {"A": "why"}, {"m a": "key"}, {"m b": "absent"}, {"m": {"1": "1KiB"}}
)
ASKED = Asked(
    "study page-size", "a question", "2026-11-22T07:35:00+00:00", machine(), {"OMP_NUM_THREADS": "2"}, (ASK, OTHER),
    ((1, 1), (0, 2), (0, 0)), 5, STUDY,
    settings=(ProvenSetting("eager-limit=1KiB", {"X": "1024"}, {"X": ("1024", "1K")}, "effect", "seen", "doubted"),),
    pair=Pair("20261122-073500-1111", "20261121-073500-2222", 6, "any time"),
)  # fmt: skip
PLANNED = Planned(
    Launch(ASK, 2, {"bytes": "2KiB"}), ("mpiexec", "-n", "2"), {"OMP_PLACES": "cores"}, "mpiexec",
    (RankPlace(0, frozenset({0, 1}), (frozenset({0}), frozenset({1})), (0,)),
     RankPlace(1, frozenset({2, 3}), (frozenset({2, 3}),), (1, 2))),
    11.5, 22.5, "0123456789abcdef",
)  # fmt: skip


def test_every_member_of_a_description_is_read_back() -> None:
    assert read_asked(asked_text(ASKED).encode()) == ASKED
    least = dataclasses.replace(ASKED, study=None, settings=(), pair=None, order=())
    assert read_asked(asked_text(least).encode()) == least
    assert not json.loads(asked_text(least)).keys() & {"study", "settings", "pair"}


@pytest.mark.parametrize("order", [[[0, 3]], [[1, 2]], [[2, 0]]])
def test_an_order_names_launches_that_were_asked(order: list[list[int]]) -> None:
    members = json.loads(asked_text(ASKED))
    assert read_asked(json.dumps({**members, "order": [[0, 2], [1, 1]]}).encode()).order == ((0, 2), (1, 1))
    with pytest.raises(ValueError, match=r"its order names launch \d of ask \d, which is not there"):
        read_asked(json.dumps({**members, "order": order}).encode())


@pytest.mark.parametrize("was_asked", [True, False])
def test_every_member_of_a_start_is_read_back(was_asked: bool) -> None:
    line = start_line(PLANNED, was_asked).encode()
    assert read_start(line, {ASK.key: ASK} if was_asked else {}) == PLANNED
    members = json.loads(line)
    assert (members["format"], members["kind"]) == (2, "start")
    assert ("ask" in members) != was_asked


def test_a_start_of_what_nobody_asked_is_no_start() -> None:
    line = start_line(PLANNED, True).encode()
    with pytest.raises(RecordError, match=f"nobody asked for the launch {PLANNED.launch.key}"):
        read_start(line, {})
    members = json.loads(unseal(line))
    members.pop("crc")
    with pytest.raises(RecordError, match="nobody asked for the launch"):
        read_start(seal({**members, "repeat": 1}).encode(), {ASK.key: ASK})
    with pytest.raises(RecordError, match="a field is missing or wrong"):
        read_start(seal({**members, "repeat": "x"}).encode(), {ASK.key: ASK})


def test_a_start_that_cannot_be_read_is_named_with_its_reason(tmp_path: Path) -> None:
    run = Store(tmp_path).create("q", machine(), [ask()])
    planned = dataclasses.replace(PLANNED, launch=dataclasses.replace(run.launches[0], knobs={"bytes": "1KiB"}))
    run.plan.write_text(f"{start_line(planned, True)}\n{start_line(PLANNED, True)}\n")
    read = Store(tmp_path).read(run.id)
    assert read.plans == {planned.launch.key: planned}
    assert read.damaged == (f"plan.jsonl, line 2: nobody asked for the launch {PLANNED.launch.key}",)


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
    ids = sorted(store.create("q", machine(), [ask()]).id for _ in range(7))
    with pytest.raises(Refusal) as refusal:
        store.find("nothing")
    assert refusal.value.code == Exit.WRONG_WORD
    assert str(refusal.value).endswith(f"try one of: {', '.join(ids[-5:])}, last, previous")


def test_a_line_is_torn_where_its_end_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    for text, torn in (("", False), ("a\n", False), ("a\nb", True), ("\n", False), ("a", True)):
        path.write_text(text)
        descriptor = files.open_for_append(path)
        assert files.is_torn(descriptor) == torn, repr(text)
        files.append_line(descriptor, "next")
        os.close(descriptor)
        assert path.read_text() == text + "\n" * torn + "next\n"
