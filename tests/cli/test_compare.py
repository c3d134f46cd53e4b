"""`octant compare --rounds` and `--gate` with a kernel that only writes records: verdicts, early stops, going on."""

import dataclasses
import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from fake_kernel import Kernel, request
from fake_run import WORKLOADS, durations, lane, machine, point
from octant import workloads
from octant.cli import application
from octant.cli._rounds import RoundOptions
from octant.failure import Exit, Refusal
from octant.launch.execute import ProcessOutcome
from octant.machine import discover
from octant.record import Point
from octant.request import Request
from octant.runs import interleaved
from octant.runs.plan import planner_of
from octant.runs.session import execute_run, run_all
from octant.stats.gate import OBRIEN_FLEMING_THRESHOLDS
from octant.store import Store, StoredRun


@dataclass
class Bench:
    """A store, and one kernel for all of them: the cells of some sides take longer, or spread more."""

    store: Store
    slower: dict[str, float] = field(default_factory=dict)  # by the kernel's variant
    spread: dict[str, float] = field(default_factory=dict)  # of launches, likewise; else 1 %
    kernel: Kernel = field(default_factory=Kernel)
    stop_at: int = -1  # Ctrl-C at this start

    def measured(self, *requests: Request, title: str = "run") -> StoredRun:
        """Return a stored run of these requests, each launched once."""
        run = self.store.create(title, machine(), requests)
        return execute_run(self.store, run, run_all(run.launches), planner_of(run), start=Kernel())

    def start(self, *arguments: object) -> ProcessOutcome:
        """In place of what starts processes."""
        if len(self.kernel.starts) == self.stop_at:
            self.stop_at = -1
            raise KeyboardInterrupt
        return self.kernel(*arguments)  # type: ignore[arg-type]

    def answer(self, workload: str, launch: str, cell: Mapping[str, str]) -> Point:
        """Return a cell whose launches spread as the bench defines, and are slower in a later run if defined."""
        number = len(self.kernel.starts)
        is_after = self.kernel.starts[-1][self.kernel.starts[-1].index("--output") + 1] != self.first
        factor = self.slower.get(cell["kernel"], 1.0) if is_after else 1.0
        step = self.spread.get(cell["kernel"], 0.01) * (number * 7 % 5 - 2) / 2
        lanes = (lane(durations(round(100_000 * factor * (1 + step)), 5)),)
        return point(workload=workload, launch=launch, knobs=dict(cell), lanes=lanes, counts={"bytes_read": 1000})

    @property
    def first(self) -> str:
        """The records of the side A of the newest pair."""
        return str((self.store.root / "runs" / self.store.ids()[-2] / "records.jsonl").resolve())

    def compare(self, *words: str) -> Result:
        """`octant compare` on this store."""
        return CliRunner().invoke(application(), ["compare", *words, "--store", str(self.store.root)])


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    kernels = tmp_path / "kernels"
    kernels.mkdir()
    program = kernels / "octant-node-stream"
    program.touch()
    program.chmod(0o755)
    monkeypatch.setenv("OCTANT_KERNELS", str(kernels))
    monkeypatch.setattr(workloads, "workloads", lambda: WORKLOADS)
    monkeypatch.setattr(discover, "discover", machine)
    monkeypatch.setattr(interleaved, "new_seed", lambda: 1)  # of the orders of rounds, on which verdicts depend
    made = Bench(Store(tmp_path / "store"))
    made.kernel.answer = made.answer
    monkeypatch.setattr(interleaved, "measure_rounds", functools.partial(interleaved.measure_rounds, start=made.start))
    return made


TRIAD, COPY = request(bytes="1MiB", kernel="triad"), request(bytes="1MiB", kernel="copy")


