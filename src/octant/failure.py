"""The world's refusals, for people: "cannot X (why); try Y", with the exit code that tells scripts."""

from enum import IntEnum


class Exit(IntEnum):
    """Exit codes of the command and of the kernels: each kind of failure has one, wherever it is noticed."""

    OK = 0
    CANNOT_RUN = 1  # a file, a program, a disk, a network: the world refuses, and may not tomorrow
    WRONG_ANSWER = 2  # a check failed
    WRONG_WORD = 2  # words, names or files of the user's that nothing here can mean
    NOT_SUPPORTED = 3  # what this machine or library does not have, however often it is asked
    REGRESSION = 3  # `octant compare --gate`
    INTERRUPTED = 130  # Ctrl-C, or the batch system's SIGTERM


class Refusal(Exception):  # noqa: N818 - a refusal is no programming error
    """Something that cannot be done here; the text says why and what to try. The command prints it and exits."""

    def __init__(self, text: str, code: int = Exit.CANNOT_RUN) -> None:
        super().__init__(text)
        self.code = int(code)
