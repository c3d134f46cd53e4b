"""Settings of current libraries: each entry has a source, and all that it names exists."""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from octant.catalogue import settings as published
from octant.catalogue.current_settings import SettingLibrary, libraries, problems
from octant.mpi import neutral
from octant.mpi.knobs import knobs
from octant.untrusted import MistakesError, convert
from paths import DATA

SOURCE = {"title": "ompi_info --all", "version": "Open MPI 5.0.11", "kind": "listing"}
NAMES = SOURCE | {"title": "names in libmpi.so", "meanings": False}
ENTRY = {"name": "btl", "meaning": "Lists the transports.", "kind": "list", "source": ["ompi_info"]}


def library(*changes: dict[str, Any], **fields: Any) -> SettingLibrary:
    """Return a library with one entry for each table of changes to `ENTRY`."""
    table = {
        "title": "Open MPI",
        "prefixes": ["OMPI_MCA_"],
        "line": "{name}",
        "sources": {"ompi_info": SOURCE, "names": NAMES},
    }
    return convert(table | fields | {"setting": [ENTRY | change for change in changes]}, SettingLibrary)


def test_the_tables_do_not_contradict_themselves() -> None:
    assert problems(libraries()) == []


@dataclass(frozen=True)
class Case:
    changes: tuple[dict[str, Any], ...]
    says: str


@pytest.mark.parametrize(
    "case",
    [
        Case(({"source": ["mpivars"]},), "no source 'mpivars'"),
        Case(({}, {"name": "BTL"}), "the name btl is used twice"),
        Case(({}, {"name": "pml", "aliases": ["btl"]}), "the name btl is used twice"),
        Case(({"until": "5.0", "replaced_by": ["btls"]},), "btls is in none of the files"),
        Case(({"until": "5.0", "replaced_by": ["btl"]},), "btl is the setting itself"),
        Case(({"until": "5.0"},), "names its successor"),
        Case(({"instead": "Leave it out."},), "states the version without it"),
        Case(({"counterparts": ["I_MPI_FABRICS"]},), "I_MPI_FABRICS is in none of the files"),
        Case(({"meaning": "Lists the transports"},), "not one sentence"),
        Case(({"meaning": "Lists " * 31 + "."},), "not one sentence"),
        Case(({"evidence": "effect"},), "must be given together"),
        Case(({"source": ["names"]},), "list names without meanings"),
        Case(({"inferred": True},), "inferred must not be set"),
        Case(({"source": ["names", "ompi_info"], "inferred": True},), "inferred must not be set"),
        Case(({"source": ["names"], "inferred": True, "values": {"sm": ""}},), "values of a setting whose meaning"),
        Case(({"source": ["names"], "inferred": True, "range": "0 to 3"},), "values of a setting whose meaning"),
        Case(({"until": "5.0", "absent": "5.0.2", "instead": "Leave it out."},), "remove absent"),
        Case(({"absent": "5.0.2"},), "names its successor"),
        Case(({"name": "OMPI_MCA_btl"},), "the prefix OMPI_MCA_"),
        Case(
            ({"values": {"sm": ""}, "removed_values": [{"value": "openib", "until": "5.0", "instead": "ucx"}]},),
            "ucx, which replaces the value openib, is not one of its values",
        ),
    ],
    ids=lambda case: case.says,
)
def test_contradictions_are_found(case: Case) -> None:
    held = {"openmpi": library(*case.changes, environment="OMPI_MCA_")}
    assert any(case.says in text for text in problems(held)), problems(held)
    assert problems({"openmpi": library({}, environment="OMPI_MCA_")}) == []


@pytest.mark.parametrize("change", [{"source": []}, {"sources": ["ompi_info"]}, {"kind": "switch"}, {"name": 1}])
def test_entries_without_source_and_with_unknown_keys_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(MistakesError):
        library(change)


def test_titles_are_those_of_the_mpi_package() -> None:
    assert {key: neutral.TITLES[key] for key in libraries() if key in neutral.TITLES} == {
        key: one.title for key, one in libraries().items() if key in neutral.TITLES
    }


def test_no_fact_is_stated_twice() -> None:
    """The neutral setting and the proof of a name are in `neutral.toml` where that file sets the name."""
    tabled = {
        (row.library, name): setting.name
        for setting in neutral.settings()
        for row in setting.maps
        for name in row.names()
    }
    names = {setting.name for setting in neutral.settings()}
    connected = [{(e.library, e.name) for e in knob.equivalents} for knob in knobs()]
    for key, held in libraries().items():
        for one in held.setting:
            place = f"{key}.toml, {one.name}"
            assert not one.neutral or one.neutral in names, place
            assert not one.neutral or (key, held.environment + one.name) not in tabled, place
            for other in one.counterparts:
                pairs = {(k, other) for k, lib in libraries().items() for s in lib.setting if other in s.names()}
                both = [group for group in connected if (key, one.name) in group and group & pairs]
                assert not both, f"{place}: knobs.toml connects it with {other}"


def test_historical_settings_are_not_repeated() -> None:
    """One name is both: it was published with other values, and programs of today read it."""
    ours = {name for held in libraries().values() for one in held.setting for name in one.names()}
    assert ours & {one.name for one in published() if one.name.isupper() and "_" in one.name} == {"OMP_NUM_THREADS"}


def test_intel_mpi_reports_what_the_table_calls_removed() -> None:
    """Recorded by tests/support/record_intelmpi_settings.py with each version."""
    records = json.loads((DATA / "impi-settings.json").read_text(encoding="utf-8"))
    settings = [one for one in libraries()["intelmpi"].setting if one.gone()]
    for record in records.values():
        assert {one.name for one in settings} == {*record["removed"], *record["not supported"]}
    assert {one.absent for one in settings} - {""} == {min(records, key=numbers)}
    assert all("run" in one.source for one in settings)


def numbers(version: str) -> list[int]:
    """Return the parts of a version: `2021.1.1` is before `2021.18.1`."""
    return [int(part) for part in version.split(".")]
