"""The network model against SimGrid: the same all-to-all of 64 hosts, all flows at once; CPU time and answer."""

import statistics
from pathlib import Path

from octant.failure import Refusal
from octant.network import load
from octant.simulate.simgrid import check

EXAMPLES = Path(__file__).parent.parent / "examples" / "networks"
REPEATS = 5


def main() -> None:
    print(f"{'network':<14} {'Octant':>10} {'SimGrid':>10} {'difference':>10} {'CPU':>9} {'CPU':>9} {'ratio':>7}")
    for name in ("torus-4x4x4", "fat-tree-64"):
        found = [check(load(str(EXAMPLES / f"{name}.toml")), "uniform", 8192) for _ in range(REPEATS)]
        ours, theirs = (
            statistics.median(cpu) for cpu in zip(*((f.model_cpu_s, f.simgrid_cpu_s) for f in found), strict=True)
        )
        one = found[0]
        print(
            f"{name:<14} {one.model_s * 1e6:>7.1f} us {one.simgrid_s * 1e6:>7.1f} us {100 * one.difference:>8.2f} % "
            f"{ours * 1e3:>6.2f} ms {theirs * 1e3:>6.0f} ms {theirs / ours:>6.0f}x"
        )


if __name__ == "__main__":
    try:
        main()
    except Refusal as refusal:
        print(refusal)
