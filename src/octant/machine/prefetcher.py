"""Whether this process may switch the hardware prefetcher, and by what: model-specific registers, or POWER's DSCR."""

import os
from pathlib import Path

from octant.machine import Machine

_INTEL, _AMD = "GenuineIntel", "AuthenticAMD"
INTEL_REGISTER = 0x1A4
"""MISC_FEATURE_CONTROL: a bit that is set stops one of four prefetchers of a core."""
AMD_REGISTER = 0xC0000108
"""PREFETCH_CONTROL, from family 25 on where the processor announces it."""
_FIRST_AMD_FAMILY = 25


def prefetch_switch(machine: Machine, root: Path = Path("/")) -> dict[str, str]:
    """`hwprefetch` with what switches it, else `hwprefetch_why` with what was found; nothing is written.

    Registers are read once on every core that may be used: a hypervisor refuses them one by one.
    """
    if machine.processor.architecture.startswith("ppc64"):
        path = "sys/devices/system/cpu/dscr_default"
        found = "" if (root / path).exists() else f"there is no /{path}"
        return {"hwprefetch_why": found} if found else {"hwprefetch": "dscr"}
    register = _register(machine)
    if register is None:
        named = machine.processor.vendor or machine.processor.architecture or "a processor without a name"
        return {"hwprefetch_why": f"no register for it is known on {named}"}
    found = next((why for cpu in sorted(machine.topology.allowed) if (why := _refused(root, cpu, register))), "")
    return {"hwprefetch_why": found} if found else {"hwprefetch": "msr"}


def _register(machine: Machine) -> int | None:
    vendor, family = machine.processor.vendor, machine.system.get("family", "")
    if vendor == _INTEL:
        return INTEL_REGISTER
    new = family.isdigit() and int(family) >= _FIRST_AMD_FAMILY
    return AMD_REGISTER if vendor == _AMD and new else None


def _refused(root: Path, cpu: int, register: int) -> str:
    """Why the register of a hardware thread cannot be read and written; empty if it can be opened for both."""
    path = root / f"dev/cpu/{cpu}/msr"
    shown = f"/dev/cpu/{cpu}/msr"
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return f"there is no {shown} (the msr module is not loaded)"
    except OSError as error:
        return f"{shown} cannot be opened for writing ({error.strerror})"
    try:
        held = os.pread(descriptor, 8, register)
    except OSError as error:
        return f"{shown} does not give register {register:#x} ({error.strerror})"
    finally:
        os.close(descriptor)
    return "" if len(held) == 8 else f"{shown} does not give register {register:#x}"
