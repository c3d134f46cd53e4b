"""Job scripts: writing and submitting them."""

import shlex
import shutil
import subprocess
from pathlib import Path

from octant.failure import Refusal
from octant.launchers import Job, batch_system
from octant.output import save

_PATIENCE_S = 60


def write(system: str, job: Job, path: Path) -> None:
    """Write the script as an executable file.

    Raises:
        Refusal: no such system, or the file cannot be written.
    """
    text = batch_system(system).script(job)
    save(path, text, "use --script with a path in a writable directory", mode=0o777)


def line(system: str, path: Path) -> str:
    """Return the shell command that submits a script."""
    submission = batch_system(system).submission(path)
    script = f" < {shlex.quote(str(path))}" if submission.from_input else ""
    return shlex.join(submission.words) + script


def submit(system: str, path: Path) -> str:
    """Submit a script and return the answer of the batch system, which contains the job ID.

    Raises:
        Refusal: the system's command is not here, or it refuses.
    """
    submission = batch_system(system).submission(path.absolute())
    if shutil.which(submission.words[0]) is None:
        raise Refusal(
            f"cannot submit {path} ({submission.words[0]} is not on PATH); run it on a login node of the system"
        )
    try:
        with path.open("rb") as script:
            done = subprocess.run(  # noqa: S603 - the batch system's own command
                submission.words,
                stdin=script if submission.from_input else subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_PATIENCE_S,
                check=False,
            )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Refusal(
            f"cannot submit {path} ({error}); check whether it was queued before you submit it again"
        ) from error
    if done.returncode != 0:
        reason = (done.stderr or done.stdout).strip() or f"exit status {done.returncode}"
        raise Refusal(f"cannot submit {path} ({reason}); correct the script or add --directive, then submit it again")
    return done.stdout.strip()