def test_rounds_measure_both_again_and_give_verdicts(bench: Bench) -> None:
    bench.measured(TRIAD, COPY)
    bench.measured(TRIAD, COPY)
    bench.slower = {"copy": 1.2}
    done = bench.compare("--rounds", "6")
    assert done.exit_code == 0, done.output
    assert len(bench.kernel.starts) == 24
    words = " ".join(done.stdout.split())
    assert "A again: run" in words
    assert "Slower in B (1)" in words
    assert "at least 3 % slower; smallest detectable difference ± " in words
    assert re.search(r" a 95 % interval for the geometric mean ratio over 6 paired rounds (at|between) ", words)
    page = Path(done.stdout.splitlines()[-1])
    assert page == bench.store.read(bench.store.ids()[-1]).folder / "comparison.html"
    assert page.stat().st_mode & 0o077 == 0, "a store is its owner's alone"
    elsewhere = bench.store.root.parent / "page.html"
    assert bench.compare("-o", str(elsewhere)).stdout.splitlines()[-1] == str(elsewhere)
    assert "A against B:" in elsewhere.read_text(encoding="utf-8")
    document = json.loads(bench.compare("--json").stdout)
    assert (document["rounds"], document["a"], document["b"]) == (6, *bench.store.ids()[-2:])
    assert len(bench.kernel.starts) == 24, "comparing them later measures nothing"


def test_a_gate_measures_again_stops_early_and_exits_with_5_on_a_regression(bench: Bench) -> None:
    bench.measured(TRIAD)
    bench.measured(TRIAD)
    bench.slower = {"triad": 1.5}
    done = bench.compare("--gate")
    assert done.exit_code == Exit.REGRESSION, done.output
    assert len(bench.kernel.starts) == 8, "at the look after 4 rounds"
    assert bench.compare("--gate").exit_code == Exit.REGRESSION, "of what is stored"
    assert len(bench.kernel.starts) == 8
    bench.slower = {}
    assert bench.compare("--gate", *bench.store.ids()[:2]).exit_code == 0
    assert len(bench.kernel.starts) in {8 + 2 * look for look in OBRIEN_FLEMING_THRESHOLDS}


def test_a_gate_until_sure_looks_after_every_round(bench: Bench) -> None:
    bench.measured(TRIAD, COPY)
    bench.measured(TRIAD, COPY)
    bench.slower = {"triad": 1.5}
    assert bench.compare("--gate", "--until-sure").exit_code == Exit.REGRESSION
    assert len(bench.kernel.starts) == 4 * 8
    assert isinstance(bench.compare("--until-sure").exception, Refusal)


@pytest.mark.parametrize("words", [("--rounds", "8"), (), ("--until-sure", "--rounds", "10")])
def test_a_gate_that_decides_nothing_exits_with_6(bench: Bench, words: tuple[str, ...]) -> None:
    bench.measured(TRIAD, COPY)
    bench.measured(TRIAD, COPY)
    bench.spread = {"copy": 0.5}
    done = bench.compare("--gate", *words)
    assert done.exit_code == 6, done.output
    assert "octant: the gate is undecided: no verdict on 1 of 2 figures" in done.stderr
    assert "Undecided (1)" in done.stdout
    assert bench.compare("--rounds", "8", *bench.store.ids()[-2:]).exit_code == 0, "without a gate it is an answer"


def test_a_gate_on_a_figure_that_cannot_be_compared_is_not_decided(bench: Bench) -> None:
    bench.measured(TRIAD, COPY)
    bench.measured(TRIAD, COPY)
    original = bench.answer

    def answer(workload: str, launch: str, cell: Mapping[str, str]) -> Point:
        found = original(workload, launch, cell)
        is_before = bench.kernel.starts[-1][bench.kernel.starts[-1].index("--output") + 1] == bench.first
        return _wrong(found) if cell["kernel"] == "copy" and is_before else found

    bench.kernel.answer = answer
    done = bench.compare("--gate", "--rounds", "8")
    assert done.exit_code == Exit.WRONG_ANSWER, done.output  # it comes before what is not decided
    assert "the gate is undecided" in done.output
    assert "wrong result in A" in done.stdout


def test_a_regression_is_reported_though_other_figures_are_not_decided(bench: Bench) -> None:
    bench.measured(TRIAD, COPY)
    bench.measured(TRIAD, COPY)
    bench.spread, bench.slower = {"copy": 0.5}, {"triad": 1.5}
    assert bench.compare("--gate").exit_code == Exit.REGRESSION


