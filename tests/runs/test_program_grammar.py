"""The texts of --value, --check, --env and of commands: what they mean, and what is wrong with others."""

import re

import pytest

from octant.failure import Exit, Refusal
from octant.program import ProgramCheck, ProgramValue
from octant.runs.programs import grammar


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("rate=x (.*)", ProgramValue("rate", pattern="x (.*)")),
        ("total rate = a=(.)", ProgramValue("total rate", pattern=" a=(.)")),
        ("t[s]=(.)", ProgramValue("t", "s", "lower", pattern="(.)")),
        ("t[ms]=(.)", ProgramValue("t", "ms", "lower", pattern="(.)")),
        ("t[s,higher]=(.)", ProgramValue("t", "s", "higher", pattern="(.)")),
        ("r[Mop/s]=(.)", ProgramValue("r", "Mop/s", "higher", pattern="(.)")),
        ("r[,lower]=(.)", ProgramValue("r", "1", "lower", pattern="(.)")),
        ("r[Mop/s,,stderr]=(.)", ProgramValue("r", "Mop/s", "higher", "stderr", pattern="(.)")),
        ("r[1, lower, out/x{n}.txt]=(.)", ProgramValue("r", "1", "lower", "out/x{n}.txt", pattern="(.)")),
        ("r[]=[0-9]+", ProgramValue("r", pattern="[0-9]+")),
        ("r[1,lower,o.json]=json:a.0.b", ProgramValue("r", "1", "lower", "o.json", path="a.0.b")),
        ("r=json: a.-1 ", ProgramValue("r", path="a.-1")),
        ("CG/2 a-b_c.d=(.)", ProgramValue("CG/2 a-b_c.d", pattern="(.)")),
    ],
)
def test_a_value_is_a_name_and_where_its_number_is(text: str, value: ProgramValue) -> None:
    assert grammar.read_value(text) == value


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not of the form NAME=REGEX"),
        ("rate", "not of the form NAME=REGEX"),
        ("=x", "not of the form NAME=REGEX"),
        ("a;b=x", "not of the form NAME=REGEX"),
        ("wall time=(.)", "wall time is always measured"),
        ("Memory[B]=(.)", "memory is always measured"),
        ("energy of package-0=(.)", "is always measured"),
        ("rate=", "a regular expression has 1 to"),
        ("rate=(", r"missing \), unterminated subpattern at character 1"),
        ("rate=x*", "matches an empty text"),
        ("rate[lower]=(.)", "lower must follow the unit"),
        ("rate[s,lower,higher]=(.)", "the brackets contain a unit"),
        ("rate[s,lowr]=(.)", "'lowr' is neither lower nor higher.*did you mean lower"),
        ("rate[s,lower,o,p]=(.)", "the brackets contain a unit"),
        ("rate[out.txt]=(.)", "'out.txt' is not a unit"),
        ("rate[stderr]=(.)", "'stderr' is not a unit"),
        ("rate[1,lower,/etc/x]=(.)", "it is outside the working directory"),
        ("rate[1,lower,../x]=(.)", "it is outside the working directory"),
        ("rate=json:", "a JSON path consists of names"),
        ("rate=json:a..b", "a JSON path consists of names"),
    ],
)
def test_a_mistake_in_a_value_is_named_with_an_example_that_is_right(text: str, why: str) -> None:
    refused(lambda: grammar.read_value(text), why)


