"""Tables of a launcher's options and variables: every one that a command line contains is accounted for.

A launcher's file declares one table of options, `OPTIONS`, and one of environment variables, `VARIABLES`, from its own
help text. `recognise` (users' programs) and `from_syntax` (`octant place --from`) use the same tables::

    OPTIONS = _tables.table(
        _tables.interpreted("n|np bind-to|binding map-by", 1),
        _tables.irrelevant("it concerns output", "l|prepend-rank"),
        _tables.not_read("it restricts the CPUs that ranks may use", "cpu-set", 1),
        _tables.refused(_words.NO_PROGRAM, "help|h version"),
        _tables.assigning("x", 1),
    )
    VARIABLES = _tables.table(
        _tables.interpreted("DEMO_BINDING"),
        _tables.irrelevant("it concerns the network", "DEMO_NET_*"),
        _tables.not_read("it may concern binding", "DEMO_*"),
    )

Names are separated by blanks. `n|np` is one option with two spellings; the first one is the name under which the reader
finds it. A name of one letter is a short option in the grammar of getopt. The number is that of the values that follow;
`OPTIONAL`: one, which is only read from the same word. Names of variables may contain `*`; an exact name precedes a
pattern, and a long pattern a short one.

| effect | `octant place --from` | `recognise` |
| --- | --- | --- |
| interpreted | the reader uses it | uses it, or needs its number of values |
| irrelevant | listed below the placement, with the reason | needs its number of values |
| not read | refuses the line and names the option | needs its number of values |
| refused | refuses the line: no program, or several, would start | refuses |
| assigning | its value sets a variable, which is accounted for as such | the launcher decides |

An option that is not in the table is refused. A variable that no table contains is refused if its name suggests that it
concerns placement (`SUSPICIOUS`), and listed otherwise.
"""

import fnmatch
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

OPTIONAL = -1
"""Number of values of an option whose value may be absent: it is then only read from the same word."""
Effect = Literal["interpreted", "irrelevant", "not read", "refused", "assigning"]
SUSPICIOUS = re.compile(
    r"AFFIN|BIND|PIN(_|N|$)|CPU|CORE|PLACE|SOCKET|NUMA|DOMAIN|MAP|THREAD|TASK|PROC|RANK|DIST|HINT|LAYOUT|HWLOC|HT_|SMT",
    re.IGNORECASE,
)
"""Names of unknown variables that may change where ranks or threads run."""


@dataclass(frozen=True)
class OptionFacts:
    """What is known of an option or of a variable."""

    name: str  # the first of its spellings
    effect: Effect
    values: int = 0
    reason: str = ""
    prefix: str = ""  # of the variable that an assigning option sets: `--mca NAME VALUE` sets OMPI_MCA_NAME
    ranks_only: bool = False  # the launcher itself does not see the variable that this option sets


Table = Mapping[str, OptionFacts]


def table(*parts: Table) -> dict[str, OptionFacts]:
    """Return one table of these parts.

    Raises:
        TypeError: a name occurs twice.
    """
    found: dict[str, OptionFacts] = {}
    for part in parts:
        twice = sorted(found.keys() & part.keys())
        if twice:
            raise TypeError(f"{twice[0]} occurs twice in the table of options")
        found.update(part)
    return found


def interpreted(names: str, values: int = 0) -> Table:
    """Return options that determine the placement, and that the reader uses."""
    return _rows(names, "interpreted", values)


def irrelevant(reason: str, names: str, values: int = 0) -> Table:
    """Return options that do not change where ranks run. `reason` continues "--label: ..."."""
    return _rows(names, "irrelevant", values, reason)


def not_read(reason: str, names: str, values: int = 0) -> Table:
    """Return options that may change where ranks run, and that the reader does not read."""
    return _rows(names, "not read", values, reason)


def refused(reason: str, names: str, values: int = 0) -> Table:
    """Return options with which no program, or more than one, starts."""
    return _rows(names, "refused", values, reason)


def assigning(names: str, values: int, prefix: str = "", *, ranks_only: bool = False) -> Table:
    """Return options that set a variable: `NAME=VALUE`, or with two values `NAME VALUE`."""
    return {name: OptionFacts(one.name, "assigning", values, "", prefix, ranks_only)
            for name, one in _rows(names, "assigning", values).items()}  # fmt: skip


def _rows(names: str, effect: Effect, values: int, reason: str = "") -> dict[str, OptionFacts]:
    made: dict[str, OptionFacts] = {}
    for spellings in names.split():
        first, *others = spellings.split("|")
        made.update(dict.fromkeys([first, *others], OptionFacts(first, effect, values, reason)))
    return made


def variable(name: str, *tables: Table) -> OptionFacts | None:
    """Return the entry of a variable in the first table that contains it; `None`: none does."""
    for one in tables:
        if name in one:
            return one[name]
        fitting = [pattern for pattern in one if "*" in pattern and fnmatch.fnmatchcase(name, pattern)]
        if fitting:
            return one[max(fitting, key=len)]
    return None
