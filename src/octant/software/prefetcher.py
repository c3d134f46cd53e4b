"""Whether this process may switch the hardware prefetcher, and by what: model-specific registers, or POWER's DSCR."""

import os
from collections.abc import Iterable
from pathlib import Path

_INTEL, _AMD = "GenuineIntel", "AuthenticAMD"
INTEL_REGISTER = 0x1A4
"""MISC_FEATURE_CONTROL: a bit that is set stops one of four prefetchers of a core."""
AMD_REGISTER = 0xC0000108
"""PREFETCH_CONTROL, where the processor announces it: bit 13 of EAX in a leaf of CPUID."""
_INTEL_FAMILY = "6"
_AMD_LEAF, _AMD_ANNOUNCED = 0x80000021, 1 << 13
_LEAVES = 0x80000000
"""Leaf of CPUID whose EAX is the number of the last extended leaf."""


def prefetch_switch(
    architecture: str, vendor: str, family: str, allowed: Iterable[int], root: Path = Path("/")
) -> dict[str, str]:
    """`hwprefetch` with what switches it, else `hwprefetch_why` with what was found; nothing is written.

    Registers are read once on every core that may be used: a hypervisor refuses them one by one.

    Args:
        family: the number by which x86 processors are known; empty elsewhere.
        allowed: hardware threads that this process may use.
    """
    if architecture.startswith("ppc64"):
        path = "sys/devices/system/cpu/dscr_default"
        found = "" if (root / path).exists() else f"/{path} does not exist"
        return {"hwprefetch_why": found} if found else {"hwprefetch": "dscr"}
    cpus = sorted(allowed)
    if vendor == _INTEL and family == _INTEL_FAMILY:
        register, found = INTEL_REGISTER, ""
    elif vendor == _AMD:
        register, found = AMD_REGISTER, _not_announced(root, cpus[0])
    else:
        named = vendor or architecture or "a processor of unknown model"
        register, found = 0, f"the register of the prefetchers is unknown for {named}"
    found = found or next((why for cpu in cpus if (why := _refused(root, cpu, register))), "")
    return {"hwprefetch_why": found} if found else {"hwprefetch": "msr"}


def _not_announced(root: Path, cpu: int) -> str:
    """Return why AMD's register is not available; "" if CPUID reports it."""
    shown = f"/dev/cpu/{cpu}/cpuid"
    try:
        with (root / f"dev/cpu/{cpu}/cpuid").open("rb", buffering=0) as file:
            last, features = (os.pread(file.fileno(), 16, leaf)[:4] for leaf in (_LEAVES, _AMD_LEAF))
    except FileNotFoundError:
        return f"{shown} does not exist (the module cpuid is not loaded)"
    except OSError as error:
        return f"{shown} cannot be read ({error.strerror})"
    announced = int.from_bytes(last, "little") >= _AMD_LEAF and int.from_bytes(features, "little") & _AMD_ANNOUNCED
    return "" if announced else "this processor does not report the register of the prefetchers"


def _refused(root: Path, cpu: int, register: int) -> str:
    """Why the register of a hardware thread cannot be read and written; empty if it can be opened for both."""
    path = root / f"dev/cpu/{cpu}/msr"
    shown = f"/dev/cpu/{cpu}/msr"
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return f"{shown} does not exist (the module msr is not loaded)"
    except OSError as error:
        return f"{shown} cannot be opened for writing ({error.strerror})"
    try:
        held = os.pread(descriptor, 8, register)
    except OSError as error:
        return f"{shown} does not give register {register:#x} ({error.strerror})"
    finally:
        os.close(descriptor)
    return "" if len(held) == 8 else f"{shown} does not give register {register:#x}"
