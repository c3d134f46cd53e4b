"""Makes up InfiniBand fabrics whose answers are known, and prints them as `ibnetdiscover` does."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from octant.network import NetworkFile
from octant.network.files import parse

HDR = 25e9  # bytes per second of a 4xHDR cable


@dataclass
class Device:
    """A switch, channel adapter or router; ports are (peer, its port, speed) by number."""

    type: str
    guid: int
    description: str
    system: int
    size: int
    ports: dict[int, tuple["Device", int, str]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{ {'Switch': 'S', 'Ca': 'H', 'Rt': 'R'}[self.type] }-{self.guid:016x}".replace(" ", "")


class MadeFabric:
    """Devices and cables, added one by one."""

    def __init__(self) -> None:
        self.devices: list[Device] = []

    def add(self, kind: str, description: str, system: int | None = None, size: int = 64) -> Device:
        """A device; its system image GUID is its own GUID unless it shares a card."""
        guid = 0x8C0EB0300000000 + 0x100 * (len(self.devices) + 1)
        self.devices.append(Device(kind, guid, description, guid if system is None else system, size))
        return self.devices[-1]

    def cable(self, a: Device, b: Device, speed: str = "4xHDR") -> None:
        """A cable between the first free ports."""
        one, other = (max(device.ports, default=0) + 1 for device in (a, b))
        a.ports[one], b.ports[other] = (b, other, speed), (a, one, speed)

    def text(self, grouped: bool = False, full: bool = False, only: Sequence[Device] | None = None) -> str:
        """The dump; `grouped` as with option -g, `full` as with -f; `only` these devices describe themselves."""
        lines = ["#", "# Topology file: generated on Thu Nov 26 12:00:00 2026", "#"]
        lines += ["# Initiated from node 08c0eb0300000100 port 08c0eb0300000100"]
        lines += ["", "Chassis 1 (guid 0x8c0eb0300000100)", "", "# Spine Nodes"] if grouped else []
        for device in self.devices if only is None else only:
            lines += ["", "vendid=0x2c9", "devid=0xd2f0"]
            lines += [f"sysimgguid=0x{device.system:x}" + "\t\t# Chassis 1" * grouped] if device.system else []
            key = {"Switch": "switchguid", "Ca": "caguid", "Rt": "rtguid"}[device.type]
            port_guid = f"({device.guid:x})" if device.type == "Switch" else ""
            lines.append(f"{key}=0x{device.guid:x}{port_guid}" + "\t# QM8790 spine slot 1" * grouped)
            after = " enhanced port 0 lid 7 lmc 0" if device.type == "Switch" else ""
            lines.append(f'{device.type}\t{device.size} "{device.name}"\t\t# "{device.description}"{after}')
            lines += [_port(device, number, grouped, full) for number in device.ports]
        return "\n".join([*lines, ""])


def _port(device: Device, number: int, grouped: bool, full: bool) -> str:
    peer, peer_port, speed = device.ports[number]
    own = f"({device.guid + number:x}) " if device.type != "Switch" else "[ext 3]" * grouped
    to = f"({peer.guid + peer_port:x}) " if peer.type != "Switch" else "[ext 4]" * grouped
    lids = "lid 12 lmc 0 " if device.type != "Switch" else ""
    after = " s=4 w=2 v=4" * full
    return f'[{number}]{own}\t"{peer.name}"[{peer_port}]{to}\t\t# {lids}"{peer.description}" lid 9 {speed}{after}'


@dataclass(frozen=True)
class FatTree:
    """Children and parents of the switches, leaf level first, once per plane; what hangs on it that is no host."""

    down: tuple[int, ...]
    up: tuple[int, ...] = ()
    planes: int = 1
    aggregation: bool = False  # a SHARP aggregation node at every switch
    gateways: int = 0
    managers: int = 0
    routers: int = 0

    @property
    def nodes(self) -> int:
        return math.prod(self.down)

    def uniform(self, cable: float = HDR) -> float:
        """Bytes per second of each node in uniform traffic: the tightest of its ports and all levels of trunks."""
        n, below, columns, rates = self.nodes, 1, 1, [math.inf]
        if n > 1:
            rates.append(cable * self.planes * n / (n - 1))
        for children, parents in zip(self.down, self.up, strict=False):
            below, columns = below * children, columns * parents
            if below < n:
                rates.append(cable * self.planes * columns * n / (below * (n - below)))
        return min(rates)

    def make(self) -> MadeFabric:
        """The fabric: node 1 has the descriptions `node1 HCA-1`, and in the second plane `node1 HCA-2`."""
        made = MadeFabric()
        switches = [switch for plane in range(self.planes) for switch in self._plane(made, plane)]
        for i, switch in enumerate(switches):
            if self.aggregation:
                made.cable(switch, made.add("Ca", "Mellanox Technologies Aggregation Node", size=1))
            for count, kind, words in (
                (self.gateways, "Ca", f"MF0;gw{i}:SX6036G/GW1"),
                (self.managers, "Ca", "UFM appliance HCA-1"),
                (self.routers, "Rt", f"router{i}"),
            ):
                for _ in range(count):
                    made.cable(switch, made.add(kind, words))
        return made

    def _plane(self, made: MadeFabric, plane: int) -> list[Device]:
        below = [[made.add("Ca", f"node{node + 1} HCA-{plane + 1}", size=2)] for node in range(self.nodes)]
        found: list[Device] = []
        for level, children in enumerate(self.down):
            columns = len(below[0]) * (self.up[level - 1] if level else 1)
            above = [
                [made.add("Switch", f"MF0;s{plane}-{level}-{i}-{c}:MQM8700/U1", size=200) for c in range(columns)]
                for i in range(len(below) // children)
            ]
            each = self.up[level - 1] if level else 1
            for i, group in enumerate(below):
                for column, lower in enumerate(group):
                    for parent in range(each):
                        made.cable(lower, above[i // children][column * each + parent])
            found += [switch for group in above for switch in group]
            below = above
        return found


def network_of(dump: str, classes: Sequence[str] = ("4xHDR",), hosts: str = "", more: str = "") -> NetworkFile:
    """The network of a dump; its classes carry 25 GB/s, endpoints are unlimited."""
    links = "".join(f'[links."{name}"]\nbytes_per_s = {HDR!r}\n' for name in classes)
    listed = ", ".join(f'"{name}"' for name in classes)
    text = f"name = 'made'\n[topology]\nkind = 'graph'\nclasses = [{listed}]\n" + f"hosts = '{hosts}'\n" * bool(hosts)
    return parse(
        f"{text}edges = '''\n{dump}'''\n{links}[packet]\npayload_bytes = 4096\n[routing]\nname = 'ecmp'\n{more}",
        "made.toml",
    )
