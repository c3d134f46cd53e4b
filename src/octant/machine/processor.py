"""Processor description from `/proc/cpuinfo` on x86, Arm, POWER and RISC-V."""

import re

from octant.machine import Processor
from octant.machine.tree import FileTree

_MHZ = r"\d{1,9}(?:\.\d{1,9})?"
_ARM_VENDORS = {  # the "implementer" byte of MIDR_EL1, Arm Architecture Reference Manual
    "0x41": "Arm", "0x42": "Broadcom", "0x43": "Cavium", "0x46": "Fujitsu", "0x48": "HiSilicon",
    "0x4e": "NVIDIA", "0x51": "Qualcomm", "0x61": "Apple", "0xc0": "Ampere",
}  # fmt: skip
_ARM_PARTS = {  # the "part number" field of MIDR_EL1, as the Linux kernel's cputype.h lists it
    ("0x41", "0xd08"): "Cortex-A72", ("0x41", "0xd0b"): "Cortex-A76", ("0x41", "0xd0c"): "Neoverse N1",
    ("0x41", "0xd40"): "Neoverse V1", ("0x41", "0xd49"): "Neoverse N2", ("0x41", "0xd4f"): "Neoverse V2",
    ("0x43", "0x0af"): "ThunderX2", ("0x46", "0x001"): "A64FX", ("0x48", "0xd01"): "Kunpeng 920",
    ("0xc0", "0xac3"): "AmpereOne",
}  # fmt: skip


def processor(tree: FileTree) -> Processor:
    """Return the first processor that `/proc/cpuinfo` describes; unknown fields are empty."""
    info = tree.table("proc/cpuinfo")
    arm = (info.get("CPU implementer", ""), info.get("CPU part", ""))
    names = (info.get("model name", ""), _ARM_PARTS.get(arm, ""), info.get("cpu", ""), info.get("uarch", ""))
    flags = info.get("flags") or info.get("Features") or info.get("isa", "").replace("_", " ")
    return Processor(
        architecture=architecture(tree),
        vendor=info.get("vendor_id") or _ARM_VENDORS.get(arm[0]) or ("IBM" if "POWER" in info.get("cpu", "") else ""),
        model=next(filter(None, names), "unknown").removesuffix(", altivec supported"),
        flags=frozenset(flags.split()) | _power_flags(info.get("cpu", "")),
        nominal_hz=_nominal_hz(tree, info),
    )


def architecture(tree: FileTree) -> str | None:
    """Return the architecture: as the kernel states it, else derived from `/proc/cpuinfo`, else `None`."""
    stated = tree.text("proc/sys/kernel/arch") or tree.table("proc/hwloc-nofile-info").get("Architecture")
    info = tree.table("proc/cpuinfo")
    flags, features = info.get("flags", "").split(), info.get("Features", "").split()
    signs = (
        ("x86_64", "lm" in flags),
        ("aarch64", "asimd" in features and "thumb" not in features),
        ("riscv64", info.get("isa", "").startswith("rv64")),
        ("ppc64", "POWER" in info.get("cpu", "")),  # its byte order is not shown
        ("s390x", info.get("vendor_id") == "IBM/S390"),
    )
    return stated or next((name for name, seen in signs if seen), None)


def _power_flags(cpu: str) -> frozenset[str]:
    """Return flags of POWER, which lists only VMX: VSX since POWER7 (Power ISA 2.06), MMA since POWER10 (3.1)."""
    generation = re.match(r"POWER([0-9]{1,3})", cpu)
    number = int(generation[1]) if generation else 0
    units = (("altivec", "altivec" in cpu), ("vsx", number >= 7), ("mma", number >= 10))
    return frozenset(name for name, present in units if present)


def model_numbers(tree: FileTree) -> dict[str, str]:
    """Return `family`, `model` and `stepping` of x86 processors; empty for other architectures."""
    info = tree.table("proc/cpuinfo")
    keys = {"family": "cpu family", "model": "model", "stepping": "stepping"}
    if "cpu family" not in info:
        return {}
    return {name: info[key] for name, key in keys.items() if re.fullmatch("[0-9]{1,9}", info.get(key, ""))}


def _nominal_hz(tree: FileTree, info: dict[str, str]) -> float | None:
    """Return the nominal clock: base frequency of the driver, else of the model name, else a stated constant clock."""
    folder = "sys/devices/system/cpu/cpu0"
    khz = tree.amount(f"{folder}/cpufreq/base_frequency")
    if khz:
        return khz * 1e3
    named = re.search(r"@ *(\d{1,6}(?:\.\d{1,9})?) *GHz", info.get("model name", ""))
    if named:
        return float(named[1]) * 1e9
    stated = re.match(_MHZ, info.get("clock", ""))  # POWER: "3800.000000MHz"
    mhz = float(stated[0]) if stated else tree.amount(f"{folder}/acpi_cppc/nominal_freq")
    if mhz:
        return mhz * 1e6
    steps = re.findall("[0-9]{1,15}", tree.text(f"{folder}/cpufreq/scaling_available_frequencies") or "")
    if steps:
        return max(map(int, steps)) * 1e3
    limit_khz = tree.amount(f"{folder}/cpufreq/cpuinfo_max_freq")
    if "cpu MHz" not in info:  # on x86 the limit is the turbo frequency, on Arm the nominal clock
        return limit_khz * 1e3 if limit_khz else None
    stated = re.match(_MHZ, info["cpu MHz"])  # with a frequency driver this is the current frequency
    return float(stated[0]) * 1e6 if stated and not limit_khz else None
