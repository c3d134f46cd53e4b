"""The system's BLAS is the reference implementation.

The matrix multiplication of Netlib's reference library is commonly ten to fifty times slower than that of a tuned
library. Programs linked to `libblas.so.3` use the library that the system provides under this name.
"""

from octant.advice import Advice, Facts


def advise(facts: Facts) -> Advice | None:
    """Return advice if the system's libblas.so.3 is the reference library."""
    blas = facts.machine.software.get("blas", "")
    if not blas.startswith("reference"):
        return None
    return Advice(
        title="the system BLAS is the slow reference library",
        severity="slows",
        evidence={"libblas.so.3": blas.removeprefix("reference ").strip("()")},
        fix=(
            "sudo apt-get install libopenblas0",
            "# or select another installed library:",
            "sudo update-alternatives --config libblas.so.3-$(uname -m)-linux-gnu",
        ),
        why="its matrix multiplication makes poor use of vector units and caches",
    )
