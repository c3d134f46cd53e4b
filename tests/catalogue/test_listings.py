"""Settings of current libraries agree with the listings that they were taken from.

`listings/LIBRARY.SOURCE.txt` has names and defaults of a listing that the library made. Its first line is version and
title of the source.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace

from octant.catalogue.current_settings import CurrentSetting, SettingLibrary, libraries

FOLDER = Path(__file__).parent / "listings"


@dataclass(frozen=True)
class Listing:
    heading: str
    defaults: Mapping[str, str]

    @property
    def product(self) -> str:
        """The words in front of the version: listings of one product can be compared."""
        return re.split(r"\d", self.heading)[0]

    @property
    def version(self) -> tuple[int, ...]:
        return numbers(self.heading.removeprefix(self.product))


def numbers(version: str) -> tuple[int, ...]:
    """Return the leading numbers of a version: `5.0.11 (wheel)` is (5, 0, 11)."""
    found = re.match(r"[\d.]+", version)
    return tuple(int(part) for part in found[0].split(".") if part) if found else ()


@cache
def listings() -> Mapping[str, Mapping[str, Listing]]:
    """Return the listings by library and source."""
    found: dict[str, dict[str, Listing]] = {}
    for path in sorted(FOLDER.glob("*.txt")):
        key, source, _suffix = path.name.split(".")
        heading, *rows = path.read_text(encoding="utf-8").splitlines()
        names = dict(row.partition(" ")[::2] for row in rows)
        found.setdefault(key, {})[source] = Listing(heading.removeprefix("# "), names)
    return found


def mistakes(library: SettingLibrary, held: Mapping[str, Listing]) -> list[str]:
    """Return the contradictions to the listings of a library."""
    return [f"{one.name}: {text}" for one in library.setting for text in _about(one, held)]


def _about(one: CurrentSetting, held: Mapping[str, Listing]) -> Iterator[str]:
    cited = [held[source] for source in one.source if source in held]
    if cited and not any(one.name in listing.defaults for listing in cited):
        yield "is not in its source"
    stated = {listing.defaults.get(one.name) for listing in cited} - {None, ""}
    if one.default and stated and one.default not in stated:
        yield f"the default is {' or '.join(map(str, stated))}, not {one.default}"
    if cited and all(source in held for source in one.source):
        yield from (f"{name} is not in its source" for name in one.aliases if not _named(name, cited))
    for listing in held.values():
        if one.gone() and one.name in listing.defaults and listing.version >= numbers(one.gone()):
            yield f"is in {listing.heading}, although it was removed in {one.gone()}"
    if not one.gone():
        yield from (f"is not in {new.heading}" for new in _newest(cited, held) if one.name not in new.defaults)


def _named(name: str, cited: list[Listing]) -> bool:
    return any(name in listing.defaults for listing in cited)


def _newest(cited: list[Listing], held: Mapping[str, Listing]) -> list[Listing]:
    """For each product that is cited, its newest listing; the names of several of one version are united."""
    found = []
    for name in sorted({listing.product for listing in cited}):
        newest = max(x.version for x in held.values() if x.product == name)
        same = [x for x in held.values() if x.product == name and x.version == newest]
        united = {key: value for listing in same for key, value in listing.defaults.items()}
        found.append(Listing(same[0].heading, united))
    return found


@pytest.mark.parametrize("key", sorted(listings()))
def test_settings_agree_with_their_listings(key: str) -> None:
    assert mistakes(libraries()[key], listings()[key]) == []


@pytest.mark.parametrize("key", sorted(listings()))
def test_each_listing_is_a_source_of_its_library(key: str) -> None:
    sources = {name: one for name, one in libraries()[key].sources.items() if one.kind == "listing"}
    assert {name: f"{one.version}: {one.title}" for name, one in sources.items()} == {
        name: listing.heading for name, listing in listings()[key].items()
    }


@dataclass(frozen=True)
class Change:
    name: str  # of a setting of Open MPI
    to: dict[str, object]
    says: str


@pytest.mark.parametrize(
    "change",
    [
        Change("btl_sm_eager_limit", {"name": "btl_sm_eager_limits"}, "is not in its source"),
        Change("btl_sm_eager_limit", {"default": "8192"}, "the default is 4096, not 8192"),
        Change("btl_sm_eager_limit", {"aliases": ("btl_vader_limit",)}, "btl_vader_limit is not in its source"),
        Change("btl_sm_eager_limit", {"until": "5.0"}, "although it was removed in 5.0"),
        Change("btl_sm_eager_limit", {"absent": "5.0"}, "although it was removed in 5.0"),
        Change("btl_openib_if_include", {"until": ""}, "is not in Open MPI 5.0.11"),
    ],
    ids=lambda change: change.says,
)
def test_contradictions_to_listings_are_found(change: Change) -> None:
    library = libraries()["openmpi"]
    changed = [replace(one, **change.to) for one in library.setting if one.name == change.name]
    found = mistakes(replace(library, setting=tuple(changed)), listings()["openmpi"])
    assert any(change.says in text for text in found), found