def test_a_gate_refuses_too_few_rounds_with_the_number_needed(bench: Bench) -> None:
    bench.measured(TRIAD, COPY)
    bench.measured(TRIAD, COPY)
    why = "cannot gate 2 figures on 6 paired rounds (at least 8 are required); try octant compare --gate --rounds 8"
    assert str(bench.compare("--gate", "--rounds", "6").exception) == why
    assert bench.kernel.starts == []
    assert bench.compare("--rounds", "6").exit_code == 0
    assert str(bench.compare("--gate").exception) == why, "of what is stored"
    assert bench.compare("--rounds", "3").exit_code == Exit.WRONG_WORD


def test_early_stopping_refuses_too_few_rounds_before_the_first_one(bench: Bench) -> None:
    bench.measured(TRIAD)
    bench.measured(TRIAD)
    why = "cannot gate 1 figure on 4 paired rounds (a difference in the figure cannot be proven on them); "
    refused = bench.compare("--gate", "--until-sure", "--rounds", "4")
    assert str(refused.exception) == f"{why}try octant compare --gate --until-sure --rounds 5"
    assert bench.kernel.starts == []


def test_the_planned_rounds_are_sufficient_for_the_number_of_figures(capsys: pytest.CaptureFixture[str]) -> None:
    def plan(figures: int, rounds: int | None = None, gate: bool = True, until_sure: bool = False) -> tuple[int, str]:
        return RoundOptions(rounds, gate, until_sure).plan(None, 12, gate or until_sure, figures)[:2]

    assert [plan(figures) for figures in (1, 85, 86, 110)] == [
        (12, "rising"),
        (12, "rising"),
        (12, "once"),
        (13, "once"),
    ]
    with pytest.raises(Refusal, match=r"a difference in one of 110 figures cannot be proven .*--gate --rounds 13"):
        plan(110, 12)
    assert plan(110, 8) == (8, "once")
    with pytest.raises(Refusal, match="try octant compare --gate --until-sure --rounds 8"):
        plan(2, 5, gate=False, until_sure=True)
    assert capsys.readouterr().err == ""
    assert plan(110, 12, gate=False) == (12, "once")
    assert capsys.readouterr().err.endswith("proven on 12 paired rounds; use --rounds 13\n")


def test_a_figure_that_one_side_cannot_give_again_is_a_regression(bench: Bench) -> None:
    bench.measured(TRIAD, COPY)
    bench.measured(TRIAD, COPY)
    original = bench.answer

    def answer(workload: str, launch: str, cell: Mapping[str, str]) -> Point:
        found = original(workload, launch, cell)
        is_after = bench.kernel.starts[-1][bench.kernel.starts[-1].index("--output") + 1] != bench.first
        return found if cell["kernel"] == "triad" or not is_after else _wrong(found)

    bench.kernel.answer = answer
    done = bench.compare("--gate")
    assert done.exit_code == Exit.WRONG_ANSWER, "it comes before the regression that it is, too"
    assert "wrong result in B" in done.stdout
    assert "octant: WRONG RESULT: node/stream: " in done.stderr


def _wrong(found: Point) -> Point:
    return dataclasses.replace(found, results=tuple(dataclasses.replace(r, value=1.0) for r in found.results))


def test_a_stop_says_how_to_go_on_and_that_goes_on(bench: Bench) -> None:
    bench.measured(TRIAD)
    bench.measured(TRIAD)
    bench.stop_at = 9
    done = bench.compare("--rounds", "6")
    assert done.exit_code == Exit.INTERRUPTED
    ids = bench.store.ids()[-2:]
    again = f"octant compare --rounds 6 {ids[0]} {ids[1]}"
    assert f"Stopped; 4 of 6 rounds are complete and stored. To continue: {again}" in done.stderr
    alone = CliRunner().invoke(application(), ["resume", "last", "--store", str(bench.store.root)])
    assert isinstance(alone.exception, Refusal)
    assert f"try {again}" in str(alone.exception)
    assert bench.compare(*again.split()[2:]).exit_code == 0
    assert len(bench.kernel.starts) == 12
    assert bench.store.ids()[-2:] == ids
    assert "over 6 paired rounds" in bench.compare(*ids).stdout


