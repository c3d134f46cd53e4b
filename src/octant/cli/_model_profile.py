"""Traffic `profile:RUN` of `octant model`: the messages between ranks in the profile of a stored run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant.failure import Exit, Refusal

if TYPE_CHECKING:
    from pathlib import Path

    from octant.network.files import NetworkFile
    from octant.network.traffic import TrafficPattern

_PREFIX = "profile:"


def is_profile(traffic: str) -> bool:
    """Return whether a traffic is that of a profile."""
    return traffic.startswith(_PREFIX)


def profile_pattern(
    machine: NetworkFile,
    traffic: str,
    place: str,
    per_node: int,
    store: Path | None,
    pairs: Path | None = None,
    bytes: str | None = None,
    job: str = "",
) -> TrafficPattern:
    """Return the traffic of a profile, with its ranks placed in an order or by a map file.

    Raises:
        Refusal: other traffic is also given, the run has no messages, or its ranks cannot be placed.
    """
    from octant.analysis.profiles import profile_pairs
    from octant.cli._stored import find_run
    from octant.network.inputs import placed_pairs

    if pairs is not None or bytes is not None or job:
        why = "the profile contains all flows and sizes"
        raise Refusal(f"cannot combine {traffic} with --pairs, --bytes or --job ({why}); omit them", Exit.WRONG_WORD)
    run = find_run(store, traffic.removeprefix(_PREFIX) or "last")
    return placed_pairs(machine, profile_pairs(run), place, per_node)
