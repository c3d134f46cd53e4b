"""Studies from file to verdict: what is asked, in which order, what is made of the answers, and what is refused."""

import dataclasses
import json
import random
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fake_study
from fake_run import machine
from octant import catalogue, workloads
from octant.failure import Refusal
from octant.launch import Launch
from octant.machine import Machine
from octant.machine.hwloc import load
from octant.record import Buffer, Given
from octant.report.run import html
from octant.report.study import page as study_page
from octant.report.study import text as report
from octant.store import Store
from octant.study import design, file, outcome, published
from octant.study.design import Cell
from octant.study.lines import line_of
from paths import ROOT, Octant

RECORDED = sorted([*(ROOT / "machines").glob("*.xml"), *(ROOT / "machines").glob("*.synthetic")])


def on(topology: Path) -> Machine:
    clean = machine()
    return Machine(topology.name, load(topology), clean.processor, 64 * 2**30, clean.page_sizes, {**clean.system}, {})


@pytest.mark.parametrize("name", file.names())
@pytest.mark.parametrize("topology", RECORDED, ids=lambda path: path.name)
def test_shipped_studies_plan_on_every_recorded_machine(name: str, topology: Path) -> None:
    study = file.load(name)
    if study.source == "model":
        return
    plan = design.design(study, on(topology), seed=1)
    cells = len(design.combinations(study)) * len(study.measures)
    assert len(plan.questions) + len(plan.absent) == cells
    counted = Counter(launch.question for launch in plan.launches)
    assert set(counted) == set(plan.questions.values())
    assert set(counted.values()) <= {study.repeats}
    for launch in plan.launches:
        assert launch.ranks >= 1
        assert (
            not {"llc", "cores", "ranks"} & set(launch.knobs["bytes"].split("*")) if "bytes" in launch.knobs else True
        )


@pytest.mark.parametrize("name", file.names())
def test_shipped_studies_ask_for_what_there_is(name: str) -> None:
    study = file.load(name)
    for measure in study.measures.values():
        if measure.workload in workloads.workloads():
            workloads.workload(measure.workload).metric(measure.metric)
    assert {finding.id for finding in study.findings} <= set(catalogue.findings())


def test_the_order_is_shuffled_within_rounds_and_repeats_with_the_seed() -> None:
    study = file.load("stream-affinity-pages")
    plan = design.design(study, machine(nodes=2, smt=2), seed=3)
    rounds: dict[int, list[str]] = {}
    for launch in plan.launches:
        rounds.setdefault(launch.repeat, []).append(launch.question)
    assert list(rounds) == list(range(study.repeats))
    assert len({tuple(sorted(block)) for block in rounds.values()}) == 1  # every round asks everything once
    assert len({tuple(block) for block in rounds.values()}) > 1  # in another order
    assert plan == design.design(study, machine(nodes=2, smt=2), seed=3)
    assert plan.launches != design.design(study, machine(nodes=2, smt=2), seed=4).launches


def test_words_become_numbers_of_the_machine() -> None:
    """2 domains x 2 cores x 2 threads with a 32 MiB cache a domain: 4 * 64 MiB over 4 or 8 ranks."""
    plan = design.design(file.load("stream-affinity-pages"), machine(nodes=2, smt=2), seed=0)
    asked = {launch.title: launch for launch in plan.launches}
    core = asked["triad: yes, local, large, a rank a core"]
    assert (core.ranks, core.knobs["bytes"], core.place) == (4, str(64 * 2**20), "4x1,smt=1")
    threads = asked["triad: yes, local, large, a rank a core, its threads"]
    assert (threads.ranks, threads.knobs["threads"], threads.place) == (4, "2", "4x2,smt=2")
    ranks = asked["triad: yes, local, large, a rank a hardware thread"]
    assert (ranks.ranks, ranks.knobs["bytes"], ranks.place) == (8, str(32 * 2**20), "8x1,smt=2")


