"""The page of a run: it holds every figure and its samples, says what it leaves out, and no text in it is markup."""

import base64
import dataclasses
import html
import json
import re
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import screens
from edge_runs import RUNS, summary_of
from fake_run import STARTED, fake_run, machine, point, retitled, write_run
from fake_summary import fake_summary
from octant.analysis.summary import Summary
from octant.failure import Refusal
from octant.machine import Disagreement
from octant.record import Process, Result, Scheduling
from octant.report import claims
from octant.report.page import run_page
from octant.report.screen import first_screen
from octant.report.screen.first_screen import FirstScreen
from octant.report.tables import table
from octant.report.tables import text as terminal
from octant.stats import Caveat, Grade
from pages import NASTY, inflated
from reports import report_of


def embedded(made: str) -> dict[str, Any]:
    """Return the data of a page, unpacked."""
    data: dict[str, Any] = json.loads(re.search(r'id="data">(.*?)</script>', made, re.DOTALL)[1])  # type: ignore[index]
    packed = {name: json.loads(inflated(data[name])) for name in ("document", "details", "exports")}
    figures = [json.loads(inflated(figure)) for figure in data["figures"]]
    return {**data, **packed, "figures": figures, "further": inflated(data["further"] or EMPTY)}


EMPTY = base64.b64encode(zlib.compress(b"")).decode()


def packed_samples(made: str) -> str:
    """Return the packed samples of a page."""
    return "".join(json.loads(re.search(r'id="data">(.*?)</script>', made, re.DOTALL)[1])["figures"])  # type: ignore[index]


def text_of(markup: str) -> str:
    """Return the readable text of a page, without drawings, scripts and tags."""
    markup = re.sub(r"<(script|style|svg)\b.*?</\1>", "", markup, flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", markup)))


def rows(markup: str, details: Mapping[str, str] | None = None) -> dict[int, str]:
    """Return each figure's row with its details, those of the page unless given, by its number."""
    details = embedded(markup)["details"] if details is None else details
    parts = re.split(r'<tr id="figure-(\d+)">', markup)
    return {int(number): body + details[number] for number, body in zip(parts[1::2], parts[2::2], strict=True)}


def test_the_page_holds_all_figures_and_their_samples(tmp_path: Path) -> None:
    summary = summary_of(fake_run())
    made = run_page.write(report_of(summary), tmp_path / "report.html").read_text(encoding="utf-8")
    held = embedded(made)
    for figure, there in zip(held["figures"], summary.figures, strict=True):
        for kept, launch in zip(figure["samples"], there.launches, strict=True):
            assert kept == pytest.approx(launch.samples.tolist(), rel=1e-3)
    assert sorted([*rows(made), *rows(held["further"], held["details"])]) == list(range(len(summary.figures)))
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]  # no part of it is left over
    for words in (
        "93.8",
        "Gflop/s",
        "no 1 GiB pages are reserved",
        "2.00 GHz (stated)",
        "OMP_PROC_BIND",
    ):
        assert words in made


@pytest.mark.parametrize("name", RUNS)
def test_every_run_has_a_page(name: str) -> None:
    summary = RUNS[name]()
    made = run_page.render(report_of(summary))
    assert made.endswith("</html>")
    assert ("Nothing was measured." in made) == (not summary.figures)
    without_samples = len(made) - len(packed_samples(made))
    assert len(made) <= (500_000 if len(summary.figures) < 200 else 10_000_000)
    assert without_samples <= (400_000 if len(summary.figures) < 200 else 10_000_000)
    assert not re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', made), "an address that a browser would fetch"
    assert not re.findall(r'\s(?:style|on\w+)="', made), "what the content policy refuses"
    named = re.findall(r'\sid="([^"]+)"', re.sub(r"<script.*?</script>", "", made, flags=re.DOTALL))
    assert len(named) == len(set(named))
    assert {target for target in re.findall(r'href="#([^"]+)"', made) if not target.startswith("figure-")} <= set(named)


def test_texts_of_the_first_screen_are_on_the_page_once_and_in_its_order() -> None:
    said = text_of(run_page.render(report_of(RUNS["six launches"](), screens.SCREEN)))
    place = 0
    for text in said_by(screens.SCREEN):
        place = said.find(" ".join(text.split()), place)
        assert place >= 0, text


