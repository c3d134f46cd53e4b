"""Each decided launch is started once, as planned, and its outcome is kept, whichever process is killed and when."""

import dataclasses
import functools
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fake_kernel import GOOD, Kernel, planned, request
from fake_run import machine
from octant.failure import Exit, Refusal, worst
from octant.launch import Planned
from octant.launch.bind import refusal_path
from octant.launch.execute import ProcessOutcome
from octant.placement import RankPlacement
from octant.record import Failure, Point
from octant.request import Launch, Presentation, Request, Shape, Subject
from octant.runs.exit_reasons import list_exit_reasons
from octant.runs.session import Batch, LaunchSchedule, LaunchStart, execute_run, run_all
from octant.runs.starts import list_starts
from octant.store import Store, StoredRun
from octant.store.kept import read_kept

REQUESTS = (request(bytes="1MiB,2MiB"), request(bytes="4MiB", kernel="copy"))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def go_on(store: Store, run: StoredRun, kernel: Callable[..., ProcessOutcome] | None = None) -> StoredRun:
    """Carries out what was decided beforehand."""
    plan = functools.partial(planned, records=run.records)
    return execute_run(store, run, run_all(run.launches), plan, start=kernel or Kernel())


def test_every_launch_is_started_once_and_nothing_is_left(store: Store) -> None:
    kernel = Kernel()
    run = go_on(store, store.create("q", machine(), REQUESTS), kernel)
    assert [point.knobs["bytes"] for point in run.points] == ["1MiB", "2MiB", "4MiB"]
    assert run.complete
    assert go_on(store, run, kernel).points[0].launch == run.points[0].launch
    assert len(kernel.starts) == 2, "what is done is not done again"


def test_a_failed_launch_is_recorded_the_rest_goes_on_and_resume_asks_again(store: Store) -> None:
    kernel = Kernel({0: ProcessOutcome(1, False, 0.1, "noise\nnode/stream: rank 1: cannot go on (test); try again\n")})
    run = go_on(store, store.create("q", machine(), REQUESTS), kernel)
    assert [point.knobs["bytes"] for point in run.points] == ["4MiB"]
    assert run.failures[0].reason == "node/stream: rank 1: cannot go on (test); try again (exit status 1)"
    assert [launch.key for launch in run.remaining()] == [run.launches[0].key]
    assert go_on(store, run, kernel).complete


def test_an_ask_that_hangs_twice_waits_for_resume_and_the_others_go_on(store: Store) -> None:
    requests = (request(6, bytes="1MiB"), request(3, bytes="2MiB"))
    order = [(number, repeat) for repeat in range(3) for number in (0, 1)] + [(0, repeat) for repeat in range(3, 6)]
    ends = {0: ProcessOutcome(-15, True, 7.0, ""), 2: ProcessOutcome(-15, True, 7.0, "")}
    kernel = Kernel(ends)
    run = go_on(store, store.create("q", machine(), requests, order), kernel)
    assert len(kernel.starts) == 5, "two of the one that hangs, three of the other"
    assert [launch.key for launch in run.remaining()] == [launch.key for launch in requests[0].launches()]
    assert go_on(store, run, Kernel()).complete


def test_launches_that_fail_quickly_are_all_tried(store: Store) -> None:
    kernel = Kernel({number: ProcessOutcome(1, False, 0.1, "") for number in range(4)})
    run = go_on(store, store.create("q", machine(), (request(6, bytes="1MiB"),)), kernel)
    assert (len(kernel.starts), len(run.points), len(run.remaining())) == (6, 2, 4)


def test_a_hung_launch_and_a_killed_one_say_so_and_how_far_they_were(store: Store) -> None:
    run = store.create("q", machine(), REQUESTS)
    kernel = Kernel({0: ProcessOutcome(-9, False, 0.1, ""), 1: ProcessOutcome(-15, True, 7.0, "")})

    def start(words: Sequence[str], *further: Any) -> ProcessOutcome:
        if not kernel.starts:
            _leave(run, words[words.index("--run") + 1])
        return kernel(words, *further)

    run = execute_run(store, run, run_all(run.launches), functools.partial(planned, records=run.records), start=start)
    killed, hung = (failure.reason for failure in run.failures)
    assert (killed.startswith("killed by SIGKILL"), hung) == (True, "timed out after 7 s")
    assert [(failure.share, failure.phase) for failure in run.failures] == [(0.25, "update"), (None, "")]


