"""`octant compare -- A -- B` with programs that only take time: verdicts, early stops, failures, going on."""

import functools
import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from fake_programs import Programs
from fake_run import machine
from octant.cli import application
from octant.failure import Exit, Refusal
from octant.launch.execute import ProcessOutcome
from octant.machine import discover
from octant.runs import interleaved
from octant.runs.programs import program_request
from octant.stats.gate import EXTENDED_THRESHOLDS
from octant.store import Store, StoredRun

BOTH = ("--", "./old", "-n", "{n}", "--", "./new", "-n", "{n}")


@dataclass
class Bench:
    """A store, and the programs that stand for all of them."""

    store: Store
    programs: Programs = field(default_factory=Programs)

    def start(self, *arguments: object) -> ProcessOutcome:
        """In place of what starts processes."""
        return self.programs(*arguments)  # type: ignore[arg-type]

    def compare(self, *words: str, both: Sequence[str] = ("--", "./old", "--", "./new")) -> Result:
        """`octant compare` of both programs on this store."""
        return CliRunner().invoke(application(), ["compare", "--store", str(self.store.root), *words, *both])

    def refused(self, *words: str, both: Sequence[str] = ("--", "./old", "--", "./new")) -> Refusal:
        """Why it does not run; nothing was started, and no run was made."""
        known, started = len(self.store.ids()), len(self.programs.started)
        refusal = self.compare(*words, both=both).exception
        assert isinstance(refusal, Refusal)
        assert (len(self.store.ids()), len(self.programs.started)) == (known, started)
        return refusal

    @property
    def runs(self) -> list[StoredRun]:
        """Of the newest pair: A and B."""
        return [self.store.read(name) for name in self.store.ids()[-2:]]


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    kernels = tmp_path / "kernels"
    kernels.mkdir()
    for name in ("bind", "pages"):
        (kernels / f"octant-{name}").touch(0o755)
    monkeypatch.setenv("OCTANT_KERNELS", str(kernels))
    monkeypatch.chdir(tmp_path)
    for name in ("old", "new"):
        Path(name).touch(0o755)
    monkeypatch.setattr(program_request, "discover", machine)
    monkeypatch.setattr(interleaved, "new_seed", lambda: 1)
    monkeypatch.setattr(discover, "discover", machine)
    made = Bench(Store(tmp_path / "store"))
    monkeypatch.setattr(interleaved, "measure_rounds", functools.partial(interleaved.measure_rounds, start=made.start))
    return made


def test_a_program_or_input_that_is_not_there_is_refused_before_anything_starts(bench: Bench) -> None:
    assert "cannot start './gone' (no such file)" in str(bench.refused(both=("--", "./old", "--", "./gone")))
    assert "cannot read the input file gone" in str(bench.refused("--input", "gone"))


def test_the_verdict_comes_first_and_both_runs_are_stored(bench: Bench) -> None:
    bench.programs = Programs({"./old": 0.1, "./new": 0.12}, noise=0.002)
    done = bench.compare()
    assert done.exit_code == 0, done.output
    first = done.stdout.splitlines()[0]
    found = re.fullmatch(r"B is (\d+) % slower than A \[(\d+) %, (\d+) %\], (\d+) paired rounds\.", first)
    assert found, first
    share, low, high, rounds = map(int, found.groups())
    assert 17 <= low <= share <= high <= 23
    assert low <= 20 <= high
    assert rounds in EXTENDED_THRESHOLDS
    assert len(bench.programs.started) == 2 * rounds, "no launch beyond the look that decides"
    before, after = bench.runs
    assert [run.title for run in bench.runs] == ["A: ./old", "B: ./new"]
    assert before.pair
    assert after.pair
    assert (before.pair.partner, after.pair.partner, before.pair.of, after.pair.of) == (after.id, before.id, "", "")
    assert "command: ./old in A, ./new in B" in done.stdout
    again = CliRunner().invoke(application(), ["compare", "--store", str(bench.store.root)])
    assert again.stdout.splitlines()[0] == first, "later, by what is stored"
    document = json.loads(bench.compare("--json", both=()).stdout)
    assert (document["answer"], document["rounds"], document["figures"][0]["word"]) == ([first], rounds, "slower")


def test_how_many_rounds_and_how_long_is_said_before_the_second(bench: Bench) -> None:
    said = bench.compare().stderr
    assert re.search(r"a round takes .* ms: at most 96 rounds, about .*; change the number with --rounds N", said), said
    bench.programs.noise = 0.5
    assert re.search(r"a round takes .* ms: 5 rounds, about .* m?s\n", bench.compare("--rounds", "5").stderr)
    assert len(bench.runs[0].points) == 5, "of a number of their own, rounds are judged once"