def said_by(first: FirstScreen) -> list[str]:
    """Return the texts of a first screen in the order in which they are read."""
    tiles = [
        text for one in first.tiles for text in (one.name, one.what, one.grade, one.number, one.unit, one.interval)
    ]
    findings = [text for one in first.findings[:3] for text in (one.title, one.body, *one.lines)]
    return [first.answer, first.reliability.text, *tiles, *findings, "1 more finding", "16 checks passed", "1 note "]


def test_a_tile_without_a_figure_says_why_in_its_place() -> None:
    missing = dataclasses.replace(screens.TILES[3], missing="one core, no second rank", number="", strip=None, bar=None)
    tiles = (*screens.TILES[:3], missing, *screens.TILES[4:])
    made = run_page.render(report_of(RUNS["one core"](), dataclasses.replace(screens.SCREEN, tiles=tiles)))
    listed = re.findall(r'<li class="tile">(.*?)</li>', made, re.DOTALL)
    assert len(listed) == 6
    assert "one core, no second rank" in listed[3]
    assert "<svg" not in listed[3]
    assert 'class="grade' not in listed[3]


def test_the_table_says_what_the_figure_is() -> None:
    summary = RUNS["six launches"]()
    shown = rows(run_page.render(report_of(summary)))
    assert shown
    for number, row in shown.items():
        figure = summary.figures[number]
        said = claims.figure_texts(figure)
        cells = re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL)
        assert cells[0] == said.number
        assert cells[1] == said.unit
        assert cells[2].startswith(said.ends)
        assert cells[3] == str(figure.tried)
        assert row.count('class="dot"') == figure.tried
        assert (figure.of_limit is not None) == ("of-limit" in row)
        assert f"<dt>Full name</dt><dd>{figure.name}</dd>" in row
        for name, value in figure.knobs.items():
            assert f"{name}={value}" in row


def disturbed(lost: int) -> Summary:
    """Return a figure of six launches, of which some lost more than half of their time."""
    summary = fake_summary(np.linspace(1e9, 1.02e9, 6) * np.ones((1, 1)))
    figure = summary.figures[0]
    caveats = (Caveat("lost time", Grade.INVALID, "lost 60 % of the time"),)
    launches = tuple(dataclasses.replace(one, caveats=caveats * (i < lost)) for i, one in enumerate(figure.launches))
    return dataclasses.replace(summary, figures=(dataclasses.replace(figure, launches=launches),))


@pytest.mark.parametrize(
    ("lost", "ends", "launches", "said"),
    [
        (5, "one launch", "1 of 6", "1 of 6 launches, no interval"),
        (6, "none valid", "0 of 6", "none of 6 launches is valid: each lost over half of its time"),
    ],
)
def test_launches_that_lost_most_of_their_time_do_not_count(lost: int, ends: str, launches: str, said: str) -> None:
    summary = disturbed(lost)
    made = run_page.render(report_of(summary))
    row, details = rows(made)[0].split('<tr class="inside">')
    cells = re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL)
    assert [cell.strip() for cell in cells[2:4]] == [ends, launches]
    assert (row.count('class="dot"'), row.count('class="dot out"')) == (6 - lost, lost)
    assert 'class="band"' not in row
    assert said in details
    assert details.count("<td>yes</td>") == 6 - lost
    assert "not repeated" not in text_of(made.partition('class="footnotes"')[2].partition("</ul>")[0])
    shown = [line.plain for line in terminal.lines(report_of(summary))]
    assert any(f" {launches} " in f"{line} " for line in shown)


def test_footnotes_are_merged_and_each_letter_leads_to_one() -> None:
    summary = RUNS["six launches"]()
    figures = [figure for figure in summary.figures if figure.show.table]
    made = table.table(figures, {id(figure): place for place, figure in enumerate(figures)})
    limits = [text for _, text in made.footnotes if text.startswith("100 % is")]
    assert len(set(limits)) == len(limits) < sum(figure.of_limit is not None for figure in figures)
    assert len({letter for letter, _ in made.footnotes}) == len(made.footnotes)
    for _, _, group in made.groups:
        for row in group:
            source = dict(made.footnotes).get(row.letters[1], "")
            assert source == (f"100 % is {row.figure.limit.source}" if row.bar and row.figure.limit else "")


