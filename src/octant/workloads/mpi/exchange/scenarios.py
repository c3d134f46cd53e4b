"""Which pairs exchange at once: the eight scenarios of the Blue Gene/P evaluation, as values of the knob `groups`.

Their names are those of the network model (`pair_bandwidth`). Source: Worley, Early Evaluation of the IBM BG/P,
section 4.2. Ranks are counted core by core within a node, and nodes along x first (there TXYZ).
"""

from dataclasses import dataclass

from octant.failure import Exit, Refusal


@dataclass(frozen=True)
class Scenario:
    """Which pairs exchange, and on how many nodes of how many cores they did in the paper."""

    groups: str  # with `{cores}` of a node, and `{half}` of these
    about: str
    cores: int
    nodes: int


SCENARIOS = {
    "a": Scenario("shift:{half}:1", "one pair in a node", 4, 1),
    "b": Scenario("shift:{half}", "all pairs in a node", 4, 1),
    "c": Scenario("shift:{cores}:1", "one pair over a link", 1, 2),
    "d": Scenario("shift:{cores}:2", "two pairs over a link", 2, 2),
    "e": Scenario("shift:{cores}", "as many pairs over a link as a node has cores", 4, 2),
    "f": Scenario("shift:P/2", "one half of a line of nodes with the other half", 4, 4),
    "g": Scenario("shift:P/2", "one half of a cube of nodes with the other half", 4, 64),
    "h": Scenario("mirror:{cores}", "the first node with the last: partners at the largest distance", 4, 64),
}


def groups_of(scenario: str, cores: int) -> str:
    """Return the value of `groups` for a scenario on nodes of `cores` cores, with a rank on each core.

    Raises:
        Refusal: no such scenario. (What does not fit the number of ranks the kernel refuses.)
    """
    if scenario not in SCENARIOS:
        raise Refusal(f"cannot use the scenario {scenario!r} (unknown); try a to h", Exit.WRONG_WORD)
    return SCENARIOS[scenario].groups.format(cores=cores, half=cores // 2)