def test_the_published_table_stands_beside_its_combinations() -> None:
    """The six rows of the POWER7 table, by their levels."""
    rows = published.rows(file.load("stream-affinity-pages"))
    assert [(" / ".join(row.cell.levels), row.observation.value) for row in rows] == [
        ("no / anywhere / small / a rank a core", 56830),
        ("yes / anywhere / small / a rank a core", 56564),
        ("yes / local / small / a rank a core", 122409),
        ("yes / local / large / a rank a core", 122474),
        ("yes / local / large / a rank a hardware thread", 117082),
        ("yes / local / large / a rank a core, its threads", 117065),
    ]


def as_published(launch: Launch) -> float:
    """What the POWER7 node measured in a launch's combination; elsewhere, what bound and local gave."""
    rows = {str(row.cell): row.value for row in published.rows(file.load("stream-affinity-pages"))}
    jitter = 1 + 0.002 * (random.Random(launch.key).random() - 0.5)
    return rows.get(launch.title, 122409e6) * jitter


@pytest.fixture
def where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    fake_study.programs(tmp_path / "bin", monkeypatch)
    return Store(tmp_path / "store")


def test_a_machine_that_answers_as_published_gets_the_published_verdicts(where: Store) -> None:
    node = machine(packages=4, cores=8, smt=4, name="like a Power 755")
    run = fake_study.run(where, "stream-affinity-pages", node, lambda launch, _point: as_published(launch))
    found = outcome.understood(run)
    said = {verdict.finding.id: verdict for verdict in found.verdicts}
    assert {name: verdict.status for name, verdict in said.items()} == {
        "p7-affinity-doubles-stream": "holds",
        "p7-binding-alone-no-gain": "holds",
        "p7-affinity-mandatory": "holds",
        "p6-locality-best": "holds",
        "p7-affinity-not-on-smp": "cannot be tested here",
        "p7-medium-pages-small-gain": "holds",
        "p7-medium-pages-old-gain": "does not hold",
        "p7-smt-no-stream-gain": "holds",
        "p7-mpi-or-threads-same-stream": "holds",
    }
    assert said["p7-affinity-doubles-stream"].there == pytest.approx((122409 / 56830,) * 2)
    assert said["p7-affinity-doubles-stream"].text.startswith(
        "holds: ×2.15 there, ×2.15 [2.15, 2.16] here for triad, binding yes over no, memory local over anywhere "
        "(the bar: above 2)"
    )
    assert said["p7-affinity-not-on-smp"].why == "4 NUMA domains, at most 1 needed"
    text = report.report_text(found)
    assert "122 GB/s" in text
    assert "seed 7" in text
    assert "no 2 MiB pages (the pool has no free pages)" in text


def test_one_domain_cannot_tell_and_says_so(where: Store) -> None:
    run = fake_study.run(where, "stream-affinity-pages", machine(), lambda _launch, _point: 10e9)
    said = {verdict.finding.id: verdict.text for verdict in outcome.understood(run).verdicts}
    assert said["p7-affinity-doubles-stream"] == "cannot be tested here: one NUMA domain"
    assert said["p7-smt-no-stream-gain"] == "cannot be tested here: one hardware thread a core"
    assert said["p7-affinity-not-on-smp"].startswith("holds: ×1.00")  # no table is about such nodes


def test_what_the_system_cannot_do_is_recorded_with_its_reason(where: Store) -> None:
    run = fake_study.run(where, "stream-affinity-pages", machine(), lambda _launch, _point: 10e9, repeats=1)
    reasons = Counter((failure.exit, failure.reason) for failure in run.failures)
    assert reasons == {
        (3, "no 2 MiB pages (the pool has no free pages)"): 1,
        (3, "one hardware thread a core"): 2,
    }
    assert run.complete


