"""Segments of a message's time over its length: where it jumps (a step), where its slope changes (a knee), and N½.

    t(s) = a + sum over segments of g · (how many of the s bytes lie in it) + sum over steps of d · [s >= border]

with all coefficients at least 0: time never falls, and is continuous except at steps. For given borders this is a
non-negative least-squares problem in relative errors. Borders are moved greedily while the criterion
n ln(mean r² + noise²) + k ln n falls. METHOD.md gives the reasons.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from octant.stats.nonnegative import solve

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

LEAST_LENGTHS = 3
"""Minimum number of lengths of a curve; two would fit any line."""
LEAST_IN_SEGMENT = 2
SHORTEST_BORDER = 8.0
"""Bytes of a word; borders are above it."""
MAX_BORDERS = 6
LEAST_NOISE = 0.01
"""Least relative standard deviation of a point; much smaller errors do not justify a border."""
TRUSTED = 0.25
"""Largest relative error at any length of a segment that represents the curve."""
MAX_LENGTHS = 64
"""Maximum number of lengths, evenly chosen; the search time grows with its square."""
MAX_ROUNDS = 40
"""Maximum number of changes after the first search, which no known curve reaches."""

Kind = Literal["step", "knee"]
_COST: dict[Kind, int] = {"knee": 2, "step": 3}
"""Parameters of a border: its position, the slope after it, and the height of a step."""


@dataclass(frozen=True)
class Segment:
    """Messages from `first` to `last` bytes, both measured and included, with their line of the model."""

    first: float
    last: float
    at_first_s: float  # the model's time of its first length
    seconds_per_byte: float  # 1 / B
    error: float  # the largest of |model - measured| / measured
    kind: Kind | None = None  # of the border at its beginning; `None`: the first segment
    border: float = 0.0  # bytes from which it holds: a length of this curve or, for a step, of another one
    step_s: float = 0.0  # height of the step
    cause: str = ""  # "L2", "protocol"; "": not known

    def seconds(self, length: float) -> float:
        """Return the time of a message of so many bytes."""
        return self.at_first_s + (length - self.first) * self.seconds_per_byte

    @property
    def startup_s(self) -> float:
        """The intercept at length 0; below 0 if the line is steeper than the previous one."""
        return self.seconds(0.0)

    @property
    def bandwidth(self) -> float:
        """B, bytes per second; infinite if the time does not depend on the length."""
        return 1 / self.seconds_per_byte if self.seconds_per_byte > 0 else math.inf

    @property
    def fits(self) -> bool:
        """Whether the line is close enough everywhere to represent the curve."""
        return self.error <= TRUSTED


_Borders: TypeAlias = "tuple[tuple[float, Kind], ...]"
"""Bytes, ascending, and kinds."""


def segments(points: Iterable[tuple[float, float]], noise: float = LEAST_NOISE) -> tuple[Segment, ...]:
    """Return the segments of a curve, from short messages to long.

    Args:
        points: (bytes, seconds above 0), each length once, in any order.
        noise: relative standard deviation of one point from its launches; at least 1 %, the deviation of undisturbed
            libraries from straight lines.

    Returns:
        Empty for fewer than three lengths.
    """
    curve = _Curve.of(points, noise)
    return curve.described(_searched([curve])[0]) if curve else ()


def hot_and_cold(
    hot: Iterable[tuple[float, float]],
    cold: Iterable[tuple[float, float]],
    noise: tuple[float, float] = (LEAST_NOISE, LEAST_NOISE),
) -> tuple[tuple[Segment, ...], tuple[Segment, ...]]:
    """Return the segments of two curves that differ only in their buffers: hot in caches, and cold.

    Steps are common, since the library selects a protocol by length only; knees belong to each curve.

    Args:
        hot: (bytes, seconds) with reused buffers.
        cold: with rotating buffers; the lengths may differ.
        noise: of a point of each, as in `segments`.

    Returns:
        The segments of each curve; empty if either has fewer than three lengths.
    """
    first, second = (_Curve.of(points, of) for points, of in zip((hot, cold), noise, strict=True))
    if first is None or second is None:
        return (), ()
    borders = _searched([first, second])
    return first.described(borders[0]), second.described(borders[1])


def with_causes(
    found: Sequence[Segment],
    caches: Mapping[int, int],
    other: Sequence[Segment] = (),
    noise: float = LEAST_NOISE,
) -> tuple[Segment, ...]:
    """Return the segments with the causes of their borders, if known.

    A step of both hot and cold curves is due to a protocol. A border of one curve only is due to a cache, as is a knee
    at which two buffers fill a cache: `L2`, else `a cache`. A step without a second curve has no cause.

    Args:
        caches: bytes of one cache of each level, as the machine states them.
        other: segments of the same messages with other buffers, fitted together (`hot_and_cold`).
        noise: steps of the other curve below three times this share of the time are ignored.
    """
    caused = []
    for before, now in pairwise(found):
        filled = next((f"L{n}" for n, size in sorted(caches.items()) if _fills(before, now, size)), "")
        shared = any(_is_same(before, now, one, noise) for one in other)
        alone = bool(other) and not shared and other[0].first < before.last and now.border < other[-1].last
        cause = "protocol" if shared and now.kind == "step" else ""
        if alone or (now.kind == "knee" and not cause):
            cause = filled or "a cache" * alone
        caused.append(replace(now, cause=cause))
    return (*found[:1], *caused)


def _fills(before: Segment, now: Segment, size: int) -> bool:
    """Return whether two buffers fit into a cache of that size before a border and exceed half of it after."""
    return now.first > size / 4 and before.last <= size / 2


def _is_same(before: Segment, now: Segment, one: Segment, noise: float) -> bool:
    """Return whether a segment of another curve begins at the same border with the same kind."""
    if one.kind != now.kind:
        return False
    if now.kind == "step":
        return one.border == now.border and one.step_s > 3 * max(noise, LEAST_NOISE) * one.at_first_s
    return before.last <= one.border <= now.last


@dataclass(frozen=True)
class _Curve:
    """Lengths and times of a curve, and the fit of borders to it."""

    lengths: NDArray[np.float64]
    seconds: NDArray[np.float64]
    noise: float

    @classmethod
    def of(cls, points: Iterable[tuple[float, float]], noise: float) -> _Curve | None:
        """Return the curve of these points; `None` for too few lengths."""
        ordered = sorted(points)
        if len(ordered) < LEAST_LENGTHS:
            return None
        if len(ordered) > MAX_LENGTHS:
            ordered = [ordered[i] for i in np.linspace(0, len(ordered) - 1, MAX_LENGTHS).astype(int)]
        lengths, seconds = (np.array(column, np.float64) for column in zip(*ordered, strict=True))
        return cls(lengths, seconds, max(noise, LEAST_NOISE))

    def columns(self, borders: Sequence[_Borders]) -> NDArray[np.float64]:
        """Return the columns of several sets of borders of the same kinds: one, bytes per segment, steps; over times.

        Shape (sets, lengths, coefficients).
        """
        at = np.array([[place for place, _ in one] for one in borders], np.float64).reshape(len(borders), -1)
        zeros = np.zeros((len(borders), 1))
        begins, ends = np.hstack([zeros, at]), np.hstack([at, zeros + math.inf])
        n = self.lengths[None, :, None]
        inside = np.clip(n, begins[:, None, :], ends[:, None, :]) - begins[:, None, :]
        steps = [k for k, (_, kind) in enumerate(borders[0]) if kind == "step"]
        beyond = n >= at[:, None, steps]
        ones = np.ones((len(borders), len(self.lengths), 1))
        columns: NDArray[np.float64] = np.concatenate([ones, inside, beyond], axis=2) / self.seconds[None, :, None]
        return columns

    def misfit(self, square: float) -> float:
        """Return n ln(mean r² + noise²)."""
        return len(self.lengths) * math.log(max(square, 0.0) + self.noise**2)

    def best_cases(self, borders: Sequence[_Borders]) -> NDArray[np.float64]:
        """Return mean squares of the relative errors without the bound 0, a lower bound for each set."""
        columns = self.columns(borders)
        norms = np.linalg.norm(columns, axis=1, keepdims=True)
        scaled = columns / np.where(norms > 0, norms, 1.0)  # a last segment of one length has no bytes inside
        gram = scaled.transpose(0, 2, 1) @ scaled
        gram += 1e-13 * np.eye(gram.shape[1])
        found = np.linalg.solve(gram, scaled.sum(axis=1)[:, :, None])
        squares: NDArray[np.float64] = np.square((scaled @ found)[:, :, 0] - 1).mean(axis=1)
        return squares

    def fitted(self, borders: _Borders) -> tuple[NDArray[np.float64], float]:
        """Return the coefficients, all at least 0, and the mean square of the relative errors."""
        columns = self.columns([borders])[0]
        found = solve(columns, np.ones(len(columns)))
        return found, float(np.square(columns @ found - 1).mean())

    def described(self, borders: _Borders) -> tuple[Segment, ...]:
        """Return the segments between the borders, without those that change nothing."""
        found, _ = self.fitted(borders)
        model = self.seconds * (self.columns([borders])[0] @ found)
        errors = np.abs(model / self.seconds - 1)
        slopes, heights = found[1 : len(borders) + 2], iter(found[len(borders) + 2 :])
        kinds: list[tuple[float, Kind | None]] = [(0.0, None), *borders]
        return tuple(
            Segment(
                float(self.lengths[begin]), float(self.lengths[end - 1]), float(model[begin]), float(slope),
                float(errors[begin:end].max()), kind, at, float(next(heights)) if kind == "step" else 0.0,
            )
            for (begin, end), slope, (at, kind) in zip(pairwise(self._places(borders)), slopes, kinds, strict=True)
        )  # fmt: skip

    def may_have(self, borders: _Borders, least: int) -> bool:
        """Return whether every segment has enough lengths, and every border is above a word."""
        apart = all(end - begin >= least for begin, end in pairwise(self._places(borders)))
        return apart and len(borders) <= MAX_BORDERS and all(at > SHORTEST_BORDER for at, _ in borders)

    def _places(self, borders: _Borders) -> list[int]:
        """Return the positions at which segments begin, and the end."""
        return [0, *np.searchsorted(self.lengths, [at for at, _ in borders]).tolist(), len(self.lengths)]


_Joint: TypeAlias = "tuple[_Borders, ...]"
"""Borders of each curve; steps are common to all."""


def _searched(curves: Sequence[_Curve]) -> _Joint:
    """Return the borders of least cost, by greedy changes of one border, starting from none."""
    search = _Search(curves)
    best: _Joint = tuple(() for _ in curves)
    cost = search.cost(best)
    for _ in range(MAX_BORDERS * len(curves) + MAX_ROUNDS):
        better = search.best_of(search.changes(best), cost) or search.best_of(search.further(best), cost)
        if better is None:
            return best
        best, cost = better
    return best


class _Search:
    """State of the search for borders of curves that are fitted together."""

    def __init__(self, curves: Sequence[_Curve]) -> None:
        self.curves = curves
        self._total = sum(len(one.lengths) for one in curves)
        self._densest = max(curves, key=lambda one: len(one.lengths))

    def penalty(self, joint: _Joint) -> float:
        """Return k ln n: the position of a step counts once, its height and slope in every curve."""
        shared = sum(kind == "step" for _, kind in joint[0])
        number = sum(2 + sum(_COST[kind] for _, kind in borders) for borders in joint) - shared * (len(joint) - 1)
        return number * math.log(self._total)

    def cost(self, joint: _Joint) -> float:
        """Return the criterion."""
        misfits = (one.misfit(one.fitted(of)[1]) for one, of in zip(self.curves, joint, strict=True))
        return sum(misfits) + self.penalty(joint)

    def changes(self, joint: _Joint) -> Iterable[list[_Joint]]:
        """Yield sets of borders one change away, grouped by number and kinds of borders."""
        return self._alike(one for one in self._neighbours(joint) if one != joint)

    def further(self, joint: _Joint) -> Iterable[list[_Joint]]:
        """Yield sets two changes away, for a curve that is not described yet: one more for two, or two more."""
        curve = self.curves[0]
        if len(self.curves) > 1 or curve.fitted(joint[0])[1] <= (2 * curve.noise) ** 2:
            return ()
        fewer = [self._without(self._without(joint, 0, a), 0, b) for a, b in pairwise(joint[0])]
        more = [joint, *fewer, *self._with_one(joint)]
        return self._alike(one for start in more for one in self._with_one(start) if one != joint)

    def _alike(self, found: Iterable[_Joint]) -> Iterable[list[_Joint]]:
        groups: dict[tuple[tuple[Kind, ...], ...], list[_Joint]] = {}
        for one in dict.fromkeys(found):
            if self._may_be(one):
                groups.setdefault(tuple(tuple(kind for _, kind in of) for of in one), []).append(one)
        return groups.values()

    def _may_be(self, joint: _Joint) -> bool:
        """Return whether the sets are allowed; a short curve with a partner may have segments of one length."""
        return all(
            curve.may_have(of, LEAST_IN_SEGMENT if curve is self._densest else 1)
            for curve, of in zip(self.curves, joint, strict=True)
        )

    def _neighbours(self, joint: _Joint) -> Iterator[_Joint]:
        """Yield sets with one border more, one less, or one moved or of the other kind."""
        yield from self._with_one(joint)
        for number, borders in enumerate(joint):
            for old in borders:
                if old[1] == "step" and number:
                    continue  # steps are those of the first curve
                rest = self._without(joint, number, old)
                yield rest
                yield from self._with_one(rest)
                if old[1] == "step":
                    yield tuple(_inserted(borders, (old[0], "knee")) for borders in rest)

    def _with_one(self, joint: _Joint) -> Iterator[_Joint]:
        for at in map(float, self._densest.lengths):
            if not any(at == place for borders in joint for place, _ in borders):
                yield tuple(_inserted(borders, (at, "step")) for borders in joint)
        for number, borders in enumerate(joint):
            for at in map(float, self.curves[number].lengths):
                if not any(at == place for place, _ in borders):
                    yield (*joint[:number], _inserted(borders, (at, "knee")), *joint[number + 1 :])

    def _without(self, joint: _Joint, number: int, old: tuple[float, Kind]) -> _Joint:
        return tuple(
            tuple(one for one in borders if one != old) if old[1] == "step" or i == number else borders
            for i, borders in enumerate(joint)
        )

    def best_of(self, groups: Iterable[list[_Joint]], cost: float) -> tuple[_Joint, float] | None:
        """Return the set of least cost below `cost`, searched in the order of lower bounds."""
        ranked: list[tuple[float, int, _Joint]] = []
        for group in groups:
            penalty = self.penalty(group[0])
            bounds = np.full(len(group), penalty)
            for i, curve in enumerate(self.curves):
                bounds += [curve.misfit(square) for square in curve.best_cases([one[i] for one in group])]
            ranked += [(bound, len(ranked) + n, one) for n, (bound, one) in enumerate(zip(bounds, group, strict=True))]
        best: tuple[_Joint, float] | None = None
        least = cost - 1e-9 * abs(cost)
        for bound, _, one in sorted(ranked):
            if bound >= least:
                break
            if (exact := self.cost(one)) < least:
                best, least = (one, exact), exact
        return best


def _inserted(borders: _Borders, one: tuple[float, Kind]) -> _Borders:
    return tuple(sorted((*borders, one)))


def half_length(points: Sequence[tuple[float, float]]) -> float | None:
    """Return N½: the first length with half of the best bandwidth, interpolated on logarithms.

    Args:
        points: (bytes above 0, bytes per second), the bytes ascending.

    Returns:
        Bytes; `None` if the shortest length reaches it.
    """
    half = max((rate for _, rate in points), default=0.0) / 2
    place = next((i for i, (_, rate) in enumerate(points) if rate >= half), 0)
    if not place:
        return None
    (x0, y0), (x1, y1) = points[place - 1 : place + 1]
    return math.exp(math.log(x0) + math.log(x1 / x0) * math.log(half / y0) / math.log(y1 / y0))
