"""Scripts that start ranks themselves, so that nothing can be put in front of their program from outside."""

import ast
import re
from collections.abc import Collection, Iterator
from pathlib import Path

from octant.failure import Refusal
from octant.untrusted import read_text

MAX_BYTES = 1 << 20
_STARTERS = frozenset({
    "!", "command", "do", "elif", "else", "env", "eval", "exec", "if", "ltrace", "nice", "nohup", "numactl", "perf",
    "setsid", "stdbuf", "strace", "sudo", "taskset", "then", "time", "timeout", "until", "while",
})  # fmt: skip
"""Words of a shell, and commands, behind which the command that they start may follow after other words."""
_ASSIGNMENT = re.compile(r"(export\s+)?[A-Za-z_]\w*\+?=")
_SEPARATORS = re.compile(r"[;|&(){}`\[\],\"']")


def hidden_launcher(path: Path, names: Collection[str]) -> str:
    """Return where a script seems to start a launcher: `line 12: mpiexec`; "" if it does not, or is no script.

    A script begins with `#!`, has at most `MAX_BYTES` and is text. Comments do not count. In a Python script the
    strings are searched, except docstrings; in every other script each command. The search recognises a name in the
    place of a command, not a name that a variable contains.

    Args:
        path: the program.
        names: of the launchers' commands.
    """
    try:
        text = read_text(path, "script", MAX_BYTES)
    except Refusal:
        return ""
    if not text.startswith("#!") or "\0" in text:
        return ""
    for number, piece in _pieces(text):
        word = _started(piece, names)
        if word:
            return f"line {number}: {word}"
    return ""


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """Yield the texts that may be commands, with the numbers of their lines."""
    if "python" in text.partition("\n")[0]:
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            tree = None
        if tree is not None:
            yield from sorted(_strings(tree))
            return
    for number, line in enumerate(text.splitlines(), 1):
        if number > 1:
            yield from ((number, piece) for piece in _SEPARATORS.split(_without_comment(line)))


def _strings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the lines of the strings in a Python program that are not statements of their own."""
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            for number, line in enumerate(node.value.splitlines(), node.lineno):
                yield from ((number, piece) for piece in _SEPARATORS.split(line))


def _without_comment(line: str) -> str:
    """Return a line of a shell script up to its comment: a `#` at the begin of a word, outside quotation marks."""
    quote = ""
    for at, letter in enumerate(line):
        if quote:
            quote = "" if letter == quote and line[at - 1] != "\\" else quote
        elif letter in "'\"":
            quote = letter
        elif letter == "#" and (at == 0 or line[at - 1] in " \t;|&("):
            return line[:at]
    return line


def _started(piece: str, names: Collection[str]) -> str:
    """Return the launcher that a command starts, or that it assigns to a variable; "" if none."""
    words = piece.split()
    while words and _ASSIGNMENT.match(" ".join(words[:2]) if words[0] == "export" else words[0]):
        words = words[1:] if words[0] == "export" else words
        value = words[0].partition("=")[2]
        if Path(value).name in names:
            return Path(value).name
        words = words[1:]
    if words and words[0] in _STARTERS:
        return next((Path(word).name for word in words if Path(word).name in names), "")
    return Path(words[0]).name if words and Path(words[0]).name in names else ""
