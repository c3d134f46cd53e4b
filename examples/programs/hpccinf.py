"""Writes hpccinf.txt, the input of hpcc: `hpccinf.py N BLOCK PxQ` (order of the matrix, block size, grid of ranks)."""

import sys
from pathlib import Path

order, block, (rows, columns) = sys.argv[1], sys.argv[2], sys.argv[3].split("x")
lines = ["", "", "HPL.out", "8 device", "1 number", f"{order} Ns", "1 number", f"{block} NBs", "0 PMAP", "1 number"]
lines += [f"{rows} Ps", f"{columns} Qs", "16.0 threshold"]
for name, value in (("PFACTs", 2), ("NBMINs", 4), ("NDIVs", 2), ("RFACTs", 2), ("BCASTs", 1), ("DEPTHs", 1)):
    lines += ["1 number", f"{value} {name}"]
lines += ["2 SWAP", "64 threshold", "0 L1", "0 U", "1 equilibration", "8 alignment", "(separator)"]
lines += ["0 number", "1200 orders", "0 number", f"{block} blocks", ""]
Path("hpccinf.txt").write_text("\n".join(lines))
