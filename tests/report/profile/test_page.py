"""The page of a profile: complete, self-contained, with harmless names, and the same as that of its run."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings

import made_jobs
from edge_runs import RUNS
from octant.profile.analysis import analyse
from octant.profile.job import Job
from octant.report.export import tidy
from octant.report.page import run_page
from octant.report.page.html import Clean
from octant.report.profile import page
from octant.report.profile.document import document
from octant.report.profile.pictures import profile_pictures
from octant.report.profile.tables import sections
from octant.report.tables.text import lines
from pages import inflated
from random_jobs import random_jobs
from reports import report_of


@settings(max_examples=10, deadline=None)
@given(random_jobs())
def test_any_profile_has_a_page_without_undefined_numbers(job: Job) -> None:
    made = page.render(analyse(job))
    assert made == page.render(analyse(job))
    drawings = "".join(re.findall(r"<(?:path|rect|circle|text) [^>]*>", made))
    assert not re.search(r"\bnan\b|\binf\b", drawings)
    assert not re.search(">(?:nan|inf|None)<", made)


def test_the_page_holds_every_table_and_the_document(tmp_path: Path) -> None:
    one = analyse(made_jobs.made_job())
    path = page.write(one, tmp_path / "profile.html", run="run-1")
    made = path.read_text(encoding="utf-8")
    pictures = {picture.id for picture in profile_pictures(one, sections(one))}
    assert {"mpi-times-picture", "mpi-sites-picture", "mpi-sizes-picture", "mpi-pairs-picture",
            "mpi-regions-picture"} == pictures  # fmt: skip
    for section in sections(one):
        assert f'id="{section.id}"' in made or f'id="{section.id}-picture"' in made
    data = json.loads(re.search(r'id="data">(.*?)</script>', made, re.DOTALL)[1])  # type: ignore[index]
    assert json.loads(inflated(data["document"])) == document(one)
    assert made.count("<h1>") == 1
    assert not re.search(r'(?:src|href)="(?!#|data:)', made)


def test_names_of_a_program_are_harmless() -> None:
    made = page.render(analyse(made_jobs.hostile()))
    assert "<script>alert" not in made
    assert "\x1b" not in made
    assert "\u202e" not in made
    assert ">49<" not in made
    assert "{{ 7 * 7 }}" in made
    assert "&lt;script&gt;alert" in made


@pytest.mark.parametrize("clean", [str, lambda text: text.replace("solver", "PROGRAM")])
def test_texts_of_a_shared_page_are_cleaned(clean: Clean) -> None:
    made = page.render(analyse(made_jobs.made_job()), clean=clean)
    packed = json.loads(re.search(r'id="data">(.*?)</script>', made, re.DOTALL)[1])["document"]  # type: ignore[index]
    assert ("solver" in made) is (clean is str)
    assert ("solver" in inflated(packed)) is (clean is str)


def test_the_page_of_a_run_shows_its_profile() -> None:
    one = analyse(made_jobs.made_job())
    report = page.with_profile(report_of(RUNS["six launches"]()), one)
    made, alone = run_page.render(report), page.render(one)
    shown = [section.id for section in report.sections]
    assert "mpi-calls" in shown
    for name in shown:
        part = re.compile(rf'<section id="{name}".*?</section>', re.DOTALL)
        assert part.findall(made) == part.findall(alone)
        assert len(part.findall(made)) == 1
    assert "waiting for rank 3 in one Allreduce at solver.f90:212" in made
    assert len(re.findall(r'id="([\w-]+)"', made)) == len(set(re.findall(r'id="([\w-]+)"', made)))
    assert tidy.document(report)["profile"] == document(one)
    text = "\n".join(line.plain for line in lines(report))
    assert "solve solver.f90:212" in text


def test_a_run_without_a_profile_has_no_sections() -> None:
    report = report_of(RUNS["six launches"]())
    assert report.sections == ()
    assert 'id="mpi-calls"' not in run_page.render(report)
    assert "profile" not in tidy.document(report)
