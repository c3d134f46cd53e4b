"""Readers of options and small files: lists of sizes, message costs, measured rates, pairs of ranks."""

from collections.abc import Sequence
from pathlib import Path

from octant.failure import Exit, Refusal
from octant.network.calibrate import Calibration, MeasuredRate, calibrate
from octant.network.collectives import MessageCosts
from octant.network.files import NetworkFile
from octant.network.jobs import job_nodes
from octant.network.published_points import published_points
from octant.network.solve import Solver, flow_bytes
from octant.network.traffic import UNIFORM, TrafficPattern, make, pairs, place, read_map, read_pairs
from octant.units import parse_byte_sizes, parse_bytes, parse_seconds
from octant.untrusted import is_file, read_text

MAX_SIZES = 10_000

_MIN, _MAX = 1e-9, 1e18  # of rates in base units, and the least tolerance; squares are representable


def read_sizes(text: str) -> list[int]:
    """Return the sizes in `1,2,24`, `1:64` or `1:64:8`, in this order.

    Raises:
        Refusal: the list is invalid, a size is not positive, or there are more than 10,000.
    """
    found: list[int] = []
    try:
        for part in text.split(","):
            first, *rest = (int(word) for word in part.split(":"))
            last, step = (rest + [first, 1][len(rest) :])[:2]
            if first < 1 or last < first or step < 1 or len(rest) > 2 or last > 2**20:
                raise ValueError
            if len(found) + (last - first) // step >= MAX_SIZES:
                raise Refusal(
                    f"{text[:60]!r} has more than {MAX_SIZES} sizes; use a step, e.g. 1:64:8", Exit.WRONG_WORD
                )
            found.extend(range(first, last + 1, step))
    except ValueError:
        raise Refusal(f"{text[:60]!r} is not a list of sizes; try 1,2,24 or 1:64 or 1:64:8", Exit.WRONG_WORD) from None
    return found


def read_seconds(text: str) -> float:
    """Return a time such as `20us`, in seconds.

    Raises:
        Refusal: the text is not a time.
    """
    try:
        return parse_seconds(text)
    except ValueError as error:
        raise Refusal(str(error), Exit.WRONG_WORD) from None


def read_flow_bytes(text: str | None) -> float | None:
    """Return the payload of every flow from a text such as `64KiB`; `None`: none is given.

    Raises:
        Refusal: the text is not a size, or the size is 0.
    """
    if text is None:
        return None
    try:
        size = float(parse_bytes(text))
    except (ValueError, OverflowError) as error:
        raise Refusal(str(error), Exit.WRONG_WORD) from None
    if not size > 0:
        raise Refusal("the size of flows must be positive; try --bytes 1MiB", Exit.WRONG_WORD)
    return size


def read_byte_sizes(text: str) -> list[int]:
    """Return a list of sizes, as `units.parse_byte_sizes`.

    Raises:
        Refusal: the list is invalid.
    """
    try:
        return parse_byte_sizes(text)
    except ValueError as error:
        raise Refusal(str(error), Exit.WRONG_WORD) from None


def read_costs(overhead: str, latency: str) -> MessageCosts:
    """Return the costs of a message in addition to the links: software overhead and latency (`""`: no latency).

    Raises:
        Refusal: a text is not a time.
    """
    return MessageCosts(read_seconds(overhead), read_seconds(latency) if latency else None)


