"""Commands in front of a launcher that start it and change nothing else: `env`, `nice`, `timeout`."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from octant.launchers import _words


@dataclass(frozen=True)
class Wrapper:
    """The options of a command that starts the command behind them."""

    counts: Mapping[str, int] = field(default_factory=dict)
    short: Mapping[str, str] = field(default_factory=dict)
    operands: int = 0  # words between the options and the command
    numeric: bool = False  # `-5` is an option as well
    assignments: bool = False  # words with `=` and a single dash may come before the command


WRAPPERS = {
    "env": Wrapper(
        {"ignore-environment": 0, "unset": 1, "debug": 0},
        {"i": "ignore-environment", "u": "unset", "v": "debug"},
        assignments=True,
    ),
    "nice": Wrapper({"adjustment": 1}, {"n": "adjustment"}, numeric=True),
    "nohup": Wrapper(),
    "setsid": Wrapper({"ctty": 0, "wait": 0}, {"c": "ctty", "w": "wait"}),
    "stdbuf": Wrapper({"input": 1, "output": 1, "error": 1}, {"i": "input", "o": "output", "e": "error"}),
    "time": Wrapper(
        {"append": 0, "format": 1, "output": 1, "portability": 0, "quiet": 0, "verbose": 0},
        {"a": "append", "f": "format", "o": "output", "p": "portability", "q": "quiet", "v": "verbose"},
    ),
    "timeout": Wrapper(
        {"foreground": 0, "kill-after": 1, "preserve-status": 0, "signal": 1, "verbose": 0},
        {"k": "kill-after", "s": "signal", "v": "verbose"},
        operands=1,
    ),
}
"""The wrappers by name: GNU coreutils 9.1, setsid of util-linux 2.38, GNU time 1.9.

Options that change what the command is (`env -S`, `env -C`, `setsid -f`) are left out. `numactl` and `taskset` are left
out because they restrict what every rank may use.
"""


def skip(words: Sequence[str], environment: Mapping[str, str]) -> tuple[int, Mapping[str, str]]:
    """Return the index of the first word that is no wrapper or part of one, and the environment of that command.

    Raises:
        ValueError: an option of a wrapper that is not known, or a missing value.
    """
    at = 0
    while at < len(words) and Path(words[at]).name in WRAPPERS:
        at, environment = skip_one(words, at, environment)
    return at, environment


def skip_one(words: Sequence[str], at: int, environment: Mapping[str, str]) -> tuple[int, Mapping[str, str]]:
    """Return the index of the first word behind the wrapper at an index, and the environment of that command.

    Raises:
        ValueError: as `skip`.
    """
    name = Path(words[at]).name
    wrapper = WRAPPERS[name]
    begin = at + 1
    while wrapper.numeric and begin < len(words) and re.fullmatch(r"-[-+]?\d+", words[begin]):
        begin += 1
    try:
        given = _words.getopt(words, wrapper.counts, wrapper.short, {}, begin)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    at = given.end + wrapper.operands
    return _changed(words, given, environment) if wrapper.assignments else (at, environment)


def _changed(
    words: Sequence[str], given: _words.Given, environment: Mapping[str, str]
) -> tuple[int, Mapping[str, str]]:
    """Return the index behind the assignments of `env`, and the environment that they make."""
    at, found = given.end, dict(environment)
    if "ignore-environment" in given.values or words[at : at + 1] == ["-"]:
        found = {"PATH": os.defpath}
    at += words[at : at + 1] == ["-"]
    for option, values in given.all_values:
        if option == "unset":
            found.pop(values[0], None)
    while at < len(words) and "=" in words[at]:
        name, _, value = words[at].partition("=")
        found[name] = value
        at += 1
    return at, found
