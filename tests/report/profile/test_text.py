"""The text of a profile: it fits its width, prints only numbers that exist, and harmless names."""

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

import made_jobs
from octant.advice.findings import Review, RunFinding
from octant.profile.analysis import analyse
from octant.profile.job import JobProfile
from octant.report.plain import CONTROL
from octant.report.profile.first import first_screen_of, profile_tiles, reliability_of
from octant.report.profile.tables import repeated_texts, sections, share, size
from octant.report.profile.text import report_text
from octant.report.tables.section_text import shortened
from profile_jobs import MadeProfile
from random_jobs import random_jobs

MADE = {
    "usual": made_jobs.made_job, "one rank": made_jobs.single_rank, "no calls": made_jobs.no_calls,
    "no tables": made_jobs.empty, "counts": made_jobs.counts_only, "killed": made_jobs.killed,
    "hostile": made_jobs.hostile,
}  # fmt: skip


def is_command(line: str) -> bool:
    return line.startswith("     octant ")


@settings(max_examples=25, deadline=None)
@given(random_jobs(), st.sampled_from([60, 80, 100, 200]), st.booleans())
def test_lines_fit_and_hold_no_undefined_number(job: JobProfile, columns: int, details: bool) -> None:
    made = report_text(analyse(job), columns, details=details)
    lines = made.split("\n")
    assert [line for line in lines if cell_len(line) > columns and not is_command(line)] == []
    assert not re.search(CONTROL, made.replace("\n", ""))
    known = "".join((job.program, job.library, *job.problems, *(region.name for region in job.regions)))
    if not re.search("nan|inf|None", repr(job)) and "nan" not in known:
        assert re.findall(r"\b(?:nan|-?inf|None)\b", made) == []
    assert report_text(analyse(job), columns, details=details) == made


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("columns", [60, 80, 100, 132])
def test_made_profiles_fit_their_width(name: str, columns: int) -> None:
    for details in (False, True):
        lines = report_text(analyse(MADE[name]()), columns, details=details).split("\n")
        assert [line for line in lines if cell_len(line) > columns and not is_command(line)] == []
        assert not details or len(lines) > 15


@pytest.mark.parametrize("columns", [60, 70, 80, 100])
def test_a_narrow_terminal_omits_columns_and_cuts_no_number(columns: int) -> None:
    def cells(width: int) -> list[list[str]]:
        made = report_text(analyse(made_jobs.made_job()), width, details=True)
        part = made[made.index("MPI calls (measured)") : made.index("Waiting in collectives")]
        return [line.split() for line in part.split("\n") if line.startswith("MPI_")]

    whole, shown = cells(400), cells(columns)
    assert len(shown) == len(whole) == 10
    assert [row == all_of[: len(row)] for row, all_of in zip(shown, whole, strict=True)] == [True] * 10


def test_the_sentence_has_the_median_of_launches() -> None:
    jobs = [made_jobs.made_job()]
    for factor in (0.95, 0.95):
        processes = tuple(replace(one, mpi_s=factor * one.mpi_s) for one in jobs[0].processes)
        jobs.append(replace(jobs[0], processes=processes))
    one = analyse(jobs[0], jobs[1:])
    first = first_screen_of(one)
    assert first.answer.startswith("51\u202f% of the time is MPI")
    assert round(float(first.tiles[1].number)) == 51


def test_the_first_lines_answer_the_question() -> None:
    made = report_text(analyse(made_jobs.made_job()))
    assert "53 % of the time is MPI; 67 % of that is waiting for rank 3 in one Allreduce at solver.f90:212." in made
    assert "Reliability: reliable. Recording took less than 0.1 % of the time" in made
    words = re.search(r"solve solver\.f90:212 +MPI_Allreduce +(.+)", made)
    assert words is not None
    assert words[1].split() == ["72.6", "%", "3.87", "s", "4.55", "s", "32,000"]


