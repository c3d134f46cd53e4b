"""`python -m octant.build [NAME...]`: build all programs of a source tree, or those of these workloads and tools."""

import sys

from octant import build
from octant.build import folders, on_demand
from octant.failure import Refusal

TOOLS = ("bind", "link", "pages", "profiler", "mpi-probe", *build.EXAMPLES)


def main(names: list[str]) -> int:
    """Build all programs; return the exit status."""
    root = folders.source_root()
    if root is None:
        print("this installation has no sources; its programs are already installed", file=sys.stderr)
        return 0
    if not names:
        kernels = sorted((root / "src" / "octant" / "workloads").glob("*/*/kernel.cpp"))
        names = [build.NETWORK, *TOOLS, *(f"{kernel.parents[1].name}/{kernel.parent.name}" for kernel in kernels)]
    targets = [name if name == build.NETWORK else build.program_name(name) for name in names]
    try:
        on_demand.prepare(targets)
        for target in targets:
            on_demand.program(target)
    except Refusal as refusal:
        print(refusal, file=sys.stderr)
        return refusal.code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
