"""Text that every terminal, pipe and program can take: no control characters; the nearest ASCII, or JSON's escapes."""

import codecs
import io
import re
import sys
from collections.abc import Iterable
from typing import Any, TextIO, cast

ASCII = (
    {"…": "...", "→": "->", "≤": "<=", "≥": ">="} | dict.fromkeys("▌▋▊▉█", "#") | dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╰╯", "+")
)
ASCII |= dict(zip("µ–×·“”’−²³│─•▓\u202f▏▎▍▁▂▃▄▅▆▇", 'u-x-""\'-23|-*%    _.:-=+*', strict=True))
TABLE = str.maketrans(ASCII)

COLOUR = "\x1b\\[[0-9;]*m"
# Unicode's control characters, line ends, changes of direction, and half characters.
CONTROL = "[\0-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
_IN_LINE, _IN_LINES = re.compile(f"[\t\n]|{CONTROL}"), re.compile(CONTROL)
_COLOUR_OR_CONTROL = re.compile(f"({COLOUR})|{CONTROL}")


def clean(text: str) -> str:
    """Return untrusted text as part of a line; each control character is replaced by �."""
    return _IN_LINE.sub("�", text)


def clean_lines(text: str) -> str:
    """Return untrusted lines with control characters replaced, except tabs and line ends."""
    return _IN_LINES.sub("�", text)


def escaped(json: str) -> str:
    """Return JSON with all control characters escaped, including those that JSON permits and terminals interpret."""
    return _IN_LINES.sub(lambda found: _escape(found[0]), json)


class CleanStream:
    """A text stream that takes no control characters: JSON's are escaped, and colours reach a terminal.

    What is written with Rich goes past it, and is cleaned by those who write it.
    """

    def __init__(self, stream: TextIO, json: bool) -> None:
        self.rich_proxied_file = stream  # Rich looks for this name
        self._terminal, self._json = stream.isatty(), json

    def write(self, text: str) -> int:
        """Write the text without control characters."""
        if self._json:
            shown = escaped(text)
        elif self._terminal:
            shown = _COLOUR_OR_CONTROL.sub(lambda found: found[1] or "�", text)
        else:
            shown = clean_lines(text)
        self.rich_proxied_file.write(shown)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write the lines."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rich_proxied_file, name)


def clean_streams(json: bool) -> None:
    """Remove control characters from the standard streams; `json`: the output is JSON."""
    sys.stdout, sys.stderr = (cast("TextIO", CleanStream(stream, json)) for stream in (sys.stdout, sys.stderr))


def in_ascii(text: str) -> str:
    """Return text of Octant with ASCII replacements of other characters."""
    return text.replace(" … ", " - ").translate(TABLE)


def make_streams_patient(json: bool) -> None:
    """Write characters outside the encoding of standard streams as ASCII, or as escapes in JSON."""

    def replacement(error: UnicodeError) -> tuple[str, int]:
        assert isinstance(error, UnicodeEncodeError)  # noqa: S101 - registered for writing alone
        lacking = error.object[error.start : error.end]
        return "".join(_escape(c) if json else ASCII.get(c, "?") for c in lacking), error.end

    codecs.register_error("octant", replacement)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="octant")


def _escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
