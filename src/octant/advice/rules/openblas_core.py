"""OpenBLAS does not use the kernels that are fastest here.

OpenBLAS selects kernels by the processor model when it is loaded, and a masked model can cause a wrong selection.
`OPENBLAS_CORETYPE` selects others; unknown names are ignored without a message. `octant doctor` therefore loads the
library with each name that the processor supports and reads back the kernels in use. If they differ, it times a matrix
multiplication with both in three rounds, and recommends only a name that was faster.
"""

from octant.advice import Advice, Facts
from octant.software.surroundings import OpenBlas

_VARIABLE = "OPENBLAS_CORETYPE"
_GAIN = 1.1  # the resolution of three rounds


def advise(facts: Facts) -> Advice | None:
    """Return advice if other kernels were at least 10 % faster, or if the variable has no effect."""
    blas, asked = facts.surroundings.openblas, facts.variable(_VARIABLE)
    if blas is None:
        return None
    best = max(blas.trials, key=lambda trial: trial.speedup or 0, default=None)
    if best is not None and (best.speedup or 0) >= _GAIN:
        return Advice(
            title=f"OpenBLAS is {best.speedup:.1f} times as fast with the kernels for {best.given}",
            severity="slows",
            evidence={
                **_evidence(blas, asked),
                f"matrix multiplication, kernels for {best.given}": f"{best.speedup:.2f} times as fast",
            },
            fix=(f"export {_VARIABLE}={best.asked}  # verified here" if best.asked else f"unset {_VARIABLE}",),
            why="the kernels in use are for a different core",
        )
    unset = next((trial for trial in blas.trials if not trial.asked), None)
    if asked and unset is not None and unset.given == blas.core and asked.lower() != blas.core.lower():
        return Advice(
            title=f"OpenBLAS ignores {_VARIABLE}={asked}",
            severity="note",
            evidence=_evidence(blas, asked),
            fix=(f"unset {_VARIABLE}  # the kernels remain those for {blas.core} (verified here)",),
            why="the library has no kernels of that name and uses its own selection",
        )
    return None


def _evidence(blas: OpenBlas, asked: str | None) -> dict[str, str]:
    return {
        f"OpenBLAS {blas.version}, openblas_get_corename": f"kernels for {blas.core} ({blas.path})",
        _VARIABLE: asked or "unset",
    }
