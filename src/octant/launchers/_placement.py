"""The roles `write` and `read`: a placement in the syntax of every launcher, and such lines read back."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from types import ModuleType

from octant import registry
from octant.launchers import _choice, _command, _heads, _reading, _words
from octant.launchers._reading import LauncherReading, Syntax
from octant.launchers._roles import PACKAGE, entries, file_name, find, launchers_with_role
from octant.machine import Topology
from octant.placement import Placement
from octant.placement.recognise import recognise
from octant.placement.remarks import remarks as facts
from octant.placement.request import LONGEST, Memory, PlacementRequest
from octant.placement.sanity import check
from octant.registry import Broken


def to_syntax(name: str, placement: Placement, request: PlacementRequest, topology: Topology) -> Syntax:
    """Return the placement in the syntax of launcher `name`.

    Raises:
        Refusal: no such launcher; the message names the known ones. Or its file cannot be used.
    """
    syntax: Syntax = find("write", name).to_syntax(placement, request, topology)
    return syntax


def to_every_syntax(
    placement: Placement, request: PlacementRequest, topology: Topology
) -> tuple[dict[str, Syntax], tuple[Broken, ...]]:
    """Return the placement in the syntax of every launcher, and the launchers that cannot be used."""
    made = registry.collect(
        (name, registry.attempt_of(PACKAGE, file_name(module), partial(module.to_syntax, placement, request, topology)))
        for name, module in launchers_with_role("write").items()
    )
    return dict(made.working), (*entries().broken.values(), *made.broken.values())


def from_syntax(
    text: str, topology: Topology, name: str | None = None, *, here: bool = False
) -> tuple[str, LauncherReading]:
    """Which launcher's lines these are, and what they would do on the topology.

    The launcher that starts the ranks is read first; variables of an OpenMP runtime then place the threads
    inside the mask of each rank. Every option and variable is accounted for: see `_tables`. With `here`, the program on
    PATH decides whose line of mpiexec it is where the line does not.

    Raises:
        ValueError: lines of no launcher that can be read back, wrong values in them, or an option that may change the
            answer and is not read.
        Refusal: no launcher `name` that reads lines, or its file cannot be used; or a rank that is not possible on
            the topology.
    """
    if len(text) > LONGEST:
        raise ValueError(f"cannot read lines of {len(text)} characters (at most {LONGEST}); give those of one launch")
    if name is not None:
        find("read", name)
    readable = launchers_with_role("read")
    script = _command.read_script(text, [one.FILE_LINES for one in readable.values() if hasattr(one, "FILE_LINES")])
    choice = _choice.choose(script, text, name, here=here)
    chosen = readable[choice.name]
    command = _command_of(choice, script, text)
    runtimes = (one for one in readable.values() if _choice.binds(one) == "threads")
    stated = _stated(command)
    inside = next((one for one in runtimes if re.search(one.MARK, stated, re.MULTILINE)), None)
    tool_notes, memory = _tools(choice, command, topology)
    notes = [*choice.notes, *tool_notes, *_unread(choice, command)]
    counted = _counts(command) if _choice.binds(chosen) == "ranks" else None
    notes += _heads.account_heads(script.comments, chosen.__name__, chosen.TITLE, counted=counted)
    for row in command.rows:
        notes += _command.account_options(row)
    tables = [one.VARIABLES for one in (chosen, inside) if one is not None]
    notes += _command.account_variables(command.variables, tables, chosen.TITLE)
    reading = _of_ranks(chosen, command, script, topology)
    if memory is not None:
        reading = _reading.add_memory(reading, [memory] * len(reading.placement.ranks), topology)
    tools = [tool for start in choice.starts for tool in start.tools]
    if tools and all(place.cpus == topology.allowed for place in reading.placement.ranks):
        raise ValueError(
            f"cannot interpret {tools[0]} in front of a launcher that leaves ranks unbound: its mask may apply to "
            f"the ranks; remove {tools[0]}"
        )
    if inside is not None and _choice.binds(chosen) != "threads":
        reading = _with_threads(reading, inside, command, topology)
    check(reading.placement, topology, frozenset(cpu.os for cpu in topology.cpus), shared=True)
    return choice.name, replace(reading, remarks=(*dict.fromkeys(notes), *reading.remarks))


def _command_of(choice: _choice.LauncherLines, script: _command.Script, text: str) -> _command.Command:
    """Return what the launcher's reader reads.

    Raises:
        ValueError: an option that the launcher does not have.
    """
    module = launchers_with_role("read")[choice.name]
    rows = tuple(_row(module, start) for start in choice.starts)
    first = rows[0] if rows else _command.LauncherCommand((), _words.ParsedOptions(0))
    variables, outside = ({}, {}) if rows else (dict(script.variables), dict(script.variables))
    for start, row in zip(choice.starts, rows, strict=True):
        variables |= {**start.variables, **_command.assigned(row, module.VARIABLES, choice.notes)}
        outside |= {**start.outside, **_command.assigned(row, module.VARIABLES, [], ranks_only=False)}
    mark = getattr(module, "DIRECTIVE", None)
    stated = [word for line in script.comments if mark and line.startswith(mark) for word in _directive(line, mark)]
    directives = _command.parsed(module, [mark, *stated]).given if mark and stated else _words.ParsedOptions(0)
    return _command.Command(
        first.words, first.given, first.program, text, variables, rows, directives, script.file, outside
    )


def _of_ranks(
    module: ModuleType, command: _command.Command, script: _command.Script, topology: Topology
) -> LauncherReading:
    """Return the reading of the lines; lines of a runtime without a program are those of one rank each.

    Raises:
        ValueError: as `from_syntax`, or ranks with different numbers of threads.
    """
    names = [name for line in script.lines for name in line if re.search(module.MARK, name)]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if _choice.binds(module) != "threads" or script.rows or repeated is None:
        alone: LauncherReading = module.from_syntax(command, topology)
        return alone
    variables: list[dict[str, str]] = []
    seen: dict[str, str] = {}
    for line in script.lines:
        seen = {**seen, **line}
        variables = [*variables, seen] if repeated in line else [*variables[:-1], seen] if variables else []
    readings: list[LauncherReading] = [
        module.from_syntax(replace(command, variables=one), topology) for one in variables
    ]
    ranks = tuple(replace(one.placement.ranks[0], rank=rank) for rank, one in enumerate(readings))
    threads = len(ranks[0].threads)
    if any(len(place.threads) != threads for place in ranks):
        raise ValueError(
            f"cannot interpret {len(ranks)} lines of {repeated} with different numbers of threads; give one line"
        )
    notes = [note for one in readings for note in one.remarks if note not in one.placement.remarks]
    remarks = facts(ranks, topology)
    request = recognise([place.cpus for place in ranks], topology, threads)
    note = f"each line that sets {repeated} is interpreted as one rank"
    return LauncherReading(request, Placement(ranks, remarks), (note, *dict.fromkeys(notes), *remarks))


def _stated(command: _command.Command) -> str:
    """Return the variables and the launcher's words, in which a runtime's mark is looked for."""
    words = [word for row in command.rows for word in row.words[: row.given.end]]
    return "\n".join([*(f"{name}={value}" for name, value in command.variables.items()), " ".join(words)])


def _counts(command: _command.Command) -> bool:
    """Return whether the launcher's own options state the number of ranks."""
    return command.has("n", "np", "ntasks", "nrs", "NP", "c" if command.words[:1] == ("mpirun",) else "n")


