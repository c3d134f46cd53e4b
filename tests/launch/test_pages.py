"""Page sizes of a process by segment: the system's texts and its pages' flags are read, as files of a made process."""

import ctypes
import json
import mmap
import os
import struct
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from octant.cli import application
from octant.failure import Refusal
from octant.launch.pages import MIDDLE, Range, page_sizes, parse_smaps, segments
from octant.units import bytes_text
from paths import Octant

RUN = CliRunner()
MIB = 2**20


def smaps(*ranges: tuple[str, int, str, str, Mapping[str, int]]) -> str:
    """Ranges of so many KiB (begin, KiB, rights, name, fields), and one field of a kernel to come."""
    lines = []
    for begin, kib, rights, name, fields in ranges:
        inode = 77 if name.startswith("/") else 0
        lines.append(f"{begin}-{int(begin, 16) + kib * 1024:x} {rights} 00000000 fe:00 {inode}      {name}".rstrip())
        lines += [f"{key}:  {held} kB" for key, held in ({"KernelPageSize": 4} | dict(fields)).items()]
        lines += ["THPeligible:    1", "VmFlags: rd wr mr", "Novel: yes"]
    return "\n".join(lines) + "\n"


TEXT = smaps(
    ("400000", 1024, "r-xp", "/bin/prog", {"Rss": 800, "FilePmdMapped": 0}),
    ("500000", 256, "rw-p", "/bin/prog", {"Rss": 200, "Anonymous": 150}),
    ("540000", 512, "rw-p", "", {"Rss": 300, "Anonymous": 300}),  # what the program's data ends with: bss
    ("5c0000", 64, "rw-p", "", {"Rss": 64, "Anonymous": 64}),  # a part of it that asked for other pages
    ("900000", 8192, "rw-p", "[heap]", {"Rss": 5000, "Anonymous": 5000, "AnonHugePages": 4096}),
    ("7f0000000000", 65536, "rw-p", "", {"Rss": 64, "Anonymous": 64}),
    ("7f1000000000", 4096, "rw-p", "/anon_hugepage (deleted)", {"KernelPageSize": 2048, "Private_Hugetlb": 4096}),
    ("7f2000000000", 512, "r-xp", "/lib/libc.so", {"Rss": 400}),
    ("7f2000100000", 512, "r--p", "/lib/libc.so", {"Rss": 100}),
    ("7f3000000000", 1024, "rw-s", "/memfd:shared (deleted)", {"Rss": 1000, "ShmemPmdMapped": 0}),
    ("7ffbffe00000", 2048, "rw-p", "", {"Rss": 2048, "Anonymous": 2048, "AnonHugePages": 2048}),  # split off the stack
    ("7ffc00000000", 132, "rw-p", "[stack]", {"Rss": 40, "Anonymous": 40}),
    ("7ffd00000000", 8, "r-xp", "[vdso]", {"Rss": 8}),
)


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    (tmp_path / "42").mkdir()
    (tmp_path / "42/smaps").write_text(TEXT)
    (tmp_path / "42/exe").symlink_to("/bin/prog")
    return tmp_path


def named(ranges: Iterable[tuple[str, Range]]) -> list[str]:
    return [segment for segment, _ in ranges]


def test_each_range_has_its_segment() -> None:
    found = named(segments(parse_smaps(TEXT), "/bin/prog"))
    assert found == [
        "text",
        "data",
        "data",
        "data",
        "heap",
        "mmap",
        "mmap",
        "text",
        "files",
        "shared",
        "stack",
        "stack",
    ]


def test_sizes_are_those_of_smaps_and_without_flags_the_middle_is_unknown(proc: Path) -> None:
    found = page_sizes(42, proc, proc / "kpageflags")
    kib = {name: {size: held / 1024 for size, held in sizes.items()} for name, sizes in found.by_segment.items()}
    assert kib["text"] == {4096: 1200}
    assert kib["data"] == {4096: 564}
    assert kib["stack"] == {4096: 40, 2 * MIB: 2048}
    assert kib["heap"] == {2 * MIB: 4096, 4096: 904}
    assert kib["mmap"] == {2 * MIB: 4096, 4096: 64}
    assert kib["files"] == {4096: 100}
    assert found.total() == sum(held for sizes in found.by_segment.values() for held in sizes.values())
    assert found.sizes() == [4096, MIDDLE, 2 * MIB, 2**30]
    assert found.unknown.endswith("No such file or directory")


def _flags(proc: Path, numbers: Mapping[int, int]) -> Path:
    """Write flags of physical pages: 1 is the first page of a large one, 2 a further one."""
    path = proc / "kpageflags"
    entries = [{0: 0, 1: 1 << 15, 2: 1 << 16}[numbers.get(number, 0)] for number in range(128)]
    path.write_bytes(struct.pack("=128Q", *entries))
    return path


