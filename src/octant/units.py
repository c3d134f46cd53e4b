"""Quantities as text: the only place that reads and writes bytes, seconds and rates for people.

Elsewhere, quantities are floats in base units (bytes, seconds, bytes/s, flop/s, hertz), and names of variables end in
the unit.
"""

import math
import re
from dataclasses import dataclass

NARROW = "\u202f"
"""Narrow no-break space before units and %."""
MAX_BYTES = 10**18 - 1
MAX_SECONDS = 1e9
_AMOUNT = re.compile(
    r"(?P<number>(?P<whole>[0-9]+)(?:\.(?P<part>[0-9]+))?(?:[eE](?P<tens>[+-]?[0-9]{1,2}))?)(?P<unit>.*)", re.DOTALL
)
_MAX_DIGITS = 18
_SIZE = re.compile(r"B?|(?P<prefix>[kKMGT])(?P<rest>i?|i?B)")
_WITHOUT_PREFIX = re.compile(r"ulp|%|°C?|min|h|(?:[mµμunp]s|[mµμunp][JW])(?:/.*)?|[kKMGTPE][A-Za-z].*", re.DOTALL)
_OF_NUMBER = r"[%×]|(?:[pnµmkMGTPE]?(?:s|Hz|B/s|flop/s|update/s)|B|[KMGT]iB)(?![\w/])"
_APART = re.compile(rf"(?<=\d) (?={_OF_NUMBER})|(?<=[±×]) (?=\d)")
_SECOND_UNITS = {
    "": 1.0, "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0,
}  # fmt: skip
_RATES = "try 100Mbit/s or 1Gbit/s"
_SIZES, _TIMES = "try 4096, 64KiB, 2MiB or 1GB", "try 0.5, 20ms, 3us or 2min"


def parse_bytes(text: str) -> int:
    """Return bytes from `4096`, `64KiB`, `2M`, `1 GB` or `1e6`.

    `Ki`, `KiB`, … and bare `K`, `M`, … are powers of 1024; `kB`, `MB`, … with a `B`
    and no `i` are powers of 1000. docs/input.md has the grammar, which kernels share.

    Raises:
        ValueError: the text is not a size of integer bytes; the message states the accepted forms.
    """
    amount = _split(text)
    size = amount and _SIZE.fullmatch(amount.unit)
    if not amount or not size:
        hint = _SIZES
        if ":" in text:
            hint = "ranges are not accepted here; give a list, such as 16KiB,64KiB,256KiB"
        elif re.fullmatch("[Ll][1-4]", text):
            hint = "octant machine shows the sizes of the caches"
        raise ValueError(f"cannot read {_quoted(text)} as a size; {hint}")
    power = "KMGT".find((size["prefix"] or " ").upper()) + 1
    scale: int = (1000 if size["rest"] == "B" else 1024) ** power
    ten: int = 10 ** abs(amount.tens)
    value, rest = divmod(amount.digits * scale, ten) if amount.tens < 0 else (amount.digits * scale * ten, 0)
    if rest or value > MAX_BYTES:
        raise ValueError(
            f"cannot read {_quoted(text)} as a size (not an integer number of bytes below 10^18); {_SIZES}"
        )
    return value


def parse_byte_sizes(text: str) -> list[int]:
    """Return sizes in bytes from `8,64KiB` or `8:1GiB` (each twice the one before), or `8:1GiB:4` (four times).

    Raises:
        ValueError: no such list; the message states the accepted forms.
    """
    found: list[int] = []
    try:
        for part in text.split(","):
            first, *rest = part.split(":")
            low = parse_bytes(first)
            high = parse_bytes(rest[0]) if rest else low
            factor = int(rest[1]) if len(rest) == 2 else 2
            if len(rest) > 2 or high < low or factor < 2 or (rest and low < 1):
                raise ValueError
            while low <= high:
                found.append(low)
                low = low * factor or high + 1
            if found[-1] < high:
                found.append(high)
    except (ValueError, OverflowError):
        raise ValueError(f"cannot read {text!r} as sizes; try 8,64KiB or 8:1GiB or 8:1GiB:4") from None
    return found


def parse_seconds(text: str) -> float:
    """Return seconds from `0.5`, `20ms`, `3 us` or `2min`, at most 10^9.

    Raises:
        ValueError: the text is no duration; the message states the accepted forms.
    """
    amount = _split(text)
    if amount is None or amount.unit not in _SECOND_UNITS:
        raise ValueError(f"cannot read {_quoted(text)} as a time; {_TIMES}")
    value = amount.value * _SECOND_UNITS[amount.unit]
    if value > MAX_SECONDS:
        raise ValueError(f"cannot read {_quoted(text)} as a time (over 1e9 seconds); {_TIMES}")
    return value


