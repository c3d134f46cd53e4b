"""Dense linear algebra with NumPy: `dense.py solve|multiply N double|single` prints its rate and a scaled residual."""

import sys
import time

import numpy as np

operation, n, precision = sys.argv[1], int(sys.argv[2]), {"double": np.float64, "single": np.float32}[sys.argv[3]]
random = np.random.default_rng(1)
a, b = (random.standard_normal((n, n)).astype(precision) for _ in range(2))
flops = 2 * n**3 if operation == "multiply" else 2 / 3 * n**3 + 2 * n**2
begin = time.perf_counter()
result = a @ b if operation == "multiply" else np.linalg.solve(a, b[:, 0])
elapsed_s = time.perf_counter() - begin

exact_a, found = a.astype(np.float64), result.astype(np.float64)
vector = random.standard_normal(n)  # of a product, A(Bv) is compared with (AB)v
left, right = (exact_a @ found, b[:, 0]) if operation == "solve" else (found @ vector, exact_a @ (b @ vector))
scale = np.abs(exact_a).sum(1).max() * max(np.abs(found).max(), 1) * n * np.finfo(precision).eps
print(f"rate = {flops / elapsed_s / 1e9:.3f} Gflop/s")
print(f"scaled residual = {np.abs(left - right).max() / scale:.3e}")
