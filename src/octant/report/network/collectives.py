"""Collectives on the model, for the terminal and for programs."""

import json
from collections.abc import Sequence

from octant.network.collectives import Collective, Timing
from octant.network.files import NetworkFile
from octant.network.noise import Interruption, operation_delay
from octant.network.rings import RingTimes
from octant.report.network.answers import plain
from octant.report.tables.layout import fill, text_table
from octant.units import bytes_text, percent_text, si_text


def collective_text(found: Collective, noise: Sequence[Interruption] = ()) -> str:
    """Return one row for each algorithm; with several sizes a row for each size, and the fastest algorithms.

    Args:
        noise: OS noise of each core; if there is any, a second table has its effect.
    """
    return fill(
        "network/times",
        "collective",
        c=found,
        table=_one_size(found.timings[0]) if len(found.timings) == 1 else _many_sizes(found),
        noise=noise,
        noise_share=sum(kind.share for kind in noise),
        noise_table=_noise_table(found, noise) if noise else "",
    )


def collective_json(found: Collective, noise: Sequence[Interruption] = ()) -> str:
    """Return the same in base units; each time has its parts, and its delay by interruptions."""
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
    """Return a row for the ordered ring, and one for the random rings."""
    rows = [
        (
            one.order if one.rings == 1 else f"{one.order} ({one.rings})",
            si_text(one.latency_s, "s"), si_text(one.bytes_per_s, "B/s"),
        )
        for one in found
    ]  # fmt: skip
    table = text_table(("ring", ">latency", ">bandwidth per rank"), rows)
    return fill("network/times", "rings", network=network, ranks=ranks, table=table)


def _noise_table(found: Collective, noise: Sequence[Interruption]) -> str:
    rows = []
    for one in (one for sized in found.timings for one in sized):
        delay = operation_delay(one.time_s, found.ranks, noise)
        times = (one.time_s, one.time_s + delay.mean_s, one.time_s + delay.worst_s)
        rows.append((bytes_text(one.bytes_each), one.algorithm, *(si_text(time, "s") for time in times)))
    columns = (">bytes", "algorithm", ">without noise", ">mean", ">worst of 10,000")
    first = 0 if len(found.timings) > 1 else 1
    return text_table(columns[first:], [row[first:] for row in rows])


def _one_size(sized: tuple[Timing, ...]) -> str:
    best_s = min(one.time_s for one in sized)
    rows = []
    for one in sized:
        name, share = one.limited_by
        ratio = f"{one.time_s / best_s:.2f}" if best_s else ""
        limit = f"{name} {percent_text(share)}" if name else "no link"
        rows.append((one.algorithm, one.steps, bytes_text(one.sent_bytes), si_text(one.time_s, "s"), ratio, limit))
    return text_table(("algorithm", ">steps", ">sent per rank", ">time", ">× fastest", "limited by"), rows)


def _many_sizes(found: Collective) -> str:
    rows = [
        (
            bytes_text(sized[0].bytes_each), *(si_text(one.time_s, "s") for one in sized),
            min(sized, key=lambda one: one.time_s).algorithm,
        )
        for sized in found.timings
    ]  # fmt: skip
    return text_table((">bytes", *(f">{one.algorithm}" for one in found.timings[0]), "fastest"), rows)