def test_values_of_several_sorts_have_letters_that_say_what_their_ends_are() -> None:
    one, six = RUNS["one launch"](), RUNS["six launches"]()
    mixed = dataclasses.replace(one, figures=(one.figures[0], six.figures[1]))
    made = table.table(mixed.figures, {id(figure): place for place, figure in enumerate(mixed.figures)})
    assert made.ends == "Low … high"
    assert made.claim == "the notes below explain low and high"
    found = [row for _, _, group in made.groups for row in group]
    said = [dict(made.footnotes)[row.letters[0]] for row in found]
    assert said[0].startswith("range within one launch")
    assert re.match(r"95 % interval for the median over \d+ launches", said[1])


@pytest.mark.parametrize(("name", "grade"), [("all not measurable", "not measurable"), ("wrong results", "wrong")])
def test_what_cannot_be_believed_has_no_share(name: str, grade: str) -> None:
    for body in rows(run_page.render(report_of(RUNS[name]()))).values():
        row = body.partition('<tr class="inside">')[0]
        assert grade in row
        assert "of-limit" not in row
        assert "best of this run" not in row


def test_a_wrong_result_has_no_speed() -> None:
    made = run_page.render(report_of(RUNS["wrong results"]()))
    assert "wrong result: sum of the array: 3 &gt; 1e-09" in made
    assert "93.8" not in text_of(made)


def test_a_share_beyond_its_limit_says_so_and_casts_doubt() -> None:
    made = run_page.render(report_of(RUNS["share of 104 %"]()))
    (first, *_) = rows(made).values()
    assert re.search(r'<span class="percent">10[2-6]\s?%</span>', first)


def test_a_figure_without_samples_has_neither_their_picture_nor_quantiles() -> None:
    summary = summary_of(fake_run())
    first = summary.figures[0]
    bare = tuple(dataclasses.replace(launch, samples=np.array([]), count=0) for launch in first.launches)
    figures = (dataclasses.replace(first, launches=bare, equal=()), *summary.figures[1:])
    whole, without = (
        rows(run_page.render(report_of(one)))[0] for one in (summary, dataclasses.replace(summary, figures=figures))
    )
    for words in ("Quantiles of", "data-samples"):
        assert words in whole
        assert words not in without


def test_samples_beyond_the_budget_are_thinned_and_the_page_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    summary = summary_of(fake_run())
    whole = run_page.pack(summary.figures)
    size = sum(map(len, whole.figures))
    monkeypatch.setattr(run_page, "MAX_BYTES", 2 * size // 3)
    made = run_page.render(report_of(summary))
    held = embedded(made)["figures"]
    assert size / 2 < len(packed_samples(made)) <= 2 * size / 3
    for figure, there in zip(held, summary.figures, strict=True):
        for kept, launch in zip(figure["samples"], there.launches, strict=True):
            assert (min(kept), max(kept)) == pytest.approx((launch.samples.min(), launch.samples.max()), rel=1e-3)
    kept_samples = sum(len(kept) for figure in held for kept in figure["samples"])
    there_were = sum(launch.count for figure in summary.figures for launch in figure.launches)
    assert f"This page holds {kept_samples} of {there_were} samples" in made
    assert "--all-samples" in made


def test_what_is_large_is_packed() -> None:
    """A quick evaluation has 0.25 MB of drawings, tables and JSON, so half a megabyte leaves as much for samples."""
    made = run_page.render(report_of(summary_of(fake_run())))
    assert run_page.MAX_BYTES <= 250_000
    for words in ("Requested and actual settings", "Quantiles of", "<h3>Launches</h3>"):
        assert words not in made
        assert words in embedded(made)["details"]["0"]
    assert made.count("<metadata>") == 0, "files of pictures are packed"


def test_all_samples_are_read_again_where_they_are_asked_for(tmp_path: Path) -> None:
    run = write_run(fake_run(), tmp_path / "store")
    noise = dataclasses.replace(run, points=run.points[-1:])  # 2 ranks with 1001 samples each
    summary = summary_of(noise)
    every, some = run_page.pack(summary.figures, every=True), run_page.pack(summary.figures)
    assert some.kept < some.total == every.kept
    assert f"This page holds all {every.total} samples" in run_page.render(report_of(summary), all_samples=True)


def test_a_page_lists_what_can_be_read_and_says_how_much_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    summary = summary_of(fake_run())
    monkeypatch.setattr(run_page, "MAX_FIGURES", 20)
    made = run_page.render(report_of(summary))
    assert len(rows(made)) + len(rows(embedded(made)["further"], embedded(made)["details"])) == 20
    assert f"20 of {len(summary.figures)} figures are listed" in made
    assert {figure.name for figure in summary.figures if figure.show.table} <= {
        figure.name for figure in run_page.listed_figures(summary)
    }  # points of curves give way


def test_nothing_from_outside_becomes_markup() -> None:
    run = retitled(fake_run(on=machine(name=NASTY, model=NASTY), title=NASTY), NASTY)
    run = dataclasses.replace(
        run,
        failures=tuple(dataclasses.replace(f, reason=NASTY, workload=NASTY) for f in run.failures),
        points=tuple(
            dataclasses.replace(
                p, stopped_by=NASTY, process=Process(NASTY, started=STARTED), results=(Result(NASTY, 1.0, NASTY),)
            )
            for p in run.points
        ),
        environment={NASTY: NASTY},
        damaged=(NASTY,),
    )
    made = run_page.render(report_of(summary_of(run)))
    for content in (made, embedded(made)["further"], *embedded(made)["details"].values()):
        assert "<script>alert" not in content
        assert "<img src=http" not in content


def test_the_same_failure_is_shown_once() -> None:
    run = fake_run()
    made = run_page.render(report_of(summary_of(dataclasses.replace(run, failures=run.failures * 3))))
    section = re.search(r'<section id="failures".*?</section>', made, re.DOTALL)
    assert section
    assert section[0].count("no 1 GiB pages are reserved") == 1


def test_an_unwritable_place_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="cannot write"):
        run_page.write(report_of(RUNS["empty"]()), tmp_path / "missing" / "report.html")


