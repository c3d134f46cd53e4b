"""Records what srun does on machines that do not exist: `python tests/support/record_slurm.py` writes data/slurm.json.

Needs root, Slurm with task/affinity (`make slurm`) and gcc. Real daemons run on this machine. slurmd asks hwloc, which
reads the pretended machine from an XML file, and a preloaded library (pretended_node.c) answers for the kernel and for
libnuma; the same library writes down the mask of each task instead of setting it. Everything is in a temporary folder,
and all daemons end with the recording, which takes about ten minutes. With a newer Slurm, run it again, and read the
differences of the data file.
"""

import argparse
import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from octant.placement import numbers_text
from paths import DATA
from slurm_cases import MACHINES, SETTINGS, Case, Machine, cases, generated_lines, topology_of
from slurm_cluster import Pretended, slurm
from topology_xml import write_xml

HERE = Path(__file__).parent
PATIENCE = 8
"""Seconds for one srun, which waits indefinitely if a step can never run."""
SHOW = 'echo "$SLURM_NODEID $SLURM_PROCID $$"'


@dataclass(frozen=True)
class Seen:
    """What srun did: the CPUs of each task of the first node (`None`: not bound) and its nodes, or why it refused."""

    machine: Machine
    case: Case
    masks: tuple[str | None, ...] = ()
    memory: tuple[str, ...] = ()  # "bind 0,1" or "preferred 0"; empty: no task sets a memory policy
    refused: str = ""


def pretend(machine: Machine, folder: Path) -> Pretended:
    """Write the files of a pretended machine, and compile the library."""
    topology = topology_of(machine)
    xml, cpus, masks, shim = (folder / name for name in ("machine.xml", "cpus", "masks", "pretended_node.so"))
    xml.write_text(write_xml(topology))
    cpus.write_text("".join(f"{cpu.os} {cpu.numa}\n" for cpu in topology.cpus))
    masks.mkdir()
    masks.chmod(0o777)
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", HERE / "pretended_node.c", "-o", shim], check=True)
    sockets, cores = len(topology.groups("package")), len(topology.groups("core"))
    node = f"Sockets={sockets} CoresPerSocket={cores // sockets} ThreadsPerCore={len(topology.cpus) // cores}"
    if machine.one_cpu_a_core:
        node += f" CPUs={cores}"
    return Pretended(xml, cpus, masks, shim, node)


@contextlib.contextmanager
def batch_job(words: Sequence[str], environment: Mapping[str, str], folder: Path) -> Iterator[Mapping[str, str] | str]:
    """Give the variables of a batch script in whose job steps can start, or the text with which sbatch refuses."""
    file, end = folder / "job.environment", folder / "job.end"
    for old in (file, end):
        old.unlink(missing_ok=True)
    script = f"env -0 > {file}.part; mv {file}.part {file}; while ! [ -e {end} ]; do sleep 0.1; done"
    submit = ["sbatch", "--parsable", "--output=/dev/null", *words, "--wrap", script]
    done = subprocess.run(submit, env=dict(environment), capture_output=True, text=True, check=False, timeout=60)
    patience = time.monotonic() + PATIENCE
    while not done.returncode and not file.exists() and time.monotonic() < patience:
        time.sleep(0.02)
    try:
        if file.exists():
            yield dict(pair.split("=", 1) for pair in file.read_text().split("\0") if "=" in pair)
        else:
            yield reason(done.stderr) or "the job does not start"
    finally:
        end.touch()
        if done.returncode == 0:
            subprocess.run(["scancel", done.stdout.strip()], env=dict(environment), check=False, timeout=60)
            _wait_for_end(environment)


def _wait_for_end(environment: Mapping[str, str], *what: str) -> None:
    """Wait until no job is left, or with `--steps` no step: its CPUs are in use until the controller knows."""
    end = time.monotonic() + 60
    words = ["squeue", "-h", "-o", "%i", *what]
    while time.monotonic() < end:
        shown = subprocess.run(words, env=dict(environment), capture_output=True, text=True, check=False, timeout=60)
        if not [row for row in shown.stdout.split() if not row.endswith((".batch", ".extern"))]:
            return
        time.sleep(0.05)


def reason(text: str) -> str:
    """Return the first error in srun's words, without numbers that differ between runs."""
    rows = [row for row in text.splitlines() if "error:" in row or "fatal:" in row]
    rows = rows or [row for row in text.splitlines() if row.strip()]
    return re.sub(r"\b\d{4,}\b|StepId=\S+|JobId=\S+", "N", rows[0].split(": ", 1)[-1]) if rows else ""


