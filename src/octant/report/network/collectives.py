"""Collectives on the model, for the terminal and for programs."""

import json
from collections.abc import Sequence

from rich.table import Table

from octant.network.collectives import Collective, Timing
from octant.network.files import NetworkFile
from octant.network.noise import Interruption, operation_delay
from octant.network.rings import RingTimes
from octant.report.network.answers import plain
from octant.report.terminal import render
from octant.units import bytes_text, counted, percent_text, si_text


def collective_text(found: Collective, noise: Sequence[Interruption] = ()) -> str:
    """One size: an algorithm per row. Several: a size per row, and from which size on which is the fastest.

    Args:
        noise: of every core; none: no word of it.
    """
    lines = [_heading(found)]
    if len(found.timings) == 1:
        lines.append(_one_size(found.timings[0]))
    else:
        lines += [_many_sizes(found), _changes_text(found)]
    if noise:
        lines += ["", *_noise_lines(found, noise)]
    return "\n".join([*lines, *(f"left out: {why}" for why in found.left_out)])


def collective_json(found: Collective, noise: Sequence[Interruption] = ()) -> str:
    """The same in base units; every time with its parts, and how late interruptions make it."""
    timings = [
        [
            {
                **plain(one),
                "limited_by": one.limited_by[0],
                **({"late": plain(operation_delay(one.time_s, found.ranks, noise))} if noise else {}),
            }
            for one in sized
        ]
        for sized in found.timings
    ]
    return json.dumps({**plain(found), "timings": timings}, indent=2, ensure_ascii=False)


def rings_text(network: NetworkFile, ranks: int, found: Sequence[RingTimes]) -> str:
    """A row for the ordered ring and one for the random ones."""
    table = _table("ring", ">latency", ">bandwidth of a rank")
    for one in found:
        name = one.order if one.rings == 1 else f"{one.order} ({one.rings})"
        table.add_row(name, si_text(one.latency_s, "s"), si_text(one.bytes_per_s, "B/s"))
    note = (
        "Half the time of an exchange with both neighbours; 8 bytes and 2,000,000 bytes each way, as in HPC Challenge."
    )
    return "\n".join([f"{network.name}: rings of {ranks} ranks, routing {network.routing.name}", render(table), note])


def _noise_lines(found: Collective, noise: Sequence[Interruption]) -> list[str]:
    """What interruptions of the cores add to every algorithm at every size."""
    table = _table(*[">bytes"] * (len(found.timings) > 1), "algorithm", ">without", ">mean", ">worst of 10,000")
    for sized in found.timings:
        for one in sized:
            added = operation_delay(one.time_s, found.ranks, noise)
            times = (one.time_s, one.time_s + added.mean_s, one.time_s + added.worst_s)
            size = [bytes_text(one.bytes_each)] * (len(found.timings) > 1)
            table.add_row(*size, one.algorithm, *(si_text(time, "s") for time in times))
    share = sum(kind.share for kind in noise)
    head = (
        f"With interruptions that take {percent_text(share)} of every core ({counted(len(noise), 'length')}), at random"
    )
    return [f"{head} and independent of each other:", render(table)]


def _heading(found: Collective) -> str:
    sizes = [sized[0].bytes_each for sized in found.timings]
    size = bytes_text(sizes[0]) + (f" to {bytes_text(sizes[-1])}" if len(sizes) > 1 else "")
    of = "" if found.operation == "barrier" else f" of {size}"
    assumed = [f"overhead {si_text(found.overhead_s, 's')}"] * bool(found.overhead_s)
    if found.assumed_latency_s is not None:
        assumed.append(f"latency {si_text(found.assumed_latency_s, 's')} where the file states none")
    where = f"{found.ranks} ranks on {found.nodes} nodes, routing {found.routing}"
    return f"{found.network}: {found.operation}{of}, {where}{''.join(f', {text}' for text in assumed)}"


def _one_size(sized: tuple[Timing, ...]) -> str:
    table = _table("algorithm", ">steps", ">sent by a rank", ">time", ">× fastest", "limited by")
    best_s = min(one.time_s for one in sized)
    for one in sized:
        name, share = one.limited_by
        times = f"{one.time_s / best_s:.2f}" if best_s else ""
        limit = f"{name} {percent_text(share)}" if name else "nothing"
        table.add_row(one.algorithm, str(one.steps), bytes_text(one.sent_bytes), si_text(one.time_s, "s"), times, limit)
    return render(table)


def _many_sizes(found: Collective) -> str:
    names = [one.algorithm for one in found.timings[0]]
    table = _table(">bytes", *(f">{name}" for name in names), "fastest")
    for sized in found.timings:
        best = min(sized, key=lambda one: one.time_s)
        times = [si_text(one.time_s, "s") for one in sized]
        table.add_row(bytes_text(sized[0].bytes_each), *times, best.algorithm)
    return render(table)


def _changes_text(found: Collective) -> str:
    first, *others = found.fastest
    changes = "".join(f", from {one.bytes_each:,} bytes {one.algorithm}" for one in others)
    return f"fastest: {first.algorithm}{changes}"


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False)
    for column in columns:
        table.add_column(column.lstrip(">"), justify="right" if column.startswith(">") else "left")
    return table
