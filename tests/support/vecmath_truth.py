"""The truth table of `node/vecmath`: every function at 2,048 arguments of each distribution, by mpmath.

PYTHONPATH=src:tests/support python tests/support/vecmath_truth.py

Writes `truth.bin` next to the kernel, the same bytes each time. For each function and distribution, in the order of
`functions.hpp`: the values rounded to double, then for each the rest in 1/65536 of a unit in the last place.
"""

import math
import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import mpmath

from paths import ROOT

FOLDER = ROOT / "src/octant/workloads/node/vecmath"
COUNT = 2048
SPREADS = ("values", "exponents")
STEPS = 65536  # of a unit in the last place
_BITS = 160  # of the reference; mpmath adds what large arguments of sin need
_MASK = 2**64 - 1
_OF_VALUE, _OF_EXPONENT, _OF_MANTISSA = 1, 3, 5  # streams of random bits

mpmath.mp.prec = _BITS
_REFERENCES: dict[str, Callable[..., mpmath.mpf]] = {
    "exp2": lambda x: mpmath.power(2, x),
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "recip": lambda x: 1 / x,
    "div": lambda x, z: x / z,
    "pow": mpmath.power,
    "hypot": mpmath.hypot,
    "log1p": mpmath.log1p,
    "cbrt": lambda x: mpmath.sign(x) * mpmath.root(abs(x), 3),
}


@dataclass(frozen=True)
class Function:
    """A line of the kernel's table, in double precision."""

    name: str
    second: str  # none, range, near, power
    either_sign: bool
    ranges: tuple[tuple[float, float], ...]
    least: int
    most: int

    @property
    def inputs(self) -> int:
        """One or two."""
        return 1 if self.second == "none" else 2

    def reference(self, *arguments: float) -> mpmath.mpf:
        """The value to `_BITS` bits."""
        found = _REFERENCES.get(self.name) or getattr(mpmath, self.name)
        value = found(*map(mpmath.mpf, arguments))
        assert isinstance(value, mpmath.mpf)
        return value

    def arguments(self, spread: str, i: int) -> tuple[float, ...]:
        """Those that the kernel draws: every step is exact or rounded once."""
        return tuple(self._argument(spread, i, n) for n in range(self.inputs))

    def _argument(self, spread: str, i: int, n: int) -> float:
        if spread == "values":
            low, high = self.ranges[n]
            return float(Fraction(high - low) * Fraction(_share(i, _OF_VALUE + n)) + Fraction(low))
        power = self.least + (_bits(i, _OF_EXPONENT) >> 32) % (self.most - self.least + 1)
        if n == 0:
            return self._scaled(power, i, 0)
        if self.second == "near":
            return self._scaled(power - 30 + (_bits(i, _OF_EXPONENT + 1) >> 32) % 61, i, 1)
        return (2 * _share(i, _OF_VALUE + 1) - 1) * (1000.0 / (abs(power) + 1))

    def _scaled(self, power: int, i: int, n: int) -> float:
        bits = _bits(i, _OF_MANTISSA + n)
        mantissa = 1 + (bits >> 12) * 2.0**-52
        return math.ldexp(-mantissa if self.either_sign and bits & 1 else mantissa, power)


def _mixed(z: int) -> int:
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & _MASK
    return z ^ (z >> 31)


def _bits(i: int, stream: int) -> int:
    return _mixed(((i + 1) * 0x9E3779B97F4A7C15 + stream * 0xD1B54A32D192ED03) & _MASK)


def _share(i: int, stream: int) -> float:
    return (_bits(i, stream) >> 11) * 2.0**-53


def functions() -> Iterator[Function]:
    """The kernel's table."""
    number = r"(-?[0-9.]+)"
    pair = rf"\{{{number}, {number}\}}"
    line = re.compile(
        rf'\{{"(\w+)", "\w+", Second::(\w+), (true|false), {number}, '
        rf"\{{{pair}, (?:\{{\}}|{pair}), {number}, {number}\}}"
    )
    for name, second, sign, _, *rest in line.findall((FOLDER / "functions.hpp").read_text(encoding="utf-8")):
        *edges, least, most = rest
        ranges = tuple((float(low), float(high)) for low, high in zip(edges[::2], edges[1::2], strict=True) if low)
        yield Function(name, second, sign == "true", ranges, int(least), int(most))


def split(value: mpmath.mpf) -> tuple[float, int]:
    """A value as the nearest double, and the rest in steps of a unit in its last place."""
    high = float(value)
    assert 2.0**-1022 <= abs(high) < math.inf, value
    rest = int(mpmath.nint((value - mpmath.mpf(high)) / mpmath.mpf(math.ulp(high)) * STEPS))
    return high, max(-STEPS // 2, min(rest, STEPS // 2 - 1))


def part(function: Function, spread: str) -> bytes:
    """What the table has of a function and a distribution."""
    pairs = [split(function.reference(*function.arguments(spread, i))) for i in range(COUNT)]
    return struct.pack(f"<{COUNT}d", *(high for high, _ in pairs)) + struct.pack(
        f"<{COUNT}h", *(rest for _, rest in pairs)
    )


def entry(text: bytes, i: int) -> tuple[float, int]:
    """What a part has for argument `i`."""
    (high,) = struct.unpack_from("<d", text, 8 * i)
    (rest,) = struct.unpack_from("<h", text, 8 * COUNT + 2 * i)
    return high, rest


def main() -> None:
    """Writes the table."""
    text = b"".join(part(function, spread) for function in functions() for spread in SPREADS)
    (FOLDER / "truth.bin").write_bytes(text)
    print(f"{FOLDER / 'truth.bin'}: {len(text):,} bytes")


if __name__ == "__main__":
    main()
