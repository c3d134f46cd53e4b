"""What came of a command line of a user's, as records: what it took, since nothing inside it records anything."""

import datetime
import re
from collections.abc import Iterable, Sequence

from octant.launch import Planned
from octant.launch.program import ProgramEnd
from octant.record import FORMAT, SMALL_PAGES, KeptFile
from octant.record.written import kept_member, seal

_SAYS = "octant-pages: "  # the library that asks for large pages inside the program


_PROCESS = re.compile(r"process \d+")


def record_lines(
    planned: Planned, end: ProgramEnd, started: datetime.datetime, files: Sequence[KeptFile] = ()
) -> list[str]:
    """The launch and the point of a command that ended well: wall time, CPU time, the memory of its largest process.

    Args:
        files: that the command left (`store.kept.store_files`).
    """
    launch, outcome = planned.launch, end.outcome
    head = {"workload": launch.ask.subject.name, "launch": launch.key}
    amounts = (
        ("wall time", outcome.seconds, "s"),
        ("user time", outcome.user_s, "s"),
        ("system time", outcome.system_s, "s"),
        ("memory", outcome.memory_bytes, "B"),
    )
    said = [line.removeprefix(_SAYS) for line in outcome.errors.splitlines() if line.startswith(_SAYS)]
    threads, ranks = launch.started_knobs.get("threads", "1"), planned.ranks or launch.ask.shape.ranks
    point = {
        "knobs": dict(launch.started_knobs),
        "shape": {
            "ranks": ranks,
            "threads": int(threads) if threads.isdecimal() else 1,
        },
        "pace": "whole",
        "work": [],
        **({"notes": {SMALL_PAGES: "; ".join(_together(said))}} if said else {}),
        "results": [{"name": name, "value": value, "unit": unit} for name, value, unit in amounts],
        **({"files": [kept_member(one) for one in files]} if files else {}),
    }
    return [
        seal({"format": FORMAT, "kind": "launch", **head, "started": started.isoformat(timespec="seconds")}),
        seal({"format": FORMAT, "kind": "point", **head, **point}),
    ]


def _together(said: Iterable[str]) -> list[str]:
    """What was said of processes, each once: of those of which the same is said the first, and how many more."""
    alike: dict[str, list[str]] = {}
    for text in dict.fromkeys(said):
        alike.setdefault(_PROCESS.sub("process", text), []).append(text)
    return [_told(texts[0], len(texts) - 1) for texts in alike.values()]


def _told(text: str, more: int) -> str:
    return _PROCESS.sub(lambda found: f"{found[0]} and {more} more", text, count=1) if more else text