def test_equal_programs_are_the_same_and_noisy_ones_not_decided(bench: Bench) -> None:
    done = bench.compare("--gate")
    assert done.exit_code == 0, done.output
    assert re.match(r"A and B differ by at most [\d.]+ %, \d+ paired rounds\.", done.stdout)
    bench.programs = Programs(noise=0.08)
    done = bench.compare("--gate", "--rounds", "8")
    assert done.exit_code == Exit.NOT_DECIDED
    said = " ".join(done.stdout.split())
    begin = r"Undecided: B is between [\d.]+ % slower and [\d.]+ % faster than A, 8 paired rounds; "
    assert re.match(begin + r"\d+ more rounds, about \d+ s, would detect 3 %\.", said), said
    assert bench.compare("--rounds", "8").exit_code == 0, "without a gate it is an answer"
    line = next(line for line in done.stdout.splitlines() if line.startswith("  octant compare --gate --rounds"))
    assert shlex.split(line)[-4:] == ["--", "./old", "--", "./new"], "programs are given again"


def test_until_sure_looks_after_every_round_without_a_gate_too(bench: Bench) -> None:
    bench.programs = Programs({"./old": 0.1, "./new": 0.2})
    assert bench.compare("--until-sure").exit_code == 0
    assert len(bench.programs.started) == 10, "five rounds are the least that decide"
    shown = " ".join(CliRunner().invoke(application(), ["compare", "--help"], env={"COLUMNS": "200"}).stdout.split())
    assert "test after every round (anytime-valid), at most --rounds [40]" in shown


def test_a_gate_ends_with_5_as_soon_as_b_is_slower(bench: Bench) -> None:
    bench.programs = Programs({"./old": 0.1, "./new": 0.2})
    assert bench.compare("--gate").exit_code == Exit.REGRESSION
    assert len(bench.programs.started) == 8
    bench.programs = Programs({"./old": 0.2, "./new": 0.1})
    assert bench.compare("--gate").exit_code == 0


@pytest.mark.parametrize(
    ("name", "words", "code"),
    [("./new", (), Exit.CANNOT_RUN), ("./new", ("--gate",), Exit.CANNOT_RUN), ("./old", ("--gate",), Exit.CANNOT_RUN)],
)
def test_a_program_that_fails_in_the_first_round_ends_the_comparison(
    bench: Bench, name: str, words: tuple[str, ...], code: Exit
) -> None:
    bench.programs = Programs(ends={(name, 0): ProcessOutcome(-11, False, 0.1, "")})
    done = bench.compare(*words)
    assert isinstance(done.exception, Refusal)
    assert done.exception.code == code
    side = "B" if name == "./new" else "A"
    assert str(done.exception).startswith(f"cannot compare the programs ({side} failed: ")
    assert len(bench.programs.started) == 2
    assert sum(len(run.failures) for run in bench.runs) == 1
    later = CliRunner().invoke(application(), ["compare", "--store", str(bench.store.root), *bench.store.ids()])
    assert "no figure that can be compared" not in later.stdout
    assert f"{side} gave no result: " in later.stdout


def test_a_failure_in_a_later_round_is_kept_and_the_rounds_go_on(bench: Bench) -> None:
    bench.programs = Programs(noise=0.2, ends={("./new", 3): ProcessOutcome(-11, False, 0.1, "")})
    done = bench.compare("--rounds", "6")
    assert done.exit_code == Exit.CANNOT_RUN
    assert ", 5 paired rounds" in done.stdout
    assert len(bench.programs.started) == 12


@pytest.mark.parametrize("name", ["./old", "./new"])
@pytest.mark.parametrize(("noise", "slower"), [(0.2, 1), (0.001, 1), (0.001, 2)], ids=["open", "same", "slower"])
def test_a_gate_ends_with_1_if_a_program_failed_in_any_round(
    bench: Bench, name: str, noise: float, slower: float
) -> None:
    seconds = {"./old": 0.1, "./new": 0.1 * slower}
    bench.programs = Programs(seconds, noise, ends={(name, 3): ProcessOutcome(7, False, 0.1, "")})
    done = bench.compare("--gate", "--rounds", "6")
    assert ", 5 paired rounds" in done.stdout
    assert done.exit_code == Exit.CANNOT_RUN
    assert CliRunner().invoke(application(), ["compare", "--gate", "--store", str(bench.store.root)]).exit_code == 1


