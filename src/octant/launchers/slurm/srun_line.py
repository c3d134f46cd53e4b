"""Options of srun: the command line takes precedence over variables, and these over the batch job.

The rules are those of Slurm 22.05; where later versions differ, the notes say so.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from octant.launchers import _line
from octant.launchers._words import ParsedOptions
from octant.launchers.slurm.step_masks import Bind, Node, SrunStep
from octant.placement.request import MAX_TORUS_THREADS

_VARIABLES = {
    "ntasks": ("SLURM_NTASKS", "SLURM_NPROCS"), "nodes": ("SLURM_JOB_NUM_NODES",),
    "ntasks-per-node": ("SLURM_NTASKS_PER_NODE",), "cpus-per-task": ("SRUN_CPUS_PER_TASK",),
    "cpu-bind": ("SLURM_CPU_BIND",), "distribution": ("SLURM_DISTRIBUTION",), "hint": ("SLURM_HINT",),
    "threads-per-core": ("SLURM_THREADS_PER_CORE",), "mem-bind": ("SLURM_MEM_BIND",),
    "sockets-per-node": ("SLURM_NSOCKETS_PER_NODE",), "cores-per-socket": ("SLURM_NCORES_PER_SOCKET",),
}  # fmt: skip
"""Variables that srun reads in place of an option."""
_FLAGS = {"exact": ("SLURM_EXACT", "SLURM_EXCLUSIVE"), "overcommit": ("SLURM_OVERCOMMIT",)}
_INHERITED = ("ntasks", "nodes", "ntasks-per-node", "distribution", "hint", "threads-per-core", "mem-bind")
"""Options of the batch job that sbatch hands to srun in variables."""
_HINTS = ("compute_bound", "memory_bound", "multithread", "nomultithread")
_SHAPES = ("block", "cyclic", "fcyclic")
NO_LIMIT = 0xFFFF
"""Tasks of a core with --hint=multithread."""


@dataclass
class SrunOptions:
    """The options of one srun by their source, and notes on what may be unexpected."""

    given: ParsedOptions
    variables: Mapping[str, str]
    batch: ParsedOptions
    notes: list[str] = field(default_factory=list)

    def line(self, name: str) -> str | None:
        """Return the value of an option of the command line."""
        return self.given.last(name)

    def inherited(self, name: str) -> str | None:
        """Return the value that a variable states, or the batch job by such a variable."""
        stated = next((self.variables[key] for key in _VARIABLES.get(name, ()) if self.variables.get(key)), None)
        return stated or (self.of_job(name) if name in _INHERITED else None)

    def of_job(self, name: str) -> str | None:
        """Return the value of an option of the batch job; other options of it state the threads of a core, too."""
        value = self.batch.last(name)
        if name == "threads-per-core" and value is None:
            third = [*(self.batch.last("extra-node-info") or "").split(":"), "", ""][2]
            limited = {*(self.batch.last("hint") or "").split(",")} & {"compute_bound", "memory_bound", "nomultithread"}
            return third if third not in ("", "*") else "1" if limited else None
        return value

    def value(self, name: str) -> str | None:
        """Return the value of an option from any source."""
        return self.line(name) or self.inherited(name)

    def number(self, name: str, most: int = _line.MAX_RANKS) -> int | None:
        """Return the same as a number.

        Raises:
            ValueError: it is none.
        """
        value = self.value(name)
        return None if value is None else _line.read_integer(f"--{name}", value, most)

    def flag(self, name: str) -> bool:
        """Return whether an option without a value is given."""
        inherited = name == "overcommit" and name in self.batch.values
        return name in self.given.values or inherited or any(key in self.variables for key in _FLAGS.get(name, ()))


def step_of(srun: SrunOptions, node: Node) -> SrunStep:
    """Return the step that srun requests.

    Raises:
        ValueError: a wrong value, or options that exclude each other.
    """
    width = srun.number("cpus-per-task")
    per_core, per_socket = _line_number(srun, "ntasks-per-core"), _line_number(srun, "ntasks-per-socket")
    shape = _shape(srun)
    bind, limit, per_core = _bind(srun, shape[2], per_core, per_socket)
    distribution, plane, pack = _distribution(srun)
    overcommit, exact = srun.flag("overcommit"), _exact(srun, width)
    nodes, tasks, per_node = _counts(srun, node, width, shape)
    of_job = srun.of_job("threads-per-core")
    return SrunStep(
        tasks=tasks,
        nodes=nodes,
        cpus_per_task=width,
        bind=bind,
        distribution=distribution,
        plane=plane,
        pack=pack,
        exact=exact,
        overcommit=overcommit,
        threads_per_core=limit,
        job_threads_per_core=None if of_job is None else _line.read_integer("--threads-per-core", of_job),
        tasks_per_core=per_core or _batch_number(srun, "ntasks-per-core") or 0,
        tasks_per_socket=per_socket or _batch_number(srun, "ntasks-per-socket") or 0,
        tasks_per_node=per_node,
    )


def _line_number(srun: SrunOptions, name: str) -> int | None:
    value = srun.line(name)
    return None if value is None else _line.read_integer(f"--{name}", value)


def _batch_number(srun: SrunOptions, name: str) -> int | None:
    value = srun.batch.last(name)
    return None if value is None else _line.read_integer(f"--{name}", value)


def _exact(srun: SrunOptions, width: int | None) -> bool:
    """Return whether the step gets only the CPUs that it requests."""
    exclusive = "exclusive" in srun.given.values and not srun.given.last("exclusive")
    exact = srun.flag("exact") or exclusive
    if exact and "whole" in srun.given.values:
        raise ValueError("--exact and --whole exclude each other; give one of them")
    if "exclusive" in srun.given.values and "overlap" in srun.given.values:
        raise ValueError("--exclusive and --overlap exclude each other; give one of them")
    return exact or (width is not None and not srun.flag("overcommit"))


def _shape(srun: SrunOptions) -> tuple[int | None, int | None, int | None]:
    """Return sockets, cores and threads: -B sets all three, and the last option counts."""
    inherited = [srun.inherited(name) for name in _SHAPE]
    found = [
        None if value is None else _line.read_integer(f"--{name}", value)
        for name, value in zip(_SHAPE, inherited, strict=True)
    ]
    for name, values in srun.given.all_values:
        if name == "extra-node-info":
            parts = [*(values[0] if values else "").split(":"), "", ""][:3]
            found = [None if part in ("", "*") else _line.read_integer("-B", part.partition("-")[0]) for part in parts]
        elif name in _SHAPE:
            found[_SHAPE.index(name)] = _line.read_integer(f"--{name}", values[0])
    sockets, cores, threads = found
    return sockets, cores, threads


_SHAPE = ("sockets-per-node", "cores-per-socket", "threads-per-core")


def _counts(
    srun: SrunOptions, node: Node, width: int | None, shape: tuple[int | None, int | None, int | None]
) -> tuple[int, int, int]:
    """Return the numbers of nodes and tasks, and the limit of tasks by node, 0: none."""
    stated, hosts = srun.value("nodes"), _hosts(srun)
    nodes = max(hosts, _line.read_integer("-N", (stated or "1").partition("-")[0], MAX_TORUS_THREADS))
    tasks, per_node = srun.number("ntasks", MAX_TORUS_THREADS), srun.number("ntasks-per-node")
    if tasks is not None and per_node is not None and stated is None and not hosts:
        nodes = -(-tasks // per_node)  # of the job that srun creates
    if tasks is not None:
        nodes = min(nodes, tasks)
        if per_node is not None and per_node != tasks // nodes:
            srun.notes.append(f"srun ignores --ntasks-per-node={per_node}, because -n {tasks} is given")
            per_node = None
    elif shape[0] and shape[1] and shape[2]:
        tasks = nodes * shape[0] * shape[1] * shape[2]
    elif per_node is not None:
        tasks = nodes * per_node
    elif width is not None:
        tasks = max(nodes, nodes * (node.size // width))
        srun.notes.append(
            f"no number of tasks given: with -c, srun starts as many tasks as the CPUs of the job allow ({tasks})"
        )
    else:
        tasks = nodes
    return nodes, _line.read_integer("-n", str(tasks), MAX_TORUS_THREADS), per_node or 0


def _hosts(srun: SrunOptions) -> int:
    """Return the number of hosts that -w names; 0: none.

    Raises:
        ValueError: they are in a file.
    """
    value = srun.given.last("nodelist") or srun.batch.last("nodelist") or ""
    if "/" in value:
        raise ValueError(f"cannot interpret -w {value}: it is a file, and the number of nodes is unknown; give -N")
    count = 0
    for host in re.findall(r"(?:[^,\[]|\[[^\]]*\])+", value):
        hosts = 1
        for ranges in re.findall(r"\[([^\]]*)\]", host):
            ends = [part.partition("-") for part in ranges.split(",")]
            hosts *= sum(_line.read_integer("-w", high or low, 10**9, 0) - _line.read_integer("-w", low, 10**9, 0) + 1
                        for low, _, high in ends)  # fmt: skip
        count += hosts
    return _line.read_integer("-w", str(count), MAX_TORUS_THREADS, 0)


def _distribution(srun: SrunOptions) -> tuple[tuple[str, str], int, bool]:
    """Return the distributions over nodes and sockets, the size of planes, and whether nodes are packed.

    Raises:
        ValueError: no such distribution, or one that the list of hosts decides.
    """
    value = srun.value("distribution")
    if value is None:
        return ("", ""), 0, False
    if value.lower().startswith("plane"):
        _, equals, size = value.partition("=")
        stated = size if equals else srun.variables.get("SLURM_DIST_PLANESIZE", "")
        return ("", ""), _line.read_integer("-m plane", stated, MAX_TORUS_THREADS), False
    shape, _, flag = value.partition(",")
    words = shape.lower().split(":")
    if shape.lower() in ("pack", "nopack"):
        words, flag = [""], shape
    if flag.lower() not in ("", "pack", "nopack"):
        raise ValueError(f"cannot read -m {value} ({flag} is not valid); use Pack or NoPack")
    if words[0] in ("arbitrary", "hostfile"):
        raise ValueError(
            f"cannot interpret -m {value}: the number of ranks of a node depends on the list of hosts; use block or "
            "cyclic"
        )
    allowed = [("", "*", "block", "cyclic"), ("*", *_SHAPES), ("*", *_SHAPES)]
    if len(words) > 3 or any(word not in some for word, some in zip(words, allowed, strict=False)):
        raise ValueError(f"cannot read -m {value}; use block:block, block:cyclic, block:fcyclic, cyclic, or plane=4")
    over_nodes = "block" if words[0] == "*" else words[0]
    over_sockets = words[1] if len(words) > 1 else ""
    return (over_nodes, "cyclic" if over_sockets == "*" else over_sockets), 0, flag.lower() == "pack"


def _bind(
    srun: SrunOptions, limit: int | None, per_core: int | None, per_socket: int | None
) -> tuple[Bind, int | None, int | None]:
    """Return the binding, the hardware threads used of a core, and the tasks of a core: options change each other."""
    stated = srun.value("cpu-bind")
    units: set[str] = set()
    if srun.line("extra-node-info") is not None:
        units.add(("sockets", "cores", "threads")[min(2, (srun.line("extra-node-info") or "").count(":"))])
    if srun.value("threads-per-core") is not None:
        if stated is None:
            units = (units - {"sockets", "cores", "ldoms"}) | {"threads"}
        elif stated == "verbose":
            units = {"threads"}
    mode, listed, units, one = _words_of_bind(stated or "", units)
    hint = _hint(srun, bool(mode or units or one))
    if hint is not None and srun.line("hint") is not None:
        limit, per_core = None, None  # --hint on the command line replaces variables of these options
    for word in (hint or "").split(",") if hint else []:
        if word not in _HINTS:
            raise ValueError(f"cannot read --hint={hint}; use {', '.join(_HINTS)}")
        units.add("cores" if word.endswith("bound") else "threads")
        limit = None if word == "multithread" else 1
        one = (one or word == "nomultithread") and word != "multithread"
        per_core = NO_LIMIT if word == "multithread" else per_core
    if per_core and not units:
        units.add("cores")
    if per_socket and not units:
        units.add("sockets")
    return Bind(mode, listed, frozenset(units), one), limit, per_core


def _hint(srun: SrunOptions, bound: bool) -> str | None:
    """Return the effective hint: srun ignores it if options of the same meaning are given."""
    others = ("ntasks-per-core", "threads-per-core", "extra-node-info")
    line, value = srun.line("hint"), srun.value("hint")
    if value is None:
        return None
    if line is not None:
        clash = [name for name in others if srun.line(name) is not None]
        clash += ["cpu-bind"] if srun.line("cpu-bind") is not None and bound else []
    else:
        clash = [name for name in (*others, "cpu-bind") if srun.line(name) is not None]
        clash += [name for name in ("threads-per-core", "cpu-bind") if srun.inherited(name) is not None]
    if clash:
        srun.notes.append(f"srun ignores {_source(srun, 'hint')}, because {_source(srun, clash[0])} is given")
        return None
    return value


def _source(srun: SrunOptions, name: str) -> str:
    """Return an option as the lines state it: of srun, a variable, or one that Slurm sets from options of sbatch."""
    if srun.line(name) is not None:
        return f"--{name}={srun.line(name)}"
    variable = next((key for key in _VARIABLES.get(name, ()) if srun.variables.get(key)), None)
    if variable:
        return f"{variable}={srun.variables[variable]}"
    options = ("threads-per-core", "extra-node-info", "hint") if name == "threads-per-core" else (name,)
    stated = next(option for option in options if srun.batch.last(option) is not None)
    return f"{_VARIABLES[name][0]}={srun.of_job(name)} (set from --{stated} in the #SBATCH lines)"


def _words_of_bind(value: str, units: set[str]) -> tuple[str, tuple[str, ...], set[str], bool]:
    """Return mode, list and units of --cpu-bind, and whether it asks for one thread of each core.

    Raises:
        ValueError: srun does not know such a word.
    """
    mode, listed, one = "", tuple[str, ...](), False
    units = set(units)
    for word in _split(value):
        kind, _, rest = word.replace("=", ":", 1).partition(":")
        name = kind.lower()
        name = {"no": "none", "core": "cores", "thread": "threads", "socket": "sockets", "ldom": "ldoms"}.get(
            name, name
        )
        name = re.sub(r"^(map|mask)(cpu|ldom)$", r"\1_\2", name)
        if name in ("q", "quiet", "v", "verbose", ""):
            continue
        if name == "one_thread":
            one = True
        elif name in ("none", "rank", "rank_ldom"):
            mode, listed = name, ()
        elif name in ("map_cpu", "mask_cpu", "map_ldom", "mask_ldom"):
            mode, listed = name, _expanded(name, rest)
        elif name in ("cores", "threads", "sockets", "ldoms"):
            units = {name}
        else:
            raise ValueError(
                f"cannot read --cpu-bind={value} ({word} is unknown); use cores, threads, sockets, ldoms, "
                "rank_ldom, rank, none, or a list after map_cpu:, mask_cpu:, map_ldom: or mask_ldom:"
            )
    return mode, listed, units, one


def _expanded(kind: str, text: str) -> tuple[str, ...]:
    """Return the entries of a list, `VALUE*COUNT` repeated."""
    found: list[str] = []
    digits = "(0x)?[0-9a-fA-F]+" if kind.startswith("mask") else "0x[0-9a-fA-F]+|[0-9]+"
    for part in text.split(","):
        entry, times, count = part.partition("*")
        if not re.fullmatch(digits, entry):
            raise ValueError(f"cannot read {text!r} as the list of {kind}; use mask_cpu:0x3,0xc or map_cpu:0,2")
        if entry.startswith("0x") and not kind.startswith("mask"):
            entry = str(int(entry, 16))
        repeat = _line.read_integer(kind, count) if times else 1
        if len(found) + repeat > _line.MAX_RANKS:
            raise ValueError(f"cannot read {kind}: it has more than {_line.MAX_RANKS} entries; reduce the list")
        found += [entry] * repeat
    return tuple(found)


def memory_of(srun: SrunOptions) -> tuple[str, tuple[str, ...], bool]:
    """Return the kind of --mem-bind ("": none), its list, and whether nodes are only preferred.

    Raises:
        ValueError: srun does not know such a word.
    """
    value, kind, listed, prefer = srun.value("mem-bind") or "", "", tuple[str, ...](), False
    for word in _split(value):
        name, _, rest = word.replace("=", ":", 1).partition(":")
        name = re.sub(r"^(map|mask)mem$", r"\1_mem", name.lower())
        if name in ("map_mem", "mask_mem"):
            kind, listed = name, _expanded(name, rest)
        elif name in ("local", "rank", "no", "none"):
            kind, listed = ("" if name.startswith("no") else name), ()
        elif name in ("p", "prefer"):
            prefer = True
        elif name not in ("q", "quiet", "v", "verbose", "sort", "nosort"):
            raise ValueError(f"cannot read --mem-bind={value}; use local, none, rank, map_mem:LIST, mask_mem:LIST")
    return kind, listed, prefer


def _split(value: str) -> list[str]:
    """Return the words of a value; lists behind `map_cpu:` and the like stay together."""
    return re.split(r",(?![0-9]|[0-9a-fA-F]+(?:,|$))", value) if value else []
