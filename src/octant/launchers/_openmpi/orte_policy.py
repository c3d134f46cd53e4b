"""Policies of ORTE from a command line of Open MPI 4.1, whose options are other spellings of parameters."""

from collections.abc import Mapping
from dataclasses import replace

from octant.launchers import _line
from octant.launchers._openmpi.orte import OBJECTS, OrtePolicy, level_of
from octant.launchers._openmpi.prrte import Refused
from octant.launchers._openmpi.prrte_policy import Occurrences
from octant.machine import CpuSet, Topology

_SET = {
    "map-by": "mapping", "rank-by": "ranking", "bind-to": "binding", "cpu-set": "list", "cpu-list": "list",
    "cpus-per-proc": "width", "cpus-per-rank": "width", "npernode": "pernode", "N": "pernode",
    "npersocket": "persocket", "ppr": "pattern",
}  # fmt: skip
_FLAGS = {
    "bind-to-core": "core", "bind-to-socket": "socket", "bycore": "bycore", "byslot": "byslot", "bynode": "bynode",
    "pernode": "one", "nolocal": "nolocal", "oversubscribe": "oversubscribe", "nooversubscribe": "nooversubscribe",
    "use-hwthread-cpus": "hwthreads",
}  # fmt: skip
PARAMETERS = {
    "rmaps_base_mapping_policy": "mapping", "rmaps_base_schedule_policy": "mapping",
    "rmaps_base_ranking_policy": "ranking", "hwloc_base_binding_policy": "binding", "hwloc_base_cpu_list": "list",
    "hwloc_base_cpu_set": "list", "hwloc_base_slot_list": "list", "rmaps_base_cpus_per_proc": "width",
    "rmaps_base_cpus_per_rank": "width", "rmaps_base_n_pernode": "pernode", "rmaps_ppr_n_pernode": "pernode",
    "rmaps_base_n_persocket": "persocket", "rmaps_ppr_n_persocket": "persocket", "rmaps_base_pattern": "pattern",
    "rmaps_ppr_pattern": "pattern", "hwloc_base_bind_to_core": "core", "hwloc_base_bind_to_socket": "socket",
    "rmaps_base_bycore": "bycore", "rmaps_base_byslot": "byslot", "rmaps_base_bynode": "bynode",
    "rmaps_base_pernode": "one", "rmaps_ppr_pernode": "one", "rmaps_base_no_schedule_local": "nolocal",
    "rmaps_base_oversubscribe": "oversubscribe", "rmaps_base_no_oversubscribe": "nooversubscribe",
    "hwloc_base_use_hwthreads_as_cpus": "hwthreads", "orte_set_default_slots": "slots",
}  # fmt: skip
"""Parameters that decide masks, by what they say."""
DECIDING = frozenset({
    "rmaps", "ras", "rtc", "hwloc_base_topo_file", "rmaps_base_topology", "orte_rankfile", "rmaps_rank_file_path",
    "rmaps_rank_file_physical", "rmaps_dist_device", "orte_default_hostfile", "orte_default_dash_host",
    "ras_base_launch_orted_on_hn", "orte_no_vm", "orte_soft_locations", "rmaps_ppr_priority", "rmaps_seq_priority",
    "rmaps_rank_file_priority", "rmaps_mindist_priority", "rmaps_round_robin_priority", "rmaps_resilient_priority",
})  # fmt: skip
"""Parameters that may change masks in ways that are not read here."""
_TRUE = frozenset({"1", "true", "yes", "t", "y", "enabled"})
_MAPPERS = ("slot", "node", "seq", "core", "l1cache", "l2cache", "l3cache", "socket", "numa", "board", "hwthread",
            "dist", "ppr")  # fmt: skip


