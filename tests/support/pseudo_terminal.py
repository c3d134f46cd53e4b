"""Programs whose output is a terminal."""

import os
import pty
import subprocess
from collections.abc import Mapping, Sequence


def output_in_terminal(command: Sequence[str], env: Mapping[str, str] | None = None) -> str:
    """Return what a program that must succeed prints to a terminal, standard error included; lines end with a newline.

    Args:
        env: the environment of the program (default: the inherited one).
    """
    reader, writer = pty.openpty()
    with subprocess.Popen(command, stdout=writer, stderr=writer, env=env) as child:
        os.close(writer)
        seen = b""
        try:
            while part := os.read(reader, 4096):
                seen += part
        except OSError:  # the other end was closed
            pass
        os.close(reader)
        assert child.wait() == 0, seen
    return seen.decode().replace("\r\n", "\n")
