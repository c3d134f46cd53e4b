"""What switches the hardware prefetcher: registers in recorded files, and why there is nothing."""

from pathlib import Path

import pytest

from octant.software.prefetcher import AMD_REGISTER, INTEL_REGISTER
from octant.software.prefetcher import prefetch_switch as switch


def _of(vendor: str, architecture: str = "x86_64", family: str = "6") -> tuple[str, str, str]:
    return architecture, vendor, family


def prefetch_switch(processor: tuple[str, str, str], root: Path) -> dict[str, str]:
    return switch(*processor, {0, 1}, root)


def _registers(root: Path, register: int, cpus: int = 2) -> None:
    for cpu in range(cpus):
        folder = root / f"dev/cpu/{cpu}"
        folder.mkdir(parents=True)
        with (folder / "msr").open("wb") as file:  # a file with a hole serves as the device
            file.seek(register)
            file.write(bytes(8))


def _announced(root: Path, features: int) -> None:
    folder = root / "dev/cpu/0"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "cpuid").open("wb") as file:
        for leaf, word in ((0x80000000, 0x80000028), (0x80000021, features)):
            file.seek(leaf)
            file.write(word.to_bytes(4, "little") + bytes(12))


@pytest.mark.parametrize(
    ("vendor", "family", "register"), [("GenuineIntel", "6", INTEL_REGISTER), ("AuthenticAMD", "26", AMD_REGISTER)]
)
def test_registers_that_can_be_opened_switch_it(tmp_path: Path, vendor: str, family: str, register: int) -> None:
    _registers(tmp_path, register)
    _announced(tmp_path, 1 << 13)
    assert prefetch_switch(_of(vendor, family=family), tmp_path) == {"hwprefetch": "msr"}


def test_every_core_that_may_be_used_is_asked(tmp_path: Path) -> None:
    _registers(tmp_path, INTEL_REGISTER, cpus=1)
    why = "/dev/cpu/1/msr does not exist (the module msr is not loaded)"
    assert prefetch_switch(_of("GenuineIntel"), tmp_path) == {"hwprefetch_why": why}


def test_a_register_that_the_processor_does_not_give_is_no_switch(tmp_path: Path) -> None:
    _registers(tmp_path, INTEL_REGISTER - 8)
    why = "/dev/cpu/0/msr does not give register 0x1a4"
    assert prefetch_switch(_of("GenuineIntel"), tmp_path) == {"hwprefetch_why": why}


def test_a_register_that_cannot_be_opened_is_no_switch(tmp_path: Path) -> None:
    (tmp_path / "dev/cpu/0/msr").mkdir(parents=True)
    why = "/dev/cpu/0/msr cannot be opened for writing (Is a directory)"
    assert prefetch_switch(_of("GenuineIntel"), tmp_path) == {"hwprefetch_why": why}


def test_processors_without_a_known_register(tmp_path: Path) -> None:
    assert prefetch_switch(_of("GenuineIntel", family="15"), tmp_path) == {
        "hwprefetch_why": "the register of the prefetchers is unknown for GenuineIntel"
    }
    assert "hwprefetch_why" in prefetch_switch(_of("", "aarch64"), tmp_path)


def test_amd_announces_its_register_to_who_asks(tmp_path: Path) -> None:
    _registers(tmp_path, AMD_REGISTER)
    why = "/dev/cpu/0/cpuid does not exist (the module cpuid is not loaded)"
    assert prefetch_switch(_of("AuthenticAMD", family="25"), tmp_path) == {"hwprefetch_why": why}
    _announced(tmp_path, ~(1 << 13) & 0xFFFFFFFF)
    why = "this processor does not report the register of the prefetchers"
    assert prefetch_switch(_of("AuthenticAMD", family="25"), tmp_path) == {"hwprefetch_why": why}


def test_power_has_a_register_of_its_own(tmp_path: Path) -> None:
    power = _of("", "ppc64le")
    assert prefetch_switch(power, tmp_path) == {"hwprefetch_why": "/sys/devices/system/cpu/dscr_default does not exist"}
    (tmp_path / "sys/devices/system/cpu").mkdir(parents=True)
    (tmp_path / "sys/devices/system/cpu/dscr_default").write_text("0\n")
    assert prefetch_switch(power, tmp_path) == {"hwprefetch": "dscr"}
