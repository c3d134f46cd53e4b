"""A small source tree in place of Octant's, and a process that builds its programs: `build_tree.py TREE NAME...`."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from octant import build
from octant.build import folders, on_demand
from octant.failure import Refusal

_CMAKE = """
cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES CXX)
file(GLOB parts CONFIGURE_DEPENDS native/part_*.cpp)
add_library(parts STATIC ${parts})
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
foreach(name first second)
  add_executable(octant-node-${name} native/${name}.cpp)
  target_link_libraries(octant-node-${name} PRIVATE parts)
endforeach()
"""
PARTS = 4


def write(folder: Path) -> Path:
    """Writes the tree: two programs and a library of theirs. Each program prints its name and the library's number."""
    native = folder / "native"
    native.mkdir(parents=True)
    (folder / "CMakeLists.txt").write_text(_CMAKE)
    for part in range(PARTS):
        (native / f"part_{part}.cpp").write_text(f"int part_{part}() {{ return 10; }}\n")
    declared = "".join(f"int part_{part}();\n" for part in range(PARTS))
    total = " + ".join(f"part_{part}()" for part in range(PARTS))
    for name in ("first", "second"):
        body = f'int main() {{ std::printf("{name} %d\\n", {total}); }}\n'
        (native / f"{name}.cpp").write_text(f"#include <cstdio>\n{declared}{body}")
    return folder


def environment(folder: Path, **further: str) -> dict[str, str]:
    """What the process finds in its environment: nothing of the test's own build, and a cache of its own."""
    kept = {name: value for name, value in os.environ.items() if name not in ("OCTANT_KERNELS", "CXX", "CXXFLAGS")}
    return {**kept, "XDG_CACHE_HOME": str(folder / "cache"), "CCACHE_DISABLE": "1", **further}


def start(folder: Path, *names: str, env: Mapping[str, str] | None = None) -> "subprocess.Popen[str]":
    """Starts a process that has these programs built, one after the other, and prints their paths."""
    return subprocess.Popen(
        [sys.executable, __file__, str(folder), *names],
        env=env or environment(folder), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def run(folder: Path, *names: str, env: Mapping[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
    """As `start`, to its end."""
    with start(folder, *names, env=env) as process:
        out, errors = process.communicate(timeout=100)
    return subprocess.CompletedProcess(process.args, process.returncode, out, errors)


def main(tree: str, *names: str) -> int:
    """Builds; the exit status is that of the last refusal."""
    folders.source_root = lambda: Path(tree)
    status = 0
    try:
        on_demand.prepare([build.program_name(name) for name in names])
    except Refusal as refusal:
        print(refusal, file=sys.stderr)
        return refusal.code
    for name in names:
        try:
            print(build.find(name), flush=True)
        except Refusal as refusal:
            print(refusal, file=sys.stderr)
            status = refusal.code
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