def test_a_run_that_is_not_complete_says_how_to_go_on() -> None:
    run = fake_run(repeats=2)
    made = run_page.render(report_of(summary_of(dataclasses.replace(run, points=run.points[:1]))))
    assert re.search(r"This run is not complete: \d+ launches left\. <code>octant resume", made)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("Intel(R) Xeon(R) Platinum 8480+ CPU @ 2.00GHz", "Intel Xeon Platinum 8480+, 2 cores, 16.0\u202fGiB"),
        ("unknown", "x86_64, 2 cores, 16.0\u202fGiB"),
    ],
)
def test_the_heading_says_what_the_machine_is(model: str, said: str) -> None:
    bare = dataclasses.replace(machine(model=model), system={}, disagreements=())
    assert first_screen.about_text(bare) == said
    statements = (("model", "family 6: Kaby Lake"), ("flags", "amx_tile: Sapphire Rapids or later"))
    guest = dataclasses.replace(
        bare, system={"virtualisation": "kvm"}, disagreements=(Disagreement("processor model", statements, "flags"),)
    )
    assert first_screen.about_text(guest).endswith(", Sapphire Rapids or later, 2 cores, 16.0\u202fGiB, KVM guest")


def test_the_period_is_that_of_the_launches() -> None:
    run = fake_run()
    times = ("2026-11-21T21:45:31+00:00", "2026-11-21T22:02:00+00:00", "2026-11-22T00:10:00+00:00")

    def period(*begun: str) -> str:
        points = tuple(
            dataclasses.replace(one, process=dataclasses.replace(one.process, started=start))
            for one, start in zip(run.points, begun, strict=False)
        )
        return first_screen.period_text(dataclasses.replace(run, points=points))

    assert period(times[0]).startswith("21 November 2026, 21:45 ")
    assert period(*times[:2]).startswith("21 November 2026, 21:45 – 22:02 ")
    assert period(*times).startswith("21 November 2026, 21:45 – 22 November 2026, 00:10 ")


def test_launches_with_the_same_settings_say_them_once() -> None:
    one = point()
    given = dataclasses.replace(one.given[0], scheduling=Scheduling("other", nice=5, group="/job"))
    other = dataclasses.replace(one, given=(given,))
    figure = summary_of(fake_run(repeats=3)).figures[0]
    settings = dict(table.setting_texts(dataclasses.replace(figure, points=(one, other, other))))
    assert settings["Scheduling"] == "not recorded (1 launch); other, nice 5, group /job (2 launches)"
    assert settings["Ranks × threads"] == "1 × 1"
    assert settings["Ran on"] == "CPU 0"
