"""Commands of published benchmarks print the same text for stored runs as version 0.2 did."""

from pathlib import Path

import pytest

import golden_tables


@pytest.mark.slow
def test_tables_and_summaries_of_stored_runs_are_as_before(tmp_path: Path) -> None:
    kept = golden_tables.read()
    assert len(kept) == 4 * len(golden_tables.COMMANDS)
    assert golden_tables.sections(golden_tables.unpacked(tmp_path)) == kept
