"""`--help` and shell completion: complete pages, one line per command, sentences, examples that work."""

import re
from pathlib import Path

import pytest
import typer.testing

from command_lines import commands, read, words_of
from octant.cli import _complete, application
from octant.cli._examples import EXAMPLES, WAYS_IN, Example
from octant.cli._help import COMMANDS, MAX_IN_ONE_LIST, OUTPUT
from octant.stats.gate import LEAST_ROUNDS_OF_MANY
from octant.stats.paired import LEAST_ROUNDS

EVERY = commands()
IN_WAYS = [example for way in WAYS_IN for example in way.examples]


def called(words: str, **env: str) -> str:
    return typer.testing.CliRunner(env={"COLUMNS": "80", **env}).invoke(application(), words.split()).output


@pytest.mark.parametrize("command", EVERY)
def test_help_is_whole_and_fits(command: str) -> None:
    page = called(f"{command} --help")
    assert page.startswith("Usage: ")
    assert max(map(len, page.splitlines())) <= 80
    assert not [line for line in page.splitlines()[1:] if line.endswith("...")]
    assert not re.search(r"<(int|str|float|list|path)|RANGE|<=x", page), "kinds and ranges are in words"
    assert all(page.count(example.line) for example in EXAMPLES.get(command, ()))


def test_described_defaults_are_shown() -> None:
    assert "[default: report.html in the run's" in called("report --help")
    assert "[default: the one available]" in " ".join(called("where --help").split())


def test_many_options_are_grouped_under_headings() -> None:
    grouped = {}
    for words, command in EVERY.items():
        shown = [one for one in command.params if one.param_type_name == "option" and not one.hidden]
        headings = [*(getattr(one, "rich_help_panel", None) or OUTPUT for one in shown), OUTPUT]  # the last is --help
        if len(headings) > MAX_IN_ONE_LIST:
            grouped[words] = [f"{name}:" for name in dict.fromkeys(headings)]
            assert max(headings.count(name) for name in headings) <= MAX_IN_ONE_LIST, words
            assert [line for line in called(f"{words} --help").splitlines() if line in grouped[words]] == grouped[words]
    assert {"run", "compare", "place", "model solve", "model app"} <= set(grouped)
    assert all(len(headings) > 1 for headings in grouped.values())


def test_commands_are_listed_under_headings_in_order() -> None:
    page = called("--help").splitlines()
    assert [line[:-1] for line in page if line[:-1] in COMMANDS] == list(COMMANDS)
    for words, command in EVERY.items():
        if words and " " not in words:
            assert command.rich_help_panel in COMMANDS, words
            assert [line for line in page if line.startswith(f"  {words} ")], words


def test_octant_shows_three_first_commands_for_each_of_four_groups_of_users() -> None:
    page = called("--help")
    for way in WAYS_IN:
        begin = page.index(f"{way.who}:\n")
        shown = page[begin : page.index("\n\n", begin)].splitlines()[1:]
        assert [line.split("  ")[1] for line in shown] == [example.line for example in way.examples]
        assert [line.rpartition("  ")[2] for line in shown] == [example.gives for example in way.examples]


@pytest.mark.parametrize("group", ["", "model", "study"])
def test_lists_of_commands_have_one_line_per_command(group: str) -> None:
    page = called(f"{group} --help").partition("Options:\n")[0].splitlines()
    inside = [words.removeprefix(f"{group} ") for words in EVERY if words.rpartition(" ")[0] == group and words]
    lines = [line for line in page if line.split()[:1] and line.split()[0] in inside]
    assert len(lines) == len(inside) > 3
    assert [line for line in lines if not re.fullmatch(r"  [a-z]+ +[A-Z][a-z]+ .*\.", line)] == []


@pytest.mark.parametrize("command", [words for words in EVERY if words])
def test_help_of_arguments_and_options_is_a_sentence(command: str) -> None:
    texts = [getattr(one, "help", None) for one in EVERY[command].params]
    sentences = [re.sub(r" \[(default|file): .*\]", "", text) for text in texts if text]
    assert [text for text in sentences if not re.fullmatch(r"[A-Z].*[.…]", text)] == []


@pytest.mark.parametrize("command", [words for words in EVERY if words])
def test_every_command_has_examples_of_itself(command: str) -> None:
    assert 2 <= len(EXAMPLES[command]) <= 4
    assert all(example.line.startswith(f"octant {command}") for example in EXAMPLES[command])


def test_every_example_is_of_a_command() -> None:
    assert set(EXAMPLES) == set(EVERY) - {""}


@pytest.mark.parametrize(
    "example", dict.fromkeys([*IN_WAYS, *(e for each in EXAMPLES.values() for e in each)]), ids=lambda e: e.line
)
def test_examples_are_valid_command_lines(example: Example) -> None:
    read(example.line)


@pytest.mark.parametrize("line", ["octant rnu stream", "octant run --rnaks 2 stream", "octant run stream --ranks x"])
def test_an_invalid_command_line_is_refused(line: str) -> None:
    with pytest.raises(Exception, match=r"rnu|rnaks|not a valid"):
        read(line)
    with pytest.raises(ValueError, match="no line of octant"):
        words_of(line.removeprefix("octant "))


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("octant run str", "stream"),
        ("octant doctor --explain limit_m", "limit_memlock"),
        ("octant report pre", "previous"),
    ],
)
def test_shell_completion_offers_names(typed: str, offered: str) -> None:
    words = {"_OCTANT_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
    result = typer.testing.CliRunner(env=words).invoke(application(), prog_name="octant")
    assert result.output.split() == [offered]


def test_runs_of_the_store_are_offered_newest_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("20260101-a", "20260102-b"):
        (tmp_path / "runs" / name).mkdir(parents=True)
    monkeypatch.setenv("OCTANT_STORE", str(tmp_path))
    assert _complete.runs("") == ["last", "previous", "20260102-b", "20260101-a"]
    assert _complete.runs("l") == ["last"]


def test_the_help_of_compare_states_the_rounds_that_a_gate_requires() -> None:
    text = " ".join(typer.testing.CliRunner().invoke(application(), ["compare", "--help"]).output.split())
    assert f"--gate requires {LEAST_ROUNDS} for one figure and {LEAST_ROUNDS_OF_MANY} for several." in text
