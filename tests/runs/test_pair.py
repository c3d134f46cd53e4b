"""Two programs measured alternately: false alarms and intervals by simulation, number of rounds, command lines."""

import math
import os
import shlex
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_programs import Programs
from fake_run import machine
from octant.analysis.compare import Comparisons, compare
from octant.analysis.summary import summarise
from octant.program import ProgramCheck, ProgramValue
from octant.request import Subject
from octant.runs import interleaved
from octant.runs.interleaved import Interleaved, RoundEnd, create_program_runs, measure_rounds
from octant.runs.plan import planner_of
from octant.runs.program_pair import SENSIBLE_S, default_rounds, request_pairs, two_commands
from octant.runs.programs import grammar, program_request
from octant.runs.programs.command_text import check_text, comparison_line, subject_words, value_text
from octant.runs.programs.options import ProgramOptions
from octant.store import Pair, Store

COMMANDS = (("./old",), ("./new",))
PROBE_LAUNCHES = (4, 6, 8, 12)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """With programs that stand for those of Octant."""
    kernels = tmp_path / "kernels"
    kernels.mkdir()
    for name in ("bind", "pages"):
        (kernels / f"octant-{name}").touch(0o755)
    monkeypatch.setenv("OCTANT_KERNELS", str(kernels))
    monkeypatch.setattr(program_request, "discover", machine)
    monkeypatch.setattr(interleaved, "new_seed", lambda: 1)
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)  # thousands of launches
    return Store(tmp_path / "store")


def judged(sides: Interleaved) -> Comparisons:
    return compare(summarise(sides.before), summarise(sides.after))


def measured(store: Store, programs: Programs) -> Comparisons:
    """Both programs in up to twelve rounds, with the looks of a gate."""
    couples, here = request_pairs(COMMANDS, (), None)
    sides = create_program_runs(store, couples, COMMANDS, here, 12, "rising")
    planners = planner_of(sides.before), planner_of(sides.after)

    def is_enough(end: RoundEnd) -> bool:
        return end.number in PROBE_LAUNCHES and not judged(end.read()).undecided

    return judged(measure_rounds(store, sides, planners, 12, is_enough, start=programs))


def test_verdicts_on_simulated_programs_raise_few_alarms_and_their_intervals_hold(store: Store) -> None:
    equal = [measured(store, Programs(noise=0.03, seed=seed)) for seed in range(20)]
    words = [one.verdicts[0].word for one in equal]
    assert sum(word in ("faster", "slower") for word in words) <= 3, "1 is expected, 4 in 1.6 % of cases"
    slow = {"./old": 0.1, "./new": 0.12}
    slower = [measured(store, Programs(slow, noise=0.03, seed=seed)) for seed in range(20)]
    assert [one.verdicts[0].word for one in slower].count("slower") >= 19
    for found, speed in ((equal, 1.0), (slower, 1 / 1.2)):
        held = [one.verdicts[0].speed for one in found]
        assert sum(one is not None and one.low <= speed <= one.high for one in held) >= 16, "19 are expected"


def test_a_drift_of_the_machine_is_in_no_verdict(store: Store) -> None:
    class Drifting(Programs):
        """Becomes slower by 5 % with each start."""

        def __call__(self, *arguments: object) -> object:  # type: ignore[override]
            end = super().__call__(*arguments)  # type: ignore[arg-type]
            return replace(end, seconds=end.seconds * math.exp(0.05 * len(self.started)))

    found = [measured(store, Drifting(noise=0.01, seed=seed)) for seed in range(12)]
    assert sum(one.verdicts[0].word in ("faster", "slower") for one in found) <= 2


@pytest.mark.parametrize(
    ("rounds", "looks", "round_s", "figures", "most"),
    [
        (96, "rising", 0.01, 1, 96),
        (96, "rising", 1.0, 1, 48),
        (96, "rising", 4.9, 1, 12),
        (96, "rising", 60.0, 1, 8),
        (96, "rising", 120.0, 1, 4),
        (96, "rising", 1e5, 1, 4),
        (96, "rising", 1e5, 2, 8),
        (40, "any time", 0.01, 1, 40),
        (40, "any time", 10.0, 1, 12),
        (40, "any time", 100.0, 1, 6),
    ],
)
def test_rounds_fit_into_a_sensible_time(rounds: int, looks: str, round_s: float, figures: int, most: int) -> None:
    pair = Pair("", "", rounds, looks)  # type: ignore[arg-type]
    assert default_rounds(pair, round_s, figures) == most
    assert most * round_s <= SENSIBLE_S or most == (4 if figures == 1 else 8)


