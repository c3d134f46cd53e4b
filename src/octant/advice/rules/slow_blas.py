"""The system's BLAS is the reference implementation.

Netlib's reference library is correct and plain: its matrix multiplication is commonly ten to fifty times slower than a
tuned library's. Programs linked to `libblas.so.3` get whatever the system puts there.
"""

from octant.advice import Advice, Facts


def advise(facts: Facts) -> Advice | None:
    """Fires where the system's libblas.so.3 resolves to no tuned library."""
    blas = facts.machine.software.get("blas", "")
    if not blas.startswith("reference"):
        return None
    return Advice(
        title="programs that use the system's BLAS get the slow reference library",
        severity="slows",
        evidence={"libblas.so.3": blas.removeprefix("reference ").strip("()")},
        fix=(
            "sudo apt-get install libopenblas0",
            "# or choose among those installed:",
            "sudo update-alternatives --config libblas.so.3-$(uname -m)-linux-gnu",
        ),
        why="its matrix multiplication uses neither vector units nor caches well",
    )
