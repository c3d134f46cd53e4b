"""What else is known of command lines that start ranks: commands in front of the program, how binding is prevented."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from octant.launchers import _wrappers
from octant.launchers._roles import launchers_with_role


def skip_wrappers(words: Sequence[str]) -> int:
    """Return the index of the first word that is no wrapper such as `env A=1`, nor a part of one; 0 if none is left."""
    try:
        at, _ = _wrappers.skip(words, {})
    except ValueError:
        return 0
    return at if at < len(words) else 0


def behind_wrapper(words: Sequence[str]) -> int | None:
    """Return the index of the command that the first word, a wrapper such as `env A=1`, starts.

    `None`: the first word is no wrapper; 0: a wrapper whose words Octant cannot read.
    """
    if Path(words[0]).name not in _wrappers.WRAPPERS:
        return None
    try:
        at, _ = _wrappers.skip_one(words, 0, {})
    except ValueError:
        return 0
    return at if at < len(words) else 0


def unbinding_option(name: str, program: str) -> str:
    """Return the words with which a launcher does not bind ranks; "": it has none.

    A launcher's file declares them as `UNBIND`: the words, or words by the name of its command, "" for the others.

    Args:
        name: of the launcher's file.
        program: the launcher's command.
    """
    option: str | Mapping[str, str] = getattr(launchers_with_role("recognise").get(name), "UNBIND", "")
    return option if isinstance(option, str) else option.get(Path(program).name, option[""])
