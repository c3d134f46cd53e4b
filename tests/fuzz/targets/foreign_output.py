"""Outputs of other benchmarks, by the tool that the first word names: read, imported, and shown."""

import io
import tempfile
from pathlib import Path

from foreign_outputs import FILES, tool_of
from fuzz_targets import one_in
from octant import foreign
from octant.analysis.summary import summarise
from octant.benchmarks import BenchmarkArguments, benchmarks
from octant.failure import Refusal
from octant.report.export import tidy
from octant.report.page import run_page
from octant.report.tables import benchmark as benchmark_table
from octant.report.tables import text
from octant.store import Store, imported
from reports import report_of

FORMAT = "text"
MAX_BYTES = foreign.MAX_BYTES
REFUSES = (Refusal,)
SHOWN = 1000
"""Points of the largest run that is shown: more take a second for a good reason."""
SEEDS = [f"{tool_of(path)}\n{path.read_text(encoding='utf-8')}".encode() for path in FILES]


def read(data: bytes) -> None:
    """What `octant import` makes of the rest, and, of one in four, what commands print of the run."""
    tool, _, content = data.decode("utf-8", "replace").partition("\n")
    tool = tool if tool in foreign.tools() else "imb"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "output.txt"
        path.write_text(content, encoding="utf-8", newline="")
        output = foreign.read_file(tool, path)
        run = imported.create(Store(Path(folder)), tool, [(path, output)], ranks=2)
        if one_in(4, data) and len(run.points) < SHOWN:
            summary = summarise(run, all_metrics=True)
            report = report_of(summary)
            text.show(report, io.StringIO())
            tidy.as_json(report)
            benchmark_table.text(summary, benchmarks()["hpcc"])
            for style in ("imb", "osu"):
                benchmark_table.text(summary, benchmarks()["mpi"], BenchmarkArguments(own_options={"as": style}))
            run_page.render(report)
