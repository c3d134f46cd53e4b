"""Commands that the documentation shows: `octant …` and `make …`, in blocks and within lines."""

import re
from dataclasses import dataclass
from pathlib import Path

from paths import ROOT

DOCUMENTS = sorted(
    [
        *(ROOT / name for name in ("README.md", "METHOD.md", "CONTRIBUTING.md", "ARCHITECTURE.md")),
        *(ROOT / name / "README.md" for name in ("bench", "examples")),
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "src/octant/workloads").rglob("README.md"),
    ]
)

_FENCE = re.compile(r"^ *(?P<fence>```+)(?P<language>[^\n`]*)\n(?P<text>.*?)^ *(?P=fence)$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_STEP = re.compile(r" && | # ")


@dataclass(frozen=True)
class Shown:
    """A command of a document.

    `output` are the lines shown below it, `None` if it is within a line of text.
    """

    path: Path
    number: int  # of its line in the file
    command: str
    output: tuple[str, ...] | None = None

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.number}: {self.command}"


def shown(path: Path) -> list[Shown]:
    """Every command of a document, in order."""
    text = path.read_text(encoding="utf-8")
    found = []
    for block in _FENCE.finditer(text):
        found += _in_block(path, text.count("\n", 0, block.start("text")) + 1, block["text"])
    plain = without_blocks(text)
    for span in _SPAN.finditer(plain):
        found += [Shown(path, plain.count("\n", 0, span.start()) + 1, word) for word in _steps(span[1])]
    return sorted(found, key=lambda one: one.number)


def without_blocks(text: str) -> str:
    """The text with empty lines in place of its blocks."""
    return _FENCE.sub(lambda block: "\n" * block[0].count("\n"), text)


def _steps(line: str) -> list[str]:
    """The commands of a line that are ours."""
    steps = [re.sub(r"^\$ |^\.venv/bin/", "", step.strip()) for step in _STEP.split(line)]
    return [step for step in steps if re.match(r"(octant|make) ", step)]


def _in_block(path: Path, first: int, text: str) -> list[Shown]:
    """Commands of a block: lines with a prompt and their outputs, else every line that begins with a command.

    A quotation that is open at the end of a line goes on in the next.
    """
    lines = text.splitlines()
    if not any(line.startswith("$ ") for line in lines):
        return [
            Shown(path, first + number, step, ()) for number, line in enumerate(lines) for step in _steps(line.lstrip())
        ]
    found: list[Shown] = []
    starts = [number for number, line in enumerate(lines) if line.startswith("$ ")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        after, command = start + 1, lines[start]
        while command.count("'") % 2:
            command, after = f"{command}\n{lines[after]}", after + 1
        output = tuple(line.rstrip() for line in lines[after:end])
        while output and not output[-1]:
            output = output[:-1]
        found += [Shown(path, first + start, step, output) for step in _steps(command)]
    return found


def agrees(output: tuple[str, ...], real: str) -> bool:
    """Whether a shown output is the real one: `…` or `...` alone replaces lines, `…` in a line replaces characters."""
    parts = ["(?:.*\n)*?" if line in ("…", "...") else _pattern(line) for line in output]
    lines = "".join(f"{line.rstrip()}\n" for line in real.rstrip().splitlines())
    return re.fullmatch("".join(parts), lines) is not None


def _pattern(line: str) -> str:
    return "[^\n]*".join(re.escape(part) for part in line.split("…")) + "\n"
