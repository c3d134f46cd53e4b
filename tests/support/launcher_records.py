"""Records of what a launcher did with command lines on the machines of `pretended`, in one file for each launcher."""

import json
import random
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from octant.launchers import to_syntax
from octant.machine import CpuSet
from octant.machine.cpusets import parse_cpus
from octant.placement import numbers_text
from octant.placement.expressions import parse_place
from octant.placement.planner import DoesNotFitError, plan
from pretended import MACHINES, topology

Masks = tuple[CpuSet | None, ...]
PLACES = [
    "4x2", "4x2,order=scatter:numa", "4x2,unit=hwthread,smt=2", "4x2,unit=numa", "4x2,order=scatter:package",
    "2x1,cpus=0+2/4+6", "2x1,cpus=0/5", "4x1", "4x3", "2x1,unit=l3", "6x1,order=scatter:package,unit=hwthread",
    "18x1,unit=hwthread,smt=2", "3x5,order=scatter:package,smt=2", "5x2,order=scatter,share=yes", "1x1", "2x1,unit=l2",
]  # fmt: skip
RANDOM_PLACES = 20


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
    rows = [[r.machine, r.line, r.refused or ["" if m is None else numbers_text(m) for m in r.masks]] for r in records]
    text = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
    path.write_text(f'{{"version": {json.dumps(version)}, "runs": [\n{text}\n]}}\n')


@dataclass(frozen=True)
class Written:
    """A placement, the options that Octant writes for it, and the masks with which the launcher starts the ranks."""

    machine: str
    place: str  # as `octant place` reads it
    options: str  # "": Octant states that the launcher cannot express the placement
    masks: Masks = ()


def requests(seed: int = 20261126) -> list[tuple[str, str]]:
    """Return placements for every machine that holds them: named ones, and random ones as in the property tests."""
    pick = random.Random(seed)
    found: dict[tuple[str, str], None] = {}
    for machine in MACHINES:
        for place in [*PLACES, *(_random_place(pick) for _ in range(RANDOM_PLACES))]:
            try:
                plan(topology(machine), parse_place(place, topology(machine)))
            except (DoesNotFitError, ValueError):
                continue
            found[machine, place] = None
    return list(found)


def _random_place(pick: random.Random) -> str:
    unit = pick.choice(["hwthread", "core", "core", "l3", "numa", "package"])
    order = pick.choice(["compact", "scatter", "scatter:numa", "scatter:package"])
    size = f"{pick.randint(1, 12)}x{pick.randint(1, 5)}"
    return f"{size},unit={unit},order={order},smt={pick.randint(1, 2)},share=yes"


def options_of(name: str, machine: str, place: str, folder: Path) -> str:
    """Return the options that Octant writes for a placement, "" if it writes none; its files go into a folder."""
    where = topology(machine)
    request = parse_place(place, where)
    answer = to_syntax(name, plan(where, request), request, where)
    for file, content in answer.files:
        (folder / file).write_text(content)
    line = next((line for line in answer.lines if line.startswith(("mpiexec", "mpirun"))), "")
    return " ".join(line.split()[1:-1])


def read_written(path: Path) -> list[Written]:
    """Return the records in a file of `write_written`."""
    rows = json.loads(path.read_text())["runs"]
    return [
        Written(machine, place, options, tuple(parse_cpus(mask) if mask else None for mask in masks))
        for machine, place, options, masks in rows
    ]


def write_written(path: Path, version: str, records: Sequence[Written]) -> None:
    """Write records, one on each line."""
    rows = [[r.machine, r.place, r.options, ["" if m is None else numbers_text(m) for m in r.masks]] for r in records]
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
        separator: the text between two qualifiers.
    """
    qualifiers = separator.join(filter(None, [row.get("pe", ""), row["modifier"]]))
    mapper = f"{row['mapper']}:{qualifiers}" if qualifiers else row["mapper"]
    words = [row.get("variable", ""), row["ranks"], f"--map-by {mapper}" if mapper else ""]
    words += [f"--bind-to {row['bind']}" if row["bind"] else "", f"--rank-by {row['rank']}" if row["rank"] else ""]
    return " ".join(filter(None, [*words, row.get("old", ""), row.get("parameter", "")]))


def alone(words: Sequence[str], machines: Sequence[str], ranks: Sequence[str]) -> list[tuple[str, str]]:
    """Return each option or variable on its own line, with each number of ranks, on each machine."""
    lines = []
    for at, word in enumerate(words):
        for turn, number in enumerate(ranks):
            line = f"{number} {word}" if word.startswith("-") else f"{word} {number}"
            lines.append((machines[(len(ranks) * at + turn) % len(machines)], line.strip()))
    return lines
