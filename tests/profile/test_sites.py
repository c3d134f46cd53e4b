"""Call sites: functions, files and lines of addresses in a program that is compiled here."""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile

from octant.launch.symbols import SourcePlace, build_id_of, look_up, parse_places
from octant.profile.job import JobProfile, Region, Site
from octant.profile.sites import SymbolSource, python_name, resolve_sites

SOURCE = """#include <stdio.h>
static inline __attribute__((always_inline)) int inner(int x) {
    return puts("called") + x;
}
int outer(int x) {
    return inner(x) * 2;
}
int main(void) { return outer(1) < 0; }
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not shutil.which("gcc") or not shutil.which("addr2line"):
        pytest.skip("no gcc, or no addr2line")
    folder = tmp_path_factory.mktemp("sites")
    (folder / "app.c").write_text(SOURCE, encoding="utf-8")
    command = ["gcc", "-g", "-O1", "-Wl,--build-id", str(folder / "app.c"), "-o", str(folder / "app")]
    subprocess.run(command, check=True)
    return folder / "app"


def return_address(program: Path) -> int:
    """Return the address after the call of puts, which is in `outer`."""
    with program.open("rb") as file:
        table: Any = ELFFile(file).get_section_by_name(".symtab")
        (symbol,) = table.get_symbol_by_name("outer")
        begin, size = int(symbol["st_value"]), int(symbol["st_size"])
    listing = subprocess.run(
        ["objdump", "-d", f"--start-address={begin}", f"--stop-address={begin + size}", str(program)],
        check=True, capture_output=True, text=True,
    ).stdout.splitlines()  # fmt: skip
    lines = [line for line in listing if line.startswith(" ")]
    (call,) = [number for number, line in enumerate(lines) if "call" in line or "\tbl" in line]
    return int(lines[call + 1].split(":")[0], 16)


def job_of(*sites: Site) -> JobProfile:
    return JobProfile(1, (), (), sites, (), (Region(""),))


def test_a_call_site_is_the_innermost_function_and_line(program: Path) -> None:
    site = Site(str(program), return_address(program), build_id=build_id_of(str(program)) or "")
    assert site.build_id
    job = resolve_sites(job_of(site, Site("", 0), Site("/does/not/exist", 77)))
    assert job.sites[0].text == "inner app.c:3"
    assert job.sites[0].file == str(program.with_name("app.c"))
    assert [one.text for one in job.sites[1:]] == ["unknown module+0x0", "exist+0x4d"]
    assert job.problems == ()


def test_a_file_that_has_changed_is_not_used(program: Path) -> None:
    site = Site(str(program), return_address(program), build_id="00" * 20)
    job = resolve_sites(job_of(site))
    assert job.sites == (site,)
    reason = "because the file has changed since the launch"
    assert job.problems == (f"The call sites in {program} are not resolved, {reason}.",)


def test_each_module_is_looked_up_once_and_before_the_return_address() -> None:
    asked: list[tuple[str, list[int]]] = []

    def look(module: str, addresses: Sequence[int], _timeout_s: float) -> Mapping[int, SourcePlace]:
        asked.append((module, list(addresses)))
        return {address: SourcePlace(f"f{address}") for address in addresses}

    sites = [Site(module, offset) for module in ("/a", "/b") for offset in (10, 20, 0)]
    job = resolve_sites(job_of(*sites, Site("relative", 5)), SymbolSource(lambda _: "", look))
    assert asked == [("/a", [0, 9, 19]), ("/b", [0, 9, 19])]
    assert [one.function for one in job.sites] == ["f9", "f19", "f0"] * 2 + [""]
    again: list[str] = []
    late = SymbolSource(lambda _: "", lambda module, *_: again.append(module) or {})  # type: ignore[func-returns-value]
    assert resolve_sites(job, late).sites == job.sites, "what is resolved is kept"
    assert again == []
    assert resolve_sites(job_of(*sites), SymbolSource(lambda _: "", look), timeout_s=0).sites == tuple(sites)


def test_outputs_of_addr2line_are_read() -> None:
    text = (
        "0x000000000000113d\ninner\n/src/t.c:2\nouter\n/src/t.c:3\n0x0000000000099999\n??\n??:0\n"
        "0x0000000000000010\nnew_\n??:?\n0x0000000000000020\nf(int)\n/a:b.cpp:7 (discriminator 3)\n0x30\nmain"
    )
    assert parse_places(text) == {
        0x113D: SourcePlace("inner", "/src/t.c", 2),
        0x10: SourcePlace("new_"),
        0x20: SourcePlace("f(int)", "/a:b.cpp", 7),
    }
    assert parse_places("") == parse_places("rubbish\n" * 5) == {}
    assert parse_places("0x1\n" + "f" * 9999 + "\n/a:" + "9" * 5000 + "\n")[1].line == 999_999_999


def test_files_that_are_no_programs_are_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "text").write_text("text", encoding="utf-8")
    (tmp_path / "torn").write_bytes(Path("/bin/sh").read_bytes()[:100])
    for name in ("pipe", "text", "torn", "none", "."):
        assert build_id_of(str(tmp_path / name)) is None
    assert build_id_of("bin/sh") is None
    assert look_up(str(tmp_path / "text"), [1, 2], 10.0) == {}


def test_the_environment_of_addr2line_has_no_servers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = tmp_path / "addr2line"
    script.write_text('#!/bin/sh\ntest -z "$DEBUGINFOD_URLS" && printf "0x1\\nf\\n/a.c:1\\n"\n', encoding="utf-8")
    script.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("DEBUGINFOD_URLS", "http://localhost:1")
    assert look_up("/x", [1], 10.0) == {1: SourcePlace("f", "/a.c", 1)}
    script.write_text("#!/bin/sh\nexec sleep 20\n", encoding="utf-8")
    assert look_up("/x", [1], 0.2) == {}
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert look_up("/x", [1], 10.0) == {}, "symbolic cannot read it, or is not installed"


@pytest.mark.parametrize(
    ("function", "name"),
    [
        ("__pyx_pw_6mpi4py_3MPI_4Comm_143Allreduce", "mpi4py.MPI.Comm.Allreduce"),
        ("__pyx_pw_6mpi4py_3MPI_4Comm_255Allreduce_init", "mpi4py.MPI.Comm.Allreduce_init"),
        ("__pyx_f_6mpi4py_3MPI_PyMPI_allreduce", "mpi4py.MPI.PyMPI_allreduce"),
        ("__pyx_pw_", "__pyx_pw_"),
        ("__pyx_pw_9999x_1", "__pyx_pw_9999x_1"),
        ("main", "main"),
        ("", ""),
    ],
)
def test_functions_that_cython_compiled_have_their_python_name(function: str, name: str) -> None:
    assert python_name(function) == name
