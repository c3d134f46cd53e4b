"""Namespaces for tests of every account, for which an ordinary one needs a user namespace.

In one of them is a small file system in memory, which can become full or read-only.
"""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

MOUNTING = """\
mount -t tmpfs -o "$1" tmpfs /mnt && mkdir -m 700 /mnt/ours && echo || exit
read -r _ && mount -o remount,bind,ro /mnt && echo && read -r _
"""


def unshare(*kinds: str) -> list[str]:
    """Return the words that start a program in namespaces of its own, such as `--mount`."""
    return ["unshare", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"]), *kinds]


class NoMount(Exception):  # noqa: N818 - a reason to skip, not a fault
    """Why nothing can be mounted here."""


class Mounted:
    """An empty folder, `inside`, on a file system of its own that only programs started by the words `within` have.

    We see it as `outside`.
    """

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.inside = "/mnt/ours"
        self.outside = Path(f"/proc/{process.pid}/root{self.inside}")
        own = ["--mount"] if os.geteuid() == 0 else ["--user", "--preserve-credentials", "--mount"]
        self.within = ["nsenter", f"--target={process.pid}", *own, f"--wd={Path.cwd()}"]

    def wait(self) -> None:
        """Return when the last request was carried out.

        Raises:
            NoMount: it was refused.
        """
        assert self._process.stdout
        assert self._process.stderr
        if not self._process.stdout.readline():
            raise NoMount(f"this system does not let us mount a tmpfs ({self._process.stderr.read().strip()})")

    def make_read_only(self) -> None:
        """Make it read-only from now on, once."""
        assert self._process.stdin
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        self.wait()


@contextlib.contextmanager
def tmpfs(options: str = "size=64m") -> Iterator[Mounted]:
    """Mount it; it is gone afterwards, with the process whose namespace it is in.

    Raises:
        NoMount: neither root nor user namespaces are available, or unshare is not installed.
    """
    words = [*unshare("--mount"), "sh", "-c", MOUNTING, "sh", options]
    try:
        with subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            mounted = Mounted(process)
            mounted.wait()
            yield mounted
    except FileNotFoundError as error:
        raise NoMount(f"{error.filename} is not installed") from error