def _row(module: ModuleType, start: _choice.Start) -> _command.LauncherCommand:
    """Return a command line, taken apart, without `env A=b` and such in front of its program."""
    row = _command.parsed(module, start.words)
    program, start.variables, front = _command.peel(row.program, start.variables)
    start.front += front
    _check_behind(start.words, program)
    return replace(row, program=tuple(program))


_BINDERS = frozenset({"likwid-pin", "dplace", "omplace", "numa_bind", "octant-bind", "cset", "cgexec", "schedtool"})
"""Tools that bind the program behind them, and whose lines are not read behind a launcher."""


def _check_behind(words: Sequence[str], program: Sequence[str]) -> None:
    """Refuse a second launcher behind a command line, and a tool that binds the program.

    Raises:
        ValueError: the word in the place of the program names one.
    """
    front, name = _command.command_name(words), _command.command_name(program)
    if name in _choice.starters() - {"likwid-pin"}:
        raise ValueError(
            f"cannot interpret this line: {front} starts {name}, which starts ranks itself; give one of them"
        )
    binds = name == "likwid-perfctr" and any(word.startswith("-C") for word in program)
    unknown = len(program) > 1 and program[0] == name and _command.STARTER.fullmatch(name)
    processes = {known for one in launchers_with_role("read").values() if _choice.binds(one) == "process"
                 for known in _choice.programs(one)}  # fmt: skip
    if binds or name in _BINDERS or (unknown and name not in processes):
        raise ValueError(
            f"cannot interpret this line: {name} after {front} may bind the program, which is not supported; "
            f"remove it, or write ./{name} if it is the program itself"
        )


def _directive(line: str, mark: str) -> list[str]:
    return shlex.split(line[len(mark) :], comments=True)