def parse_bits_per_s(text: str) -> int:
    """Return bits per second from `100Mbit/s`, `1 Gbit/s` or `9600bit/s`; prefixes are powers of 1000.

    Raises:
        ValueError: the text is no rate, or none of whole bits; the message states the accepted forms.
    """
    amount = _split(text)
    powers = {"bit/s": 0, "kbit/s": 3, "Mbit/s": 6, "Gbit/s": 9}
    if amount is None or amount.unit not in powers:
        raise ValueError(f"cannot read {_quoted(text)} as a rate; {_RATES}")
    power = powers[amount.unit] + amount.tens
    if power < 0 and amount.digits % 10 ** abs(power):
        raise ValueError(f"cannot read {_quoted(text)} as a rate (not an integer number of bits); {_RATES}")
    ten: int = 10 ** abs(power)
    return amount.digits * ten if power >= 0 else amount.digits // ten


def parse_real(text: str) -> float:
    """Return a number from 0 up, as `0.5` or `1e-3`.

    Raises:
        ValueError: the text is no number; signs, `nan`, `inf` and `0x10` are not accepted.
    """
    amount = _split(text)
    if amount is None or len(amount.number) != len(text):
        raise ValueError(f"cannot read {_quoted(text)} as a non-negative number; try 0.5")
    return amount.value


def parse_whole(text: str) -> int:
    """Return an integer from 0 up, of at most 18 digits.

    Raises:
        ValueError: the text is not an integer.
    """
    if not re.fullmatch(rf"[0-9]{{1,{_MAX_DIGITS}}}", text):
        raise ValueError(f"cannot read {_quoted(text)} as a non-negative integer; try 1")
    return int(text)


@dataclass(frozen=True)
class _Amount:
    number: str  # as written, without the unit
    unit: str
    digits: int  # all digits without the point
    tens: int  # exponent of ten

    @property
    def value(self) -> float:
        return float(self.number)


def _split(text: str) -> _Amount | None:
    """Return a number of at most 18 digits and its unit, with at most one space between them."""
    found = _AMOUNT.fullmatch(text)
    if found is None:
        return None
    digits, unit = found["whole"] + (found["part"] or ""), found["unit"]
    if len(digits) > _MAX_DIGITS or unit == " ":
        return None
    tens = int(found["tens"] or 0) - len(found["part"] or "")
    return _Amount(found["number"], unit.removeprefix(" "), int(digits), tens)


def _quoted(text: str) -> str:
    """Return the input in quotes; long input is shortened."""
    return repr(text if len(text) <= 60 else f"{text[:60]}…")


_MIN, _MAX = 1e-15, 1e21
"""Values between these have SI prefixes, from 0.001 p to 999 E."""
_BINARY = {"TiB": 2**40, "GiB": 2**30, "MiB": 2**20, "KiB": 2**10}


def bytes_text(value: float | None) -> str:
    """Return a size with a binary prefix: `48 KiB`, `2 MiB`, `1.5 GiB`; `not known` for `None`."""
    if value is None:
        return "not known"
    for unit, scale in _BINARY.items():
        if value >= scale:
            return f"{value / scale:.4g} {unit}"
    return f"{fixed_text(value, 0)} B"


def exact_bytes_text(size: int) -> str:
    """Return a size as `bytes_text` if that is exact, else in bytes: `1800 B`."""
    text = bytes_text(size)
    number, unit = text.split()
    return text if float(number) * _BINARY.get(unit, 1) == size else f"{size} B"


def counted_bytes_text(size: int) -> str:
    """Return a number of bytes, followed by `bytes_text`: `720,941,203,456 B (671.4 GiB)`."""
    return f"{size:,} B" + (f" ({bytes_text(size)})" if size >= 1024 else "")


def si_text(value: float, unit: str, digits: int = 3) -> str:
    """Return a quantity with SI prefix and `digits` significant digits: `79.8 Gflop/s`, `520 ns`, `-3.2 µs`.

    A number with the unit `1` has neither prefix nor unit: `0.0123`.
    """
    if unit == "1":
        return f"{value:.{digits}g}"
    if not math.isfinite(value):
        return f"{value} {unit}"
    if value == 0:
        return f"0 {unit}"
    scale, prefix = si_scale(value, digits, unit)
    return f"{fixed_text(value / scale, decimals(value / scale, digits))} {prefix}{unit}"