def test_a_stop_keeps_both_runs_and_says_how_to_go_on(bench: Bench) -> None:
    bench.programs = Programs(noise=0.3, stop_at=9)
    done = bench.compare("--rounds", "6", "--env", "A=b c")
    assert done.exit_code == Exit.INTERRUPTED
    line = done.stderr.splitlines()[-1].removeprefix("Stopped; all rounds are stored. To continue: ")
    octant, compare, *words = shlex.split(line)
    assert (octant, compare, words[-6:]) == ("octant", "compare", [*bench.store.ids(), "--", "./old", "--", "./new"])
    other = ["true" if word == "./new" else word for word in words]
    assert "(B was the command './new'); repeat the original command line" in str(bench.refused(*other[2:], both=()))
    without = [word for word in words if word not in ("--env", "A=b c")]
    assert "measured with other options" in str(bench.refused(*without[2:], both=()))
    refusal = bench.refused("--rounds", "6", *bench.store.ids(), both=())
    assert "commands of a store are never started" in str(refusal)
    done = CliRunner().invoke(application(), ["compare", *words])
    assert done.exit_code == 0, done.output
    assert (len(bench.store.ids()), len(bench.programs.started)) == (2, 12)
    assert ", 6 paired rounds" in done.stdout


def test_each_value_of_a_knob_is_a_comparison_of_its_own(bench: Bench) -> None:
    done = bench.compare("n=1,2", "--rounds", "8", both=BOTH)
    assert done.exit_code == 0, done.output
    assert [line.partition(":")[0] for line in done.stdout.splitlines()[:2]] == ["old, n 1", "old, n 2"]
    assert len(bench.programs.started) == 32
    assert all(bench.programs.started[number] != bench.programs.started[number + 1] for number in range(0, 32, 2)), (
        "A and B of one value start one after the other"
    )
    assert "(at least 8 are required)" in str(bench.refused("n=1,2", "--gate", "--rounds", "6", both=BOTH))


@pytest.mark.parametrize(
    ("both", "why"),
    [
        (("--",), "1 command line instead of two"),
        (("--", "./old"), "1 command line instead of two"),
        (("--", "./old", "--"), "the command line of program B is empty"),
        (("--", "--", "./new"), "the command line of program A is empty"),
        (("--", "./old", "--", "./new", "--", "./third"), "3 command lines instead of two"),
    ],
)
def test_other_than_two_programs_are_refused_with_an_example(bench: Bench, both: tuple[str, ...], why: str) -> None:
    refusal = bench.refused(both=both)
    assert refusal.code == Exit.WRONG_WORD
    assert why in str(refusal)
    assert "try octant compare -- ./old input -- ./new input" in str(refusal)


@pytest.mark.parametrize(
    ("words", "both", "why"),
    [
        (("last",), BOTH, "'last' is not KNOB=VALUE, and to continue, two runs are required"),
        (("n=1",), ("--", "./old", "--", "./new"), "cannot set n"),
        (("--ranks", "2"), (), "cannot use --ranks"),
        (("--value", "rate=(.*)"), (), "cannot use --value"),
        (("a", "b", "c"), (), "cannot compare 3 runs"),
        (("a", "b"), ("--", "./old", "--", "./new"), "cannot find the run 'a'"),
    ],
)
def test_other_words_are_refused(bench: Bench, words: tuple[str, ...], both: tuple[str, ...], why: str) -> None:
    assert why in str(bench.refused(*words, both=both))


@pytest.mark.parametrize(
    ("words", "options"),
    [(("--gate",), "--gate"), (("--rounds", "6"), "--rounds 6"), (("--gate", "--until-sure"), "--gate --until-sure")],
)
def test_programs_of_stored_runs_are_refused_with_the_line_to_type(
    bench: Bench, words: tuple[str, ...], options: str
) -> None:
    bench.compare("--env", "A=b")
    bench.compare("--env", "A=b")
    first, _, _, last = bench.store.ids()
    refusal = bench.refused(*words, first, last, both=())
    assert refusal.code == Exit.NOT_SUPPORTED
    line = f"octant compare {options} --env A=b -- ./old -- ./new"
    assert str(refusal) == f"cannot measure these programs again (commands of a store are never started); try {line}"


def test_runs_that_were_not_measured_in_turn_cannot_be_gone_on_with(bench: Bench) -> None:
    bench.compare()
    bench.compare()
    ids = bench.store.ids()
    refusal = bench.refused(ids[0], ids[2])
    assert "they were not measured together" in str(refusal)
