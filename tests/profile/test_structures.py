"""The structures of Python and of the C headers are the same."""

import re
import shutil
import subprocess

import numpy as np
import pytest

from octant.profile import layout
from octant.profile.call_names import CALL_NAMES
from paths import ROOT

STRUCTURES = {
    "octant_header": layout.HEADER,
    "octant_total": layout.TOTAL,
    "octant_communicator": layout.COMMUNICATOR,
    "octant_region": layout.REGION,
    "octant_module": layout.MODULE,
    "octant_entry": layout.ENTRY,
    "octant_peer": layout.PEER,
    "octant_region_time": layout.REGION_TIME,
    "octant_slab": layout.SLAB,
    "octant_packed": layout.PACKED,
    "octant_packed_total": layout.PACKED_TOTAL,
    "octant_packed_slab": layout.PACKED_SLAB,
    "octant_packed_region_time": layout.PACKED_REGION_TIME,
}
CONSTANTS = {
    "octant_max_calls": layout.MAX_CALLS,
    "octant_max_communicators": layout.MAX_COMMUNICATORS,
    "octant_max_regions": layout.MAX_REGIONS,
    "octant_max_modules": layout.MAX_MODULES,
    "octant_max_threads": layout.MAX_THREADS,
    "octant_entries": layout.ENTRIES,
    "octant_peers": layout.PEERS,
    "OCTANT_PROFILE_VERSION": layout.VERSION,
    "OCTANT_PACKED_VERSION": layout.PACKED_VERSION,
    "octant_abi_openmpi": layout.ABIS.index("Open MPI"),
    "octant_state_exited": layout.STATES.index("exited"),
    "octant_flag_counts_only": layout.COUNTS_ONLY,
    "octant_flag_no_sites": layout.NO_SITES,
    "octant_flag_lost_entries": layout.LOST_ENTRIES,
    "octant_flag_lost_slab": layout.LOST_SLAB,
    "octant_flag_mpi_threads": layout.MPI_THREADS,
    "octant_flag_no_rank": layout.NO_RANK,
    "octant_flag_spawned": layout.SPAWNED,
    "octant_no_communicator": layout.NO_COMMUNICATOR,
}


def declared_fields(kind: np.dtype) -> dict[str, tuple[int, int]]:
    return {name: (int(offset), int(one.itemsize)) for name, (one, offset, *_) in (kind.fields or {}).items()}


@pytest.fixture(scope="module")
def of_the_compiler(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """Return sizes, offsets and constants that a C program prints."""
    if not (compiler := shutil.which("gcc") or shutil.which("cc")):
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("structures")
    lines = [f'printf("{name} %d\\n", (int){name});' for name in CONSTANTS]
    for name, kind in STRUCTURES.items():
        lines.append(f'printf("{name} %d\\n", (int)sizeof(struct {name}));')
        for field in kind.names or ():
            lines.append(f'printf("{name}.{field} %d\\n", (int)offsetof(struct {name}, {field}));')
            lines.append(f'printf("{name}.{field}.size %d\\n", (int)sizeof(((struct {name}*)0)->{field}));')
    text = '#include "packed_format.h"\n#include <stddef.h>\n#include <stdio.h>\nint main(void) {%s return 0; }\n'
    (folder / "sizes.c").write_text(text % "\n".join(lines), encoding="utf-8")
    command = [
        compiler,
        "-std=c11",
        f"-I{ROOT / 'native/profiler'}",
        str(folder / "sizes.c"),
        "-o",
        str(folder / "sizes"),
    ]
    subprocess.run(command, check=True)
    output = subprocess.run([folder / "sizes"], check=True, capture_output=True, text=True).stdout
    return {name: int(value) for name, value in map(str.split, output.splitlines())}


def test_structures_are_those_of_c(of_the_compiler: dict[str, int]) -> None:
    declared: dict[str, int] = dict(CONSTANTS)
    for name, kind in STRUCTURES.items():
        declared[name] = kind.itemsize
        for field, (offset, size) in declared_fields(kind).items():
            declared |= {f"{name}.{field}": offset, f"{name}.{field}.size": size}
    assert declared == of_the_compiler


@pytest.mark.parametrize("header", ["profile_format.h", "packed_format.h"])
def test_every_structure_and_field_is_declared(header: str) -> None:
    text = re.sub(r"//.*", "", (ROOT / "native/profiler" / header).read_text(encoding="utf-8"))
    found = re.findall(r"struct (\w+) \{(.*?)\n\};", text, re.DOTALL)
    assert found
    for name, body in found:
        names = re.findall(r"(\w+)(?:\[[^]]*\])?\s*(?=[,;])", body)
        assert names == list(STRUCTURES[name].names or ())


def test_names_of_calls_are_those_of_the_library() -> None:
    text = (ROOT / "native/profiler/calls.inc").read_text(encoding="utf-8")
    numbered = {
        int(number): f"MPI_{name}" for number, name in re.findall(r"^OCTANT_CALL\((\d+), (\w+),", text, re.MULTILINE)
    }
    assert len(numbered) > 400
    assert dict(enumerate(CALL_NAMES)) == {0: "", **numbered}
    assert len(CALL_NAMES) <= layout.MAX_CALLS


def test_the_magic_words_are_those_of_c() -> None:
    text = "".join(
        (ROOT / "native/profiler" / one).read_text("utf-8") for one in ("profile_format.h", "packed_format.h")
    )
    assert set(re.findall(r'_MAGIC "(\w+)"', text)) == {layout.MAGIC.decode(), layout.PACKED_MAGIC.decode()}
