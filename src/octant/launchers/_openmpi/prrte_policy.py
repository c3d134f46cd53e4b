"""Policies of PRRTE from a command line of Open MPI 5: options, old spellings, parameters and variables.

The conversions are those of `schizo/ompi` of PRRTE 3.0 (`convert_deprecated_cli`), compared with 5.0.11.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from octant.launchers import _line
from octant.launchers._openmpi.prrte import LEVELS, PrrtePolicy, Refused, logical, objects_of
from octant.machine import Topology

Occurrences = Sequence[tuple[str, Sequence[str]]]
"""Options in the order of the command line: name without dashes, values."""
_DIRECTIVES = {
    "cpu-set": "pe-list={}", "cpu-list": "pe-list={}", "bynode": "node", "bycore": "core", "byslot": "slot",
    "N": "ppr:{}:node", "npernode": "ppr:{}:node", "pernode": "ppr:1:node", "npersocket": "ppr:{}:package",
    "ppr": "ppr:{}", "rankfile": "rankfile:file={}",
}  # fmt: skip
"""Old options and the mapping that they are converted to."""
_QUALIFIERS = {
    "nolocal": "nolocal", "oversubscribe": "oversubscribe", "nooversubscribe": "nooversubscribe",
    "use-hwthread-cpus": "hwtcpus", "cpus-per-proc": "pe={}", "cpus-per-rank": "pe={}",
}  # fmt: skip
PLACING = frozenset({"map-by", "mapby", "bind-to", "bindto", "rank-by", "rankby", "bind-to-core", "n", "np", "c"})
"""Options that are read here, in addition to those that are converted."""
CONVERTED = frozenset({*_DIRECTIVES, *_QUALIFIERS})
_MAPPERS = ("slot", "hwthread", "core", "l1cache", "l2cache", "l3cache", "numa", "package", "node", "seq", "ppr",
            "rankfile", "pe-list")  # fmt: skip
_MODIFIERS = ("pe", "span", "oversubscribe", "nooversubscribe", "nolocal", "hwtcpus", "corecpus", "inherit",
              "noinherit", "file", "ordered")  # fmt: skip
_RANKERS = ("slot", "node", "fill", "span")
_BINDERS = ("none", "hwthread", "core", "l1cache", "l2cache", "l3cache", "numa", "package")
_OPPOSITES = (("oversubscribe", "nooversubscribe"), ("hwtcpus", "corecpus"), ("inherit", "noinherit"))
PARAMETERS = {
    **dict.fromkeys(("rmaps_default_mapping_policy", "mapby", "map_by"), "mapping"),
    **dict.fromkeys(("rmaps_default_ranking_policy", "rankby", "rank_by"), "ranking"),
    **dict.fromkeys(("hwloc_default_binding_policy", "bindto", "bind_to"), "binding"),
    "hwloc_default_cpu_list": "cpus",
    "prte_set_default_slots": "slots",
}
"""Parameters of PRRTE that decide masks."""
DECIDING = frozenset({
    "rmaps", "ras", "hwloc_use_topo_file", "hwloc_base_use_topo_file", "ras_simulator_topo_files",
    "ras_simulator_num_nodes", "ras_simulator_slots", "ras_simulator_max_slots", "ras_base_launch_orted_on_hn",
    "prte_set_default_slots_override", "rmaps_ppr_priority", "rmaps_round_robin_priority", "rmaps_seq_priority",
    "rmaps_rank_file_priority", "rtc", "rtc_hwloc_priority", "prte_default_hostfile", "prte_default_dash_host",
    "hwloc_default_mem_alloc_policy",
})  # fmt: skip
"""Parameters that may change masks in ways that are not read here."""
OF_ORTE = ("hwloc_base_", "rmaps_base_", "rmaps_ppr_", "orte_set_default_slots", "rmaps_dist_", "rmaps_rank_file_")
"""How parameters of Open MPI 4.1 begin; Open MPI 5 ignores them."""


@dataclass(frozen=True)
class PolicyOptions:
    """What was asked for; `mapping` and `binding` name the options that say so."""

    policy: PrrtePolicy
    ranks: int | None
    file: str  # of a rank file
    notes: tuple[str, ...]


def read(given: Occurrences, variables: Mapping[str, str], topology: Topology) -> PolicyOptions:
    """Return the policy that options and variables request.

    Raises:
        Refused: Open MPI 5 stops with an error here.
        ValueError: a value or a parameter that Octant does not read; the message names it.
    """
    parameters, notes = _parameters(given, variables)
    mapping, binding = _mapping_text(given), _only(given, ("bind-to", "bindto"), "bind-to-core")
    if topology.smt() == 1:  # PRRTE then reads `core` as `hwthread`
        mapping, binding = (re.sub("^core", "hwthread", text, flags=re.IGNORECASE) for text in (mapping, binding))
    policy, file = _mapping(mapping, parameters.get("mapping", ""))
    policy = _binding(policy, binding, parameters.get("binding", ""))
    ranker = _only(given, ("rank-by", "rankby")) or parameters.get("ranking", "")
    if ranker:
        policy = replace(policy, ranker=_full("--rank-by", ranker, _RANKERS))
    if "cpus" in parameters:
        policy = replace(policy, usable=_usable(parameters["cpus"], topology))
    policy = replace(policy, slots=_slots(given, parameters, topology))
    number = next((values[0] for name, values in reversed(given) if name in ("n", "np", "c")), None)
    return PolicyOptions(policy, None if number is None else _line.read_integer("-n", number), file, tuple(notes))


def _only(given: Occurrences, names: Sequence[str], old: str = "") -> str:
    """Return the value of an option that may occur once, under one of its names or as its old spelling (core)."""
    found = [(name, values) for name, values in given if name in names or (old and name == old)]
    if len(found) > 1:
        raise Refused(f"Open MPI 5 refuses --{found[0][0]} with --{found[1][0]}; give one of them")
    if not found:
        return ""
    value = found[0][1][0] if found[0][1] else "core"
    return "package" + value[6:] if value.lower().startswith("socket") else value


def _mapping_text(given: Occurrences) -> str:
    """Return the value of --map-by after old options were added to it."""
    text = _only(given, ("map-by", "mapby"))
    for name, values in given:
        if name in _DIRECTIVES:
            if text and not text.startswith(":"):
                replacement = _DIRECTIVES[name].format(*values)
                raise Refused(f"Open MPI 5 refuses --{name} with --map-by {text}; use --map-by {replacement} alone")
            text = _DIRECTIVES[name].format(*values) + text
        elif name in _QUALIFIERS:
            text += ":" + _QUALIFIERS[name].format(*values)
    return text


def _full(option: str, word: str, names: Iterable[str]) -> str:
    """Return the first of the names that a word abbreviates.

    Raises:
        Refused: it is none of them.
    """
    found = next((name for name in names if word and name.startswith(word.lower())), None)
    if found is None:
        raise Refused(f"cannot read {option} {word[:60]}; valid values of Open MPI 5: {', '.join(names)}")
    return found


def _mapping(text: str, default: str) -> tuple[PrrtePolicy, str]:
    """Return the mapping that the command line and the parameter give, and the rank file."""
    base, base_file = _one_mapping(default)
    if base.mapper == "pe-list" or base.ordered:
        raise Refused(f"Open MPI 5 refuses {default} as the default of --map-by")
    own, file = _one_mapping(text)
    words = [word.lower() for word in text.split(":")]
    hwthreads = own.hwthreads or (base.hwthreads and not any("corecpus".startswith(w) for w in words[1:] if w))
    stated = any(w and ("oversubscribe".startswith(w) or "nooversubscribe".startswith(w)) for w in words)
    if not own.mapper and base.mapper:
        merged = replace(base, width=base.width if own.width is None else own.width)
        return replace(merged, hwthreads=hwthreads), base_file
    if not own.mapper and base.span:
        raise Refused(f"Open MPI 5 refuses {default} as the default of --map-by: it contains no object")
    oversubscribe = own.oversubscribe or (base.oversubscribe and not stated)
    return replace(own, hwthreads=hwthreads, oversubscribe=oversubscribe, nolocal=own.nolocal or base.nolocal), file


def _one_mapping(text: str) -> tuple[PrrtePolicy, str]:
    words = text.split(":")
    policy = PrrtePolicy()
    if words[0].lower() == "ppr":
        policy, words = _pattern(text, words)
    elif words[0].partition("=")[0].lower() == "pe-list":
        policy = PrrtePolicy(mapper="pe-list", listed=_listed(words[0].partition("=")[2]))
    elif words[0]:
        mapper = "package" if words[0].lower().startswith("socket") else words[0].partition("=")[0]
        policy = PrrtePolicy(mapper=_full("--map-by", mapper, _MAPPERS))
        if policy.mapper in ("ppr", "pe-list"):
            raise Refused(f"cannot read --map-by {text}; use ppr:2:numa or pe-list=0,1")
    return _modified(policy, words[1:])


def _pattern(text: str, words: list[str]) -> tuple[PrrtePolicy, list[str]]:
    if len(words) < 3:
        raise Refused(f"cannot read --map-by {text}; use ppr:2:numa")
    units = (*LEVELS, "node", "socket", "skt")
    unit = _full("--map-by ppr", words[2], [name for name in units if name != "none"])
    unit = "package" if unit in ("socket", "skt") else unit
    return PrrtePolicy(mapper="ppr", per=_line.read_integer("--map-by ppr", words[1]), unit=unit), words[2:]


def _listed(text: str) -> tuple[str, ...]:
    parts = tuple(text.split(","))
    for part in parts:
        for number in part.split("-", 1):
            _line.read_integer("--map-by pe-list", number, least=0)
    return parts


def _modified(policy: PrrtePolicy, words: Sequence[str]) -> tuple[PrrtePolicy, str]:
    file, seen = "", set()
    for word in words:
        name, _, value = word.partition("=")
        name = _full("--map-by :", name, _MODIFIERS)
        seen.add(name)
        if name == "pe":
            policy = replace(policy, width=_line.read_integer("PE", value))
        elif name == "file":
            file = value
    for pair in _OPPOSITES:
        if seen >= set(pair):
            raise Refused(f"Open MPI 5 refuses {pair[0].upper()} with {pair[1].upper()}; give one of them")
    return replace(
        policy,
        span="span" in seen,
        ordered="ordered" in seen,
        oversubscribe="oversubscribe" in seen,
        hwthreads="hwtcpus" in seen or policy.mapper == "hwthread",
        nolocal="nolocal" in seen,
    ), file


def _binding(policy: PrrtePolicy, text: str, default: str) -> PrrtePolicy:
    """Add what --bind-to says, or else the parameter."""
    if not text and policy.oversubscribe:
        return policy
    inherited = not text
    binder, *qualifiers = (text or default).split(":")
    if not binder:
        if qualifiers:
            raise Refused(f"Open MPI 5 refuses --bind-to {text or default}: it contains no object")
        return policy
    binder = "package" if binder.lower().startswith("socket") else binder
    known = {_full("--bind-to :", word, ("overload-allowed", "no-overload", "if-supported")) for word in qualifiers}
    full = _full("--bind-to", binder, _BINDERS)
    if inherited and not policy.mapper:  # the default of --map-by is that of no --bind-to
        policy = replace(policy, mapper="slot" if (policy.width or 1) > 1 else policy.cpu())
    return replace(
        policy,
        binder=full,
        stated=not inherited,
        overload="overload-allowed" in known,
        required="if-supported" not in known,
    )


def _usable(text: str, topology: Topology) -> frozenset[int]:
    """Return the hardware threads of hwloc_default_cpu_list."""
    listed, _, kind = text.partition(":")
    if kind.lower() not in ("", "hwtcpus", "corecpus"):
        raise Refused(f"Open MPI 5 refuses hwloc_default_cpu_list {text}; use 0-3:HWTCPUS")
    level = "hwthread" if kind.lower() == "hwtcpus" else "core"
    return logical(objects_of(topology, level), _listed(listed), level)


def _slots(given: Occurrences, parameters: Mapping[str, str], topology: Topology) -> int | None:
    """Return the number of slots of the node, if it is not that of its cores."""
    hosts = [values[0] for name, values in given if name in ("host", "H")]
    if hosts and "," not in hosts[-1]:
        number = hosts[-1].partition(":")[2] or "1"
        if number not in ("*", "auto"):
            return _line.read_integer("--host", number)
    text = parameters.get("slots", "core")
    if any(name == "use-hwthread-cpus" for name, _ in given):
        text = "hwthread"
    for name, level in (("cores", "core"), ("hwthreads", "hwthread"), ("numas", "numa"), ("sockets", "package")):
        if text and name.startswith(text):
            return None if level == "core" else len(objects_of(topology, level))
    return _line.read_integer("prte_set_default_slots", text)


def _parameters(given: Occurrences, variables: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Return the parameters that decide masks, by what they are, and remarks on those that do nothing."""
    notes: list[str] = []
    stated = {}
    for variable, value in variables.items():
        if variable.startswith("PRTE_MCA_"):
            stated[variable.removeprefix("PRTE_MCA_")] = (variable, value)
        elif variable.startswith("OMPI_MCA_") and _places(variable.removeprefix("OMPI_MCA_")):
            notes.append(f"Open MPI 5 ignores {variable}: it has no effect on placement; use PRTE_MCA_… of PRRTE")
    for option, values in given:
        if not option.endswith("mca"):
            continue
        name, value = values[0], values[1]
        of_prrte = option == "prtemca" or (option == "mca" and name.startswith(("rmaps_default_", "hwloc_default_")))
        if of_prrte:
            stated[name] = (f"--{option} {name}", value)
        elif _places(name):
            notes.append(f"Open MPI 5 ignores --{option} {name}: it has no effect on placement; use --prtemca of PRRTE")
    found: dict[str, str] = {}
    for name, (spelt, value) in stated.items():
        short = name if name in PARAMETERS or name in DECIDING else name.removeprefix("prte_")
        if short in DECIDING:
            raise ValueError(
                f"cannot interpret {spelt}: it may change the placement in a way that is not supported; remove it"
            )
        if short in PARAMETERS:
            if found.setdefault(PARAMETERS[short], value) != value:
                raise ValueError(
                    f"cannot interpret {spelt}: a parameter of the same meaning has another value; give one of them"
                )
        elif short.startswith(OF_ORTE):
            notes.append(f"Open MPI 5 ignores {spelt}: it has no effect on placement")
    return found, notes


def _places(name: str) -> bool:
    return name in PARAMETERS or name in DECIDING or name.startswith((*OF_ORTE, "rmaps_default_", "hwloc_default_"))
