"""The page of a profile: complete, self-contained, with harmless names, and the same as that of its run."""

import json
import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

import made_jobs
from edge_runs import RUNS
from octant.profile.analysis import analyse
from octant.profile.job import SENT, JobProfile
from octant.report.export import tidy
from octant.report.page import run_page
from octant.report.page.html import Clean
from octant.report.profile.document import document
from octant.report.profile.pictures import profile_pictures
from octant.report.profile.run_report import with_profile
from octant.report.profile.tables import sections
from octant.report.tables.text import lines
from pages import inflated
from profile_pages import page_of
from random_jobs import random_jobs
from reports import report_of


@settings(max_examples=10, deadline=None)
@given(random_jobs())
def test_any_profile_has_a_page_without_undefined_numbers(job: JobProfile) -> None:
    made = page_of(job)
    assert made == page_of(job)
    drawings = "".join(re.findall(r"<(?:path|rect|circle|text) [^>]*>", made))
    assert not re.search(r"\bnan\b|\binf\b", drawings)
    assert not re.search(">(?:nan|inf|None)<", made)


def test_the_page_holds_every_table_and_the_document() -> None:
    one, made = analyse(made_jobs.made_job()), page_of(made_jobs.made_job())
    pictures = {picture.id for picture in profile_pictures(one, sections(one))}
    assert {"mpi-times-picture", "mpi-sites-picture", "mpi-sizes-picture", "mpi-pairs-picture",
            "mpi-regions-picture"} == pictures  # fmt: skip
    for section in sections(one):
        assert f'id="{section.id}"' in made or f'id="{section.id}-picture"' in made
    data = json.loads(re.search(r'id="data">(.*?)</script>', made, re.DOTALL)[1])  # type: ignore[index]
    assert json.loads(inflated(data["document"]))["profile"] == document(one)
    assert made.count("<h1>") == 1
    assert not re.search(r'(?:src|href)="(?!#|data:)', made)


def test_names_of_a_program_are_harmless() -> None:
    made = page_of(made_jobs.hostile())
    assert "<script>alert" not in made
    assert "\x1b" not in made
    assert "\u202e" not in made
    assert ">49<" not in made
    assert "{{ 7 * 7 }}" in made
    assert "&lt;script&gt;alert" in made


@pytest.mark.parametrize("clean", [str, lambda text: text.replace("solver", "PROGRAM")])
def test_texts_of_a_shared_page_are_cleaned(clean: Clean) -> None:
    made = page_of(made_jobs.made_job(), clean)
    packed = json.loads(re.search(r'id="data">(.*?)</script>', made, re.DOTALL)[1])["document"]  # type: ignore[index]
    assert ("solver" in made) is (clean is str)
    assert ("solver" in inflated(packed)) is (clean is str)


def test_the_report_of_a_run_shows_its_profile_first() -> None:
    one = analyse(made_jobs.made_job())
    report = with_profile(report_of(RUNS["six launches"]()), one)
    made = run_page.render(report)
    shown = [section.id for section in report.sections]
    assert {"mpi-calls", "mpi-ranks", "mpi-definitions"} < set(shown)
    for name in shown:
        assert len(re.findall(rf'<section id="{name}"', made)) == 1
    assert "waiting for rank 3 in one Allreduce at solver.f90:212" in made
    assert len(re.findall(r'id="([\w-]+)"', made)) == len(set(re.findall(r'id="([\w-]+)"', made)))
    assert tidy.document(report)["profile"] == document(one)
    text = "\n".join(line.plain for line in lines(report))
    assert "solve solver.f90:212" in text
    own = report_of(RUNS["six launches"]()).first
    assert report.first.findings[: len(own.findings)] == own.findings
    assert set(own.passed) == set(report.first.passed)


def test_a_run_without_a_profile_has_no_sections() -> None:
    report = report_of(RUNS["six launches"]())
    assert report.sections == ()
    assert 'id="mpi-calls"' not in run_page.render(report)
    assert "profile" not in tidy.document(report)


def test_shades_of_the_matrix_are_in_proportion() -> None:
    job = made_jobs.made_job()
    peers = job.peers[np.isin(job.peers["kind"], (SENT,))].copy()
    peers["bytes"] = 1_000_000 + peers["rank"]
    one = analyse(replace(job, peers=peers))
    (matrix,) = (picture for picture in profile_pictures(one, sections(one)) if picture.id == "mpi-pairs-picture")
    cells = matrix.panels[0].series[0]
    assert len(cells.x) == 16
    assert min(cells.shades) > 0.99
    assert cells.name.startswith("each")


@pytest.mark.parametrize("make", [made_jobs.killed, made_jobs.empty])
def test_a_run_that_failed_shows_its_profile(make: Callable[[], JobProfile]) -> None:
    made, one = page_of(make()), analyse(make())
    assert "Nothing was measured" not in made
    assert made.count('class="tile"') == 6
    assert one.reliability.missing
    assert "Reliability: " in made
