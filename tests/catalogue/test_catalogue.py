"""The catalogue is whole, every reference in it leads somewhere, and a spoiled file is refused by name."""

import json
import tomllib
from collections import Counter
from functools import partial
from importlib.resources import files
from pathlib import Path

import pytest

from octant import catalogue
from octant.report.study import published


def test_the_counts_are_those_of_the_transcription() -> None:
    assert len(catalogue.machines()) == 14
    assert len(catalogue.results()) == 47
    assert sum(len(result.observations) for result in catalogue.results().values()) == 1091
    assert len(catalogue.findings()) == 220
    assert len(catalogue.settings()) == 202
    assert len(catalogue.documents()) == 5


def test_every_entry_names_a_known_document() -> None:
    entries: list[catalogue.PublishedResult | catalogue.Finding | catalogue.Setting]
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


@pytest.mark.parametrize("name", catalogue.machines())
def test_a_machine_shows_every_key_of_its_file(name: str) -> None:
    text = (files("octant.catalogue") / "machines" / f"{name}.toml").read_text(encoding="utf-8")
    (machine,) = published.entries("machines", name)
    (shown,) = json.loads(published.as_json([machine]))
    assert {key: value for key, value in shown.items() if value is not None} == {
        **tomllib.loads(text),
        "source": [{"fields": [], **source} for source in tomllib.loads(text)["source"]],
    }
    for key, value in tomllib.loads(text).items():
        if isinstance(value, list) and all(isinstance(one, str) and len(one) <= 40 for one in value):
            assert " ".join(", ".join(value).split()) in " ".join(published.entry_text(machine).split()), key


def test_observations_are_found_by_their_columns() -> None:
    table = catalogue.results()["p7-stream-affinity-pages"]
    (best,) = table.find("stream_triad", {"binding": "yes", "memory_affinity": "yes", "pages": "small"})
    assert best.value == 122409
    assert best.unit == "MB/s"
    with pytest.raises(KeyError, match="no metric 'triad' in p7-stream-affinity-pages; did you mean stream_triad"):
        table.find("triad", {})
    with pytest.raises(KeyError, match="no column 'page'"):
        table.find("stream_triad", {"page": "small"})


def test_a_value_that_could_not_be_measured_is_no_number() -> None:
    empty = [o for result in catalogue.results().values() for o in result.observations if o.value is None]
    assert len(empty) == 2


def test_what_became_of_the_settings() -> None:
    """201 of 202 entries and 164 of 165 names have a counterpart; the line of one is missing in its document."""
    settings = catalogue.settings()
    assert len({(s.name, s.value, s.document) for s in settings}) == 202
    assert (len({s.name for s in settings}), len({s.name for s in settings if s.counterparts})) == (165, 164)
    assert [s.name for s in settings if not s.counterparts] == ["Export"]
    relations = Counter(s.relation for s in settings)
    assert relations == {"identical": 56, "same-purpose": 137, "platform-only": 8, "obsolete": 1}
    assert sum(bool(s.neutral) for s in settings) == 55
    links = [c for s in settings for c in s.counterparts]
    assert (len(links), len({c.id for c in links})) == (481, 238)


