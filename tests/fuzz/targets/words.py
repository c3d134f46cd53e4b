"""Words of options: sizes, times, lists, hosts, facts of the machine. The first line says which."""

from collections.abc import Callable

from fake_run import machine
from octant import facts
from octant.machine.cpusets import cpus_text, parse_cpus
from octant.network.inputs import read_seconds, read_sizes
from octant.runs.command_line import host_names
from octant.units import parse_bytes, parse_seconds

FORMAT = "text"
REFUSES = (ValueError,)
SEEDS = [
    b"bytes\n64KiB",
    b"bytes\n1.5 GB",
    b"seconds\n20ms",
    b"seconds\n1e-3 us",
    b"network-seconds\n5us",
    b"sizes\n1,2,24,1:64,1:64:8",
    b"cpus\n0-3,8,10-14:2",
    b"kernel-cpus\n0-3,8",
    b"hosts\na,b-1.x,user@c",
    b"value\n2*cached/cores at least 16MiB at most 128MiB",
    b"values\nscalar, 8KiB to 4*cached by 2, 12KiB to 24KiB by 3",
    b"count\n2*cores/smt",
]
_HERE = machine(packages=2, cores=4)
_KNOWN = {**facts.numbers(_HERE), "ranks": 2, "threads": 4}
_READERS: dict[bytes, Callable[[str], object]] = {
    b"bytes": parse_bytes,
    b"seconds": parse_seconds,
    b"network-seconds": read_seconds,
    b"sizes": read_sizes,
    b"cpus": parse_cpus,
    b"kernel-cpus": lambda text: cpus_text(parse_cpus(text, or_none=True)),
    b"hosts": host_names,
    b"value": lambda text: facts.value(text, _KNOWN),
    b"values": lambda text: facts.values(text, _KNOWN),
    b"count": lambda text: facts.count(text, _KNOWN),
}


def read(data: bytes) -> None:
    """What the words mean."""
    kind, _, text = data.partition(b"\n")
    if kind in _READERS:
        _READERS[kind](text.decode("utf-8", "surrogateescape"))