def si_scale(value: float, digits: int = 3, unit: str = "") -> tuple[float, str]:
    """Return the power of 1000 that leaves 1 … 999 of a value rounded to `digits`, and its prefix: `(1e9, "G")`.

    Values beyond all prefixes are written as powers of ten. Units in the last place (`ulp`), units with a prefix
    (`Mop/s`) and units without prefixes (`%`) get none, since users choose the units of their programs' values.
    """
    if value == 0 or not _MIN <= abs(value) < _MAX or _WITHOUT_PREFIX.fullmatch(unit):
        return 1.0, ""
    exponent = min(max(math.floor(math.log10(abs(value)) / 3), -4), 6)
    if abs(float(f"{value / 1000.0**exponent:.{digits}g}")) >= 1000 and exponent < 6:
        exponent += 1
    return 1000.0**exponent, ("p", "n", "µ", "m", "", "k", "M", "G", "T", "P", "E")[exponent + 4]


def decimals(value: float, digits: int = 3) -> int:
    """Return the number of decimals that gives `digits` significant digits."""
    rounded = abs(float(f"{value:.{digits}g}"))
    return max(0, digits - 1 - math.floor(math.log10(rounded))) if rounded and math.isfinite(rounded) else 0


MAX_DIGITS, MAX_DECIMALS = 6, 12
"""Significant digits of a printed number; decimals beyond which a power of ten is printed."""


def fixed_text(value: float, places: int) -> str:
    """Return a number with so many decimals, at most `MAX_DIGITS` digits; tiny or huge ones as `2.37e-310`."""
    if value == 0 or not math.isfinite(value):
        return f"{value:.{min(places, MAX_DIGITS)}f}"
    whole = math.floor(math.log10(abs(value))) + 1  # digits before the point
    if places > MAX_DECIMALS or float(f"{abs(value):.{MAX_DIGITS}g}") >= 10.0**MAX_DIGITS:
        round_number = MAX_DIGITS < whole <= 9 and float(f"{value:.{MAX_DIGITS}g}") == value  # 1000000
        return f"{value:.0f}" if round_number else f"{value:.2e}"
    return f"{value:.{max(0, min(places, MAX_DIGITS - whole))}f}"


_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def number_word(number: int) -> str:
    """Return a count in words up to twelve, then in digits: `two`, `16`."""
    return _WORDS[number] if 0 <= number < len(_WORDS) else str(number)


def counted(number: int, noun: str) -> str:
    """Return a number of things: `1 launch`, `2 launches`, `3 points`."""
    return f"{number} {noun}" + ("" if number == 1 else "es" if noun.endswith("ch") else "s")


def differing_texts(first: float, second: float, digits: int = 6) -> tuple[str, str]:
    """Return two numbers with so many significant digits, or as many more as their texts need to differ.

    Numbers that are equal as doubles have equal texts.
    """
    for more in range(digits, 18):
        texts = f"{first:.{more}g}", f"{second:.{more}g}"
        if texts[0] != texts[1]:
            return texts
    return f"{first:.{digits}g}", f"{second:.{digits}g}"


def capital(text: str) -> str:
    """Return the text with a capital first letter."""
    return text[:1].upper() + text[1:]


def unbroken(text: str) -> str:
    """Return a sentence without line breaks between a number and its unit, % or sign."""
    return _APART.sub(NARROW, text)


def duration_text(seconds: float) -> str:
    """Return a duration: `48 s`, `8.4 min`, `25 min`, `1 h 20 min`."""
    if seconds < 180 or not math.isfinite(seconds):
        return f"{fixed_text(seconds, 0)} s"
    if seconds < 1200:
        return f"{seconds / 60:.1f} min"
    if seconds >= 3600 * 10.0**MAX_DIGITS:
        return f"{fixed_text(seconds / 3600, 0)} h"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def brief_text(seconds: float) -> str:
    """Return a duration as `duration_text`, below one second with an SI prefix: `24 ms`."""
    return si_text(seconds, "s", 2) if seconds < 1 else duration_text(seconds)


def percent_text(fraction: float) -> str:
    """Return a fraction as a percentage: `93 %`, `0.4 %`."""
    return f"{fixed_text(100 * fraction, 0 if abs(fraction) >= 0.0995 else 1)} %"
