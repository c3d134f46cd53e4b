"""Helper process: libhwloc loads one topology and writes it to stdout as XML of version 2.

`python -I -S _helper.py KIND WHEEL` does not import Octant. KIND is `system` (this machine or, with `HWLOC_FSROOT`, a
recorded tree), `xml` or `synthetic`; the text of the latter two is read from stdin. WHEEL is the library of the wheel,
or empty. The exit status is 0, `NO_LIBRARY` or `REFUSED`, with the reason on stderr.
"""

import ctypes
import os
import resource
import signal
import struct
import sys
from typing import NoReturn

NO_LIBRARY, REFUSED = 3, 4
MEMORY_BYTES, CPU_S, WALL_S, OUTPUT_BYTES = 1 << 30, 10, 20, 64 << 20
SYSTEM_LIBRARY = "libhwloc.so.15"
_PCI = "libpciaccess.so.0"
_PCI_FUNCTIONS = (
    "pci_system_init", "pci_system_cleanup", "pci_device_probe", "pci_device_next", "pci_device_cfg_read",
    "pci_slot_match_iterator_create", "pci_iterator_destroy", "pci_get_strings",
)  # fmt: skip
_KEEP_ALL, _KEEP_NONE = 0, 1  # enum hwloc_type_filter_e
_INCLUDE_DISALLOWED = 1  # enum hwloc_topology_flags_e


def _end(status: int, reason: str) -> NoReturn:
    sys.stderr.write(f"{reason}\n")
    sys.stderr.flush()
    os._exit(status)


def _limit() -> None:
    """Limit the resources that a damaged or malicious source can use."""
    for kind, most in (
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_CPU, CPU_S),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NPROC, 0),
    ):
        hard = resource.getrlimit(kind)[1]
        soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
        later = 2 if kind == resource.RLIMIT_CPU else 0  # the soft limit sends SIGXCPU, which identifies the reason
        resource.setrlimit(kind, (soft, soft + later if hard == resource.RLIM_INFINITY else min(soft + later, hard)))
    signal.alarm(WALL_S + 5)  # ends a helper whose parent was killed


def _library(wheel: str) -> ctypes.CDLL:
    """Return the newest hwloc 2 of wheel and system; the library of the wheel if the versions are equal."""
    best, version, reasons = None, 0, []
    for path in (SYSTEM_LIBRARY, wheel):  # in reverse order, the dynamic linker returns the wheel's library for both
        try:
            library = _loaded(path) if path else None
        except OSError as error:
            reasons.append(str(error))
            continue
        found = library.hwloc_get_api_version() if library else 0
        if found >= version and found >> 16 == 2:
            best, version = library, found
    if best is None:
        _end(NO_LIBRARY, "; ".join(reasons))
    return best


def _loaded(path: str) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        if _PCI not in str(error):
            raise
    with open(path, "rb") as file:  # noqa: PTH123 - pathlib takes as long as all the rest
        machine = file.read(20)[18:]
    descriptor = os.memfd_create(_PCI)
    os.write(descriptor, pci_stub(machine))
    ctypes.CDLL(f"/proc/self/fd/{descriptor}", mode=ctypes.RTLD_GLOBAL)
    return ctypes.CDLL(path)