def test_a_comparison_is_typed_as_it_was_asked(store: Store) -> None:
    options = ProgramOptions(
        value=("rate[Mop/s,higher,out.txt]=rate *= *(.*)", "left=json:solver.0.left"),
        check=("left within 1e-09 of 2.5 absolute", "rate within 3%", "file a b = c", "command ./ok 'a b'", "exit=0,3"),
        env=("OMP_SCHEDULE={s}", "EMPTY="), input="in put", fresh_dir=True, keep=("*.dat",), before=("cp 'a b' c",),
        after=("rm c",),
    )  # fmt: skip
    commands = (("./old", "-n", "{n}"), ("./new one", "-n", "{n}"))
    couples, _ = request_pairs(commands, ["n=1,2", "s=static,guided"], None, options=options)
    assert len(couples) == 4
    octant, command, *words = shlex.split(comparison_line(couples, "--gate"))
    at, then = words.index("--"), len(words) - 1 - words[::-1].index("--")
    assert (octant, command, words[0]) == ("octant", "compare", "--gate")
    assert (tuple(words[at + 1 : then]), tuple(words[then + 1 :])) == commands
    assert words[1:3] == ["n=1,2", "s=static,guided"]
    names = ("value", "check", "env", "input", "keep", "before", "after")
    again = {name: [text for one, text in pairwise(words[3:at]) if one == f"--{name}"] for name in names}
    assert grammar.read_values(again["value"]) == couples[0][0].subject.values
    assert grammar.read_checks(again["check"]) == (couples[0][0].subject.checks, (0, 3))
    assert grammar.read_variables(again["env"]) == couples[0][0].subject.environment
    assert again["input"] == ["in put"]
    assert "--fresh-dir" in words[:at]
    assert [again["keep"], again["before"], again["after"]] == [["*.dat"], ["cp 'a b' c"], ["rm c"]]


@pytest.mark.usefixtures("mpiexec_on_path")
@pytest.mark.parametrize("command", [("./old",), ("mpiexec", "-n", "2", "./old")])
def test_variables_that_differ_are_set_for_their_own_program(store: Store, command: tuple[str, ...]) -> None:
    sides = [
        request_pairs((command, command), [], None, options=ProgramOptions(env=env))[0][0][0]
        for env in (("SAME=0", "A=1"), ("A=2 x", "SAME=0", "B=3"))
    ]
    line = shlex.split(comparison_line(((sides[0], sides[1]),)))
    assert "--ranks" not in line, "the launcher of the command line states them"
    shape = line[2 : line.index("--env")]
    assert line == [
        "octant", "compare", *shape, "--env", "SAME=0", "--", "env", "A=1", *command,
        "--", "env", "A=2 x", "B=3", *command,
    ]  # fmt: skip
    again = two_commands(line[line.index("--") + 1 :])
    found, _ = request_pairs(again, [], None, options=ProgramOptions(env=("SAME=0",)))
    assert [request.shape.ranks for request in found[0]] == [request.shape.ranks for request in sides]
    assert [request.subject.program for request in found[0]] == [request.subject.program for request in sides]


NAMES = st.from_regex(r"[a-z][a-z0-9 ]{0,8}[a-z0-9]", fullmatch=True).filter(lambda name: "  " not in name)


@given(
    st.builds(
        ProgramValue,
        NAMES.map(lambda name: f"my {name}"),
        st.sampled_from(("1", "s", "GB/s")),
        st.sampled_from(("higher", "lower")),
        st.sampled_from(("stdout", "stderr", "out.txt")),
        st.sampled_from((r"a=(\d+)", "x (.*) y")),
    )
)
def test_values_are_read_as_they_are_typed(value: ProgramValue) -> None:
    assert grammar.read_value(value_text(value)) == value


@given(NAMES, st.floats(1e-12, 1e3), st.booleans(), st.one_of(st.none(), st.floats(1e-9, 1e9)))
def test_checks_are_read_as_they_are_typed(name: str, tolerance: float, relative: bool, expected: float | None) -> None:
    check = ProgramCheck("value", name, tolerance, relative, expected)
    assert grammar.read_check(check_text(check)) == check


def test_a_value_that_begins_with_a_dash_is_joined_to_its_option() -> None:
    assert subject_words(Subject(command=("a",), input="-x")) == ["--input=-x"]
