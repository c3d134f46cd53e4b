"""Published entries of the comparison, from the documents of a machine."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from octant import units
from octant.analysis.appendix import Entry, KnownMachine, RowSpec, number, row_specs
from octant.catalogue import PublishedMachine
from octant.catalogue import members as members_of


def of_published(machine: PublishedMachine) -> KnownMachine:
    """Return the machine with published, derived and assumed values."""
    known = members_of(machine)
    entries = {}
    for spec in row_specs():
        stated = (_member(known, spec, path) for path in spec.published)
        if found := _text(known, spec) or next(filter(None, stated), None):
            entries[spec.group, spec.name] = found
    return KnownMachine(machine.id, machine.name, entries)


def _text(members: Mapping[str, Any], spec: RowSpec) -> Entry | None:
    text = _TEXTS[spec.text](members) if spec.text else ""
    return Entry(text, source="published") if text else None


def _member(members: Mapping[str, Any], spec: RowSpec, path: str) -> Entry | None:
    found: Any = members
    for name in path.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    if found is None or isinstance(found, bool):
        return None
    if isinstance(found, str):
        return Entry(found, source="published")
    if not isinstance(found, int | float):
        return None
    derived = any(formula.startswith(f"{path} =") for formula in members["derived"])
    source = "assumed" if path.startswith("assumed.") else "derived" if derived else "published"
    return number(spec, found * spec.scale, source, words="" if source == "published" else f"({source})")


def _cache(level: str) -> Callable[[Mapping[str, Any]], str]:
    def text(members: Mapping[str, Any]) -> str:
        for one in members.get("caches") or ():
            if one.get("level", "").upper() == level:
                size = f"{one['size']:g} {_BINARY.get(one['unit'], one['unit'])}" if "size" in one else ""
                return ", ".join(
                    filter(None, [size, one.get("associativity", ""), _first_part(one.get("sharing", ""))])
                )
        return ""

    return text


def _first_part(text: str) -> str:
    """Return a sharing without explanations; a core's own is `each core`, as of this machine."""
    first = text.partition(";")[0].partition(" (")[0]
    return "each core" if first == "core" else first


_BINARY = {"KB": "KiB", "MB": "MiB", "GB": "GiB"}
"""Units of caches and pages, which are powers of two whatever documents write."""


def _pages(members: Mapping[str, Any]) -> str:
    sizes = [text.split() for text in members.get("page_sizes") or ()]
    return ", ".join(f"{words[0]} {_BINARY.get(words[-1], words[-1])}" for words in sizes)


def _links(lists: Iterable[Any]) -> str:
    texts = []
    for links in lists:
        for link in links or ():
            gbs = link.get("bandwidth_gbs") or link.get("gbs_each_direction") or link.get("unidirectional_gbs")
            bits = link.get("gbits")
            rate = units.si_text(gbs * 1e9, "B/s") if gbs else f"{bits:g} Gbit/s" if bits else ""
            texts.append(" ".join(filter(None, [link.get("name", ""), rate])))
    return "; ".join(texts)


def _links_of(members: Mapping[str, Any], part: str, inside: bool) -> str:
    """Return the links of a part, with those of the common list that join chips or nodes."""
    listed = [link for link in members.get("links") or () if ("chip" in link.get("connects", "")) == inside]
    return _links([(members.get(part) or {}).get("links"), listed])


_TEXTS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "L1I": _cache("L1I"),
    "L1D": _cache("L1D"),
    "L2": _cache("L2"),
    "L3": _cache("L3"),
    "page_sizes": _pages,
    "node_links": lambda members: _links_of(members, "node_fabric", inside=True),
    "network_links": lambda members: _links_of(members, "interconnect", inside=False),
}
"""Functions by the names in `rows.toml`."""