def _leave(run: StoredRun, launch: str) -> None:
    """Create the files that a killed kernel leaves in the folder of the run."""
    reached = {"launch": launch, "share": 0.25, "phase": "update"}
    (run.folder / "records.jsonl.progress").write_text(json.dumps(reached))
    (run.folder / "records.jsonl.progress.new").write_text("{")
    (run.folder / "records.jsonl.scratch-4711").mkdir()
    (run.folder / "records.jsonl.scratch-4711" / "file").touch()


def test_what_a_killed_kernel_leaves_is_removed_and_says_nothing_of_later_launches(store: Store) -> None:
    run = store.create("q", machine(), REQUESTS)
    _leave(run, run.launches[0].key)  # this process was killed together with the kernel
    kept = {path.name for path in run.folder.iterdir() if "scratch" not in path.name and "progress" not in path.name}
    run = go_on(store, run, Kernel({0: ProcessOutcome(-9, False, 0.1, "")}))
    assert run.failures[0].share is None, "what is known of the start before"
    assert {path.name for path in run.folder.iterdir()} == kept | {"plan.jsonl", "records.jsonl"}
    with pytest.raises(KeyboardInterrupt):
        go_on(store, run, Kernel(answer=functools.partial(_leave_and_stop, run)))
    assert not list(run.folder.glob("records.jsonl.*"))


def _leave_and_stop(run: StoredRun, _workload: str, launch: str, _cell: object) -> Point:
    _leave(run, launch)
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("code", "said", "reason"),
    [
        (2, "====\nYOUR APPLICATION TERMINATED WITH THE EXIT STRING: Interrupt (signal 2)\n", "SIGINT"),
        (3, "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Quit (signal 3)\n", "SIGQUIT"),
        (11, "=   EXIT CODE: 9\nWITH THE EXIT STRING: Segmentation fault (signal 11)\n", "SIGINT, SIGQUIT or SIGSEGV"),
        (11, "=   EXIT CODE: 11\nWITH THE EXIT STRING: Segmentation fault (signal 11)\n", "SIGSEGV"),
        (
            137,
            "mpirun noticed that process rank 1 with PID 7 on node n exited on signal 9 (Killed).\n",
            "SIGKILL (possibly out of memory)",
        ),
    ],
)
def test_a_rank_that_was_killed_is_asked_again_whatever_its_launcher_made_of_it(
    store: Store, code: int, said: str, reason: str
) -> None:
    """The exit statuses 2 and 3 of a kernel mean a usage error and what is not supported."""
    run = go_on(store, store.create("q", machine(), REQUESTS[:1]), Kernel({0: ProcessOutcome(code, False, 0.1, said)}))
    assert f"a rank was killed by {reason}" in run.failures[0].reason
    assert (run.failures[0].exit, run.complete) == (Exit.CANNOT_RUN, False)


@pytest.mark.parametrize("code", [*map(int, Exit), -11, 9, 139])
def test_an_exit_status_that_no_record_explains_is_not_taken_for_an_end_of_the_kernel(store: Store, code: int) -> None:
    """Launchers have statuses of their own, and change those of ranks."""
    outcome = ProcessOutcome(code, False, 0.1, "octant-bind: cannot; node/stream: cannot")
    run = go_on(store, store.create("q", machine(), REQUESTS[:1]), Kernel({0: outcome}))
    assert [failure.exit for failure in run.failures] == [Exit.CANNOT_RUN] * (code != 0)
    assert not run.complete, "it can be repeated"


@pytest.mark.parametrize("code", [*map(int, Exit), -11, 9, 139])
def test_a_kernel_that_answered_every_cell_did_not_fail_whatever_its_status_is(store: Store, code: int) -> None:
    """A wrong result is a point, whose check says it."""
    kernel = Kernel()
    run = go_on(store, store.create("q", machine(), REQUESTS[:1]), lambda *words: replace(kernel(*words), code=code))
    assert (len(run.points), run.failures, run.complete) == (2, (), True)
    assert run.records.read_text().count('"kind":"failure"') == 0


