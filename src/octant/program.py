"""Values and checks of a user's program, as data."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

Better = Literal["higher", "lower"]

STDOUT, STDERR = "stdout", "stderr"
"""Sources of values that are not files."""
FAMILY = "program"
"""First part of the name of every user's program; no workload has this family."""
_NEEDS_NO_QUOTES = re.compile(r"(?:[\w@%+=:,./-]|\{\w+\})+", re.ASCII)
"""Words that a shell does not change: it expands braces only around a comma or two points."""


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def shell_text(words: Iterable[str]) -> str:
    """Return the words of a command line as a user types them in a shell, on one line.

    As `shlex.join`, but `{knob}` needs no quotes, and a word with control characters is in those of `$'\\n'`.
    """
    return " ".join(map(_quoted, words))


def _quoted(word: str) -> str:
    if _NEEDS_NO_QUOTES.fullmatch(word):
        return word
    if not _CONTROL.search(word):
        return shlex.quote(word)
    escaped = word.replace("\\", "\\\\").replace("'", "\\'")
    return "$'" + _CONTROL.sub(lambda one: f"\\u{ord(one[0]):04x}".replace("\\u000a", "\\n"), escaped) + "'"


def is_program(subject: str) -> bool:
    """Return whether a subject `family/name` is a user's program."""
    return subject.startswith(f"{FAMILY}/")


@dataclass(frozen=True)
class ProgramValue:
    """Number that the program prints or writes, found by a regular expression or by a path in JSON."""

    name: str
    unit: str = "1"
    better: Better = "higher"
    source: str = STDOUT  # "stdout", "stderr", or a file, relative to the folder in which the program works
    pattern: str = ""  # a regular expression: its first group, of the last match; "": see `path`
    path: str = ""  # names and indices in a JSON document, separated by points: "solver.0.residual"
    region: str = ""  # a region of the profile instead: the time of the rank that spends most time in it
    call: str = ""  # or calls in the profile: "MPI_Isend:bytes", with a rank "MPI_Isend:bytes:0"


ProfileMode = Literal["full", "counts", "off", "waits"]
"""`counts`: no times; `off`: until the program starts the recording; `waits`: a barrier before each collective."""


@dataclass(frozen=True)
class ProgramProfile:
    """What the profiler records of the MPI calls of a program."""

    mode: ProfileMode = "full"
    sites: bool = True  # separate the calls by call site


@dataclass(frozen=True)
class ProgramCheck:
    """Check of the program's result: tolerance of a value, bytes of a file, or a command of the user."""

    kind: Literal["value", "file", "command"]
    value: str = ""  # the name of the value
    tolerance: float = 0.0  # allowed difference of the value, relative to the reference or absolute
    relative: bool = True
    expected: float | None = None  # reference value; `None`: the value of the baseline
    file: str = ""  # relative to the folder in which the program works
    reference: str = ""  # reference file; "": the file of the baseline
    command: tuple[str, ...] = ()  # exits with status 0 if the result is correct

    @property
    def needs_baseline(self) -> bool:
        """Whether it compares with the baseline."""
        return (self.kind == "value" and self.expected is None) or (self.kind == "file" and not self.reference)

    @property
    def name(self) -> str:
        """The name of its result: what is compared, and with what."""
        if self.kind == "command":
            return f"exit status of {' '.join(self.command)}"
        other = "the baseline" if self.needs_baseline else self.reference or f"{self.expected:g}"
        if self.kind == "file":
            return f"bytes of {self.file} that differ from {other}"
        return f"{self.value}: {'relative ' * self.relative}difference from {other}"
