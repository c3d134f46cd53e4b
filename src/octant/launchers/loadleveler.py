"""LoadLeveler: job command file keywords for affinity (POWER6 guide, section 5.2.1 and table 5-1)."""

import re

from octant.launchers import LauncherReading, Syntax, _command, _line, _reading, _tables, _writing
from octant.machine import Topology
from octant.placement import Placement
from octant.placement.request import Memory, PlacementRequest

TITLE = "LoadLeveler (job command file)"
MARK = r"#\s*@\s*(rset|task_affinity|mcm_affinity_options|cpus_per_core)\b"
OPTIONS: _tables.Table = {}
VARIABLES: _tables.Table = {}
KEYWORDS = _tables.table(
    _tables.interpreted(
        "rset mcm_affinity_options task_affinity cpus_per_core parallel_threads tasks_per_node total_tasks"
    ),
    _tables.irrelevant(
        "it does not concern the placement of tasks",
        "job_name job_type class group account_no wall_clock_limit cpu_limit output error input initialdir environment "
        "notification notify_user comment executable arguments shell restart requirements resources network.* env_copy "
        "step_name dependency startdate hold",
    ),
    _tables.irrelevant("the placement on one node is shown", "node node_usage"),
    _tables.not_read("it distributes tasks", "blocking task_geometry bulkxfer smt first_node_tasks"),
)
"""Keywords of a job command file: the POWER6 guide, section 5.2.1."""


def to_syntax(placement: Placement, request: PlacementRequest, topology: Topology) -> Syntax:
    """Return the keywords that the request needs, as POE generates them."""
    if request.cpus and all(held == topology.allowed for held in _writing.rank_sets(placement)):
        return Syntax((), False, ("no task is bound: LoadLeveler binds tasks only with a keyword",))
    plain = _writing.simplify_request(placement, request, topology)
    lines = ["#@rset = rset_mcm_affinity"]
    cannot = ["LoadLeveler selects MCMs and cores itself: their kind is as requested, their numbers may differ"]
    if plain.cpus:
        cannot = ["a job command file cannot list hardware threads; use octant-bind in the job"]
    options = _options(plain)
    if options:
        lines.append(f"#@mcm_affinity_options = {options}")
    if plain.unit in ("hwthread", "core"):
        kind = "core" if plain.smt == 1 else "cpu"
        lines.append(f"#@task_affinity = {kind}({plain.threads})")
        if plain.threads > 1:
            used = topology.smt() if plain.smt == 0 else plain.smt
            lines += [f"#@parallel_threads = {plain.threads}", f"#@cpus_per_core = {used}"]
    if plain.order.startswith("scatter:") and plain.order != "scatter:numa":
        cannot.append(
            f"order={plain.order} is not supported: tasks are distributed round-robin over MCMs (mcm_distribute)"
        )
    if request.memory.policy == "interleave" or request.memory.nodes:
        cannot.append(
            f"memory={request.memory} cannot be requested: memory is allocated on the MCM of the task, or on any MCM"
        )
    return Syntax(tuple(lines), False, (*cannot, *_pages(request)))


def _options(plain: PlacementRequest) -> str:
    if plain.near == "adapter":
        return "MCM_SNI_PREF MCM_DISTRIBUTE"
    memory = {"local": "mcm_mem_pref", "preferred": "mcm_mem_pref", "bind": "mcm_mem_req"}.get(plain.memory.policy)
    if plain.order == "compact" and not memory and plain.threads == 1:
        return ""
    allocation = "mcm_accumulate" if plain.order == "compact" else "mcm_distribute"
    return " ".join(filter(None, [allocation, memory, "mcm_sni_none"]))


def _pages(request: PlacementRequest) -> list[str]:
    if request.pages == "default":
        return []
    return [f"pages={request.pages} has no keyword; on AIX, export LDR_CNTRL (see --for aix)"]


def from_syntax(command: _command.Command, topology: Topology) -> LauncherReading:
    """Read the keywords; a quad or chip that LoadLeveler calls MCM is a NUMA domain here."""
    pairs = re.findall(r"#\s*@\s*([\w.]+)\s*=\s*([^\n#]*)", command.text)
    words = {key.lower(): value.strip().lower() for key, value in pairs}
    rset = words.get("rset", "")
    notes = _command.account_variables(words, [KEYWORDS], TITLE)
    if rset != "rset_mcm_affinity":
        notes.append("without rset = rset_mcm_affinity LoadLeveler ignores task_affinity and mcm_affinity_options")
    options = words.get("mcm_affinity_options", "").split()
    spread = "mcm_distribute" in options
    affinity = re.fullmatch(r"(core|cpu)\s*(?:\(\s*(\d+)\s*\))?", words.get("task_affinity", "core(0)"))
    if affinity is None:
        raise ValueError(f"cannot read task_affinity = {words['task_affinity']}; use core(1) or cpu(2)")
    number = _line.read_integer("task_affinity", affinity[2] or "1", least=0)
    memory = {"mcm_mem_req": Memory("bind"), "mcm_mem_pref": Memory("local")}
    policy = next((memory[word] for word in options if word in memory), Memory())
    smt = 1 if affinity[1] == "core" else 0
    per_core = words.get("cpus_per_core", "")
    order = "scatter:numa" if spread else "compact"
    near = "adapter" if {"mcm_sni_pref", "mcm_sni_req"} & set(options) else "any"
    if number == 0:
        request = PlacementRequest(1, 1, "numa", order, memory=policy, near=near, share=True)  # type: ignore[arg-type]
    else:
        unit = "core" if smt == 1 else "hwthread"
        smt = _line.read_integer("cpus_per_core", per_core) if per_core.isdigit() and smt != 1 else smt
        request = PlacementRequest(1, number, unit, order, smt, memory=policy, near=near)  # type: ignore[arg-type]
    if not spread:
        notes.append(_reading.ACCUMULATES)
    tasks = words.get("tasks_per_node", words.get("total_tasks", ""))
    if tasks.isdigit():
        request = PlacementRequest(**{**vars(request), "ranks": _line.read_integer("tasks", tasks)})
    else:
        request, remark = _reading.fill_ranks(request, topology)
        notes += remark
    return _reading.reading_of_request(request, topology, notes)