def test_a_stopped_study_goes_on_where_it_stopped(where: Store) -> None:
    begun = outcome.begin(where, "stream-affinity-pages", machine(), seed=1, repeats=2)
    answered: list[str] = []

    def until_third(launch: Launch, _point: object) -> float:
        if len(answered) == 3:
            raise KeyboardInterrupt
        answered.append(launch.key)
        return 10e9

    with pytest.raises(KeyboardInterrupt):
        fake_study.go_on(where, begun, until_third)
    stopped = where.read(begun.id)
    assert not stopped.complete
    assert "INCOMPLETE" in report.about(outcome.understood(stopped))

    def to_the_end(launch: Launch, _point: object) -> float:
        answered.append(launch.key)
        return 10e9

    finished = fake_study.go_on(where, stopped, to_the_end)
    assert finished.complete
    assert sorted(answered) == sorted(launch.key for launch in begun.launches)


def test_a_failed_combination_is_reported_and_the_rest_stands(where: Store) -> None:
    def unbound_fails(launch: Launch, _point: object) -> float | None:
        return None if launch.knobs.get("pin") == "none" else 10e9

    found = outcome.understood(fake_study.run(where, "stream-affinity-pages", machine(), unbound_fails, repeats=1))
    why = "octant-stream: cannot go on (no reason); try again (exit status 1)"
    assert found.answers.absent[Cell("triad", ("no", "local", "small", "a rank a core"))] == why
    said = {verdict.finding.id: verdict for verdict in found.verdicts}
    assert said["p7-affinity-not-on-smp"].text == f"cannot be tested here: {why}"
    assert said["p7-medium-pages-small-gain"].status == "undecided"
    assert "5 more launches of each" in said["p7-medium-pages-small-gain"].why


def test_a_wrong_answer_has_no_value(where: Store) -> None:
    begun = outcome.begin(where, "stream-affinity-pages", machine(), seed=1, repeats=1)
    with begun.records.open("a") as records:
        records.writelines(
            fake_study.line(launch, launch.knobs, 99e9, passed=False) + "\n" for launch in begun.launches
        )
    found = outcome.understood(where.read(begun.id))
    assert not found.answers.values
    assert "WRONG ANSWERS" in report.report_text(found)


def test_one_wrong_launch_takes_the_value_of_its_combination_and_of_no_other(where: Store) -> None:
    begun = outcome.begin(where, "stream-affinity-pages", machine(), seed=1, repeats=4)
    spoiled, not_started = (Cell("triad", (bind, "local", "small", "a rank a core")) for bind in ("yes", "no"))
    with begun.records.open("a") as records:
        for launch in (launch for launch in begun.launches if launch.title != str(not_started)):
            right = (launch.title, launch.repeat) != (str(spoiled), 2)
            records.write(fake_study.line(launch, launch.knobs, 9e9, passed=right) + "\n")
    answers = outcome.understood(where.read(begun.id)).answers
    assert answers.absent[spoiled] == "wrong answers in 1 of 4 launches"
    assert answers.absent[not_started] == "not measured yet"
    assert len(answers.values) == len({launch.question for launch in begun.launches}) - 2


def curve_study(where: Path) -> str:
    """A study file whose measure goes along three sizes."""
    axis = 'axis = { knob = "bytes", values = ["1MiB", "2MiB", "4MiB"] }'
    mine = where / "mine.toml"
    mine.write_text(
        STUDY.replace('workload = "stream"', f'workload = "stream"\n{axis}').replace(
            'of = { which = "b" }', 'of = { which = "b" }, at = "4MiB"'
        )
    )
    return str(mine)


def test_a_point_that_no_launch_gave_is_told_with_its_reason(where: Store, tmp_path: Path) -> None:
    def ends_early(launch: Launch, point: Mapping[str, str]) -> float | None:
        return None if launch.knobs.get("pages") == "thp" and point["bytes"] == "4MiB" else 10e9

    found = outcome.understood(fake_study.run(where, curve_study(tmp_path), machine(), ends_early, repeats=4))
    why = "octant-stream: cannot go on (no reason); try again (exit status 1)"
    assert found.answers.gaps == {(Cell("m", ("b",)), "4MiB"): why}
    assert f"{why}: m: b at 4MiB" in report.report_text(found)
    assert found.verdicts[0].text == f"cannot be tested here: m: b at 4MiB: {why}"


