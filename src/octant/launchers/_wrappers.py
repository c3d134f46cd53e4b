"""Commands in front of a launcher that start it and change nothing else: `env`, `nice`, `timeout`."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from octant.launchers import _tables, _words


@dataclass(frozen=True)
class Wrapper:
    """The options of a command that starts the command behind them."""

    options: _tables.Table = field(default_factory=dict)
    operands: int = 0  # words between the options and the command
    numeric: bool = False  # `-5` is an option as well
    subcommands: tuple[str, ...] = ()  # one of them is the first word
    any_long: bool = False  # every option with two dashes is one word
    assignments: bool = False  # words with `=` and a single dash may come before the command


def _own(flags: str, valued: str = "") -> _tables.Table:
    """Return options that change nothing for the command behind the wrapper."""
    why = "it affects only the command in front of the program"
    return _tables.table(_tables.irrelevant(why, flags), _tables.irrelevant(why, valued, 1))


WRAPPERS = {
    "env": Wrapper(_own("ignore-environment|i debug|v", "unset|u"), assignments=True),
    "nice": Wrapper(_own("", "adjustment|n"), numeric=True),
    "nohup": Wrapper(),
    "setsid": Wrapper(_own("ctty|c wait|w")),
    "stdbuf": Wrapper(_own("", "input|i output|o error|e")),
    "time": Wrapper(_own("append|a portability|p quiet|q verbose|v", "format|f output|o")),
    "timeout": Wrapper(_own("foreground preserve-status verbose|v", "kill-after|k signal|s"), operands=1),
}
"""The wrappers by name: GNU coreutils 9.1, setsid of util-linux 2.38, GNU time 1.9.

Options that change what the command is (`env -S`, `env -C`, `setsid -f`) are left out. `numactl` and `taskset` are left
out because they restrict what every rank may use.
"""

OBSERVERS = {
    **WRAPPERS,
    "ionice": Wrapper(_own("ignore|t", "class|c classdata|n")),
    "perf": Wrapper(
        _own(
            "all-user all-kernel big-num|B detailed|d inherit|i no-inherit no-big-num null|n quiet|q scale|c sync|S "
            "verbose|v g",
            "call-graph count event|e field-separator|x freq|F interval-print|I output|o repeat|r",
        ),
        subcommands=("stat", "record", "trace"),
    ),
    "strace": Wrapper(_own("c C f ff i q r t tt ttt T v y w", "a b e o O P s S u E")),
    "valgrind": Wrapper(any_long=True),
}
"""The same and tools that observe a program and do not change its affinity: perf 6, strace 6, valgrind 3."""


def skip(words: Sequence[str], environment: Mapping[str, str]) -> tuple[int, Mapping[str, str]]:
    """Return the index of the first word that is no wrapper or part of one, and the environment of that command.

    Raises:
        ValueError: an option of a wrapper that is not known, or a missing value.
    """
    at = 0
    while at < len(words) and Path(words[at]).name in WRAPPERS:
        at, environment = skip_one(words, at, environment)
    return at, environment


def skip_one(
    words: Sequence[str], at: int, environment: Mapping[str, str], wrappers: Mapping[str, Wrapper] = WRAPPERS
) -> tuple[int, Mapping[str, str]]:
    """Return the index of the first word behind the wrapper at an index, and the environment of that command.

    Raises:
        ValueError: as `skip`.
    """
    name = Path(words[at]).name
    wrapper = wrappers[name]
    begin = at + 1
    if wrapper.subcommands:
        if words[begin : begin + 1] and words[begin] not in wrapper.subcommands:
            raise ValueError(f"{name} {words[begin]}: not supported, because it may not start a command")
        begin += 1
    while wrapper.any_long and begin < len(words) and words[begin].startswith("--") and words[begin] != "--":
        begin += 1
    while wrapper.numeric and begin < len(words) and re.fullmatch(r"-[-+]?\d+", words[begin]):
        begin += 1
    try:
        given = _words.getopt(words, wrapper.options, begin)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    at = given.end + wrapper.operands
    return _changed(words, given, environment) if wrapper.assignments else (at, environment)


def _changed(
    words: Sequence[str], given: _words.ParsedOptions, environment: Mapping[str, str]
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
