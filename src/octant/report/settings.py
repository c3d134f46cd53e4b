"""MPI settings for people and programs."""

import json
import textwrap
from collections.abc import Sequence

from rich.table import Table

from octant.catalogue.mpi_settings import TITLES, MpiKnob, Problem, find, knobs, presence
from octant.machine.mpi_inventory import Inventory
from octant.report.terminal import rendered


def list_text(inventory: Inventory | None) -> str:
    """A block a knob: the old names, and those in the library in use, or in MPICH and Open MPI."""
    libraries = ("mpich", "openmpi") if inventory is None else (inventory.library,)
    blocks = []
    for knob in knobs():
        rows = [("once", [o.name for o in knob.originals])]
        rows += [(TITLES[library], _now(knob, library, inventory)) for library in libraries]
        lines = [textwrap.fill(" ".join(names), 110, initial_indent=f"  {head:<10}", subsequent_indent=" " * 12)
                 for head, names in rows if names]  # fmt: skip
        blocks.append("\n".join([f"{knob.name}: {knob.meaning}", *lines]))
    return "\n".join(blocks)


def _now(knob: MpiKnob, library: str, inventory: Inventory | None) -> list[str]:
    names = [e for e in knob.equivalents if e.library == library and not e.inert]
    if inventory is not None:
        names = [e for e in names if presence(e, inventory).startswith("present")]
    return [e.name for e in names]


def entry_text(name: str, inventory: Inventory | None) -> str:
    """What a name stands for, whether it still matters, its equivalents, and what the documents say."""
    found, said = find(name)
    parts = [_knob_text(knob, inventory) for knob in found]
    if said:
        rows = [f"  {s.name}={s.value}: {s.effect} {s.when} ({s.system}; {s.where})" for s in said]
        parts.append(
            "\n".join(["In the documents", *(textwrap.fill(row, 100, subsequent_indent="    ") for row in rows)])
        )
    return "\n\n".join(parts)


def _knob_text(knob: MpiKnob, inventory: Inventory | None) -> str:
    head = [knob.name, f"  {knob.meaning}", f"  Does it still matter? {knob.matters}."]
    head += [f"  once: {o.name} ({o.system}{'; ' + o.default if o.default else ''})" for o in knob.originals]
    table = Table(box=None, pad_edge=False)
    for column in ("library", "name", "versions", "default", "here", "note"):
        longest = max((len(e.name) for e in knob.equivalents), default=0) if column == "name" else None
        table.add_column(column, overflow="fold", min_width=longest)  # names are to be copied: never broken
    for e in knob.equivalents:
        versions = " ".join(filter(None, [e.since and f"from {e.since}", e.until and f"before {e.until}"]))
        note = e.note or ("" if e.checked else "not checked")
        table.add_row(TITLES[e.library], e.name, versions, e.default, presence(e, inventory), note)
    return "\n".join(head) + ("\n" + rendered(table) if knob.equivalents else "")


def problems_text(problems: tuple[Problem, ...], inventory: Inventory, checked: int) -> str:
    """What `--check` found."""
    using = f"{TITLES[inventory.library]} {inventory.version}"
    if not problems:
        return f"{checked} MPI settings checked against the {len(inventory.values)} that {using} has: nothing wrong"
    return "\n".join(f"{'refused' if p.refused else 'no effect'}: {p.text}" for p in problems)


def as_json(names: Sequence[str], inventory: Inventory | None, problems: tuple[Problem, ...] | None) -> str:
    """The same as JSON; without names, of all knobs."""
    answers = [find(name) for name in names] or [(knobs(), ())]
    found = dict.fromkeys(knob for held, _said in answers for knob in held)
    said = dict.fromkeys(setting for _held, settings in answers for setting in settings)
    library = None if inventory is None else {"library": inventory.library, "version": inventory.version}
    entries = []
    for knob in found:
        here = {e.name: text for e in knob.equivalents if (text := presence(e, inventory))}
        entries.append({**knob.model_dump(mode="json"), "here": here})
    result: dict[str, object] = {
        "library": library,
        "knobs": entries,
        "documents": [s.model_dump(mode="json") for s in said],
    }
    if problems is not None:
        result = {"library": library, "problems": [vars(p) for p in problems]}
    return json.dumps(result, indent=2)