def step(seen: Seen, environment: Mapping[str, str], masks: Path) -> Seen:
    """Run one srun and read the masks of its tasks."""
    for old in masks.iterdir():
        old.unlink()
    words = ["srun", *shlex.split(seen.case.options), "sh", "-c", SHOW]
    try:
        done = subprocess.run(
            words,
            env=dict(environment) | dict(seen.case.variables),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired as expired:
        said = (expired.stderr or b"").decode()
        return replace(seen, refused=reason(said) or "waits indefinitely")
    rows = sorted(
        [int(word) for word in row.split()] for row in done.stdout.splitlines() if re.match(r"\d+ \d+ \d+$", row)
    )
    rows = [row for row in rows if row[0] == 0]
    if done.returncode or not rows:
        return replace(seen, refused=reason(done.stderr) or "no task ran")
    sets = [masks / str(pid) for _node, _task, pid in rows]
    policies = [(kind, masks / f"{pid}.{kind}") for _node, _task, pid in rows for kind in ("bind", "preferred")]
    memory = [
        f"{kind} {numbers_text([int(word) for word in file.read_text().split()])}"
        for kind, file in policies
        if file.exists()
    ]
    cpus = [numbers_text([int(word) for word in file.read_text().split()]) if file.exists() else None for file in sets]
    return replace(seen, masks=tuple(cpus), memory=tuple(memory), refused="")


def record(machine: Machine, of_machine: Sequence[Case]) -> list[Seen]:
    """Start a cluster of two such machines and run the command lines."""
    found: list[Seen] = []
    with tempfile.TemporaryDirectory(prefix="octant-slurm-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        pretended = pretend(machine, folder)
        daemons = folder / "daemons"
        daemons.mkdir()
        more = "TaskPluginParam=" + machine.task_plugin if machine.task_plugin else ""
        with slurm(daemons, 2, pretended, machine.select, more) as variables:
            environment = {**{k: v for k, v in os.environ.items() if not k.startswith("SLURM")}, **variables}
            jobs = dict.fromkeys((case.job, case.nodes) for case in of_machine)
            for job, nodes in jobs:
                here = [case for case in of_machine if (case.job, case.nodes) == (job, nodes)]
                words = [f"-N{nodes}", "--exclusive", *shlex.split(job or "")]
                with contextlib.ExitStack() as stack:
                    inside = environment if job is None else stack.enter_context(batch_job(words, environment, folder))
                    for case in here:
                        seen = Seen(machine, case)
                        if isinstance(inside, str):
                            found.append(replace(seen, refused="sbatch: " + inside))
                        else:
                            found.append(step(seen, inside, pretended.masks))
                            _wait_for_end(environment, "--steps")
    return found


def version() -> str:
    """Return the version of Slurm."""
    return subprocess.run(["slurmd", "-V"], capture_output=True, text=True, check=True).stdout.split()[-1]


def entry(seen: Seen) -> list[object]:
    """Return one record: job, options, variables, and the masks or the refusal."""
    case = seen.case
    head: list[object] = [case.line()]
    answer: object = seen.refused or list(seen.masks)
    return [*head, answer, *([list(seen.memory)] if seen.memory else [])]


def write(path: Path, found: Sequence[Seen]) -> None:
    """Write the records, one command line a row, by machine."""
    parts = []
    for machine in dict.fromkeys(seen.machine for seen in found):
        rows = ",\n".join(json.dumps(entry(seen), separators=(",", ":")) for seen in found if seen.machine == machine)
        parts.append(f'{{"machine": {json.dumps(machine.facts())}, "runs": [\n{rows}\n]}}')
    path.write_text(f'{{"version": {json.dumps(version())}, "machines": [\n{("," + chr(10)).join(parts)}\n]}}\n')


def main() -> None:
    """Record all machines, or the first ones."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--machines", type=int, default=None, help="Only the first ones.")
    parser.add_argument("--most", type=int, default=None, help="Only so many command lines of each machine.")
    parser.add_argument("--to", type=Path, default=DATA / "slurm.json", help="File to write.")
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the daemons end, too
    found: list[Seen] = []
    for machine in (MACHINES + SETTINGS)[: asked.machines]:
        begin = time.monotonic()
        some = [*cases(machine), *(Case(line.removeprefix("srun ")) for line in generated_lines(machine))][: asked.most]
        found += record(machine, some)
        print(f"{machine.topology}: {len(some)} command lines in {time.monotonic() - begin:.0f} s", file=sys.stderr)
        write(asked.to, found)


if __name__ == "__main__":
    main()