@pytest.mark.parametrize(
    ("stated", "exits", "complete"),
    [
        ("3 no such node\n", Exit.NOT_SUPPORTED, True),
        ("2 no such place\n", Exit.WRONG_WORD, True),
        ("1 the parent has ended\n", Exit.CANNOT_RUN, False),
        ("3 no such node\n1 the parent has ended\n", Exit.CANNOT_RUN, False),
    ],
)
@pytest.mark.parametrize("status", [1, 3, 9])
def test_what_octant_bind_refuses_is_what_it_states(
    store: Store, stated: str, exits: Exit, complete: bool, status: int
) -> None:
    """Whatever the launcher makes of the status, and without what was said on standard error."""
    kernel = Kernel({0: ProcessOutcome(status, False, 0.1, "")})
    run = store.create("q", machine(), REQUESTS[:1])

    def start(*words: Any) -> ProcessOutcome:
        refusal_path(run.records).write_text(stated)
        return kernel(*words)

    done = go_on(store, run, start)
    assert [(one.exit, one.reason) for one in done.failures] == [(exits, f"octant-bind: {stated.splitlines()[0][2:]}")]
    assert (done.complete, list(run.folder.glob("*.refusal"))) == (complete, [])


@pytest.mark.parametrize("code", [Exit.CANNOT_RUN, Exit.WRONG_WORD, Exit.NOT_SUPPORTED])
def test_what_a_kernel_states_is_believed_whatever_its_status_is(store: Store, code: Exit) -> None:
    run = store.create("q", machine(), REQUESTS[:1])

    def start(*_words: Any) -> ProcessOutcome:
        store.append(run, Failure("node/stream", run.launches[0].key, {"bytes": "1MiB,2MiB"}, 1, "cannot", code))
        return ProcessOutcome(255, False, 0.1, "mpiexec: something ended")

    done = go_on(store, run, start)
    assert [(failure.exit, failure.reason) for failure in done.failures] == [(code, "cannot")]
    assert done.complete == (code != Exit.CANNOT_RUN)


@pytest.mark.parametrize(
    ("code", "reasons"),
    [(Exit.CANNOT_RUN, ["cannot", "on a, b: exit status 9"]), (Exit.WRONG_WORD, ["cannot"]), (3, ["cannot"])],
)
def test_on_which_hosts_it_was_is_said_of_what_can_be_repeated(store: Store, code: int, reasons: list[str]) -> None:
    question = replace(request(bytes="1MiB"), shape=Shape(2, hosts=("a", "b")))
    run = store.create("q", machine(), [question])

    def start(*_words: Any) -> ProcessOutcome:
        store.append(run, Failure("node/stream", run.launches[0].key, {"bytes": "1MiB"}, 2, "cannot", code))
        return ProcessOutcome(9, False, 0.1, "")

    assert [failure.reason for failure in go_on(store, run, start).failures] == reasons


def test_a_kernel_that_refuses_one_value_is_started_again_for_those_after_it(store: Store) -> None:
    run = store.create("q", machine(), REQUESTS[:1])
    kernel = Kernel()

    def start(words: Sequence[str], *further: Any) -> ProcessOutcome:
        if kernel.starts:
            return kernel(words, *further)
        kernel.starts.append(list(words))
        knobs = {"bytes": "1MiB", "pin": "each"}
        store.append(run, Failure("node/stream", run.launches[0].key, knobs, 1, "cannot use bytes=1MiB", 2))
        return ProcessOutcome(2, False, 0.1, "")

    done = go_on(store, run, start)
    assert [words[-1] for words in kernel.starts] == ["bytes=1MiB,2MiB", "bytes=2MiB"]
    assert [point.knobs["bytes"] for point in done.points] == ["2MiB"]
    assert (done.complete, worst(end.code for end in list_exit_reasons(done))) == (True, Exit.WRONG_WORD)


def test_a_launch_that_cannot_be_planned_is_a_failure_of_its_own(store: Store) -> None:
    run = store.create("q", machine(), REQUESTS)

    def plan(launch: Launch) -> Planned:
        if launch == run.launches[0]:
            raise Refusal("cannot start (no mpiexec); try pip install mpich")
        return planned(launch, run.records)

    done = execute_run(store, run, run_all(run.launches), plan, start=Kernel())
    assert [failure.reason for failure in done.failures] == ["cannot start (no mpiexec); try pip install mpich"]
    assert len(done.points) == 1
    assert list(done.plans) == [run.launches[1].key]


def test_what_was_decided_is_on_disk_before_it_starts(store: Store) -> None:
    run = store.create("q", machine(), REQUESTS[:1])
    places = (RankPlacement.of_threads(0, ({0}, {4}), (1,)),)

    def start(*_: object) -> ProcessOutcome:
        (plan,) = store.read(run.id).plans.values()
        assert plan == dataclasses.replace(made, launch=dataclasses.replace(launch, knobs=dict(launch.request.knobs)))
        return GOOD

    (launch,) = run.launches
    made = dataclasses.replace(planned(launch, run.records), launcher="mpiexec", places=places, timeout_s=7.5)
    execute_run(store, run, run_all([launch]), lambda _: made, start=start)


