"""What the command lines of Open MPI 4.1 and 5 have in common: ranks, MCA parameters and binding."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from octant.launchers import MAX_RANKS, LauncherReading, _command, _line, _reading, _words
from octant.machine import CpuSet, Topology

BY_DEFAULT = "by default"
OF_41 = (
    r"(rmaps|hwloc)_base_(mapping|ranking|binding|schedule)_policy"
    r"|hwloc_base_(cpu_list|cpu_set|slot_list|use_hwthreads|bind_to|report_bindings)"
    r"|rmaps_base_(by|n_per|per|cpus_per|pattern|(no_)?oversubscribe|no_schedule)|orte_set_default_slots"
    r"|--?bind-to-socket|--?(map|rank|bind)-(by|to)[ =]board|:(PE=\d+|\w*SUBSCRIBE|SPAN),"
)
"""Parameters and options that Open MPI 5 does not have."""


def read_rank_count(given: _words.ParsedOptions) -> int | None:
    """Return the number of ranks that the words state; `None`: none.

    Raises:
        ValueError: it is no number.
    """
    number = given.last("n", "np", "c")
    return None if number is None else _line.read_integer("-n", number, MAX_RANKS)


def binding_option(
    given: _words.ParsedOptions, parameters: Mapping[str, tuple[str, ...]], environment: Mapping[str, str]
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


def find_option_of_41(text: str) -> str:
    """Return the first option or parameter of pasted lines that exists only in Open MPI 4.1; "": there is none."""
    return next((word for word in text.split() if re.search(OF_41, word)), "")


def mpirun_variables(command: _command.Command) -> dict[str, str]:
    """Return the variables that mpirun itself sees: without those that -x sets for the ranks, and those of --mca."""
    ranks_only = {values[0].partition("=")[0] for name, values in command.given.all_values if name == "x"}
    stated = {values[0] for name, values in command.given.all_values if name.endswith("mca")}
    return {
        name: value
        for name, value in command.variables.items()
        if name not in ranks_only and name.partition("_MCA_")[2] not in stated
    }


def find_ineffective_options(
    command: _command.Command,
    masks: Sequence[CpuSet | None],
    masks_of: Callable[[_command.Command], Sequence[CpuSet | None]],
) -> list[str]:
    """Return the remark on options that are interpreted and without which the masks are the same.

    Args:
        command: the command line.
        masks: what it gives.
        masks_of: computes the same of another command line; it raises ValueError where the launcher refuses.
    """
    found = []
    for name in ("nooversubscribe", "oversubscribe", "nolocal", "use-hwthread-cpus"):
        if command.has(name):
            try:
                same = list(masks_of(replace(command, given=command.given.without(name)))) == list(masks)
            except ValueError:
                same = False
            found += [f"--{name}"] if same else []
    return [f"not used for the placement: {', '.join(found)} (the placement is the same without it)"] if found else []


def reading(
    command: _command.Command, topology: Topology, masks: Sequence[CpuSet | None], notes: Sequence[str]
) -> LauncherReading:
    """Return the reading of masks, in which an unbound rank has every CPU."""
    count, more = command.threads(), []
    if "," in (command.last("host") or "") or command.has("hostfile", "default-hostfile"):
        more.append("several hosts are given: all ranks are placed on one node here")
    sets = [topology.allowed if mask is None else mask for mask in masks]
    cores = topology.groups("core")
    if count and any(count > sum(1 for core in cores if core & held) for held in sets):
        more.append(f"OMP_NUM_THREADS={count} exceeds the number of cores in a rank's mask: threads share cores")
    unbound = all(mask is None for mask in masks)
    return _reading.reading_of_masks(sets, topology, count or (1 if unbound else None), [*notes, *more])
