"""Two sources disagree about the machine.

Discovery compares its sources: the sizes of NUMA nodes with that of the memory, the caches with the share of a guest,
and the stated clock with the measured one. Octant states which source it uses. No action is required, but results that
depend on the disputed value, such as those per cycle, are uncertain.
"""

from octant.advice import Advice, Facts


def advise(facts: Facts) -> list[Advice]:
    """Return advice for each disagreement except that about the processor model, which has its own rule."""
    return [
        Advice(
            title=f"sources disagree about the {entry.subject}",
            severity="note",
            evidence=dict(entry.statements),
            fix=("# no action is possible; results that depend on this value are uncertain",),
            why=f"Octant uses {entry.trusted}",
        )
        for entry in facts.machine.disagreements
        if entry.subject != "processor model"
    ]
