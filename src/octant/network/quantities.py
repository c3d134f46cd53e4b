"""Rates, times and calibrated ranges in network files."""

import math
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from msgspec import Meta

from octant.untrusted import InputTable, convert, read_with

_NUMBER = re.compile(r"\s*([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*(\S.*?)?\s*")
_PREFIX = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_BINARY = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40}
_BYTES = {"B/s": 1.0, "bit/s": 0.125, "b/s": 0.125}
_EVENTS = {"packets/s": 1.0, "pkt/s": 1.0, "messages/s": 1.0, "msg/s": 1.0, "updates/s": 1.0, "up/s": 1.0}
_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "ps": 1e-12}


_RATES = "B/s or bit/s, with prefix k, M, G, T, Ki, Mi, Gi or Ti"
_SHOWN = 60  # characters of a value in an error message


def _rate_units(units: dict[str, float], prefixes: dict[str, float]) -> dict[str, float]:
    return {prefix + unit: scale * factor for unit, factor in units.items() for prefix, scale in prefixes.items()}


def _read(value: object, units: dict[str, float], what: str, example: str) -> float:
    """Return a number in base units from a number or a text with a unit."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"a {type(value).__name__} is not a {what}; try {example}")
    if not isinstance(value, str):
        try:
            return float(value)
        except OverflowError:  # an integer of hundreds of digits
            return math.inf
    match = _NUMBER.fullmatch(value) if len(value) <= _SHOWN else None
    if match is None or (match[2] is not None and match[2] not in units):
        unit = f" (unknown unit {match[2]!r})" if match and match[2] else ""
        raise ValueError(f"{value[:_SHOWN]!r} is not a {what}{unit}; try {example}")
    return float(match[1]) * units.get(match[2] or "", 1.0)


def _within_bounds(value: float, low: float, high: float, what: str, example: str) -> float:
    if math.isnan(value) or value <= 0:
        raise ValueError(f"a {what} must be positive, not {value:g}; try {example}")
    if not low <= value <= high:
        raise ValueError(f"a {what} of {value:g} in base units is out of range ({low:g} to {high:g}); try {example}")
    return value


def bytes_per_s(value: object) -> float:
    """Return bytes per second from `24e9`, `"24 GB/s"`, `"22 GiB/s"` or `"10 Gbit/s"`."""
    units = _rate_units(_BYTES, {**_PREFIX, **_BINARY})
    read = _read(value, units, "rate in bytes", f'"24 GB/s" ({_RATES})')
    return _within_bounds(read, 1e3, 1e15, "rate in bytes", '"24 GB/s"')


def packets_per_s(value: object) -> float:
    """Return packets per second from `0.18e9` or `"0.18 Gpackets/s"`."""
    read = _read(value, _rate_units(_EVENTS, _PREFIX), "rate of packets", '"0.18 Gpackets/s"')
    return _within_bounds(read, 1.0, 1e13, "rate of packets", '"0.18 Gpackets/s"')


def seconds(value: object) -> float:
    """Return seconds from `1e-7` or `"100 ns"`; zero is permitted."""
    read = _read(value, _SECONDS, "time", '"100 ns"')
    if math.isnan(read) or not 0 <= read <= 1:
        raise ValueError(f'a latency of {read:g} s is out of range (0 to 1 s); try "100 ns"')
    return read


def positive_seconds(value: object) -> float:
    """Return seconds from `1e-7` or `"100 ns"`; zero is not permitted."""
    read = seconds(value)
    if not read:
        raise ValueError('a time must be positive, not 0; try "100 ns"')
    return read


Sizes = Annotated[tuple[Annotated[int, Meta(ge=1)], ...], Meta(min_length=1)]
"""Sizes of published points, by traffic in `calibrated_on`."""


class Calibrated(InputTable, frozen=True):
    """A value with its range and their source, in base units."""

    value: float
    low: float
    high: float
    source: str = ""
    calibrated_on: Mapping[
        str, Sizes
    ] = {}  # published rates from which the value was calibrated; they are not predictions

    def __post_init__(self) -> None:
        if not self.low <= self.value <= self.high:
            raise ValueError(
                f"the value {self.value:g} is outside its range {self.low:g} to {self.high:g}; correct one of them"
            )


def _calibrated(reader: Callable[[object], float]) -> Any:
    """Return the type of a value with its range; `reader` reads their numbers."""

    def read(given: object) -> Calibrated:
        if isinstance(given, Calibrated):
            return given
        if not isinstance(given, dict):
            value = reader(given)
            return Calibrated(value, value, value)
        known = {key: reader(number) if key in ("value", "low", "high") else number for key, number in given.items()}
        ends = {"low": known["value"], "high": known["value"]} if "value" in known else {}
        return convert({**ends, **known}, Calibrated)

    return read_with(read, Calibrated, Any)


if TYPE_CHECKING:
    BytesPerS: TypeAlias = Calibrated
    PacketsPerS: TypeAlias = Calibrated
    Seconds: TypeAlias = float
    PositiveSeconds: TypeAlias = float
else:
    BytesPerS, PacketsPerS = _calibrated(bytes_per_s), _calibrated(packets_per_s)
    Seconds, PositiveSeconds = read_with(seconds, float, Any), read_with(positive_seconds, float, Any)
