"""Two sources say different things about the machine.

Discovery compares what it reads: the node sizes with the memory's, the caches with what a guest can own, the stated
clock with the measured one. Octant says which source it believes; nothing needs mending, but a figure "of the
last-level cache" or "per cycle" has to be read with it in mind.
"""

from octant.advice import Advice, Facts


def advise(facts: Facts) -> list[Advice]:
    """Fires once for every contradiction; the processor's model has a rule of its own."""
    return [
        Advice(
            title=f"sources disagree about the {entry.subject}",
            severity="note",
            evidence=dict(entry.statements),
            fix=("# nothing to mend; read figures that derive from it with this in mind",),
            why=f"Octant trusts {entry.trusted}",
        )
        for entry in facts.machine.disagreements
        if entry.subject != "processor model"
    ]
