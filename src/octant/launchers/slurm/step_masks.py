"""The masks that Slurm gives the tasks of a step on one node: cores of the step, then task/affinity.

The rules are those of Slurm 22.05 with SelectType=select/cons_tres, SelectTypeParameters=CR_Core and
TaskPlugin=task/affinity, for a job that has whole nodes; they were compared with a real Slurm on machines of many
shapes (tests/support/record_slurm.py). Slurm numbers CPUs "abstractly": socket by socket, core by core, and the
hardware threads of a core side by side.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from octant.launchers._line import MAX_RANKS
from octant.machine import CpuSet, Topology
from octant.machine.cpusets import parse_mask

EXPLICIT = ("none", "rank", "map_cpu", "mask_cpu", "rank_ldom", "map_ldom", "mask_ldom")
UNITS = ("threads", "cores", "sockets", "ldoms")


@dataclass(frozen=True)
class Node:
    """A node as Slurm counts it: every socket has as many cores, and every core as many hardware threads."""

    sockets: int
    cores: int  # of each socket
    threads: int  # of each core
    cpus: tuple[int, ...]  # the system's number of each abstract CPU
    domains: tuple[CpuSet, ...]  # the CPUs of each NUMA node that libnuma counts
    present: CpuSet

    @property
    def all_cores(self) -> int:
        """Return the number of cores."""
        return self.sockets * self.cores

    @property
    def size(self) -> int:
        """Return the number of hardware threads."""
        return self.all_cores * self.threads

    def mask(self, abstract: CpuSet) -> CpuSet:
        """Return the system's numbers of abstract CPUs."""
        return frozenset(self.cpus[one] for one in abstract)

    def domain(self, number: int) -> CpuSet:
        """Return the CPUs of a locality domain; numbers beyond the last one wrap around."""
        return self.domains[number % len(self.domains)]


@dataclass(frozen=True)
class Bind:
    """The value of --cpu-bind after defaults: an explicit mode with its list, or units."""

    mode: str = ""  # one of EXPLICIT
    listed: tuple[str, ...] = ()
    units: frozenset[str] = frozenset()
    one_thread: bool = False


@dataclass(frozen=True)
class SrunStep:
    """The request of srun, with its defaults."""

    tasks: int  # of all nodes
    nodes: int = 1
    cpus_per_task: int | None = None  # as -c stated it
    bind: Bind = field(default_factory=Bind)
    distribution: tuple[str, str] = ("", "")  # over nodes, over sockets; "": not stated
    plane: int = 0
    pack: bool = False
    exact: bool = False
    overcommit: bool = False
    threads_per_core: int | None = None
    job_threads_per_core: int | None = None
    tasks_per_core: int = 0  # 0: not stated
    tasks_per_socket: int = 0
    tasks_per_node: int = 0


@dataclass(frozen=True)
class SlurmSettings:
    """The settings of slurm.conf that change masks; the defaults are those of Slurm."""

    block: bool = False  # SelectTypeParameters contains CR_CORE_DEFAULT_DIST_BLOCK
    one_task: bool = False  # SelectTypeParameters contains CR_ONE_TASK_PER_CORE
    autobind: str = ""  # TaskPluginParam=autobind=...
    cores_are_cpus: bool = False  # the node line counts each core as one CPU