def test_ctrl_c_is_passed_on(store: Store) -> None:
    def stopped(*_: object) -> ProcessOutcome:
        raise KeyboardInterrupt

    run = store.create("q", machine(), REQUESTS)
    with pytest.raises(KeyboardInterrupt):
        execute_run(store, run, run_all(run.launches), functools.partial(planned, records=run.records), start=stopped)
    assert store.read(run.id).failures == (), "a stop by the user is no failure"


def test_one_run_is_measured_by_one_process_at_a_time(store: Store) -> None:
    run = store.create("q", machine(), REQUESTS)

    def meanwhile(*_: object) -> ProcessOutcome:
        with pytest.raises(Refusal, match="another octant process is measuring it"):
            go_on(store, run)
        return ProcessOutcome(1, False, 0.1, "")

    execute_run(store, run, run_all(run.launches), functools.partial(planned, records=run.records), start=meanwhile)
    kernel = Kernel()
    assert go_on(store, run, kernel).complete
    go_on(store, run, kernel)
    assert len(kernel.starts) == 2, "what another process did meanwhile is not done again"


def doubling(limit: int, batches: list[Batch] | None = None) -> LaunchSchedule:
    """Asks for twice the size for as long as an answer comes and it is below the limit."""
    size = 1
    while size < limit:
        batch = yield Launch(request(bytes=f"{size}KiB"))
        if batches is not None:
            batches.append(batch)
        size *= 2 if batch.points else limit


def test_each_launch_is_decided_from_what_came_of_the_last(store: Store) -> None:
    run = store.create("q", machine(), (), order=())
    batches: list[Batch] = []
    kernel = Kernel({2: ProcessOutcome(1, False, 0.1, "")})
    plan = functools.partial(planned, records=run.records)
    done = execute_run(store, run, doubling(100, batches), plan, start=kernel)
    assert [len(batch.points) for batch in batches] == [1, 1, 0]
    assert [batch.failures[0].reason for batch in batches if batch.failures] == ["exit status 1"]
    assert [launch.request.knobs["bytes"] for launch in done.launches] == ["1KiB", "2KiB", "4KiB"], "read from the plan"
    assert [launch.request.knobs["bytes"] for launch in done.remaining()] == ["4KiB"]


def test_resuming_decides_again_and_starts_only_what_is_missing(store: Store) -> None:
    run = store.create("q", machine(), (), order=())
    plan = functools.partial(planned, records=run.records)
    execute_run(store, run, doubling(8), plan, start=Kernel())
    kernel, batches = Kernel(), list[Batch]()
    done = execute_run(store, run, doubling(32, batches), plan, start=kernel)
    assert [next(w for w in words if w.startswith("bytes=")) for words in kernel.starts] == [
        "bytes=8KiB",
        "bytes=16KiB",
    ]
    assert [batch.points[0].knobs["bytes"] for batch in batches] == ["1KiB", "2KiB", "4KiB", "8KiB", "16KiB"]
    assert len(done.points) == 5


def test_a_command_line_is_started_for_each_cell_and_recorded_by_us(store: Store) -> None:
    question = Request(Subject(command=("./solve", "--n={n}", "{other}")), {"n": "1,2"}, show=Presentation("mine"))
    run = store.create("q", machine(), [question])
    steps: list[LaunchStart] = []
    taken = ProcessOutcome(0, False, 2.5, "", 2.0, 0.25, 1 << 20)
    plan = functools.partial(planned, records=run.records)
    done = execute_run(
        store,
        run,
        run_all(run.launches),
        plan,
        lambda s, _: steps.append(s),
        Kernel({0: taken, 1: ProcessOutcome(4, False, 0.1, "bad")}),
    )
    (point,) = done.points
    first, second = (start.started_knobs for start in list_starts(run.launches, run.seed))
    assert (point.workload, point.pace, point.knobs) == ("program/solve", "whole", first)
    assert {result.name: (result.value, result.unit) for result in point.results} == {
        "wall time": (2.5, "s"), "user time": (2.0, "s"), "system time": (0.25, "s"), "memory": (1 << 20, "B"),
    }  # fmt: skip
    assert [(failure.knobs, failure.reason) for failure in done.failures] == [(second, "bad (exit status 4)")]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> StoredRun:
    store = Store(tmp_path_factory.mktemp("finished"))
    return go_on(
        store, store.create("q", machine(), (request(2, bytes="1KiB,2KiB", kernel="copy,add"), request(bytes="4KiB")))
    )