def test_pages_of_64_kib_are_recognised_by_their_flags(tmp_path: Path) -> None:
    """Three blocks of sixteen pages: one that is a page of 64 KiB, one of single pages, and half of one of 128 KiB."""
    text = smaps(("10000", 256, "rw-p", "[heap]", {"Rss": 256, "Anonymous": 256}))
    (tmp_path / "42").mkdir()
    (tmp_path / "42/smaps").write_text(text)
    (tmp_path / "42/exe").symlink_to("/bin/prog")
    present = 1 << 63
    numbers = [*range(16, 32), *range(48, 64), *range(64, 80), *[0] * 16]
    entries = [present | number if number else 0 for number in numbers]
    (tmp_path / "42/pagemap").write_bytes(bytes(8 * 16) + struct.pack("=64Q", *entries))
    whole = {16: 1, **dict.fromkeys(range(17, 32), 2)}
    twice = {64: 1, **dict.fromkeys(range(65, 96), 2)}
    found = page_sizes(42, tmp_path, _flags(tmp_path, whole | twice))
    assert not found.unknown
    assert found.by_segment == {"heap": {MIDDLE: MIDDLE, 4096: 256 * 1024 - MIDDLE}}


def test_who_sees_zeros_instead_of_pages_does_not_know(proc: Path) -> None:
    (proc / "42/pagemap").write_bytes(b"")
    with (proc / "42/pagemap").open("r+b") as file:
        file.seek(8 * 0x540000 // 4096)
        file.write(struct.pack("=Q", 1 << 63) * 8)
    found = page_sizes(42, proc, _flags(proc, {}))
    assert found.unknown == "root (CAP_SYS_ADMIN) is required to read the flags of pages"


def test_a_process_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match=r"cannot observe process 42 \(it does not exist") as refused:
        page_sizes(42, tmp_path)
    assert refused.value.code == 2


def test_our_own_large_pages_are_seen_as_the_system_has_them(tmp_path: Path) -> None:
    """Of a mapping of ours that asked for large pages, which are in memory what smaps says of it."""
    with mmap.mmap(-1, 8 * MIB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as held:
        held.madvise(mmap.MADV_HUGEPAGE)
        held[:: mmap.PAGESIZE] = b"x" * (len(held) // mmap.PAGESIZE)
        address = ctypes.addressof(ctypes.c_char.from_buffer(held))
        mine = next(one for one in parse_smaps(Path("/proc/self/smaps").read_text()) if one.begin <= address < one.end)
        kib = (mine.end - mine.begin) // 1024
        (tmp_path / "42").mkdir()
        (tmp_path / "42/smaps").write_text(smaps((f"{mine.begin:x}", kib, mine.rights, "", mine.kib)))
        (tmp_path / "42/exe").symlink_to("/bin/prog")
        (tmp_path / "42/pagemap").symlink_to("/proc/self/pagemap")
        found = page_sizes(42, tmp_path)
        assert list(found.by_segment) == ["mmap"]
        assert found.total(2 * MIB) == 1024 * mine.kib["AnonHugePages"]
        assert found.total() == 1024 * mine.kib["Rss"] >= 8 * MIB


def test_the_command_looks_at_a_process_by_its_number() -> None:
    shown = RUN.invoke(application(), ["where", "--pages", str(os.getpid())])
    assert shown.exit_code == 0
    assert "MiB on pages of" in shown.stdout
    for segment in ("text", "mmap", "all"):
        assert any(line.startswith(segment) for line in shown.stdout.splitlines())
    data = json.loads(RUN.invoke(application(), ["where", "--pages", "--json", str(os.getpid())]).stdout)
    (process,) = data["processes"]
    assert process["pid"] == os.getpid()
    text = process["pages"]["segments"]["text"]
    assert (text.pop(str(MIDDLE), 0) is None) == (process["pages"]["unknown"] is not None)
    assert sum(text.values()) > MIB
    refused = RUN.invoke(application(), ["where", "--watch", "ls"])
    assert "--watch takes the PID of a running process" in str(refused.exception)


def test_the_command_says_that_pages_of_64_kib_need_root(octant: Octant, ordinary: Sequence[str]) -> None:
    with subprocess.Popen([*ordinary, "sleep", "60"]) as own:
        try:
            shown = octant("where", "--pages", str(own.pid), within=ordinary)
            data = octant("where", "--pages", "--json", str(own.pid), within=ordinary)
        finally:
            own.kill()
    assert shown.returncode == data.returncode == 0, shown.stderr + data.stderr
    why = "root (CAP_SYS_ADMIN) is required to read the flags of pages"
    assert f"The column {bytes_text(mmap.PAGESIZE)} includes pages of 64 KiB: {why}." in shown.stdout
    (process,) = json.loads(data.stdout)["processes"]
    assert process["pages"]["unknown"] == why
    assert process["pages"]["segments"]["stack"][str(MIDDLE)] is None
    assert process["pages"]["segments"]["stack"][str(mmap.PAGESIZE)] > 0


def test_the_command_says_that_a_process_of_another_user_needs_root(octant: Octant, ordinary: Sequence[str]) -> None:
    if Path("/proc/1").stat().st_uid == os.geteuid() and os.geteuid() != 0:
        pytest.skip("process 1 is ours")
    done = octant("where", "--pages", "--json", "1", within=ordinary)
    assert (done.returncode, done.stdout) == (1, "")
    assert "only its owner and root may read its memory map); run as its owner, or as root" in done.stderr
