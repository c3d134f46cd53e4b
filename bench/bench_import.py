"""Time to read outputs of other tools: every stored output, and the longest accepted file.

Goal: at most 2 s for the longest file (4 MiB, 30,000 lines), and at most 1 ms per line of other files.
"""

import contextlib
import statistics
import sys
import time

sys.path.insert(0, "tests/support")

from foreign_outputs import FILES, tool_of
from octant import foreign
from octant.failure import Refusal

ROUNDS = 5
MAX_LINES, MAX_BYTES = 29_000, 4 << 20


def seconds(tool: str, text: str) -> float:
    """Median wall time of reading a text, which may be refused."""
    times = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        with contextlib.suppress(Refusal):
            foreign.read(tool, text)
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def longest(text: str) -> str:
    """Return an output repeated until it has the most lines or bytes that are accepted."""
    copies = min(MAX_LINES // max(1, text.count("\n")), MAX_BYTES // len(text.encode()) - 1)
    return text * max(1, copies)


def main() -> None:
    """Print one row per tool."""
    print(f"{'tool':8} {'files':>5} {'lines':>6} {'ms per 100 lines':>17} {'longest file, s':>16}")
    for tool in foreign.tools():
        texts = [path.read_text(encoding="utf-8") for path in FILES if tool_of(path) == tool]
        lines = sum(text.count("\n") for text in texts)
        usual = sum(seconds(tool, text) for text in texts)
        worst = max(seconds(tool, longest(text)) for text in texts)
        print(f"{tool:8} {len(texts):5} {lines:6} {1e5 * usual / lines:17.2f} {worst:16.2f}")


if __name__ == "__main__":
    main()
