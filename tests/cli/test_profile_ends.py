"""`octant profile`: what remains of a profile if Octant is killed, or if a file cannot be written."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

import made_jobs
from octant.analysis.summary import summarise
from octant.cli._profile import why_no_profile
from octant.failure import Exit
from octant.profile.analysis import analyse
from octant.report.profile.first import reliability_of
from octant.report.profile.run_report import profiled
from octant.store import Store
from paths import Octant
from profile_runs import store_profiles
from reports import report_of


def test_a_run_without_a_result_says_that_octant_was_ended(octant: Octant, environment: Mapping[str, str]) -> None:
    octant("profile", "--", "true")
    run = Store(Path(environment["OCTANT_STORE"])).newest()[0]
    killed = replace(run, points=(), failures=())
    assert why_no_profile(killed) == "Octant was ended before the program; profile again"


def test_files_that_cannot_be_written_are_refused_before_the_program_starts(octant: Octant, tmp_path: Path) -> None:
    file, page = tmp_path / "file", tmp_path / "missing" / "page.html"
    file.write_text("")
    for words, path in ((("-o", str(page)), page), (("--mpitrace", str(file)), file)):
        done = octant("profile", *words, "--", "sh", "-c", "echo started")
        assert (done.returncode, done.stdout) == (Exit.CANNOT_RUN, "")
        assert f"cannot write {path} (" in done.stderr
        assert f"use {words[0]} with a " in done.stderr


@pytest.mark.mpi
def test_the_text_is_printed_if_the_page_cannot_be_written(
    octant: Octant, environment: Mapping[str, str], kernels: Path
) -> None:
    assert octant("profile", "--", str(kernels / "octant-mpi-mesh"), "--size", "8", "--steps", "2").returncode == 0
    page = Store(Path(environment["OCTANT_STORE"])).newest()[0].folder / "profile.html"
    page.unlink()
    page.mkdir()
    done = octant("profile", "report")
    assert "Call sites (measured)" in done.stdout
    assert f"cannot write {page} (it is a folder)" in done.stderr
    assert done.returncode == Exit.WRONG_WORD


def test_the_terminal_has_the_grade_of_the_page(octant: Octant, environment: Mapping[str, str]) -> None:
    run = store_profiles(Path(environment["OCTANT_STORE"]), [made_jobs.made_job()] * 2)
    first = profiled(report_of(summarise(run, all_metrics=True))).first
    assert first.reliability.grade != reliability_of(analyse(made_jobs.made_job())).grade
    text = " ".join(octant("profile", "report", run.id).stdout.split())
    assert f"Reliability: {first.reliability.grade}. {first.reliability.text}".replace("\u202f", " ") in text
