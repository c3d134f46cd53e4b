"""Run a command with a time limit and return its output."""

import os
import shutil
import subprocess
import sysconfig
from collections.abc import Mapping, Sequence

TIMEOUT_S = 5.0


def tool(name: str) -> str | None:
    """Return the path of a program next to this Python or on PATH."""
    folders = [sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)]
    return shutil.which(name, path=os.pathsep.join(folders))


def output(command: Sequence[str], changes: Mapping[str, str | None] | None = None) -> str:
    """Return the output of a command; "" if it is absent, fails or takes too long.

    Args:
        changes: of the environment; `None` removes a variable.
    """
    code, text = answer(command, changes)
    return "" if code else text


def answer(
    command: Sequence[str], changes: Mapping[str, str | None] | None = None, timeout_s: float | None = None
) -> tuple[int, str]:
    """Exit code and what a command prints, of a failed one its errors; -1 where it is absent or takes too long."""
    limit_s = TIMEOUT_S if timeout_s is None else timeout_s
    try:
        done = subprocess.run(  # noqa: S603 - the commands are named by the callers
            list(command),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=limit_s,
            check=False,
            stdin=subprocess.DEVNULL,
            env=_environment(changes or {}),
        )
    except OSError as error:
        return -1, str(error.strerror)
    except subprocess.TimeoutExpired:
        return -1, f"no answer within {limit_s:g} s"
    return done.returncode, (done.stderr if done.returncode else done.stdout).strip()


def _environment(changes: Mapping[str, str | None]) -> dict[str, str]:
    """Ours in English, without the variables that make hwloc show another machine, with the changes."""
    ours = {key: value for key, value in os.environ.items() if not key.startswith("HWLOC_") and key not in changes}
    return ours | {"LC_ALL": "C"} | {key: value for key, value in changes.items() if value is not None}