def read_points(network: NetworkFile, traffic: str, path: Path | None, tolerance: float) -> list[MeasuredRate]:
    """Return the rates of a file with lines `size rate [tolerance] [eq|at_least|at_most]`, or the published ones.

    Raises:
        Refusal: the file is invalid (the message states the line), or there are no published rates of this traffic.
    """
    if not _MIN <= tolerance < 1:
        why = "a relative tolerance is positive and less than 1"
        raise Refusal(f"invalid --tolerance {tolerance:g} ({why}); try --tolerance 0.05", Exit.WRONG_WORD)
    if path is None:
        known = published_points(network, traffic)
        if not known:
            raise Refusal(
                f"cannot calibrate {traffic} (no published rates for {network.name}); give --points FILE",
                Exit.WRONG_WORD,
            )
        return [MeasuredRate(size, point.value, tolerance) for size, point in sorted(known.items())]
    found = []
    for number, line in enumerate(read_text(path, "list of points").splitlines(), start=1):
        words = line.split("#")[0].split()
        if not words:
            continue
        relations = {"eq", "at_least", "at_most"}
        relation = words.pop() if words[-1] in relations else "eq"
        try:
            size, value, *rest = (float(word) for word in words)
            good = rest[0] if rest else tolerance
            good_range = _MIN <= value <= _MAX and _MIN <= good < 1
            if len(rest) > 1 or size != int(size) or size < 1 or not good_range:
                raise ValueError
        except (ValueError, OverflowError):
            form = "size rate [tolerance] [eq|at_least|at_most]"
            raise Refusal(
                f"cannot read {path}, line {number}: {line.strip()!r} is not `{form}`; try `24 1.08e9 0.05`",
                Exit.WRONG_WORD,
            ) from None
        found.append(MeasuredRate(int(size), value, good, relation))  # type: ignore[arg-type]
    return found


def calibrate_to_points(
    network: NetworkFile, traffic: str, path: Path | None, tolerance: float, free: Sequence[str]
) -> Calibration:
    """Fit the capacities of the `free` link classes to the rates of a file, or to the published ones.

    Raises:
        Refusal: no class is free, or as `read_points` and `calibrate`.
    """
    if not free:
        classes = ", ".join(("endpoint", *network.links))
        raise Refusal(f"no link class to fit; give --free with one or more of {classes}", Exit.WRONG_WORD)
    return calibrate(network, traffic, read_points(network, traffic, path, tolerance), free)


def requested_pattern(
    network: NetworkFile, solver: Solver, traffic: str, parameter: int, bytes_each: str | None, job: str
) -> TrafficPattern:
    """Return a named pattern with the requested flow size, or a default that suits the solver.

    Raises:
        Refusal: a size is given for uniform traffic, or as `read_flow_bytes`, `job_nodes` and `make`.
    """
    flow_size = read_flow_bytes(bytes_each)
    if flow_size and traffic in UNIFORM:
        raise Refusal(
            f"cannot use --bytes with {traffic} (uniform traffic is continuous and has no flow size); "
            "use a list of flows, such as a shift",
            Exit.WRONG_WORD,
        )
    return make(network, traffic, parameter, flow_bytes(flow_size, solver), job=job_nodes(network, job))


def pairs_of_file(
    network: NetworkFile, path: Path, order: str, per_node: int, bytes_each: str | None = None, job: str = ""
) -> TrafficPattern:
    """Return the traffic of a file between ranks, which are placed in an order or by a map file.

    Raises:
        Refusal: a flow size or a job is also given, or as `read_pairs`, `place` and `pairs`.
    """
    if bytes_each is not None or job:
        raise Refusal(
            "cannot combine --pairs with --bytes or --job (the file contains all flows and sizes); omit them",
            Exit.WRONG_WORD,
        )
    return placed_pairs(network, read_pairs(path), order, per_node)


def placed_pairs(
    network: NetworkFile, rows: Sequence[tuple[int, int, float]], order: str, per_node: int
) -> TrafficPattern:
    """Return the traffic of flows (sender, receiver, bytes) between ranks, placed in an order or by a map file.

    Raises:
        Refusal: as `read_map`, `place` and `pairs`.
    """
    if is_file(Path(order)):
        return pairs(network, rows, read_map(Path(order)))
    ranks = 1 + max((max(a, b) for a, b, _ in rows), default=0)
    return pairs(network, rows, place(network, order, ranks, per_node))
