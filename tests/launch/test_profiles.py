"""Profiles of launches on their way: words of octant-bind, files of nodes, and what killed launches leave behind."""

import fcntl
import os
import struct
from pathlib import Path

import pytest

from octant import build
from octant.launch import profiles
from octant.program import ProgramProfile

NAME = "0123456789abcdef"


@pytest.fixture(autouse=True)
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs that need not exist, and a node-local file system of this test."""
    monkeypatch.setattr(build, "find", lambda name: Path(f"/opt/octant-{name}"))
    monkeypatch.setenv(profiles.LOCAL, str(tmp_path))


def line(profile: ProgramProfile) -> list[str]:
    options = ["--refusal", "/run/refusal", *profiles.words(profile), "--rank", "0", "cpus=0"]
    return ["mpiexec", "-n", "2", "/opt/octant-bind", *options, "--", "./app", "--to", "x", "--profile"]


def folder(tmp_path: Path, name: str = NAME) -> Path:
    made = tmp_path / f"{profiles.PREFIX}{os.geteuid()}-{name}"
    made.mkdir(0o700)
    (made / "host.1.0").write_bytes(b"x")
    return made


def test_words_of_each_mode() -> None:
    full, counts = profiles.words(ProgramProfile()), profiles.words(ProgramProfile("counts", sites=False))
    assert full == ["--profile", "launch", "--profiler", "/opt/octant-profiler", "--to", "/launch"]
    assert counts == [*full, "--profile-mode", "counts", "--no-sites"]


def test_a_launch_completes_the_options_of_octant_bind_alone() -> None:
    named = profiles.named(line(ProgramProfile()), NAME, Path("/store/launch"))
    end = named.index("--")
    assert named[end:] == ("--", "./app", "--to", "x", "--profile"), "arguments of the program"
    assert named[named.index("--profile") + 1] == NAME
    assert named[named.index("--to") + 1] == "/store/launch"


def test_the_launcher_of_the_program_starts_the_collection() -> None:
    words = profiles.collect_words(line(ProgramProfile()), NAME, Path("/store/launch"))
    assert words == ("mpiexec", "-n", "2", "/opt/octant-bind", "--collect", NAME, "--to", "/store/launch")


def test_folders_of_a_launch_on_this_node(tmp_path: Path) -> None:
    made = folder(tmp_path)
    folder(tmp_path, "fedcba9876543210")
    assert profiles.local_folders(NAME) == [made]
    assert profiles.local_folders(NAME, {profiles.LOCAL: "/nowhere"}) == []
    made.rename(tmp_path / "elsewhere")
    made.symlink_to(tmp_path / "elsewhere")
    assert profiles.local_folders(NAME) == [], "links are not followed"


def test_only_folders_that_no_guard_uses_are_leftovers(tmp_path: Path) -> None:
    unused, used = folder(tmp_path), folder(tmp_path, "fedcba9876543210")
    other, link = tmp_path / "octant-profile-x", tmp_path / f"{profiles.PREFIX}{os.geteuid()}-link"
    other.mkdir()
    link.symlink_to(other)
    with (used / profiles.LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        removed = [path for path in profiles.remove_leftovers() if path.parent == tmp_path]
    assert removed == [unused]
    assert not unused.exists()
    assert (used / "host.1.0").exists()
    assert link.is_symlink()
    assert other.is_dir()


def test_profiles_and_problems_of_the_nodes(tmp_path: Path) -> None:
    def packed(length: int) -> bytes:
        return struct.pack("<8sQ", b"OCTPACK1", length).ljust(length, b"\0")

    (tmp_path / "a.1.packed").write_bytes(packed(20) + packed(40))
    (tmp_path / "b.1.packed").write_bytes(packed(16) + packed(8) + packed(16))
    (tmp_path / "c.1.packed.part").write_bytes(packed(16))
    (tmp_path / "b.1.problem").write_bytes(b"b: no\nroom \x1b[31m\xff")
    (tmp_path / "a.1.problem").write_bytes(b"y" * 5000)
    found = profiles.load(tmp_path)
    assert [path.name for path in found.paths] == ["a.1.packed", "b.1.packed"]
    assert profiles.count_profiles(tmp_path) == 3, "up to the first damaged one"
    assert found.problems == ("y" * profiles.MAX_PROBLEM_BYTES, "b: no room ?[31m\N{REPLACEMENT CHARACTER}")
    assert profiles.load(tmp_path / "missing").paths == []