def test_launches_that_failed_are_a_doubt_about_the_others(where: Store, tmp_path: Path) -> None:
    def half_fails(launch: Launch, _point: object) -> float | None:
        return None if launch.knobs.get("pages") == "thp" and launch.repeat < 4 else 10e9

    found = outcome.understood(fake_study.run(where, curve_study(tmp_path), machine(), half_fails, repeats=8))
    why = "octant-stream: cannot go on (no reason); try again (exit status 1)"
    answer = found.answers.values[Cell("m", ("b",))]["4MiB"]
    assert (len(answer.launches), answer.doubts) == (4, (f"4 of 8 launches failed ({why})",))
    assert "4 of 8 launches failed" in found.verdicts[0].why
    assert f"doubt 1: 4 of 8 launches failed ({why})" in report.report_text(found)


def test_what_the_samples_say_against_themselves_is_a_doubt(where: Store, tmp_path: Path) -> None:
    """As beside any other figure: here, three samples in place of 101."""
    run = fake_study.run(where, curve_study(tmp_path), machine(), lambda _launch, _point: 10e9, repeats=4)
    lines = [json.loads(line) for line in run.records.read_text().splitlines()]
    for record in lines:
        for lane in record["samples"]["lanes"]:
            lane["begin_ns"], lane["duration_ns"] = lane["begin_ns"][:3], lane["duration_ns"][:3]
    run.records.write_text("".join(json.dumps(record) + "\n" for record in lines))
    found = outcome.understood(where.read(run.id))
    assert "measured in doubt: only 3 samples: the interval is their range" in found.verdicts[0].why
    assert report.report_text(found).count("doubt 1: only 3 samples") == 1


def test_a_launch_that_was_recorded_twice_is_one_sample(where: Store, tmp_path: Path) -> None:
    run = fake_study.run(where, curve_study(tmp_path), machine(), lambda _launch, _point: 10e9, repeats=2)
    run.records.write_text(run.records.read_text() * 3)
    found = outcome.understood(where.read(run.id))
    assert {len(a.launches) for curve in found.answers.values.values() for a in curve.values()} == {2}
    assert found.verdicts[0].status == "undecided"


def test_the_json_says_the_same(where: Store) -> None:
    run = fake_study.run(
        where, "stream-affinity-pages", machine(packages=4, cores=8, smt=4), lambda launch, _: as_published(launch)
    )
    said = json.loads(report.report_json(outcome.understood(run)))
    assert (said["study"], said["seed"], said["run"]) == ("stream-affinity-pages", 7, run.id)
    best = next(cell for cell in said["cells"] if cell["levels"]["pages"] == "large")
    assert best["there"] == 122474e6
    assert best["middle"] == pytest.approx(122474e6, rel=2e-3)
    assert said["findings"][0]["status"] == "holds"


