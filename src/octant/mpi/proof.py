"""What settings of the MPI library do here: a probe is started with them, and without, before anything is measured.

Reading a variable back proves that its name was spelled right; only its effect proves that the library obeys it.
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
from octant.mpi.knobs import of_mpi
from octant.mpi.neutral import Library, acts_between_nodes_only
from octant.mpi.settings import LaunchSetting, MpiSettings
from octant.store import ProvenSetting, scratch
from octant.store.environment import may_be_recorded
from octant.units import bytes_text, si_text

READ_BACK = "OCTANT_MPI_SETTINGS"
"""Names, with commas between, the environment variables whose values our programs read back from the library."""
_TIMEOUT_S = 60.0
_READ_TODAY = ("MPIR_CVAR_", "OMPI_MCA_", "OMPI_MPI_", "I_MPI_", "UCX_", "FI_")
_APART = 3.0
"""Latency of 8 bytes on one node through the network over that through memory; 5 to 40 were seen."""
_NETWORK_S = 0.5e-6
"""No adapter delivers 8 bytes sooner, not even to its own host; memory seldom needs as much."""
_MEMORY_S = 2e-6
"""Shared memory takes less for 8 bytes if both ranks run; a default that took longer was disturbed."""
_LARGEST_COPY = 4 << 20  # a message that every library copies once, where it ever does
_WAITS = {"poll": (False, False), "yield": (True, False), "sleep": (False, True)}
_MANY = 100  # calls while a rank waits 0.2 s: thousands were seen of a library that yields, hundreds where it sleeps


_LEAVE_MEMORY = {"MPIR_CVAR_NOLOCAL", "MPIR_CVAR_NUM_CLIQUES", "MPIR_CVAR_ODD_EVEN_CLIQUES", "OMPI_MCA_btl"}
"""Variables with which messages within a node may leave shared memory."""
BETWEEN_NODES = "it acts on messages between nodes; ranks of one node exchange theirs through shared memory"
"""The effect of a setting that has none within a node."""


class CannotStartError(RuntimeError):
    """MPI does not start with these settings; the message is what was said."""


@dataclass(frozen=True)
class ProbeResult:
    """What the probe saw; what it was not asked for, or cannot see with one rank, is `None`."""

    ranks: int
    node_ranks: int  # that share memory with rank 0, as the library says
    thread_level: str
    threads: int  # of rank 0's process
    read_back: Mapping[str, tuple[str, ...]]
    latency_s: float | None = None  # of 8 bytes, one way
    edge: int | None = None  # bytes of the largest message that is sent at once; -1: no end was found
    copies_below: int | None = None  # calls that copy between processes, in messages one byte below the threshold
    copies_at: int | None = None
    wait: Mapping[str, float] | None = None
    refuses_negative_count: bool | None = None
    said: str = ""  # the end of what the library printed


ProbeStarter = Callable[[Mapping[str, str], Sequence[str]], ProbeResult]
"""Starts the probe with these variables and words."""


def prove(
    words: MpiSettings, library: Library, start: ProbeStarter, environment: Mapping[str, str]
) -> tuple[ProvenSetting, ...]:
    """What the settings of a launch do here.

    Args:
        start: starts the probe.
        environment: settings that every rank finds in its environment anyway (`set_outside`).

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
    if _fallen_back(words, library, found, plain):  # once more: on a busy machine memory can be slow for a while
        found = _sooner(found, start(words.variables, []))
    if caveat := _fallen_back(words, library, found, plain):
        first = proven[0] if proven else ProvenSetting("", environment, found.read_back, "launch")
        proven[:1] = [_with_caveat(first, caveat)]
    return tuple(proven)


def _through_shared_memory(words: MpiSettings, found: ProbeResult, environment: Mapping[str, str]) -> bool:
    """Return whether ranks of one node exchange their messages through shared memory, as by default."""
    asked = {(one.setting.name, one.value.text) for one in words.settings}
    off = {("shared-memory", "no"), ("wait-mode", "sleep"), ("asynchronous-progress", "yes")} & asked
    names = {*words.variables, *environment}
    off_by_name = _LEAVE_MEMORY & names or any(name == "pretended-nodes" for name, _value in asked)
    return found.node_ranks > 1 and not off and not off_by_name