@pytest.mark.parametrize("name", MADE)
def test_the_report_without_details_has_at_most_40_lines(name: str) -> None:
    steps = tuple(
        RunFinding("rule", f"A title of an effect of {n} %", "A sentence about it. " * 8, ("octant doctor",), str(n))
        for n in range(5)
    )
    for found in ((), steps):
        analysis = analyse(MADE[name]())
        first = first_screen_of(analysis, Review(found, ("a check",)))
        lines = report_text(analysis, 100, first).split("\n")
        assert len(lines) <= 40
        assert found == () or any("octant doctor" in line for line in lines)


@pytest.mark.parametrize(
    ("name", "sentence", "word"),
    [
        ("one rank", "3.4 % of the time is MPI; 91 % of that is Allreduce at solver.f90:212.", "reliable"),
        ("no calls", "The program called no MPI function between MPI_Init and MPI_Finalize.", "reliable"),
        ("no tables", "No rank wrote a profile.", "not measurable"),
        ("counts", "The program made 608,532 MPI calls, 400,196 of them Iprobe at libother.so+0x9f0; times were not "
         "recorded.", "note"),
        ("killed", "51 % of the time is MPI; 71 % of that is Allreduce at solver.f90:212.", "limited"),
    ],
)  # fmt: skip
def test_every_kind_of_profile_has_a_sentence_and_a_grade(name: str, sentence: str, word: str) -> None:
    first = first_screen_of(analyse(MADE[name]()))
    assert first.answer.replace("\u202f", " ") == sentence
    assert first.reliability.word == word
    assert len(first.tiles) == 6


@pytest.mark.parametrize(
    ("library", "name"),
    [("MPICH Version:      5.0.2", "MPICH 5.0.2"), ("Open MPI v4.1.4, package: Debian", "Open MPI v4.1.4")],
)
def test_the_library_has_its_name(library: str, name: str) -> None:
    first = first_screen_of(analyse(replace(made_jobs.made_job(), library=library)))
    assert first.identity[1].endswith(f" · {name}")


def test_a_killed_job_names_its_ranks() -> None:
    text = reliability_of(analyse(made_jobs.killed())).text
    assert "ranks 5-6 have no table, and ranks 0-4,7 ended before MPI_Finalize" in text
    rows = {row.what: row for row in reliability_of(analyse(made_jobs.killed())).rows}
    assert rows["Dropped data"].seen.startswith("17 calls without site and size")
    assert rows["Problem"].seen == "the file of rank 5 is damaged after byte 4096"


@pytest.mark.parametrize(
    ("calls", "requests", "sentence", "row"),
    [
        (17, 0, "17 calls have no call site, because tables were full.", "17 calls without site and size"),
        (0, 1, "The completion of 1 request was not seen.", "1 request without completion"),
        (1, 120, "1 call has no call site, because tables were full; the completion of 120 requests was not seen.",
         "120 requests without completion"),
    ],
)  # fmt: skip
def test_lost_data_is_named_with_its_cause(calls: int, requests: int, sentence: str, row: str) -> None:
    job = made_jobs.made_job()
    first = replace(job.processes[0], lost_calls=calls, lost_requests=requests)
    found = reliability_of(analyse(replace(job, processes=(first, *job.processes[1:]))))
    assert found.text.startswith(sentence)
    dropped = next(one for one in found.rows if one.what == "Dropped data")
    assert row in dropped.seen
    assert not re.search(r"\b0 (call|request)", found.text + dropped.seen)


def test_counts_have_no_times() -> None:
    made = report_text(analyse(made_jobs.counts_only()), 200, details=True)
    tables = made[made.index("Call sites (measured)") : made.index("Regions (measured)")]
    assert not re.search(r"\d [nµm]?s\b", tables)
    assert "MPI_Irecv" in tables
    assert "64,000" in tables
    assert not re.search(r"bytes|\d [KMG]?i?B\b", tables)


