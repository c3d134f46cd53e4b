"""Studies over an emulated link: verdicts that say so, and the reason where none can be had."""

from pathlib import Path

import pytest

import fake_study
from fake_run import machine
from octant.launch import link
from octant.report.study.text import report_text, show_text
from octant.store import Store
from octant.study import file

STUDY = """
question = "What is lost on leaving the node?"
[baseline]
where = "between"
[measures.copy]
workload = "stream"
ranks = "2"
[factors.where]
inside = {}
between = { link = "100000kbit/s" }
[[findings]]
id = "pmb-intra-inter"
test = { kind = "ratio", measure = "copy", of = { where = "inside" }, bar = { above = 2.0 } }
"""


@pytest.fixture
def where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    fake_study.programs(tmp_path / "bin", monkeypatch, ("node/stream", "bind", "link"))
    (tmp_path / "leaving.toml").write_text(STUDY)
    monkeypatch.chdir(tmp_path)
    link.why_not.cache_clear()
    return Store(tmp_path / "store")


def test_a_verdict_over_an_emulated_link_says_so_with_the_link(where: Store) -> None:
    run = fake_study.run(where, "leaving.toml", machine(), lambda launch, _: 1e9 if launch.request.shape.link else 9e9)
    assert {request.shape.link for request in run.requests} == {"", "100Mbit/s"}
    found = fake_study.outcome_of(run)
    (verdict,) = found.verdicts
    assert verdict.status == "holds"
    assert verdict.text.startswith("holds, over an emulated link: ")
    assert verdict.text.endswith("; the hosts were joined by an emulated link (100Mbit/s), not by a real network")
    assert "holds, over an emulated link" in " ".join(report_text(found).split())


def test_what_rests_on_no_link_does_not_say_so(where: Store, tmp_path: Path) -> None:
    plain = STUDY.replace('link = "100000kbit/s"', 'knobs = { bytes = "1MiB" }')
    (tmp_path / "leaving.toml").write_text(plain)
    run = fake_study.run(where, "leaving.toml", machine(), lambda launch, _: 1e9 if launch.request.knobs else 9e9)
    (verdict,) = fake_study.outcome_of(run).verdicts
    assert "emulated" not in verdict.text


def test_if_no_link_can_be_emulated_the_verdict_states_the_reason(where: Store, tmp_path: Path) -> None:
    refusal = "cannot emulate a link (no namespaces available: Operation not permitted); try root"
    program = tmp_path / "bin" / "octant-link"
    program.write_text(f"#!/bin/sh\necho 'octant-link: {refusal}' >&2\nexit 3\n")
    run = fake_study.run(where, "leaving.toml", machine(), lambda _launch, _: 9e9)
    (verdict,) = fake_study.outcome_of(run).verdicts
    assert verdict.text == f"cannot be tested here: {refusal}"
    assert refusal in show_text("leaving.toml", machine())


def test_a_link_that_is_none_is_refused_with_its_line(where: Store, tmp_path: Path) -> None:
    (tmp_path / "leaving.toml").write_text(STUDY.replace("100000kbit/s", "fast"))
    with pytest.raises(file.StudyError, match=r"line 10 .*as a rate"):
        file.load("leaving.toml")
