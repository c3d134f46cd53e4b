"""Contradictions between measured values of a machine and its description."""

from dataclasses import replace

from octant.machine import Disagreement, Machine
from octant.machine.cache_levels import MEASURED_LAST_CACHE
from octant.units import bytes_text, si_text


def with_measured(machine: Machine, clock_hz: float, cache_bytes: float | None = None) -> Machine:
    """Return `machine` with measured values compared with stated ones; earlier measurements are replaced.

    `clock_hz`: from a loop of known cycles (one core busy). `cache_bytes`: upper bound of all caches from a latency
    ladder; footprints beyond twice as much are in memory. Differences within 5 % (clock) or a factor of two
    (cache) are ignored.

    Raises:
        ValueError: a measurement is not positive.
    """
    if clock_hz <= 0 or (cache_bytes is not None and cache_bytes <= 0):
        raise ValueError("cannot use the measured clock or cache size (not positive); repeat the measurement")
    found = [known for known in machine.disagreements if "measured" not in dict(known.statements)]
    stated_hz = machine.processor.nominal_hz
    highest_hz = max(float(machine.system.get("frequency_max_hz", 0)), stated_hz or 0)  # turbo is no contradiction
    if stated_hz and not 0.95 * stated_hz <= clock_hz <= 1.05 * highest_hz:
        trusted = "measured: cycles of a core; the stated value is the base clock or the time-stamp counter"
        statements = ("stated", si_text(stated_hz, "Hz")), ("measured", si_text(clock_hz, "Hz"))
        found.append(Disagreement("measured clock", statements, trusted))
    shown_bytes = machine.last_level_cache_bytes()
    if cache_bytes is None or not shown_bytes or shown_bytes / 2 <= cache_bytes <= shown_bytes * 2:
        return replace(machine, disagreements=tuple(found), measured_cache_bytes=None)
    trusted = "measured: usable by this process; the stated size may be that of the host"
    statements = ("stated", bytes_text(shown_bytes)), ("measured", bytes_text(cache_bytes))
    found.append(Disagreement(MEASURED_LAST_CACHE, statements, trusted))
    return replace(machine, disagreements=tuple(found), measured_cache_bytes=round(cache_bytes))
