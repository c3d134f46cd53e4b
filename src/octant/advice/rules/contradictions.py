"""Two sources contradict each other about the machine.

Discovery compares what it reads: the node sizes with the memory's, the caches with what a guest can own, the stated
clock with the measured one. Octant names the source that it trusts. Nothing needs fixing, but figures that depend on
the disputed value, such as those per cycle, must be read with care.
"""

from octant.advice import Advice, Facts


def advise(facts: Facts) -> list[Advice]:
    """Fires once for every contradiction; the processor's model has a rule of its own."""
    return [
        Advice(
            title=f"sources disagree about the {entry.subject}",
            severity="note",
            evidence=dict(entry.statements),
            fix=("# nothing to fix; read figures that depend on it with care",),
            why=f"Octant trusts {entry.trusted}",
        )
        for entry in facts.machine.disagreements
        if entry.subject != "processor model"
    ]