def test_the_page_says_the_same_and_escapes(where: Store, tmp_path: Path) -> None:
    run = fake_study.run(where, "stream-affinity-pages", machine(), lambda _launch, _point: 10e9, repeats=1)
    found = outcome.understood(run)
    page = study_page.write(found, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Cannot be tested here" in page
    assert "56.8 GB/s" in page
    assert "HPC Tuning on POWER7 (slides)" in page
    assert "http" not in page.replace(html.plotly(), "").replace("http-equiv", "")  # nothing from the network
    spoiled = dataclasses.replace(found, name="<script>")
    assert "<h1>&lt;script&gt;</h1>" in study_page.render(spoiled)


STUDY = """
question = "Is b faster?"
[baseline]
which = "a"
[measures.m]
workload = "stream"
[factors.which]
a = {}
b = { knobs = { pages = "thp" } }
[[findings]]
id = "p6-locality-best"
test = { kind = "ratio", measure = "m", of = { which = "b" }, bar = { above = 1.0 } }
"""


AXIS = 'axis = { knob = "bytes", values = ["1KiB", "2KiB"] }'


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("question =", "queston =", 0, "question: this key is missing; add it"),
        ("[baseline]", 'picture = "curve"\n[baseline]', 3, "picture: a curve needs an axis of numbers, and m has none"),
        ("[baseline]", 'picture = "pie"\n[baseline]', 3, "picture: Input should be 'bars' or 'curve'"),
        ("[baseline]", "color = 1\n[baseline]", 3, "color: there is no such key; remove it or mend its spelling"),
        ("[baseline]", "repeats = 100000\n[baseline]", 3, "repeats: Input should be less than or equal to 1000"),
        ('which = "a"', 'which = "c"', 3, "baseline: no level 'c' of which; try a, b"),
        ('which = "a"', 'witch = "a"', 3, "baseline: no level of which; try one of a, b"),
        ('workload = "stream"', 'model = "gups"', 5, "measures.m: with source = 'measure' it must name a workload"),
        ('workload = "stream"', 'workload = "strem"', 6, "measures.m.workload: no workload 'strem'; try "),
        (
            '"stream"',
            '"stream"\nmetric = "speed"',
            7,
            "measures.m.metric: no metric 'speed' in node/stream; try bandwidth",
        ),
        (
            '"stream"',
            f'"stream"\n{AXIS.replace("2KiB", "1024")}',
            7,
            "measures.m.axis.values: '1024' stands there twice",
        ),
        (
            '"stream"',
            '"stream"\nknobs = { bytes = "1KiB,2KiB" }',
            7,
            "measures.m.knobs.bytes: several values (1KiB,2KiB)",
        ),
        (
            '"stream"\n',
            f'"stream"\n{AXIS}\n[knobs]\nbytes = "9KiB"\n',
            9,
            "knobs.bytes: the axis of m goes through bytes itself",
        ),
        ("p6-locality-best", "p6-locality-worst", 11, "findings.0.id: no finding 'p6-locality-worst'"),
        ('of = { which = "b" }', 'of = { which = "z" }', 12, "findings.0.test: no level 'z' of which; try a, b"),
        ('of = { which = "b" }', 'of = { which = "a" }', 12, "findings.0.test: a combination is compared with itself"),
        ('measure = "m"', 'measure = "n"', 12, "findings.0.test: no measure 'n'; try m"),
        ("above = 1.0 }", "above = 1.0, below = 2.0 }", 12, "findings.0.test.bar: exactly one of"),
        ("above = 1.0 }", "above = nan }", 12, "findings.0.test.bar.above: Input should be a finite number"),
        (
            "above = 1.0 }",
            "within = [1.1, 0.9] }",
            12,
            "findings.0.test.bar.within: 1.1 to 0.9 is no range; swap the two",
        ),
        ('kind = "ratio"', 'kind = "knee"', 12, "findings.0.test: a knee needs a measure with an axis; m has none"),
        (
            'pages = "thp" }',
            'pages = "thp" }, needs = ["luck"]',
            9,
            "factors.which.b.needs.0: no such need; try numa>=2",
        ),
        ('pages = "thp" }', 'pages = "thp" }, place = "4y2"', 9, "factors.which.b.place: no placement request"),
    ],
)
def test_a_study_file_is_refused_by_line_key_and_reason(old: str, new: str, line: int, message: str) -> None:
    assert file.parse(STUDY, "mine").question == "Is b faster?"
    where = f", line {line}" if line else ""
    with pytest.raises(file.StudyError, match=re.escape(f"cannot read the study mine{where} ({message}")):
        file.parse(STUDY.replace(old, new, 1), "mine")


def test_what_is_no_toml_is_refused_by_line() -> None:
    with pytest.raises(file.StudyError, match=r"cannot read the study mine \(.*line 3.*\); mend that line"):
        file.parse(STUDY.replace("[baseline]", "[baseline"), "mine")