def _of_one_node(one: ProvenSetting, library: Library) -> ProvenSetting:
    """Return the setting, with the remark that it has no effect within a node where all that it sets is for others."""
    if one.effect or not one.variables or not all(acts_between_nodes_only(name, library) for name in one.variables):
        return one
    return replace(one, effect=BETWEEN_NODES)


def set_outside(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the MPI settings of an environment; what Open MPI's launcher told a rank is none."""
    if "OMPI_COMM_WORLD_SIZE" in environment:
        return {}
    names = (name for name in of_mpi(environment) if name.startswith(_READ_TODAY))
    return {name: environment[name] for name in names if may_be_recorded(name, environment[name])}


def text(one: ProvenSetting, library: Library) -> str:
    """Return a line for people: what a setting sets, and how far that was proven."""
    given = " ".join(f"{name}={value}" for name, value in one.variables.items()) or "nothing to set"
    how = {"effect": "proven", "read-back": "read back", "launch": "MPI starts with it, no more is known"}[one.proof]
    how = "no effect within a node" if one.effect == BETWEEN_NODES else how
    how = "NOT AS ASKED" if one.caveat else how
    seen = f"{how}: {one.effect}" if one.effect and one.variables else one.effect or how
    return f"{one.asked or 'the environment'} on {library.title}: {given} ({seen})"


def _by_default(start: ProbeStarter, words: Sequence[str], environment: Mapping[str, str]) -> ProbeResult:
    """What the probe sees without any setting; with those of the environment where MPI does not start without them."""
    try:
        return start(dict.fromkeys(environment, ""), words)
    except CannotStartError as error:
        if not environment:
            raise Refusal(f"cannot run (MPI does not start here: {error}); try octant doctor") from error
    try:
        return start({}, words)
    except CannotStartError as error:
        why = f"MPI starts neither with nor without what the environment sets: {error}"
        raise Refusal(f"cannot run ({why}); try octant doctor") from error


def starter(launcher: str = "", folder: Path | None = None) -> ProbeStarter:
    """Starts the probe as the ranks of a launch are started: two of them, or one where two cannot be.

    Args:
        folder: takes what they saw for a moment, and has to be the same on all hosts; `None`: they are on this host.
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
        except Refusal:  # no launcher, or too few hardware threads for two ranks that spin
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
            raise CannotStartError(cause or outcome.reason or "it left nothing behind") from None
    read_back = {name: tuple(spellings) for name, spellings in seen.pop("read_back").items()}
    return ProbeResult(**seen, read_back=read_back, said=outcome.errors)


def _first_cause(text: str) -> str:
    """Return the line of a library's output that says most."""
    lines = [line.strip() for line in text.splitlines() if re.search("[a-z]", line)]
    for telling in (r"failed|ssert|no active", r"rror|nvalid|No |not |annot|unable"):
        if found := [line for line in lines if re.search(telling, line)]:
            return found[0][:200]
    return (lines or [""])[0][:200]


def _no_start(words: MpiSettings, error: CannotStartError) -> Refusal:
    if not words.variables:
        why = f"MPI does not start with what the environment sets: {error}"
        return Refusal(f"cannot run ({why}); unset it", Exit.NOT_SUPPORTED)
    asked = [one.asked for one in words.settings if one.variables] or [f"{n}={v}" for n, v in words.variables.items()]
    why = f"MPI does not start with it: {error}"
    return Refusal(f"cannot set {' '.join(asked)} ({why}); leave it out", Exit.NOT_SUPPORTED)


def _requests(words: MpiSettings, name: str) -> bool:
    return any(one.setting.name == name for one in words.settings)


def _probe_words(one: LaunchSetting) -> list[str]:
    """What the probe is to look at for a setting."""
    name, number = one.setting.name, one.value.number
    if name == "eager-limit" or (name == "bulk-threshold" and not _openmpi(one)):
        return [f"edge={(number or 0) - (name == 'bulk-threshold')}"]
    if name == "single-copy-threshold":
        return [f"copies={_LARGEST_COPY if number is None else number}"]
    return {"wait-mode": ["wait"], "parameter-checks": ["check"]}.get(name, [])


def _openmpi(one: LaunchSetting) -> bool:
    return any(name.startswith("OMPI_MCA_") for name in one.variables)


def _judge(one: LaunchSetting, found: ProbeResult, plain: ProbeResult) -> ProvenSetting:
    """What the probe says about a setting: its effect where it shows one, else what was read back."""
    seen = _EFFECTS[one.setting.name](one, found, plain) if one.setting.name in _EFFECTS else None
    by_reading = _from_read_back(one.asked, one.variables, found)
    if seen is None:
        return by_reading
    effect, as_asked = seen
    caveat = "" if as_asked else f"{one.asked} asked: {effect}"
    return ProvenSetting(one.asked, one.variables, by_reading.read_back, "effect", effect, caveat or by_reading.caveat)


def _from_read_back(asked: str, variables: Mapping[str, str], found: ProbeResult) -> ProvenSetting:
    read = {name: found.read_back[name] for name in variables if name in found.read_back}
    wrong = [f"{n} reads back {read[n][-1]}" for n in read if not agrees(variables[n], read[n])]
    unused = [line for line in found.said.splitlines() if "unused environment variable" in line]
    wrong += [f"UCX says that it does not use {n}" for n in variables if any(n in line for line in unused)]
    effect = "" if variables else "the library's default"
    proof = "read-back" if variables and set(read) == set(variables) else "launch"
    return ProvenSetting(asked, variables, read, proof, effect, f"{asked} asked: {', '.join(wrong)}" if wrong else "")


def _with_caveat(one: ProvenSetting, caveat: str) -> ProvenSetting:
    both = "; ".join(filter(None, [one.caveat, caveat]))
    return ProvenSetting(one.asked, one.variables, one.read_back, one.proof, one.effect, both)


def _fallen_back(words: MpiSettings, library: Library, found: ProbeResult, plain: ProbeResult) -> str:
    """Return whether messages within the node no longer go through memory, although nothing asked for that."""
    away = {"shared-memory": "no", "pretended-nodes": None, "wait-mode": "sleep", "asynchronous-progress": "yes"}
    if any(one.setting.name in away and away[one.setting.name] in (None, one.value.text) for one in words.settings):
        return ""
    if found.latency_s is None or not plain.latency_s or _through_memory(found.latency_s, plain.latency_s):
        return ""
    ratio = f"{si_text(found.latency_s, 's', 2)} for 8 bytes, {si_text(plain.latency_s, 's', 2)} without these settings"
    return f"messages within the node leave shared memory, which {library.title} does without a message ({ratio})"


def _through_memory(latency_s: float, plain_s: float) -> bool:
    return latency_s < max(_APART * plain_s, _NETWORK_S)


def _sooner(found: ProbeResult, again: ProbeResult) -> ProbeResult:
    """What was found, with the lesser of both latencies."""
    return replace(found, latency_s=min((s for s in (found.latency_s, again.latency_s) if s is not None), default=None))


Effect = tuple[str, bool] | None
"""What was seen, and whether it is what was asked; `None`: this probe could not see it."""


def _edge(one: LaunchSetting, found: ProbeResult, _plain: ProbeResult) -> Effect:
    if found.edge is None:
        return None
    wanted = (one.value.number or 0) - (one.setting.name == "bulk-threshold")
    largest = {-1: "messages of any size are sent at once", -2: "no message is sent at once"}
    return largest.get(found.edge, f"the largest eager message is {found.edge} B"), found.edge == wanted


def _memory(one: LaunchSetting, found: ProbeResult, plain: ProbeResult) -> Effect:
    if found.latency_s is None or not plain.latency_s or plain.latency_s > _MEMORY_S:
        return None
    through_memory = _through_memory(found.latency_s, plain.latency_s)
    text = f"8 bytes take {si_text(found.latency_s, 's', 2)}, by default {si_text(plain.latency_s, 's', 2)}"
    return text, through_memory == (one.value.text == "yes")


def _copies(one: LaunchSetting, found: ProbeResult, _plain: ProbeResult) -> Effect:
    if found.copies_at is None or found.copies_below is None:
        return None
    if one.value.number is None:
        size = bytes_text(_LARGEST_COPY)
        return f"{found.copies_at} single copies in messages of {size}", found.copies_at == 0
    text = f"{found.copies_below} single copies one byte below, {found.copies_at} at it"
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
    return ("more is printed" if more else "no more is printed"), more == (one.value.text in ("2", "3"))


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
"""What shows the effect of a setting; of the others only what was read back, or that MPI starts, is known."""
