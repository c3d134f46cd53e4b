"""The program `hpcc` as a peer: its input file, and a whole run of it."""

import contextlib
import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def settings(order: int, block: int, rows: int, columns: int, times: int = 1, ptrans: Sequence[int] = ()) -> str:
    """Return the text of hpccinf.txt (and of HPL.dat): one grid of ranks, one set of HPL's settings.

    Args:
        order: of HPL's matrix, which is factorised so many `times`; all other sizes follow from it.
        ptrans: further orders of PTRANS.
    """
    lines = ["", "", "HPL.out", "8 device", f"{times} number", " ".join([str(order)] * times) + " Ns", "1 number"]
    lines += [f"{block} NBs", "0 PMAP", "1 number", f"{rows} Ps", f"{columns} Qs", "16.0 threshold"]
    for name, value in (("PFACTs", 2), ("NBMINs", 4), ("NDIVs", 2), ("RFACTs", 2), ("BCASTs", 1), ("DEPTHs", 1)):
        lines += ["1 number", f"{value} {name}"]
    lines += ["2 SWAP", "64 threshold", "0 L1", "0 U", "1 equilibration", "8 alignment", "(separator)"]
    lines += [f"{len(ptrans)} number", " ".join(map(str, ptrans or (1200,))) + " orders", "0 number", f"{block} blocks"]
    return "\n".join(lines) + "\n"


def hasten(pid: int) -> None:
    """Set real-time priority for a process and all its descendants."""
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in thread.read_text().split():
            hasten(int(child))
    with contextlib.suppress(ProcessLookupError):
        os.sched_setscheduler(pid, os.SCHED_RR, os.sched_param(1))


def summary(program: Path, order: int, block: int, ranks: int, patience_s: float) -> dict[str, float]:
    """Return the values of the summary section of one run with Open MPI.

    Raises:
        SystemExit: it did not come to its end in time.
    """
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "hpccinf.txt").write_text(settings(order, block, 1, ranks))
        command = [str(program.with_name("mpirun.openmpi")), "--bind-to", "core", "-n", str(ranks), str(program)]
        environment = {**os.environ, **ROOT, "OPENBLAS_NUM_THREADS": "1"}
        started = time.monotonic()
        try:
            subprocess.run(
                command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, timeout=patience_s, check=True
            )
        except subprocess.SubprocessError as error:
            why = f"no end of hpcc after {time.monotonic() - started:.0f} s: {error}"
            raise SystemExit(f"cannot compare ({why}); run it by itself, or try a smaller --order") from error
        text = (Path(folder) / "hpccoutf.txt").read_text()
    section = text.partition("Begin of Summary section.")[2].partition("End of Summary section.")[0]
    pairs = (line.partition("=") for line in section.splitlines() if "=" in line)
    return {key: float(value) for key, _, value in pairs if value.strip().lstrip("-").replace(".", "").isdigit()}


def random_updates(
    program: Path, order: int, ranks: int, prefix: Sequence[str], block: int = 80, patience_s: float = 120
) -> dict[str, float]:
    """Return the updates per second of MPIRandomAccess and SingleRandomAccess, then end the program."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "hpccoutf.txt"
        (Path(folder) / "hpccinf.txt").write_text(settings(order, block, 1, ranks))
        launcher = [
            str(program.with_name("mpirun.openmpi")),
            "--allow-run-as-root",
            "--oversubscribe",
            "-n",
            str(ranks),
        ]
        started = subprocess.Popen(
            [*launcher, *prefix, str(program)], cwd=folder, start_new_session=True, stdout=subprocess.DEVNULL
        )
        try:
            until = time.monotonic() + patience_s
            text = ""
            while (
                started.poll() is None and time.monotonic() < until and "End of SingleRandomAccess section" not in text
            ):
                time.sleep(0.1)
                text = output.read_text() if output.exists() else ""
        finally:
            os.killpg(started.pid, signal.SIGTERM)
            started.wait()
    found = {}
    for name, words in (
        ("MPIRandomAccess", r"([\d.eE+-]+) Billion\(10\^9\)"),
        ("SingleRandomAccess", r"GUP/s +([\d.eE+-]+)"),
    ):
        section = re.search(rf"Begin of {name} section(.*?)End of {name} section", text, re.DOTALL)
        rates = re.findall(words, section[1]) if section else []
        if rates:
            found[name] = 1e9 * float(rates[-1])
    return found
