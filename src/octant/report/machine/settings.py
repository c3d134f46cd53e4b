"""MPI settings for people and programs."""

import json
import sys
import textwrap
from collections.abc import Sequence

from rich.table import Table

from octant.catalogue.mpi_settings import TITLES, MpiKnob, Problem, find, knobs, presence
from octant.machine.mpi_inventory import Inventory
from octant.report.terminal import console, render


def list_text(inventory: Inventory | None) -> str:
    """A block a knob: the old names, and those in the library in use, or in MPICH and Open MPI."""
    libraries = ("mpich", "openmpi") if inventory is None else (inventory.library,)
    blocks = []
    for knob in knobs():
        rows = [("once", [o.name for o in knob.originals])]
        rows += [(TITLES[library], _now(knob, library, inventory)) for library in libraries]
        lines = [textwrap.fill(" ".join(names), _width(), initial_indent=f"  {head:<10}", subsequent_indent=" " * 12)
                 for head, names in rows if names]  # fmt: skip
        head = textwrap.fill(f"{knob.name}: {knob.meaning}", _width(), subsequent_indent="  ")
        blocks.append("\n".join([head, *lines]))
    return "\n".join(blocks)


def _now(knob: MpiKnob, library: str, inventory: Inventory | None) -> list[str]:
    names = [e for e in knob.equivalents if e.library == library and not e.inert]
    if inventory is not None:
        names = [e for e in names if presence(e, inventory).startswith("present")]
    return [e.name for e in names]


def entry_text(name: str, inventory: Inventory | None) -> str:
    """What a name stands for, whether it still matters, its equivalents, and what the documents say.

    Raises:
        ValueError: neither Octant's table nor the library in use has such a name.
    """
    plain = name.removeprefix("OMPI_MCA_")
    try:
        found, said = find(name)
    except ValueError:
        if inventory is None or plain not in {*inventory.values, *inventory.aliases}:
            raise
        value = inventory.values[inventory.aliases.get(plain, plain)]
        using = f"{TITLES[inventory.library]} {inventory.version}"
        return f"{plain}\n  {using} has it{f', now {value}' if value else ''}; Octant's table says nothing of it."
    parts = [_knob_text(knob, inventory) for knob in found]
    if said:
        rows = [f"  {s.name}={s.value}: {s.effect} {s.when} ({s.system}; {s.where})" for s in said]
        parts.append(
            "\n".join(["In the documents", *(textwrap.fill(row, _width(), subsequent_indent="    ") for row in rows)])
        )
    return "\n\n".join(parts)


def _knob_text(knob: MpiKnob, inventory: Inventory | None) -> str:
    head = [knob.name, f"  {knob.meaning}", f"  Does it still matter? {knob.matters}."]
    head += [f"  once: {o.name} ({o.system}{'; ' + o.default if o.default else ''})" for o in knob.originals]
    text = "\n".join(textwrap.fill(line, _width(), subsequent_indent="    ") for line in head)
    if not knob.equivalents:
        return text
    rows = []
    for e in knob.equivalents:
        versions = " ".join(filter(None, [e.since and f"from {e.since}", e.until and f"before {e.until}"]))
        note = e.note or ("" if e.checked else "not checked")
        row = {"library": TITLES[e.library], "name": e.name, "versions": versions, "default": e.default}
        rows.append(row | {"here": presence(e, inventory), "note": note})
    if _width() < _WIDE:  # names are to be copied and never broken; the rest goes into one column
        for row in rows:
            default = row.pop("default")
            said = [row.pop("versions"), default and f"default {default}", row["note"]]
            row["note"] = "; ".join(filter(None, said))
    table = Table(box=None, pad_edge=False)
    columns = [column for column in rows[0] if any(row[column] for row in rows)]
    for column in columns:
        longest = max(len(row[column]) for row in rows) if column == "name" else None
        table.add_column(column, overflow="fold", min_width=longest, no_wrap=column == "name")
    for row in rows:
        table.add_row(*(row[column] for column in columns))
    return text + "\n" + render(table)


_WIDE = 100


def _width() -> int:
    """Columns of the terminal; as many as a table needs where there is none."""
    return max(console().width, 60) if sys.stdout.isatty() else 110


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