def test_a_study_of_absurd_size_is_refused_before_it_is_planned() -> None:
    """Twelve factors of ten levels are a million million combinations."""
    levels = "\n".join(f'{n} = {{ knobs = {{ bytes = "{n}KiB" }} }}' for n in range(10))
    factors = "\n".join(f"[factors.f{n}]\n{levels}" for n in range(12))
    baseline = "\n".join(f'f{n} = "0"' for n in range(12))
    text = f'question = "?"\n[baseline]\n{baseline}\n[measures.m]\nworkload = "stream"\n{factors}'
    with pytest.raises(
        file.StudyError, match=r"line 17 \(factors: 6,000,000,000,000 launches are absurd, at most 20,000"
    ):
        file.parse(text, "mine")


@pytest.mark.parametrize(
    ("ranks", "why"),
    [
        ("1000000", "1000000 ranks of 1 thread on 2 hardware threads are absurd"),
        ("cores/8", "0 ranks (cores/8 comes to that here)"),
    ],
)
def test_a_level_with_an_absurd_number_of_ranks_is_not_asked(ranks: str, why: str) -> None:
    study = file.parse(STUDY.replace("a = {}", f'a = {{ ranks = "{ranks}" }}'), "mine")
    assert design.design(study, machine(), seed=0).absent == {Cell("m", ("a",)): why}


@pytest.mark.parametrize("ranks", ["many", "-1", "ranks", "cores/0", "1.5"])
def test_a_count_that_is_none_is_refused(ranks: str) -> None:
    study = file.parse(STUDY.replace("a = {}", f'a = {{ ranks = "{ranks}" }}'), "mine")
    with pytest.raises(file.StudyError, match=rf"cannot plan m: a \(ranks = '{ranks}': .*try 2, cores or 2\*cores"):
        design.design(study, machine(), seed=0)