@pytest.mark.parametrize(
    ("text", "check"),
    [
        ("residual within 1e-9", ProgramCheck("value", "residual", 1e-9)),
        ("total energy within 0.5% of -1.25", ProgramCheck("value", "total energy", 0.005, expected=-1.25)),
        ("r within 2 absolute", ProgramCheck("value", "r", 2.0, relative=False)),
        ("r within 2 of 0 absolute", ProgramCheck("value", "r", 2.0, relative=False, expected=0.0)),
        ("file out/{n}.dat", ProgramCheck("file", file="out/{n}.dat")),
        ("file out.dat = /data/right.dat", ProgramCheck("file", file="out.dat", reference="/data/right.dat")),
        ("file a=b", ProgramCheck("file", file="a=b")),
        ("command ./verify 'a b' {n}", ProgramCheck("command", command=("./verify", "a b", "{n}"))),
    ],
)
def test_a_check_is_a_tolerance_a_file_or_a_command(text: str, check: ProgramCheck) -> None:
    assert grammar.read_check(text) == check
    assert grammar.read_checks([text]) == ((check,), (0,))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "the forms are"),
        ("residual", "the forms are"),
        ("within 3", "the forms are"),
        ("r within x", "'x' is not a number"),
        ("r within nan", "'nan' is not a number"),
        ("r within -1", "a tolerance must not be negative"),
        ("r within 1% absolute", "a percentage is always relative"),
        ("r within 1 of 0", "a difference relative to 0 is undefined.*absolute"),
        ("file", "the file name is missing"),
        ("file a = ", "the file name is missing"),
        ("file ../a", "it is outside the working directory"),
        ("command", "the command is missing"),
        ("command 'a", "no closing quotation"),
        ("command a | b", "is a shell operator.*sh -c"),
        ("exit=", "from 0 to 255"),
        ("exit=256", "from 0 to 255"),
        ("exit=1,x", "from 0 to 255"),
    ],
)
def test_a_mistake_in_a_check_is_named_with_an_example_that_is_right(text: str, why: str) -> None:
    refused(lambda: grammar.read_checks([text]), why)


def test_exit_statuses_of_several_texts_are_allowed_together() -> None:
    assert grammar.read_checks(["exit=1", "exit = 0, 3"]) == ((), (1, 0, 3))
    assert grammar.read_checks([]) == ((), (0,))


def test_nothing_is_named_twice() -> None:
    refused(lambda: grammar.read_values(["a=x", "A=y"]), "two --value options have the name 'a'")
    refused(lambda: grammar.read_checks(["a within 1", "a within 2"]), "is checked twice")
    refused(lambda: grammar.read_variables(["A=1", "A=2"]), "--env sets A twice.*use a knob")


def test_a_variable_has_a_name_and_a_value() -> None:
    assert grammar.read_variables(["A=", "_B1=x=y z"]) == {"A": "", "_B1": "x=y z"}
    for text in ("A", "=x", "1A=x", "A B=x", "É=x"):
        refused(lambda text=text: grammar.read_variables([text]), "not of the form NAME=VALUE")


def test_a_command_is_words_for_no_shell() -> None:
    assert grammar.read_command("cp 'a b' c\\ d", "before") == ("cp", "a b", "c d")
    refused(lambda: grammar.read_command("rm x && ls", "after"), r"--after .*&& is a shell operator.*sh -c")
    refused(lambda: grammar.read_command(" ", "before"), "the command is missing")


@pytest.mark.parametrize(
    ("name", "printed", "number"),
    [
        ("residual", "residual = 1.5e-9\n", "1.5e-9"),
        ("residual", "residual: -3\nother 7\nresidual: 4.\n", "4."),
        ("total energy", "  total energy   2.5D-03 Ha", "2.5D-03"),
        ("a.b", "a.b=.5", ".5"),
        ("residual", "final_residual = 1", None),
        ("residual", "residual norm = 1", None),
        ("residual", "residual=1.2.3", None),
        ("a.b", "axb=5", None),
    ],
)
def test_a_check_finds_a_number_behind_the_name_of_its_value(name: str, printed: str, number: str | None) -> None:
    found = re.findall(grammar.implied_value(name).pattern, printed)
    assert (found[-1] if found else None) == number


def refused(read: object, why: str) -> None:
    assert callable(read)
    with pytest.raises(Refusal, match=rf"(?s)^(?=.*; (try|rename|remove|to compare) ).*{why}") as error:
        read()
    assert error.value.code == Exit.WRONG_WORD
    assert "\n" not in str(error.value)