def node_of(topology: Topology) -> Node:
    """Return the topology as slurmd sees it.

    Where packages or cores differ, slurmd divides: it then counts fewer hardware threads than there are, and CPUs whose
    numbers are not below the number of CPUs keep the place of another one.
    """
    packages = topology.groups("package")
    cores = [core for package in packages for core in topology.groups("core") if core <= package]
    count, threads = len(topology.cpus), len(topology.cpus) // len(cores)
    size = len(packages) * (len(cores) // len(packages)) * threads
    cpus = list(range(count))
    for at, core in enumerate(cores):
        for thread, cpu in enumerate(sorted(core)[:threads]):
            if cpu < count and at * threads + thread < count:
                cpus[at * threads + thread] = cpu
    home = {cpu: node.os for node in topology.numa for cpu in node.cpus}
    last = max((node.os for node in topology.numa), default=0)
    domains = tuple(frozenset(cpu for cpu in range(size) if home.get(cpu, 0) == number) for number in range(last + 1))
    present = frozenset(cpu.os for cpu in topology.cpus)
    return Node(len(packages), len(cores) // len(packages), threads, tuple(cpus), domains, present)


def compute_masks(node: Node, step: SrunStep, settings: SlurmSettings = SlurmSettings()) -> list[CpuSet | None]:  # noqa: B008 - immutable
    """Return the mask of each task of the first node; `None`: the task is not bound.

    Raises:
        ValueError: srun refuses such a step, or would wait indefinitely.
    """
    if settings.one_task and not step.tasks_per_core:
        step = replace(step, tasks_per_core=1)
    if settings.cores_are_cpus:
        step = replace(step, job_threads_per_core=1, bind=replace(step.bind, one_thread=True))
    tasks = _tasks_of_first_node(node, step)
    if tasks > MAX_RANKS:
        raise ValueError(
            f"cannot place {tasks} tasks on one node (more than {MAX_RANKS} tasks); reduce the number of tasks"
        )
    cores = _cores_of_step(node, step, tasks)
    usable = frozenset(core * node.threads + thread for core in cores for thread in range(node.threads))
    if step.bind.mode:
        found: list[CpuSet | None] = _explicit(node, step.bind, usable, tasks)
    else:
        found = [*_units(node, step, usable, tasks, settings)]
    present = [held if held is None else held & node.present for held in found]
    if any(held is not None and not held for held in present):
        raise ValueError("cannot bind a task to CPUs that are offline; choose other CPUs")
    return present


def has_every_core(node: Node, step: SrunStep) -> bool:
    """Return whether the step has all cores of the first node.

    Raises:
        ValueError: srun refuses such a step.
    """
    return len(_cores_of_step(node, step, _tasks_of_first_node(node, step))) == node.all_cores


def is_crowded(node: Node, step: SrunStep) -> bool:
    """Return whether every task has all CPUs (--overcommit), because the tasks cannot be distributed."""
    tasks = _tasks_of_first_node(node, step)
    return step.overcommit and not step.bind.mode and tasks > len(_cores_of_step(node, step, tasks)) * node.threads


def _tasks_of_first_node(node: Node, step: SrunStep) -> int:
    """Return how many tasks start on the first of the nodes."""
    nodes = min(step.nodes, step.tasks)
    room = max(1, _usable_cpus(node, step) // max(1, _cpus_per_task(node, step)))
    if step.tasks_per_node and not step.plane:
        room = min(room, step.tasks_per_node * max(1, _cpus_per_task(node, step)))
    if step.plane:
        return _tasks_by_plane(step, nodes, room)
    if step.pack and step.distribution[0] != "cyclic":
        most = max(room, -(-step.tasks // nodes))
        return min(most, step.tasks - (nodes - 1))
    return -(-step.tasks // nodes)


def _tasks_by_plane(step: SrunStep, nodes: int, room: int) -> int:
    counts, left, crowded, first = [1] * nodes, step.tasks - nodes, False, True
    while left > 0:
        space = False
        for at in range(nodes):
            for _ in range(int(first), step.plane):
                if left > 0 and (counts[at] < room or crowded):
                    counts[at], left = counts[at] + 1, left - 1
                    space = space or room - counts[at] - 1 >= 0
        crowded, first = crowded or not space, False
    return counts[0]


def _one_thread(step: SrunStep) -> bool:
    return (step.threads_per_core or step.job_threads_per_core) == 1


def _usable_cpus(node: Node, step: SrunStep) -> int:
    return node.all_cores if _one_thread(step) else node.size


def _cpus_per_task(node: Node, step: SrunStep) -> int:
    """Return the CPUs of a task as the controller counts them; 0: it does not know."""
    if step.overcommit:
        return 0
    each = step.cpus_per_task or 1
    if each > node.size or node.size // each * step.nodes < step.tasks:
        return 0
    return each


def _cores_of_step(node: Node, step: SrunStep, tasks: int) -> list[int]:
    """Return the cores that the controller gives the step on the first node.

    Raises:
        ValueError: there are too few.
    """
    of_job = step.job_threads_per_core or node.threads
    limit = step.threads_per_core or of_job
    if limit > of_job and not step.overcommit:
        raise ValueError(f"cannot use {limit} hardware threads per core: the job has {of_job}")
    asked = 0 if step.overcommit else step.tasks * (step.cpus_per_task or 1)
    needed = asked if limit == of_job else -(-asked // limit) * node.threads
    if needed > node.all_cores * of_job * step.nodes:
        raise ValueError(
            f"cannot start {step.tasks} tasks x {step.cpus_per_task or 1} CPUs (more than the job has); reduce -n or -c"
        )
    every = list(range(node.all_cores))
    if not step.exact or tasks == node.all_cores or (asked and asked == node.all_cores * of_job * step.nodes):
        return every
    each = _cpus_per_task(node, step)
    width = 1 if _one_thread(step) else step.threads_per_core or step.job_threads_per_core or node.threads
    wanted = tasks
    if each > width:
        wanted *= -(-each // width)
    elif each:
        wanted = -(-tasks * each // width)
    chosen = [core for core, _ in zip(_order(node, step, wanted // tasks), range(wanted), strict=False)]
    if len(chosen) < wanted:
        if step.overcommit:
            raise ValueError(
                "cannot determine which cores --overcommit shares: they depend on the previous step; increase the "
                "CPUs of the job"
            )
        raise ValueError(
            f"cannot start this step: {wanted} cores are needed, but the node has {node.all_cores}, and srun "
            "would wait; reduce -n or -c"
        )
    return chosen


def _order(node: Node, step: SrunStep, each: int) -> Iterator[int]:
    """Yield cores in the order in which the controller gives them to a step."""
    over_sockets = step.distribution[1]
    if over_sockets == "block":
        yield from range(node.all_cores)
    elif over_sockets == "fcyclic":
        yield from (socket * node.cores + core for core in range(node.cores) for socket in range(node.sockets))
    else:
        following = [0] * node.sockets
        taken = 0
        while any(core < node.cores for core in following):
            for socket in range(node.sockets):
                while following[socket] < node.cores:
                    following[socket] += 1
                    yield socket * node.cores + following[socket] - 1
                    taken += 1
                    if taken == each:
                        taken = 0
                        break


def _explicit(node: Node, bind: Bind, usable: CpuSet, tasks: int) -> list[CpuSet | None]:
    """Return the masks of modes that name CPUs or domains, or that bind nothing."""
    whole = len(usable) == node.size
    inside = node.mask(usable)
    if bind.mode in ("map_cpu", "mask_cpu"):
        sets = [frozenset({int(one)}) if bind.mode == "map_cpu" else parse_mask(one) for one in bind.listed]
        if any(not held <= inside for held in sets):
            raise ValueError(
                f"cannot bind to these CPUs (--cpu-bind={bind.mode}): some are outside of the step; choose CPUs of "
                "the step"
            )
        return [sets[task % len(sets)] for task in range(tasks)]
    if not whole:
        if bind.mode != "none":
            raise ValueError(
                f"cannot use --cpu-bind={bind.mode} in a step without all CPUs of the node, because srun refuses "
                "it; remove -c and --exact"
            )
        return [inside] * tasks
    if bind.mode == "none":
        return [None] * tasks
    if bind.mode == "rank":
        return [frozenset({task % (node.size * node.threads)}) for task in range(tasks)]
    if bind.mode == "rank_ldom":
        return [node.domain(task) for task in range(tasks)]
    if bind.mode == "map_ldom":
        return [node.domain(int(bind.listed[task % len(bind.listed)])) for task in range(tasks)]
    numbers = [parse_mask(one) for one in bind.listed]
    held = [frozenset().union(*(node.domain(one) for one in some)) for some in numbers]
    return [held[task % len(held)] for task in range(tasks)]


def _units(node: Node, step: SrunStep, usable: CpuSet, tasks: int, settings: SlurmSettings) -> list[CpuSet]:
    """Return the masks where tasks are laid out one after the other, and widened to a unit.

    Raises:
        ValueError: the tasks do not fit.
    """
    units = step.bind.units or _automatic(node, step, usable, tasks) or frozenset(filter(None, [settings.autobind]))
    if not units:
        return [node.mask(usable)] * tasks
    by_socket = step.distribution[1]
    laid = None
    if _fits(node, step, usable, tasks):
        bound = max(1, step.cpus_per_task or 1)
        bound = bound if tasks * bound <= len(usable) else len(usable) // tasks
        block = by_socket == "block" or bool(step.plane) or (settings.block and not by_socket)
        lay_out = _lay_out_block if block else _lay_out_cyclic
        laid = lay_out(node, step, Bind("", (), units, step.bind.one_thread), usable, tasks, bound)
    if laid is None:
        if step.overcommit:
            return [node.mask(usable)] * tasks
        raise ValueError(
            "cannot distribute the tasks over the CPUs of the step, because srun refuses it; reduce -n or -c"
        )
    wide = [node.mask(_widen(node, units, held, usable)) for held in laid]
    if "ldoms" in units:
        wide = [frozenset().union(held, *(one for one in node.domains if one & held)) for held in wide]
    return wide


def _automatic(node: Node, step: SrunStep, usable: CpuSet, tasks: int) -> frozenset[str]:
    """Return the unit that task/affinity chooses where none is stated; empty: the mask of the whole step."""
    cores = {cpu // node.threads for cpu in usable}
    sockets = {core // node.cores for core in cores}
    wanted = tasks * (step.cpus_per_task or 1)
    if wanted == len(sockets) and len(cores) == len(sockets) * node.cores:
        return frozenset({"sockets"})
    if wanted == len(cores):
        return frozenset({"cores"})
    return frozenset({"threads"}) if wanted == len(usable) else frozenset()


def _limit(node: Node, step: SrunStep) -> int:
    """Return how many hardware threads of a core may be used; 0: all."""
    if step.threads_per_core:
        return step.threads_per_core
    return 1 if step.bind.one_thread or node.threads == 1 else 0


def _fits(node: Node, step: SrunStep, usable: CpuSet, tasks: int) -> bool:
    limit = _limit(node, step)
    return len(usable) >= tasks and not (limit and len(usable) < (step.cpus_per_task or 1) * (node.threads // limit))


def _skipped(node: Node, step: SrunStep, bind: Bind, each: int) -> int:
    """Return how many hardware threads are passed over behind a task."""
    if "cores" not in bind.units and step.tasks_per_core != 1:
        return 0
    return node.threads - each if each < node.threads else each % node.threads


def _lay_out_block(
    node: Node, step: SrunStep, bind: Bind, usable: CpuSet, tasks: int, each: int
) -> list[CpuSet] | None:
    """Return abstract CPUs of each task, filling one socket after the other; `None`: srun refuses."""
    limit, found, held, counted = _limit(node, step), list[CpuSet](), set[int](), 0
    while len(found) < tasks:
        before = len(found)
        core_tasks, core_threads, socket_tasks = ([0] * node.size for _ in range(3))
        at = 0
        while at < node.size and len(found) < tasks:
            cpu, core = at, at // node.threads
            at += 1
            socket = core // node.cores
            full = step.tasks_per_core and core_tasks[core] >= step.tasks_per_core
            full = full or (step.tasks_per_socket and socket_tasks[socket] >= step.tasks_per_socket)
            if cpu not in usable or full or (limit and core_threads[core] >= limit):
                continue
            held.add(cpu)
            counted += 1
            core_threads[core] += 1
            if counted == each:
                core_tasks[core] += 1
                socket_tasks[socket] += 1
                at += _skipped(node, step, bind, each)
                found.append(frozenset(held))
                held, counted = set(), 0
        if len(found) == before:
            return None
    return found


def _lay_out_cyclic(
    node: Node, step: SrunStep, bind: Bind, usable: CpuSet, tasks: int, each: int
) -> list[CpuSet] | None:
    """Return abstract CPUs of each task, round-robin over sockets; `None`: srun refuses."""
    limit, width = _limit(node, step), node.cores * node.threads
    full_cycle = step.distribution[1] == "fcyclic"
    found: list[CpuSet] = []
    held, counted, socket = set[int](), 0, 0
    core_tasks, core_threads, following = [0] * node.all_cores, [0] * node.all_cores, [0] * node.sockets
    while len(found) < tasks:
        before = len(found)
        for _ in range(node.size):
            begin = socket
            while following[socket] >= width:
                socket = (socket + 1) % node.sockets
                if socket == begin:
                    core_tasks, core_threads = [0] * node.all_cores, [0] * node.all_cores
                    following = [0] * node.sockets
            cpu = following[socket] + socket * width
            following[socket] += 1
            core = cpu // node.threads
            if cpu not in usable or (step.tasks_per_core and core_tasks[core] >= step.tasks_per_core):
                continue
            if limit and core_threads[core] >= limit:
                continue
            held.add(cpu)
            counted += 1
            if full_cycle:
                socket = (socket + 1) % node.sockets
            core_threads[core] += 1
            if counted < each:
                continue
            core_tasks[core] += 1
            following[socket] += _skipped(node, step, bind, each)
            counted = 0
            found.append(frozenset(held))
            held = set()
            if not full_cycle:
                socket = (socket + 1) % node.sockets
            if len(found) == tasks:
                break
        if len(found) == before:
            return None
    return found


def _widen(node: Node, units: frozenset[str], held: CpuSet, usable: CpuSet) -> CpuSet:
    """Return the CPUs of the unit around those of a task, as far as the step has them."""
    if "threads" in units:
        return held
    size = node.threads if "cores" in units else node.cores * node.threads if "sockets" in units else 1
    blocks = {cpu // size for cpu in held}
    return held | frozenset(cpu for cpu in usable if cpu // size in blocks)


def memory_nodes(node: Node, kind: str, listed: Sequence[str], tasks: int) -> list[tuple[int, ...]]:
    """Return the memory nodes of each task: `kind` is rank, map_mem or mask_mem.

    Raises:
        ValueError: a node that does not exist.
    """
    found: list[tuple[int, ...]] = []
    for task in range(tasks):
        one = listed[task % len(listed)] if listed else ""
        rank = task % (node.size * node.threads)
        chosen = (rank,) if kind == "rank" else (int(one),) if kind == "map_mem" else tuple(sorted(parse_mask(one)))
        if not chosen or max(chosen) >= len(node.domains):
            raise ValueError(
                f"cannot bind task {task} with --mem-bind={kind}: the machine has {len(node.domains)} NUMA "
                "nodes; choose one of them"
            )
        found.append(chosen)
    return found
