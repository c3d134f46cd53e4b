"""Two different OpenMP runtimes may be loaded into one process.

GNU's libgomp and Intel's or LLVM's libiomp5/libomp each start threads of their own and bind them by the same variables.
If both are loaded (often by a program built with gcc and a tuned BLAS), they bind their threads to the same cores.
"""

import re

from octant.advice import Advice, Facts


def advise(facts: Facts) -> Advice | None:
    """Return advice if the packages of this Python contain runtimes of both families."""
    gnu = [path for path in facts.surroundings.openmp_libraries if re.search(r"/libgomp[^/]*$", path)]
    other = [path for path in facts.surroundings.openmp_libraries if re.search(r"/lib(iomp5|omp)[^/]*$", path)]
    if not gnu or not other:
        return None
    return Advice(
        title="two different OpenMP runtimes are installed",
        severity="slows",
        evidence={"GNU": gnu[0], "Intel or LLVM": other[0]},
        fix=(
            "export MKL_THREADING_LAYER=GNU  # with MKL; not verified here",
            "# or use a BLAS that was built with the compiler's OpenMP runtime",
        ),
        why="if both are loaded into a process, each starts its own threads and binds them to the same cores",
    )
