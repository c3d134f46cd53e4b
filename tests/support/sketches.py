"""Sketches number by number, as docs/records.md defines their bins: what the vectorised code is compared with."""

from collections.abc import Iterable

from octant.record.sketch import BITS, Sketch

_STEPS = 1 << BITS


def bin_of(value: int) -> int:
    """The bin of a positive whole number."""
    exponent = value.bit_length() - 1
    return exponent * _STEPS + ((value << BITS) >> exponent) - _STEPS


def sketch_of(values: Iterable[int]) -> Sketch:
    """A sketch of whole numbers that are not negative."""
    bins: dict[int, int] = {}
    zero = 0
    for value in values:
        if value == 0:
            zero += 1
        else:
            number = bin_of(value)
            bins[number] = bins.get(number, 0) + 1
    return Sketch(bins, zero)
