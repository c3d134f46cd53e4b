"""Bytes, seconds, rates: the only place that reads and writes them for people.

Quantities are plain floats in base units everywhere else (bytes, seconds, bytes/s, flop/s, hertz), and the name of a
variable ends in its unit.
"""

import math
import re

_BINARY = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_BYTES = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kKMGT]?)(i?)([bB]?)\s*")
_SECONDS = re.compile(r"\s*(\d+(?:\.\d+)?(?:[eE]-?\d+)?)\s*(ns|us|µs|ms|s|min|h)?\s*")
_SECOND_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}


def parse_bytes(text: str) -> int:
    """Bytes from `4096`, `64KiB`, `2M` or `1 GB`.

    `Ki`, `Mi`, … and bare `K`, `M`, … are powers of 1024, as the field uses them for sizes; `kB`, `MB`, … with a `B`
    and no `i` are powers of 1000.

    Raises:
        ValueError: the text is no size; the message names the accepted forms.
    """
    match = _BYTES.fullmatch(text)
    if match is None:
        raise ValueError(f"cannot read {text!r} as a size; try 4096, 64KiB, 2MiB or 1GB")
    number, prefix, binary, unit = match.groups()
    decimal = unit == "B" and prefix and not binary
    power = "KMGT".find(prefix.upper()) + 1 if prefix else 0
    scale = 1000**power if decimal else _BINARY[prefix.upper()]
    value = float(number) * scale
    if value != int(value):
        raise ValueError(f"cannot read {text!r} as a size: it is not a whole number of bytes")
    return int(value)


def parse_seconds(text: str) -> float:
    """Seconds from `0.5`, `20ms`, `3 us` or `2min`.

    Raises:
        ValueError: the text is no duration; the message names the accepted forms.
    """
    match = _SECONDS.fullmatch(text)
    if match is None:
        raise ValueError(f"cannot read {text!r} as a time; try 0.5, 20ms, 3us or 2min")
    return float(match[1]) * _SECOND_UNITS[match[2] or "s"]


def bytes_text(value: float) -> str:
    """A size with a binary prefix: `48 KiB`, `2 MiB`, `1.5 GiB`."""
    for unit, scale in (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if value >= scale:
            return f"{value / scale:.4g} {unit}"
    return f"{value:.0f} B"


def si_text(value: float, unit: str, digits: int = 3) -> str:
    """A quantity with an SI prefix and `digits` significant digits: `79.8 Gflop/s`, `520 ns`, `-3.2 µs`.

    A number, whose unit is `1`, has neither prefix nor unit: `0.0123`.
    """
    if unit == "1":
        return f"{value:.{digits}g}"
    if not math.isfinite(value):
        return f"{value} {unit}"
    if value == 0:
        return f"0 {unit}"
    scale, prefix = si_scale(value, digits)
    return f"{value / scale:.{decimals(value / scale, digits)}f} {prefix}{unit}"


def si_scale(value: float, digits: int = 3) -> tuple[float, str]:
    """The power of 1000 that leaves 1 … 999 of a value once it is rounded to `digits`, and its prefix: `(1e9, "G")`."""
    if value == 0 or not math.isfinite(value):
        return 1.0, ""
    exponent = min(max(math.floor(math.log10(abs(value)) / 3), -4), 6)
    if abs(float(f"{value / 1000.0**exponent:.{digits}g}")) >= 1000 and exponent < 6:
        exponent += 1
    return 1000.0**exponent, ("p", "n", "µ", "m", "", "k", "M", "G", "T", "P", "E")[exponent + 4]


def decimals(value: float, digits: int = 3) -> int:
    """Digits after the point that leave `digits` significant ones."""
    rounded = abs(float(f"{value:.{digits}g}"))
    return max(0, digits - 1 - math.floor(math.log10(rounded))) if rounded and math.isfinite(rounded) else 0


def counted(number: int, noun: str) -> str:
    """A number of things: `1 launch`, `2 launches`, `3 points`."""
    return f"{number} {noun}" + ("" if number == 1 else "es" if noun.endswith("ch") else "s")


def percent_text(fraction: float) -> str:
    """A fraction as a percentage: `93 %`, `0.4 %`."""
    return f"{100 * fraction:.0f} %" if abs(fraction) >= 0.0995 else f"{100 * fraction:.1f} %"
