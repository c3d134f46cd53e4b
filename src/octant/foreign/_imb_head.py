"""Head of a run of the Intel MPI Benchmarks: version, date, data types, and options of the command line.

`imb_options.toml` lists the options: those that change what is measured become knobs of all tables of the run.
"""

import functools
import importlib.resources
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from octant.foreign import Line, Lines
from octant.foreign._text import date_of, word_of
from octant.untrusted import parse_toml

TITLE = re.compile(
    r"(?i)#\s*((?:Intel\s*\(R\)|Pallas)\s+MPI Benchmarks?(?: Suite)?\s+V?\s*([0-9][\w.]*(?: Update [0-9]+)?).*)"
)
_FACTS = {
    "date": re.compile(r"#\s*Date\s*:\s*(.+)"),
    "machine": re.compile(r"#\s*Machine\s*:\s*(\S+)"),
    "op": re.compile(r"#\s*MPI_Op\s*:\s*MPI_(\w+)"),
    "type": re.compile(r"#\s*MPI_Datatype\s*:\s*MPI_(\w+)"),
    "reduced type": re.compile(r"#\s*MPI_Datatype for reductions\s*:\s*MPI_(\w+)"),
    "threads": re.compile(r"#\s*MPI Thread Environment\s*:\s*MPI_THREAD_(\w+)"),
    "optional": re.compile(r"#\s*!! (IMB_OPTIONAL) mode\."),
}
_INFO = re.compile(r'#\s*([\w.]{1,60}) = "([^"]{0,200})"')
_COMMAND = re.compile(r"#\s*Calling sequence was:")
_LIST = re.compile(r"#\s*List of Benchmarks to run:")
_LISTED = re.compile(r"#\s*(?:\(?Multi-\)?)?[A-Za-z]\w{0,60}")
_SWITCH = {
    **dict.fromkeys(("on", "1", "enable", "yes", "true"), "on"),
    **dict.fromkeys(("off", "0", "disable", "no", "false"), "off"),
}


@dataclass
class Run:
    """Contents of the head of a run."""

    begin: int = 0  # line of the title; 0: the run has no head
    end: int = 0  # last line of the head
    title: str = ""
    tool: str = "IMB"
    version: str = ""
    facts: dict[str, str] = field(default_factory=dict)
    info: list[str] = field(default_factory=list)  # MPI_Info of files: key=value
    options: dict[str, str] = field(default_factory=dict)
    refused: bool = False  # unknown option: nothing of the run is imported
    _command: list[Line] = field(default_factory=list)
    _within: str = ""  # "command" or "list", whose lines have no specific form

    @classmethod
    def of(cls, line: Line, title: re.Match[str]) -> "Run":
        """Return the run that begins with this title."""
        pallas = "pallas" in title[1].lower()
        return cls(line.number, line.number, title[0].strip("# "), "PMB" if pallas else "IMB", word_of(title[2]))

    @property
    def started(self) -> str:
        """Start time of the run in ISO 8601; "": not stated."""
        return date_of(self.facts.get("date", ""))

    def take(self, line: Line, lines: Lines) -> None:
        """Read one line of the head; unknown lines are not marked."""
        text = line.text
        if not text.startswith("#"):
            return
        self.end = line.number
        if fact := next(((name, found) for name, how in _FACTS.items() if (found := how.fullmatch(text))), None):
            self.facts[fact[0]] = fact[1][1].strip()
        elif found := _INFO.fullmatch(text):
            self.info.append(f"{found[1]}={found[2]}")
        elif _COMMAND.fullmatch(text):
            self._within = "command"
        elif _LIST.fullmatch(text):
            self._within = "list"
        elif self._within == "command" and self._is_command(line):
            self._command.append(line)
        elif not (self._within == "list" and _LISTED.fullmatch(text)):
            return
        lines.use(line)

    def _is_command(self, line: Line) -> bool:
        """Return whether the line is the command line or its continuation: old versions print six words per line."""
        if self._command:
            return line.number == self._command[-1].number + 1 and bool(re.match(r"#\s{2,}\S", line.text))
        return bool(re.match(r"(?i)#\s*\S*[IP]MB", line.text))

    def close(self, lines: Lines) -> None:
        """Interpret the command line at the end of the head."""
        words = [(word, line) for line in self._command for word in line.text.strip("# ").split()][1:]
        self._command = []
        place = 0
        while place < len(words):
            word, line = words[place]
            name = word.lstrip("-").lower()
            place += 1
            if not word.startswith("-") or name in known().flags:
                continue
            if name in known().irrelevant:
                place += 1
            elif name in known().knobs and place < len(words):
                self.options[name] = words[place][0]
                place += 1
            else:
                self.refused = True
                lines.refuse(line, f'the option "{word[:60]}" may change figures; no table of this run is imported')

    def knobs(self, benchmark: str) -> dict[str, str]:
        """Return the knobs of a table that the head states, without default values."""
        reduces = "reduce" in benchmark.lower()
        kinds = {"op": "op", "reduced type": "type"} if reduces else {"type": "type"}
        facts = {ours: word_of(self.facts[name].lower()) for name, ours in kinds.items() if name in self.facts}
        if not reduces and facts.get("type") == "byte":
            del facts["type"]
        threads = self.facts.get("threads", "single").lower()
        return {
            **facts,
            **({"thread_level": word_of(threads)} if threads != "single" else {}),
            **({"optional": "yes"} if "optional" in self.facts else {}),
            **({"info": word_of(",".join(self.info))} if self.info else {}),
            **({"memory": "device"} if "(GPU)" in self.title else {}),
            **knobs_of(self.options, benchmark),
        }


def knobs_of(options: Mapping[str, str], benchmark: str) -> dict[str, str]:
    """Return the knobs for options of the command line."""
    found: dict[str, str] = {}
    for name, given in options.items():
        option = known().knobs[name]
        value = _SWITCH.get(given.lower(), given) if option.get("switch") else given
        if value == option.get("default") or not re.fullmatch(option.get("benchmarks", ".*"), benchmark):
            continue
        found[option.get("knob", name)] = word_of(option.get("values", {}).get(value, value))
        found.update(option.get("also", {}))
    return found


@dataclass(frozen=True)
class Options:
    """Options of the benchmarks, from `imb_options.toml`."""

    irrelevant: frozenset[str]  # followed by a value
    flags: frozenset[str]  # without a value
    knobs: Mapping[str, Mapping[str, Any]]


@functools.cache
def known() -> Options:
    """Return the options of the benchmarks."""
    text = importlib.resources.files(__package__).joinpath("imb_options.toml").read_text(encoding="utf-8")
    data = parse_toml(text, "options of IMB")
    return Options(
        frozenset(name for entry in data["irrelevant"] for name in entry["options"]),
        frozenset(name for entry in data["flag"] for name in entry["options"]),
        {entry["option"]: entry for entry in data["knob"]},
    )


def versions(runs: Sequence[Run]) -> str:
    """Return the remark on runs of other versions than the first; "" if there are none."""
    others = dict.fromkeys(
        f"{run.tool} {run.version} from line {run.begin} on"
        for run in runs
        if run.version and (run.tool, run.version) != (runs[0].tool, runs[0].version)
    )
    return f"the file also has runs of {', '.join(others)}" if others else ""
