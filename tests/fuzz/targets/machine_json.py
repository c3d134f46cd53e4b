"""Machines as JSON, as they stand in stores."""

import json

import msgspec

from fake_run import machine
from octant import facts
from octant.launchers import translate
from octant.machine import codec
from octant.machine.codec import StoredMachine
from octant.report.machine.text import as_text

FORMAT = "json"
REFUSES = (ValueError,)
SEEDS = [json.dumps(codec.to_json(machine(packages=2, smt=2))).encode()]
_DECODER = msgspec.json.Decoder(StoredMachine)


def read(data: bytes) -> None:
    """A machine, in use."""
    try:
        stored = _DECODER.decode(data)
    except (
        msgspec.DecodeError,
        UnicodeDecodeError,
        RecursionError,
    ) as error:  # what reads `asked.json` makes a refusal of these
        raise ValueError(f"{error}") from error
    found = stored.machine()
    as_text(found)
    facts.numbers(found)
    codec.fingerprint(found)
    translate("1x1,memory=local", found.topology, page_sizes=found.page_sizes)