@settings(max_examples=60)
@given(data=st.data())
def test_a_run_killed_at_any_byte_is_read_and_exactly_what_is_missing_is_asked_again(
    finished: StoredRun, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    store = Store(tmp_path_factory.mktemp("killed"))
    folder = store.root / "runs" / finished.id
    shutil.copytree(finished.folder, folder)
    for path in (folder / "records.jsonl", folder / "plan.jsonl"):
        text = path.read_bytes()
        path.write_bytes(text[: data.draw(st.integers(0, len(text)), label=path.name)])
    killed = store.read(finished.id)
    assert killed.damaged == (), "a torn last line is no damage"
    whole = (folder / "records.jsonl").read_bytes().count(b"\n")
    started = len({point.launch for point in killed.points})
    assert whole - started - 1 <= len(killed.points) <= whole

    kernel = Kernel()
    done = go_on(store, killed, kernel)
    cells = [(point.launch, point.knobs["bytes"], point.knobs.get("kernel")) for point in done.points]
    assert len(cells) == len(set(cells)) == 9, "each cell once"
    assert done.complete
    assert len(done.damaged) <= 2, "the ends of the lines that were torn"


def test_what_a_program_puts_into_its_folder_is_kept_with_its_point(store: Store) -> None:
    seen = []

    def program(_words: object, environment: Mapping[str, str], _timeout_s: float, _observe: object) -> ProcessOutcome:
        folder = Path(environment["OCTANT_KEEP"])
        seen.append(folder)
        (folder / "log").write_text(f"start {len(seen)}")
        return ProcessOutcome(1, False, 0.1, "no\n") if len(seen) == 1 else GOOD

    run = store.create("q", machine(), (Request(Subject(command=("./prog",)), repeats=2),))
    run = go_on(store, run, program)
    (point,) = run.points
    assert [(file.name, file.kind, file.bytes) for file in point.files] == [("log", "output", 7)]
    run = go_on(store, run, program)
    assert [read_kept(run.folder, file) for point in run.points for file in point.files] == [b"start 2", b"start 3"]
    assert len(list((run.folder / "files").iterdir())) == 2, "what the program left that failed is not kept"
    assert not any(folder.exists() for folder in seen)
    assert len(set(seen)) == 3


def test_files_of_a_launch_that_was_killed_before_its_record_are_removed(store: Store) -> None:
    run = store.create("q", machine(), (Request(Subject(command=("./prog",))),))
    left = run.folder / "files" / f"{run.launches[0].key}.0123456789abcdef"
    left.mkdir(parents=True)
    (left / "0.0.stdout").write_text("text")
    (store.root / "locks").mkdir(exist_ok=True)
    (store.root / "locks" / run.id).touch()  # of the process that was killed
    other = store.create("q", machine(), REQUESTS[:1])
    go_on(store, other)
    assert not left.exists()


def test_a_failed_launch_of_a_program_keeps_what_octant_bind_says(store: Store) -> None:
    run = store.create("q", machine(), (Request(Subject(command=("./prog",))),))

    def start(*_: object) -> ProcessOutcome:
        refusal_path(run.records).write_text("3 cannot bind to hardware threads 9; try fewer\n")
        return ProcessOutcome(0, False, 0.1, "")

    done = go_on(store, run, start)
    assert [(one.reason, one.exit) for one in done.failures] == [
        ("octant-bind: cannot bind to hardware threads 9; try fewer", Exit.NOT_SUPPORTED)
    ]
    assert not done.points


def test_a_kernel_is_given_no_folder_for_files(store: Store) -> None:
    given: list[Mapping[str, str]] = []

    def kernel(words: Sequence[str], environment: Mapping[str, str], timeout_s: float, observe: Any) -> ProcessOutcome:
        given.append(environment)
        return Kernel()(words, environment, timeout_s, observe)

    go_on(store, store.create("q", machine(), (request(bytes="1MiB"),)), kernel)
    assert given
    assert "OCTANT_KEEP" not in given[0]


def test_the_folder_for_files_of_a_program_that_was_killed_with_us_is_removed(store: Store) -> None:
    run = store.create("q", machine(), (Request(Subject(command=("./prog",))),))
    left = run.folder / "records.jsonl.scratch-keep-0123456789abcdef"
    left.mkdir()
    (left / "log").write_text("text")
    go_on(store, run, lambda *_: GOOD)
    assert not left.exists()