NESTED = """a = 1
[b]
"c d".e = 2
[[f]]
g = 3
[f.h]
i = 4
[[f]] # the second
g = 5
[f.h]
i = 6
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("a", 1), ("b", 2), ("b/c d", 3), ("b/c d/e/x", 3), ("b/z", 2), ("f/0", 4), ("f/0/g", 5), ("f/0/h/i", 7),
        ("f/1", 8), ("f/1/g", 9), ("f/1/h/i/0", 11), ("f", 4), ("z", None),
    ],
)  # fmt: skip
def test_the_line_of_a_key(path: str, line: int | None) -> None:
    assert line_of(NESTED, path.split("/")) == line


def test_published_columns_must_exist() -> None:
    extra = '[[published]]\ntable = "p7-stream-affinity-pages"\nmetric = "stream_triad"\nmeasure = "m"\n'
    with pytest.raises(
        file.StudyError, match=r"published\.0\.columns\.which\.a: no row of p7-stream-affinity-pages has"
    ):
        file.parse(STUDY + extra + 'columns.which = { a = { binding = "perhaps" } }', "mine")
    with pytest.raises(file.StudyError, match=r"published\.0: no table 'p8'"):
        file.parse(STUDY + extra.replace("p7-stream-affinity-pages", "p8"), "mine")


def test_an_unknown_study_or_knob_is_refused_with_the_nearest(where: Store, tmp_path: Path) -> None:
    with pytest.raises(file.StudyError, match=r"cannot find the study 'stream'.*try stream-affinity-pages"):
        file.load("stream")
    mine = tmp_path / "mine.toml"
    mine.write_bytes(b"\x83\x00")
    with pytest.raises(file.StudyError, match=r"cannot read the study .*mine\.toml \(no UTF-8 text\)"):
        file.load(str(mine))
    with pytest.raises(file.StudyError, match=r"cannot find the study '/dev/zero'"):
        file.load("/dev/zero")
    mine.write_text(STUDY.replace('pages = "thp"', 'page = "thp"'))
    with pytest.raises(file.StudyError, match="stream has no knob 'page'; it has bytes, kernel, memory"):
        outcome.begin(where, str(mine), machine())


def test_a_study_that_cannot_ask_anything_here_is_refused(where: Store, tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text('needs = ["numa>=2"]\n' + STUDY)
    with pytest.raises(Refusal, match=r"cannot run mine here \(one NUMA domain\)") as refusal:
        outcome.begin(where, str(mine), machine())
    assert refusal.value.code == 3


def test_two_levels_that_come_to_the_same_launch_are_asked_once_and_not_compared(where: Store, tmp_path: Path) -> None:
    """With one hardware thread a core, as many ranks as cores and as hardware threads are the same."""
    mine = tmp_path / "mine.toml"
    mine.write_text(
        STUDY.replace("a = {}", 'a = { ranks = "cores" }').replace(
            '{ knobs = { pages = "thp" } }', '{ ranks = "hwthreads" }'
        )
    )
    run = fake_study.run(where, str(mine), machine(), lambda _launch, _point: 10e9)
    assert len(run.launches) == 6
    (verdict,) = outcome.understood(run).verdicts
    assert verdict.text == "cannot be tested here: both combinations come to the same launch"


@given(st.integers(1, 4), st.integers(1, 3), st.integers(1, 5), st.integers(0, 2**31))
def test_every_plan_covers_its_product_once_a_round(a: int, b: int, repeats: int, seed: int) -> None:
    """Levels that differ in a knob each: all combinations, each as often as there are rounds."""
    first = "\n".join(f'{n} = {{ knobs = {{ bytes = "{n + 1}MiB" }} }}' for n in range(a))
    second = "\n".join(f'{n} = {{ knobs = {{ seconds = "{n + 1}" }} }}' for n in range(b))
    text = f"""
    question = "?"
    repeats = {repeats}
    baseline = {{ one = "0", two = "0" }}
    [measures.m]
    workload = "stream"
    [factors.one]
    {first}
    [factors.two]
    {second}
    """
    plan = design.design(file.parse(text, "law"), machine(), seed)
    assert len(plan.launches) == a * b * repeats
    assert len({launch.key for launch in plan.launches}) == a * b * repeats


def test_the_study_of_the_documentation_can_be_run() -> None:
    page = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8")
    example = file.parse(page.split("```toml\n")[1].split("```")[0], "mine")
    plan = design.design(example, machine(), seed=0)
    assert len(plan.launches) == 2 * example.repeats
    assert len(plan.launches[0].points()) == 3


@pytest.mark.slow
def test_a_study_runs_for_real_from_the_command(octant: Octant, tmp_path: Path) -> None:
    """One core, a cache-sized array, base pages against transparent huge ones; three launches of each."""
    mine = tmp_path / "mine.toml"
    text = STUDY.replace('workload = "stream"', 'workload = "stream"\nknobs = { bytes = "1MiB", seconds = "0.05" }')
    mine.write_text(text)
    ran = octant("study", "run", str(mine), "--repeats", "3", "--seed", "5", "--json")
    assert ran.returncode == 0, ran.stderr
    said = json.loads(ran.stdout)
    assert [cell["launches"] for cell in said["cells"]] == [3, 3]
    assert all(cell["low"] <= cell["middle"] <= cell["high"] for cell in said["cells"])
    (finding,) = said["findings"]
    assert finding["status"] in ("holds", "does not hold", "undecided")
    again = octant("study", "report", "mine", "--json")
    assert json.loads(again.stdout) == said
    shown = octant("study", "report", said["run"])
    assert "seed 5" in shown.stdout
    refused = octant("study", "run", str(mine), "--repeats", "0")
    assert refused.returncode == 2
    assert "cannot launch every combination 0 times; try --repeats 6" in refused.stderr


def test_what_was_not_given_as_asked_is_doubted(where: Store) -> None:
    run = fake_study.run(where, "stream-affinity-pages", machine(), lambda _launch, _point: 10e9, repeats=1)
    small = (Given("h", (0,), ((0,),), (Buffer(1 << 30, 1 << 30, 0, 4096, {"0": 64}),)),)
    points = tuple(dataclasses.replace(p, knobs={**p.knobs, "pages": "thp"}, given=small) for p in run.points)
    found = outcome.understood(dataclasses.replace(run, points=points)).answers.values
    assert found
    assert all("NOT AS ASKED" in str(answer.doubts) for values in found.values() for answer in values.values())
