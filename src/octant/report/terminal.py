"""Rich renderables as text: colours and box characters only where the terminal takes them."""

import io
import sys

from rich.console import Console, RenderableType


def console(width: int | None = None) -> Console:
    """A console for standard output, or for a text of `width` columns that is printed later."""
    return Console(width=width, highlight=False, soft_wrap=False)


def text_width() -> int:
    """Columns for running text: those of the terminal; where there is none, as many as a table needs."""
    return max(console().width, 60) if sys.stdout.isatty() else 110


def render(what: RenderableType) -> str:
    """The text of a renderable, with colours if standard output is a terminal."""
    target = console()
    to_file = sys.stdout.isatty()
    file = io.StringIO()
    inner = Console(
        file=file,
        force_terminal=to_file,
        color_system="auto" if to_file else None,
        width=target.width if to_file else max(target.width, 100),
        highlight=False,
    )
    inner.print(what, crop=False)  # a line that is to be copied may be longer than the terminal
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())
