"""One question about placement, from its texts to everything that is said about it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from octant.machine import PageSize, Topology
from octant.placement import Placement
from octant.placement.expressions import parse_place
from octant.placement.planner import plan
from octant.placement.request import Request
from octant.placement.words import Words, backends, from_words, to_words


@dataclass(frozen=True)
class Answer:
    """A request, its placement on a topology, what may surprise, and the same in launchers' words."""

    topology: Topology
    request: Request
    placement: Placement
    remarks: tuple[str, ...]
    words: Mapping[str, Words]
    read_as: str = ""  # the launcher whose lines were read


def request_text(place: str | None, options: Mapping[str, str | int | None]) -> str:
    """The request's text from `--place` and options of the same names as its keys (`ranks`, `unit`, …).

    Raises:
        ValueError: both were given.
    """
    given = {key: value for key, value in options.items() if value is not None}
    if place is not None:
        if given:
            raise ValueError(f"cannot take --{next(iter(given))} beside --place; put it into --place")
        return place
    head = f"{given.pop('ranks', 1)}x{given.pop('threads', 1)}"
    return ",".join([head, *(f"{key}={value}" for key, value in given.items())])


def ask(
    text: str,
    topology: Topology,
    launchers: Sequence[str] = (),
    *,
    lines: bool = False,
    page_sizes: Sequence[PageSize] | None = None,
) -> Answer:
    """Plans a request's text (or, with `lines`, reads a launcher's lines) and writes it in the launchers' words.

    `all` among the launchers stands for every one.

    Raises:
        ValueError: a text or launcher that is not known.
        DoesNotFit: the topology cannot hold it.
    """
    if lines:
        read_as, reading = from_words(text, topology)
        request, placement, said = reading.request, reading.placement, reading.remarks
    else:
        read_as = ""
        request = parse_place(text, topology)
        placement = plan(topology, request, page_sizes)
        said = placement.remarks
    names = list(backends()) if "all" in launchers else list(launchers)
    words = {name: to_words(name, placement, request, topology) for name in names}
    return Answer(topology, request, placement, tuple(dict.fromkeys(said)), words, read_as)
