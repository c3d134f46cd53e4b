"""Fabric described by a dump of `ibnetdiscover`: compute nodes with their rails, switches, and cables by class."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache

from octant.network import ibnet
from octant.network.ibnet import Device, knowledge
from octant.network.quoting import quoted
from octant.units import counted

HOSTS = "ca:"
"""Prefix of the names of compute nodes; the prefix of switches is `sw:`."""
_SHOWN = 3  # lines or names in a remark
_NAME = 120  # characters of a node's name
_UNFIT = re.compile(r"[\s#]")
_Ends = tuple[tuple[str, int], tuple[str, int]]


@dataclass(frozen=True)
class Cable:
    """A cable between two vertices by name, with its width and speed (`4xHDR`; empty: not stated)."""

    a: str
    b: str
    speed: str


@dataclass(frozen=True)
class ExcludedDevices:
    """Devices of one kind that are not compute nodes, and the reason why they have no traffic."""

    kind: str
    count: int
    reason: str


@dataclass(frozen=True)
class Fabric:
    """A fabric without the excluded devices."""

    cables: tuple[Cable, ...] = field(repr=False)
    nodes: int  # compute nodes with a cable
    switches: int
    rails: dict[int, int]  # numbers of compute nodes by number of cables
    apart: tuple[ExcludedDevices, ...]
    remarks: tuple[str, ...]  # assumptions, and parts that may be missing
    lines: ibnet.DumpLines

    def speeds(self) -> dict[str, int]:
        """Return the numbers of cables by width and speed, the most frequent first."""
        return dict(Counter(cable.speed for cable in self.cables if cable.speed).most_common())


@lru_cache(maxsize=8)
def read(text: str, hosts: str = HOSTS) -> Fabric:
    """Read a dump. Only adapters of nodes whose name begins with `hosts` are compute nodes.

    Raises:
        ValueError: the dump is invalid or contradictory.
    """
    dump = ibnet.read(text)
    apart: dict[str, list[Device]] = defaultdict(list)
    adapters: list[Device] = []
    for device in dump.devices.values():
        kind = _kind(device)
        (apart[kind] if kind else adapters if device.type == "Ca" else []).append(device)
    named, remarks = _names(adapters)
    for device in adapters:
        if not named[device.name].startswith(hosts):
            apart[_EXCLUDED].append(device)
            del named[device.name]
    named |= {name: f"sw:{name}" for name, device in dump.devices.items() if device.type == "Switch"}
    cables, of_cables = _cables(dump.devices, named)
    cables, lost = _with_nodes(cables)
    present = {end for cable in cables for end in (cable.a, cable.b)}
    ends = Counter(end for cable in cables for end in (cable.a, cable.b) if end.startswith(HOSTS))
    idle = {name for name in named.values() if name.startswith(HOSTS)} - present
    remarks += [*of_cables, *_absent(len(idle), lost), *_of_lines(dump.lines)]
    kinds = tuple(ExcludedDevices(kind, len(found), _reason(kind)) for kind, found in sorted(apart.items()))
    if kinds:
        listed = ", ".join(f"{one.count} × {one.kind}" for one in kinds)
        remarks.insert(0, f"the model excludes devices without traffic: {listed}")
    rails = dict(sorted(Counter(ends.values()).items()))
    return Fabric(tuple(cables), len(ends), len(present) - len(ends), rails, kinds, tuple(remarks), dump.lines)


_EXCLUDED = "adapter that `hosts` excludes"


@cache
def _apart_patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((row["kind"], re.compile(row["description"])) for row in knowledge()["apart"])


def _kind(device: Device) -> str:
    """Return the kind of a device that is neither a switch nor a compute node; "" for switches and compute nodes."""
    if device.type == "Rt":
        return str(knowledge()["router"]["kind"])
    if device.type == "Switch":
        return ""
    return next((kind for kind, pattern in _apart_patterns() if pattern.search(device.description)), "")


def _reason(kind: str) -> str:
    if kind == _EXCLUDED:
        return "Its name does not have the prefix 'hosts' of the network file."
    rows = [*knowledge()["apart"], knowledge()["router"]]
    return str(next(row["reason"] for row in rows if row["kind"] == kind))


# ------------------------------------------------------------------ compute nodes


def _names(adapters: Iterable[Device]) -> tuple[dict[str, str], list[str]]:
    """Return the compute node of each adapter, and remarks about groupings that the dump does not state.

    Adapters whose descriptions name the same host are one node. Adapters with the same system image GUID are one node
    if their descriptions name at most one host. Adapters with equal descriptions are separate nodes.
    """
    of_host: dict[str, list[Device]] = defaultdict(list)
    unnamed: list[Device] = []
    for device in adapters:
        if host := _host(device.description):
            of_host[host].append(device)
        else:
            unnamed.append(device)
    names, alike = {}, 0
    hosts_of_card: dict[str, set[str]] = defaultdict(set)
    for host, devices in of_host.items():
        clear = not _repeated(devices)
        alike += 0 if clear else len(devices)
        for device in devices:
            name = _safe(host) if clear else f"{_safe(host)}@{_card(device)}"
            names[device.name] = f"{HOSTS}{name}"
            hosts_of_card[device.system].add(name)
    joined = sum(1 for devices in of_host.values() if len({_card(d) for d in devices}) > 1 and not _repeated(devices))
    strangers = []
    for device in unnamed:
        of_card = hosts_of_card[device.system] if device.system else set()
        names[device.name] = HOSTS + (next(iter(of_card)) if len(of_card) == 1 else _card(device))
        strangers += [device.description] if len(of_card) != 1 else []
    remarks = []
    if joined:
        remarks.append(
            f"the adapters of {counted(joined, 'node')} were combined because their descriptions name the same host"
        )
    each = "each card (system image GUID) is treated as a node"
    if alike:
        remarks.append(f"the descriptions do not distinguish {counted(alike, 'adapter')}; {each}")
    if strangers:
        count, example = counted(len(strangers), "adapter"), quoted(strangers[0])
        remarks.append(f"the descriptions of {count} name no host, e.g. {example}; {each}")
    return names, remarks


def _card(device: Device) -> str:
    """Return the identifier of the card of an adapter: its system image GUID if the dump states one."""
    return f"{int(device.system, 16):016x}" if device.system else device.name


def _repeated(devices: Sequence[Device]) -> bool:
    """Return whether two cards have the same description, which then does not identify the node."""
    cards = defaultdict(set)
    for device in devices:
        cards[device.description].add(_card(device))
    return any(len(found) > 1 for found in cards.values())


@cache
def _description() -> tuple[re.Pattern[str], re.Pattern[str]]:
    return re.compile(f"(.+) (?:{knowledge()['adapter']['name']})"), re.compile(knowledge()["unnamed"]["pattern"])


def _host(description: str) -> str:
    """Return the host in a description (`node1` for `node1 HCA-1`); "": there is none."""
    with_adapter, unnamed = _description()
    found = with_adapter.fullmatch(description)
    host = found[1] if found else description
    only_adapter = found is None and re.fullmatch(knowledge()["adapter"]["name"], host)
    return "" if only_adapter or unnamed.fullmatch(host) else host


def _safe(host: str) -> str:
    """Return the host as a word of an edge list."""
    return _UNFIT.sub("_", host[:_NAME])


# ------------------------------------------------------------------ cables


def _cables(devices: dict[str, Device], named: dict[str, str]) -> tuple[list[Cable], list[str]]:
    """Return each cable between vertices once, and remarks about cables that the two ends describe differently."""
    sides: dict[_Ends, list[str]] = defaultdict(list)
    for device in devices.values():
        for number, port in device.ports.items():
            one, other = (device.name, number), (port.peer, port.peer_port)
            sides[min((one, other), (other, one))].append(port.speed)
    cables, single, unequal, loops = [], 0, [], 0
    for (one, other), speeds in sides.items():
        if one[0] not in named or other[0] not in named:
            continue
        a, b = named[one[0]], named[other[0]]
        if a == b:
            loops += 1
            continue
        stated = list(dict.fromkeys(speed for speed in speeds if speed and "?" not in speed))
        if len(stated) > 1:
            unequal.append(f"{stated[0]} and {stated[1]}")
        single += len(speeds) == 1
        cables.append(Cable(a, b, _slowest(stated) or next(filter(None, speeds), "")))
    remarks, every = [], counted(len(cables), "cable")
    if silent := sum(not cable.speed for cable in cables):
        remarks.append(f"the dump states no width and speed for {silent} of {every}")
    if unknown := [cable.speed for cable in cables if cable.speed and not rate_text(cable.speed)]:
        words, count = ", ".join(dict.fromkeys(unknown[:_SHOWN])), counted(len(unknown), "cable")
        remarks.append(f"the speed of {count} is unknown ({words}); they are unlimited without bytes_per_s in the file")
    if single:
        remarks.append(f"the dump lists only one end for {single} of {every}")
    if unequal:
        examples = ", ".join(dict.fromkeys(unequal[:_SHOWN]))
        differing = counted(len(unequal), "cable")
        remarks.append(f"the ends of {differing} have different speeds ({examples}); the slower one is used")
    if loops:
        remarks.append(f"the model excludes {counted(loops, 'cable')} from a device to itself")
    return cables, remarks


def _slowest(speeds: list[str]) -> str:
    """Return the slowest stated speed of a cable; "": none. A single speed may be unknown."""
    return min(speeds, key=rate_gbit_per_s) if len(speeds) > 1 else "".join(speeds)


def _with_nodes(cables: list[Cable]) -> tuple[list[Cable], int]:
    """Return the cables of parts with a compute node, and the number of switches in the other parts."""
    neighbours: dict[str, list[str]] = defaultdict(list)
    for cable in cables:
        neighbours[cable.a].append(cable.b)
        neighbours[cable.b].append(cable.a)
    queue = [name for name in neighbours if name.startswith(HOSTS)]
    seen = set(queue)
    while queue:
        fresh = [name for name in neighbours[queue.pop()] if name not in seen]
        seen.update(fresh)
        queue.extend(fresh)
    return [cable for cable in cables if cable.a in seen], len(neighbours) - len(seen)


def rate_gbit_per_s(speed: str) -> float:
    """Return the data rate of a width and speed (`4xHDR`).

    Raises:
        ValueError: the speed is unknown.
    """
    width, _, name = speed.partition("x")
    lanes = knowledge()["lane_gbit_per_s"]
    if name not in lanes or not width.isdigit():
        raise ValueError(f"ibnetdiscover dump: the speed {quoted(speed)} is unknown; known are {', '.join(lanes)}")
    return int(width) * float(lanes[name])


def _absent(idle: int, switches: int) -> list[str]:
    remarks = []
    if idle:
        remarks.append(f"the model excludes {counted(idle, 'node')} without a cable")
    if switches:
        remarks.append(f"the model excludes {counted(switches, 'switch')} without a path to a compute node")
    return remarks


def _of_lines(lines: ibnet.DumpLines) -> list[str]:
    remarks = []
    if lines.warnings:
        count = counted(len(lines.warnings), "warning")
        remarks.append(f"the discovery printed {count}; a part of the fabric may be missing ({_first(lines.warnings)})")
    if lines.unrecognised:
        count = counted(len(lines.unrecognised), "line")
        remarks.append(f"ignored {count} that Octant does not recognise ({_first(lines.unrecognised)})")
    return remarks


def _first(found: Sequence[str]) -> str:
    more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return "; ".join(found[:_SHOWN]) + more


# ------------------------------------------------------------------ classes of links


def by_class(fabric: Fabric, classes: Sequence[str]) -> list[tuple[str, str, int]]:
    """Return the cables as (a, b, number of the class with the name of the width and speed).

    A cable without a speed belongs to the only class.

    Raises:
        ValueError: a speed is not the name of a class; the message contains the required classes.
    """
    speeds = fabric.speeds()
    missing = [speed for speed in speeds if speed not in classes]
    silent = sum(not cable.speed for cable in fabric.cables)
    if missing:
        found = ", ".join(f"{speed} ({count:,})" for speed, count in speeds.items())
        raise ValueError(
            f"the dump has cables of {found}, but 'classes' contains {', '.join(map(quoted, classes))}; "
            f"write {class_table(speeds)}"
        )
    if silent and len(classes) > 1:
        raise ValueError(
            f"{silent} cables of the dump have no width and speed, but 'classes' has {len(classes)} names; "
            f"use a dump of a newer ibnetdiscover, or one class"
        )
    return [(c.a, c.b, classes.index(c.speed) if c.speed else 0) for c in fabric.cables]


def class_table(speeds: Iterable[str]) -> str:
    """Return the classes of a network file for these speeds, on one line, with known data rates."""
    names = list(speeds)
    tables = [f'[links."{name}"] bytes_per_s = "{rate}"' for name in names if (rate := rate_text(name))]
    return "; ".join([f"classes = {json.dumps(names)}", *tables])


def rate_text(speed: str) -> str:
    """Return the data rate of a speed in the form of a network file (`25 GB/s`); "": unknown."""
    try:
        return f"{rate_gbit_per_s(speed) / 8:g} GB/s"
    except ValueError:
        return ""
