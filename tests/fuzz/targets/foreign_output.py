"""Outputs of other benchmarks, by the tool that the first word names."""

from foreign_outputs import FILES, tool_of
from octant import foreign
from octant.failure import Refusal

FORMAT = "text"
REFUSES = (Refusal,)
SEEDS = [f"{tool_of(path)}\n{path.read_text(encoding='utf-8')[:4000]}".encode() for path in FILES]


def read(data: bytes) -> None:
    """What the tool's reader makes of the rest."""
    tool, _, text = data.decode("utf-8", "replace").partition("\n")
    foreign.read(tool if tool in foreign.tools() else "imb", text)
