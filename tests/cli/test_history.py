"""`octant history`: rows, verdict and page from a store, the list of figures, and confirmation by new launches."""

import datetime
import functools
import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from fake_kernel import Kernel
from fake_run import lane, machine, point
from made_history import BYTES, night, values_of, write_triad
from octant.cli import application
from octant.failure import Exit, Refusal
from octant.machine import discover
from octant.record import Point
from octant.runs import interleaved, session
from octant.store import Store
from program_run import Seen, launches, request_of, stored_program


def history(store: Path, *words: str) -> Result:
    return CliRunner().invoke(application(), ["history", *words, "--store", str(store)])


def refusal(store: Path, *words: str) -> Refusal:
    error = history(store, *words).exception
    assert isinstance(error, Refusal), error
    return error


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discover, "discover", machine)
    monkeypatch.setattr(interleaved, "recorded_environment", dict)


@pytest.fixture(scope="module")
def stepped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with 12 quiet nights, then 8 slower ones with another kernel, and runs of another processor."""
    root = tmp_path_factory.mktemp("store")
    for n in range(20):
        rate, kernel = (27.9e9, "6.12") if n >= 12 else (30e9, "6.1")
        write_triad(root, values_of(rate, seed=n), night(n), system={"kernel": kernel})
    write_triad(root, values_of(90e9), night(15.5), on=machine(cores=4, model="Other CPU"))
    return root


def test_the_table_and_the_verdict_name_step_date_size_and_change(stepped: Path) -> None:
    done = history(stepped, "triad")
    assert done.exit_code == 0, done.exception
    words = " ".join(done.stdout.split())
    assert "stream, bandwidth: 20 runs of fake" in words, "another processor is never joined"
    assert "changed: kernel 6.1 → 6.12 STEP: slower" in words
    date = night(12).astimezone().strftime("%Y-%m-%d %H:%M")
    assert f"Step on {date} (run {night(12):%Y%m%d-%H%M%S}" in words
    assert re.search(r"slower by [67]\.\d % \(95 % interval", words)
    assert "Changed at that time: kernel 6.1 → 6.12." in words
    assert "At most 5 % of histories without a step" in words


def test_since_and_last_select_rows_and_not_the_verdict(stepped: Path) -> None:
    since = json.loads(history(stepped, "triad", "--since", f"{night(18).date()}", "--json").stdout)
    assert len(since["rows"]) == 2
    last = json.loads(history(stepped, "triad", "--last", "3", "--json").stdout)
    assert [row["session"] for row in last["rows"]] == [17, 18, 19]
    assert since["verdict"] == last["verdict"]
    assert "17 earlier runs not shown" in history(stepped, "triad", "--last", "3").stdout
    assert refusal(stepped, "triad", "--since", "yesterday").code == Exit.WRONG_WORD


def test_json_has_the_rows_the_step_and_the_rate(stepped: Path) -> None:
    found = json.loads(history(stepped, "triad", "--json").stdout)
    (step,) = found["steps"]
    assert step["direction"] == "slower"
    assert step["low"] < step["size"] < step["high"] < 0
    assert (found["sessions"], found["false_alarms"], found["possible_step"]) == (20, 0.05, None)
    assert found["rows"][12]["changes"] == [{"what": "kernel", "before": "6.1", "after": "6.12"}]
    assert found["rows"][0]["low"] < found["rows"][0]["value"] < found["rows"][0]["high"]


def test_without_a_figure_the_figures_and_their_words_are_listed(stepped: Path) -> None:
    done = history(stepped)
    assert "  20  octant history stream " in done.stdout
    (figure,) = json.loads(history(stepped, "--json").stdout)["figures"]
    assert (figure["name"], len(figure["runs"])) == ("stream", 20)
    assert refusal(stepped, "--confirm").code == Exit.WRONG_WORD


def test_the_page_has_the_verdict_the_picture_and_the_rows(stepped: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert history(stepped, "triad", "-o", str(page)).stdout.splitlines()[-1] == str(page)
    text = page.read_text(encoding="utf-8")
    assert text.count("<svg") >= 2
    assert "kernel 6.1 → 6.12" in text
    assert all(f"{night(n):%Y%m%d-%H%M%S}" in text for n in range(20))


def test_other_machines_are_named_and_never_joined(stepped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discover, "discover", lambda: machine(cores=8))
    assert "no run of this machine" in str(refusal(stepped, "triad"))
    assert "--machine fake" in str(refusal(stepped, "triad"))
    done = history(stepped, "triad", "--machine", "fake")
    assert "20 runs of fake" in done.stdout
    assert "1 run of fake with other hardware (processor, memory) not included" in done.stderr
    assert "no run of the machine other" in str(refusal(stepped, "triad", "--machine", "other"))


def test_ambiguous_figures_are_listed_with_the_words_to_type(tmp_path: Path) -> None:
    for n, kernel in enumerate(("triad", "copy")):
        write_triad(tmp_path, values_of(30e9), night(n), knobs={"kernel": kernel, "bytes": "1GiB"}, label=kernel)
    error = refusal(tmp_path, "stream")
    assert error.code == Exit.WRONG_WORD
    assert {line.strip() for line in str(error).splitlines()[1:]} == {
        "octant history stream kernel=triad", "octant history stream kernel=copy",
    }  # fmt: skip
    assert history(tmp_path, "stream", "kernel=copy").exit_code == 0


def recent(store: Path, hours: float = 24) -> None:
    """16 runs and three slower ones, the last of which is so many hours old."""
    now = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    for n in range(19):
        begun = now - datetime.timedelta(days=18 - n, hours=hours)
        write_triad(store, values_of(27.9e9 if n >= 16 else 30e9, seed=n), begun)


class Rates:
    """A kernel whose launches have one rate, with some noise."""

    def __init__(self, rate: float) -> None:
        self.rates = iter(values_of(rate, 50, seed=99))

    def __call__(self, workload: str, launch: str, cell: Mapping[str, str]) -> Point:
        lanes = (lane([round(1e9 * BYTES / next(self.rates))] * 5),)
        now, counts = datetime.datetime.now(datetime.UTC).isoformat(), {"bytes_read": BYTES}
        return point(workload=workload, launch=launch, knobs=dict(cell), lanes=lanes, counts=counts, started=now)


@pytest.mark.parametrize(("rate", "verdict"), [(27.9e9, "Step on"), (30e9, "No step was detected")])
def test_confirm_measures_fresh_launches_and_repeats_the_verdict(
    rate: float, verdict: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, kernels = tmp_path / "store", tmp_path / "kernels"
    kernels.mkdir()
    (kernels / "octant-node-stream").touch(mode=0o755)
    monkeypatch.setenv("OCTANT_KERNELS", str(kernels))
    kernel = Kernel(answer=Rates(rate))
    monkeypatch.setattr(session, "execute_run", functools.partial(session.execute_run, start=kernel))
    recent(store)
    before = history(store, "triad").stdout
    assert "Possible step on " in before
    assert "To confirm it with new launches: octant history stream --confirm" in before
    done = history(store, "triad", "--confirm")
    assert done.exit_code == 0, done.exception or done.output
    assert len(kernel.starts) == 8
    assert verdict in done.stdout
    assert "20 runs of fake" in done.stdout
    assert Store(store).find("last").who == "history"


def test_confirm_within_an_hour_of_the_newest_run_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interleaved, "find_obstacle", lambda *_: "")
    recent(tmp_path, hours=0.2)
    error = refusal(tmp_path, "triad", "--confirm")
    assert error.code == Exit.NOT_DECIDED
    assert "the newest run is less than an hour old" in str(error)


def test_confirm_under_other_conditions_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recent(tmp_path)
    monkeypatch.setattr(interleaved, "recorded_environment", lambda: {"OMP_PROC_BIND": "close"})
    assert "OMP_PROC_BIND was not set and is close" in str(refusal(tmp_path, "triad", "--confirm"))


def test_programs_of_a_store_are_never_started(tmp_path: Path) -> None:
    for n in range(4):
        stored_program(tmp_path, request_of(("./solve", "input")), [launches(Seen())], night(n))
    error = refusal(tmp_path, "solve", "--confirm")
    assert error.code == Exit.NOT_SUPPORTED
    assert str(error).endswith("try octant run -- ./solve input")
