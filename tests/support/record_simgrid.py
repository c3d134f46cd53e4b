"""Writes tests/data/simgrid.json: what the installed SimGrid answers, for tests where it is absent.

Run by hand: `python tests/support/record_simgrid.py`. It needs `make simgrid`; the diff is read before it is committed.
"""

import datetime
import json
from dataclasses import asdict

from octant.launch import smpirun
from octant.network import load
from octant.simulate.simgrid import check
from octant.simulate.simulated_workload import run
from paths import DATA, ROOT

EXAMPLES = ROOT / "examples" / "networks"
RECORDED = DATA / "simgrid.json"
NETWORKS = ("torus-4x4x4", "fat-tree-64")
TRAFFIC = {"uniform": 2**13} | dict.fromkeys(
    ("random", "incast", "halo3d", "bisection", "transpose", "tornado", "ordered-ring", "random-ring"), 2**20
)
PINGPONG = ["bytes=0,1KiB,64KiB,1MiB", "samples=100"]


def main() -> None:
    networks = {name: load(str(EXAMPLES / f"{name}.toml")) for name in NETWORKS}
    checks = [asdict(check(net, traffic, size)) for net in networks.values() for traffic, size in TRAFFIC.items()]
    pingpong = [asdict(run(load("bgp"), "p2p", PINGPONG, ranks)) for ranks in (2, 64)]
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    recorded = {"simgrid": smpirun.version(), "date": today, "checks": checks, "pingpong": pingpong}
    RECORDED.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
