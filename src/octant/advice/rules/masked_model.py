"""The processor's name or number is not its own.

Hypervisors choose what a guest sees. Libraries that select kernels by model number may then select slow ones, and
tables of peak figures by name do not apply. Octant uses flags and measurements.
"""

import re

from octant.advice import Advice, Facts

_GENERIC = re.compile(
    r"Intel\(R\) Xeon\(R\) Processor|AMD EPYC Processor|AMD EPYC|QEMU Virtual CPU.*|Common KVM processor"
)


def _core(flags: frozenset[str]) -> str:
    """OpenBLAS's name for the newest core whose instructions are all available."""
    names = (
        ("amx_tile", "SapphireRapids"),
        ("avx512_bf16", "Cooperlake"),
        ("avx512f", "SkylakeX"),
        ("avx2", "Haswell"),
    )
    return next((name for flag, name in names if flag in flags), "Prescott")


def advise(facts: Facts) -> Advice | None:
    """Fires where flags contradict the model number, or a guest's processor has no name of its own."""
    contradiction = next((d for d in facts.machine.disagreements if d.subject == "processor model"), None)
    guest = facts.system("virtualisation") not in ("", "none")
    generic = guest and _GENERIC.fullmatch(facts.machine.processor.model)
    if contradiction is None and not generic:
        return None
    x86 = facts.machine.processor.architecture == "x86_64"
    lines = (f"export OPENBLAS_CORETYPE={_core(facts.machine.processor.flags)}",) if x86 else ()
    evidence = dict(contradiction.statements) if contradiction else {}
    return Advice(
        title="the processor's model is masked",
        severity="note",
        evidence={"/proc/cpuinfo model name": facts.machine.processor.model, **evidence},
        fix=("# rely on flags and measurements; where a library selected slow kernels, set the core:", *lines),
        why="libraries that select kernels by model number may select slow ones, and tables of peaks do not apply",
    )
