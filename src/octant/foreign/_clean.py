"""Removal of text that launchers and terminals added: colours, prefixes of ranks, times, indentation.

A prefix is removed if most lines of the file have it. The lines of each rank become a separate stream, so that outputs
of ranks are not mixed.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from octant.foreign._text import Line

_CONTROL = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # ANSI colours, movements of the cursor
    r"|\x1b\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)"  # titles of terminals, hyperlinks
    r"|\x1b[@-Z\\^_()][0-9A-B]?"
    r"|[\x00-\x08\x0e-\x1f\x7f\ufeff]"
)
_DAY = r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d"
_CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_SEPARATED = r"\]? ?(?:\||(?<= )-)(?: |$)"
_END = r"(?:<std\w{2,5}>: ?|(?:\]:?|:|,)?(?: |$))"
_TIMES = (
    rf"\s*\[?\d{{4}}[-/]\d\d[-/]\d\d[T ]{_CLOCK}(?: ?Z| ?[+-]\d\d:?\d\d)?", rf"\s*\[?{_DAY} {_CLOCK}(?: \d{{4}})?",
    rf"\s*\[?{_CLOCK}",
)  # fmt: skip
_FORMS = (
    # A dash or bar after a time is a separator only if most lines have it: lines of a tool may begin with one.
    *(("time", re.compile(time + end)) for end in (_SEPARATED, _END) for time in _TIMES),
    ("quote", re.compile(r"\s*>(?: |$)")),
    ("time", re.compile(r"\s*\[\s*\d{1,9}\.\d{3,9}\](?: |$)")),
    ("tag", re.compile(r"\s*\[[\w.@:-]{1,80},(?P<rank>\d{1,8})\]<std(?:out|err|diag)>: ?")),
    ("rank", re.compile(r"\s*(?P<rank>\d{1,8}):(?: |$)")),
    ("rank", re.compile(r"\s*\[(?P<rank>\d{1,8})\](?: |$)")),
    ("rank", re.compile(r"\s*(?P<rank>\d{1,8})>(?: |$)")),
    ("rank", re.compile(r"\s*[A-Za-z][\w.-]{0,60} (?P<rank>\d{1,8}):(?: |$)")),
    ("rank", re.compile(r"\s*(?P<rank>[A-Za-z][A-Za-z.-]{0,40}\d[\w.-]{0,60}):(?: |$)")),  # pdsh and others: the host
    ("rank", re.compile(r"\s*(?P<rank>[A-Za-z][\w.-]{0,60}) +\|(?: |$)")),  # of groups of containers
    ("journal", re.compile(r"\s*[A-Za-z][\w.-]{0,60} [A-Za-z(][\w./()-]{0,40}\[\d{1,8}\]:(?: |$)")),
)
"""Kinds of prefixes. A tag is always recognised; others are recognised if most lines of the file have them."""
_FEWEST = 3
_SAMPLE = 400
MAX_PREFIXES = 3
"""Maximum number of prefixes per line, for example a time and a rank."""


@dataclass(frozen=True)
class Cleaned:
    """The lines of a file by the rank that printed them."""

    streams: Mapping[str, Sequence[Line]]  # by rank or host, the lowest first; "" if no prefix states it
    prefixes: tuple[str, ...] = ()  # first removed prefix of each kind


def clean(lines: Sequence[Line]) -> Cleaned:
    """Return the lines without control sequences, prefixes and indentation, by rank; line numbers do not change.

    Lines without a prefix, in a file that has prefixes, are in the first stream.
    """
    texts = [_CONTROL.sub("", line.text) for line in lines]
    owners = [""] * len(texts)
    prefixes: list[str] = []
    for _ in range(MAX_PREFIXES):
        found = _consistent(texts)
        if found is None:
            break
        shown = ""
        for place, match in enumerate(map(found.match, texts)):
            if match:
                shown = shown or match[0]
                texts[place] = texts[place][match.end() :]
                owners[place] = match.groupdict().get("rank") or owners[place]
        prefixes.append(shown)
    ranks = sorted(set(owners) - {""}, key=lambda one: (not one.isdecimal(), int(one) if one.isdecimal() else 0, one))
    first = ranks[0] if ranks else ""
    streams: dict[str, list[Line]] = {rank: [] for rank in ranks or [""]}
    for line, text, owner in zip(lines, texts, owners, strict=True):
        streams[owner or first].append(Line(line.number, text.strip()))
    return Cleaned(streams, tuple(prefixes))


def without_prefix(text: str) -> str:
    """Return a line without possible prefixes of any kind."""
    for _ in range(MAX_PREFIXES):
        found = next((match for _, form in _FORMS if (match := form.match(text)) and match.end()), None)
        if found is None:
            break
        text = text[found.end() :].strip()
    return text


def _consistent(texts: Sequence[str]) -> re.Pattern[str] | None:
    """Return the form of prefix that most lines have; a single tag is sufficient."""
    filled = [text for text in texts if text.strip()]
    sample = filled[:: max(1, len(filled) // _SAMPLE)]
    for kind, form in _FORMS:
        if kind != "tag" and 4 * sum(map(bool, map(form.match, sample))) < len(sample):
            continue  # far from most lines: saves matching them all
        matches = [found for found in map(form.match, filled) if found]
        if kind == "tag" and matches:
            return form
        if len(matches) < min(_FEWEST, len(filled)) or 2 * len(matches) < len(filled) or not matches:
            continue
        ranks = Counter(found.groupdict().get("rank") for found in matches)
        hosts = [rank for rank in ranks if rank and not rank.isdecimal()]
        if not hosts or 3 * len(hosts) <= len(matches):  # words that differ on each line are no hosts
            return form
    return None
