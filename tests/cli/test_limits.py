"""`octant run` states before the first launch where its limits come from, and `--no-limit` omits them."""

import dataclasses
import datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fake_run import durations, fake_run, lane, point, stored
from octant.analysis.stored_limits import LimitSearch
from octant.analysis.summary import summarise
from octant.cli import application
from octant.cli._limits import find_limits, warn_of_unreliable_limits
from octant.failure import Exit, Refusal
from octant.limit import StoredLimit
from octant.machine.discover import discover
from octant.record import Failure
from octant.request import Launch, Presentation, Request, Shape, Subject
from octant.runs.exit_reasons import explain_missing_limits, list_exit_reasons
from octant.store import Store

GEMM = Request(Subject("node/gemm"), {"n": "256"}, show=Presentation("gemm"))


def test_a_limit_without_an_earlier_run_is_measured_with_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, machine = Store(tmp_path), discover()
    limits = find_limits(store, [GEMM], machine)
    (request,) = limits.requests
    assert request.subject.name == "node/peakflops"
    assert limits.stored == ()
    said = capsys.readouterr().err
    assert (
        said == "octant: the limit is measured with the run: double-precision peak (about 1 s; --no-limit omits it)\n"
    )
    run = store.create("gemm", machine, [GEMM, request])
    assert store.read(run.id).remaining() == (*GEMM.launches(), *request.launches()), "octant resume measures it, too"


def test_a_limit_of_an_earlier_run_is_named_with_its_age(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = datetime.datetime.now().astimezone() - datetime.timedelta(hours=3)
    limit = StoredLimit("fma double", 1e11, (0,), "20261122-200000-123-1c8081d884c7d65f", begun.isoformat())
    monkeypatch.setattr(LimitSearch, "find", lambda _search, needed: [(limit,) for _ in needed])
    limits = find_limits(Store(tmp_path), [GEMM], discover())
    assert (limits.requests, limits.stored) == ((), (limit,))
    said = capsys.readouterr().err
    assert said == (
        "octant: the limit is the double-precision peak of run 20261122-200000-123, measured 3 h 0 min ago\n"
    )


def test_a_request_without_limits_says_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for request in (
        Request(Subject("node/peakflops")),
        Request(Subject("mpi/p2p"), {"bytes": "8"}, Shape(2, link="1Gbit/s,delay=1ms")),
    ):
        limits = find_limits(Store(tmp_path), [request], discover())
        assert (limits.requests, limits.stored) == ((), ())
    assert capsys.readouterr().err == ""


def test_a_failed_measurement_of_a_limit_does_not_change_the_exit_code() -> None:
    limit = Request(Subject("node/peakflops"), {}, show=Presentation("limit", table=False, purpose="limit"))
    run = dataclasses.replace(fake_run(), who="run")
    for code in (Exit.CANNOT_RUN, Exit.NOT_SUPPORTED):
        failed = Failure("node/peakflops", Launch(limit).key, {}, 1, "out of memory", int(code))
        with_limit = dataclasses.replace(
            run, requests=(*run.requests, limit), order=(*run.order, (len(run.requests), 0)), failures=(failed,)
        )
        assert list_exit_reasons(with_limit) == list_exit_reasons(dataclasses.replace(run, failures=()))
        assert explain_missing_limits(with_limit) == ["the limit could not be measured completely (out of memory)"]


def test_an_unreliable_limit_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    limit = Request(Subject("node/peakflops"), {}, show=Presentation("limit: peak", table=False, purpose="limit"))
    launch = Launch(limit)
    for faults, count in ((True, 1), (False, 0)):
        made = point(
            workload="node/peakflops", launch=launch.key, counts={"flops": 1000}, lanes=(lane(durations(1000)),),
            build={"optimised": True, "faults_compiled": faults},
        )  # fmt: skip
        warn_of_unreliable_limits(summarise(stored([launch], [made])).figures)
        why = "its measurement is not reliable: the kernel is a fault-injection build"
        assert capsys.readouterr().err == f"octant: no share of a limit ({why}); measure again\n" * count


def test_no_limit_is_passed_to_a_job_and_refused_for_a_program(tmp_path: Path) -> None:
    script, app = tmp_path / "job.sh", application()
    words = ["run", "gemm", "--no-limit", "--launcher", "sbatch", "--script", str(script), "--store", str(tmp_path)]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert " --no-limit" in script.read_text(encoding="utf-8")
    refused = CliRunner().invoke(app, ["run", "--no-limit", "--", "sleep", "1"])
    assert isinstance(refused.exception, Refusal)
    assert str(refused.exception).startswith("cannot use --no-limit with a program (programs have no limit)")
