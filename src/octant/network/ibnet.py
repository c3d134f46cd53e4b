"""Reader of `ibnetdiscover` output: each line is interpreted, irrelevant for a stated reason, or unrecognised."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from itertools import islice
from typing import Any, NamedTuple

from octant.network.quoting import quoted
from octant.untrusted import parse_toml

MAX_LINES = 500_000
MAX_DEVICES = 150_000
"""Three full InfiniBand subnets, each with at most 49,151 unicast addresses."""
MAX_UNRECOGNISED = 1000
"""Maximum number of lines that are not part of the format; a file with more of them is not a dump."""
_LOOKED_AT = 50  # first lines that are searched for the format of another tool
MAX_CHARACTERS = 1000
"""Maximum length of a line; a description has at most 64 bytes."""
COMMAND = "run `ibnetdiscover > FILE` without options and give that file"

_TYPES = {"Switch": "S", "Ca": "H", "Rt": "R"}
_MARKS = ("# Topology file: generated on", "switchguid=0x", "caguid=0x", "rtguid=0x")
_ANY_DEVICE = re.compile(r'^[ \t]*(?:Switch|Ca|Rt)[ \t]+\d+[ \t]+"[SHR]-', re.MULTILINE)
_DEVICE = re.compile(r'(Switch|Ca|Rt) (\d{1,4}) "([SHR])-([^"\s#]+)" ?# ?"(.*)"(.*)')
_AFTER_DEVICE = re.compile(r" ?(?:(?:base|enhanced) port 0 lid \d+ lmc \d+)?(?: ?\(scp\))?")
_PORT = re.compile(
    r"\[(\d{1,4})\](?:\[ext \d+\])?(?:\((?:0x)?[0-9a-fA-F]+\))? ?"
    r'"([SHR]-[^"\s#]+)"\[(\d{1,4})\](?:\[ext \d+\])?(?: ?\((?:0x)?[0-9a-fA-F]+\))?(?: ?#(.*))?'
)
_OWN_LID = re.compile(r" ?(?:lid \d+ ?)?(?:lmc \d+ ?)?")
_AFTER_PEER = re.compile(
    r" ?(?:lid \d+)?(?: ?((?:\d{1,2}|\?\?)x(?:[A-Z]{2,4}\d{0,3}|\?\?\?)))?(?: [swv]=\d+)*(?: slot \d+| ?\(scp\))?"
)
_GUID = re.compile(r"(sysimgguid|switchguid|caguid|rtguid)=0x([0-9a-fA-F]{1,16})(?:\((?:0x)?[0-9a-fA-F]+\))?(?: ?#.*)?")
_GUID_KEY = re.compile(r"(?:sysimgguid|switchguid|caguid|rtguid)\b")
_LIKE_DEVICE = re.compile(r'(?:\S+ )?(?:Switch|Ca|Rt|CA|Router|\?\?\?) ?[:\d"]|\[\d+\]|.*"[SHR?]-[0-9a-fA-F]')


class Port(NamedTuple):
    """The other end of a cable, its width and speed (`4xHDR`; empty: not stated), and its line in the dump."""

    peer: str
    peer_port: int
    speed: str
    line: int


@dataclass
class Device:
    """A switch, a channel adapter or a router with its cables."""

    type: str  # Switch, Ca, Rt
    name: str  # letter of the type and node GUID, as in the dump
    description: str
    system: str  # system image GUID; empty: not stated
    size: int  # number of ports
    line: int
    ports: dict[int, Port] = field(default_factory=dict)


@dataclass(frozen=True)
class DumpLines:
    """Classification of the lines of a file."""

    interpreted: int
    irrelevant: dict[str, int]  # number of lines by reason
    warnings: tuple[str, ...]  # warnings of the tool, after which a part of the fabric may be missing: `line 3: …`
    unrecognised: tuple[str, ...]  # `line 7: …`


@dataclass(frozen=True)
class Dump:
    """Devices by name, in the order of the file, and the classification of its lines."""

    devices: dict[str, Device]
    lines: DumpLines


@cache
def knowledge() -> dict[str, Any]:
    """Return the tables of `catalogue/fabrics.toml`."""
    text = (resources.files("octant.catalogue") / "fabrics.toml").read_text(encoding="utf-8")
    return parse_toml(text, "catalogue of fabrics")


@cache
def _patterns(table: str, named: str = "pattern") -> tuple[tuple[re.Pattern[str], dict[str, Any]], ...]:
    return tuple((re.compile(row[named]), row) for row in knowledge()[table])


def is_dump(text: str) -> bool:
    """Return whether a text seems to be output of `ibnetdiscover`."""
    return any(mark in text for mark in _MARKS) or _ANY_DEVICE.search(text) is not None


def other_tool(text: str) -> str:
    """Return the tool that wrote a text; "": it is an edge list, a dump, or from an unknown tool."""
    lines = (line for _, line in _lines(text) if not line.startswith("#"))
    return next((tool for line in islice(lines, _LOOKED_AT) if (tool := _tool(line))), "")


def why_not_dump(text: str) -> str:
    """Return why a text is not output of `ibnetdiscover`: empty, of another tool, or error messages."""
    if tool := other_tool(text):
        return f"it is output of {tool}"
    lines = [line for _, line in islice(_lines(text), _LOOKED_AT)]
    if not lines:
        return "it is empty"
    if all(any(pattern.fullmatch(line) for pattern, _ in _patterns("warning")) for line in lines):
        return f"the discovery failed: {quoted(lines[-1])}"
    return "it is neither a network file (.toml) nor output of ibnetdiscover"


def _tool(line: str) -> str:
    rows = _patterns("other") if len(line) <= MAX_CHARACTERS else ()
    return next((str(row["tool"]) for pattern, row in rows if pattern.fullmatch(line)), "")


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the non-empty lines with their numbers, and with white space reduced to single blanks."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line and (words := line[: MAX_CHARACTERS + 1].split()):
            yield number, " ".join(words) if len(line) <= MAX_CHARACTERS else line


def read(text: str) -> Dump:
    """Read the devices of a dump.

    Raises:
        ValueError: there are too many lines, the line of a device or a cable is invalid, or lines contradict each
            other; the message quotes the line.
    """
    if text.count("\n") > MAX_LINES:
        raise ValueError(f"ibnetdiscover dump: more than {MAX_LINES:,} lines are too many; {COMMAND}")
    reader = _Reader()
    for number, line in _lines(text):
        reader.take(number, line)
    _check_ends(reader.devices)
    found = reader.interpreted, dict(reader.irrelevant), tuple(reader.warnings), tuple(reader.unrecognised)
    return Dump(reader.devices, DumpLines(*found))


class _Reader:
    """State of the reader while it processes the lines."""

    def __init__(self) -> None:
        self.devices: dict[str, Device] = {}
        self.device: Device | None = None  # the one whose ports follow
        self.guids: dict[str, str] = {}  # of the device that follows
        self.interpreted = 0
        self.irrelevant: Counter[str] = Counter()
        self.warnings: list[str] = []
        self.unrecognised: list[str] = []

    def take(self, number: int, line: str) -> None:
        if len(line) <= MAX_CHARACTERS:
            if port := _PORT.fullmatch(line):
                self._port(number, line, port)
                return
            if device := _DEVICE.fullmatch(line):
                self._device(number, line, device)
                return
            if guid := _GUID.fullmatch(line):
                self._guid(*guid.groups())
                return
            if self._known(number, line):
                return
        if _LIKE_DEVICE.match(line) or _GUID_KEY.match(line) or _tool(line):
            raise self._refusal(number, line)
        self.unrecognised.append(f"line {number}: {quoted(line)}")
        if len(self.unrecognised) > MAX_UNRECOGNISED:
            raise ValueError(
                f"ibnetdiscover dump: more than {MAX_UNRECOGNISED:,} lines are not of its format, the first on "
                f"{self.unrecognised[0]}; {COMMAND}"
            )

    def _known(self, number: int, line: str) -> bool:
        for pattern, row in _patterns("irrelevant"):
            if pattern.fullmatch(line):
                self.irrelevant[row["reason"]] += 1
                if line.startswith("vendid="):
                    self.device, self.guids = None, {}
                return True
        if any(pattern.fullmatch(line) for pattern, _ in _patterns("warning")):
            self.warnings.append(f"line {number}: {quoted(line)}")
            return True
        return False

    def _refusal(self, number: int, line: str) -> ValueError:
        tool = _tool(line)
        why = f"is output of {tool}" if tool else "looks like a device or a cable and cannot be read"
        return ValueError(f"ibnetdiscover dump, line {number}: {quoted(line)} {why}; {COMMAND}")

    def _guid(self, key: str, value: str) -> None:
        if self.device is not None or key in self.guids:
            self.device, self.guids = None, {}
        self.guids[key] = value.lower().lstrip("0")
        self.interpreted += 1

    def _device(self, number: int, line: str, found: re.Match[str]) -> None:
        kind, ports, letter, guid, words, after = found.groups()
        if _TYPES[kind] != letter or not _AFTER_DEVICE.fullmatch(after):
            raise self._refusal(number, line)
        fresh = Device(kind, f"{letter}-{guid}", words, self.guids.get("sysimgguid", ""), int(ports), number)
        self.device, self.guids = self.devices.setdefault(fresh.name, fresh), {}
        if len(self.devices) > MAX_DEVICES:
            raise ValueError(f"ibnetdiscover dump: more than {MAX_DEVICES:,} devices are too many; {COMMAND}")
        if self.device.description != fresh.description:
            raise ValueError(
                f"ibnetdiscover dump, line {number}: {quoted(line)} contradicts the device of line {self.device.line}; "
                f"use complete GUIDs and a single dump"
            )
        self.device.system = self.device.system or fresh.system
        self.interpreted += 1

    def _port(self, number: int, line: str, found: re.Match[str]) -> None:
        if self.device is None:
            raise ValueError(
                f"ibnetdiscover dump, line {number}: {quoted(line)} is a port without a preceding Switch, Ca or Rt "
                f"line; use the complete dump"
            )
        own, peer, peer_port, comment = found.groups()
        speed = _speed(comment or "")
        if speed is None or not 1 <= int(own) <= self.device.size:
            raise self._refusal(number, line)
        port = Port(peer, int(peer_port), speed, number)
        before = self.device.ports.setdefault(int(own), port)
        if before[:3] != port[:3]:
            raise ValueError(
                f"ibnetdiscover dump, line {number}: {quoted(line)} contradicts line {before.line}, which has another "
                f"cable in port {own}; use complete GUIDs and a single dump"
            )
        self.interpreted += 1


def _speed(comment: str) -> str | None:
    """Return width and speed of a cable from the comment of its line; "": not stated; `None`: invalid."""
    first, last = comment.find('"'), comment.rfind('"')
    head, tail = ("", comment) if first < 0 else (comment[:first], comment[last + 1 :])
    if (first >= 0 and first == last) or not _OWN_LID.fullmatch(head):
        return None
    found = _AFTER_PEER.fullmatch(tail)
    return None if found is None else found[1] or ""


def _check_ends(devices: dict[str, Device]) -> None:
    for device in devices.values():
        for number, port in device.ports.items():
            peer = devices.get(port.peer)
            if peer is None:
                raise ValueError(
                    f"ibnetdiscover dump: the device {quoted(port.peer)} in line {port.line} is not described; "
                    f"use the complete dump"
                )
            back = peer.ports.get(port.peer_port)
            if back is not None and (back.peer, back.peer_port) != (device.name, number):
                raise ValueError(
                    f"ibnetdiscover dump: lines {port.line} and {back.line} have different cables in port "
                    f"{port.peer_port} of {quoted(peer.name)}; use complete GUIDs and a single dump"
                )
