"""Reads what `ibnetdiscover` prints about an InfiniBand fabric as a list of cables."""

import re
from collections.abc import Sequence

HOSTS = "ca:"
"""How the names of nodes begin; switches begin with `sw:`."""

_DEVICE = re.compile(r'(Switch|Ca)\s+\d+\s+"([^"]+)"\s*#\s*"([^"]*)"')
_PORT = re.compile(r'\[(\d+)\](?:\([0-9a-fA-F]+\))?\s+"([^"]+)"\[(\d+)\](?:\([0-9a-fA-F]+\))?(.*)')


def is_dump(text: str) -> bool:
    """Whether a text looks like the output of `ibnetdiscover`."""
    return any(_DEVICE.match(line) for line in text.splitlines())


def cables(text: str, classes: Sequence[str]) -> list[tuple[str, str, int]]:
    """Cables (a, b, number of the class), each once.

    Adapters of one host (the first word of their description) are one node. A cable belongs to the class that is named
    like its width and speed (`4xDDR`), else to the first.

    Raises:
        ValueError: a port line before any device, or a device that is cabled to but not described.
    """
    names: dict[str, str] = {}
    found: dict[tuple[tuple[str, str], ...], tuple[str, str, int]] = {}
    device = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if described := _DEVICE.match(line):
            kind, device, words = described.groups()
            host = words.split()[0] if kind == "Ca" and words.split() else device
            names[device] = f"{HOSTS if kind == 'Ca' else 'sw:'}{host}"
        elif port := _PORT.match(line):
            if not device:
                raise ValueError(
                    f"ibnetdiscover dump, line {number}: a port before any Switch or Ca line; give the whole dump"
                )
            speed = ["", *port[4].split()][-1]
            kind_number = classes.index(speed) if speed in classes else 0
            ends = tuple(sorted([(device, port[1]), (port[2], port[3])]))
            found[ends] = (device, port[2], kind_number)
    unknown = {end for a, b, _ in found.values() for end in (a, b)} - set(names)
    if unknown:
        raise ValueError(
            f"ibnetdiscover dump: {sorted(unknown)[0]!r} is cabled to but not described; give the whole dump"
        )
    return [(names[a], names[b], kind) for a, b, kind in found.values()]
