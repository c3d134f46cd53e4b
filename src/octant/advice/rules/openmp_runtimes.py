"""Two different OpenMP runtimes may end up in one process.

GNU's libgomp and Intel's or LLVM's libiomp5/libomp each start threads of their own and bind them by the same variables;
loaded together (often by a tuned BLAS beside a program built with gcc) they put their threads on the same core.
"""

import re

from octant.advice import Advice, Facts


def advise(facts: Facts) -> Advice | None:
    """Fires where this Python's packages bring runtimes of both families."""
    gnu = [path for path in facts.surroundings.openmp_libraries if re.search(r"/libgomp[^/]*$", path)]
    other = [path for path in facts.surroundings.openmp_libraries if re.search(r"/lib(iomp5|omp)[^/]*$", path)]
    if not gnu or not other:
        return None
    return Advice(
        title="two OpenMP runtimes are installed side by side",
        severity="slows",
        evidence={"GNU": gnu[0], "Intel or LLVM": other[0]},
        fix=(
            "export MKL_THREADING_LAYER=GNU  # with MKL; not verified here",
            "# or take a BLAS that was built with the compiler's own runtime",
        ),
        why="loaded into one process, both start threads, and with binding set both put them on the same cores",
    )