COUNTERPARTS = """
[perf]
system = "Linux"
name = "perf record"
values = { tprof = "perf record" }
line = "perf record ./prog"
apply = "report"
verified = "ran"
[yield]
system = "Open MPI"
name = "mpi_yield_when_idle"
line = "OMPI_MCA_mpi_yield_when_idle=1 mpiexec ./prog"
apply = "environment"
verified = "effect"
"""
SETTING = """
[[setting]]
name = "tprof"
value = ""
layer = "tool"
system = "AIX"
effect = "Samples."
when = "Always."
document = "d"
where = "w"
effect_stated = true
relation = "same-purpose"
reason = "Another tool samples."
counterparts = ["perf", "yield"]
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("", "", None),
        ('"perf", ', '"perv", ', r"settings\.toml, setting 1 \(counterparts: no counterpart 'perv'\)"),
        ('"perf", ', "", r"the counterparts of settings\.toml \(perf: no setting refers to it\)"),
        ('"same-purpose"', '"similar"', r"settings\.toml, setting 1 \(relation: unknown value 'similar'"),
        ("reason =", "reasons =", r"settings\.toml, setting 1 \(reasons: unknown key\); did you mean reason"),
        ('"ran"', '"seen"', r"a\.toml, perf \(verified: unknown value 'seen'"),
        ('"report"', '"magic"', r"a\.toml, perf \(apply: "),
        ('"OMPI_MCA', '"export OMPI_MCA', r"a\.toml, yield \(.*a line for the environment begins with NAME=value"),
        ('"perf record ./prog"', '""', r"a\.toml, perf \(line: "),
        ("values = {", "values = [", r"cannot read a\.toml"),
    ],
)
def test_spoiled_settings_are_refused_by_file_and_key(tmp_path: Path, old: str, new: str, message: str | None) -> None:
    (tmp_path / "settings.toml").write_text(SETTING.replace(old, new))
    (tmp_path / "a.toml").write_text(COUNTERPARTS.replace(old, new))
    read = partial(catalogue.read_settings, tmp_path / "settings.toml", [tmp_path / "a.toml"])
    if message is None:
        assert [c.id for c in read()[0].counterparts] == ["perf", "yield"]
    else:
        with pytest.raises(catalogue.CatalogueError, match=message):
            read()


def test_an_id_of_two_counterparts_is_refused(tmp_path: Path) -> None:
    for name in ("a.toml", "b.toml"):
        (tmp_path / name).write_text(COUNTERPARTS)
    (tmp_path / "settings.toml").write_text(SETTING)
    with pytest.raises(catalogue.CatalogueError, match=r"b\.toml \(perf: another counterpart has this id\)"):
        catalogue.read_settings(tmp_path / "settings.toml", [tmp_path / "a.toml", tmp_path / "b.toml"])


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
        (
            ABOUT,
            HEAD + "m,1,rate,fast,B/s,measured,eq,,\n",
            r"t\.csv, line 2 \(value: could not convert string to float: 'fast'",
        ),
        (ABOUT, HEAD + "m,1,rate,1,B/s,guessed,eq,,\n", r"t\.csv, line 2 \(kind"),
        (ABOUT, HEAD + "m,1,rate,1,B/s,measured,eq,,\n" * 2, r"2 rows, 1 announced"),
        (ABOUT, HEAD + "m,1,speed,1,B/s,measured,eq,,\n", r"metric 'speed' has no definition"),
        (ABOUT, HEAD + "x,1,rate,1,B/s,measured,eq,,\n", r"machine 'x' is not announced"),
        (ABOUT, HEAD.replace(",n,", ",k,") + "m,1,rate,1,B/s,measured,eq,,\n", r"its columns are not"),
        (ABOUT.replace("rows = 1", ""), HEAD, r"t\.toml \(rows: this key is missing\)"),
    ],
)
def test_a_spoiled_table_is_refused_by_file_and_key(tmp_path: Path, about: str, rows: str, message: str) -> None:
    (tmp_path / "t.toml").write_text(about)
    (tmp_path / "t.csv").write_text(rows)
    with pytest.raises(catalogue.CatalogueError, match=message):
        catalogue.read_result(tmp_path / "t.toml", tmp_path / "t.csv")


def test_findings_are_found_by_words_in_any_order_and_case() -> None:
    found, is_entry = published.find("findings", ("memory", "BANDWIDTH"))
    assert not is_entry
    assert 1 < len(found) < len(catalogue.findings())
    assert "p7-l3-scales-with-cores" in {one.id for one in found if isinstance(one, catalogue.Finding)}
    assert published.find("findings", ("p7-l3-scales-with-cores",)) == (
        [catalogue.findings()["p7-l3-scales-with-cores"]], True,
    )  # fmt: skip
    assert published.find("findings", ("bandwidth", "per", "core")) == published.find("findings", ("bandwidth", "core"))
    assert len(published.find("findings", ())[0]) == len(catalogue.findings())
    assert "octant study show l3-locality" in published.entry_text(catalogue.findings()["p7-l3-scales-with-cores"])
