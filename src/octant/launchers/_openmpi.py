"""What the command lines of Open MPI 4.1 and 5 have in common: ranks, MCA parameters and binding."""

from collections.abc import Mapping

from octant.launchers import MOST_RANKS, _shared, _words

BY_DEFAULT = "by default"


def rank_count(given: _words.Given) -> int | None:
    """Return the number of ranks that the words state; `None`: none.

    Raises:
        ValueError: it is no number.
    """
    number = given.last("n", "np", "c")
    return None if number is None else _shared.whole("-n", number, MOST_RANKS)


def binding_option(
    given: _words.Given, parameters: Mapping[str, tuple[str, ...]], environment: Mapping[str, str]
) -> tuple[bool, str] | None:
    """Return whether words or variables bind, and which one does ("" if it unbinds); `None`: neither mentions binding.

    Args:
        given: the options of the command line.
        parameters: names of the MCA parameters for binding, by the prefix of the variables that set them.
        environment: the variables that the launcher sees.
    """
    for name in ("bind-to", "bindto"):
        if given.values.get(name):
            return _binds(given.values[name][0], given.spelt[name].partition("=")[0])
    for name in ("bind-to-core", "bind-to-socket", "cpu-list", "cpu-set"):
        if name in given.spelt:
            return True, given.spelt[name].partition("=")[0]
    for name, values in reversed(given.all_values):
        if name.endswith("mca") and any(values[0] in names for names in parameters.values()):
            return _binds(values[1], f"--{name} {values[0]}")
    variables = [f"{prefix}{name}" for prefix, names in parameters.items() for name in names]
    return next((_binds(environment[name], name) for name in variables if name in environment), None)


def _binds(policy: str, by: str) -> tuple[bool, str]:
    unbound = policy.partition(":")[0].lower() == "none"
    return not unbound, "" if unbound else by
