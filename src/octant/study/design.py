"""From a study and a machine to launches: every combination, repeated, in a random order that is written down."""

import dataclasses
import itertools
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from octant.launch import Launch
from octant.machine import Machine
from octant.placement import planner
from octant.placement.request import parse_request
from octant.study import words
from octant.study.file import Level, Measure, Study
from octant.workload import Mode


@dataclass(frozen=True)
class Library:
    """The MPI library in use, and which of a study's settings would do nothing there, with the reason."""

    name: str = ""  # "mpich", "openmpi", "intelmpi"
    lacking: Mapping[str, str] = field(default_factory=dict)


NO_LIBRARY = Library()


@dataclass(frozen=True)
class Cell:
    """One measure in one combination of levels."""

    measure: str
    levels: tuple[str, ...]  # one a factor, in the file's order

    def __str__(self) -> str:
        return f"{self.measure}: {', '.join(self.levels)}"


@dataclass(frozen=True)
class Design:
    """What a study asks of a machine."""

    launches: tuple[Launch, ...]  # in the order in which they start
    questions: Mapping[Cell, str]  # which launches (`Launch.question`) answer a cell
    absent: Mapping[Cell, str]  # what cannot be asked here, and why
    refused: tuple[Launch, ...]  # the launches of absent cells, for the record


def combinations(study: Study) -> list[tuple[str, ...]]:
    """The levels of every combination: those that the file lists, else all."""
    if study.combinations:
        return list(dict.fromkeys(study.full(levels) for levels in study.combinations))
    return list(itertools.product(*study.factors.values()))


def design(study: Study, machine: Machine, seed: int, library: Library = NO_LIBRARY) -> Design:
    """The launches of a study: in each round every combination once, shuffled, so that drift hits all alike.

    A pure function of its arguments: a stored run is understood by designing it again.

    Args:
        seed: of the order.
        library: the MPI library in use.
    """
    asked: dict[Cell, Launch] = {}
    absent: dict[Cell, str] = {}
    known = words.facts(machine)
    for levels in combinations(study):
        chosen = [study.factors[factor][level] for factor, level in zip(study.factors, levels, strict=True)]
        needs = [*study.needs, *(need for level in chosen for need in level.needs)]
        reasons = [why for need in needs if (why := words.missing(need, machine))]
        reasons += [why for level in chosen if (why := _without(level, library))]
        for name, measure in study.measures.items():
            cell = Cell(name, levels)
            asked[cell] = _launch(study, measure, chosen, known, library, str(cell))
            why = reasons[0] if reasons else _does_not_fit(asked[cell], machine)
            if why:
                absent[cell] = why
    possible: dict[str, Launch] = {}  # two cells may come to the same launch here: it is made once
    for cell, launch in asked.items():
        if cell not in absent:
            possible.setdefault(launch.question, launch)
    return Design(
        tuple(_shuffled(list(possible.values()), study.repeats, seed)),
        {cell: launch.question for cell, launch in asked.items() if cell not in absent},
        absent,
        tuple(asked[cell] for cell in absent),
    )


def mpi_settings(study: Study, library: str) -> dict[str, str]:
    """Every setting that a study turns in this MPI library, with one of its values."""
    levels = [level for factor in study.factors.values() for level in factor.values()]
    return {name: value for level in levels for name, value in _own(level, library).items()}


def _own(level: Level, library: str) -> Mapping[str, str]:
    return {str(name): own for name, own in level.mpi.items()}.get(library, {})


def _without(level: Level, library: Library) -> str:
    if level.mpi and not _own(level, library.name):
        return f"no such setting is known for {library.name or 'the MPI in use'}"
    return next((library.lacking[name] for name in _own(level, library.name) if name in library.lacking), "")


def _does_not_fit(launch: Launch, machine: Machine) -> str:
    if not launch.place:
        return ""
    try:
        planner.plan(machine.topology, parse_request(launch.place), machine.page_sizes)
    except planner.DoesNotFit as reason:
        return str(reason)
    return ""


def _shuffled(launches: list[Launch], repeats: int, seed: int) -> Iterator[Launch]:
    """Randomised complete blocks (Montgomery, Design and Analysis of Experiments, ch. 4): one block a round."""
    order = random.Random(seed)
    for repeat in range(repeats):
        block = list(launches)
        order.shuffle(block)
        yield from (dataclasses.replace(launch, repeat=repeat) for launch in block)


def _launch(
    study: Study, measure: Measure, levels: list[Level], known: Mapping[str, int], library: Library, title: str
) -> Launch:
    ranks = words.value(_last([measure.ranks, *(level.ranks for level in levels)]), known)
    known = {**known, "ranks": int(ranks)}
    threads = words.value(_last([measure.threads, *(level.threads for level in levels)]), known)
    fill = max(1, int(ranks) * int(threads) // known["cores"])
    known = {**known, "threads": int(threads), "fill": fill}
    written = {**study.knobs, **measure.knobs}
    for level in levels:
        written |= level.knobs
    if measure.axis:
        written[measure.axis.knob] = ",".join(measure.axis.values)
    knobs = {name: ",".join(words.value(part, known) for part in text.split(",")) for name, text in written.items()}
    if int(threads) > 1:
        knobs["threads"] = threads
    mpi = {name: value for level in levels for name, value in _own(level, library.name).items()}
    place = _last(["", *(level.place for level in levels if level.place)]).format_map(known)
    mode = _mode(measure, int(ranks), int(threads))
    return Launch(measure.workload, knobs, mode, int(ranks), title, place=place, mpi=mpi)


def _mode(measure: Measure, ranks: int, threads: int) -> Mode:
    if measure.mode:
        return measure.mode
    return "star" if ranks > 1 else "threads" if threads > 1 else "one"


def _last(texts: list[str | None]) -> str:
    return [text for text in texts if text is not None][-1]
