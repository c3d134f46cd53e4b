"""Constants of the three binary interfaces in the profiler, compared with the headers of the installed libraries."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from paths import ROOT

SOURCE = ROOT / "native" / "profiler"
COMPILERS = {"standard": "mpicc_abi", "mpich": "mpicc.mpich", "openmpi": "mpicc.openmpi"}

PROGRAM = """
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#define SHOW(name, value) printf("%s %lld\\n", #name, (long long)(value));
#define HANDLE(name, value) printf("%s %lld\\n", #name, (long long)(size_t)(value));
int main(void) {
    SHOW(handle_bytes, sizeof(MPI_Comm))
    SHOW(status_bytes, sizeof(MPI_Status))
    SHOW(status_source, offsetof(MPI_Status, MPI_SOURCE))
    SHOW(proc_null, MPI_PROC_NULL)
    SHOW(any_source, MPI_ANY_SOURCE)
    SHOW(root, MPI_ROOT)
    SHOW(undefined, MPI_UNDEFINED)
    HANDLE(in_place, MPI_IN_PLACE)
    HANDLE(status_ignore, MPI_STATUS_IGNORE)
    HANDLE(statuses_ignore, MPI_STATUSES_IGNORE)
#ifndef OPEN_MPI
    HANDLE(world, MPI_COMM_WORLD)
    HANDLE(self, MPI_COMM_SELF)
    HANDLE(comm_null, MPI_COMM_NULL)
    HANDLE(request_null, MPI_REQUEST_NULL)
    HANDLE(byte, MPI_BYTE)
    HANDLE(datatype_null, MPI_DATATYPE_NULL)
    HANDLE(win_null, MPI_WIN_NULL)
    HANDLE(file_null, MPI_FILE_NULL)
#endif
    return 0;
}
"""

WORDS = {"UINTPTR_MAX": 2**64 - 1, "UINT32_MAX": 2**32 - 1}


def constants(interface: str) -> dict[str, int]:
    """Return the numbers that the profiler uses for an interface."""
    text = (SOURCE / "abi.c").read_text()
    body = re.search(rf"static void use_{interface}\(void\) \{{(.*?)\n\}}", text, re.DOTALL)
    assert body
    values = re.findall(r"\.(\w+) = (-?(?:0x)?[0-9a-f]+|UINTPTR_MAX|UINT32_MAX)\b", body[1])
    return {name: WORDS[text] if text in WORDS else int(text, 0) for name, text in values}


@pytest.mark.parametrize("interface", COMPILERS)
def test_constants_are_those_of_the_header(interface: str, tmp_path: Path) -> None:
    compiler = shutil.which(COMPILERS[interface])
    if compiler is None:
        pytest.skip(f"{COMPILERS[interface]} is not installed")
    source = tmp_path / "constants.c"
    source.write_text(PROGRAM)
    subprocess.run([compiler, source, "-o", tmp_path / "constants"], check=True, timeout=60)
    shown = subprocess.run([tmp_path / "constants"], capture_output=True, text=True, check=True, timeout=60).stdout
    header = {name: int(value) % 2**64 for name, value in (line.split() for line in shown.splitlines())}
    ours = {name: value % 2**64 for name, value in constants(interface).items()}
    assert {name: ours[name] for name in header} == header


def test_dlsym_finds_no_functions_of_mpi(kernels: Path) -> None:
    probe = (
        "import ctypes\nown = ctypes.CDLL(None)\n"
        "print(hasattr(own, 'MPI_Get_version'), hasattr(own, 'MPI_Send_c'), hasattr(own, 'summary_start'))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", probe],
        env={"LD_PRELOAD": str(kernels / "octant-profiler")},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert (answer.stdout.split(), answer.stderr) == (["False", "False", "True"], "")
