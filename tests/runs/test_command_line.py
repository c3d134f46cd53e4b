"""From the words of a command to what is asked: a mode is a word for ranks, threads and groups, and nothing more."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from fake_run import machine
from octant.build import program_name
from octant.failure import Exit, Refusal
from octant.request import Request
from octant.runs import command_line
from octant.runs.modes import Mode, ranks_and_knobs

RunRequest = Callable[..., Request]


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunRequest:
    """`octant run` of these words on three cores; the kernel's pace and least ranks are the test's."""

    def request(
        *words: str, ranks: int | None = None, mode: str = "", repeats: int = 1, pace: str = "chunks", least: int = 1,
        workload: str = "node/stream", **where: str,
    ) -> Request:  # fmt: skip
        kinds = {"bytes": "bytes", "threads": "word", "memory": "word"}
        knobs = [{"name": name, "kind": kind, "default": "", "help": ""} for name, kind in kinds.items()]
        said = json.dumps({"knobs": [*knobs, {**knobs[1], "name": "groups"}, {**knobs[1], "name": "pin"},
                                     {**knobs[1], "name": "pages"}], "least_ranks": least, "pace": pace})  # fmt: skip
        program = tmp_path / program_name(workload)
        program.write_text(f"#!/bin/sh\ncat <<'END'\n{said}\nEND\n")
        program.chmod(0o755)
        monkeypatch.setenv("OCTANT_KERNELS", str(tmp_path))
        monkeypatch.setattr(command_line, "discover", lambda: machine(cores=3))
        return command_line.request_workload(workload, words, ranks, mode, repeats, command_line.LaunchTarget(**where))[
            0
        ]

    return request


@pytest.mark.parametrize(
    ("mode", "alone", "ranks", "knobs"),
    [
        ("one", True, 1, {}),
        ("threads", True, 1, {"threads": "3"}),
        ("star", True, 3, {}),
        ("star", False, 3, {"groups": "1"}),
        ("all", False, 3, {}),
    ],
)
def test_a_mode_is_ranks_threads_and_groups(mode: Mode, alone: bool, ranks: int, knobs: dict[str, str]) -> None:
    assert ranks_and_knobs(mode, 3, alone) == (ranks, knobs)


def test_ranks_together_are_two_at_least() -> None:
    assert ranks_and_knobs("all", 1) == (2, {})


def test_an_ask_of_words(asked: RunRequest) -> None:
    request = asked("bytes=1024KiB,2m", "memory=prefer:0", repeats=3)
    assert request.subject.workload == "node/stream"
    assert request.knobs == {"bytes": "1MiB,2MiB", "memory": "preferred:0"}
    assert (request.shape.ranks, request.repeats) == (1, 3)


def test_sizes_by_level_of_all_threads(asked: RunRequest) -> None:
    request = asked("bytes=L2,threads*L2", mode="threads")
    assert request.knobs["bytes"] == f"{2 << 20},{6 << 20}"
    assert request.show.expressions == {"bytes": {str(2 << 20): "L2", str(6 << 20): "threads*L2"}}


def test_an_unquoted_range_is_refused_with_the_quoted_one(asked: RunRequest) -> None:
    with pytest.raises(Refusal, match="a range is one argument in quotes: 'bytes=L1/2 to 4"):
        asked("bytes=L1", "to", "L2", "by", "2")


def test_modes_and_rank_counts(asked: RunRequest) -> None:
    assert asked(mode="threads").knobs == {"threads": "3"}
    assert asked(mode="star").shape.ranks == 3
    assert asked(mode="star", pace="steps").knobs == {"groups": "1"}
    assert asked(mode="star", ranks=2).shape.ranks == 2
    assert asked(ranks=4).shape.ranks == 4
    assert asked(least=2).shape.ranks == 3, "as many as there are cores"
    assert asked(workload="mpi/collective").shape.ranks == 3, "ranks that exchange messages, though one would do"


def test_a_placement_says_ranks_threads_and_pages(asked: RunRequest) -> None:
    request = asked(place="2x1,pages=2m", mode="")
    assert request.shape.ranks == 2
    assert request.shape.place.startswith("2x1")
    assert {name: request.knobs[name] for name in ("threads", "pin", "pages")} == {
        "threads": "1", "pin": "none", "pages": "2MiB",
    }  # fmt: skip
    assert asked(place="1x1", hosts="a,b").shape.hosts == ("a", "b")
    assert asked(place="1x1", hosts="a,b").shape.ranks == 2


@pytest.mark.parametrize(
    ("words", "options", "said"),
    [
        (["size=1"], {}, "node/stream has no knob"),
        (["bytes"], {}, "not of the form knob=value"),
        (["bytes=1", "bytes=2"], {}, "cannot set bytes twice"),
        (["threads=2"], {"mode": "threads"}, "--mode threads sets threads=3"),
        (["threads=2"], {"place": "1x1"}, "the placement sets threads=1"),
        ([], {"mode": "many"}, "no such mode"),
        ([], {"repeats": 0}, "--repeats 1"),
        ([], {"ranks": 0}, "--ranks 1"),
        ([], {"place": "2x1", "ranks": 3}, "cannot distribute 3 ranks to nodes with 2"),
        ([], {"hosts": "a,a"}, "a host occurs twice"),
        ([], {"hosts": "-oProxyCommand=x"}, "invalid host name"),
        ([], {"launcher": "rocket"}, "no such launcher"),
        ([], {"launcher": "sbatch"}, "try --script FILE or --submit"),
        (["bytes=1MiB,1024KiB"], {}, "contains a value twice"),
    ],
)
def test_words_that_mean_nothing_here_exit_2(
    asked: RunRequest, words: list[str], options: dict[str, object], said: str
) -> None:
    with pytest.raises(Refusal, match=said) as refused:
        asked(*words, **options)
    assert refused.value.code == Exit.WRONG_WORD
