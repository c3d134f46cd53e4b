"""The figures of runs that older versions stored, for `tests/analysis/test_golden.py`.

python tests/support/golden_figures.py    writes tests/data/golden-figures.jsonl anew
"""

import json
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

from octant.analysis.summary import summarise
from octant.report.export import tidy
from octant.report.study import text as study_text
from octant.store import Store, StoredRun
from octant.study.outcome import outcome_of_run
from octant.study.stored import study_run

DATA = Path(__file__).resolve().parent.parent / "data"
GOLDEN = DATA / "golden-figures.jsonl"
COMPARED = (
    "workload", "title", "mode", "ranks", "threads", "metric", "unit", "median", "low", "high", "kind", "launches",
    "tried", "samples", "limit", "of_limit", "passed",
)  # fmt: skip
COMPARED_OF_A_CELL = ("measure", "levels", "at", "unit", "launches", "low", "middle", "high")


def stored_runs(folder: Path) -> Iterator[StoredRun]:
    """The runs of version 0.1, then those of version 0.2, which are unpacked there."""
    with tarfile.open(DATA / "store-of-0.2.tar.xz") as archive:
        archive.extractall(folder)  # noqa: S202 - our own archive
    for root in (DATA / "store-format-1", folder):
        yield from Store(root).runs()


def lines(run: StoredRun) -> Iterator[dict[str, object]]:
    """A line for each figure of a run, and for each part of the outcome of its study."""
    for line in tidy.figure_lines(summarise(run, all_metrics=True)):
        yield {name: getattr(line, name) for name in COMPARED}
    if run.study:
        outcome = json.loads(study_text.report_json(outcome_of_run(study_run(run))))
        yield from ({name: cell[name] for name in COMPARED_OF_A_CELL} for cell in outcome["cells"])
        yield from ({"finding": one["id"], "status": one["status"]} for one in outcome["findings"])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as unpacked, GOLDEN.open("w", encoding="utf-8") as file:
        for run in stored_runs(Path(unpacked)):
            file.writelines(f"{json.dumps({'run': run.id, **line})}\n" for line in lines(run))
