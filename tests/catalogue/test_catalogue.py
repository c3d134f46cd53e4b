"""The catalogue is whole, every reference in it leads somewhere, and a spoiled file is refused by name."""

from pathlib import Path

import pytest

from octant import catalogue


def test_the_counts_are_those_of_the_transcription() -> None:
    assert len(catalogue.machines()) == 14
    assert len(catalogue.results()) == 46
    assert sum(len(result.observations) for result in catalogue.results().values()) == 1076
    assert len(catalogue.findings()) == 220
    assert len(catalogue.settings()) == 202
    assert len(catalogue.documents()) == 5


def test_every_entry_names_a_known_document() -> None:
    entries: list[catalogue.Result | catalogue.Finding | catalogue.Setting]
    entries = [*catalogue.results().values(), *catalogue.findings().values(), *catalogue.settings()]
    sources = [source for machine in catalogue.machines().values() for source in machine.source]
    assert {entry.document for entry in [*entries, *sources]} == set(catalogue.documents())


def test_evidence_and_machines_exist() -> None:
    for finding in catalogue.findings().values():
        assert set(finding.evidence) <= set(catalogue.results()), finding.id
    named = {machine for result in catalogue.results().values() for machine in result.machines}
    assert {name for name in named if not name.startswith("unspecified-")} <= set(catalogue.machines())


def test_derived_fields_agree_with_their_formula() -> None:
    """Power 755: 32 cores at 8 flop a cycle and 3.3 GHz (derived in its file)."""
    machine = catalogue.machines()["power755"]
    assert (machine.cores_per_node, machine.flops_per_cycle_per_core, machine.clock_ghz) == (32, 8, 3.3)
    assert machine.peak_gflops_per_node == pytest.approx(32 * 8 * 3.3)


def test_observations_are_found_by_their_columns() -> None:
    table = catalogue.results()["p7-stream-affinity-pages"]
    (best,) = table.find("stream_triad", {"binding": "yes", "memory_affinity": "yes", "pages": "small"})
    assert best.value == 122409
    assert best.unit == "MB/s"
    with pytest.raises(KeyError, match="no metric 'triad' in p7-stream-affinity-pages; it has stream_triad"):
        table.find("triad", {})
    with pytest.raises(KeyError, match="no column 'page'"):
        table.find("stream_triad", {"page": "small"})


def test_a_value_that_could_not_be_measured_is_no_number() -> None:
    empty = [o for result in catalogue.results().values() for o in result.observations if o.value is None]
    assert len(empty) == 2


ABOUT = """
id = "t"
title = "t"
study = "t"
document = "d"
where = "w"
lines = [[1, 2]]
machines = ["m"]
machine_attribution = "stated"
configuration_columns = ["n"]
rows = 1
[metrics.rate]
unit = "B/s"
definition = "bytes a second"
"""
HEAD = "machine,n,metric,value,unit,kind,relation,claim,note\n"


@pytest.mark.parametrize(
    ("about", "rows", "message"),
    [
        (ABOUT, HEAD + "m,1,rate,fast,B/s,measured,eq,,\n", r"t\.csv, line 2 \(value: Input should be a valid number"),
        (ABOUT, HEAD + "m,1,rate,1,B/s,guessed,eq,,\n", r"t\.csv, line 2 \(kind"),
        (ABOUT, HEAD + "m,1,rate,1,B/s,measured,eq,,\n" * 2, r"2 rows, 1 announced"),
        (ABOUT, HEAD + "m,1,speed,1,B/s,measured,eq,,\n", r"metric 'speed' has no definition"),
        (ABOUT, HEAD + "x,1,rate,1,B/s,measured,eq,,\n", r"machine 'x' is not announced"),
        (ABOUT, HEAD.replace(",n,", ",k,") + "m,1,rate,1,B/s,measured,eq,,\n", r"its columns are not"),
        (ABOUT.replace("rows", "lines_of"), HEAD, r"t\.toml \(rows: Field required\)"),
    ],
)
def test_a_spoiled_table_is_refused_by_file_and_key(tmp_path: Path, about: str, rows: str, message: str) -> None:
    (tmp_path / "t.toml").write_text(about)
    (tmp_path / "t.csv").write_text(rows)
    with pytest.raises(catalogue.CatalogueError, match=message):
        catalogue.read_result(tmp_path / "t.toml", tmp_path / "t.csv")