def test_previous_is_the_last_comparable_run(bench: Bench) -> None:
    wanted = bench.measured(TRIAD, title="wanted")
    bench.measured(COPY, title="of something else")
    for name, on in (("29990101-000000-aaaa", machine(cores=4)), ("29990102-000000-aaaa", machine())):
        run = bench.store.create(name, on, [TRIAD])
        for file in ("records.jsonl", "plan.jsonl"):
            (run.folder / file).write_bytes((wanted.folder / file).read_bytes())
        run.folder.rename(run.folder.with_name(name))
    done = bench.compare()
    assert f"octant: previous is {wanted.id} (wanted)" in done.stderr
    assert json.loads(bench.compare("--json").stdout)["a"] == wanted.id
    alone = Store(bench.store.root.parent / "alone")
    Bench(alone).measured(TRIAD)
    refused = CliRunner().invoke(application(), ["compare", "--store", str(alone.root)]).exception
    assert isinstance(refused, Refusal)
    assert "no imported run, has a figure in common with" in str(refused)


def test_what_only_one_run_has_takes_one_line(bench: Bench) -> None:
    bench.measured(TRIAD, request(bytes="2MiB,4MiB,8MiB", kernel="add"))
    bench.measured(TRIAD, COPY)
    ids = bench.store.ids()
    short, long = (" ".join(bench.compare(*ids, *words).stdout.split()) for words in ((), ("--all",)))
    assert "3 figures only in A: node/stream 3; --all lists them" in short
    assert "1 figure only in B: node/stream 1; --all lists them" in short
    assert "Not comparable" not in short
    assert "Not comparable (4)" in long
    assert "only in A:" not in long


def test_a_gate_on_one_figure_that_one_side_cannot_give_again_is_a_regression(bench: Bench) -> None:
    bench.measured(TRIAD)
    bench.measured(TRIAD)
    original = bench.answer

    def answer(workload: str, launch: str, cell: Mapping[str, str]) -> Point:
        found = original(workload, launch, cell)
        is_after = bench.kernel.starts[-1][bench.kernel.starts[-1].index("--output") + 1] != bench.first
        return _wrong(found) if is_after else found

    bench.kernel.answer = answer
    done = bench.compare("--gate")
    assert done.exit_code == Exit.WRONG_ANSWER, done.exception
    assert "wrong result in B" in done.stdout


def test_a_gate_on_runs_without_a_figure_that_both_could_measure_says_so(bench: Bench) -> None:
    kernel = Kernel()
    original = kernel.answer
    kernel.answer = lambda *words: _wrong(original(*words))
    run = bench.store.create("wrong", machine(), [TRIAD])
    execute_run(bench.store, run, run_all(run.launches), planner_of(run), start=kernel)
    bench.measured(TRIAD)
    refused = bench.compare("--gate").exception
    assert isinstance(refused, Refusal)
    assert "1 figure in common, none measurable in both: wrong result in A" in str(refused)
    assert refused.code == Exit.NOT_DECIDED


def test_a_gate_that_nothing_answered_is_refused(bench: Bench) -> None:
    bench.measured(TRIAD)
    bench.measured(TRIAD)
    failing = ProcessOutcome(1, False, 0.1, "the kernel died")
    bench.kernel.ends = dict.fromkeys(range(100), failing)
    refused = bench.compare("--gate").exception
    assert isinstance(refused, Refusal)
    assert "cannot judge" in str(refused)
    assert "the kernel died" in str(refused)
    assert refused.code == Exit.NOT_DECIDED, "it comes before the launches that failed"


