"""What a study says to do: each rule just above and just below its threshold, and lines that the command line reads."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

import command_lines
import fake_study
from fake_run import machine
from found_run import taken
from octant.machine import Machine
from octant.placement.expressions import parse_place
from octant.report.screen.answer import Reliability
from octant.report.study import text as report
from octant.report.study.advice import lines_for, steps, waiting
from octant.report.study.answer import adopted_settings, answer, counts, reliability
from octant.report.study.page import render
from octant.request import Launch, Subject
from octant.store import Store
from octant.study import file, outcome
from octant.study.outcome import Outcome
from study_text import STUDY, curve_study

NOISE = (0.0, 1.0, -1.0, 0.5, -0.5, 0.25)  # of rounds
QUIET, LOUD = 0.001, 0.1


@pytest.fixture
def where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    fake_study.programs(tmp_path / "bin", monkeypatch)
    return Store(tmp_path / "store")


Study = Callable[..., Outcome]


@pytest.fixture
def study(where: Store, tmp_path: Path) -> Study:
    """A study of two settings, b so many times as fast as the baseline a; rounds of b spread."""

    def made(
        gain: float,
        spread: float = QUIET,
        repeats: int = 6,
        text: str = STUDY,
        on: Machine | None = None,
        lost: Callable[[str], float] | None = None,
    ) -> Outcome:
        mine = tmp_path / "mine.toml"
        mine.write_text(text)

        def rate(launch: Launch, _point: Mapping[str, str]) -> float:
            is_b = launch.request.knobs.get("pages") == "thp"
            return 10e9 * (gain * math.exp(spread * NOISE[launch.repeat % 6]) if is_b else 1.0)

        run = fake_study.run(where, str(mine), on or machine(), rate, repeats=repeats)
        if lost:
            points = (replace(one, taken=(taken(lost=lost(one.knobs.get("pages", ""))),)) for one in run.points)
            run = replace(run, points=tuple(points))
        return fake_study.outcome_of(run)

    return made


def rules(found: Outcome) -> list[str]:
    return [step.rule for step in steps(found)]


def test_what_is_larger_is_no_setting_to_propose(study: Study) -> None:
    """However much more it does; a factor that is none is refused."""
    scaled = study(1.9, text=f'scale = ["which"]\n{STUDY}')
    assert rules(study(1.9)) == ["adopt"]
    assert "adopt" not in rules(scaled)
    assert not scaled.baseline_verdicts
    assert answer(scaled).startswith("On this machine, which b gives × 1.90 relative to which a.")
    with pytest.raises(file.StudyError, match=r"no factor 'what'.*try one of which"):
        study(1.9, text=f'scale = ["what"]\n{STUDY}')


@pytest.mark.parametrize(
    ("gain", "spread", "rule", "says"),
    [
        (
            1.034,
            QUIET,
            "adopt",
            "On this machine, which b gives × 1.03 relative to which a.",
        ),  # the near end lies beyond 3 %
        (
            1.031,
            0.002,
            "nothing",
            "On this machine, which b gives × 1.03 relative to which a; "
            "an improvement of more than 3 % is not certain.",
        ),
        (1.027, QUIET, "same", "On this machine, all settings are equivalent to which a (within 3 %)."),
        (1.0, QUIET, "same", "On this machine, all settings are equivalent to which a (within 3 %)."),
        (0.975, QUIET, "same", "On this machine, all settings are equivalent to which a (within 3 %)."),
        (0.96, QUIET, "keep", "On this machine, no setting is better than which a; which b gives × 0.96."),
        (
            1.0,
            LOUD,
            "launches",
            "On this machine, no improvement over which a was detected; improvements below 8.2 % are not detectable.",
        ),
    ],
)
def test_what_to_do_just_above_and_just_below(study: Study, gain: float, spread: float, rule: str, says: str) -> None:
    text = STUDY.partition("[[findings]]")[0]
    found = study(gain, spread, text=text)
    assert answer(found) == says
    assert rules(found)[0] == rule or (rule == "nothing" and "adopt" not in rules(found) and "same" not in rules(found))
    titles = [step.title for step in steps(found)]
    assert ("Keep the present settings" in titles) == (rule == "same"), "only where the same within 3 % was shown"


def test_too_few_rounds_change_nothing_and_adopt_nothing(study: Study) -> None:
    found = study(2.0, repeats=3, text=STUDY.partition("[[findings]]")[0])
    assert answer(found) == "On this machine, 3 rounds are not sufficient for a verdict; at least 4 are required."
    assert rules(found) == ["launches"]
    assert reliability(found).grade == "limited"
    assert "a configuration has only 3 launches" in reliability(found).text.lower()
    assert "adopt" in rules(study(2.0, repeats=4))


def test_caveats_of_rows_limit_the_reliability_and_are_named(study: Study) -> None:
    text = STUDY.partition("[[findings]]")[0]
    clean, lossy = study(1.0, text=text), study(1.0, text=text, lost=lambda pages: 0.06 if pages == "thp" else 0.0)
    assert reliability(clean) == Reliability("reliable", "No caveats.", ())
    assert report.report_text(clean).count("Reliability: reliable. No caveats.") == 1, "the grade of the glossary"
    found = reliability(lossy)
    assert found.grade == "limited"
    assert found.text.endswith("1 of 2 values has caveats: lost time.")


def test_a_slower_setting_next_to_one_without_a_verdict_hides_no_negative_gain(study: Study) -> None:
    found = study(0.8, text=STUDY.partition("[[findings]]")[0])
    (place, verdict), *_ = found.baseline_verdicts.items()
    open_one = replace(verdict, word="insufficient data", speed=None)
    mixed = replace(found)
    mixed.__dict__["baseline_verdicts"] = {place: verdict, (place[0], "other"): open_one}
    assert answer(mixed).startswith(
        "On this machine, no setting is shown to be better than which a; some have too few rounds"
    )


def test_a_setting_that_costs_another_measure_says_so_first_and_comes_last(where: Store, tmp_path: Path) -> None:
    """Planning by rule is thirty times as quick, and halves what the plan is for."""
    text = STUDY.partition("[[findings]]")[0] + 'c = { knobs = { prefetch = "512B" } }\n'
    mine = tmp_path / "mine.toml"
    mine.write_text(
        text.replace("[factors", '[measures.n]\nworkload = "node/stream"\nknobs = { kernel = "copy" }\n[factors')
    )
    gains = {("b", "triad"): 30.0, ("b", "copy"): 0.5, ("c", "triad"): 0.99, ("c", "copy"): 1.2}

    def rate(launch: Launch, point: Mapping[str, str]) -> float:
        level = "b" if point.get("pages") == "thp" else "c" if point.get("prefetch") == "512B" else "a"
        return 10e9 * gains.get((level, point.get("kernel", "triad")), 1.0) * math.exp(QUIET * NOISE[launch.repeat % 6])

    run = fake_study.run(where, str(mine), machine(), rate)
    titles = [step.title for step in steps(fake_study.outcome_of(run)) if step.rule == "adopt"]
    assert titles == [
        "Use which c: × 1.20 for n",
        "Which b: × 30 for m, but × 0.50 for n",
    ]


def test_the_cost_of_a_setting_elsewhere_on_the_same_axis_is_stated(where: Store, tmp_path: Path) -> None:
    def rate(launch: Launch, point: Mapping[str, str]) -> float:
        gain = {"1MiB": 0.2, "2MiB": 1.5}[point["bytes"]] if "pages" in launch.request.knobs else 1.0
        return 10e9 * gain * math.exp(QUIET * NOISE[launch.repeat % 6])

    found = fake_study.outcome_of(
        fake_study.run(where, curve_study(tmp_path, '"1MiB", "2MiB"', at="2MiB"), machine(), rate)
    )
    assert steps(found)[0].title == "Which b: × 1.50 at 2MiB, but × 0.20 at 1MiB"
    assert answer(found).startswith(
        "On this machine, which b gives × 1.50 at 2MiB relative to which a, but × 0.20 at 1MiB."
    )


def test_a_setting_comes_with_its_interval_and_its_lines(study: Study) -> None:
    found = study(1.5)
    (adopted,) = adopted_settings(found)
    first = steps(found)[0]
    assert first.title == "Use which b: × 1.50"
    assert "95 % interval for the geometric mean ratio over 6 paired rounds" in first.body
    assert first.lines == lines_for(found, adopted.place)
    assert first.lines == ("octant place --place 1x1,pages=thp --for mpich", "octant run node/stream pages=thp")


def test_verdicts_that_are_open_ask_for_launches(study: Study) -> None:
    found = study(1.01, LOUD)
    step = next(step for step in steps(found) if step.rule == "launches")
    assert step.title == "1 verdict requires more launches"
    (verdict,) = found.verdicts
    assert verdict.more_launches is not None
    assert f"About {6 + verdict.more_launches} launches of each" in step.body
    assert step.lines[0].startswith("octant study run mine.toml --repeats ")
    assert int(step.lines[0].split()[-1]) == 60 < 6 + verdict.more_launches
    assert step.body.endswith(" The command measures 60, the maximum proposed at once.")


def test_lines_of_a_study_of_programs_allow_them(study: Study) -> None:
    found = study(1.01, LOUD)
    assert found.run is not None
    subject = Subject(command=("./my app", "{pages}"), program="app", environment={"LD_PRELOAD": "./x.so"})
    requests = tuple(replace(request, subject=subject) for request in found.run.requests)
    step = next(
        step for step in steps(replace(found, run=replace(found.run, requests=requests))) if step.rule == "launches"
    )
    line = "octant study run mine.toml --allow './my app' --allow LD_PRELOAD=./x.so --repeats 60"
    assert step.lines == (line,)
    command_lines.read(line)


def test_findings_that_wait_name_the_machine_that_they_wait_for(study: Study) -> None:
    text = STUDY + 'needs = ["numa>=2"]\n'
    found = study(1.5, text=text)
    assert list(waiting(found)) == ["needs 2 NUMA domains; this machine has 1"]
    step = steps(found)[-1]
    assert step.title == "Run the study on a node with at least 2 NUMA domains"
    assert step.body == "1 finding requires it: needs 2 NUMA domains; this machine has 1."
    assert waiting(study(1.5, text=text, on=machine(nodes=2))) == {}


def test_lost_time_is_one_item_however_much_each_launch_lost(study: Study) -> None:
    text = STUDY.replace("[[findings]]", 'c = { knobs = { pages = "base" } }\n[[findings]]')
    text += STUDY.partition("[[findings]]")[2].join(["[[findings]]", ""]).replace('"b"', '"c"')
    shares = {"auto": 0.1, "thp": 0.6, "base": 0.7}
    found = study(1.0, repeats=1, text=text, lost=lambda pages: shares.get(pages, 0.1))
    assert [one.caveat for one in found.verdicts] == ["lost time"] * 2
    assert len({one.why for one in found.verdicts}) == 2, "each names its own figures"
    (step,) = [step for step in steps(found) if step.rule in ("lost time", "untestable")]
    assert re.fullmatch(r"47 % of the CPU time went to other processes: 2 findings need a quiet machine", step.title)
    assert step.lines == ("octant doctor", "octant study run mine.toml --repeats 6")
    assert list(waiting(found)) == ["lost time"]
    command_lines.read(step.lines[1])
    assert "lost time" not in rules(study(1.0, repeats=1, text=text, lost=lambda _: 0.49))


def test_a_study_along_an_axis_says_from_where_on(where: Store, tmp_path: Path) -> None:
    def rate(launch: Launch, point: Mapping[str, str]) -> float:
        large = launch.request.knobs.get("pages") == "thp" and point["bytes"] != "1MiB"
        return 10e9 * (1.4 if large else 1.0) * (1 + 1e-4 * launch.repeat)

    found = fake_study.outcome_of(fake_study.run(where, curve_study(tmp_path), machine(), rate))
    first = steps(found)[0]
    assert "better from 2MiB on" in first.body
    assert first.lines[-1].startswith("octant run node/stream pages=thp bytes=")


def test_placements_and_settings_of_mpi_have_their_lines(where: Store) -> None:
    def rate(launch: Launch, _point: object) -> float:
        return (20e9 if launch.request.shape.place else 10e9) * (1 + 1e-4 * launch.repeat)

    found = fake_study.outcome_of(fake_study.run(where, "stream-affinity-pages", machine(nodes=2), rate))
    step = steps(found)[0]
    assert step.rule == "adopt"
    own, again = step.lines
    assert own.startswith("octant place --place 4x1,smt=1")
    assert own.endswith(" --for mpich")
    parse_place(own.split()[3], machine(nodes=2).topology)
    assert "--place 4x1,smt=1" in again
    assert found.run is not None
    settings = {"OMPI_MCA_btl_sm_eager_limit": "69632"}
    place = adopted_settings(found)[0].place
    requests = (
        replace(request, mpi=settings) if request.show.title == str(place[0]) else request
        for request in found.run.requests
    )
    with_mpi = replace(found, run=replace(found.run, requests=tuple(requests)))
    lines = lines_for(with_mpi, place)
    assert lines[0] == "export OMPI_MCA_btl_sm_eager_limit=69632"
    assert lines[-1].endswith("--mpi OMPI_MCA_btl_sm_eager_limit=69632")
    for line in lines[1:]:
        command_lines.read(line)


def test_every_line_is_one_of_the_command(study: Study, where: Store) -> None:
    needy = study(1.5, LOUD, text=STUDY + 'needs = ["numa>=2"]\n')
    begun = outcome.begin(where, "stream-affinity-pages", machine(), seed=1, repeats=1)
    models = [outcome.outcome_of_model(name) for name in file.names() if file.load(name).source == "model"]
    all_found = [study(1.5), study(1.0, LOUD), needy, fake_study.outcome_of(begun), *models]
    lines = [line for found in all_found for step in steps(found) for line in step.lines]
    assert len({line.split()[1] for line in lines}) >= 4
    for line in lines:
        command_lines.read(line)


def test_a_model_proposes_no_launches(study: Study) -> None:
    for name in file.names():
        if file.load(name).source == "model":
            found = outcome.outcome_of_model(name)
            assert steps(found)
            assert not {"adopt", "launches", "same", "keep"} & set(rules(found))
            assert reliability(found).grade == "note"


def test_lost_time_and_a_wide_baseline_cast_doubt(where: Store, tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(STUDY)

    def of(spread: float) -> Reliability:
        run = fake_study.run(
            where, str(mine), machine(), lambda launch, _: 10e9 * (1 + spread * NOISE[launch.repeat % 6]), repeats=6
        )
        return reliability(fake_study.outcome_of(run))

    assert of(0.2).grade == "limited"
    assert "The 95 % interval of the baseline is wide: " in of(0.2).text
    assert of(0.6).grade == "not measurable"
    assert "The 6 launches of the baseline differ too much for an interval" in of(0.6).text
    quiet = fake_study.run(where, str(mine), machine(), lambda *_: 10e9, repeats=6)
    assert reliability(fake_study.outcome_of(quiet)).grade == "reliable"


def test_a_study_in_which_nothing_is_decided_is_not_sound(study: Study) -> None:
    text = STUDY.partition("[[findings]]")[0]
    found = reliability(study(1.0, LOUD, text=text))
    assert found.grade == "not measurable"
    assert found.text.startswith("1 of 1 comparison with the baseline is undecided.")
    assert reliability(study(1.0, text=text)).grade == "reliable"


def test_page_and_text_say_the_same(study: Study) -> None:
    found = study(1.5)
    page, text = " ".join(render(found).replace("\u202f", " ").split()), " ".join(report.report_text(found).split())
    said = [answer(found), reliability(found).text]
    said += [part for step in steps(found) for part in (step.title, step.body)]
    for part in said:
        assert part in page
        assert part in text
    for number, words in counts(found):
        assert f"<b>{number}</b> {words}" in page
        assert f"{number} {words}" in text
    assert all(line in page and line in text for step in steps(found) for line in step.lines)