def read(given: Occurrences, variables: Mapping[str, str], topology: Topology) -> tuple[OrtePolicy, int | None]:
    """Return the policy that options and variables request, and the number of ranks.

    Raises:
        Refused: Open MPI 4.1 stops with an error here.
        ValueError: a value that Octant does not read; the message names it.
    """
    settings = _settings(given, variables)
    policy = _mapping(settings)
    policy = replace(policy, hwthreads=_true(settings, "hwthreads"), nolocal=_true(settings, "nolocal"))
    if "width" in settings:
        policy = replace(policy, width=_line.read_integer("--cpus-per-proc", settings["width"]))
    policy = _binding(policy, settings)
    allowed, forbidden = _true(settings, "oversubscribe"), _true(settings, "nooversubscribe")
    words = settings.get("mapping", "").lower()
    if allowed and (forbidden or "nooversubscribe" in words):
        raise Refused("Open MPI 4.1 refuses options that both allow and forbid oversubscription; give one of them")
    if forbidden and policy.oversubscribe:
        raise Refused("Open MPI 4.1 refuses options that both allow and forbid oversubscription; give one of them")
    policy = replace(policy, oversubscribe=policy.oversubscribe or allowed, overload=policy.overload or allowed)
    if policy.binder == "cpu-list":
        raise ValueError(
            "cannot interpret --bind-to cpu-list, which is not supported; --cpu-list alone binds to the list"
        )
    if "list" in settings:
        if policy.mapper:
            raise Refused("Open MPI 4.1 refuses --cpu-set and --cpu-list together with a mapping; give one of them")
        level = "hwthread" if policy.hwthreads or policy.binder == "hwthread" else "core"
        held = _listed(settings["list"], level_of(topology, level))
        policy = replace(policy, binder="cpu-list", listed=held)
    policy = replace(policy, slots=_slots(given, settings, topology))
    number = next((values[0] for name, values in reversed(given) if name in ("n", "np", "c")), None)
    return policy, None if number is None else _line.read_integer("-n", number)


def _settings(given: Occurrences, variables: Mapping[str, str]) -> dict[str, str]:
    """Return the settings by topic: options and --mca precede variables."""
    stated: dict[str, tuple[str, str]] = {}
    for option, values in given:
        about = _SET.get(option) or _FLAGS.get(option)
        value, spelt = values[0] if option in _SET else "1", f"--{option}"
        if option in ("mca", "gmca"):
            about, value, spelt = PARAMETERS.get(values[0]), values[1], f"--{option} {values[0]}"
            if values[0] in DECIDING:
                raise ValueError(
                    f"cannot interpret {spelt}: it may change the placement in a way that is not supported; remove it"
                )
        if about is None:
            continue
        if about in stated:
            if stated[about][1] == value:
                continue
            raise ValueError(
                f"cannot interpret {spelt} with {stated[about][0]}: they set the same parameter to different values; "
                "give one of them"
            )
        stated[about] = (spelt, value)
    found = {
        PARAMETERS[name.removeprefix("OMPI_MCA_")]: value
        for name, value in variables.items()
        if name.startswith("OMPI_MCA_") and name.removeprefix("OMPI_MCA_") in PARAMETERS
    }
    return found | {about: value for about, (_, value) in stated.items()}


def _true(settings: Mapping[str, str], about: str) -> bool:
    return settings.get(about, "0").lower() in _TRUE


def _full(option: str, word: str, names: tuple[str, ...]) -> str:
    found = next((name for name in names if word and name.startswith(word.lower())), None)
    if found is None:
        raise Refused(f"cannot read {option} {word[:60]}; valid values of Open MPI 4.1: {', '.join(names)}")
    return found


def _mapping(settings: Mapping[str, str]) -> OrtePolicy:
    text = settings.get("mapping", "")
    if "pattern" in settings:
        if text:
            raise Refused("Open MPI 4.1 refuses --ppr with --map-by; use --map-by ppr:2:numa alone")
        text = f"ppr:{settings['pattern']}"
    policy = _one_mapping(text) if text else OrtePolicy()
    for about, unit in (("bycore", "core"), ("byslot", "slot"), ("bynode", "node")):
        if _true(settings, about):
            if policy.mapper not in ("", unit) and not policy.implied:
                raise Refused(f"Open MPI 4.1 refuses --{about} with another mapping; give one of them")
            if settings.get("ranking", unit).lower() != unit:
                raise Refused(f"Open MPI 4.1 refuses --{about} with another ranking; give one of them")
            policy = replace(policy, mapper=unit, implied=False, ranker=unit)
    for about, unit in (("pernode", "node"), ("persocket", "socket"), ("one", "node")):
        if about in settings and (about != "one" or _true(settings, about)):
            if (policy.mapper and not policy.implied) or policy.width or "width" in settings:
                raise ValueError(f"cannot interpret ranks per {unit} with a mapping; use --map-by ppr:2:{unit} alone")
            per = 1 if about == "one" else _line.read_integer(f"ranks per {unit}", settings[about])
            policy = replace(policy, mapper="ppr", implied=False, per=per, unit=unit)
    if "ranking" in settings and not policy.ranker:
        name, *rest = settings["ranking"].split(":")
        ranker = _full("--rank-by", name, ("slot", "node", *OBJECTS, "board"))
        fill = bool(rest) and _full("--rank-by :", rest[0], ("span", "fill")) == "fill"
        policy = replace(policy, ranker=ranker, fill=fill)
    return policy