@pytest.mark.parametrize("words", [("--rounds", "6"), ("--gate",), ("--gate", "--until-sure")])
def test_a_stop_in_the_first_round_is_gone_on_with(bench: Bench, words: tuple[str, ...]) -> None:
    bench.measured(TRIAD)
    bench.measured(TRIAD)
    bench.stop_at = 1
    done = bench.compare(*words)
    assert done.exit_code == Exit.INTERRUPTED
    ids = bench.store.ids()
    again = done.stderr.rpartition("To continue: octant compare ")[2].split()
    went_on = bench.compare(*again)
    assert went_on.exit_code == 0, went_on.exception
    assert bench.store.ids() == ids, "no other runs were begun"


@pytest.mark.parametrize("words", [("--gate",), ("--gate", "--until-sure")])
def test_resume_names_the_command_that_goes_on_with_a_gate(bench: Bench, words: tuple[str, ...]) -> None:
    bench.measured(TRIAD)
    bench.measured(TRIAD)
    bench.stop_at = 5
    assert bench.compare(*words).exit_code == Exit.INTERRUPTED
    ids, number = bench.store.ids(), len(bench.kernel.starts)
    bench.stop_at = number + 1
    stopped = bench.compare("--gate", *ids[-2:])
    alone = CliRunner().invoke(application(), ["resume", "last", "--store", str(bench.store.root)])
    for text in (stopped.stderr, str(alone.exception)):
        again = text.strip().rpartition("octant compare ")[2].split()
        assert bench.compare(*again).exit_code == 0
        assert bench.store.ids() == ids, f"no other runs were begun by {again}"


def test_rounds_of_runs_named_by_their_folders_stay_in_their_store(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.measured(TRIAD)
    bench.measured(TRIAD)
    bench.stop_at = 5
    assert bench.compare("--rounds", "4").exit_code == Exit.INTERRUPTED
    monkeypatch.chdir(tmp_path)
    folders = [str(bench.store.root / "runs" / name) for name in bench.store.ids()[-2:]]
    done = CliRunner().invoke(application(), ["compare", "--rounds", "4", *folders])
    assert done.exit_code == 0, done.exception
    assert len(bench.kernel.starts) == 8


def _killed_in(bench: Bench, *starts: int) -> None:
    bench.kernel.ends = {start: ProcessOutcome(137, False, 0.1, "killed") for start in starts}


def test_a_gate_that_cannot_tell_is_not_decided(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Absence of evidence: launches of both sides spread by far more than what matters."""
    monkeypatch.setattr(interleaved, "new_seed", lambda: 3)  # the order in a round says which launch is of which side
    bench.measured(TRIAD)
    bench.measured(TRIAD)

    def answer(workload: str, launch: str, cell: Mapping[str, str]) -> Point:
        number = len(bench.kernel.starts)
        lanes = (lane(durations(100_000 + 25_000 * (number * 7 % 5 - 2), 5)),)
        return point(workload=workload, launch=launch, knobs=dict(cell), lanes=lanes, counts={"bytes_read": 1000})

    bench.kernel.answer = answer
    done = bench.compare("--gate")
    assert "undecided" in done.stdout
    assert done.exit_code == Exit.NOT_DECIDED, done.output
    ids = bench.store.ids()[-2:]
    assert bench.compare("--gate", *ids).exit_code == Exit.NOT_DECIDED, "of what is stored"
    assert bench.compare(*ids).exit_code == Exit.OK, "without a gate nothing is to be decided"


def test_a_launch_of_the_rounds_that_failed_counts_unless_there_is_worse(bench: Bench) -> None:
    bench.measured(TRIAD)
    bench.measured(TRIAD)
    _killed_in(bench, 2)
    done = bench.compare("--rounds", "6")
    assert done.exit_code == Exit.CANNOT_RUN
    assert "octant: 1 launch failed (killed (exit status 137))" in done.stderr
    assert "octant resume" not in done.stderr, "a side is not measured alone"
    bench.slower = {"triad": 1.5}
    _killed_in(bench, len(bench.kernel.starts) + 2)
    assert bench.compare("--gate", *bench.store.ids()[:2]).exit_code == Exit.REGRESSION
