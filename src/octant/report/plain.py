"""Text for terminals and pipes that cannot take every character: the nearest ASCII, or JSON's own escapes."""

import codecs
import io
import sys

ASCII = {"µ": "u", "…": "...", "–": "-", "×": "x", "→": "->", "·": "-"} | dict.fromkeys("▏▎▍", " ")
ASCII |= dict.fromkeys("▌▋▊▉█", "#") | dict.fromkeys("“”", '"') | {"’": "'", "−": "-", "≤": "<=", "≥": ">=", "²": "2"}
ASCII |= {"│": "|", "─": "-", "•": "*", "³": "3", "▓": "%"} | dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╰╯", "+")
ASCII |= dict(zip("▁▂▃▄▅▆▇", "_.:-=+*", strict=True))  # heights
TABLE = str.maketrans(ASCII)


def in_ascii(text: str) -> str:
    """What Octant itself writes, without the characters that an old terminal lacks."""
    return text.replace(" … ", " - ").translate(TABLE)


def make_streams_patient(json: bool) -> None:
    """Standard streams write what their encoding lacks as ASCII, or as escapes where JSON is asked for."""

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
