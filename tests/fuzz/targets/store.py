"""A folder of a store: what was asked, planned and recorded, listed and reported. Files begin with `=== NAME`."""

import io
import json
import tempfile
from pathlib import Path

from fake_run import fake_run, launch_line, point_line
from fuzz_targets import sealed
from octant.analysis.summary import summarise
from octant.record.writer import failure_line
from octant.report.export import tidy
from octant.report.tables import listing, text
from octant.store import Store
from octant.store.progress import progress_of
from octant.store.run_request import run_request_text
from paths import DATA
from reports import report_of

FORMAT = "json"
_ID = "20261121-214530-3f2a"


def _archive(files: dict[str, str]) -> bytes:
    return "\n".join(f"=== {name}\n{content.rstrip()}" for name, content in files.items()).encode()


def _ours() -> bytes:
    run = fake_run()
    points = [point for point in run.points if "ladder" not in point.notes][:8]
    lines = [launch_line(points[0]), *map(point_line, points), *(failure_line(failure) for failure in run.failures)]
    return _archive(
        {
            "asked.json": json.dumps(json.loads(run_request_text(run)), separators=(",", ":")),
            "records.jsonl": "\n".join(line.rpartition(',"crc":')[0] + "}" for line in lines),
            "records.jsonl.progress": '{"launch":"x-0","share":0.5,"phase":"warm-up"}',
        }
    )


def _earlier(folder: Path) -> bytes:
    return _archive({path.name: _one_line(path) for path in sorted(folder.iterdir())})


def _one_line(path: Path) -> str:
    content = path.read_text()
    return json.dumps(json.loads(content), separators=(",", ":")) if path.suffix == ".json" else content


SEEDS = [_ours(), *(_earlier(folder) for folder in sorted((DATA / "store-format-1" / "runs").iterdir()))]


def read(data: bytes) -> None:
    """A run, in use: what `octant runs` and `octant report` print of it."""
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root) / "runs" / _ID
        folder.mkdir(parents=True)
        for part in data.split(b"=== ")[1:]:
            name, _, content = part.partition(b"\n")
            if name in (b"asked.json", b"plan.jsonl", b"records.jsonl", b"records.jsonl.progress", b"index.sqlite"):
                (folder / name.decode()).write_bytes(b"\n".join(map(sealed, content.split(b"\n"))))
        store = Store(Path(root))
        listing.as_text(store.list_runs())
        listing.as_json(store.list_runs())
        run = store.read(_ID)
        progress_of(run.records, "x-0")
        report = report_of(summarise(run, all_metrics=True))
        text.show(report, io.StringIO())
        tidy.as_json(report)
