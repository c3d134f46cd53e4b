"""Verification of MPI settings: before a measurement, a probe runs with and without the settings.

A variable that is read back has a correct name; only an observed effect shows that the library uses it.
"""

import functools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from octant import build, launchers
from octant.failure import Exit, Refusal
from octant.launch.execute import execute
from octant.mpi.inventory import PROBE, agrees
from octant.mpi.knobs import select_mpi_variables
from octant.mpi.neutral import Library, acts_between_nodes_only
from octant.mpi.settings import LaunchSetting, MpiSettings
from octant.store import ProvenSetting, scratch
from octant.store.environment import may_be_recorded
from octant.units import bytes_text, si_text

READ_BACK = "OCTANT_MPI_SETTINGS"
"""Environment variable with a comma-separated list of the variables that Octant's programs read back."""
_TIMEOUT_S = 60.0
_READ_TODAY = ("MPIR_CVAR_", "OMPI_MCA_", "OMPI_MPI_", "I_MPI_", "UCX_", "FI_")
_APART = 3.0
"""Minimum ratio of 8-byte latencies through network and shared memory within a node; observed: 5 to 40."""
_NETWORK_S = 0.5e-6
"""Lower limit of the 8-byte latency through a network adapter; shared memory is usually faster."""
_MEMORY_S = 2e-6
"""Upper limit of the 8-byte latency through shared memory; a slower default measurement was disturbed."""
_LARGEST_COPY = 4 << 20  # size of a message that each library with single copies copies once
_WAITS = {"poll": (False, False), "yield": (True, False), "sleep": (False, True)}
_MANY = 100  # calls in a wait of 0.2 s; observed: thousands if the library yields, hundreds if it sleeps


_LEAVE_MEMORY = {"MPIR_CVAR_NOLOCAL", "MPIR_CVAR_NUM_CLIQUES", "MPIR_CVAR_ODD_EVEN_CLIQUES", "OMPI_MCA_btl"}
"""Variables that may disable shared memory within a node."""
BETWEEN_NODES = "affects only messages between nodes; ranks of one node use shared memory"
"""Stated effect of a setting without effect within a node."""


class CannotStartError(RuntimeError):
    """MPI does not start with these settings; the message is the output of the library."""


@dataclass(frozen=True)
class ProbeResult:
    """Observations of the probe; `None` if not requested, or not observable with one rank."""

    ranks: int
    node_ranks: int  # ranks that share memory with rank 0, as reported by the library
    thread_level: str
    threads: int  # of rank 0's process
    read_back: Mapping[str, tuple[str, ...]]
    latency_s: float | None = None  # of 8 bytes, one way
    edge: int | None = None  # bytes of the largest eager message; -1: no limit found
    copies_below: int | None = None  # calls that copy between processes, for messages one byte below the threshold
    copies_at: int | None = None
    wait: Mapping[str, float] | None = None
    refuses_negative_count: bool | None = None
    said: str = ""  # end of the output of the library


ProbeStarter = Callable[[Mapping[str, str], Sequence[str]], ProbeResult]
"""Function that runs the probe with variables and arguments."""


def prove(
    words: MpiSettings, library: Library, start: ProbeStarter, environment: Mapping[str, str]
) -> tuple[ProvenSetting, ...]:
    """Return the verified settings of a launch.

    Args:
        start: runs the probe.
        environment: settings in the environment of each rank (`set_outside`).

    Raises:
        Refusal: MPI does not start with them.
    """
    plain = _by_default(start, ["wait"] if _requests(words, "wait-mode") else [], environment)
    try:
        found = start(words.variables, [word for one in words.settings for word in _probe_words(one)])
    except CannotStartError as error:
        raise _no_start(words, error) from error
    proven = [_judge(one, found, plain) for one in words.settings]
    neutral = {name for one in words.settings for name in one.variables}
    raw = {name: value for name, value in words.variables.items() if name not in neutral}
    proven += [_from_read_back(f"{name}={value}", {name: value}, found) for name, value in raw.items()]
    if _through_shared_memory(words, found, environment):
        proven = [_of_one_node(one, library) for one in proven]
    if _fallen_back(words, library, found, plain):  # repeated, since shared memory may be slow on a busy machine
        found = _sooner(found, start(words.variables, []))
    if caveat := _fallen_back(words, library, found, plain):
        first = proven[0] if proven else ProvenSetting("", environment, found.read_back, "launch")
        proven[:1] = [_with_caveat(first, caveat)]
    return tuple(proven)


