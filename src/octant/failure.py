"""The world's refusals, for people: "cannot X (why); try Y", with the exit code that tells scripts."""

from enum import IntEnum


class Exit(IntEnum):
    """Exit codes of the command and of the kernels."""

    OK = 0
    CANNOT_RUN = 1
    WRONG_ANSWER = 2
    NOT_SUPPORTED = 3
    REGRESSION = 3
    INTERRUPTED = 130


class Refusal(Exception):  # noqa: N818 - a refusal is no programming error
    """Something that cannot be done here; the text says why and what to try. The command prints it and exits."""

    def __init__(self, text: str, code: int = Exit.CANNOT_RUN) -> None:
        super().__init__(text)
        self.code = int(code)
