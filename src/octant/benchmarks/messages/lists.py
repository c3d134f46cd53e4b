"""Texts of `octant mpi --list` and `--faults`: patterns, and known bugs of MPI libraries."""

from __future__ import annotations

import json

from msgspec import to_builtins

from octant.benchmarks.messages.patterns import MessagePattern, patterns
from octant.mpi.faults import Fault, faults


def text(option: str, as_json: bool) -> str:
    """Return the text of an option, `list` or `faults`."""
    return faults_text(as_json) if option == "faults" else patterns_text(as_json)


def patterns_text(as_json: bool = False) -> str:
    """Return all patterns with their names and requests; a dot marks the default patterns."""
    if as_json:
        return json.dumps(to_builtins(patterns()), indent=1)
    rows = [("", "pattern", "other names", "workload")]
    rows += [
        ("•" if one.usual else "", one.name, ", ".join((*one.osu, *one.aliases)), _request_text(one))
        for one in patterns()
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(wide) for cell, wide in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def faults_text(as_json: bool = False) -> str:
    """Return all known bugs: library and versions, condition, effect and workaround."""
    if as_json:
        return json.dumps(to_builtins(faults()), indent=1)
    return "\n\n".join(map(_fault_text, faults()))


def _request_text(pattern: MessagePattern) -> str:
    return " ".join([pattern.workload, *(f"{name}={value}" for name, value in pattern.knobs.items())])


def _fault_text(fault: Fault) -> str:
    concerned = [f"{name}={' or '.join(values)}" for name, values in fault.knobs.items()]
    concerned += [f"{' or '.join(fault.ranks)} ranks"] if fault.ranks else []
    lines = [f"{fault.versions}: {fault.kind} ({' '.join([fault.workload, *concerned])})"]
    lines += [f"  {fault.says}", f"  observed in {', '.join(fault.seen)}; workaround: {fault.helps}"]
    lines += [f"  octant avoids it: {fault.avoided}"] if fault.avoided else []
    return "\n".join(lines)
