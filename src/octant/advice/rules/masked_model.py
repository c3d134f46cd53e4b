"""The processor model is masked.

Hypervisors can present another processor model to a guest. Libraries that select kernels by model number may then
select slow ones, and tables of peak performance by name do not apply. Octant uses CPU flags and measurements. The
evidence includes the kernels that OpenBLAS selected; the rule `openblas_core` tests whether others are faster.
"""

import re

from octant.advice import Advice, Facts

_GENERIC = re.compile(
    r"Intel\(R\) Xeon\(R\) Processor|AMD EPYC Processor|AMD EPYC|QEMU Virtual CPU.*|Common KVM processor"
)


def advise(facts: Facts) -> Advice | None:
    """Return advice if CPU flags contradict the model number, or if a guest has a generic processor name."""
    contradiction = next((d for d in facts.machine.disagreements if d.subject == "processor model"), None)
    guest = facts.system("virtualisation") not in ("", "none")
    generic = guest and _GENERIC.fullmatch(facts.machine.processor.model)
    if contradiction is None and not generic:
        return None
    evidence = dict(contradiction.statements) if contradiction else {}
    if (blas := facts.surroundings.openblas) is not None:
        ignored = [trial.asked for trial in blas.trials if trial.asked and trial.asked.lower() != trial.given.lower()]
        text = f"; no kernels for {' or '.join(ignored)}" if ignored else ""
        evidence[f"OpenBLAS {blas.version}, openblas_get_corename"] = f"kernels for {blas.core}{text}"
    return Advice(
        title="the processor model is masked",
        severity="note",
        evidence={"/proc/cpuinfo model name": facts.machine.processor.model, **evidence},
        fix=("# no action is possible; Octant uses CPU flags and measurements instead",),
        why="libraries may select slow kernels by model number, and tables of peak performance do not apply",
    )
