"""OpenBLAS does not use the kernels that are fastest here.

It selects kernels by the processor when it is loaded, and a masked model number can mislead it; `OPENBLAS_CORETYPE`
names others. A library ignores names that it has no kernels for, without a message. The doctor therefore loads the
library with each name that the processor's instructions allow, asks it which core it uses, and times a product of
matrices where that is another one (three rounds, beside the kernels in use): only a name that was faster is advised.
"""

from octant.advice import Advice, Facts
from octant.software.surroundings import OpenBlas

_VARIABLE = "OPENBLAS_CORETYPE"
_GAIN = 1.1  # three rounds tell a tenth from nothing


def advise(facts: Facts) -> Advice | None:
    """Fires where other kernels were at least a tenth faster, and where the variable is set to no effect."""
    blas, asked = facts.surroundings.openblas, facts.variable(_VARIABLE)
    if blas is None:
        return None
    best = max(blas.trials, key=lambda trial: trial.speedup or 0, default=None)
    if best is not None and (best.speedup or 0) >= _GAIN:
        return Advice(
            title=f"OpenBLAS is {best.speedup:.1f} times as fast with its kernels for {best.given}",
            severity="slows",
            evidence={
                **_evidence(blas, asked),
                f"a product of matrices, kernels for {best.given}": f"{best.speedup:.2f} times as fast",
            },
            fix=(f"export {_VARIABLE}={best.asked}  # verified here" if best.asked else f"unset {_VARIABLE}",),
            why="the kernels in use are those of another core than this processor's",
        )
    unset = next((trial for trial in blas.trials if not trial.asked), None)
    if asked and unset is not None and unset.given == blas.core and asked.lower() != blas.core.lower():
        return Advice(
            title=f"OpenBLAS ignores {_VARIABLE}={asked}",
            severity="note",
            evidence=_evidence(blas, asked),
            fix=(f"unset {_VARIABLE}  # the core in use stays {blas.core}: verified here",),
            why="the library has no kernels of that name, and uses those that it selects by itself",
        )
    return None


def _evidence(blas: OpenBlas, asked: str | None) -> dict[str, str]:
    return {
        f"OpenBLAS {blas.version}, openblas_get_corename": f"kernels for {blas.core} ({blas.path})",
        _VARIABLE: asked or "unset",
    }