def _through_shared_memory(words: MpiSettings, found: ProbeResult, environment: Mapping[str, str]) -> bool:
    """Return whether ranks of one node communicate through shared memory, which is the default."""
    requested = {(one.setting.name, one.value.text) for one in words.settings}
    off = {("shared-memory", "no"), ("wait-mode", "sleep"), ("asynchronous-progress", "yes")} & requested
    names = {*words.variables, *environment}
    off_by_name = _LEAVE_MEMORY & names or any(name == "pretended-nodes" for name, _value in requested)
    return found.node_ranks > 1 and not off and not off_by_name


def _of_one_node(one: ProvenSetting, library: Library) -> ProvenSetting:
    """Return the setting, with the stated effect `BETWEEN_NODES` if it affects only messages between nodes."""
    if one.effect or not one.variables or not all(acts_between_nodes_only(name, library) for name in one.variables):
        return one
    return replace(one, effect=BETWEEN_NODES)


def set_outside(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the MPI settings of an environment; variables from the launcher of Open MPI are not settings."""
    if "OMPI_COMM_WORLD_SIZE" in environment:
        return {}
    names = (name for name in select_mpi_variables(environment) if name.startswith(_READ_TODAY))
    return {name: environment[name] for name in names if may_be_recorded(name, environment[name])}


def text(one: ProvenSetting, library: Library) -> str:
    """Return a line with the variables of a setting and the result of its verification."""
    given = " ".join(f"{name}={value}" for name, value in one.variables.items()) or "no variable set"
    how = {"effect": "verified", "read-back": "read back", "launch": "MPI starts; effect not verified"}[one.proof]
    how = "no effect within a node" if one.effect == BETWEEN_NODES else how
    how = "request not met" if one.caveat else how
    seen = f"{how}: {one.effect}" if one.effect and one.variables else one.effect or how
    return f"{one.asked or 'the environment'} on {library.title}: {given} ({seen})"


def _by_default(start: ProbeStarter, words: Sequence[str], environment: Mapping[str, str]) -> ProbeResult:
    """Run the probe without settings, or with those of the environment if MPI does not start without them."""
    try:
        return start(dict.fromkeys(environment, ""), words)
    except CannotStartError as error:
        if not environment:
            raise Refusal(f"cannot run: MPI does not start ({error}); see octant doctor") from error
    try:
        return start({}, words)
    except CannotStartError as error:
        why = f"MPI starts neither with nor without the settings of the environment ({error})"
        raise Refusal(f"cannot run: {why}; see octant doctor") from error


def starter(launcher: str = "", folder: Path | None = None) -> ProbeStarter:
    """Return a function that runs the probe with the launcher: two ranks, or one if two do not fit.

    Args:
        folder: folder for temporary output, shared by all hosts; `None`: the ranks run on this host.
    """
    return functools.partial(_start, launcher, folder)


def _start(launcher: str, shared: Path | None, variables: Mapping[str, str], words: Sequence[str]) -> ProbeResult:
    program = build.find(PROBE)
    with scratch.short_lived(shared) as folder:
        output = folder / "seen.json"
        command = [str(program), "measure", str(output), *words]
        exported = tuple(sorted({*variables, READ_BACK}))
        try:
            size = launchers.JobSize(2, exported=exported)
            line = launchers.launcher(launchers.chosen(launcher, size)).command(command, size)
        except Refusal:  # no launcher, or too few hardware threads for two polling ranks
            line = command
        unset = [name for name, value in variables.items() if not value]
        given = {name: value for name, value in variables.items() if value}
        if unset:
            line = ["env", *(part for name in unset for part in ("-u", name)), *line]
        outcome = execute(line, {**given, READ_BACK: ",".join(given)}, _TIMEOUT_S, lambda _elapsed_s: None)
        try:
            seen: dict[str, Any] = json.loads(output.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            cause = "" if outcome.timed_out else _first_cause(outcome.errors)
            raise CannotStartError(cause or outcome.reason or "the probe wrote no output") from None
    read_back = {name: tuple(spellings) for name, spellings in seen.pop("read_back").items()}
    return ProbeResult(**seen, read_back=read_back, said=outcome.errors)


def _first_cause(text: str) -> str:
    """Return the most informative line of a library's output."""
    lines = [line.strip() for line in text.splitlines() if re.search("[a-z]", line)]
    for pattern in (r"failed|ssert|no active", r"rror|nvalid|No |not |annot|unable"):
        if found := [line for line in lines if re.search(pattern, line)]:
            return found[0][:200]
    return (lines or [""])[0][:200]


def _no_start(words: MpiSettings, error: CannotStartError) -> Refusal:
    if not words.variables:
        why = f"MPI does not start with the settings of the environment ({error})"
        return Refusal(f"cannot run: {why}; unset them", Exit.NOT_SUPPORTED)
    requests = [one.asked for one in words.settings if one.variables]
    requests = requests or [f"{name}={value}" for name, value in words.variables.items()]
    why = f"MPI does not start with this setting ({error})"
    return Refusal(f"cannot set {' '.join(requests)}: {why}; omit it", Exit.NOT_SUPPORTED)


def _requests(words: MpiSettings, name: str) -> bool:
    return any(one.setting.name == name for one in words.settings)


def _probe_words(one: LaunchSetting) -> list[str]:
    """Return the arguments of the probe for a setting."""
    name, number = one.setting.name, one.value.number
    if name == "eager-limit" or (name == "bulk-threshold" and not _openmpi(one)):
        return [f"edge={(number or 0) - (name == 'bulk-threshold')}"]
    if name == "single-copy-threshold":
        return [f"copies={_LARGEST_COPY if number is None else number}"]
    return {"wait-mode": ["wait"], "parameter-checks": ["check"]}.get(name, [])


def _openmpi(one: LaunchSetting) -> bool:
    return any(name.startswith("OMPI_MCA_") for name in one.variables)


def _judge(one: LaunchSetting, found: ProbeResult, plain: ProbeResult) -> ProvenSetting:
    """Return the verification of a setting: its effect if observable, else its read-back."""
    seen = _EFFECTS[one.setting.name](one, found, plain) if one.setting.name in _EFFECTS else None
    by_reading = _from_read_back(one.asked, one.variables, found)
    if seen is None:
        return by_reading
    effect, is_met = seen
    caveat = "" if is_met else f"{one.asked} requested: {effect}"
    return ProvenSetting(one.asked, one.variables, by_reading.read_back, "effect", effect, caveat or by_reading.caveat)


def _from_read_back(request: str, variables: Mapping[str, str], found: ProbeResult) -> ProvenSetting:
    read = {name: found.read_back[name] for name in variables if name in found.read_back}
    wrong = [f"{n} is {read[n][-1]}" for n in read if not agrees(variables[n], read[n])]
    unused = [line for line in found.said.splitlines() if "unused environment variable" in line]
    wrong += [f"UCX does not use {n}" for n in variables if any(n in line for line in unused)]
    effect = "" if variables else "default of the library"
    proof = "read-back" if variables and set(read) == set(variables) else "launch"
    caveat = f"{request} requested: {', '.join(wrong)}" if wrong else ""
    return ProvenSetting(request, variables, read, proof, effect, caveat)


def _with_caveat(one: ProvenSetting, caveat: str) -> ProvenSetting:
    both = "; ".join(filter(None, [one.caveat, caveat]))
    return ProvenSetting(one.asked, one.variables, one.read_back, one.proof, one.effect, both)


def _fallen_back(words: MpiSettings, library: Library, found: ProbeResult, plain: ProbeResult) -> str:
    """Return a caveat if messages within the node do not use shared memory although no setting requested that."""
    away = {"shared-memory": "no", "pretended-nodes": None, "wait-mode": "sleep", "asynchronous-progress": "yes"}
    if any(one.setting.name in away and away[one.setting.name] in (None, one.value.text) for one in words.settings):
        return ""
    if found.latency_s is None or not plain.latency_s or _through_memory(found.latency_s, plain.latency_s):
        return ""
    ratio = f"{si_text(found.latency_s, 's', 2)} for 8 bytes, {si_text(plain.latency_s, 's', 2)} without these settings"
    return f"{library.title} no longer uses shared memory for messages within the node ({ratio})"


def _through_memory(latency_s: float, plain_s: float) -> bool:
    return latency_s < max(_APART * plain_s, _NETWORK_S)


def _sooner(found: ProbeResult, again: ProbeResult) -> ProbeResult:
    """Return the first result with the lower of both latencies."""
    return replace(found, latency_s=min((s for s in (found.latency_s, again.latency_s) if s is not None), default=None))


Effect = tuple[str, bool] | None
"""Observation, and whether the request is met; `None`: not observable with this probe."""


def _edge(one: LaunchSetting, found: ProbeResult, _plain: ProbeResult) -> Effect:
    if found.edge is None:
        return None
    wanted = (one.value.number or 0) - (one.setting.name == "bulk-threshold")
    largest = {-1: "messages of all sizes are eager", -2: "no message is eager"}
    return largest.get(found.edge, f"the largest eager message is {found.edge} B"), found.edge == wanted


def _memory(one: LaunchSetting, found: ProbeResult, plain: ProbeResult) -> Effect:
    if found.latency_s is None or not plain.latency_s or plain.latency_s > _MEMORY_S:
        return None
    through_memory = _through_memory(found.latency_s, plain.latency_s)
    text = f"latency of 8 bytes {si_text(found.latency_s, 's', 2)}, by default {si_text(plain.latency_s, 's', 2)}"
    return text, through_memory == (one.value.text == "yes")


def _copies(one: LaunchSetting, found: ProbeResult, _plain: ProbeResult) -> Effect:
    if found.copies_at is None or found.copies_below is None:
        return None
    if one.value.number is None:
        size = bytes_text(_LARGEST_COPY)
        return f"{found.copies_at} single copies for messages of {size}", found.copies_at == 0
    text = f"{found.copies_below} single copies one byte below the threshold, {found.copies_at} at the threshold"
    return text, found.copies_below == 0 and found.copies_at > 0


def _wait(one: LaunchSetting, found: ProbeResult, plain: ProbeResult) -> Effect:
    if not found.wait or not plain.wait:
        return None
    counts = {name: found.wait[name] for name in ("yields", "sleeps")}
    share = found.wait["cpu_s"] / found.wait["seconds"]
    text = (
        f"{counts['yields']:.0f} yields and {counts['sleeps']:.0f} sleeps in a wait of 0.2 s ({100 * share:.0f} % CPU)"
    )
    return text, (counts["yields"] >= _MANY, counts["sleeps"] >= _MANY) == _WAITS[one.value.text]


def _checks(one: LaunchSetting, found: ProbeResult, _plain: ProbeResult) -> Effect:
    if found.refuses_negative_count is None:
        return None
    text = f"a count of -1 is {'refused' if found.refuses_negative_count else 'accepted'}"
    return text, found.refuses_negative_count == (one.value.text == "yes")


def _threads(one: LaunchSetting, found: ProbeResult, plain: ProbeResult) -> Effect:
    more = found.threads - plain.threads
    return f"{found.threads} threads, by default {plain.threads}", (more > 0) == (one.value.text == "yes")


def _level(one: LaunchSetting, found: ProbeResult, _plain: ProbeResult) -> Effect:
    return f"MPI_Init gives {found.thread_level}", found.thread_level == one.value.text


def _nodes(one: LaunchSetting, found: ProbeResult, plain: ProbeResult) -> Effect:
    if found.ranks < 2 or plain.node_ranks < 2:
        return None
    apart = (one.value.number or 1) > 1
    return f"{found.node_ranks} of {found.ranks} ranks share a node", (found.node_ranks < plain.node_ranks) == apart


def _said(one: LaunchSetting, found: ProbeResult, plain: ProbeResult) -> Effect:
    more = len(found.said) > len(plain.said)
    return ("more output" if more else "no additional output"), more == (one.value.text in ("2", "3"))


_EFFECTS: Mapping[str, Callable[[LaunchSetting, ProbeResult, ProbeResult], Effect]] = {
    "eager-limit": _edge,
    "bulk-threshold": _edge,
    "shared-memory": _memory,
    "single-copy-threshold": _copies,
    "wait-mode": _wait,
    "parameter-checks": _checks,
    "asynchronous-progress": _threads,
    "thread-level": _level,
    "pretended-nodes": _nodes,
    "verbosity": _said,
}
"""Functions that observe the effect of a setting; other settings are only read back, or MPI starts with them."""
