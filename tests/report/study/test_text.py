"""What a study's report says, in text, for programs and as a page: the values and verdicts, and nothing else."""

import dataclasses
import html as markup
import json
import math
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

import fake_study
from fake_run import machine
from octant.failure import Exit
from octant.report.study import page as study_page
from octant.report.study import text as report
from octant.request import Launch
from octant.store import Store
from octant.study import outcome
from paths import Octant
from study_text import STUDY, curve_study


@pytest.fixture
def where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    fake_study.programs(tmp_path / "bin", monkeypatch)
    return Store(tmp_path / "store")


def test_the_published_table_is_shown_with_ours(where: Store) -> None:
    node = machine(packages=4, cores=8, smt=4, name="like a Power 755")
    run = fake_study.run(where, "stream-affinity-pages", node, lambda launch, _: fake_study.as_published(launch))
    text = report.report_text(fake_study.outcome_of(run))
    assert "122 GB/s" in text
    assert "seed 7" in text
    assert "needs 2 MiB pages; 0 of 0 reserved pages are free" in text


def test_what_is_not_done_and_what_is_wrong_is_said(where: Store) -> None:
    begun = outcome.begin(where, "stream-affinity-pages", machine(), seed=1, repeats=1)
    assert "INCOMPLETE" in report.about(fake_study.outcome_of(begun))
    with begun.records.open("a") as records:
        records.write(fake_study.line(begun.launches[0], begun.launches[0].request.knobs, 99e9, passed=False) + "\n")
    assert "WRONG RESULTS" in report.report_text(fake_study.outcome_of(where.read(begun.id)))


def test_doubts_and_gaps_stand_below_the_table(where: Store, tmp_path: Path) -> None:
    def ends_early(launch: Launch, point: Mapping[str, str]) -> float | None:
        early = launch.request.knobs.get("pages") == "thp" and (launch.repeat < 4 or point["bytes"] == "4MiB")
        return None if early else 10e9

    run = fake_study.run(where, curve_study(tmp_path), machine(), ends_early, repeats=8)
    why = "node/stream: cannot go on (no reason); try again (exit status 1)"
    text = report.report_text(fake_study.outcome_of(run))
    assert f"{why}: m: b at 4MiB" in text
    assert f": 4 of 8 launches failed ({why})" in text


def test_a_doubt_of_several_values_is_listed_once(where: Store, tmp_path: Path) -> None:
    begun = outcome.begin(where, curve_study(tmp_path), machine(), seed=1, repeats=4)
    with begun.records.open("a") as records:
        for launch in begun.launches:
            lines = (fake_study.line(launch, knobs, 10e9, share_cores=True) for knobs in launch.cells())
            records.writelines(f"{line}\n" for line in lines)
    text = report.report_text(fake_study.outcome_of(where.read(begun.id)))
    assert (
        len(
            re.findall(
                r"^  oversubscription: oversubscribed \(more threads than hardware threads\) \(and \d+ more\)$",
                text,
                re.M,
            )
        )
        == 1
    )


def test_notes_list_every_caveat_of_each_row(where: Store, tmp_path: Path) -> None:
    begun = outcome.begin(where, curve_study(tmp_path), machine(), seed=1, repeats=4)
    with begun.records.open("a") as records:
        for launch in begun.launches:
            lines = (fake_study.line(launch, knobs, 10e9, share_cores=True) for knobs in launch.cells())
            records.writelines(f"{line}\n" for line in lines)
    found = fake_study.outcome_of(where.read(begun.id))
    assert found.run is not None
    every = [one.text for curve in found.values.by_cell.values() for value in curve.values() for one in value.caveats]
    assert len(set(every)) > 1, "a row has several caveats"
    text = report.report_text(found, notes=True)
    assert " more)" not in text
    assert f"  all caveats: octant study report {found.run.id} --notes\n" in report.report_text(found)
    assert sum(text.count(f": {one}\n") for one in set(every)) == len(every)
    assert "  a 2MiB: oversubscription: oversubscribed (more threads than hardware threads)\n" in text