def _one_mapping(text: str) -> OrtePolicy:
    name, _, rest = text.partition(":")
    policy, span = OrtePolicy(), False
    if name and "ppr".startswith(name.lower()):
        number, _, rest = rest.partition(":")
        unit, _, rest = rest.partition(":")
        full = _full("--map-by ppr", "socket" if unit == "skt" else unit, ("node", *OBJECTS))
        policy = OrtePolicy(mapper="ppr", per=_line.read_integer("--map-by ppr", number), unit=full)
    elif name:
        mapper = _full("--map-by", name, _MAPPERS)
        if mapper in ("board", "dist", "seq"):
            raise ValueError(
                f"cannot interpret --map-by {mapper}: it needs a file or a device, or Open MPI 4.1 refuses it; use "
                "another mapping"
            )
        policy = OrtePolicy(mapper=mapper)
    for word in filter(None, rest.split(",")):
        if word.lower().startswith("pe"):
            policy = replace(policy, width=_line.read_integer("PE", word.partition("=")[2]))
        else:
            known = _full("--map-by :", word, ("span", "oversubscribe", "nooversubscribe"))
            span = span or known == "span"
            policy = replace(policy, oversubscribe=known == "oversubscribe" or policy.oversubscribe)
    return policy if policy.mapper else replace(policy, mapper="socket", implied=not span)


def _binding(policy: OrtePolicy, settings: Mapping[str, str]) -> OrtePolicy:
    text = settings.get("binding", "").lower()
    binder, _, qualifiers = text.partition(":")
    names = ("if-supported", "overload-allowed", "oversubscribe-allowed", "ordered")
    known = {_full("--bind-to :", word, names) for word in filter(None, qualifiers.split(","))}
    if binder.startswith("none"):
        binder, known = "none", set()
    if binder not in ("", "none", "board", "cpu-list", "cpulist", *OBJECTS):
        raise Refused(
            f"cannot read --bind-to {binder[:60]}; valid values of Open MPI 4.1: none, cpu-list, {', '.join(OBJECTS)}"
        )
    for about in ("core", "socket"):
        if _true(settings, about):
            if binder not in ("", about):
                raise Refused(f"Open MPI 4.1 refuses --bind-to-{about} with --bind-to {binder}; give one of them")
            binder = about
    return replace(
        policy,
        binder="cpu-list" if binder == "cpulist" else binder,
        overload=bool(known & {"overload-allowed", "oversubscribe-allowed"}),
    )


def _listed(text: str, cpus: tuple[CpuSet, ...]) -> CpuSet:
    """Return the hardware threads of a CPU list."""
    held: CpuSet = frozenset()
    for part in text.split(","):
        first, _, last = part.partition("-")
        begin = _line.read_integer("--cpu-list", first, least=0)
        for number in range(begin, _line.read_integer("--cpu-list", last or first, least=0) + 1):
            if number >= len(cpus):
                raise Refused(f"Open MPI 4.1 finds no CPU {number} of --cpu-list: the last one is {len(cpus) - 1}")
            held |= cpus[number]
    return held


def _slots(given: Occurrences, settings: Mapping[str, str], topology: Topology) -> int:
    hosts = [values[0] for name, values in given if name in ("host", "H")]
    if hosts and "," not in hosts[-1]:
        number = hosts[-1].partition(":")[2] or "1"
        if number not in ("*", "auto"):
            return _line.read_integer("--host", number)
    text = settings.get("slots") or ("hwthreads" if _true(settings, "hwthreads") else "cores")
    for name, level in (("cores", "core"), ("hwthreads", "hwthread"), ("numas", "numa"), ("sockets", "socket")):
        if name.startswith(text):
            return len(level_of(topology, level))
    return _line.read_integer("orte_set_default_slots", text)
