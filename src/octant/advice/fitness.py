"""Verdict on a machine: fit for benchmarking, fit with reservations or not fit, with the reasons.

It follows from the noise test of a run and from the rules of the doctor. METHOD.md gives the reasons of the thresholds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from octant.advice import Facts, diagnose, measurement_rules, tested_rules
from octant.analysis.lost import DISAGREEING
from octant.analysis.noise_test import noise_test
from octant.stats.caveats import BOUNDS
from octant.units import fixed_text, percent_text, si_text

if TYPE_CHECKING:
    from octant.advice import Advice, Diagnosis
    from octant.analysis.causes import Causes
    from octant.analysis.noise_test import NoiseTest
    from octant.analysis.summary import Summary

MachineVerdict: TypeAlias = Literal["fit", "fit with reservations", "not fit"]

MAX_LOST_OF_FIT, MAX_LOST, _ = BOUNDS["lost time"]
"""Largest lost share of a hardware thread's time on a machine that is fit, and on one that is fit with reservations.

These are the shares from which figures get a note, and from which they are limited.
"""
MAX_CLOCK_CHANGE = 0.03
"""Largest change of the clock without a reservation; from here on figures have the caveat of a drift."""
MAX_OTHER_LOAD = 0.25
"""Hardware threads that other processes may use without a reservation; from here on figures have a note about them."""
MAX_UNEXPLAINED = DISAGREEING
"""Largest difference of the lost time in samples and by CPU clocks without a reservation."""


@dataclass(frozen=True)
class FitnessReason:
    """Reason why a machine is not fit, or fit with reservations only."""

    text: str  # a clause without a capital letter at its beginning
    spoils: bool  # the machine is not fit; else a reservation
    rule: str = ""  # of the doctor; "": from the noise test


@dataclass(frozen=True)
class Fitness:
    """Verdict on a machine with its reasons, the worst first."""

    reasons: tuple[FitnessReason, ...]
    tested: NoiseTest | None = None
    untested: str = ""  # why there is no noise test

    @property
    def verdict(self) -> MachineVerdict:
        """The verdict that follows from the reasons."""
        if any(reason.spoils for reason in self.reasons):
            return "not fit"
        return "fit with reservations" if self.reasons else "fit"


def judge_fitness(summary: Summary | None, diagnosis: Diagnosis, untested: str = "") -> Fitness:
    """Return the verdict on a machine from a run with a noise test and from the advice of the doctor.

    Args:
        summary: of the run; `None`: noise was not tested.
        untested: why there is no noise test.
    """
    tested = noise_test(summary) if summary else None
    why = "" if tested else untested or "the run contains no measurement of noise on all usable hardware threads"
    concerned, measured = set(measurement_rules()), tested_rules() if tested else frozenset()
    reasons = [
        *_noise_reasons(tested),
        *(_rule_reason(one, measured) for one in diagnosis.advice if _is_reason(one, concerned)),
        *(FitnessReason(f"noise was not tested ({why})", spoils=False) for _ in [why] if why),
        *(FitnessReason(f"the rule {one.name} cannot be used", False, one.name) for one in diagnosis.broken),
    ]
    return Fitness(tuple(sorted(reasons, key=lambda reason: not reason.spoils)), tested, why)


def fitness_of_run(summary: Summary) -> Fitness | None:
    """Return the verdict on the machine of a stored run, by the system facts of the run; `None` without a noise test.

    The facts do not contain the processes and variables around the run, so that their rules do not apply.
    """
    if summary.run.imported or noise_test(summary) is None:
        return None
    return judge_fitness(summary, diagnose(Facts(summary.run.machine)))


def _is_reason(advice: Advice, concerned: set[str]) -> bool:
    return advice.severity == "spoils" or (advice.severity == "slows" and advice.rule in concerned)


def _rule_reason(advice: Advice, measured: frozenset[str]) -> FitnessReason:
    """Return the reason of a rule; a reservation if the noise test measured the effect, and decides by it."""
    spoils = advice.severity == "spoils" and advice.rule not in measured
    return FitnessReason(advice.title, spoils, advice.rule)


def _noise_reasons(tested: NoiseTest | None) -> list[FitnessReason]:
    """Return the reasons that follow from the noise test alone."""
    if tested is None:
        return []
    found = _lost_reasons(tested)
    unexplained = tested.excess - tested.causes.lost
    if unexplained > MAX_UNEXPLAINED:
        text = (
            f"samples took {percent_text(tested.excess)} longer than undisturbed ones, but the CPU clocks show "
            f"only {percent_text(tested.causes.lost)} lost time; the clock or the hypervisor may be the cause"
        )
        found.append(FitnessReason(text, spoils=False))
    if abs(tested.clock_change) > MAX_CLOCK_CHANGE and tested.clock_hz:
        way = "rose" if tested.clock_change > 0 else "fell"
        text = f"the clock ({si_text(tested.clock_hz, 'Hz')}) {way} by {percent_text(abs(tested.clock_change))}"
        found.append(FitnessReason(f"{text} during the noise test", spoils=False))
    if tested.other_load is not None and tested.other_load > MAX_OTHER_LOAD:
        number = fixed_text(tested.other_load, 1)
        found.append(FitnessReason(f"other processes used {number} hardware threads during the noise test", False))
    return found


def _lost_reasons(tested: NoiseTest) -> list[FitnessReason]:
    """Return the reason about lost time; the hardware thread that lost most decides."""
    worst = tested.by_hardware_thread[tested.worst]
    if worst.lost <= MAX_LOST_OF_FIT:
        return []
    spoils = worst.lost > MAX_LOST
    limit, total = MAX_LOST if spoils else MAX_LOST_OF_FIT, len(tested.by_hardware_thread)
    number = sum(one.lost > limit for one in tested.by_hardware_thread.values())
    text = f"hardware thread {tested.worst} lost {percent_text(worst.lost)} of its time{mostly(worst)}"
    more = f" ({number} of {total} hardware threads lost more than {100 * limit:.0f} %)" if number > 1 else ""
    return [FitnessReason(text + more, spoils)]


def mostly(causes: Causes) -> str:
    """Return the main cause as the end of a clause: `, mostly to other processes`."""
    main = "the hypervisor" if causes.main == "the host" else causes.main
    if main == "unexplained":
        return ", mostly without a known cause"
    return f", mostly to {main}" if main else ""
