"""The changelog: for users, by version, and short."""

import re

import pytest

from octant.build.version import source_number
from paths import ROOT

TEXT = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
NUMBER = source_number(ROOT)
SECTIONS = re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]
VERSIONS, _, STATES = zip(*(section.split("\n", 1)[0].partition(" - ") for section in SECTIONS), strict=True)


def test_the_newest_version_is_that_of_the_package_and_released_ones_have_a_date() -> None:
    assert VERSIONS[-3:] == ("0.3.0", "0.2.0", "0.1.0")
    assert VERSIONS[0] == NUMBER.split(".dev")[0]
    in_progress = [state == "in progress" for state in STATES]
    assert in_progress == [".dev" in NUMBER, *[False] * (len(STATES) - 1)]
    assert all(re.fullmatch(r"in progress|\d{4}-\d\d-\d\d", state) for state in STATES)


@pytest.mark.parametrize("section", SECTIONS, ids=VERSIONS)
def test_a_version_has_five_to_fifteen_entries_in_three_groups(section: str) -> None:
    groups = re.findall(r"^### (.+)$", section, re.MULTILINE)
    assert groups == ["Added", "Changed", "Fixed"]
    entries = [part.count("\n- ") for part in section.split("\n### ")]
    assert entries[0] == 0, "an entry without a group"
    assert all(entries[1:]), "a group without an entry"
    assert 5 <= sum(entries) <= 15


def test_lines_are_short() -> None:
    assert [line for line in TEXT.splitlines() if len(line) > 120] == []
