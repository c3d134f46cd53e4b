"""Octant's own MPI settings for the terminal: what each becomes in every library, and how that was proven."""

import textwrap
from dataclasses import replace

from octant.catalogue import settings as published
from octant.mpi.neutral import Library, LibraryMapping, NeutralSetting, settings
from octant.report.machine.counterparts import command, indent, legend, row


def neutral_text(setting: NeutralSetting, library: Library | None, width: int) -> str:
    """Its meaning, values and an example; then what it sets, or why it cannot, in every library or in this one."""
    rows = [setting.name, row("meaning", setting.meaning, width), row("values", setting.allowed(), width)]
    rows.append(command(f"octant run p2p --mpi {setting.name}={example(setting)}", width, "with Octant"))
    if once := list(dict.fromkeys(s.name for s in published() if s.neutral.partition("=")[0] == setting.name)):
        rows.append(row("once", ", ".join(once), width))
    shown = [one for one in setting.maps if library is None or _is_of(one, library)]
    if not shown:
        rows.append(row("", f"No variable of {library.title if library else 'any library'} is known for it.", width))
    parts = ["\n".join(rows), "\n".join(_row_text(one, width) for one in shown)]
    parts.append(legend((one.proof for one in shown if not one.cannot), width))
    return "\n\n".join(part for part in parts if part)


def names_text(width: int) -> str:
    """The names that `--mpi` takes."""
    names = ", ".join(setting.name for setting in settings())
    return textwrap.fill(
        f"`octant run --mpi NAME=VALUE` takes, for any library: {names}.", width, subsequent_indent="  "
    )


def example(setting: NeutralSetting) -> str:
    """A value to try: that of an old setting which it stands for, or one that it takes.

    Of several words the one that most of the table's first libraries can express.
    """
    old = [s.neutral.partition("=")[2] for s in published() if s.neutral.startswith(f"{setting.name}=")]
    if setting.values:
        refusals = {word: [word in one.cannot_words for one in setting.maps] for word in (*old, *setting.values)}
        return max(refusals, key=lambda word: [*refusals[word], True].index(True))
    if old:
        return old[0]
    return {"names": "eth0", "algorithm": "allreduce:ring", "seconds": "1s"}.get(
        setting.kind, str(max(2, setting.least))
    )


def _row_text(one: LibraryMapping, width: int) -> str:
    """How it was proven, in which library, version and path; the variables; what cannot be had."""
    if one.cannot:
        return row("cannot", f"{one.where}: {one.cannot}", width)
    lines = [row(one.proof, f"{one.where}: {one.note}" if one.note else one.where, width)]
    lines += [_variable_line(f"{name} = {_formula_text(text)}", width) for name, text in one.set.items()]
    for word, own in one.words.items():
        text = " ".join(f"{name}={value}" for name, value in own.items()) or "nothing, it is the default"
        lines.append(_variable_line(f"{word}: {text}", width))
    lines += [row("cannot", f"{word}: {why}", width) for word, why in one.cannot_words.items()]
    return "\n".join(lines)


def _is_of(one: LibraryMapping, library: Library) -> bool:
    """Whether it is about this library and version, whatever carries its messages."""
    return one.holds(replace(library, path=one.path, device=one.device))


def _formula_text(formula: str) -> str:
    words = {"text": "the value", "word": "the algorithm"}
    return words.get(formula, formula.removesuffix(" or more").replace(" at least", ", at least"))


def _variable_line(text: str, width: int) -> str:
    before = " " * (indent(width) + 2)
    return textwrap.fill(
        text, width, initial_indent=before, subsequent_indent=before + "  ", break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip
