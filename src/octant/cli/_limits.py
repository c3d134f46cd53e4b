"""Limits of `octant run`: those of earlier runs of this machine, or requests that measure them with the run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from octant.failure import Refusal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octant.analysis.figures import Figure
    from octant.limit import StoredLimit
    from octant.machine import Machine
    from octant.request import Request
    from octant.runs.limit_requests import NeededLimit
    from octant.store import Store, StoredRun


@dataclass(frozen=True)
class RunLimits:
    """Limits of a new run."""

    requests: tuple[Request, ...] = ()  # that measure limits
    stored: tuple[StoredLimit, ...] = ()  # of earlier runs


def find_limits(to: Store, requests: Sequence[Request], machine: Machine) -> RunLimits:
    """Return the limits for these requests, and print on standard error where they come from."""
    from octant.analysis.stored_limits import LimitSearch
    from octant.runs.limit_requests import limit_requests, needed_limits

    needed = [one for request in requests for one in needed_limits(request, machine)]
    if not needed:
        return RunLimits()
    found = LimitSearch(to, _new_run(machine), _build).find(needed)
    stored = tuple(dict.fromkeys(limit for limits in found for limit in limits))
    missing = [one for one, limits in zip(needed, found, strict=True) if not limits]
    measured = _startable(limit_requests(missing), machine)
    _announce(needed, stored, measured)
    return RunLimits(measured, stored)


def _new_run(machine: Machine) -> StoredRun:
    """Return the run that is about to start, for the comparison of its conditions with those of earlier runs."""
    import datetime
    from pathlib import Path

    from octant.store import StoredRun, recorded_environment

    started = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
    return StoredRun(
        who="run", title="", started=started, machine=machine, environment=recorded_environment(), requests=(),
        order=(), id="", folder=Path(),
    )  # fmt: skip


def _build(workload: str) -> str:
    """Return the digest of the installed kernel of a workload; "": there is none."""
    from octant import build

    try:
        return build.digest(build.find(workload))
    except Refusal:
        return ""


def _startable(requests: Sequence[Request], machine: Machine) -> tuple[Request, ...]:
    """Return the requests that can be started here, and print why others cannot."""
    from octant.runs.plan import check_startable

    kept = []
    for request in requests:
        try:
            check_startable(request, machine)
            kept.append(request)
        except Refusal as refusal:
            typer.echo(f"octant: the {request.show.title} is not measured: {refusal}", err=True)
    return tuple(kept)


def _announce(needed: Sequence[NeededLimit], stored: Sequence[StoredLimit], measured: Sequence[Request]) -> None:
    """Print which limits are known and which are measured with the run, with the additional seconds."""
    import datetime

    from octant.analysis.summary import RUN_PREFIX
    from octant.runs.durations import Durations
    from octant.units import duration_text

    titles = {one.name: one.title for one in needed}
    by_request = {one.request.key: one.title for one in needed}
    now = datetime.datetime.now(datetime.UTC)
    for one in {(titles[limit.name], limit.run): limit for limit in stored}.values():
        age = duration_text((now - datetime.datetime.fromisoformat(one.measured)).total_seconds())
        typer.echo(
            f"octant: the limit is the {titles[one.name]} of run {one.run[:RUN_PREFIX]}, measured {age} ago", err=True
        )
    if measured:
        durations = Durations()
        seconds = sum(durations.seconds(launch) for request in measured for launch in request.launches())
        names = ", ".join(dict.fromkeys(by_request[request.key] for request in measured))
        typer.echo(
            f"octant: the limit is measured with the run: {names} (about {duration_text(max(1.0, seconds))}; "
            "--no-limit omits it)",
            err=True,
        )


def warn_of_unreliable_limits(figures: Sequence[Figure]) -> None:
    """Print why a limit that was measured with a run is not used."""
    from octant.report.claims import short_caveat

    reasons = [short_caveat(one.caveats) for one in figures if one.show.purpose == "limit" and one.invalid]
    if reasons:
        why = f"its measurement is not reliable: {reasons[0]}"
        typer.echo(f"octant: no share of a limit ({why}); measure again", err=True)
