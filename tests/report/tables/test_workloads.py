"""The list of workloads and the page of one: families, metrics in words, limits; knobs where the kernel is built."""

import json
from pathlib import Path

import pytest

from octant import workloads
from octant.failure import Refusal
from octant.metric import Value, custom, derived, groups, per, ranks, rate, reading, result, seconds, share, steps
from octant.report.tables import workloads as page


def test_workloads_stand_under_the_title_of_their_family() -> None:
    text = page.workloads_text()
    lines = text.splitlines()
    for family, title in workloads.families().items():
        head = next(n for n, line in enumerate(lines) if line.startswith(f"{family} "))
        assert title[:30] in lines[head]
        following = next((line for line in lines[head + 1 :] if line.startswith("  ") and "/" in line), "")
        assert following.strip().startswith(f"{family}/")
    assert all(name in text for name in workloads.workloads())


@pytest.mark.parametrize("name", workloads.workloads())
def test_a_page_says_what_is_declared_also_without_a_kernel(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OCTANT_KERNELS", str(tmp_path))
    workload, text = workloads.workload(name), page.workload_text(name)
    for metric in workload.metrics:
        assert any(metric.name in line and metric.better in line for line in text.splitlines())
    assert all(limit in text for limit in workload.bounded_by)
    assert all(one.name in text for one in workload.provides)
    assert "Knobs, phases and roles are not shown: cannot find" in text


def test_a_page_shows_what_the_kernel_says_of_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    described = {
        "pace": "steps", "phases": ["pack", "solve/halo"], "least_ranks": 2,
        "roles": [{"name": "caller", "timed": True}, {"name": "answerer", "timed": False}],
        "readings": [{"name": "residual", "unit": "1"}],
        "knobs": [{"name": "bytes", "kind": "bytes", "default": "8", "help": "length [of a message]"}],
    }  # fmt: skip
    kernel = tmp_path / "octant-mpi-p2p"
    kernel.write_text(f"#!/bin/sh\ncat <<'END'\n{json.dumps(described)}\nEND\n")
    kernel.chmod(0o755)
    monkeypatch.setenv("OCTANT_KERNELS", str(tmp_path))
    text = page.workload_text("p2p")
    for words in (
        "steps: the ranks of a group work together", "pack, solve/halo", "residual, 1", "length [of a message]",
        "caller, answerer (its samples are excluded)",
    ):  # fmt: skip
        assert words in text
    assert json.loads(page.workload_json("p2p"))["phases"] == ["pack", "solve/halo"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (seconds(), "step time"),
        (per("loads"), "step time per loads"),
        (rate("bytes_read", "bytes_written"), "bytes_read + bytes_written per second"),
        (seconds("phase/pack", over=(steps("mean"), ranks("max"), groups("max"))),
         "phase/pack time; steps mean, ranks max, groups max"),
        (share("phase/pack"), "sum of phase/pack over sum of step"),
        (reading("residual"), "reading residual"),
        (derived(max, seconds(), result("overlap")), "computed from: step time; result overlap"),
        (custom(lambda _point, _samples: 0.0), "a function of the workload"),
    ],
)  # fmt: skip
def test_definitions_of_metrics_in_words(value: Value, text: str) -> None:
    assert page.definition_text(value) == text


def test_an_unknown_workload_is_refused() -> None:
    with pytest.raises(Refusal, match="no workload 'rendering'"):
        page.workload_text("rendering")


def test_a_workload_without_a_page_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OCTANT_KERNELS", str(tmp_path))
    monkeypatch.setattr(page, "files", lambda _package: tmp_path)
    text = page.workload_text("p2p")
    assert text.startswith(f"There is no page of mpi/p2p: {tmp_path / 'README.md'} does not exist.\n")
    assert "Metrics" in text


def test_the_list_and_the_pages_show_names_in_other_benchmarks() -> None:
    text = " ".join(page.workloads_text().split())
    assert all(name in text for name in workloads.aliases())
    shown = " ".join(page.workload_text("triad").split())
    assert "names in other benchmarks" in shown
    assert "copy (kernel=copy)" in shown
    assert "memcpy (kernel=copy store=libc)" in shown
    assert "triad" not in page.workloads_text(["pointer", "chasing"])