def _unread(choice: _choice.LauncherLines, command: _command.Command) -> list[str]:
    """Return the remarks on commands among the lines, and on the words behind the program."""
    notes = [f"not interpreted: {line}" for line in choice.unread]
    front = dict.fromkeys(name for start in choice.starts for name in start.front)
    notes += [f"not used for the placement: {name} (it changes no affinity)" for name in front]
    programs = [_innermost(row.program) for row in command.rows]
    taken = dict.fromkeys(words[0] for words in programs if len(words) > 1)
    return notes + [
        f"{program} is taken as the program, and its arguments are not interpreted: if it starts another "
        "program with another mask, that mask applies"
        for program in taken
    ]


def _innermost(program: Sequence[str]) -> Sequence[str]:
    """Return the program behind a tool such as numactl, whose own options are read."""
    tool = next((one for one in launchers_with_role("read").values() if _choice.binds(one) == "process"
                 and _command.command_name(program) in _choice.programs(one)), None)  # fmt: skip
    return program if tool is None else _command.peel(_command.parsed(tool, program).program, {})[0]


def _tools(
    choice: _choice.LauncherLines, command: _command.Command, topology: Topology
) -> tuple[list[str], Memory | None]:
    """Return the remarks on tools around a launcher, and the memory policy that one behind it sets.

    Hydra and Open MPI were seen to bind outside of the masks of tools in front.

    Raises:
        ValueError: a tool behind the launcher that binds the program.
    """
    tools = {name: one for one in launchers_with_role("read").values() if _choice.binds(one) == "process"
             for name in _choice.programs(one)}  # fmt: skip
    memory: Memory | None = None
    around = [tool for start in choice.starts for tool in start.tools]
    for row in command.rows if _choice.binds(launchers_with_role("read")[choice.name]) != "threads" else ():
        name = _command.command_name(row.program)
        if name not in tools:
            continue
        inner = _command.parsed(tools[name], row.program)
        _command.account_options(inner)
        alone = _command.Command(inner.words, inner.given, inner.program, rows=(inner,))
        reading: LauncherReading = tools[name].from_syntax(alone, topology)
        if any(place.cpus != topology.allowed for place in reading.placement.ranks):
            raise ValueError(
                f"cannot interpret {name} after another launcher: it replaces the mask of each rank; give its "
                "line alone"
            )
        behind, variables, _ = _command.peel(inner.program, {})
        if variables:
            raise ValueError(
                f"cannot interpret variables that are set after {name}: {', '.join(variables)}; export them"
            )
        _check_behind(inner.words, behind)
        if _command.command_name(behind) in tools:
            raise ValueError(
                f"cannot interpret {name} in front of {behind[0]}, both after a launcher; give one of them"
            )
        memory = reading.request.memory if reading.request.memory != Memory() else None
        around += [name] if memory is None else []
    return [
        f"the mask of {tool} is not shown: before the launcher, MPICH and Open MPI bind outside of it; after "
        "the launcher, it replaces the mask of the rank"
        for tool in dict.fromkeys(around)
    ], memory


def _with_threads(
    outer: LauncherReading, runtime: ModuleType, command: _command.Command, topology: Topology
) -> LauncherReading:
    """Return the reading with the threads placed by the runtime inside the mask of each rank."""
    ranks, notes = [], [note for note in outer.remarks if note not in outer.placement.remarks]
    refused: list[ValueError] = []
    for place in outer.placement.ranks:
        own = replace(topology, allowed=place.cpus & topology.allowed or topology.allowed)
        try:
            inner: LauncherReading = runtime.from_syntax(command, own)
        except ValueError as error:  # a list for rank 0 names nothing that the next rank may use
            refused.append(error)
            notes.append(f"rank {place.rank}: {error}")
            ranks.append(place)
            continue
        ranks.append(replace(place, threads=inner.placement.ranks[0].threads))
        notes += [note for note in inner.remarks if note not in (*inner.placement.remarks, *notes)]
    if len(refused) == len(ranks):
        raise refused[0]
    request, threads = outer.request, len(ranks[0].threads)
    if threads != request.threads:
        found = recognise([place.cpus for place in ranks], topology, threads)
        request = replace(found, memory=request.memory)
    remarks = facts(tuple(ranks), topology)
    bound = [frozenset().union(*place.threads) for place in ranks]
    if len(set(bound)) < len(bound) and all(held < place.cpus for held, place in zip(bound, ranks, strict=True)):
        notes.append(
            "the OpenMP runtimes of all ranks bind their threads to the same hardware threads, because the "
            "ranks are unbound or have one mask; bind the ranks first"
        )
    return LauncherReading(request, Placement(tuple(ranks), remarks), (*notes, *remarks))