def test_every_number_states_how_it_was_obtained() -> None:
    one = analyse(made_jobs.made_job())
    for section in sections(one):
        for column in section.columns:
            assert section.basis or column.basis or not column.is_number, (section.title, column.title)
    for tile in profile_tiles(one):
        assert re.match("measured|inferred|modelled", tile.basis) or tile.missing


def test_repeated_launches_have_intervals_and_name_calls_that_differ() -> None:
    jobs = [made_jobs.made_job(scale=scale) for scale in (1.0, 1.04, 0.98, 1.02, 1.01, 1.03)]
    polled = jobs[1].calls.copy()
    polled["calls"][polled["call"] == 9] += 5
    jobs[1] = replace(jobs[1], calls=polled)
    one = analyse(jobs[0], jobs[1:])
    time = profile_tiles(one)[0]
    assert time.interval.endswith("95 % interval, median of 6 launches")
    assert time.strip is not None
    assert len(time.strip.counted) == 6
    share_of_mpi, balance = profile_tiles(one)[1:3]
    assert share_of_mpi.of.startswith("newest launch: ")
    assert balance.basis == "measured, newest launch"
    assert profile_tiles(analyse(jobs[0]))[2].basis == "measured"
    assert "MPI profile of 6 launches (tables: the newest one)" in report_text(one)
    changed = next(section for section in sections(one) if section.id == "mpi-counts")
    assert [row[:2] for row in changed.rows] == [("MPI_Iprobe", "calls")]
    assert "polling" in changed.rows[0][-1]
    two = analyse(jobs[0], jobs[1:2])
    elapsed = repeated_texts(two.repeats.values[0])
    assert (elapsed.ends, elapsed.claim) == ("10.0 and 10.4", "two launches, no interval")


def test_the_command_for_a_missing_curve_is_shown_whole() -> None:
    one = analyse(made_jobs.made_job())
    assert one.excess.command
    assert f"     {one.excess.command}" in report_text(one, 60).split("\n")


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0 %"), (1e-7, "< 0.01 %"), (0.0004, "0.04 %"), (0.05326, "5.33 %"), (0.726, "72.6 %"), (1.0, "100 %")],
)
def test_shares_have_three_digits_and_at_most_two_decimals(value: float, text: str) -> None:
    assert share(value).replace("\u202f", " ") == text


def test_sizes_below_a_kibibyte_are_whole_bytes() -> None:
    assert [size(x).replace("\u202f", " ") for x in (0, 8, 1023, 1024, 12.5)] == [
        "0 B", "8 B", "1023 B", "1.00 KiB", "12.5 B"
    ]  # fmt: skip


@given(st.text(max_size=80), st.integers(1, 40))
def test_a_shortened_text_fits_and_keeps_both_ends(text: str, most: int) -> None:
    made = shortened(text, most)
    assert cell_len(made) <= most
    if cell_len(text) <= most:
        assert made == text
    elif most > 6 and text.isascii():
        assert made[-1] == text[-1]


def test_the_size_of_nonblocking_receives_is_explained() -> None:
    """They are in the class of their buffer, so calls times size is not their number of bytes."""
    made = " ".join(report_text(analyse(made_jobs.made_job()), 100, details=True).split())
    assert "of a nonblocking receive, those of its buffer" in made


def test_a_caveat_of_several_tiles_is_printed_once() -> None:
    made = " ".join(report_text(analyse(made_jobs.killed()), 100, details=True).split())
    caveats = made[made.index(" Caveats ") : made.index(" Reliability Observation ")]
    assert caveats.count("The profile is incomplete") == 1
    assert " ! Time, MPI share, Load balance, Costliest site: " in caveats


def test_no_part_of_no_time_is_named() -> None:
    made = MadeProfile(2)
    for rank in range(2):
        made.add(rank, "MPI_Comm_rank", calls=3)
    assert first_screen_of(analyse(made.job())).answer == "0.0\u202f% of the time is MPI."
