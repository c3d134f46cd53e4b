"""Refusals with the cause and the next step for people, and exit codes for scripts."""

import difflib
import errno
from collections.abc import Iterable
from enum import IntEnum, unique

LONGEST_LIST = 12
"""Words of a closed list that a refusal prints at most."""


@unique
class Exit(IntEnum):
    """Exit codes of the command and of the kernels. Each code has one meaning, in both languages.

    `native/harness/octant/exit.hpp` has the same names and numbers. Wrappers (`octant where -- PROGRAM`,
    octant-bind, octant-link) return the status of the program that they run instead.
    """

    OK = 0
    CANNOT_RUN = 1  # a launch failed, or the system refused something (a file, a program, a disk, a network)
    WRONG_WORD = 2  # usage error: an invalid argument, name or file
    NOT_SUPPORTED = 3  # permanent: this machine or library does not have it
    WRONG_ANSWER = 4  # verification failed
    REGRESSION = 5  # `octant compare --gate`
    NOT_DECIDED = 6  # `octant compare --gate`: neither a regression nor its absence is proven
    UNFIT = 7  # `octant doctor`: the system is not fit for measurements
    INTERRUPTED = 130  # Ctrl-C, or the batch system's SIGTERM


PRECEDENCE = (
    Exit.INTERRUPTED,
    Exit.WRONG_ANSWER,
    Exit.REGRESSION,
    Exit.NOT_DECIDED,
    Exit.UNFIT,
    Exit.CANNOT_RUN,
    Exit.WRONG_WORD,
    Exit.NOT_SUPPORTED,
    Exit.OK,
)
"""Codes in the order in which they take precedence where several apply."""


def worst(codes: Iterable[int]) -> Exit:
    """Return the code of several outcomes together: the one that comes first in `PRECEDENCE`, or OK if there is none.

    Raises:
        ValueError: a number that is no exit code of ours.
    """
    return min(map(Exit, codes), key=PRECEDENCE.index, default=Exit.OK)


class Refusal(Exception):  # noqa: N818 - a refusal is no programming error
    """Something that is impossible here; the text states the reason and the remedy. The command prints it and exits."""

    def __init__(self, text: str, code: int = Exit.CANNOT_RUN) -> None:
        super().__init__(text)
        self.code = int(code)


_REMEDIES = {
    "free some space": (errno.ENOSPC, errno.EDQUOT),
    "raise the limit on the size of files (ulimit -f)": (errno.EFBIG,),
    "raise the limit on open files (ulimit -n)": (errno.EMFILE, errno.ENFILE),
    "leave the file and its folder in place": (errno.ENOENT, errno.ENOTDIR, errno.ESTALE, errno.ELOOP),
    "allow this user to write there": (errno.EACCES, errno.EPERM, errno.EROFS),
}


def remedy_for_writing(error: OSError) -> str:
    """Return the remedy if the system refuses to write to a file: `free some space`.

    As `remedy_for_writing` of `native/harness/failure.cpp`.
    """
    return next((text for text, numbers in _REMEDIES.items() if error.errno in numbers), "check the file system")


def near(word: str, known: Iterable[str]) -> list[str]:
    """Return the words of a closed list that resemble this one, the nearest first; at most three.

    A word that differs only in case is the only one.
    If none resembles it, those that contain it: `page` of `page-size`.
    """
    known = list(known)
    holding = [one for one in known if len(word) > 2 and word.lower() in one.lower()]
    same = [one for one in known if one.lower() == word.lower()]
    return same or difflib.get_close_matches(word[:100], known, n=3, cutoff=0.7) or holding[:3]


def suggestion(word: str, known: Iterable[str], listed_by: str = "") -> str:
    """Return advice for a word that is not in a closed list: `did you mean triad?`, or the list.

    Args:
        word: input.
        known: the list.
        listed_by: command that prints a long list: `octant workloads`.
    """
    known = list(known)
    close = near(word, known)
    if close:
        return f"did you mean {' or '.join(close)}?"
    if listed_by and len(known) > LONGEST_LIST:
        return f"`{listed_by}` lists them"
    return f"try one of {', '.join(known[:LONGEST_LIST])}" + (", …" if len(known) > LONGEST_LIST else "")


class RenamedWarning(UserWarning):
    """A user's text contains an old name, which was replaced by the current one."""
