"""Runs that versions 0.1 and 0.2 stored give the figures that they gave when `tests/data` was written."""

import json
from pathlib import Path

import pytest

import golden_figures
from octant.renamed import current_metric


def test_stored_runs_of_older_versions_give_the_same_figures(tmp_path: Path) -> None:
    kept = map(json.loads, golden_figures.GOLDEN.read_text(encoding="utf-8").splitlines())
    runs = golden_figures.stored_runs(tmp_path)
    found = ({"run": run.id, **line} for run in runs for line in golden_figures.lines(run))
    for one, expected in zip(found, kept, strict=True):
        assert one.keys() == expected.keys()
        if "metric" in expected:
            expected["metric"] = current_metric(expected["workload"], expected["metric"])
        for name, value in expected.items():
            close = pytest.approx(value, rel=1e-9) if isinstance(value, float) else value
            assert one[name] == close, (expected["run"], expected.get("title"), expected.get("metric"), name)
