"""Filters of lists by words: one behaviour for all lists, and suggestions if nothing is found."""

import json

import pytest
from typer.testing import CliRunner

from octant.cli import application
from octant.failure import Refusal
from octant.report.tables.listing import as_text, select_runs
from octant.report.tables.word_filter import select_entries
from octant.store import Listed

FRUIT = ["red apple", "green apple", "green pear"]


def select(*words: str) -> list[str]:
    return select_entries(FRUIT, words, lambda one: one, "fruit", "octant fruit")


def test_all_words_must_occur_in_any_case_and_small_words_are_ignored() -> None:
    assert select() == FRUIT
    assert select("Apple") == select("the", "apple") == FRUIT[:2]
    assert select("green", "apple") == select("green apple") == ["green apple"]
    assert select("app") == FRUIT[:2], "parts of words are found, too"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["aple"], "no fruit contains 'aple'; did you mean apple? `octant fruit` lists all"),
        (
            ["green", "aple"],
            "no fruit contains 'green' and 'aple'; did you mean apple instead of aple? `octant fruit` lists all",
        ),
        (["red", "pear"], "no fruit contains 'red' and 'pear'; use fewer words, or `octant fruit` lists all"),
        (["zzzz"], "no fruit contains 'zzzz'; `octant fruit` lists all"),
    ],
)
def test_without_a_result_the_nearest_words_are_named(words: list[str], text: str) -> None:
    with pytest.raises(Refusal) as refused:
        select(*words)
    assert str(refused.value) == text


def run(*words: str) -> str:
    done = CliRunner().invoke(application(), words)
    assert done.exit_code == 0, done.exception
    return done.stdout


@pytest.mark.parametrize(
    ("command", "key", "words", "found"),
    [
        (["workloads"], "name", ["pointer", "chasing"], "node/latency"),
        (["catalogue", "findings"], "id", ["affinity", "doubles"], "p7-affinity-doubles-stream"),
        (["catalogue", "machines"], "id", ["575"], "power575"),
        (["model", "list"], "name", ["blue", "gene/p"], "bgp"),
    ],
)
def test_json_has_the_same_entries_as_the_text(command: list[str], key: str, words: list[str], found: str) -> None:
    names = [one[key] for one in json.loads(run(*command, *words, "--json"))]
    every = [one[key] for one in json.loads(run(*command, "--json"))]
    text = run(*command, *words)
    assert found in names
    assert len(names) < len(every)
    assert all(name in text for name in names)
    assert not any(f"\n{name} " in text for name in set(every) - set(names))


def listed(id_: str, title: str) -> Listed:
    return Listed(id_, "", title, "", "2026-11-27T04:00:00+00:00", "node7", "", 1, 0, 0)


def test_runs_are_filtered_and_keep_their_unique_prefixes() -> None:
    rows = [listed("20261127-040000-001-aaaa", "stream triad"), listed("20261127-040000-001-bbbb", "hpl")]
    shown = select_runs(rows, ["TRIAD", "node7"])
    assert shown == rows[:1]
    text = as_text(rows, shown)
    assert "20261127-040000-001-a" in text
    assert "hpl" not in text


def test_settings_are_searched_by_words_in_json_too() -> None:
    found = [one["variable"] for one in json.loads(run("settings", "huge", "pages", "--json"))["current"]]
    text = run("settings", "huge", "pages")
    assert f"{len(found)} settings of current libraries" in text
    assert "I_MPI_SHM_HEAP_THP" in found
    assert "I_MPI_FABRICS" not in found