def test_a_factor_that_does_not_differ_has_no_column(where: Store, tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(
        STUDY.replace('which = "a"', 'which = "a"\nhost = "mine"').replace(
            "[factors.which]", "[factors.host]\nmine = {}\n[factors.which]"
        )
    )
    run = fake_study.run(where, str(mine), machine(), lambda *_: 10e9)
    head = next(
        line for line in report.report_text(fake_study.outcome_of(run)).splitlines() if line.endswith("× baseline")
    )
    assert head.split()[:2] == ["which", "here"]


def test_tests_that_end_otherwise_share_the_statement_too(where: Store, tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    finding = STUDY[STUDY.index("[[findings]]") :]
    mine.write_text(STUDY + finding.replace("above = 1.0", "above = 2.0"))
    run = fake_study.run(
        where, str(mine), machine(), lambda launch, _: 15e9 if "pages" in launch.request.knobs else 10e9
    )
    text = report.report_text(fake_study.outcome_of(run))
    assert (text.count("p6-locality-best"), text.count(" does not hold:"), text.count(" holds:")) == (1, 1, 1)


def test_a_level_that_alone_was_measured_has_its_column(where: Store, tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(STUDY)
    run = fake_study.run(
        where, str(mine), machine(), lambda launch, _: 10e9 if "pages" in launch.request.knobs else None
    )
    lines = report.report_text(fake_study.outcome_of(run)).splitlines()
    assert any(line.split()[:2] == ["b", "10.0"] for line in lines)


def test_tests_of_one_finding_share_its_statement_and_a_reason_is_printed_once(where: Store) -> None:
    run = fake_study.run(where, "task-placement", machine(), lambda *_: 10e9)
    text = " ".join(report.report_text(fake_study.outcome_of(run)).split())
    assert text.count("Accumulating tasks") == 1
    assert text.count("cannot be tested here: needs 2 NUMA domains") == 1
    assert "(2 tests)" in text


def test_a_model_is_named_as_one() -> None:
    pytest.importorskip("octant._network")
    text = report.report_text(outcome.outcome_of_model("gups-scaling"))
    assert "values of a model; nothing was measured" in text


def test_published_values_are_no_model() -> None:
    pytest.importorskip("octant._network")
    text = report.report_text(outcome.outcome_of_model("memory-latency-generations"))
    assert "\npublished values\n\n" in text
    assert "Power 570 gives × 2.47 for clock relative to machine POWER5+." in text
    assert "a model" not in text


def test_the_json_says_the_same(where: Store) -> None:
    run = fake_study.run(
        where,
        "stream-affinity-pages",
        machine(packages=4, cores=8, smt=4),
        lambda launch, _: fake_study.as_published(launch),
    )
    said = json.loads(report.report_json(fake_study.outcome_of(run)))
    assert (said["study"], said["seed"], said["run"]) == ("stream-affinity-pages", 7, run.id)
    best = next(cell for cell in said["cells"] if cell["levels"]["pages"] == "large")
    assert best["there"] == 122474e6
    assert best["middle"] == pytest.approx(122474e6, rel=2e-3)
    assert said["findings"][0]["status"] == "holds"


def test_the_page_says_the_same_and_escapes(where: Store, tmp_path: Path) -> None:
    run = fake_study.run(where, "stream-affinity-pages", machine(), lambda _launch, _point: 10e9, repeats=1)
    found = fake_study.outcome_of(run)
    page = study_page.render(found)
    assert "4 findings cannot be tested here: needs 2 NUMA domains; this machine has 1" in page
    assert "56.8 GB/s" in page
    assert "HPC Tuning on POWER7 (slides)" in page
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org/", "")  # nothing from the network
    spoiled = dataclasses.replace(found, name="<script>")
    assert "<code>&lt;script&gt;</code>" in study_page.render(spoiled)


@pytest.mark.slow
def test_a_study_runs_for_real_from_the_command(octant: Octant, tmp_path: Path) -> None:
    """One core, a cache-sized array, base pages against transparent huge ones; three launches of each."""
    mine = tmp_path / "mine.toml"
    text = STUDY.replace('workload = "stream"', 'workload = "stream"\nknobs = { bytes = "1MiB", seconds = "0.2" }')
    mine.write_text(text)
    few = octant("study", "run", str(mine), "--repeats", "3")
    assert few.returncode == Exit.WRONG_WORD
    assert "3 launches per configuration, at least 4 are required); use --repeats 4, or --anyway" in few.stderr
    ran = octant("study", "run", str(mine), "--repeats", "3", "--anyway", "--seed", "5", "--json")
    assert ran.returncode == 0, ran.stderr
    said = json.loads(ran.stdout)
    assert len(said["cells"]) == 2
    ends = [(cell["low"] or 0, cell["middle"], cell["high"] or math.inf) for cell in said["cells"]]
    assert all(low <= middle <= high for low, middle, high in ends)
    # A busy machine may take most of a launch's time.
    left_out = "launches excluded" in [one["kind"] for cell in said["cells"] for one in cell["caveats"]]
    assert left_out or [cell["launches"] for cell in said["cells"]] == [3, 3]
    (finding,) = said["findings"]
    assert finding["status"] == "cannot be tested here"
    assert "fault-injection build" in finding["why"]  # the kernels of the tests can be made to fail
    again = octant("study", "report", "mine", "--json")
    assert json.loads(again.stdout) == said
    shown = octant("study", "report", said["run"])
    assert "seed 5" in shown.stdout
    resumed = octant("resume", said["run"])
    assert "cannot be tested here" in resumed.stdout
    assert resumed.stdout.endswith("study.html\n")
    refused = octant("study", "run", str(mine), "--repeats", "0")
    assert refused.returncode == 2
    assert "1<=x<=1000" in refused.stderr


def test_no_view_of_a_study_states_an_interval_that_says_nothing(where: Store, tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(STUDY)

    def of(spread: float) -> tuple[str, str, list[tuple[float | None, float | None]]]:
        def rate(launch: Launch, _point: Mapping[str, str]) -> float:
            is_b = launch.request.knobs.get("pages") == "thp"
            return 1e9 * math.exp(spread * (2 * launch.repeat if is_b else -launch.repeat))

        found = fake_study.outcome_of(fake_study.run(where, str(mine), machine(), rate, repeats=4))
        exported = json.loads(report.report_json(found))
        ends = [(cell["low"], cell["high"]) for cell in exported["cells"]]
        ends += [(one["here"][0], one["here"][2]) for one in exported["findings"] if one["here"]]
        return report.report_text(found), markup.unescape(study_page.render(found)), ends

    text, page, ends = of(0.02)
    assert "[" in text
    assert all(low is not None and high is not None for low, high in ends)
    text, page, ends = of(0.7)
    assert len(ends) == 3
    assert set(ends) == {(None, None)}
    assert not re.search(r"\[\d|95 % interval|± \d", text), text
    assert not re.search(r"\d \[\d|95 % interval for", page)


@pytest.mark.parametrize(
    ("repeats", "here", "ratio"),
    [
        (1, "range within one launch", ""),
        (2, "two launches", ""),
        (3, "95 % interval for the median over 3 launches", ""),
        (
            6,
            "95 % interval for the median over 6 launches",
            "95 % interval for the geometric mean ratio over 6 paired rounds",
        ),
    ],
)
def test_every_view_of_a_study_says_what_its_brackets_are(
    where: Store, tmp_path: Path, repeats: int, here: str, ratio: str
) -> None:
    def rate(launch: Launch, _point: object) -> float:
        return 10e9 * (1 + 0.01 * (launch.repeat + (launch.request.knobs.get("pages") == "thp")) ** 2)

    found = fake_study.outcome_of(fake_study.run(where, curve_study(tmp_path), machine(), rate, repeats=repeats))
    text = " ".join(report.report_text(found).split())
    page = markup.unescape(study_page.render(found))
    for view in (text, page):
        assert f"here: {here}" in view
        assert (f"× baseline: {ratio}" in view) == bool(ratio)
        assert (f"in brackets: {ratio}" in view) == bool(ratio)
    exported = json.loads(report.report_json(found))
    assert all(cell["claim"].startswith(here) for cell in exported["cells"])
    assert all(one["here_is"].startswith(ratio) for one in exported["findings"])