def pci_stub(machine: bytes) -> bytes:
    """Return a shared library that defines the functions of libpciaccess that the wheel's libhwloc imports.

    The dynamic linker requires a library of that name to load libhwloc. The functions are never called, since no I/O
    devices are discovered. Therefore they have no code, and the file can be written without a compiler.

    Args:
        machine: `e_machine` of its ELF header, two bytes.
    """
    names = [_PCI, *_PCI_FUNCTIONS]
    strings = b"\0" + b"".join(name.encode() + b"\0" for name in names)
    starts = [strings.index(name.encode() + b"\0") for name in names]
    count = len(names)  # symbols: an empty one, and the functions
    symbols_at = 64 + 3 * 56
    hash_at = symbols_at + 24 * count
    strings_at = hash_at + 4 * (3 + count)
    dynamic_at = strings_at + -(-len(strings) // 8) * 8
    end = dynamic_at + 7 * 16
    symbols = bytes(24) + b"".join(struct.pack("<IBBHQQ", at, 0x12, 0, 1, symbols_at, 8) for at in starts[1:])
    hashes = struct.pack(f"<{3 + count}I", 1, count, 1, 0, *range(2, count), 0)  # one bucket with all symbols
    entries = ((14, starts[0]), (4, hash_at), (5, strings_at), (6, symbols_at), (10, len(strings)), (11, 24), (0, 0))
    header = b"\x7fELF\2\1\1".ljust(16, b"\0") + struct.pack("<H", 3) + machine
    header += struct.pack("<IQQQIHHHHHH", 1, 0, 64, 0, 0, 64, 56, 3, 64, 0, 0)
    segments = struct.pack("<IIQQQQQQ", 1, 6, 0, 0, 0, end, end, 0x10000)
    segments += struct.pack("<IIQQQQQQ", 2, 6, dynamic_at, dynamic_at, dynamic_at, 7 * 16, 7 * 16, 8)
    segments += struct.pack("<IIQQQQQQ", 0x6474E551, 6, 0, 0, 0, 0, 0, 16)  # no executable stack
    dynamic = b"".join(struct.pack("<QQ", *entry) for entry in entries)
    return header + segments + symbols + hashes + strings.ljust(dynamic_at - strings_at, b"\0") + dynamic


def _export(library: ctypes.CDLL, kind: str, text: bytes) -> bytes:
    """Return the topology as XML with all objects except I/O devices, also those that are not allowed."""
    topology = ctypes.c_void_p()
    if library.hwloc_topology_init(ctypes.byref(topology)) != 0:
        _end(REFUSED, "cannot create a topology")
    library.hwloc_topology_set_flags(topology, ctypes.c_ulong(_INCLUDE_DISALLOWED))
    library.hwloc_topology_set_all_types_filter(topology, _KEEP_ALL)
    library.hwloc_topology_set_io_types_filter(topology, _KEEP_NONE)
    if kind == "xml" and library.hwloc_topology_set_xmlbuffer(topology, text, len(text) + 1) != 0:
        _end(REFUSED, "the text is not XML of a topology that this version of hwloc supports")
    if kind == "synthetic" and library.hwloc_topology_set_synthetic(topology, text) != 0:
        _end(REFUSED, "the text is not a synthetic description that this version of hwloc supports")
    if library.hwloc_topology_load(topology) != 0:  # after a failure above, this would load the local machine
        _end(REFUSED, "cannot load the topology")
    buffer, length = ctypes.c_void_p(), ctypes.c_int()
    arguments = topology, ctypes.byref(buffer), ctypes.byref(length), ctypes.c_ulong(0)
    if library.hwloc_topology_export_xmlbuffer(*arguments) != 0 or not buffer.value:
        _end(REFUSED, "cannot write the topology as XML")
    if length.value > OUTPUT_BYTES:
        _end(REFUSED, f"the XML has {length.value} bytes; at most {OUTPUT_BYTES} are supported")
    return ctypes.string_at(buffer.value, length.value).rstrip(b"\0")


def main() -> None:
    """Serve the request in the arguments."""
    kind, wheel = sys.argv[1:3]
    library = _library(wheel)
    text = sys.stdin.buffer.read() if kind in ("xml", "synthetic") else b""
    _limit()
    try:
        xml = _export(library, kind, text)
        sys.stdout.buffer.write(xml)
        sys.stdout.buffer.flush()
    except MemoryError:
        _end(REFUSED, f"out of memory: more than {MEMORY_BYTES >> 20} MiB required")
    os._exit(0)


if __name__ == "__main__":
    main()
