"""An OpenMP variable has a value that the standard does not know.

Runtimes warn at most and then run as if the variable were unset: `OMP_PROC_BIND=cores`, found in many tutorials,
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
    "OMP_NUM_THREADS": (r"[1-9]\d*(\s*,\s*[1-9]\d*)*", "a whole number above 0"),
    "OMP_DYNAMIC": (r"true|false", "true or false"),
    "OMP_WAIT_POLICY": (r"active|passive", "active or passive"),
    "OMP_SCHEDULE": (
        r"((non)?monotonic\s*:\s*)?(static|dynamic|guided|auto)(\s*,\s*[1-9]\d*)?",
        "static, dynamic, guided or auto, with a chunk such as static,8",
    ),
}


def advise(facts: Facts) -> Advice | None:
    """Fires for every variable of the table above whose value is not in the standard."""
    wrong = {
        name: value
        for name, (pattern, _values) in _KNOWN.items()
        if (value := facts.variable(name)) and not re.fullmatch(pattern, value, re.IGNORECASE)
    }
    if not wrong:
        return None
    return Advice(
        title=f"{', '.join(wrong)}: a value that OpenMP does not know",
        severity="slows",
        evidence=wrong,
        fix=tuple(f"unset {name}  # or set it to {_KNOWN[name][1]}" for name in wrong),
        why="the runtime ignores it, mostly silently, and threads run unbound or in another number",
    )
