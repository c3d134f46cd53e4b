"""The processor's name or number is not its own.

Hypervisors choose what a guest sees. Libraries that select kernels by model number may then select slow ones, and
tables of peak figures by name do not apply. Octant uses flags and measurements. What OpenBLAS selected is part of the
evidence; whether other kernels of it are faster here, the rule `openblas_core` has tried.
"""

import re

from octant.advice import Advice, Facts

_GENERIC = re.compile(
    r"Intel\(R\) Xeon\(R\) Processor|AMD EPYC Processor|AMD EPYC|QEMU Virtual CPU.*|Common KVM processor"
)


def advise(facts: Facts) -> Advice | None:
    """Fires where flags contradict the model number, or a guest's processor has no name of its own."""
    contradiction = next((d for d in facts.machine.disagreements if d.subject == "processor model"), None)
    guest = facts.system("virtualisation") not in ("", "none")
    generic = guest and _GENERIC.fullmatch(facts.machine.processor.model)
    if contradiction is None and not generic:
        return None
    evidence = dict(contradiction.statements) if contradiction else {}
    if (blas := facts.surroundings.openblas) is not None:
        ignored = [trial.asked for trial in blas.trials if trial.asked and trial.asked.lower() != trial.given.lower()]
        text = f"; it has none for {' or '.join(ignored)}" if ignored else ""
        evidence[f"OpenBLAS {blas.version}, openblas_get_corename"] = f"kernels for {blas.core}{text}"
    return Advice(
        title="the processor's model is masked",
        severity="note",
        evidence={"/proc/cpuinfo model name": facts.machine.processor.model, **evidence},
        fix=("# nothing to set; rely on flags and measurements",),
        why="libraries that select kernels by model number may select slow ones, and tables of peaks do not apply",
    )
