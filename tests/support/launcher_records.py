"""Records of what a launcher did with command lines on the machines of `pretended`, in one file for each launcher."""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from octant.machine import CpuSet
from octant.machine.synthetic import parse_cpus
from octant.placement import set_text

Masks = tuple[CpuSet | None, ...]


@dataclass(frozen=True)
class Recorded:
    """A command line and what became of it: the mask of each rank (`None`: unbound), or why it was refused."""

    machine: str  # a name in `pretended.MACHINES`
    line: str  # variables and options, without the launcher and the program
    masks: Masks
    refused: str = ""


def read(path: Path) -> list[Recorded]:
    """Return the records in a file."""
    return [
        Recorded(machine, line, (), seen)
        if isinstance(seen, str)
        else Recorded(machine, line, tuple(parse_cpus(mask) if mask else None for mask in seen))
        for machine, line, seen in json.loads(path.read_text())["runs"]
    ]


def write(path: Path, version: str, records: Sequence[Recorded]) -> None:
    """Write records, one on each line."""
    rows = [[r.machine, r.line, r.refused or ["" if m is None else set_text(m) for m in r.masks]] for r in records]
    text = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
    path.write_text(f'{{"version": {json.dumps(version)}, "runs": [\n{text}\n]}}\n')


def split_variables(line: str) -> tuple[dict[str, str], list[str]]:
    """Return the variables at the beginning of a line, and the options."""
    words = shlex.split(line)
    begin = next((at for at, word in enumerate(words) if word.startswith("-")), len(words))
    return dict(word.split("=", 1) for word in words[:begin]), words[begin:]


def map_bind_rank(row: Mapping[str, str], separator: str) -> str:
    """Return one combination as a line; the factors `pe` and `modifier` qualify the `mapper`.

    Args:
        row: values by factor; "" leaves an option out.
        separator: what stands between two qualifiers.
    """
    qualifiers = separator.join(filter(None, [row.get("pe", ""), row["modifier"]]))
    mapper = f"{row['mapper']}:{qualifiers}" if qualifiers else row["mapper"]
    words = [row.get("variable", ""), row["ranks"], f"--map-by {mapper}" if mapper else ""]
    words += [f"--bind-to {row['bind']}" if row["bind"] else "", f"--rank-by {row['rank']}" if row["rank"] else ""]
    return " ".join(filter(None, [*words, row.get("old", ""), row.get("parameter", "")]))


def alone(words: Sequence[str], machines: Sequence[str], ranks: Sequence[str]) -> list[tuple[str, str]]:
    """Return each option or variable on its own line, with each number of ranks, on the machines in turn."""
    lines = []
    for at, word in enumerate(words):
        for turn, number in enumerate(ranks):
            line = f"{number} {word}" if word.startswith("-") else f"{word} {number}"
            lines.append((machines[(len(ranks) * at + turn) % len(machines)], line.strip()))
    return lines
