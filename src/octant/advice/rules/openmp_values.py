"""An OpenMP variable has a value that the standard does not define.

Runtimes print at most a warning and ignore the variable: `OMP_PROC_BIND=cores`, found in many tutorials,
leaves every thread unbound. (`cores` is a value of `OMP_PLACES`.) Values from OpenMP 5.2, chapter 21.
"""

import re

from octant.advice import Advice, Facts

_BIND = r"(true|false|(primary|master|close|spread)(\s*,\s*(primary|master|close|spread))*)"
_INTERVAL = r"!?\{[\d,:\s!-]+\}(\s*:\s*\d+(\s*:\s*-?\d+)?)?"
_KNOWN = {
    "OMP_PROC_BIND": (_BIND, "true, false, primary, close or spread"),
    "OMP_PLACES": (
        rf"(threads|cores|ll_caches|numa_domains|sockets)(\s*\(\s*\d+\s*\))?|{_INTERVAL}(\s*,\s*{_INTERVAL})*",
        "threads, cores, ll_caches, numa_domains, sockets or a list such as {0,1},{2,3}",
    ),
    "OMP_NUM_THREADS": (r"[1-9]\d*(\s*,\s*[1-9]\d*)*", "an integer above 0"),
    "OMP_DYNAMIC": (r"true|false", "true or false"),
    "OMP_WAIT_POLICY": (r"active|passive", "active or passive"),
    "OMP_SCHEDULE": (
        r"((non)?monotonic\s*:\s*)?(static|dynamic|guided|auto)(\s*,\s*[1-9]\d*)?",
        "static, dynamic, guided or auto, with a chunk such as static,8",
    ),
}


def advise(facts: Facts) -> Advice | None:
    """Return advice if a variable of the table above has a value that is not in the standard."""
    wrong = {
        name: value
        for name, (pattern, _values) in _KNOWN.items()
        if (value := facts.variable(name)) and not re.fullmatch(pattern, value, re.IGNORECASE)
    }
    if not wrong:
        return None
    return Advice(
        title=f"{', '.join(wrong)}: value not defined by the OpenMP standard",
        severity="slows",
        evidence=wrong,
        fix=tuple(f"unset {name}  # or set it to {_KNOWN[name][1]}" for name in wrong),
        why="runtimes ignore such values, mostly without a message",
    )
